"""The main job by ear: the real program in an X session, read and pressed through AT-SPI alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.offline import PROGRAM, walk_checkout
from tests.e2e.x_session import SCRIPT, SYSTEM_PYTHON, x_server

Control = Mapping[str, object]

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("dpkg-query") is None,
    reason="needs Xvfb, D-Bus, AT-SPI and its Python library, which are installed on Debian only",
)


def main_job() -> Any:  # noqa: ANN401 - what the script met, by name
    return walk_checkout().report


@cache
def start() -> Any:  # noqa: ANN401
    with tempfile.TemporaryDirectory() as folder, x_server() as display:
        home, runtime, report_path = Path(folder, "home"), Path(folder, "run"), Path(folder, "met.json")
        runtime.mkdir(mode=0o700)
        environment = {
            **os.environ,
            "DISPLAY": display,
            "GPUDESK_HOME": str(home),
            "GPUDESK_LANGUAGE": "en",
            "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(runtime),
        }
        completed = subprocess.run(
            ["dbus-run-session", "--", SYSTEM_PYTHON, SCRIPT, "start", report_path, *PROGRAM],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=150,
            check=False,
        )
        assert completed.returncode == 0, completed.stderr
        return json.loads(report_path.read_text(encoding="utf-8"))


def names(controls: list[Control], role: str) -> list[str]:
    return [str(control["name"]) for control in controls if control["role"] == role]


def nameless(controls: list[Control]) -> list[Control]:
    return [control for control in controls if control["focusable"] and not control["name"]]


def test_screen_reader_reads_scenario_values() -> None:
    first = main_job()["first"]
    buttons = names(first, "push button")
    for expected in ("Model: Llama 3.1 70B", "Weights: FP8", "KV cache: FP8", "Engine: Any", "Add accelerator"):
        assert expected in buttons
    assert {"Input tokens", "Output tokens", "Concurrency"} <= set(names(first, "text"))
    assert names(first, "slider") == ["Concurrency: 64"]


def test_screen_reader_reads_count_and_baseline() -> None:
    buttons = names(main_job()["first"], "push button")
    assert "H200 SXM, count 1, baseline" in buttons
    for name in ("MI325X", "B200 SXM", "MI355X"):
        assert f"{name}, count 1" in buttons


def test_the_pages_are_tabs_with_their_keys() -> None:
    tabs = {
        control["name"]: control["description"] for control in main_job()["first"] if control["role"] == "check box"
    }
    assert [tabs[page] for page in ("Compare", "Performance", "Memory and fit")] == ["Ctrl 1", "Ctrl 2", "Ctrl 3"]


def test_cells_of_the_comparison_are_sentences_with_figures() -> None:
    cells = names(main_job()["first"], "table cell")
    (throughput,) = [cell for cell in cells if cell.startswith("Output throughput, B200")]
    assert "tokens per second, 80% interval" in throughput
    assert "too close to call with MI355X" in throughput
    (cost,) = [cell for cell in cells if cell.startswith("Output token cost, rented, MI325X")]
    assert "too close to call with H200 SXM, B200 SXM and MI355X, −9% compared with H200 SXM" in cost
    (concurrency,) = [cell for cell in cells if cell.startswith("Max concurrency, MI355X")]
    assert "best in row" in concurrency
    assert any(cell.startswith("Output token cost, owned, MI355X, unknown: ") for cell in cells)


def test_slider_updates_cells_and_undo_restores_them() -> None:
    load = main_job()["load"]
    assert load["before"] != load["after"]
    assert load["undone"] == load["before"]
    assert load["slider"] != "Concurrency: 64"


def test_pressing_a_headline_fills_the_panel() -> None:
    what, limits = main_job()["panel"]
    assert "64 requests in flight, 4,000 input and 1,000 output tokens" in what
    assert "80% interval" in what
    assert limits.startswith("Limiting factor")


def test_every_view_of_every_page_opens_from_its_tab() -> None:
    pages = main_job()["pages"]
    assert len(pages) == 45
    assert sum(controls != [] for controls in pages.values()) == 27
    charts = [
        control
        for view, controls in pages.items()
        if view.startswith("Performance/")
        for control in controls
        if control["role"] == "chart"
    ]
    assert all(control["name"] and control["description"] for control in charts)
    assert len(charts) >= 9


def test_screen_reader_reads_memory_bars() -> None:
    bars = names(main_job()["pages"]["Memory and fit/Current fit"], "list item")
    assert len(bars) == 4
    assert bars[1].startswith("MI325X × 1: Fits, up to 235 requests, ")
    assert "Weights: 67.7 GiB (72.7 GB); KV cache, 64 requests: 48.8 GiB" in bars[1]


def test_screen_reader_reads_options_with_remaining_accelerators() -> None:
    controls = main_job()["pages"]["Decide/Questions"]
    answers = [control for control in controls if control["role"] == "radio button"]
    steps = [each["name"] for each in answers if each["name"][:2] in {f"{n}," for n in range(1, 10)}]
    assert len(steps) == 9
    (platform,) = [each for each in answers if each["name"] == "ROCm, AMD in production"]
    assert platform["description"].startswith("All 4 remain; ")
    assert platform["description"].endswith("; key 2")


def test_the_sheet_opens_with_named_buttons() -> None:
    buttons = names(main_job()["sheet"], "push button")
    assert {"Save PDF…", "Print…"} <= set(buttons)


def test_focusable_controls_have_names() -> None:
    job, start_report = main_job(), start()
    pages = {
        **job["pages"],
        "sheet": job["sheet"],
        "start": start_report["start"],
        "commands": start_report["commands"],
    }
    assert {view: nameless(controls) for view, controls in pages.items() if nameless(controls)} == {}


def test_the_sample_is_opened_from_the_start_page() -> None:
    buttons = names(start()["start"], "push button")
    assert "405B on one node?" in buttons
    assert start()["cell"].startswith("Output throughput, MI325X, ")


def test_screen_reader_reads_palette_with_shortcuts() -> None:
    items = names(start()["commands"], "list item")
    assert "Print or save the comparison sheet, Ctrl P" in items
    assert "Undo, Ctrl Z, not available now" in items
