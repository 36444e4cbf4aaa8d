"""`gpudesk estimate` as text: what it says of requests that wait, and of loads that are not given."""

import re

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]

ASKED = [
    *("--accelerators", "h200-sxm:1", "--model", "llama-3.1-70b", "--weights", "fp8"),
    *("--input-tokens", "1000", "--output-tokens", "1000"),
]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def fits(capsys: Capture, *more: str) -> str:
    assert entry.main(["estimate", *ASKED, *more]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  Fits"))
    return line.removeprefix("  Fits").strip()


def test_queue_of_the_serving_engine_is_not_attributed_to_memory(capsys: Capture) -> None:
    usual = fits(capsys, "--concurrency", "5000")
    assert usual.startswith("runs ")
    assert " of 5,000 requests at a time; memory fits " in usual
    assert fits(capsys, "--concurrency", "5000", "--memory-fraction", "0.95").startswith("memory fits ")
    assert fits(capsys, "--concurrency", "1").endswith(" requests in flight")


def test_one_request_in_flight_is_singular(capsys: Capture) -> None:
    most = fits(capsys, "--concurrency", "1", "--input-tokens", "100000")
    number, _, rest = most.removeprefix("up to ").partition(" ")
    assert rest == ("request in flight" if number == "1" else "requests in flight")


def test_without_a_load_the_options_for_one_are_named(capsys: Capture) -> None:
    assert entry.main(["estimate", *ASKED]) == 1
    assert capsys.readouterr().err == (
        "gpudesk: no load given; use one of --concurrency, --batch-size, --saturate, "
        "--request-rate, or --ttft-ms with --tpot-ms\n"
    )


@pytest.mark.parametrize(
    "second",
    [("--batch-size", "4"), ("--request-rate", "4"), ("--saturate", "4"), ("--tpot-ms", "50", "--ttft-ms", "500")],
)
def test_two_loads_are_a_wrong_command_line(second: tuple[str, ...], capsys: Capture) -> None:
    assert entry.main(["estimate", *ASKED, "--concurrency", "4", *second]) == 2
    problem = capsys.readouterr().err
    assert problem.startswith("gpudesk: use either --")
    assert "--concurrency" in problem
    assert any(option in problem for option in second)


def test_memory_on_demand_is_not_reported_as_reserved(capsys: Capture) -> None:
    output = fits(capsys, "--concurrency", "5000", "--memory-fraction", "0.95", "--lengths", "fixed")
    assert re.fullmatch(r"\d+ of 5,000 in flight; memory for \d+ at full length", output)


def test_oversized_model_leaves_no_free_memory(capsys: Capture) -> None:
    too_large = ["--concurrency", "1", "--input-tokens", "100000", "--weights", "bf16"]
    assert entry.main(["estimate", *ASKED, *too_large]) == 0
    output = capsys.readouterr().out
    assert "\n  KV cache per request " in output
    assert "\n  Free " not in output


def test_requests_longer_than_the_model_reads_are_refused(capsys: Capture) -> None:
    for command in ("estimate", "compare", "cost"):
        assert entry.main([command, *ASKED, "--concurrency", "1", "--input-tokens", "200000"]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err == (
            "gpudesk: --input-tokens: Llama 3.1 70B supports at most 131,072 tokens, input and output together; "
            "use at most 130,072 input tokens\n"
        )
