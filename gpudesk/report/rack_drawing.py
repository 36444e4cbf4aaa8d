"""The picture of fleets: racks to scale with their systems and accelerators, laid out for any medium."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from gpudesk.domain.fleet import FleetAnswer, FleetOption, Rack, RackedSystem
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.labels import label_system
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import capitalize_first, format_message
from gpudesk.text.translation import tr, trn

#: Millimeters: a rack unit, the width of a rack and of its contents, base and top of a rack.
_UNIT: Final = 44.45
_RACK: Final = 600.0
_MOUNTED: Final = 482.6
_BASE: Final = 80.0
#: Lines of text above and below the racks of a fleet, and at the top for the legend.
_HEAD_LINES, _FOOT_LINES, _KEY_LINES = 3.2, 3.4, 1.8
#: The height of a rack of 42 units, at most and at least, in lines of text, and the width of a letter.
_HIGHEST, _LOWEST, _LETTER = 20.0, 5.0, 0.5
#: Minimum width of the texts below a rack, and the space between racks and between fleets.
_CAPTION, _BETWEEN, _BETWEEN_FLEETS = 4.6, 0.6, 2.0
#: Space between rows of fleets, in lines of text.
_BETWEEN_ROWS: Final = 1.0
#: Full rows of squares are preferred to squares larger by up to this factor.
_FULL_ROWS: Final = 1.4
#: Step towards smaller racks, until all fit.
_SMALLER: Final = 0.94
_RACK_UNITS: Final = 42.0


@frozen_dataclass
class RackGroup:
    """Equal racks: one of them, their number, and the text below them."""

    rack: Rack
    count: int
    captions: tuple[str, ...]
    sentence: str


@frozen_dataclass
class FleetSketch:
    """The racks of one accelerator with the texts above them; `note` replaces missing racks."""

    name: str
    slot: int
    texts: tuple[str, ...]
    groups: tuple[RackGroup, ...]
    note: str


@frozen_dataclass
class DrawnBox:
    """A rectangle: `kind` is rack, system, used, spare, idle or scale; `slot` is a palette index."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    slot: int = 0


@frozen_dataclass
class DrawnText:
    """A line of text in the middle of its height; `slot` above 0 is a name in its accelerator's color."""

    x: float
    y: float
    width: float
    text: str
    is_strong: bool = False
    slot: int = 0


@dataclass(slots=True)
class RackDrawing:
    """The content of the picture, in the units of its layout width; `regions` are racks with their sentences."""

    width: float
    line: float
    height: float = 0.0
    boxes: list[DrawnBox] = field(default_factory=list)
    texts: list[DrawnText] = field(default_factory=list)
    regions: list[tuple[DrawnBox, str]] = field(default_factory=list)


def sketch_fleets(
    answer: FleetAnswer, looks: Mapping[str, tuple[str, int]], formatter: Formatter, money: MoneyFormatter
) -> tuple[FleetSketch, ...]:
    """Return the sketch of each fleet; `looks` are the name and palette index by accelerator."""
    return tuple(
        _sketch_fleet(option, *looks.get(option.accelerator, (option.accelerator, 0)), formatter, money)
        for option in answer.options
    )


def _sketch_fleet(
    option: FleetOption, name: str, slot: int, formatter: Formatter, money: MoneyFormatter
) -> FleetSketch:
    if option.reason is not None:
        return FleetSketch(name, slot, (), (), capitalize_first(format_message(option.reason, formatter)))
    groups = tuple(_group_racks(rack, len(list(alike)), formatter, money) for rack, alike in groupby(option.racks))
    note = "" if groups else tr("{order}: no racks", order=label_order(option, formatter))
    use = label_use(option.used, option.spare, option.idle, formatter)
    return FleetSketch(name, slot, (label_order(option, formatter), use), groups, note)


def label_order(option: FleetOption, formatter: Formatter) -> str:
    """Return the purchase: `2 × DGX H100`, or the number of single accelerators."""
    if option.system is None:
        count = option.used + option.spare + option.idle
        return trn("{n} accelerator", "{n} accelerators", count, n=formatter.count(count))
    # Text after a comma in a name distinguishes variants of one product.
    return f"{formatter.count(option.systems)} × {label_system(option.system.name).partition(',')[0]}"


def label_use(used: int, spare: int, idle: int, formatter: Formatter) -> str:
    """Return how many accelerators are in use, spare and idle; zeros are left out."""
    parts = (
        (used, tr("{n} in use", n=formatter.count(used))),
        (spare, trn("{n} spare", "{n} spare", spare, n=formatter.count(spare))),
        (idle, tr("{n} idle", n=formatter.count(idle))),
    )
    return ", ".join(text for count, text in parts if count)


def _group_racks(rack: Rack, count: int, formatter: Formatter, money: MoneyFormatter) -> RackGroup:
    power = tr("{n} kW", n=formatter.estimate(rack.power_max_kw))
    price = tr("no price") if rack.price_usd is None else _format_thousands(rack.price_usd, money)
    heading = trn("{n} rack", "{n} racks", count, n=formatter.count(count))
    systems = trn("{n} system", "{n} systems", len(rack.systems), n=formatter.count(len(rack.systems)))
    use = label_use(rack.used, rack.spare, rack.idle, formatter)
    sentence = tr(
        "{racks} with {systems}: {use}; {power}, {price} without network",
        racks=heading,
        systems=systems,
        use=use,
        power=power,
        price=price,
    )
    return RackGroup(rack, count, (heading, power, price), sentence)


def _format_thousands(usd: float, money: MoneyFormatter) -> str:
    return money.add_currency(tr("{n}k", n=money.rounded_thousands(usd)))


def list_rack_rows(sketches: Sequence[FleetSketch], formatter: Formatter) -> Iterator[tuple[str, ...]]:
    """Yield the table of a picture: accelerator, racks, systems in a rack, units, in use, spare, idle, power, price."""
    for sketch in sketches:
        for group in sketch.groups:
            rack = group.rack
            units = sum(each.rack_units for each in rack.systems)
            counts = (len(rack.systems), units, rack.used, rack.spare, rack.idle)
            racks, *captions = group.captions
            yield (sketch.name, racks, *(formatter.exact(each) for each in counts), *captions)


def list_rack_heads() -> tuple[str, ...]:
    return (
        tr("Accelerator"),
        tr("Racks"),
        tr("Systems per rack"),
        tr("Rack units"),
        tr("In use"),
        tr("Spare"),
        tr("Idle"),
        tr("Power per rack"),
        tr("Rack without network"),
    )


# The layout


def lay_out_racks(sketches: Sequence[FleetSketch], width: float, height: float, line: float) -> RackDrawing:
    """Return the picture in a width, as large as the height allows; `line` is the height of a line of text.

    All racks have one scale. If the height is too small for the smallest, the picture is higher.
    """
    scale = _HIGHEST * line / _measure_rack(_RACK_UNITS)
    least = _LOWEST * line / _measure_rack(_RACK_UNITS)
    while True:
        drawing = _lay_out(sketches, width, line, scale)
        if drawing.height <= height or scale <= least:
            return drawing
        scale = max(scale * _SMALLER, least)


def _measure_rack(units: float) -> float:
    return units * _UNIT + 2 * _BASE


def _lay_out(sketches: Sequence[FleetSketch], width: float, line: float, scale: float) -> RackDrawing:
    drawing = RackDrawing(width, line)
    _put_key(drawing, scale)
    y = _KEY_LINES * line
    for number, row in enumerate(_break_rows([each for each in sketches if each.groups], width, line, scale)):
        y += _BETWEEN_ROWS * line if number else 0.0
        racks = [group.rack for sketch in row for group in sketch.groups]
        highest = max(_measure_rack(rack.height_units) * scale for rack in racks)
        x = 0.0
        for sketch in row:
            _put_fleet(drawing, sketch, x, y, highest, scale)
            x += _measure_fleet(sketch, line, scale) + _BETWEEN_FLEETS * line
        y += (_HEAD_LINES + _FOOT_LINES) * line + highest
    for sketch in sketches:
        if not sketch.groups:
            left = _measure_text(sketch.name, line) + _BETWEEN * line
            drawing.texts.append(DrawnText(0.0, y, left, sketch.name, is_strong=True, slot=sketch.slot))
            drawing.texts.append(DrawnText(left, y, width - left, sketch.note))
            y += line
    drawing.height = y
    return drawing


def _measure_fleet(sketch: FleetSketch, line: float, scale: float) -> float:
    pitch = max(_RACK * scale, _CAPTION * line) + _BETWEEN * line
    texts = (_measure_text(text, line) for text in (sketch.name, *sketch.texts))
    return max(len(sketch.groups) * pitch, *texts)


def _measure_text(text: str, line: float) -> float:
    """Return the approximate width of a text: paper and window measure differently."""
    return _LETTER * len(text) * line


def _break_rows(
    sketches: Sequence[FleetSketch], width: float, line: float, scale: float
) -> Iterator[list[FleetSketch]]:
    row: list[FleetSketch] = []
    used = 0.0
    for sketch in sketches:
        needed = _measure_fleet(sketch, line, scale)
        if row and used + needed > width:
            yield row
            row, used = [], 0.0
        row.append(sketch)
        used += needed + _BETWEEN_FLEETS * line
    if row:
        yield row


def _put_key(drawing: RackDrawing, scale: float) -> None:
    """Place the legend of the squares, and a meter to scale."""
    line, x = drawing.line, 0.0
    side = 0.7 * line
    for kind, text in (("used", tr("in use")), ("spare", tr("spare")), ("idle", tr("idle"))):
        drawing.boxes.append(DrawnBox(x, (line - side) / 2, side, side, kind))
        # A letter is about half as wide as high; some languages need more letters.
        room = max(4.2, 0.55 * len(text)) * line
        drawing.texts.append(DrawnText(x + side + 0.4 * line, 0, room, text))
        x += room + line
    meter = 1000 * scale
    drawing.boxes.append(DrawnBox(x, line / 2, meter, 0.0, "scale"))
    drawing.texts.append(DrawnText(x + meter + 0.4 * line, 0, 12 * line, tr("1 m, to scale")))


def _put_fleet(drawing: RackDrawing, sketch: FleetSketch, x: float, y: float, highest: float, scale: float) -> None:
    line = drawing.line
    room = _measure_fleet(sketch, line, scale)
    drawing.texts.append(DrawnText(x, y, room, sketch.name, is_strong=True, slot=sketch.slot))
    for number, text in enumerate(sketch.texts):
        drawing.texts.append(DrawnText(x, y + (number + 1) * line, room, text))
    top = y + _HEAD_LINES * line
    pitch = max(_RACK * scale, _CAPTION * line) + _BETWEEN * line
    for number, group in enumerate(sketch.groups):
        left = x + number * pitch
        height = _measure_rack(group.rack.height_units) * scale
        box = DrawnBox(left, top + highest - height, _RACK * scale, height, "rack", sketch.slot)
        if group.count > 1:
            # A second outline behind shows at once that there are more.
            aside = 0.22 * line
            drawing.boxes.append(DrawnBox(box.x + aside, box.y - aside, box.width, box.height, "rack"))
        drawing.boxes.append(box)
        drawing.regions.append((box, group.sentence))
        for system in group.rack.systems:
            _put_system(drawing, system, box, sketch.slot, scale)
        for place, text in enumerate(group.captions):
            below = top + highest + (0.2 + place) * line
            drawing.texts.append(DrawnText(left, below, pitch - 0.3 * line, text, is_strong=not place))


def _put_system(drawing: RackDrawing, system: RackedSystem, rack: DrawnBox, slot: int, scale: float) -> None:
    unit, gap = _UNIT * scale, min(0.12 * drawing.line, _UNIT * scale * 0.15)
    width = _MOUNTED * scale
    bottom = rack.y + rack.height - _BASE * scale - system.bottom_unit * unit
    box = DrawnBox(
        rack.x + (rack.width - width) / 2,
        bottom - system.rack_units * unit + gap / 2,
        width,
        max(system.rack_units * unit - gap, gap),
        "system",
    )
    drawing.boxes.append(box)
    kinds = ["used"] * system.used + ["spare"] * system.spare + ["idle"] * system.idle
    if not kinds:
        return
    columns, side = _fit_grid(len(kinds), box.width * 0.94, box.height * 0.9)
    rows = math.ceil(len(kinds) / columns)
    left = box.x + (box.width - columns * side) / 2
    top = box.y + (box.height - rows * side) / 2
    square = min(side * 0.76, 0.9 * drawing.line)
    for number, kind in enumerate(kinds):
        row, column = divmod(number, columns)
        x = left + column * side + (side - square) / 2
        y = top + row * side + (side - square) / 2
        drawing.boxes.append(DrawnBox(x, y, square, square, kind, slot))


def _fit_grid(count: int, width: float, height: float) -> tuple[int, float]:
    """Return the number of columns with the largest squares, and their pitch.

    Full rows are worth slightly smaller ones.
    """

    def weigh(columns: int) -> tuple[float, int]:
        side = min(width / columns, height / math.ceil(count / columns))
        return side * (1.0 if count % columns else _FULL_ROWS), columns

    columns = max(range(1, count + 1), key=weigh)
    return columns, min(width / columns, height / math.ceil(count / columns))
