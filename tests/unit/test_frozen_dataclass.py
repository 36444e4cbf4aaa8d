"""Frozen dataclasses behave as those of the standard library do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

import pytest

from gpudesk.frozen_dataclass import frozen_dataclass


@frozen_dataclass
class Load:
    """A load."""

    requests: int
    limits: tuple[float, ...] = ()
    note: str = field(default="", compare=False)
    weights: dict[str, int] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, slots=True)
class StandardLoad:
    """The same load."""

    requests: int
    limits: tuple[float, ...] = ()
    note: str = field(default="", compare=False)
    weights: dict[str, int] = field(default_factory=dict, hash=False, repr=False)


@frozen_dataclass
class Named:
    """One field, and its own hash."""

    value: float

    def __hash__(self) -> int:
        return 7


@frozen_dataclass
class Empty:
    """No field."""


@pytest.mark.parametrize("kind", [Load, StandardLoad])
def test_values_are_compared_and_hashed(kind: Callable[..., Load]) -> None:
    load = kind(4, (1.0,), "one")
    assert load == kind(4, (1.0,), "other")
    assert load != kind(5, (1.0,), "one")
    other: object = (4, (1.0,), "one", {})
    assert load != other
    assert hash(load) == hash(kind(4, (1.0,), "other", {"a": 1}))
    assert load != kind(4, (1.0,), "one", {"a": 1})
    assert len({load, kind(4, (1.0,)), kind(4)}) == 2


@pytest.mark.parametrize("kind", [Load, StandardLoad])
def test_copies_are_equal(kind: Callable[..., Load]) -> None:
    load = kind(4, (1.0,), weights={"a": 1})
    assert copy.copy(load) == copy.deepcopy(load) == pickle.loads(pickle.dumps(load)) == replace(load, note="") == load
    assert replace(load, requests=5).requests == 5
    assert [each.name for each in fields(load)] == ["requests", "limits", "note", "weights"]
    assert repr(load) == f"{type(load).__name__}(requests=4, limits=(1.0,), note='')"


def test_no_field_is_added() -> None:
    with pytest.raises(AttributeError):
        Load(4).other = 3  # type: ignore[attr-defined]
    assert not hasattr(Load(4), "__dict__")


def test_a_class_keeps_its_own_hash() -> None:
    assert hash(Named(1.0)) == 7
    assert Named(1.0) == Named(1.0)
    assert Named(1.0) != Named(2.0)


def test_an_identical_value_is_equal_to_itself() -> None:
    # As in a tuple: a value that is not a number equals itself.
    nan = float("nan")
    assert Named(nan) == Named(nan)


def test_a_class_without_fields_equals_only_itself() -> None:
    other: object = Named(1.0)
    assert Empty() == Empty()
    assert Empty() != other
    assert hash(Empty()) == hash(Empty())
