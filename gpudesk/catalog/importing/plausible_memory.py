"""Whether the memory of an accelerator can be: against its stacks, its bus, its label and its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpudesk.catalog.importing.figure_values import Values, near, number, said, text
from gpudesk.catalog.importing.memory_types import GraphicsMemory, StackedMemory, memory_type
from gpudesk.domain.messages import message
from gpudesk.domain.plausibility import Finding, Grade
from gpudesk.domain.units import GIB

#: Bytes/s a byte of memory: a Vera Rubin has 71, a laptop with LPDDR a few.
_PER_BYTE: Final = (8.0, 90.0)
_LEAST_PER_BYTE_LPDDR: Final = 1.0

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


def memory_findings(values: Values, name: str) -> Iterator[Finding]:
    """Yield what speaks against the memory of a part of that name."""
    memory = number(values, "memory")
    if memory is None:
        return
    yield from _label(values, memory)
    for pattern, sizes in _NAMED_MEMORY:
        if pattern.search(name) and not any(near(memory / GIB, size, _LABEL_TOLERANCE) for size in sizes):
            known = tuple(f"{size:g}" for size in sizes)
            yield Finding(
                "memory",
                Grade.DOUBTFUL,
                message("import.part.named_memory", attribute=said("memory"), sizes=known),
            )
    kind, stacks = memory_type(text(values, "memory_type")), number(values, "memory_stacks")
    if isinstance(kind, StackedMemory) and stacks is not None:
        yield from _stack_size(kind, memory / GIB / stacks)


def _label(values: Values, memory: float) -> Iterator[Finding]:
    """A label counts GiB, or GB, and a little of it can be taken by error correction or the driver."""
    match = _LABEL.match(text(values, "memory_label"))
    if match is None:
        return
    label = float(match[1]) * (1024 if match[2].upper() == "T" else 1)
    if not near(memory / GIB, label, _LABEL_TOLERANCE) and not near(memory / 1e9, label, _LABEL_TOLERANCE):
        yield Finding(
            "memory",
            Grade.DOUBTFUL,
            message("import.part.label", attribute=said("memory"), label=text(values, "memory_label")),
            ("memory_label",),
        )


def _stack_size(kind: StackedMemory, each: float) -> Iterator[Finding]:
    others = ("memory_stacks", "memory_type")
    if each > kind.largest_gib * 1.01:
        problem = message(
            "import.part.stack_too_large",
            attribute=said("memory"),
            type=kind.name,
            given=each,
            most=f"{kind.largest_gib}",
        )
        yield Finding("memory", Grade.REFUSED, problem, others)
    elif not any(kind.least_filled * size <= each <= 1.01 * size for size in kind.sizes_gib):
        sizes = tuple(map(str, kind.sizes_gib))
        problem = message(
            "import.part.stack_size", attribute=said("memory"), type=kind.name, given=each, sizes=sizes
        )
        yield Finding("memory", Grade.DOUBTFUL, problem, others)


def bandwidth_findings(values: Values) -> Iterator[Finding]:
    """Yield what speaks against the bandwidth of the memory."""
    bandwidth, memory = number(values, "memory_bandwidth"), number(values, "memory")
    if bandwidth is None:
        return
    kind, stacks = memory_type(text(values, "memory_type")), number(values, "memory_stacks")
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
            attribute=said("memory_bandwidth"),
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
            attribute=said("memory_bandwidth"),
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
                attribute=said("memory_bandwidth"),
                type=kind.name,
                most=(most, "B/s"),
            )
            yield Finding("memory_bandwidth", Grade.REFUSED, problem, ("memory", "memory_type"))


def _bus_bandwidth(kind: GraphicsMemory, bandwidth: float, memory: float | None) -> Iterator[Finding]:
    """Hold the bandwidth against the widest bus, and the memory against the chips that a bus carries."""
    if bandwidth > kind.fastest:
        problem = message(
            "import.part.too_fast",
            attribute=said("memory_bandwidth"),
            type=kind.name,
            most=(kind.fastest, "B/s"),
        )
        yield Finding("memory_bandwidth", Grade.REFUSED, problem, ("memory_type",))
    elif memory is not None and memory / GIB > 1.01 * kind.most_gib(bandwidth):
        most = (kind.most_gib(bandwidth) * GIB, "B")
        problem = message(
            "import.part.too_few_channels", attribute=said("memory_bandwidth"), type=kind.name, most=most
        )
        yield Finding("memory_bandwidth", Grade.DOUBTFUL, problem, ("memory", "memory_type"))
