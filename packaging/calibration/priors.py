"""Priors of every calibration constant (data/priors.toml), updated by measured operators."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from calibration.operator_constants import OperatorFit
from calibration.parameters import ConstantPrior, PriorOverride, Where

PRIORS_FILE: Final = "priors.toml"
#: The library whose kernels pin a constant: "" is the value common to all libraries.
_LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "weight_read_efficiency": ("",),
    "gemm_efficiency": ("",),
    "kv_read_efficiency": ("vLLM",),
    "allreduce_latency": ("TensorRT-LLM",),
    "direct_efficiency": ("TensorRT-LLM",),
    "ring_latency": ("NCCL",),
}
#: Constants that differ by serving engine in measured kernels: each entry adds an override.
_BY_ENGINE: Final = frozenset(
    {
        "expert_read_efficiency",
        "expert_gemm_efficiency",
        "expert_half_tokens",
        "routing_traffic",
        "expert_call_time",
        "attention_efficiency",
        "attention_offset",
        "kv_read_efficiency",
        "decode_attention_efficiency",
    }
)
#: Serving engines without measured kernels get their prior from all others.
_ENGINES: Final = ("vLLM", "SGLang", "TensorRT-LLM")
#: Spread of these constants inside an engine, in the logarithm: other kernels than those of the tables, and other
#: routing. Half of it makes TTFT of expert models a fifth too short.
APART: Final = 0.2
#: Spread of kernels inside an engine relative to isolated ones, in the logarithm: shapes, fusion, clocks.
INSIDE_AN_ENGINE: Final = 0.07


def read_priors(data_dir: Path) -> tuple[ConstantPrior, ...]:
    """Return the priors in the order of the file; an unknown field raises TypeError."""
    text = (data_dir / PRIORS_FILE).read_text(encoding="utf-8")
    return tuple(_make_prior(name, fields) for name, fields in tomllib.loads(text).items())


def _make_prior(name: str, fields: dict[str, Any]) -> ConstantPrior:
    overrides = tuple(
        PriorOverride({key: tuple(allowed) for key, allowed in each["where"].items()}, each["value"])
        for each in fields.pop("overrides", ())
    )
    return ConstantPrior(name, overrides=overrides, override_spread=fields.pop("override_spread", None), **fields)


def pin_priors(priors: Sequence[ConstantPrior], operators: OperatorFit) -> tuple[ConstantPrior, ...]:
    """Return the priors, with overrides replaced by those of measured operators."""
    return tuple(
        replace(
            prior,
            overrides=(
                *(_pinned(prior.name, each, operators) for each in prior.overrides),
                *_override_by_engine(prior, operators),
            ),
        )
        for prior in priors
    )


def _override_by_engine(prior: ConstantPrior, operators: OperatorFit) -> list[PriorOverride]:
    if prior.name not in _BY_ENGINE:
        return []
    return [
        PriorOverride(
            entry.where, min(max(entry.value, prior.low), prior.high), math.hypot(APART, entry.sigma), pinned=True
        )
        for entry in operators.entries
        if entry.constant == prior.name and "serving_engine" in entry.where
    ]


def _pinned(name: str, override: PriorOverride, operators: OperatorFit) -> PriorOverride:
    libraries = _LIBRARIES.get(name, _ENGINES if name in _BY_ENGINE else ())
    inside = [
        entry
        for entry in operators.entries
        if entry.constant == name and entry.kernels in libraries and _within(entry.where, override.where)
    ]
    if not inside:
        return override
    weights = [entry.sigma**-2 for entry in inside]
    mean = sum(w * math.log(each.value) for w, each in zip(weights, inside, strict=True)) / sum(weights)
    inside_an_engine = APART if name in _BY_ENGINE and name not in _LIBRARIES else INSIDE_AN_ENGINE
    spread = math.hypot(inside_an_engine, min(entry.sigma for entry in inside))
    return PriorOverride(override.where, math.exp(mean), spread, pinned=True)


def _within(narrow: Where, wide: Where) -> bool:
    """Whether `narrow` is a special case of `wide`; serving engine and link of a kernel do not matter."""
    return all(key in narrow and set(narrow[key]) <= set(wide[key]) for key in wide) and not (
        {"ranks"} & set(narrow)
    ) - set(wide)
