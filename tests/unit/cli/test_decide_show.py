"""`decide --show`: what stands next to the recommendation, as text and for programs."""

import json
from typing import Any

import pytest

from gpudesk.cli import main as entry
from gpudesk.cli.commands.decide_show import ADVISORY_TOPICS
from gpudesk.report.writers.text import measure_text

Capture = pytest.CaptureFixture[str]
ASKED = ("decide", "--template", "70b-chat-on-four")
ALONE = (
    "decide",
    "--accelerators=l4:8",
    "--model=llama-3.1-70b",
    "--weights=fp8",
    "--input-tokens=1000",
    "--output-tokens=200",
    "--concurrency=4",
)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def run_text(capsys: Capture, *names: str) -> str:
    """Return what the command writes for people, on one line, without protected spaces."""
    assert entry.main([*ASKED, *(f"--show={name}" for name in names)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return " ".join(captured.out.replace("\N{NO-BREAK SPACE}", " ").split())


def run_json(capsys: Capture, *names: str) -> dict[str, Any]:
    assert entry.main([*ASKED, "--json", *(f"--show={name}" for name in names)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    result: dict[str, Any] = json.loads(captured.out)
    return result


#: Of the text of each topic.
WORDS = {
    "waiting": ("Buy or wait: ", "Documents: ", "Arithmetic: "),
    "vendors": ("Two vendors", "All on H200 SXM: ", "Documents on mixed vendors"),
    "export": ("Arithmetic, not legal advice", "989 × 16 = 15,824", "Rules, newest first"),
    "negotiation": ("Negotiation sheet: 0 of 6 steps done", "[ ] A competing written quote"),
    "software": (
        "Software on CUDA",
        "Software on ROCm",
        "works: Works on ROCm 7 (2026-05-15, B200 vs MI355X, Hostrunway)",
    ),
    "references": ("Reference deployments", "B200 in use today"),
    "loading": ("Weight loading time", "72.7 GB ÷ 63.0 GB/s = 1.15 s"),
    "watch": ("Watch list", "threshold below 12%"),
}


def test_each_name_adds_its_text_after_the_decision(capsys: Capture) -> None:
    assert tuple(WORDS) == ADVISORY_TOPICS
    text = run_text(capsys, *WORDS)
    places = [text.index(word, text.index("Assumptions")) for words in WORDS.values() for word in words[:1]]
    assert places == sorted(places)
    for start, words in zip(places, WORDS.values(), strict=True):
        for word in words:
            assert text.index(word, start) >= start, word


def test_several_are_shown_in_the_order_that_is_asked_for_and_each_once(capsys: Capture) -> None:
    text = run_text(capsys, "watch", "loading", "watch")
    assert text.index("Watch list") < text.index("Weight loading time")
    assert text.count("Watch list") == 1


def test_programs_get_objects_under_the_same_names(capsys: Capture) -> None:
    result = run_json(capsys, *ADVISORY_TOPICS)
    assert "verdict" in result
    assert result["waiting"]["accelerator"]
    assert result["vendors"]["columns"] == ["h200-sxm", "mi325x"]
    assert [each["accelerator"] for each in result["export"]["accelerators"]][:2] == ["h200-sxm", "mi325x"]
    assert len(result["negotiation"]["steps"]) == 6
    assert [each["platform"] for each in result["software"]] == ["CUDA", "ROCm"]
    assert [each["id"] for each in result["references"]] == ["b200-laboratories"]
    assert result["loading"][0]["one"]["seconds"] == pytest.approx(1.153, abs=0.001)
    assert result["watch"]


def test_only_requested_entries_are_added(capsys: Capture) -> None:
    assert not set(ADVISORY_TOPICS) & set(run_json(capsys))


def test_lines_fit_the_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert entry.main([*ASKED, *(f"--show={name}" for name in ADVISORY_TOPICS)]) == 0
    lines = capsys.readouterr().out.splitlines()
    # An address is one word.
    long = [line for line in lines if measure_text(line) > 72 and "https://" not in line]
    assert long == []


def test_two_vendors_need_two_accelerators_and_nothing_is_half_written(capsys: Capture) -> None:
    assert entry.main([*ALONE, "--show=vendors"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "decision.plans.vendor_b" in captured.err
    assert len(captured.err.splitlines()) == 1


def test_another_name_is_a_mistake_in_the_call(capsys: Capture) -> None:
    assert entry.main([*ASKED, "--show=prices"]) == 2
    assert "--show" in capsys.readouterr().err
