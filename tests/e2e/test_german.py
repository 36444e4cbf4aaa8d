"""The program in German from end to end: the terminal, a sheet from an English terminal, and errors."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import RunProgram

GERMAN = {"GPUDESK_LANGUAGE": "de"}
SAMPLE = ("--template", "70b-chat-on-four")


def test_a_comparison_in_the_terminal_is_german(gpudesk: RunProgram) -> None:
    completed = gpudesk("compare", *SAMPLE, environment=GERMAN)
    assert (completed.returncode, completed.stderr) == (0, "")
    for text in ("Modell Llama 3.1 70B", "Ausgabe-Durchsatz", "Zeit bis zum ersten Token", "1.480", "1,15"):
        assert text in completed.stdout, text
    for english in ("Output", "tokens", "Time to", "Memory"):
        assert english not in completed.stdout, english


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("compare", "--accelerators", "h200-sxn", "--model", "llama-3.1-70b"), "Beschleuniger „h200-sxn“ unbekannt"),
        (("sheet", *SAMPLE), "diese Argumente sind erforderlich: -o/--output"),
        (("estimate", *SAMPLE, "--input-tokens", "many"), "--input-tokens: „many“ ist keine ganze Zahl"),
        (("compare", "--scenario", "none.gpudesk"), "none.gpudesk: kann nicht gelesen werden: Datei oder Ordner nicht"),
    ],
)
def test_errors_are_german(gpudesk: RunProgram, arguments: tuple[str, ...], error: str) -> None:
    completed = gpudesk(*arguments, environment=GERMAN)
    assert completed.returncode in (1, 2)
    assert error in completed.stderr


def test_the_help_is_german(gpudesk: RunProgram) -> None:
    completed = gpudesk("compare", "--help", environment=GERMAN)
    assert completed.stdout.startswith("Aufruf: gpudesk compare [-h]")
    assert "\nOptionen:\n" in completed.stdout
    assert "required" not in completed.stdout


def test_composed_texts_are_german(gpudesk: RunProgram) -> None:
    working = gpudesk("explain", "max_concurrency", *SAMPLE, environment=GERMAN).stdout
    assert "= floor(KV-Pool ÷ Byte einer Sequenz)" in working
    assert "[Einstellung von vLLM: sicherer Speicheranteil]" in working
    queued = gpudesk("explain", "tpot_ms", *SAMPLE, "--request-rate", "5000", environment=GERMAN).stdout
    assert "= die Warteschlange wächst unbegrenzt" in queued
    entry = gpudesk("catalog", "show", "mi355x", environment=GERMAN).stdout
    assert "verfügbar" in entry
    assert "◇ 12.06.2025" in entry


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="reads PDF with poppler-utils")
def test_language_of_a_sheet_is_independent_of_the_terminal(gpudesk_process: RunProgram, tmp_path: Path) -> None:
    file = tmp_path / "blatt.pdf"
    completed = gpudesk_process("sheet", *SAMPLE, "--language", "de", "-o", str(file))
    assert (completed.returncode, completed.stderr) == (0, "")
    text = subprocess.run(["pdftotext", "-layout", file, "-"], check=True, capture_output=True, text=True).stdout
    assert "Ausgabe-Durchsatz" in text
    assert "4.000" in text
    assert "Output throughput" not in text


def test_manual_pages_are_german_or_marked_as_untranslated(gpudesk: RunProgram) -> None:
    assert "Erste Schritte" in gpudesk("help", "first-steps", environment=GERMAN).stdout.title().replace(
        "ERSTE", "Erste"
    )
    assert "nur auf Englisch" in gpudesk("help", "cost", environment=GERMAN).stdout
    assert "Zeit bis zum ersten Token" in gpudesk("help", "ttft", environment=GERMAN).stdout
