"""Dataclasses of values, which are quick to define and to create."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen_dataclass(cls: type[_T]) -> type[_T]:
    """Make a dataclass with slots, equality and a hash by value; type checkers reject assignments to its fields.

    `dataclass(frozen=True, slots=True)` also rejects them at run time. For that it compiles two methods per class, and
    stores each field by a call: an instance of 6 fields takes 1.0 µs instead of 0.3. It also compiles comparison, hash
    and representation. It takes 0.6 ms per class, this 0.15 ms; some 450 are defined before the first paint.
    """
    own_methods = frozenset(vars(cls))
    base: Any = dataclass(slots=True, eq=False, repr=False)(cls)
    compared = [each for each in fields(base) if each.compare]
    # The class makes a tuple of a single field too.
    get_compared = attrgetter("__class__", *(each.name for each in compared))
    get_hashed = attrgetter("__class__", *(each.name for each in compared if each.hash is not False))

    def is_equal(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return get_compared(self) == get_compared(other)

    base.__eq__ = is_equal
    base.__repr__ = _describe
    if "__hash__" not in own_methods:
        base.__hash__ = lambda self: hash(get_hashed(self))
    return cast("type[_T]", base)


def _describe(self: Any) -> str:  # noqa: ANN401 - any of these dataclasses
    values = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({values})"
