"""What is wrong with the files of `data/`: each problem names the file, the field and the fault."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from gpudesk.domain.messages import InputError, message

#: Longer inputs are cut where a problem shows what was given.
_SHOWN: Final = 60
#: Where in a path the kind of a record stands: table, name, kind, field.
_KIND_AT: Final = 2


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault of one field; `field` is its path, counted from 1, or a line of a table."""

    file: str
    field: str
    problem: str

    def __str__(self) -> str:
        """Write it as one line."""
        return ": ".join(part for part in (self.file, self.field, self.problem) if part)


class DataError(InputError):
    """The files of `data/` cannot be built into a catalog; `problems` has every reason."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep all problems, sorted by file; the message shows the first and how many there are."""
        self.problems = tuple(sorted(set(problems)))
        first = str(self.problems[0])
        super().__init__(message("catalog.data", count=len(self.problems), first=first), where=None)

    def __str__(self) -> str:
        """List every problem, a line each."""
        return "\n".join(map(str, self.problems))


def validation_problems(
    error: ValidationError, file: str, place: str = "", tagged: Collection[str] = ()
) -> Iterable[Problem]:
    """Turn pydantic's errors into problems.

    Below the tables `tagged`, whose records have a `kind`, its paths have the kind after the name.
    """
    for item in error.errors(include_url=False, include_context=False):
        found = item["loc"]
        if len(found) > _KIND_AT and found[0] in tagged:
            found = (*found[:_KIND_AT], *found[_KIND_AT + 1 :])
        path = [str(part + 1) if isinstance(part, int) else part for part in found]
        field = " ".join(part for part in (place, ".".join(path)) if part)
        yield Problem(file, field, _said(item["type"], item["msg"], item["input"]))


def _said(kind: str, told: str, given: object) -> str:
    """Say what pydantic says, shorter, with what was given where that helps."""
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is no key of this file"
    words = told.removeprefix("Value error, ").removeprefix("Input ")
    shown = repr(given)
    if isinstance(given, dict):
        return words
    return f"{words}, given {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"
