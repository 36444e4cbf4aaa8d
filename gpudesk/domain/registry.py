"""Definitions of the attributes of accelerators and systems and of the figures of estimates.

Every table, form, list, check and file reads these registries. A new attribute that is only shown is one entry here; a
new figure is one entry, a field of `Estimate` and its computation. Labels are translated when read, since the language
can change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import Quantity, find_quantity_of_unit
from gpudesk.text.units import GIB


@frozen_dataclass
class PlausibleRange:
    """The possible range of a figure (`least` to `most`), and that of known accelerators (`low` to `high`)."""

    least: float
    low: float
    high: float
    most: float


@frozen_dataclass
class Placement:
    """The position on a surface: the group, and the order within it."""

    group: str
    order: int


@frozen_dataclass
class ListColumn:
    """A column of the window's list of accelerators or of systems.

    `key` is its name in settings if it differs from the attribute's, `head` its head if that is neither the unit nor
    the label. `terminal` is the position in `catalog list`, which shows only a few.
    """

    order: int
    is_visible: bool = True
    key: str = ""
    head: str = ""
    group: str = ""
    decimals: int | None = None
    terminal: int | None = None


@frozen_dataclass
class Attribute:
    """An attribute of accelerators or of systems.

    `unit` is the internal unit, None for words; `quantity` decides the display, by default from the unit. `label` is
    its name below the heading of its group, `full_label` by itself, `form_label` in the form of an accelerator, if
    these differ; `explanation` describes it in a list. `precision` is that of a peak and fills the labels' placeholder.
    """

    key: str
    label: str
    unit: str | None = None
    quantity: Quantity | None = None
    full_label: str = ""
    form_label: str = ""
    explanation: str = ""
    precision: str = ""
    #: None if neither more nor less is better.
    more_is_better: bool | None = None
    #: Required for an estimate or a fleet.
    required: bool = False
    is_word_list: bool = False
    #: A number that is a name rather than a measure has no differences.
    is_name: bool = False
    #: The attribute at the upper end of the range that starts with this attribute.
    upper_end: str | None = None
    #: The key of the range up to `upper_end` as a row or a column.
    range_key: str = ""
    plausible: PlausibleRange | None = None
    compare: Placement | None = None
    sheet: Placement | None = None
    form: Placement | None = None
    listed: ListColumn | None = None

    @property
    def row_key(self) -> str:
        return self.range_key or self.key


PEAK_DENSE: Final = "peak_dense_"
PEAK_SPARSE: Final = "peak_sparse_"

_PEAK_RANGE: Final = PlausibleRange(1e10, 1e11, 1e17, 2e18)
_MATRIX_PEAK_RANGE: Final = PlausibleRange(1e12, 1e13, 1e17, 2e18)
#: Formats with matrix units; support for others can be small or absent.
_MATRIX_PRECISIONS: Final = frozenset({"tf32", "bf16", "fp16", "fp8", "fp6", "fp4"})
_PRECISIONS: Final = ("fp64", "fp64_matrix", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4")
#: Precisions in Compare, those that serve models first.
_COMPARED: Final = ("bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4", "tf32", "fp32", "fp64", "fp64_matrix")
#: Precisions in the form, those that sources state most often first.
_ENTERED: Final = ("bf16", "fp16", "fp8", "fp4", "int8", "int4", "fp6", "tf32", "fp32", "fp64", "fp64_matrix")
_ON_SHEET: Final = ("bf16", "fp8", "fp4")
#: Columns of the list -> position, whether they are shown by default, and the position in the terminal.
_LISTED: Final = {
    "fp16": (40, False, None),
    "bf16": (41, True, 3),
    "fp8": (42, True, 4),
    "fp6": (43, False, None),
    "fp4": (44, True, None),
    "int8": (45, False, None),
}


def _make_peak(precision: str, sparsity: str) -> Attribute:
    dense = sparsity == "dense"
    column = None
    if dense and precision in _LISTED:
        order, in_lists, terminal = _LISTED[precision]
        column = ListColumn(order, in_lists, key=precision, group="dense", decimals=0, terminal=terminal)
    return Attribute(
        f"peak_{sparsity}_{precision}",
        "{precision}, dense" if dense else "{precision}, sparse",
        "FLOP/s",
        Quantity.INTEGER_ARITHMETIC if precision.startswith("int") else Quantity.ARITHMETIC,
        explanation="Dense {precision} peak, TFLOPS" if dense else "",
        precision=precision,
        more_is_better=True,
        plausible=_MATRIX_PEAK_RANGE if precision in _MATRIX_PRECISIONS else _PEAK_RANGE,
        compare=Placement(sparsity, _COMPARED.index(precision)),
        sheet=Placement("compute", _ON_SHEET.index(precision)) if dense and precision in _ON_SHEET else None,
        # One row has both.
        form=Placement("peaks", _ENTERED.index(precision)) if dense else None,
        listed=column,
    )


_ENTRIES: Final = (
    Attribute("status", "Status", compare=Placement("power", 6), listed=ListColumn(75, is_visible=False)),
    Attribute("license_limit", "License limit", compare=Placement("power", 7), form=Placement("more", 4)),
    Attribute("sales_region", "Sales region", compare=Placement("power", 8), form=Placement("more", 5)),
    Attribute(
        "architecture", "Architecture", compare=Placement("power", 3), form=Placement("more", 1), listed=ListColumn(10)
    ),
    Attribute("process_node", "Process node", compare=Placement("power", 4), form=Placement("more", 2)),
    Attribute(
        "release_date",
        "Release date",
        compare=Placement("power", 5),
        form=Placement("more", 3),
        listed=ListColumn(76, is_visible=False, head="Released"),
    ),
    Attribute(
        "form_factor",
        "Form factor",
        compare=Placement("power", 2),
        form=Placement("power", 2),
        listed=ListColumn(70, is_visible=False),
    ),
    Attribute(
        "memory",
        "Capacity",
        "B",
        full_label="Memory capacity",
        explanation="Memory capacity, GiB",
        more_is_better=True,
        required=True,
        plausible=PlausibleRange(1 * GIB, 4 * GIB, 1024 * GIB, 16 * 1024 * GIB),
        compare=Placement("memory", 1),
        sheet=Placement("memory", 1),
        form=Placement("memory", 1),
        listed=ListColumn(20, group="memory", terminal=1),
    ),
    Attribute("memory_label", "Marketed capacity", full_label="Marketed memory", form=Placement("memory", 5)),
    Attribute(
        "memory_type",
        "Memory type",
        compare=Placement("memory", 3),
        form=Placement("memory", 3),
        listed=ListColumn(71, is_visible=False, head="Memory"),
    ),
    Attribute(
        "memory_stacks",
        "Memory stacks",
        "stacks",
        plausible=PlausibleRange(1, 1, 16, 64),
        compare=Placement("memory", 4),
        form=Placement("memory", 4),
    ),
    Attribute(
        "memory_bandwidth",
        "Bandwidth",
        "B/s",
        Quantity.MEMORY_BANDWIDTH,
        full_label="Memory bandwidth",
        explanation="Memory bandwidth, TB/s",
        more_is_better=True,
        required=True,
        plausible=PlausibleRange(20e9, 100e9, 40e12, 100e12),
        compare=Placement("memory", 2),
        sheet=Placement("memory", 2),
        form=Placement("memory", 2),
        listed=ListColumn(30, group="memory", decimals=2, terminal=2),
    ),
    Attribute(
        "last_level_cache",
        "Last-level cache",
        "B",
        Quantity.CACHE,
        plausible=PlausibleRange(2**16, 2**20, 2**31, 2**36),
        compare=Placement("memory", 5),
        form=Placement("memory", 6),
    ),
    Attribute("interconnect", "Interconnect", compare=Placement("interconnect", 3), form=Placement("links", 3)),
    Attribute(
        "scale_up_bandwidth",
        "Scale-up link, bidirectional",
        "B/s",
        explanation="Scale-up link, bidirectional, GB/s",
        more_is_better=True,
        plausible=PlausibleRange(10e9, 50e9, 10e12, 100e12),
        compare=Placement("interconnect", 1),
        sheet=Placement("system", 1),
        form=Placement("links", 1),
        listed=ListColumn(72, is_visible=False),
    ),
    Attribute(
        "scale_up_domain",
        "Scale-up domain",
        "accelerators",
        explanation="Accelerators in one scale-up domain",
        plausible=PlausibleRange(1, 1, 10_000, 1_000_000),
        compare=Placement("interconnect", 2),
        form=Placement("links", 2),
        listed=ListColumn(73, is_visible=False, head="Domain"),
    ),
    Attribute(
        "pcie_generation",
        "PCIe generation",
        "generation",
        is_name=True,
        plausible=PlausibleRange(1, 3, 7, 10),
        compare=Placement("interconnect", 5),
        form=Placement("links", 4),
    ),
    Attribute(
        "pcie_bandwidth",
        "PCIe, bidirectional",
        "B/s",
        more_is_better=True,
        plausible=PlausibleRange(1e9, 15e9, 520e9, 2e12),
        compare=Placement("interconnect", 4),
        form=Placement("links", 5),
    ),
    Attribute(
        "tdp",
        "Board power",
        "W",
        explanation="Board power, W",
        more_is_better=False,
        plausible=PlausibleRange(5, 30, 3000, 20_000),
        compare=Placement("power", 1),
        sheet=Placement("system", 2),
        form=Placement("power", 1),
        listed=ListColumn(50, group="power", terminal=5),
    ),
    Attribute(
        "price_low",
        "Price, low",
        "USD",
        full_label="Purchase price",
        form_label="Price",
        explanation="Purchase price, USD",
        upper_end="price_high",
        range_key="price",
        plausible=PlausibleRange(10, 200, 200_000, 10_000_000),
        compare=Placement("price", 1),
        sheet=Placement("system", 3),
        form=Placement("price", 1),
        listed=ListColumn(60, group="price"),
    ),
    Attribute(
        "price_high",
        "Price, high",
        "USD",
        full_label="Purchase price",
        form_label="Price up to",
        plausible=PlausibleRange(10, 200, 200_000, 10_000_000),
        form=Placement("price", 2),
    ),
    *(_make_peak(precision, sparsity) for sparsity in ("dense", "sparse") for precision in _PRECISIONS),
    Attribute(
        "software_platform",
        "Software platform",
        required=True,
        compare=Placement("software", 1),
        form=Placement("software", 1),
    ),
    Attribute(
        "supported_precisions",
        "Supported precisions",
        is_word_list=True,
        compare=Placement("software", 2),
        form=Placement("software", 2),
    ),
)

#: By name, in the order of the catalog.
ATTRIBUTES: Final = {attribute.key: attribute for attribute in _ENTRIES}


#: Attributes of systems and of reference designs by name, in the order of the catalog. An attribute with the same name
#: as an accelerator's has the same meaning.
SYSTEM_ATTRIBUTES: Final = {
    attribute.key: attribute
    for attribute in (
        Attribute(
            "accelerator_count",
            "Accelerators",
            "accelerators",
            form_label="Accelerator count",
            required=True,
            listed=ListColumn(10, head="Count", terminal=1),
            form=Placement("accelerators", 0),
        ),
        Attribute("accelerator_slots", "Accelerator slots", "accelerators", form=Placement("accelerators", 1)),
        Attribute("accelerator_power", "Power per accelerator", "W", form=Placement("accelerators", 2)),
        Attribute("accelerator_link", "Accelerator link", form=Placement("accelerators", 3)),
        Attribute(
            "accelerator_link_bandwidth", "Accelerator link, both ways", "B/s", form=Placement("accelerators", 4)
        ),
        Attribute("scale_up_domain", "Scale-up domain", "accelerators", form=Placement("accelerators", 5)),
        Attribute("nodes", "Nodes", "nodes", form=Placement("host", 0)),
        Attribute("racks", "Racks", "racks"),
        Attribute("cpus", "CPUs", listed=ListColumn(70, is_visible=False), form=Placement("host", 1)),
        Attribute("cpu_cores", "CPU cores", "cores", form=Placement("host", 2)),
        Attribute(
            "vcpus", "vCPUs", "vCPUs", listed=ListColumn(71, is_visible=False, head="vCPUs"), form=Placement("host", 3)
        ),
        Attribute(
            "host_memory",
            "Host memory",
            "B",
            explanation="Host memory, GiB",
            listed=ListColumn(20, group="host_memory", decimals=0, terminal=2),
            form=Placement("host", 4),
        ),
        Attribute("host_memory_max", "Host memory, maximum", "B"),
        Attribute("nics", "Network adapters", form=Placement("network", 0)),
        Attribute("nic_count", "Fabric adapters", "adapters", form=Placement("network", 1)),
        Attribute("nic_rate", "Rate per fabric adapter", "bit/s", form=Placement("network", 2)),
        Attribute(
            "network_rate",
            "Network rate",
            "bit/s",
            listed=ListColumn(72, is_visible=False, head="Network, Gbit/s"),
            form=Placement("network", 3),
        ),
        Attribute("fabric", "Fabric", listed=ListColumn(73, is_visible=False), form=Placement("network", 4)),
        Attribute("local_storage", "Local storage", "B", Quantity.STORAGE, form=Placement("host", 5)),
        Attribute(
            "power_max",
            "Power, maximum",
            "W",
            explanation="Highest power of the whole system, W",
            listed=ListColumn(30, head="Power, W", terminal=3),
            form=Placement("site", 0),
        ),
        Attribute("power_typical", "Power, typical", "W", form=Placement("site", 1)),
        Attribute("rack_power", "Power per rack", "W"),
        Attribute("power_supplies", "Power supplies"),
        Attribute(
            "rack_units",
            "Rack units",
            "U",
            explanation="Height in the rack, units of 44.45 mm",
            listed=ListColumn(40, group="height", terminal=4),
            form=Placement("site", 2),
        ),
        Attribute("cooling", "Cooling", listed=ListColumn(41, terminal=5), form=Placement("site", 3)),
        Attribute("weight", "Weight", "kg"),
        Attribute(
            "price_low",
            "Price, low",
            "USD",
            full_label="Purchase price",
            form_label="Price",
            explanation="Purchase price of the whole system, USD",
            upper_end="price_high",
            range_key="price",
            listed=ListColumn(50, group="price", terminal=6),
            form=Placement("price", 0),
        ),
        Attribute(
            "price_high",
            "Price, high",
            "USD",
            full_label="Purchase price",
            form_label="Price up to",
            form=Placement("price", 1),
        ),
        Attribute(
            "delivery",
            "Delivery",
            "weeks",
            explanation="Weeks from order to delivery",
            listed=ListColumn(60, head="Delivery, wk", is_visible=False),
            form=Placement("price", 2),
        ),
        Attribute("availability", "Availability"),
        Attribute("regions", "Regions", is_word_list=True),
    )
}


def find_attribute_definition(name: str) -> Attribute | None:
    """Return an attribute of accelerators or systems; None if neither has it."""
    return ATTRIBUTES.get(name) or SYSTEM_ATTRIBUTES.get(name)


def find_quantity(name: str, unit: str | None) -> Quantity:
    attribute = find_attribute_definition(name)
    if attribute is not None and attribute.quantity is not None:
        return attribute.quantity
    return find_quantity_of_unit(unit)


def list_required_attributes(attributes: Mapping[str, Attribute] = ATTRIBUTES) -> tuple[str, ...]:
    """Return the required attributes of an accelerator, or of `attributes` in general."""
    return tuple(attribute.key for attribute in attributes.values() if attribute.required)


def list_compared_attributes(group: str) -> list[Attribute]:
    """Return the attributes of a group of Compare in row order."""
    return _select(((each.compare, each) for each in ATTRIBUTES.values()), group)


def list_sheet_attributes(group: str | None = None) -> list[Attribute]:
    """Return the attributes of a group of the sheet in row order, or all of them."""
    groups = ("memory", "compute", "system") if group is None else (group,)
    return [attribute for name in groups for attribute in _select(((a.sheet, a) for a in ATTRIBUTES.values()), name)]


def list_form_attributes(section: str, attributes: Mapping[str, Attribute] = ATTRIBUTES) -> list[Attribute]:
    """Return the attributes of a section of the form of an accelerator or a system in row order."""
    return _select(((each.form, each) for each in attributes.values()), section)


def _select(places: Iterable[tuple[Placement | None, Attribute]], group: str) -> list[Attribute]:
    attributes = [(place.order, each) for place, each in places if place is not None and place.group == group]
    return [each for _, each in sorted(attributes, key=lambda pair: pair[0])]


def list_listed_attributes(attributes: Mapping[str, Attribute] = ATTRIBUTES) -> list[tuple[ListColumn, Attribute]]:
    """Return the columns of the list of accelerators, or of `attributes` in general, from left to right."""
    columns = [(each.listed, each) for each in attributes.values() if each.listed is not None]
    return sorted(columns, key=lambda pair: pair[0].order)


@frozen_dataclass
class Figure:
    """A figure of an estimate: the field of `Estimate` named by its key, in the displayed unit.

    `compare` and `sheet` are the positions of its row among the results, None without one. Estimates are compared by
    the figures that are `judged`: their ratios have intervals.
    """

    key: str
    label: str
    unit: str | None
    more_is_better: bool
    compare: int | None = None
    sheet: int | None = None
    judged: bool = False
    #: Computed for every point of curves (a field of `ConcurrencyCurve`) and of sweeps.
    in_curves: bool = False
    #: One of the few headline figures.
    is_headline: bool = False
    #: The value per accelerator adds information only if the counts differ.
    is_per_accelerator: bool = False
    #: Position in the text of one estimate.
    text_position: int = 100


_FIGURES: Final = (
    Figure(
        "output_tokens_per_s",
        "Output throughput",
        "tok/s",
        more_is_better=True,
        compare=1,
        sheet=1,
        text_position=1,
        judged=True,
        in_curves=True,
        is_headline=True,
    ),
    Figure("total_tokens_per_s", "Total token throughput", "tok/s", more_is_better=True, compare=7, text_position=3),
    Figure(
        "output_tokens_per_s_per_accelerator",
        "Output per accelerator",
        "tok/s",
        more_is_better=True,
        compare=2,
        sheet=2,
        text_position=2,
        judged=True,
        in_curves=True,
        is_per_accelerator=True,
    ),
    Figure(
        "ttft_ms",
        "Time to first token",
        "ms",
        more_is_better=False,
        compare=3,
        sheet=3,
        text_position=4,
        judged=True,
        in_curves=True,
        is_headline=True,
    ),
    Figure(
        "tpot_ms",
        "Time per output token",
        "ms",
        more_is_better=False,
        compare=4,
        sheet=4,
        text_position=5,
        judged=True,
        in_curves=True,
        is_headline=True,
    ),
    Figure("request_s", "Request latency", "s", more_is_better=False, compare=5, sheet=5, text_position=6),
    Figure("batch_s", "Batch time", "s", more_is_better=False, compare=6, sheet=6, text_position=7),
)

#: Figures of estimates with an interval by name, in the order in which JSON has them.
FIGURES: Final = {figure.key: figure for figure in _FIGURES}
#: Costs per token at the load of a comparison, by name: each is a property of `CostColumn`.
COST_FIGURES: Final = {
    figure.key: figure
    for figure in (
        Figure(
            "rented_usd_per_million_output",
            "Output token cost, rented",
            "USD/M tokens",
            more_is_better=False,
            compare=8,
            sheet=7,
            is_headline=True,
        ),
        Figure(
            "owned_usd_per_million_output",
            "Output token cost, owned",
            "USD/M tokens",
            more_is_better=False,
            compare=9,
            sheet=8,
        ),
    )
}
#: Determined by memory alone, so it is exact.
MAX_CONCURRENCY: Final = Figure("max_concurrency", "Max concurrency", None, more_is_better=True)


def find_figure(name: str) -> Figure | None:
    """Return the figure of a name, including the one without an interval; None if not found."""
    return MAX_CONCURRENCY if name == MAX_CONCURRENCY.key else FIGURES.get(name) or COST_FIGURES.get(name)


def is_more_better(name: str) -> bool:
    """Return whether more of a figure is better; raises KeyError without such a figure."""
    return (FIGURES.get(name) or COST_FIGURES[name]).more_is_better


def _list_figures() -> Iterator[Figure]:
    yield from FIGURES.values()
    yield from COST_FIGURES.values()


def list_compared_figures() -> list[Figure]:
    """Return the figures of Compare in row order."""
    return sorted(
        (figure for figure in _list_figures() if figure.compare is not None), key=lambda figure: figure.compare or 0
    )


def list_sheet_figures() -> list[Figure]:
    """Return the figures of the sheet in row order."""
    return sorted(
        (figure for figure in _list_figures() if figure.sheet is not None), key=lambda figure: figure.sheet or 0
    )


def list_told_figures() -> list[Figure]:
    """Return all figures in the order of the text of one estimate."""
    return sorted(FIGURES.values(), key=lambda figure: figure.text_position)


def list_judged_figures() -> tuple[str, ...]:
    """Return the figures by which estimates are compared."""
    return tuple([figure.key for figure in FIGURES.values() if figure.judged])


def list_curve_figures() -> tuple[str, ...]:
    """Return the figures that every point of curves and sweeps has."""
    return tuple(figure.key for figure in FIGURES.values() if figure.in_curves)


def list_headline_figures() -> tuple[str, ...]:
    return tuple(figure.key for figure in _list_figures() if figure.is_headline)
