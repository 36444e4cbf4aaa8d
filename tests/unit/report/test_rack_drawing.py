"""The picture of fleets in racks: to scale, nothing over another, every accelerator there."""

from dataclasses import replace
from itertools import combinations

import pytest

from gpudesk.domain.fleet import Rack, RackedSystem
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.rack_drawing import (
    DrawnBox,
    FleetSketch,
    RackDrawing,
    RackGroup,
    lay_out_racks,
    list_rack_rows,
    sketch_fleets,
)
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from tests.fleets import make_fleets

FORMATTER = Formatter(ENGLISH_NUMBERS)
ACCELERATORS = ("h200-sxm", "mi325x", "b200", "mi355x")
LINE = 17.0


def sketch() -> tuple[FleetSketch, ...]:
    looks = {each: (each.upper(), place + 1) for place, each in enumerate(ACCELERATORS)}
    return sketch_fleets(make_fleets(ACCELERATORS), looks, FORMATTER, MoneyFormatter(FORMATTER))


def boxes(drawing: RackDrawing, kind: str) -> list[DrawnBox]:
    return [box for box in drawing.boxes if box.kind == kind]


def overlap(one: DrawnBox, two: DrawnBox) -> bool:
    return (
        one.x < two.x + two.width - 0.01
        and two.x < one.x + one.width - 0.01
        and one.y < two.y + two.height - 0.01
        and two.y < one.y + one.height - 0.01
    )


@pytest.mark.parametrize(("width", "height"), [(900, 400), (500, 300), (1600, 900), (300, 0)])
def test_accelerators_are_inside_systems_inside_racks(width: float, height: float) -> None:
    drawing = lay_out_racks(sketch(), width, height, LINE)
    squares = [box for kind in ("used", "spare", "idle") for box in boxes(drawing, kind) if box.slot]
    systems = boxes(drawing, "system")
    for square in squares:
        assert any(
            system.x <= square.x
            and square.x + square.width <= system.x + system.width
            and system.y <= square.y
            and square.y + square.height <= system.y + system.height
            for system in systems
        )
    assert not any(overlap(*pair) for pair in combinations(squares, 2))
    assert not any(overlap(*pair) for pair in combinations(systems, 2))
    assert not any(overlap(one, two) for (one, _), (two, _) in combinations(drawing.regions, 2))


def test_racks_that_are_alike_are_drawn_once_with_their_number() -> None:
    sketches = sketch()
    assert [group.count for group in sketches[2].groups] == [5, 1]
    drawing = lay_out_racks(sketches, 900, 400, LINE)
    assert len(drawing.regions) == 6
    assert "5 racks" in [text.text for text in drawing.texts]
    rows = list(list_rack_rows(sketches, FORMATTER))
    assert len(rows) == 6
    assert rows[0][:4] == ("H200-SXM", "1 rack", "4", "32")


def test_all_racks_have_one_scale() -> None:
    drawing = lay_out_racks(sketch(), 900, 500, LINE)
    (scale,) = boxes(drawing, "scale")
    for box, _ in drawing.regions:
        assert box.width / scale.width == pytest.approx(0.6)
        assert box.height / scale.width == pytest.approx(42 * 0.04445 + 0.16)
    for system in boxes(drawing, "system"):
        assert system.height / scale.width == pytest.approx(8 * 0.04445, rel=0.05)


def test_a_picture_is_as_high_as_it_may_be_or_as_it_must() -> None:
    low, high = (lay_out_racks(sketch(), 900, height, LINE) for height in (0, 600))
    assert low.height < high.height <= 600
    assert lay_out_racks((), 900, 600, LINE).regions == []


def test_a_rack_of_72_has_72_squares_in_full_rows() -> None:
    rack = Rack((RackedSystem(0.0, 48.0, 64, 4, 4),), 48.0, 132.0, None, "units")
    group = RackGroup(rack, 1, ("1 rack", "132 kW", "no price"), "")
    drawing = lay_out_racks((FleetSketch("GB300", 1, (), (group,), ""),), 400, 400, LINE)
    counts = [len([box for box in boxes(drawing, kind) if box.slot]) for kind in ("used", "spare", "idle")]
    assert counts == [64, 4, 4]
    assert len({round(box.y, 3) for box in boxes(drawing, "used") if box.slot}) == 16


@pytest.mark.parametrize("width", [600, 900, 1600])
def test_names_and_orders_have_room(width: float) -> None:
    first, *rest = sketch()
    long = replace(first, name="RTX PRO 6000 Blackwell", texts=("12 × NVIDIA GB200 NVL72", first.texts[1]))
    without = replace(rest[-1], name="Long name of an accelerator")
    drawing = lay_out_racks((long, *rest[:-1], without), width, 400, LINE)
    texts = {text.text: text for text in drawing.texts}
    for text in (long.name, *long.texts, without.name):
        assert texts[text].width >= 0.45 * len(text) * LINE
    assert all(text.x + text.width <= width + 0.01 for text in drawing.texts if text.text == without.note)


def test_rows_of_fleets_have_space_between_them() -> None:
    sketches = [each for each in sketch() if each.groups]
    drawing = lay_out_racks(sketches, 200, 2000, LINE)
    heads = {text.text: text.y for text in drawing.texts}
    second_row = heads[sketches[-1].name]
    above = max(text.y for text in drawing.texts if text.y < second_row)
    assert second_row > heads[sketches[0].name], "the width is that of one fleet"
    assert second_row - above >= 2 * LINE
