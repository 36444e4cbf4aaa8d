"""What the value of an attribute can be at all: of which type, and how large.

Far beyond every part there is, and so near that nothing that is computed from it overflows. Whether a figure
is likely is another question.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gpudesk.catalog.attribute_names import ACCELERATOR, DIFFUSION, MODEL_STATED
from gpudesk.domain.claims import ClaimValue
from gpudesk.domain.things import ThingKind

#: Units of what is counted in whole numbers.
COUNTED: Final = frozenset({"stacks", "accelerators", "generation"})
#: Attributes that are lists of words; others without a unit are one text.
LISTS: Final = frozenset({"supported_precisions"})
#: By the unit used inside; whole numbers of all of them have 64 bits.
LARGEST: Final = MappingProxyType(
    {
        "B": 1e18,
        "B/s": 1e18,
        "FLOP/s": 9e18,
        "W": 1e9,
        "USD": 1e12,
        "stacks": 1e6,
        "accelerators": 1e6,
        "generation": 1e3,
    }
)
_LARGEST_OTHER: Final = 1e30


def can_be(kind: ThingKind, attribute: str, value: ClaimValue, dimension: ClaimValue = None) -> bool:
    """Whether an attribute of a kind of thing can have a value, which is in the unit used inside.

    A `dimension` of a model has the type that its definition gives it.
    """
    if kind is ThingKind.ACCELERATOR:
        return attribute in ACCELERATOR and _of_part(attribute, value)
    if dimension is not None:
        return type(value) is type(dimension)
    unit = (MODEL_STATED if kind is ThingKind.MODEL else DIFFUSION).get(attribute)
    return unit is None or _is_figure(value, _LARGEST_OTHER)


def _of_part(attribute: str, value: ClaimValue) -> bool:
    unit = ACCELERATOR[attribute]
    if unit is None:
        return isinstance(value, tuple if attribute in LISTS else str) and bool(value)
    return _is_figure(value, LARGEST[unit]) and (unit not in COUNTED or isinstance(value, int))


def _is_figure(value: ClaimValue, largest: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value <= largest
