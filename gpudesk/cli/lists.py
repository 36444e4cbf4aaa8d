"""Lists in one option: values between commas, and for whole numbers ranges, `1..64+8` or `1..256*2`."""

from __future__ import annotations

import argparse
import re
from typing import Final

from gpudesk.cli.options import whole
from gpudesk.text import tr

_RANGE: Final = re.compile(r"([\d_]+)\.\.([\d_]+)(?:([+*])([\d_]+))?")
#: Values that one range can stand for.
_LONGEST: Final = 100_000


def words(text: str) -> list[str]:
    """Return the parts of a list."""
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        problem = tr("{given} has nothing between two commas", given=repr(text))
        raise argparse.ArgumentTypeError(problem)
    return found


def whole_numbers(text: str) -> list[int]:
    """Return the numbers of a list, ranges spelt out."""
    return [number for part in words(text) for number in _numbers(part)]


def _numbers(part: str) -> list[int]:
    found = _RANGE.fullmatch(part)
    if found is None:
        return [whole(part)]
    first, last = whole(found[1]), whole(found[2])
    sign, step = found[3] or "+", whole(found[4] or "1")
    if first > last or step < (2 if sign == "*" else 1) or (sign == "*" and first == 0):
        problem = tr("{given} is no range; write it as in 1..64+8 or 1..256*2", given=repr(part))
        raise argparse.ArgumentTypeError(problem)
    if sign == "+":
        steps = range(first, last + 1, step)
        if len(steps) > _LONGEST:
            problem = tr("{given} has more than {most} values", given=repr(part), most=_LONGEST)
            raise argparse.ArgumentTypeError(problem)
        return list(steps)
    numbers = []
    while first <= last:
        numbers.append(first)
        first *= step
    return numbers
