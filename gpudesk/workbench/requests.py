"""From the fields of a JSON line to an `EstimateRequest`.

The fields are those of `estimate --batch`; null equals omitted. Everything that can be refused without the
catalog is refused here, with the field as the place.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.workloads import Load, LoadKind, Workload
from gpudesk.workbench.fields import (
    Check,
    boolean,
    identity,
    month,
    number,
    text,
    unknown_field,
    whole,
    word,
    wrong_type,
)
from gpudesk.workbench.pool_fields import pools_check

MOST_TOKENS: Final = 10**8
MOST_ACCELERATORS: Final = 100_000
_MOST_REQUESTS: Final = 10**9

SERVING_ENGINES: Final = ("vllm", "sglang", "tensorrt-llm", "llama.cpp", "tgi")

_PRECISIONS: Final = {precision.value: precision for precision in Precision}
KV_PRECISIONS: Final = {precision.value: precision for precision in KV_BYTES}

TOKENS: Final = whole(1, MOST_TOKENS)
DEGREE: Final = whole(1, MOST_ACCELERATORS)

#: Field of a line -> (field of the request, check).
REQUEST_FIELDS: Final[dict[str, tuple[str, Check]]] = {
    "id": ("id", identity),
    "accelerator": ("accelerator", text()),
    "count": ("count", DEGREE),
    "model": ("model", text()),
    "weights": ("weights", word(_PRECISIONS)),
    "kv": ("kv", word(KV_PRECISIONS)),
    "serving_engine": ("serving_engine", word({name: name for name in SERVING_ENGINES})),
    "date": ("date", month),
    "tp": ("tp", DEGREE),
    "pp": ("pp", DEGREE),
    "ep": ("ep", DEGREE),
    "dp": ("dp", DEGREE),
    "attention_dp": ("attention_dp", boolean),
    "memory_fraction": ("memory_fraction", number(0, 1, above=True)),
    "max_batch": ("max_batch", whole(1, MOST_TOKENS)),
    "max_batched_tokens": ("max_batched_tokens", TOKENS),
    "disaggregated": ("disaggregated", pools_check(DEGREE)),
}

_LOAD_FIELDS: Final[dict[str, Check]] = {
    "batch": whole(1, _MOST_REQUESTS),
    "concurrency": whole(1, _MOST_REQUESTS),
    "saturate": boolean,
    "requests": whole(1, _MOST_REQUESTS),
    "request_rate": number(0, 1e9, above=True),
    "ttft_ms": number(0, 1e12, above=True),
    "tpot_ms": number(0, 1e12, above=True),
    "limit": word({"p99": "p99", "mean": "mean"}),
}

#: What makes a load of each kind, and what may stand beside it.
_VARIANTS: Final[dict[str, tuple[LoadKind, frozenset[str]]]] = {
    "batch": (LoadKind.BATCH, frozenset()),
    "concurrency": (LoadKind.CONCURRENCY, frozenset({"requests"})),
    "saturate": (LoadKind.SATURATE, frozenset({"requests"})),
    "request_rate": (LoadKind.REQUEST_RATE, frozenset()),
    "ttft_ms": (LoadKind.LIMITS, frozenset({"tpot_ms", "limit"})),
    "tpot_ms": (LoadKind.LIMITS, frozenset({"ttft_ms", "limit"})),
}


#: What a load of a kind cannot do without.
_PARTNERS: Final = {LoadKind.SATURATE: ("requests",), LoadKind.LIMITS: ("ttft_ms", "tpot_ms")}


def parse_load(where: str, value: object) -> Load:
    """Return the load that an object of a request or a scenario file states; exactly one kind."""
    if type(value) is not dict:
        raise wrong_type(where, value, "object")
    stated: dict[str, Any] = {}
    for name, given in value.items():
        check = _LOAD_FIELDS.get(name)
        if check is None:
            raise unknown_field(where, name, _LOAD_FIELDS)
        if given is not None:
            stated[name] = check(f"{where}.{name}", given)
    if stated.get("saturate") is False:
        del stated["saturate"]
    kind = _kind(where, stated)
    if kind in _PARTNERS:
        for name in _PARTNERS[kind]:
            if name not in stated:
                raise InputError(message("field.missing"), f"{where}.{name}")
        stated.pop("saturate", None)
    return Load(kind, **stated)


def _kind(where: str, stated: dict[str, Any]) -> LoadKind:
    """Return the kind of load that the fields make, all of which must belong to it."""
    for variant in stated:
        if variant in _VARIANTS:
            break
    else:
        raise InputError(message("load.none"), where)
    kind, beside = _VARIANTS[variant]
    if len(stated) > 1:
        for name in stated:
            if name != variant and name not in beside:
                raise InputError(message("load.two", first=variant, second=name), where)
    return kind


_LENGTHS: Final = {"fixed": False, "varied": True}

#: Field of a line -> (field of the workload, check).
WORKLOAD_FIELDS: Final[dict[str, tuple[str, Check]]] = {
    "input_tokens": ("input_tokens", TOKENS),
    "output_tokens": ("output_tokens", TOKENS),
    "load": ("load", parse_load),
    "lengths": ("varied", word(_LENGTHS)),
    "server": ("server", boolean),
    "prefix_hit_rate": ("prefix_hit_rate", number(0, 1)),
    "acceptance_length": ("acceptance_length", number(1, 1000)),
    "eager": ("eager", boolean),
}

_REQUIRED: Final = ("accelerator", "model", "weights", "input_tokens", "output_tokens", "load")

_ALL: Final = MappingProxyType(
    {name: (False, *rest) for name, rest in REQUEST_FIELDS.items()}
    | {name: (True, *rest) for name, rest in WORKLOAD_FIELDS.items()}
)


def parse_request(fields: object) -> EstimateRequest:
    """Return the request that the fields of one line state; raises `InputError` naming the field."""
    if type(fields) is not dict:
        raise wrong_type("", fields, "object")
    request: dict[str, Any] = {}
    workload: dict[str, Any] = {}
    for name, value in fields.items():
        known = _ALL.get(name)
        if known is None:
            raise unknown_field("", name, _ALL)
        if value is not None:
            in_workload, target, check = known
            (workload if in_workload else request)[target] = check(name, value)
    try:
        made = EstimateRequest(workload=Workload(**workload), **request)
    except TypeError:
        # The one fault that is left: an argument is missing. To look for it beforehand would cost every line.
        name = next(name for name in _REQUIRED if name not in request and name not in workload)
        raise InputError(message("field.missing"), name) from None
    if "tp" in request or "pp" in request or "dp" in request or "ep" in request:
        check_degrees(request)
    return made


def check_degrees(stated: dict[str, Any], where: str = "") -> None:
    """Refuse parallel degrees that contradict the count or each other, as far as they are stated."""
    get = stated.get
    count, tp, pp, dp, ep = get("count"), get("tp"), get("pp"), get("dp"), get("ep")
    product = (tp or 1) * (pp or 1) * (dp or 1)
    if count is not None:
        if tp and pp and dp and product != count:
            raise InputError(
                message("plan.product", count=count, tp=tp, pp=pp, dp=dp, product=product), f"{where}count"
            )
        if count % product:
            raise InputError(message("plan.divides", count=count, product=product), f"{where}count")
    if ep is not None and ep > 1:
        if not tp and count and pp and dp:
            tp = count // product
        if not dp and count and pp and tp:
            dp = count // product
        if tp and dp and (tp * dp) % ep:
            raise InputError(message("plan.ep", ep=ep, tp=tp, dp=dp), f"{where}ep")
