"""Whether the peaks of an accelerator can be: dense against sparse, format against format, and their feed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpudesk.catalog.attribute_names import PEAK_DENSE, PEAK_SPARSE
from gpudesk.catalog.importing.figure_values import Values, near, number, said
from gpudesk.domain.messages import message
from gpudesk.domain.plausibility import Finding, Grade

_BF16: Final = f"{PEAK_DENSE}bf16"
#: FLOP a byte of memory bandwidth, in BF16 without sparsity: an RTX 5090 has 117, a TPU v6e 560.
_INTENSITY: Final = (60.0, 800.0)
#: FLOP/s a watt, in BF16 without sparsity.
_PER_WATT: Final = (0.2e12, 4e12)
#: What the peak of one format is to that of another, within the tolerance.
_RATIOS: Final[tuple[tuple[str, str, tuple[float, ...]], ...]] = (
    ("fp16", "bf16", (1.0,)),
    ("tf32", "bf16", (0.25, 0.5, 1.0)),
    ("fp8", "bf16", (1.0, 2.0)),
    ("fp6", "fp8", (1.0, 2.0)),
    ("fp4", "fp8", (1.0, 2.0)),
    ("int8", "bf16", (1.0, 2.0)),
)
_RATIO_TOLERANCE: Final = 0.06
#: Structured sparsity doubles: two of four.
_SPARSE_RATIO: Final = 2.0
_SPARSE_TOLERANCE: Final = 0.03


def peak_findings(values: Values) -> Iterator[Finding]:
    """Yield what speaks against the peaks."""
    yield from _sparse(values)
    for name, of, expected in _RATIOS:
        one, other = number(values, PEAK_DENSE + name), number(values, PEAK_DENSE + of)
        if one is None or other is None:
            continue
        if not any(near(one / other, ratio, _RATIO_TOLERANCE) for ratio in expected):
            problem = message(
                "import.part.ratio",
                attribute=said(PEAK_DENSE + name),
                given=one / other,
                precision=of.upper(),
                known=" or ".join(f"{ratio:g}" for ratio in expected),
            )
            yield Finding(PEAK_DENSE + name, Grade.DOUBTFUL, problem, (PEAK_DENSE + of,))
    yield from _peak_against_bandwidth(values)
    yield from _peak_against_power(values)


def _peak_against_bandwidth(values: Values) -> Iterator[Finding]:
    peak, bandwidth = number(values, _BF16), number(values, "memory_bandwidth")
    if peak is None or bandwidth is None or _INTENSITY[0] <= peak / bandwidth <= _INTENSITY[1]:
        return
    given, low, high = peak / bandwidth, *_INTENSITY
    problem = message("import.part.intensity", attribute=said(_BF16), given=given, low=low, high=high)
    yield Finding(_BF16, Grade.DOUBTFUL, problem, ("memory_bandwidth",))


def _peak_against_power(values: Values) -> Iterator[Finding]:
    peak, power = number(values, _BF16), number(values, "tdp")
    if peak is None or power is None or _PER_WATT[0] <= peak / power <= _PER_WATT[1]:
        return
    given, low, high = (each / 1e12 for each in (peak / power, *_PER_WATT))
    problem = message("import.part.per_watt", attribute=said(_BF16), given=given, low=low, high=high)
    yield Finding(_BF16, Grade.DOUBTFUL, problem, ("tdp",))


def _sparse(values: Values) -> Iterator[Finding]:
    """Peaks with structured sparsity are twice those without; equal ones were taken for each other."""
    for name in values:
        if not name.startswith(PEAK_SPARSE):
            continue
        dense_name = PEAK_DENSE + name.removeprefix(PEAK_SPARSE)
        sparse, dense = number(values, name), number(values, dense_name)
        if sparse is None or dense is None:
            continue
        if sparse < dense * (1 - _SPARSE_TOLERANCE):
            yield Finding(
                name, Grade.REFUSED, message("import.part.sparse_below", attribute=said(name)), (dense_name,)
            )
        elif not near(sparse / dense, _SPARSE_RATIO, _SPARSE_TOLERANCE):
            problem = message("import.part.sparse_ratio", attribute=said(name), given=sparse / dense)
            yield Finding(name, Grade.DOUBTFUL, problem, (dense_name,))
