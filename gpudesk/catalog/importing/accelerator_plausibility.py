"""Whether the figures of an accelerator can be: each by itself, and against each other.

What breaks physics or arithmetic is refused. What no known part has is doubtful: it is said why, and the user
may keep it. Values are in the units used inside; what is not known is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpudesk.catalog.attribute_names import PEAK_DENSE, PEAK_SPARSE
from gpudesk.catalog.importing.memory_types import GraphicsMemory, StackedMemory, memory_type
from gpudesk.domain.claims import ClaimValue
from gpudesk.domain.messages import Message, message
from gpudesk.domain.units import GIB

Values = Mapping[str, ClaimValue]


class Grade(StrEnum):
    """Whether a figure cannot be, or only is like that of no known part."""

    REFUSED = "refused"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class Finding:
    """What speaks against a figure; `others` are the attributes that it does not go with."""

    attribute: str
    grade: Grade
    problem: Message
    others: tuple[str, ...] = ()

    def refuses(self, attribute: str) -> bool:
        """Whether it says that the figure of this attribute cannot be."""
        return self.grade is Grade.REFUSED and attribute == self.attribute

    def concerns(self, attribute: str) -> bool:
        """Whether the attribute is one of those that do not go together."""
        return attribute == self.attribute or attribute in self.others


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

_BF16: Final = f"{PEAK_DENSE}bf16"
#: FLOP a byte of memory bandwidth, in BF16 without sparsity: an RTX 5090 has 117, a TPU v6e 560.
_INTENSITY: Final = (60.0, 800.0)
#: FLOP/s a watt, in BF16 without sparsity.
_PER_WATT: Final = (0.2e12, 4e12)
#: Bytes/s a byte of memory: a Vera Rubin has 71, a laptop with LPDDR a few.
_PER_BYTE: Final = (8.0, 90.0)
_LEAST_PER_BYTE_LPDDR: Final = 1.0

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

#: Generation of PCIe -> bytes/s over 16 lanes, both directions.
_PCIE: Final[Mapping[int, float]] = {3: 31.5e9, 4: 63e9, 5: 126e9, 6: 252e9, 7: 504e9}
_PCIE_TOLERANCE: Final = 0.05

_LABEL: Final = re.compile(r"\s*([0-9]{1,5}(?:\.[0-9]{1,2})?)\s*(G|T)i?B\b", re.IGNORECASE)
_LABEL_TOLERANCE: Final = 0.08

#: Names that say how much memory a part has, in GiB as it is sold.
_NAMED_MEMORY: Final[tuple[tuple[re.Pattern[str], tuple[float, ...]], ...]] = tuple(
    (re.compile(rf"(?<![a-z0-9]){pattern}(?![0-9])", re.IGNORECASE), sizes)
    for pattern, sizes in (
        (r"a100", (40, 80)),
        (r"h100[ -]?nvl", (94,)),
        (r"h100(?![ -]?nvl)", (64, 80, 96)),
        (r"h200", (141,)),
        (r"h20(?!0)", (96, 141)),
        (r"gh200", (96, 144)),
        (r"g?b200", (180, 186, 192)),
        (r"g?b300", (270, 279, 288)),
        (r"l40s?", (48,)),
        (r"l4(?!0)", (24,)),
        (r"rtx 4090", (24,)),
        (r"rtx 5090", (32,)),
        (r"rtx pro 6000", (96,)),
        (r"mi210", (64,)),
        (r"mi250x?", (128,)),
        (r"mi300a", (128,)),
        (r"mi300x", (192,)),
        (r"mi325x", (256,)),
        (r"mi35[05]x", (288,)),
        (r"gaudi ?2", (96,)),
        (r"gaudi ?3", (128,)),
    )
)

#: Words of the attribute `software_platform` for which a serving engine is known.
PLATFORMS: Final = ("CUDA", "ROCm", "JAX/XLA", "Neuron SDK", "SynapseAI")


def findings(values: Values, name: str = "") -> tuple[Finding, ...]:
    """Return everything that speaks against the figures of one accelerator of that name."""
    alone = tuple(_single(values))
    # What a figure that cannot be does not go with says nothing more.
    sound = {each: value for each, value in values.items() if not any(one.refuses(each) for one in alone)}
    return (
        *alone,
        *_memory(sound, name),
        *_bandwidth(sound),
        *_peaks(sound),
        *_links(sound),
        *_software(sound),
    )


def _number(values: Values, name: str) -> float | None:
    """Return a figure above zero, or None."""
    value = values.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    return None


def _text(values: Values, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _said(name: str) -> str:
    """Return the name of an attribute in words."""
    return name.replace("_", " ")


# Each by itself


def _single(values: Values) -> Iterator[Finding]:
    for name in values:
        bounds, unit = _bounds(name)
        value = _number(values, name)
        if bounds is None or value is None:
            continue
        if not bounds.least <= value <= bounds.most:
            low, high = (bounds.least, unit), (bounds.most, unit)
            yield Finding(
                name,
                Grade.REFUSED,
                message("import.part.impossible", attribute=_said(name), low=low, high=high),
            )
        elif not bounds.low <= value <= bounds.high:
            low, high = (bounds.low, unit), (bounds.high, unit)
            yield Finding(
                name,
                Grade.DOUBTFUL,
                message("import.part.unusual", attribute=_said(name), low=low, high=high),
            )


def _bounds(name: str) -> tuple[_Range | None, str]:
    if name.startswith((PEAK_DENSE, PEAK_SPARSE)):
        matrix = name.rpartition("_")[2] in _MATRIX
        return _MATRIX_PEAK_RANGE if matrix else _PEAK_RANGE, "FLOP/s"
    return _RANGES.get(name), _UNITS.get(name, "")


_UNITS: Final[Mapping[str, str]] = {
    "memory": "B",
    "memory_bandwidth": "B/s",
    "memory_stacks": "stacks",
    "last_level_cache": "B",
    "scale_up_bandwidth": "B/s",
    "scale_up_domain": "accelerators",
    "pcie_bandwidth": "B/s",
    "tdp": "W",
    "price_low": "USD",
    "price_high": "USD",
}


# Memory


def _memory(values: Values, name: str) -> Iterator[Finding]:
    memory = _number(values, "memory")
    if memory is None:
        return
    yield from _label(values, memory)
    for pattern, sizes in _NAMED_MEMORY:
        if pattern.search(name) and not any(_near(memory / GIB, size, _LABEL_TOLERANCE) for size in sizes):
            known = tuple(f"{size:g}" for size in sizes)
            yield Finding(
                "memory",
                Grade.DOUBTFUL,
                message("import.part.named_memory", attribute=_said("memory"), sizes=known),
            )
    kind, stacks = memory_type(_text(values, "memory_type")), _number(values, "memory_stacks")
    if isinstance(kind, StackedMemory) and stacks is not None:
        yield from _stack_size(kind, memory / GIB / stacks)


def _label(values: Values, memory: float) -> Iterator[Finding]:
    """A label counts GiB, or GB, and a little of it can be taken by error correction or the driver."""
    match = _LABEL.match(_text(values, "memory_label"))
    if match is None:
        return
    label = float(match[1]) * (1024 if match[2].upper() == "T" else 1)
    if not _near(memory / GIB, label, _LABEL_TOLERANCE) and not _near(memory / 1e9, label, _LABEL_TOLERANCE):
        yield Finding(
            "memory",
            Grade.DOUBTFUL,
            message("import.part.label", attribute=_said("memory"), label=_text(values, "memory_label")),
            ("memory_label",),
        )


def _stack_size(kind: StackedMemory, each: float) -> Iterator[Finding]:
    others = ("memory_stacks", "memory_type")
    if each > kind.largest_gib * 1.01:
        problem = message(
            "import.part.stack_too_large",
            attribute=_said("memory"),
            type=kind.name,
            given=each,
            most=f"{kind.largest_gib}",
        )
        yield Finding("memory", Grade.REFUSED, problem, others)
    elif not any(kind.least_filled * size <= each <= 1.01 * size for size in kind.sizes_gib):
        sizes = tuple(map(str, kind.sizes_gib))
        problem = message(
            "import.part.stack_size", attribute=_said("memory"), type=kind.name, given=each, sizes=sizes
        )
        yield Finding("memory", Grade.DOUBTFUL, problem, others)


def _bandwidth(values: Values) -> Iterator[Finding]:
    bandwidth, memory = _number(values, "memory_bandwidth"), _number(values, "memory")
    if bandwidth is None:
        return
    kind, stacks = memory_type(_text(values, "memory_type")), _number(values, "memory_stacks")
    if isinstance(kind, StackedMemory):
        yield from _stack_bandwidth(kind, bandwidth, memory, stacks)
    elif isinstance(kind, GraphicsMemory):
        yield from _bus_bandwidth(kind, bandwidth, memory)
    if memory is None:
        return
    low, high = _PER_BYTE
    if isinstance(kind, GraphicsMemory) and kind.name.startswith("LPDDR"):
        low = _LEAST_PER_BYTE_LPDDR
    if not low <= bandwidth / memory <= high:
        problem = message(
            "import.part.reads_a_second",
            attribute=_said("memory_bandwidth"),
            given=bandwidth / memory,
            low=f"{low:g}",
            high=f"{high:g}",
        )
        yield Finding("memory_bandwidth", Grade.DOUBTFUL, problem, ("memory",))


def _stack_bandwidth(
    kind: StackedMemory, bandwidth: float, memory: float | None, stacks: float | None
) -> Iterator[Finding]:
    """Hold the bandwidth against its stacks; uncounted, against as many as the memory can be."""
    if stacks is not None:
        each, others = bandwidth / stacks, ("memory_stacks", "memory_type")
        low, high = (kind.slow, "B/s"), (kind.fast, "B/s")
        problem = message(
            "import.part.stack_bandwidth",
            attribute=_said("memory_bandwidth"),
            type=kind.name,
            given=(each, "B/s"),
            low=low,
            high=high,
        )
        if each > kind.fastest:
            yield Finding("memory_bandwidth", Grade.REFUSED, problem, others)
        elif not kind.slow <= each <= kind.fast:
            yield Finding("memory_bandwidth", Grade.DOUBTFUL, problem, others)
    elif memory is not None:
        most = max(memory / GIB / min(kind.sizes_gib), 1) * kind.fastest
        if bandwidth > most:
            problem = message(
                "import.part.too_fast",
                attribute=_said("memory_bandwidth"),
                type=kind.name,
                most=(most, "B/s"),
            )
            yield Finding("memory_bandwidth", Grade.REFUSED, problem, ("memory", "memory_type"))


def _bus_bandwidth(kind: GraphicsMemory, bandwidth: float, memory: float | None) -> Iterator[Finding]:
    """Hold the bandwidth against the widest bus, and the memory against the chips that a bus carries."""
    if bandwidth > kind.fastest:
        problem = message(
            "import.part.too_fast",
            attribute=_said("memory_bandwidth"),
            type=kind.name,
            most=(kind.fastest, "B/s"),
        )
        yield Finding("memory_bandwidth", Grade.REFUSED, problem, ("memory_type",))
    elif memory is not None and memory / GIB > 1.01 * kind.most_gib(bandwidth):
        most = (kind.most_gib(bandwidth) * GIB, "B")
        problem = message(
            "import.part.too_few_channels", attribute=_said("memory_bandwidth"), type=kind.name, most=most
        )
        yield Finding("memory_bandwidth", Grade.DOUBTFUL, problem, ("memory", "memory_type"))


# Arithmetic


def _peaks(values: Values) -> Iterator[Finding]:
    yield from _sparse(values)
    for name, of, expected in _RATIOS:
        one, other = _number(values, PEAK_DENSE + name), _number(values, PEAK_DENSE + of)
        if one is None or other is None:
            continue
        if not any(_near(one / other, ratio, _RATIO_TOLERANCE) for ratio in expected):
            problem = message(
                "import.part.ratio",
                attribute=_said(PEAK_DENSE + name),
                given=one / other,
                precision=of.upper(),
                known=" or ".join(f"{ratio:g}" for ratio in expected),
            )
            yield Finding(PEAK_DENSE + name, Grade.DOUBTFUL, problem, (PEAK_DENSE + of,))
    yield from _peak_against_bandwidth(values)
    yield from _peak_against_power(values)


def _peak_against_bandwidth(values: Values) -> Iterator[Finding]:
    peak, bandwidth = _number(values, _BF16), _number(values, "memory_bandwidth")
    if peak is None or bandwidth is None or _INTENSITY[0] <= peak / bandwidth <= _INTENSITY[1]:
        return
    given, low, high = peak / bandwidth, *_INTENSITY
    problem = message("import.part.intensity", attribute=_said(_BF16), given=given, low=low, high=high)
    yield Finding(_BF16, Grade.DOUBTFUL, problem, ("memory_bandwidth",))


def _peak_against_power(values: Values) -> Iterator[Finding]:
    peak, power = _number(values, _BF16), _number(values, "tdp")
    if peak is None or power is None or _PER_WATT[0] <= peak / power <= _PER_WATT[1]:
        return
    given, low, high = (each / 1e12 for each in (peak / power, *_PER_WATT))
    problem = message("import.part.per_watt", attribute=_said(_BF16), given=given, low=low, high=high)
    yield Finding(_BF16, Grade.DOUBTFUL, problem, ("tdp",))


def _sparse(values: Values) -> Iterator[Finding]:
    """Peaks with structured sparsity are twice those without; equal ones were taken for each other."""
    for name in values:
        if not name.startswith(PEAK_SPARSE):
            continue
        dense_name = PEAK_DENSE + name.removeprefix(PEAK_SPARSE)
        sparse, dense = _number(values, name), _number(values, dense_name)
        if sparse is None or dense is None:
            continue
        if sparse < dense * (1 - _SPARSE_TOLERANCE):
            yield Finding(
                name, Grade.REFUSED, message("import.part.sparse_below", attribute=_said(name)), (dense_name,)
            )
        elif not _near(sparse / dense, _SPARSE_RATIO, _SPARSE_TOLERANCE):
            problem = message("import.part.sparse_ratio", attribute=_said(name), given=sparse / dense)
            yield Finding(name, Grade.DOUBTFUL, problem, (dense_name,))


# Links and software


def _links(values: Values) -> Iterator[Finding]:
    generation, link = _number(values, "pcie_generation"), _number(values, "pcie_bandwidth")
    if generation is not None and link is not None:
        full = _PCIE.get(int(generation))
        if full is not None and not _near(link, full, _PCIE_TOLERANCE):
            grade = Grade.REFUSED if link > full * (1 + _PCIE_TOLERANCE) else Grade.DOUBTFUL
            problem = message(
                "import.part.pcie",
                attribute=_said("pcie_bandwidth"),
                generation=int(generation),
                full=(full, "B/s"),
            )
            yield Finding("pcie_bandwidth", grade, problem, ("pcie_generation",))
    scale_up, bandwidth = _number(values, "scale_up_bandwidth"), _number(values, "memory_bandwidth")
    if scale_up is not None and bandwidth is not None and scale_up > bandwidth:
        yield Finding(
            "scale_up_bandwidth",
            Grade.DOUBTFUL,
            message("import.part.link_over_memory", attribute=_said("scale_up_bandwidth")),
            ("memory_bandwidth",),
        )
    low, high = _number(values, "price_low"), _number(values, "price_high")
    if low is not None and high is not None and low > high:
        yield Finding(
            "price_high",
            Grade.REFUSED,
            message("import.part.price_order", attribute=_said("price_high")),
            ("price_low",),
        )


def _software(values: Values) -> Iterator[Finding]:
    words = [word.strip() for word in _text(values, "software_platform").split(",")]
    if any(words) and not any(word in PLATFORMS for word in words):
        yield Finding(
            "software_platform",
            Grade.DOUBTFUL,
            message("import.part.platform", attribute=_said("software_platform"), known=PLATFORMS),
        )


def _near(value: float, wanted: float, tolerance: float) -> bool:
    return abs(value - wanted) <= tolerance * wanted
