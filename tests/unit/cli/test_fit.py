"""`gpudesk fit`: the smallest deployments, as text and for programs, and what cannot be asked."""

import json
from typing import Any

import pytest

from gpudesk.cli import main as entry
from gpudesk.service import GpuDeskService

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def list_cells(capsys: Capture, *more: str) -> list[dict[str, Any]]:
    assert entry.main(["fit", "--json", *more]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    fits: list[dict[str, Any]] = json.loads(captured.out)["cells"]
    return fits


def test_capacity_of_one_h100_and_one_mi300x(capsys: Capture) -> None:
    h100, mi300x = list_cells(
        capsys, "--accelerators", "h100-sxm,mi300x", "--model", "llama-3.1-70b", "--weights", "fp16"
    )
    assert (h100["count"], h100["parallel"]["tp"], mi300x["count"]) == (2, 2, 1)
    assert (h100["context"], h100["concurrency"], h100["kv"]) == (8192, 1, "fp16")
    assert h100["fits"]
    assert h100["reason"] is None
    assert 0 < h100["headroom_gib"] < mi300x["headroom_gib"] < mi300x["usable_gib"] < 192


def test_without_a_format_each_model_has_its_own(capsys: Capture) -> None:
    fits = list_cells(capsys, "--accelerators", "h200-sxm", "--models", "deepseek-r1,llama-3.1-8b")
    assert [(each["model"], each["weights"]) for each in fits] == [("deepseek-r1", "fp8"), ("llama-3.1-8b", "bf16")]


def test_higher_concurrency_never_needs_fewer(capsys: Capture) -> None:
    options = ["--accelerators", "h200-sxm,b200-hgx,mi355x", "--models", "llama-3.1-70b", "--weights", "fp8"]
    few = [each["count"] for each in list_cells(capsys, *options)]
    many = [each["count"] for each in list_cells(capsys, *options, "--concurrency", "512")]
    assert all(more > less for less, more in zip(few, many, strict=True))
    split = list_cells(capsys, *options, "--input-tokens", "8000", "--output-tokens", "192", "--concurrency", "512")
    assert [each["count"] for each in split] == many


def test_all_of_the_catalog_is_asked_by_default(capsys: Capture) -> None:
    fits = list_cells(capsys)
    with GpuDeskService.open(with_user_facts=False) as service:
        pairs = len(service.catalog.accelerators()) * len(service.catalog.models())
    assert len(fits) == pairs
    assert len({(each["accelerator"], each["model"]) for each in fits}) == pairs
    assert all((each["count"] is None) is not each["fits"] for each in fits)
    assert all(each["fits"] or each["reason"] for each in fits)
    assert fits == list_cells(capsys, "--accelerators", "all", "--models", "all")


def test_scenario_fills_omitted_options(capsys: Capture) -> None:
    fits = list_cells(capsys, "--template", "70b-chat-on-four")
    assert len(fits) == 4
    assert {each["model"] for each in fits} == {"llama-3.1-70b"}
    assert {each["context"] for each in fits} == {5000}
    (one,) = list_cells(capsys, "--template", "70b-chat-on-four", "--accelerators", "h100-sxm:8", "--context", "9")
    assert (one["accelerator"], one["context"]) == ("h100-sxm", 9)


def test_table_shows_plan_and_reason(capsys: Capture) -> None:
    assert entry.main(["fit", "--accelerators", "h100-sxm,inferentia2", "--models", "jamba-v0.1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1 sequence of 8,192 tokens in flight"
    assert lines[2].split()[:3] == ["Model", "Weights", "Accelerator"]
    assert "TP 2, vLLM" in lines[4]
    assert lines[5].endswith("no serving engine supports Jamba v0.1 on Inferentia2")
    assert " — " in lines[5]


@pytest.mark.parametrize(
    ("reading", "counts"),
    [("decimal", [11, 5]), ("binary", [10, 4]), ("decimal-reserved", [16, 8]), ("binary-reserved", [16, 8])],
)
def test_a_label_is_read_as_printed_tables_do(capsys: Capture, reading: str, counts: list[int]) -> None:
    options = ("--accelerators", "h100-sxm,mi300x", "--model", "llama-3.1-405b", "--weights", "fp16")
    fits = list_cells(capsys, *options, "--reading", reading)
    assert [each["count"] for each in fits] == counts
    assert [each["parallel"] for each in fits] == [None, None]
    assert entry.main(["fit", *options, "--reading", reading]) == 0
    assert capsys.readouterr().out.startswith("Only for checking published counts:")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--models", "nope"), 1, "unknown model 'nope'"),
        (("--accelerators", "nope"), 1, "unknown accelerator 'nope'"),
        (("--context", "0"), 1, "--context: 0 is not between 1 and"),
        (("--concurrency", "-4"), 1, "--concurrency: -4 is not between 1 and"),
        (("--weights", "fp99"), 1, "--weights: 'fp99' is not one of"),
        (("--context", "5", "--input-tokens", "4"), 2, "--context is input plus output tokens"),
        (("--input-tokens", "4"), 2, "--input-tokens and --output-tokens are required together"),
        (("--reading", "x"), 2, "argument --reading: unknown value 'x'; use one of decimal"),
        (("--scenario", "a.gpudesk", "--template", "b"), 2, "use either --scenario or --template"),
    ],
)
def test_impossible_request_is_refused_in_one_line(
    capsys: Capture, options: tuple[str, ...], code: int, message: str
) -> None:
    assert entry.main(["fit", *options]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_context_beyond_the_models_maximum_is_reported(capsys: Capture) -> None:
    ask = ["--accelerators", "h100-sxm", "--models", "yi-34b,llama-3.1-8b", "--context", "8500"]
    assert [cell["beyond_context"] for cell in list_cells(capsys, *ask)] == [True, False]
    assert entry.main(["fit", *ask]) == 0
    output = capsys.readouterr().out
    assert output.endswith("Yi 34B supports at most 4,096 tokens.\n")
    assert "8B reads" not in output


def test_the_whole_matrix_fits_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert entry.main(["fit"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100
