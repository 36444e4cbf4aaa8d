"""What a check finds, and how it says that something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

#: Of a longer list the first so many are named.
_NAMED: Final = 4


class FailedError(Exception):
    """A check came out wrong; the text says how, and what to do where that is not to install anew."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a check says where the program is as it should be; with a doubt, something beside it is not."""

    text: str = ""
    doubt: bool = False


Check = Callable[[], Found]


def fail_for(faults: Sequence[str]) -> None:
    """Fail where there are any faults, and name the first of them."""
    if faults:
        raise FailedError(listed(faults, "; "))


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """Return names in a row, and how many more there are than can be named."""
    shown = separator.join(names[:_NAMED])
    more = len(names) - _NAMED
    return tr("{names} and {n} more", names=shown, n=more) if more > 0 else shown


@contextmanager
def opened() -> Iterator[Workbench]:
    """Open the program's own facts: those of the user are checked on their own, and change no figure here."""
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open(with_own=False) as workbench:
        yield workbench
