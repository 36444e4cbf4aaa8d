"""Values from outside as dataclasses: what comes through, and what is said of the rest at which place."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import pytest

from gpudesk.domain.field_checks import accept_whole
from gpudesk.input_records import parse_record
from gpudesk.text.messages import InputError


class _Color(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class _Inner:
    size: float
    color: _Color | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Outer:
    name: str
    count: int = 1
    good: bool = True
    mode: Literal["fast", "slow"] = "fast"
    inner: tuple[_Inner, ...] = ()
    named: dict[str, _Inner] = field(default_factory=dict)
    either: str | _Inner | None = None


WHOLE: dict[str, Any] = {
    "name": "a",
    "count": 2,
    "good": False,
    "mode": "slow",
    "inner": [{"size": 1, "color": "red", "words": ["x"]}],
    "named": {"one": {"size": 2.5}},
    "either": {"size": 3},
}


def test_plain_values_become_the_dataclass() -> None:
    first = _Inner(1.0, _Color.RED, ("x",))
    assert parse_record(_Outer, WHOLE) == _Outer("a", 2, False, "slow", (first,), {"one": _Inner(2.5)}, _Inner(3.0))


def test_null_is_as_if_left_out() -> None:
    assert parse_record(_Outer, {"name": "a", "count": None, "inner": [{"size": 1, "color": None}]}) == _Outer(
        "a", inner=(_Inner(1.0),)
    )


@pytest.mark.parametrize(
    ("changed", "place", "problem"),
    [
        ({"name": None}, "f: name", "field.missing"),
        ({"name": 3}, "f: name", "field.type"),
        ({"name": ""}, "f: name", "field.empty"),
        ({"name": "a\0"}, "f: name", "field.control"),
        ({"name": "x" * 5000}, "f: name", "field.long"),
        ({"count": 1.5}, "f: count", "field.type"),
        ({"count": 0}, "f: count", "field.range"),
        ({"count": "2"}, "f: count", "field.type"),
        ({"good": 1}, "f: good", "field.type"),
        ({"mode": "soft"}, "f: mode", "field.word"),
        ({"color": "red"}, "f", "field.unknown"),
        ({"inners": []}, "f", "field.unknown_near"),
        ({"inner": {}}, "f: inner", "field.type"),
        ({"inner": [3]}, "f: inner[0]", "field.type"),
        ({"inner": [{"size": 1}, {"size": float("nan")}]}, "f: inner[1].size", "field.type"),
        ({"inner": [{"size": 1, "color": "green"}]}, "f: inner[0].color", "field.word"),
        ({"inner": [{"size": 1, "color": 5}]}, "f: inner[0].color", "field.type"),
        ({"inner": [{"size": 1, "sice": 2}]}, "f: inner[0]", "field.unknown_near"),
        ({"inner": [{"size": 1, "words": ["a", 1]}]}, "f: inner[0].words[1]", "field.type"),
        ({"named": {"one": {}}}, "f: named.one.size", "field.missing"),
        ({"either": {"size": "big"}}, "f: either.size", "field.type"),
        ({"either": {}}, "f: either.size", "field.missing"),
    ],
)
def test_fault_is_reported_at_its_place(changed: dict[str, Any], place: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_record(_Outer, WHOLE | changed, "f:", {"count": _accept_count})
    assert (refused.value.where, refused.value.problem.id) == (place, problem)


def _accept_count(where: str, value: object) -> int:
    count: int = accept_whole(1, 10)(where, value)
    return count


@pytest.mark.parametrize("value", [3, "a", [1], None])
def test_json_without_an_object_is_refused(value: object) -> None:
    with pytest.raises(InputError) as refused:
        parse_record(_Outer, value, "place")
    assert (refused.value.where, refused.value.problem.id) == ("place", "field.type")


def test_unknown_fields_can_be_left_out_at_every_depth() -> None:
    more = {"x": {"y": float("nan")}}
    record = {"name": "a", **more, "inner": [{"size": 1, **more}], "named": {"one": {"size": 2, **more}}}
    assert parse_record(_Outer, record, ignore_unknown=True) == _Outer(
        "a", inner=(_Inner(1.0),), named={"one": _Inner(2.0)}
    )


def test_place_of_a_field_prints_whatever_its_name_is() -> None:
    with pytest.raises(InputError) as refused:
        parse_record(_Outer, {"name": "a", "named": {"a\0\u202e" + "b" * 100: {}}})
    assert refused.value.where is not None
    assert refused.value.where.isprintable()
    assert len(refused.value.where) < 100
