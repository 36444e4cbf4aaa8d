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


def show(capsys: Capture, *names: str) -> str:
    """Return what the command writes for people, on one line, without protected spaces."""
    assert entry.main([*ASKED, *(f"--show={name}" for name in names)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return " ".join(said.out.replace("\N{NO-BREAK SPACE}", " ").split())


def fields(capsys: Capture, *names: str) -> dict[str, Any]:
    assert entry.main([*ASKED, "--json", *(f"--show={name}" for name in names)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    found: dict[str, Any] = json.loads(said.out)
    return found


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
    text = show(capsys, *WORDS)
    places = [text.index(word, text.index("Assumptions")) for words in WORDS.values() for word in words[:1]]
    assert places == sorted(places)
    for start, words in zip(places, WORDS.values(), strict=True):
        for word in words:
            assert text.index(word, start) >= start, word


def test_several_are_shown_in_the_order_that_is_asked_for_and_each_once(capsys: Capture) -> None:
    text = show(capsys, "watch", "loading", "watch")
    assert text.index("Watch list") < text.index("Weight loading time")
    assert text.count("Watch list") == 1


def test_programs_get_objects_under_the_same_names(capsys: Capture) -> None:
    found = fields(capsys, *ADVISORY_TOPICS)
    assert "verdict" in found
    assert found["waiting"]["accelerator"]
    assert found["vendors"]["columns"] == ["h200-sxm", "mi325x"]
    assert [each["accelerator"] for each in found["export"]["accelerators"]][:2] == ["h200-sxm", "mi325x"]
    assert len(found["negotiation"]["steps"]) == 6
    assert [each["platform"] for each in found["software"]] == ["CUDA", "ROCm"]
    assert [each["id"] for each in found["references"]] == ["b200-laboratories"]
    assert found["loading"][0]["one"]["seconds"] == pytest.approx(1.153, abs=0.001)
    assert found["watch"]


def test_nothing_is_added_that_is_not_asked_for(capsys: Capture) -> None:
    assert not set(ADVISORY_TOPICS) & set(fields(capsys))


def test_lines_fit_the_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert entry.main([*ASKED, *(f"--show={name}" for name in ADVISORY_TOPICS)]) == 0
    lines = capsys.readouterr().out.splitlines()
    # An address is one word.
    long = [line for line in lines if measure_text(line) > 72 and "https://" not in line]
    assert long == []


def test_two_vendors_need_two_accelerators_and_nothing_is_half_written(capsys: Capture) -> None:
    assert entry.main([*ALONE, "--show=vendors"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "decision.plans.vendor_b" in said.err
    assert len(said.err.splitlines()) == 1


def test_another_name_is_a_mistake_in_the_call(capsys: Capture) -> None:
    assert entry.main([*ASKED, "--show=prices"]) == 2
    assert "--show" in capsys.readouterr().err
