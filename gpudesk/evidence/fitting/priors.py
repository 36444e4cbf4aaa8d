"""Priors of every calibration constant (data/priors.toml), and what measured operators make of them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gpudesk.evidence.fitting.operator_constants import OperatorFit
from gpudesk.evidence.fitting.parameters import ConstantPrior, PriorOverride, Where

PRIORS_FILE: Final = "priors.toml"
#: Whose kernels pin a constant: "" is what the libraries have in common.
_LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "weight_read_efficiency": ("",),
    "gemm_efficiency": ("",),
    "kv_read_efficiency": ("vLLM",),
    "allreduce_latency": ("TensorRT-LLM",),
    "direct_efficiency": ("TensorRT-LLM",),
    "ring_latency": ("NCCL",),
}
#: What kernels inside an engine may differ by from kernels alone, in the logarithm: shapes, fusion, clocks.
INSIDE_AN_ENGINE: Final = 0.07


def read_priors(data_dir: Path) -> tuple[ConstantPrior, ...]:
    """Return the priors in the order of the file; a field that it does not know is a TypeError."""
    text = (data_dir / PRIORS_FILE).read_text(encoding="utf-8")
    return tuple(_make_prior(name, fields) for name, fields in tomllib.loads(text).items())


def _make_prior(name: str, fields: dict[str, Any]) -> ConstantPrior:
    overrides = tuple(
        PriorOverride({key: tuple(allowed) for key, allowed in each["where"].items()}, each["value"])
        for each in fields.pop("overrides", ())
    )
    return ConstantPrior(name, exceptions=overrides, exception_spread=fields.pop("override_spread", None), **fields)


def pin_priors(priors: Sequence[ConstantPrior], operators: OperatorFit) -> tuple[ConstantPrior, ...]:
    """Return the beliefs with those exceptions replaced that measured operators say something of."""
    return tuple(
        replace(prior, exceptions=tuple(_pinned(prior.name, each, operators) for each in prior.exceptions))
        for prior in priors
    )


def _pinned(name: str, exception: PriorOverride, operators: OperatorFit) -> PriorOverride:
    libraries = _LIBRARIES.get(name, ())
    inside = [
        entry
        for entry in operators.entries
        if entry.constant == name and entry.kernels in libraries and _within(entry.where, exception.where)
    ]
    if not inside:
        return exception
    weights = [entry.sigma**-2 for entry in inside]
    mean = sum(w * math.log(each.value) for w, each in zip(weights, inside, strict=True)) / sum(weights)
    spread = math.hypot(INSIDE_AN_ENGINE, min(entry.sigma for entry in inside))
    return PriorOverride(exception.where, math.exp(mean), spread, pinned=True)


def _within(narrow: Where, wide: Where) -> bool:
    """Whether what `narrow` names lies in `wide`; serving engine and link of a kernel do not matter."""
    return all(key in narrow and set(narrow[key]) <= set(wide[key]) for key in wide) and not (
        {"ranks"} & set(narrow)
    ) - set(wide)
