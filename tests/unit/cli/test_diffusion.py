"""Diffusion models on the command line: text, JSON, what fits, and options that do not go together."""

import json

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]
FLUX = ("--model", "flux1-dev", "--accelerator", "mi325x")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def run(capsys: Capture, *arguments: str, code: int = 0) -> str:
    assert entry.main(list(arguments)) == code
    captured = capsys.readouterr()
    return captured.out if code == 0 else captured.err


def test_flux_on_mi325x_and_the_statement_that_cannot_be(capsys: Capture) -> None:
    text = run(capsys, "estimate", *FLUX)
    assert "1 × Instinct MI325X" in text
    assert "1024 × 1024, 28 steps" in text
    assert "1.59 s: 28 steps of 74.4 TFLOP" in text
    assert "usable (fast below 2.00 s, usable below 10.0 s)" in text
    assert "4.30 s measured" in text
    assert "MI325X product page states 1.20 s: not possible, the arithmetic takes 1.59 s at full peak." in text


def test_json_has_the_request_the_times_and_the_memory(capsys: Capture) -> None:
    arguments = ("--steps", "20", "--width", "512", "--batch-size", "4", "--weights", "fp8", "--software", "eager")
    line = json.loads(run(capsys, "estimate", *FLUX, *arguments, "--json"))
    assert (line["steps"], line["width"], line["height"], line["batch"]) == (20, 512, 1024, 4)
    assert (line["weights"], line["software"], line["fits"]) == ("fp8", "eager", True)
    assert line["batch_s"]["value"] == pytest.approx(4 * line["item_s"]["value"])
    assert line["item_s"]["low"] < line["item_s"]["value"] < line["item_s"]["high"]
    memory = line["memory_gib"]
    assert memory.pop("capacity") == pytest.approx(sum(memory.values()))
    assert line["nearest"]["model"] == "flux1-dev"


def test_every_accelerator_gets_an_answer_or_a_reason(capsys: Capture) -> None:
    assert entry.main(["estimate", "--model", "wan2.1-1.3b", "--accelerators", "h100-sxm:2,nope,l4", "--json"]) == 1
    captured = capsys.readouterr()
    assert [json.loads(line)["count"] for line in captured.out.splitlines()] == [2, 1]
    assert "nope: unknown accelerator 'nope'" in captured.err


def test_fit_shows_what_one_accelerator_holds(capsys: Capture) -> None:
    text = run(capsys, "fit", "--model", "flux1-dev", "--accelerators", "mi325x,rtx-4090")
    assert "Needs 36.0 GiB (38.7 GB) on each accelerator, which has 24.0 GiB (25.8 GB)" in text
    result = json.loads(run(capsys, "fit", "--model", "flux1-dev", "--accelerators", "mi325x,rtx-4090", "--json"))
    assert [cell["fits"] for cell in result["cells"]] == [True, False]
    every = json.loads(run(capsys, "fit", "--models", "sd1.5,sdxl", "--json"))
    assert len(every["cells"]) > 60


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("estimate", *FLUX, "--kv", "fp8"), 2, "--kv is for language models"),
        (("estimate", *FLUX, "--input-tokens", "8"), 2, "--input-tokens is for language models"),
        (("fit", *FLUX, "--context", "8"), 2, "--context is for language models"),
        (("fit", "--models", "flux1-dev,llama-3.1-8b"), 2, "in separate commands"),
        (
            ("estimate", "--model", "llama-3.1-8b", "--accelerator", "l4", "--concurrency", "1", "--steps", "4"),
            2,
            "--steps is for diffusion models",
        ),
        (("estimate", *FLUX, "--steps", "0"), 1, "--steps: 0 is not between 1 and 1,000"),
        (("estimate", *FLUX, "--frames", "25"), 1, "--frames: flux1-dev makes images, not video"),
        (("estimate", "--model", "flux1-dev"), 2, "no accelerator given"),
        (("estimate", "--model", "flux1-dev", "--accelerator", "l4:x"), 2, "is not ID or ID:COUNT"),
    ],
)
def test_conflicting_options_are_reported(capsys: Capture, arguments: tuple[str, ...], code: int, text: str) -> None:
    assert text in run(capsys, *arguments, code=code)


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("compare", ["--concurrency", "1"]),
        ("explain", ["tpot_ms", "--concurrency", "1"]),
        ("decide", ["--concurrency", "1"]),
        ("cost", ["--concurrency", "1"]),
        ("launch", ["--concurrency", "1"]),
        ("size", ["--users", "10"]),
        ("sweep", ["--weights", "fp8", "--concurrency", "1", "--output", "unwritten.csv"]),
    ],
)
def test_other_commands_name_the_right_one(capsys: Capture, command: str, more: list[str]) -> None:
    lengths = ["--input-tokens", "100", "--output-tokens", "100"]
    assert entry.main([command, *more, "--model", "flux1-dev", "--accelerators", "mi325x", *lengths]) == 1
    assert "makes images or video" in capsys.readouterr().err
