"""Plausibility of accelerator figures: ranges, memory, peaks, links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import SOFTWARE_PLATFORMS
from gpudesk.domain.claim import CatalogEntryKind, PlausibilityFinding, PlausibilityGrade
from gpudesk.domain.registry import ATTRIBUTES, PEAK_DENSE, PEAK_SPARSE
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import parse_record
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import FormatName, Message, message
from gpudesk.text.units import GIB

FigureValues = Mapping[str, ClaimValue]


def find_positive(values: FigureValues, name: str) -> float | None:
    value = values.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    return None


def find_text(values: FigureValues, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def spell_attribute(name: str) -> str:
    return name.replace("_", " ")


def is_near(value: float, expected: float, tolerance: float) -> bool:
    return abs(value - expected) <= tolerance * expected


def _doubt(name: str, problem: Message, *others: str) -> PlausibilityFinding:
    return PlausibilityFinding(name, PlausibilityGrade.DOUBTFUL, problem, others)


def _refuse(name: str, problem: Message, *others: str) -> PlausibilityFinding:
    return PlausibilityFinding(name, PlausibilityGrade.REFUSED, problem, others)


_GIGA: Final = 1e9
#: A channel of graphics memory is as wide as its chip.
_CHIP_BITS: Final = 32


@frozen_dataclass
class StackedMemory:
    """Memory in stacks: bytes/s of one stack in known accelerators and at most, and the sizes of one in GiB.

    Accelerators can leave `1 - least_filled` of a stack unused.
    """

    name: str
    slow: float
    fast: float
    fastest: float
    sizes_gib: tuple[int, ...]
    largest_gib: int
    least_filled: float = 0.88


@frozen_dataclass
class GraphicsMemory:
    """Memory in single chips: bits/s per pin, the widest bus, and the most GiB on one 32-bit channel."""

    name: str
    slowest_gbit: float
    fastest_gbit: float
    widest_bits: int
    most_gib_a_channel: int

    @property
    def fastest(self) -> float:
        return 1.1 * self.widest_bits / 8 * self.fastest_gbit * _GIGA

    def compute_max_gib(self, bandwidth: float) -> float:
        """Return the most memory on the bus of a bandwidth, with slow chips."""
        channels = bandwidth * 8 / (self.slowest_gbit * _GIGA) / _CHIP_BITS
        return channels * self.most_gib_a_channel


@frozen_dataclass
class PeakRatio:
    """The usual ratios of the peak of a format to that of another."""

    format: str
    of: str
    usual: tuple[float, ...]


@frozen_dataclass
class PlausibleAccelerators:
    """The content of data/plausibility.toml, where its parts are described."""

    stacked_memory: tuple[StackedMemory, ...]
    graphics_memory: tuple[GraphicsMemory, ...]
    named_memory: dict[str, tuple[float, ...]]
    peak_ratios: tuple[PeakRatio, ...]


@cache
def _read_plausible_accelerators() -> PlausibleAccelerators:
    path = paths.get_data_path("plausibility.toml")
    return parse_record(PlausibleAccelerators, read_toml(path), f"{path}:")


def find_memory_type(name: str) -> StackedMemory | GraphicsMemory | None:
    """Return the memory type by its name in sources, `HBM3E`; None for an unknown one."""
    word, known = re.sub(r"[\s-]+", "", name).upper(), _read_plausible_accelerators()
    kinds: tuple[StackedMemory | GraphicsMemory, ...] = (*known.stacked_memory, *known.graphics_memory)
    return next((kind for kind in kinds if kind.name.upper() == word), None)


#: Bytes/s per byte of memory: a Vera Rubin has 71, a laptop with LPDDR a few.
_PER_BYTE: Final = (8.0, 90.0)
_LEAST_PER_BYTE_LPDDR: Final = 1.0

_LABEL: Final = re.compile(r"\s*([0-9]{1,5}(?:\.[0-9]{1,2})?)\s*(G|T)i?B\b", re.IGNORECASE)
_LABEL_TOLERANCE: Final = 0.08


def check_memory(values: FigureValues, name: str) -> Iterator[PlausibilityFinding]:
    memory = find_positive(values, "memory")
    if memory is None:
        return
    yield from _check_label(values, memory)
    for expression, sizes in _read_plausible_accelerators().named_memory.items():
        pattern = rf"(?<![a-z0-9]){expression}(?![0-9])"
        if re.search(pattern, name, re.IGNORECASE) and not any(
            is_near(memory / GIB, size, _LABEL_TOLERANCE) for size in sizes
        ):
            size_texts = tuple(f"{size:g}" for size in sizes)
            problem = message(
                "import.part.named_memory",
                "{attribute}: accelerators of this name have {sizes} GiB",
                attribute=spell_attribute("memory"),
                sizes=size_texts,
            )
            yield _doubt("memory", problem)
    kind, stacks = find_memory_type(find_text(values, "memory_type")), find_positive(values, "memory_stacks")
    if isinstance(kind, StackedMemory) and stacks is not None:
        yield from _check_stack_size(kind, memory / GIB / stacks)


def _check_label(values: FigureValues, memory: float) -> Iterator[PlausibilityFinding]:
    """A label counts GiB or GB, and error correction or the driver can take a little of it."""
    match = _LABEL.match(find_text(values, "memory_label"))
    if match is None:
        return
    label, label_text = float(match[1]) * (1024 if match[2].upper() == "T" else 1), find_text(values, "memory_label")
    if not is_near(memory / GIB, label, _LABEL_TOLERANCE) and not is_near(memory / 1e9, label, _LABEL_TOLERANCE):
        problem = message(
            "import.part.label",
            "{attribute}: the marketed capacity is {label}",
            attribute=spell_attribute("memory"),
            label=label_text,
        )
        yield _doubt("memory", problem, "memory_label")


def _check_stack_size(kind: StackedMemory, each: float) -> Iterator[PlausibilityFinding]:
    if each > kind.largest_gib * 1.01:
        problem = message(
            "import.part.stack_too_large",
            "{attribute}: {given} GiB per stack, but {type} stacks have at most {most} GiB",
            attribute=spell_attribute("memory"),
            type=kind.name,
            given=each,
            most=f"{kind.largest_gib}",
        )
        yield _refuse("memory", problem, "memory_stacks", "memory_type")
    elif not any(kind.least_filled * size <= each <= 1.01 * size for size in kind.sizes_gib):
        sizes = tuple(map(str, kind.sizes_gib))
        problem = message(
            "import.part.stack_size",
            "{attribute}: {given} GiB per stack; {type} stacks have {sizes} GiB",
            attribute=spell_attribute("memory"),
            type=kind.name,
            given=each,
            sizes=sizes,
        )
        yield _doubt("memory", problem, "memory_stacks", "memory_type")


def check_bandwidth(values: FigureValues) -> Iterator[PlausibilityFinding]:
    bandwidth, memory = find_positive(values, "memory_bandwidth"), find_positive(values, "memory")
    if bandwidth is None:
        return
    kind, stacks = find_memory_type(find_text(values, "memory_type")), find_positive(values, "memory_stacks")
    if isinstance(kind, StackedMemory):
        yield from _check_stack_bandwidth(kind, bandwidth, memory, stacks)
    elif isinstance(kind, GraphicsMemory):
        yield from _check_bus_bandwidth(kind, bandwidth, memory)
    if memory is None:
        return
    low, high = _PER_BYTE
    if isinstance(kind, GraphicsMemory) and kind.name.startswith("LPDDR"):
        low = _LEAST_PER_BYTE_LPDDR
    if not low <= bandwidth / memory <= high:
        problem = message(
            "import.part.reads_a_second",
            "{attribute}: reads all memory {given} times per second; known accelerators do so {low} to {high} times",
            attribute=spell_attribute("memory_bandwidth"),
            given=bandwidth / memory,
            low=f"{low:g}",
            high=f"{high:g}",
        )
        yield _doubt("memory_bandwidth", problem, "memory")


def _check_stack_bandwidth(
    kind: StackedMemory, bandwidth: float, memory: float | None, stacks: float | None
) -> Iterator[PlausibilityFinding]:
    """Compare the bandwidth with its stacks; without a count, with as many as the memory allows."""
    if stacks is not None:
        each = bandwidth / stacks
        problem = message(
            "import.part.stack_bandwidth",
            "{attribute}: {given} per stack; {type} stacks in known accelerators reach {low} to {high}",
            attribute=spell_attribute("memory_bandwidth"),
            type=kind.name,
            given=(each, "B/s"),
            low=(kind.slow, "B/s"),
            high=(kind.fast, "B/s"),
        )
        if not kind.slow <= each <= kind.fast:
            make = _refuse if each > kind.fastest else _doubt
            yield make("memory_bandwidth", problem, "memory_stacks", "memory_type")
    elif memory is not None:
        most = max(memory / GIB / min(kind.sizes_gib), 1) * kind.fastest
        if bandwidth > most:
            yield _refuse("memory_bandwidth", _describe_too_fast(kind, most), "memory", "memory_type")


def _describe_too_fast(kind: StackedMemory | GraphicsMemory, most: float) -> Message:
    return message(
        "import.part.too_fast",
        "{attribute}: {type} of this size reaches at most {most}; check the unit",
        attribute=spell_attribute("memory_bandwidth"),
        type=kind.name,
        most=(most, "B/s"),
    )


def _check_bus_bandwidth(kind: GraphicsMemory, bandwidth: float, memory: float | None) -> Iterator[PlausibilityFinding]:
    if bandwidth > kind.fastest:
        yield _refuse("memory_bandwidth", _describe_too_fast(kind, kind.fastest), "memory_type")
    elif memory is not None and memory / GIB > 1.01 * kind.compute_max_gib(bandwidth):
        most = (kind.compute_max_gib(bandwidth) * GIB, "B")
        problem = message(
            "import.part.too_few_channels",
            "{attribute}: a {type} bus at this speed reaches at most {most}",
            attribute=spell_attribute("memory_bandwidth"),
            type=kind.name,
            most=most,
        )
        yield _doubt("memory_bandwidth", problem, "memory", "memory_type")


#: Formats of 16-bit matrices: accelerators before Ampere have no BF16.
_WIDE: Final = (f"{PEAK_DENSE}bf16", f"{PEAK_DENSE}fp16")
#: FLOP per byte of memory bandwidth, in 16 bits without sparsity: an H20 has 37, a TPU v6e 560.
_INTENSITY: Final = (35.0, 800.0)
#: FLOP/s per watt, in 16 bits without sparsity.
_PER_WATT: Final = (0.2e12, 4e12)
#: Tolerance of the ratio of the peaks of two formats.
_RATIO_TOLERANCE: Final = 0.06
#: Structured sparsity doubles: two of four.
_SPARSE_RATIO: Final = 2.0
_SPARSE_TOLERANCE: Final = 0.03


def check_peaks(values: FigureValues) -> Iterator[PlausibilityFinding]:
    yield from _check_sparse(values)
    for ratios in _read_plausible_accelerators().peak_ratios:
        name, of, expected = ratios.format, ratios.of, ratios.usual
        one, other = find_positive(values, PEAK_DENSE + name), find_positive(values, PEAK_DENSE + of)
        if one is None or other is None:
            continue
        if not any(is_near(one / other, ratio, _RATIO_TOLERANCE) for ratio in expected):
            problem = message(
                "import.part.ratio",
                "{attribute}: {given} times the {precision} peak; {known} is usual",
                attribute=spell_attribute(PEAK_DENSE + name),
                given=one / other,
                precision=FormatName(of),
                known=" or ".join(f"{ratio:g}" for ratio in expected),
            )
            yield _doubt(PEAK_DENSE + name, problem, PEAK_DENSE + of)
    yield from _check_wide_peak(values)


def _check_wide_peak(values: FigureValues) -> Iterator[PlausibilityFinding]:
    name = next((each for each in _WIDE if find_positive(values, each) is not None), _WIDE[0])
    peak = find_positive(values, name)
    bandwidth, power = find_positive(values, "memory_bandwidth"), find_positive(values, "tdp")
    if peak is None:
        return
    if bandwidth is not None and not _INTENSITY[0] <= peak / bandwidth <= _INTENSITY[1]:
        problem = message(
            "import.part.intensity",
            "{attribute}: {given} FLOP per byte of memory bandwidth; known accelerators have {low} to {high}",
            attribute=spell_attribute(name),
            given=peak / bandwidth,
            low=_INTENSITY[0],
            high=_INTENSITY[1],
        )
        yield _doubt(name, problem, "memory_bandwidth")
    if power is not None and not _PER_WATT[0] <= peak / power <= _PER_WATT[1]:
        problem = message(
            "import.part.per_watt",
            "{attribute}: {given} TFLOPS per watt; known accelerators have {low} to {high}",
            attribute=spell_attribute(name),
            given=peak / power / 1e12,
            low=_PER_WATT[0] / 1e12,
            high=_PER_WATT[1] / 1e12,
        )
        yield _doubt(name, problem, "tdp")


def _check_sparse(values: FigureValues) -> Iterator[PlausibilityFinding]:
    """Peaks with structured sparsity are twice those without; equal ones were probably confused."""
    for name in values:
        if not name.startswith(PEAK_SPARSE):
            continue
        dense_name = PEAK_DENSE + name.removeprefix(PEAK_SPARSE)
        sparse, dense = find_positive(values, name), find_positive(values, dense_name)
        if sparse is None or dense is None:
            continue
        if sparse < dense * (1 - _SPARSE_TOLERANCE):
            problem = message(
                "import.part.sparse_below",
                "{attribute}: below the dense peak, which is impossible; swap the two",
                attribute=spell_attribute(name),
            )
            yield _refuse(name, problem, dense_name)
        elif not is_near(sparse / dense, _SPARSE_RATIO, _SPARSE_TOLERANCE):
            problem = message(
                "import.part.sparse_ratio",
                "{attribute}: {given} times the dense peak, but sparsity doubles it; check for swapped values",
                attribute=spell_attribute(name),
                given=sparse / dense,
            )
            yield _doubt(name, problem, dense_name)


#: Generation of PCIe -> bytes/s over 16 lanes, both directions.
_PCIE: Final[Mapping[int, float]] = {3: 31.5e9, 4: 63e9, 5: 126e9, 6: 252e9, 7: 504e9}
_PCIE_TOLERANCE: Final = 0.05


def check_plausibility(values: FigureValues, name: str = "") -> tuple[PlausibilityFinding, ...]:
    """Return every reason against the figures of one accelerator of a name."""
    alone = tuple(_check_ranges(values))
    # Conflicts with an impossible figure add no information.
    sound = {each: value for each, value in values.items() if not any(one.refuses(each) for one in alone)}
    return (
        *alone,
        *check_memory(sound, name),
        *check_bandwidth(sound),
        *check_peaks(sound),
        *_check_links(sound),
        *_check_software(sound),
    )


# Individual checks


def _check_ranges(values: FigureValues) -> Iterator[PlausibilityFinding]:
    for name in values:
        attribute, value = ATTRIBUTES.get(name), find_positive(values, name)
        if attribute is None or attribute.plausible is None or value is None:
            continue
        bounds, unit = attribute.plausible, attribute.unit or ""
        if not bounds.least <= value <= bounds.most:
            problem = message(
                "import.part.impossible",
                "{attribute}: outside the possible range, {low} to {high}; check the unit",
                attribute=spell_attribute(name),
                low=(bounds.least, unit),
                high=(bounds.most, unit),
            )
            yield _refuse(name, problem)
        elif not bounds.low <= value <= bounds.high:
            problem = message(
                "import.part.unusual",
                "{attribute}: outside the range of known accelerators, {low} to {high}",
                attribute=spell_attribute(name),
                low=(bounds.low, unit),
                high=(bounds.high, unit),
            )
            yield _doubt(name, problem)


# Links and software


def _check_links(values: FigureValues) -> Iterator[PlausibilityFinding]:
    generation, link = find_positive(values, "pcie_generation"), find_positive(values, "pcie_bandwidth")
    if generation is not None and link is not None:
        full = _PCIE.get(int(generation))
        if full is not None and not is_near(link, full, _PCIE_TOLERANCE):
            make = _refuse if link > full * (1 + _PCIE_TOLERANCE) else _doubt
            problem = message(
                "import.part.pcie",
                "{attribute}: 16 lanes of PCIe {generation} reach {full} in both directions together",
                attribute=spell_attribute("pcie_bandwidth"),
                generation=int(generation),
                full=(full, "B/s"),
            )
            yield make("pcie_bandwidth", problem, "pcie_generation")
    scale_up, bandwidth = (find_positive(values, "scale_up_bandwidth"), find_positive(values, "memory_bandwidth"))
    if scale_up is not None and bandwidth is not None and scale_up > bandwidth:
        problem = message(
            "import.part.link_over_memory",
            "{attribute}: more than the memory bandwidth",
            attribute=spell_attribute("scale_up_bandwidth"),
        )
        yield _doubt("scale_up_bandwidth", problem, "memory_bandwidth")
    low, high = find_positive(values, "price_low"), find_positive(values, "price_high")
    if low is not None and high is not None and low > high:
        problem = message(
            "import.part.price_order",
            "{attribute}: below the low end; swap the two",
            attribute=spell_attribute("price_high"),
        )
        yield _refuse("price_high", problem, "price_low")


def _check_software(values: FigureValues) -> Iterator[PlausibilityFinding]:
    words = [word.strip() for word in find_text(values, "software_platform").split(",")]
    if any(words) and not any(word in SOFTWARE_PLATFORMS for word in words):
        problem = message(
            "import.part.platform",
            "{attribute}: no serving engine supports it; supported platforms: {known}",
            attribute=spell_attribute("software_platform"),
            known=SOFTWARE_PLATFORMS,
        )
        yield _doubt("software_platform", problem)


def check_new_value(catalog: Catalog, thing: str, attribute: str, value: ClaimValue) -> tuple[PlausibilityFinding, ...]:
    """Return the new problems of a value, in the internal unit, with an entry's other figures.

    Existing problems are not repeated, unless they concern this attribute. Only figures of accelerators are checked.
    """
    entry = catalog.thing(thing)
    if entry.kind is not CatalogEntryKind.ACCELERATOR:
        return ()
    now = {each.name: each.value for each in catalog.attributes(thing) if each.value is not None}
    before = check_plausibility(now, entry.name)
    after = check_plausibility({**now, attribute: value}, entry.name)
    return tuple(each for each in after if each.attribute == attribute or each not in before)
