"""Whether the figures of an accelerator can be: each by itself, and against each other.

What breaks physics or arithmetic is refused. What no known part has is doubtful: it is said why, and the user
may keep it. Values are in the units used inside; what is not known is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gpudesk.catalog.attribute_names import ACCELERATOR, PEAK_DENSE, PEAK_SPARSE
from gpudesk.catalog.importing.figure_values import Values, near, number, said, text
from gpudesk.catalog.importing.plausible_memory import bandwidth_findings, memory_findings
from gpudesk.catalog.importing.plausible_peaks import peak_findings
from gpudesk.domain.accelerators import PLATFORMS
from gpudesk.domain.messages import message
from gpudesk.domain.plausibility import Finding, Grade
from gpudesk.domain.units import GIB


@dataclass(frozen=True, slots=True)
class _Range:
    """What a figure can be at all, and what those of known parts are."""

    least: float
    low: float
    high: float
    most: float


#: Known parts reach from an L4 to a Vera Rubin; a figure a thousand times off lies outside of what can be.
_RANGES: Final[Mapping[str, _Range]] = {
    "memory": _Range(1 * GIB, 4 * GIB, 1024 * GIB, 16 * 1024 * GIB),
    "memory_bandwidth": _Range(20e9, 100e9, 40e12, 100e12),
    "memory_stacks": _Range(1, 1, 16, 64),
    "last_level_cache": _Range(2**16, 2**20, 2**31, 2**36),
    "scale_up_bandwidth": _Range(10e9, 50e9, 10e12, 100e12),
    "scale_up_domain": _Range(1, 1, 10_000, 1_000_000),
    "pcie_generation": _Range(1, 3, 7, 10),
    "pcie_bandwidth": _Range(1e9, 15e9, 520e9, 2e12),
    "tdp": _Range(5, 30, 3000, 20_000),
    "price_low": _Range(10, 200, 200_000, 10_000_000),
    "price_high": _Range(10, 200, 200_000, 10_000_000),
}
_PEAK_RANGE: Final = _Range(1e10, 1e11, 1e17, 2e18)
_MATRIX_PEAK_RANGE: Final = _Range(1e12, 1e13, 1e17, 2e18)
#: Formats that matrix units are for; the others can be a small part of the die, or left out.
_MATRIX: Final = frozenset({"tf32", "bf16", "fp16", "fp8", "fp6", "fp4"})

#: Generation of PCIe -> bytes/s over 16 lanes, both directions.
_PCIE: Final[Mapping[int, float]] = {3: 31.5e9, 4: 63e9, 5: 126e9, 6: 252e9, 7: 504e9}
_PCIE_TOLERANCE: Final = 0.05


def findings(values: Values, name: str = "") -> tuple[Finding, ...]:
    """Return everything that speaks against the figures of one accelerator of that name."""
    alone = tuple(_single(values))
    # What a figure that cannot be does not go with says nothing more.
    sound = {each: value for each, value in values.items() if not any(one.refuses(each) for one in alone)}
    return (
        *alone,
        *memory_findings(sound, name),
        *bandwidth_findings(sound),
        *peak_findings(sound),
        *_links(sound),
        *_software(sound),
    )


# Each by itself


def _single(values: Values) -> Iterator[Finding]:
    for name in values:
        bounds, unit = _bounds(name)
        value = number(values, name)
        if bounds is None or value is None:
            continue
        if not bounds.least <= value <= bounds.most:
            low, high = (bounds.least, unit), (bounds.most, unit)
            yield Finding(
                name,
                Grade.REFUSED,
                message("import.part.impossible", attribute=said(name), low=low, high=high),
            )
        elif not bounds.low <= value <= bounds.high:
            low, high = (bounds.low, unit), (bounds.high, unit)
            yield Finding(
                name,
                Grade.DOUBTFUL,
                message("import.part.unusual", attribute=said(name), low=low, high=high),
            )


def _bounds(name: str) -> tuple[_Range | None, str]:
    if name.startswith((PEAK_DENSE, PEAK_SPARSE)):
        matrix = name.rpartition("_")[2] in _MATRIX
        return _MATRIX_PEAK_RANGE if matrix else _PEAK_RANGE, "FLOP/s"
    return _RANGES.get(name), ACCELERATOR.get(name) or ""


# Links and software


def _links(values: Values) -> Iterator[Finding]:
    generation, link = number(values, "pcie_generation"), number(values, "pcie_bandwidth")
    if generation is not None and link is not None:
        full = _PCIE.get(int(generation))
        if full is not None and not near(link, full, _PCIE_TOLERANCE):
            grade = Grade.REFUSED if link > full * (1 + _PCIE_TOLERANCE) else Grade.DOUBTFUL
            problem = message(
                "import.part.pcie",
                attribute=said("pcie_bandwidth"),
                generation=int(generation),
                full=(full, "B/s"),
            )
            yield Finding("pcie_bandwidth", grade, problem, ("pcie_generation",))
    scale_up, bandwidth = number(values, "scale_up_bandwidth"), number(values, "memory_bandwidth")
    if scale_up is not None and bandwidth is not None and scale_up > bandwidth:
        yield Finding(
            "scale_up_bandwidth",
            Grade.DOUBTFUL,
            message("import.part.link_over_memory", attribute=said("scale_up_bandwidth")),
            ("memory_bandwidth",),
        )
    low, high = number(values, "price_low"), number(values, "price_high")
    if low is not None and high is not None and low > high:
        yield Finding(
            "price_high",
            Grade.REFUSED,
            message("import.part.price_order", attribute=said("price_high")),
            ("price_low",),
        )


def _software(values: Values) -> Iterator[Finding]:
    words = [word.strip() for word in text(values, "software_platform").split(",")]
    if any(words) and not any(word in PLATFORMS for word in words):
        yield Finding(
            "software_platform",
            Grade.DOUBTFUL,
            message("import.part.platform", attribute=said("software_platform"), known=PLATFORMS),
        )
