"""Fields of a JSON line: what is taken, what is refused and how the refusal reads."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.precision import Precision
from gpudesk.estimation.request_fields import parse_request
from gpudesk.text.messages import InputError, format_input_error

LINE: dict[str, Any] = {
    "accelerator": "h200-sxm",
    "model": "llama-3.1-70b",
    "weights": "fp8",
    "input_tokens": 1000,
    "output_tokens": 500,
    "load": {"concurrency": 64},
}


def refusal(**changes: object) -> str:
    with pytest.raises(InputError) as caught:
        parse_request(LINE | changes)
    return format_input_error(caught.value)


def test_least_line_takes_the_defaults() -> None:
    request = parse_request(dict(LINE))
    assert request.weights is Precision.FP8
    assert request.kv is Precision.FP16
    assert request.workload.load.kind is LoadKind.CONCURRENCY
    assert request.workload.varied
    assert request.workload.behind_server
    assert (request.count, request.tp, request.serving_engine, request.date) == (None,) * 4


def test_whole_line_is_taken() -> None:
    request = parse_request(
        LINE
        | {
            "id": "a1",
            "count": 8,
            "kv": "fp8",
            "serving_engine": "tensorrt-llm",
            "tp": 4,
            "pp": 1,
            "ep": 4,
            "dp": 2,
            "attention_dp": True,
            "date": "2025-08-31",
            "memory_fraction": 0.9,
            "max_batch": 256,
            "max_batched_tokens": 8192,
            "prefix_hit_rate": 0.25,
            "acceptance_length": 2,
            "lengths": "fixed",
            "server": False,
            "eager": True,
        }
    )
    assert (request.id, request.count, request.tp, request.dp, request.ep) == ("a1", 8, 4, 2, 4)
    assert request.date == "2025-08"
    assert not request.workload.varied
    assert request.workload.server is False
    assert request.workload.acceptance_length == 2.0
    assert request.workload.eager


def test_null_equals_omitted() -> None:
    assert parse_request(LINE | {"count": None, "kv": None, "lengths": None}) == parse_request(dict(LINE))


@pytest.mark.parametrize(
    ("load", "kind"),
    [
        ({"batch": 8}, LoadKind.BATCH),
        ({"concurrency": 8, "requests": 100}, LoadKind.CONCURRENCY),
        ({"saturate": True, "requests": 1000}, LoadKind.SATURATE),
        ({"request_rate": 2.5}, LoadKind.REQUEST_RATE),
        ({"ttft_ms": 2000, "tpot_ms": 50, "limit": "mean"}, LoadKind.LIMITS),
        ({"concurrency": 8, "saturate": False, "request_rate": None}, LoadKind.CONCURRENCY),
    ],
)
def test_each_kind_of_load(load: dict[str, object], kind: LoadKind) -> None:
    assert parse_request(LINE | {"load": load}).workload.load.kind is kind


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output_tokens": "many"}, "output_tokens: 'many' is text; expected a whole number"),
        ({"output_tokens": 1.5}, "output_tokens: 1.5 is a number; expected a whole number"),
        ({"output_tokens": True}, "output_tokens: true is true or false; expected a whole number"),
        ({"input_tokens": 0}, "input_tokens: 0 is not between 1 and 100,000,000"),
        ({"input_tokens": None}, "input_tokens: is missing"),
        ({"weights": "fp5"}, "weights: 'fp5' is not one of fp16, bf16, fp8, fp6, fp4, mxfp4, nvfp4, int8"),
        ({"kv": "fp6"}, "kv: 'fp6' is not one of fp16"),
        ({"weights": 8}, "weights: 8 is a whole number; expected text"),
        ({"model": ""}, "model: is empty"),
        ({"input_token": 1}, "unknown field 'input_token'; did you mean input_tokens, output_tokens?"),
        ({"color": 1}, "unknown field 'color'; the fields are id, accelerator"),
        ({"id": 1.5}, "id: 1.5 is a number; expected text or a whole number"),
        ({"id": []}, "id: [] is a list; expected text or a whole number"),
        ({"memory_fraction": 0}, "memory_fraction: 0 is out of range; use a value above 0, up to 1"),
        ({"prefix_hit_rate": 1.01}, "prefix_hit_rate: 1.01 is not between 0 and 1"),
        ({"date": "last year"}, "date: 'last year' is not a date; use YYYY-MM or YYYY-MM-DD"),
        ({"date": "2025-13"}, "date: '2025-13' is not a date"),
        ({"attention_dp": "yes"}, "attention_dp: 'yes' is text; expected true or false"),
        ({"model": "x" * 201}, "model: is longer than 200 characters"),
        ({"model": "\ud800"}, "model: contains an invalid Unicode character"),
        ({"load": 64}, "load: 64 is a whole number; expected an object"),
        ({"load": {}}, "load: no load given"),
        ({"load": {"requests": 5}}, "load: no load given"),
        ({"load": {"batch": 8, "concurrency": 8}}, "load: batch and concurrency cannot be combined"),
        ({"load": {"batch": 8, "requests": 8}}, "load: batch and requests cannot be combined"),
        ({"load": {"concurrency": 8, "ttft_ms": 8}}, "load: concurrency and ttft_ms cannot be combined"),
        ({"load": {"saturate": True}}, "load.requests: is missing"),
        ({"load": {"ttft_ms": 100}}, "load.tpot_ms: is missing"),
        ({"load": {"tpot_ms": 100}}, "load.ttft_ms: is missing"),
        ({"load": {"request_rate": 0}}, "load.request_rate: 0 is out of range; use a value above 0"),
        ({"load": {"concurency": 8}}, "load: unknown field 'concurency'; did you mean concurrency?"),
        ({"load": {"concurrency": "8"}}, "load.concurrency: '8' is text; expected a whole number"),
        ({"count": 8, "tp": 4, "pp": 1, "dp": 1}, "count: 8 accelerators do not match TP 4 × PP 1 × DP 1 = 4"),
        ({"count": 8, "tp": 3}, "count: 8 accelerators do not match TP 3; use a multiple of 3"),
        ({"tp": 4, "dp": 1, "ep": 8}, "ep: EP 8 does not divide TP 4 × DP 1"),
        ({"count": 8, "pp": 2, "dp": 1, "ep": 3}, "ep: EP 3 does not divide TP 4 × DP 1"),
        ({"count": 8, "tp": 2, "pp": 2, "ep": 8}, "ep: EP 8 does not divide TP 2 × DP 2"),
    ],
)
def test_request_errors_name_given_and_expected_values(changes: dict[str, object], message: str) -> None:
    assert refusal(**changes).startswith(message)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_numbers_must_be_finite(value: float) -> None:
    assert refusal(memory_fraction=value).endswith("number; expected a finite number")


def test_line_must_be_an_object() -> None:
    with pytest.raises(InputError) as caught:
        parse_request(["h200-sxm"])
    assert format_input_error(caught.value) == '["h200-sxm"] is a list; expected an object'


def test_whole_numbers_may_be_written_with_a_point() -> None:
    assert parse_request(LINE | {"input_tokens": 4e3}).workload.input_tokens == 4000


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*LINE, "count", "tp", "ep", "id", "date", "x"]), _JSON))
def test_any_json_gives_a_request_or_a_refusal(changes: dict[str, object]) -> None:
    outcome = ""
    try:
        parse_request(LINE | changes)
    except InputError as error:
        outcome = format_input_error(error)
    assert "\n" not in outcome
