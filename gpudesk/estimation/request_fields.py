"""From the fields of a JSON line to an `EstimateRequest`.

The fields are those of `estimate --batch`; null equals omitted. Every check that needs no catalog is here, with the
field as the place.
"""

from __future__ import annotations

from typing import Any, Final

from gpudesk.domain.estimate import (
    DisaggregationRequest,
    EstimateRequest,
    Load,
    LoadKind,
    PoolRequest,
    Workload,
    describe_wrong_ep,
)
from gpudesk.domain.field_checks import (
    MISSING_FIELD,
    FieldCheck,
    accept_boolean,
    accept_identity,
    accept_month,
    accept_number,
    accept_text,
    accept_whole,
    accept_word,
    check_fields,
    make_type_error,
    make_unknown_field_error,
)
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.text.messages import InputError, Message, input_error, message, message_n

_POOLS: Final = ("prefill", "decode")
_POOL_FIELDS: Final = ("count", "tp", "pp", "ep", "dp", "attention_dp")


def accept_pools(degree: FieldCheck) -> FieldCheck:
    """Return the check of `disaggregated`, whose counts and degrees are checked by `degree`.

    True leaves split and plans to the program; false equals omitted.
    """
    checks: dict[str, FieldCheck] = {**dict.fromkeys(_POOL_FIELDS, degree), "attention_dp": accept_boolean}

    def pool(where: str, value: object) -> PoolRequest:
        return PoolRequest(**check_fields(where, value, checks))

    def check(where: str, value: object) -> DisaggregationRequest | None:
        if type(value) is bool:
            return DisaggregationRequest() if value else None
        if type(value) is not dict:
            raise make_type_error(where, value, "boolean_or_object")
        return DisaggregationRequest(**check_fields(where, value, dict.fromkeys(_POOLS, pool)))

    return check


def write_pools_wish(wish: DisaggregationRequest) -> bool | dict[str, dict[str, int | bool]]:
    """Return a pool request as JSON: the stated fields by pool, True without any."""
    pools = {name: _write_pool_wish(getattr(wish, name)) for name in _POOLS}
    return {name: fields for name, fields in pools.items() if fields} or True


def _write_pool_wish(wish: PoolRequest) -> dict[str, int | bool]:
    return {name: value for name in _POOL_FIELDS if (value := getattr(wish, name)) is not None}


MOST_TOKENS: Final = 10**8
MOST_ACCELERATORS: Final = 100_000
_MOST_REQUESTS: Final = 10**9

SERVING_ENGINES: Final = ("vllm", "sglang", "tensorrt-llm", "llama.cpp", "tgi")

_PRECISIONS: Final = {precision.value: precision for precision in Precision}
KV_PRECISIONS: Final = {precision.value: precision for precision in KV_BYTES}

TOKEN_CHECK: Final = accept_whole(1, MOST_TOKENS)
DEGREE_CHECK: Final = accept_whole(1, MOST_ACCELERATORS)

#: The fields of a line and of the request.
REQUEST_FIELDS: Final[dict[str, FieldCheck]] = {
    "id": accept_identity,
    "accelerator": accept_text(),
    "count": DEGREE_CHECK,
    "model": accept_text(),
    "weights": accept_word(_PRECISIONS),
    "kv": accept_word(KV_PRECISIONS),
    "serving_engine": accept_word({name: name for name in SERVING_ENGINES}),
    "date": accept_month,
    "tp": DEGREE_CHECK,
    "pp": DEGREE_CHECK,
    "ep": DEGREE_CHECK,
    "dp": DEGREE_CHECK,
    "attention_dp": accept_boolean,
    "memory_fraction": accept_number(0, 1, above=True),
    "max_batch": accept_whole(1, MOST_TOKENS),
    "max_batched_tokens": TOKEN_CHECK,
    "disaggregated": accept_pools(DEGREE_CHECK),
}

_LOAD_FIELDS: Final[dict[str, FieldCheck]] = {
    "batch": accept_whole(1, _MOST_REQUESTS),
    "concurrency": accept_whole(1, _MOST_REQUESTS),
    "saturate": accept_boolean,
    "requests": accept_whole(1, _MOST_REQUESTS),
    "request_rate": accept_number(0, 1e9, above=True),
    "ttft_ms": accept_number(0, 1e12, above=True),
    "tpot_ms": accept_number(0, 1e12, above=True),
    "limit": accept_word({"p99": "p99", "mean": "mean"}),
}

#: The defining fields of each kind of load, and its optional fields.
_VARIANTS: Final[dict[str, tuple[LoadKind, frozenset[str]]]] = {
    "batch": (LoadKind.BATCH, frozenset()),
    "concurrency": (LoadKind.CONCURRENCY, frozenset({"requests"})),
    "saturate": (LoadKind.SATURATE, frozenset({"requests"})),
    "request_rate": (LoadKind.REQUEST_RATE, frozenset()),
    "ttft_ms": (LoadKind.LIMITS, frozenset({"tpot_ms", "limit"})),
    "tpot_ms": (LoadKind.LIMITS, frozenset({"ttft_ms", "limit"})),
}


#: Required fields of each kind of load.
_PARTNERS: Final = {LoadKind.SATURATE: ("requests",), LoadKind.LIMITS: ("ttft_ms", "tpot_ms")}


def parse_load(where: str, value: object) -> Load:
    """Return the load of a request or a scenario file; exactly one kind."""
    fields = check_fields(where, value, _LOAD_FIELDS)
    if fields.get("saturate") is False:
        del fields["saturate"]
    kind = _find_load_kind(where, fields)
    if kind in _PARTNERS:
        for name in _PARTNERS[kind]:
            if name not in fields:
                raise InputError(MISSING_FIELD, f"{where}.{name}")
        fields.pop("saturate", None)
    return Load(kind, **fields)


def _find_load_kind(where: str, fields: dict[str, Any]) -> LoadKind:
    """Return the kind of load that the fields define, all of which must belong to it."""
    for variant in fields:
        if variant in _VARIANTS:
            break
    else:
        raise input_error(
            "load.none",
            "no load given; use one of batch, concurrency, saturate with requests, request_rate, or ttft_ms with "
            "tpot_ms",
            where,
        )
    kind, companions = _VARIANTS[variant]
    if len(fields) > 1:
        for name in fields:
            if name != variant and name not in companions:
                raise InputError(describe_conflicting_loads(variant, name), where)
    return kind


_LENGTHS: Final = {"fixed": False, "varied": True}

#: Workload fields of a line, with the same names in a workload except lengths.
WORKLOAD_FIELDS: Final[dict[str, FieldCheck]] = {
    "input_tokens": TOKEN_CHECK,
    "output_tokens": TOKEN_CHECK,
    "load": parse_load,
    "lengths": accept_word(_LENGTHS),
    "server": accept_boolean,
    "prefix_hit_rate": accept_number(0, 1),
    "acceptance_length": accept_number(1, 1000),
    "eager": accept_boolean,
}


def get_workload_field(name: str) -> str:
    """Return the workload's name of a line's field."""
    return "varied" if name == "lengths" else name


def accept_workload(where: str, value: object) -> Workload:
    values = check_fields(where, value, WORKLOAD_FIELDS, required=("input_tokens", "output_tokens", "load"))
    return Workload(**{get_workload_field(name): field_value for name, field_value in values.items()})


_REQUIRED: Final = ("accelerator", "model", "weights", "input_tokens", "output_tokens", "load")

_ALL_FIELDS: Final = {name: (False, name, check) for name, check in REQUEST_FIELDS.items()} | {
    name: (True, get_workload_field(name), check) for name, check in WORKLOAD_FIELDS.items()
}


def parse_request(fields: object) -> EstimateRequest:
    """Return the request in the fields of one line; raises `InputError` naming the field."""
    if type(fields) is not dict:
        raise make_type_error("", fields, "object")
    request: dict[str, Any] = {}
    workload: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _ALL_FIELDS:
            raise make_unknown_field_error("", name, _ALL_FIELDS)
        if value is not None:
            in_workload, target, check = _ALL_FIELDS[name]
            (workload if in_workload else request)[target] = check(name, value)
    try:
        request["workload"] = Workload(**workload)
        estimate_request = EstimateRequest(**request)
    except TypeError:
        # The only remaining fault is a missing argument. Checking for it first would slow down every line.
        name = next(name for name in _REQUIRED if name not in request and name not in workload)
        raise InputError(MISSING_FIELD, name) from None
    if "tp" in request or "pp" in request or "dp" in request or "ep" in request:
        check_degrees(request)
    return estimate_request


def check_degrees(fields: dict[str, Any], where: str = "") -> None:
    """Refuse contradictory parallel degrees, as far as they are stated."""
    get = fields.get
    count, tp, pp, dp, ep = get("count"), get("tp"), get("pp"), get("dp"), get("ep")
    product = (tp or 1) * (pp or 1) * (dp or 1)
    if count is not None:
        if tp and pp and dp and product != count:
            raise InputError(
                message_n(
                    "plan.product",
                    "{count} accelerator does not match TP {tp} × PP {pp} × DP {dp} = {product}; change the count or "
                    "the degrees",
                    "{count} accelerators do not match TP {tp} × PP {pp} × DP {dp} = {product}; change the count or "
                    "the degrees",
                    "count",
                    count=count,
                    tp=tp,
                    pp=pp,
                    dp=dp,
                    product=product,
                ),
                f"{where}count",
            )
        if count % product:
            raise InputError(
                message_n(
                    "plan.divides",
                    "{count} accelerator does not match {degrees}; use a multiple of {product}",
                    "{count} accelerators do not match {degrees}; use a multiple of {product}",
                    "count",
                    count=count,
                    product=product,
                    degrees=" × ".join(f"{name} {n}" for name, n in (("TP", tp), ("PP", pp), ("DP", dp)) if n),
                ),
                f"{where}count",
            )
    if ep is not None and ep > 1:
        if not tp and count and pp and dp:
            tp = count // product
        if not dp and count and pp and tp:
            dp = count // product
        if tp and dp and (tp * dp) % ep:
            raise InputError(describe_wrong_ep(ep, tp, dp), f"{where}ep")


def describe_conflicting_loads(first: str, second: str) -> Message:
    return message(
        "load.two", "{first} and {second} cannot be combined; use one type of load", first=first, second=second
    )
