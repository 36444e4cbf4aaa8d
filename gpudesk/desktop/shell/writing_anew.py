"""What is offered where the file of the user's facts was removed while the program runs: to write it anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.sentences import problem
from gpudesk.text import tr, trn
from gpudesk.workbench.own_catalog import OwnCatalog

#: Says what came of it; the second is whether it went wrong.
Say = Callable[[str, bool], object]


def anew_remedies(own: OwnCatalog, formatter: Formatter, say: Say) -> list[tuple[str, Callable[[], object]]]:
    """Return the button of a note that writes the facts anew; none where their file is there."""
    return [(_text(), partial(write_anew, own, formatter, say))] if own.removed else []


def write_anew(own: OwnCatalog, formatter: Formatter, say: Say) -> None:
    """Write all facts into a new file, and say what came of it."""
    try:
        own.write_anew()
    except InputError as error:
        say(tr("Not written: {problem}.", problem=problem(error, formatter).rstrip(".")), True)
        return
    count = len(own.facts)
    said = trn(
        "Your {count} fact is in a new file. Do again what was refused.",
        "Your {count} facts are in a new file. Do again what was refused.",
        count,
        count=formatter.count(count),
    )
    say(said, False)


class AnewButton(Button):
    """Writes the facts anew; it is there only while their file is not."""

    def __init__(self, theme: Theme, own: OwnCatalog, formatter: Formatter, say: Say) -> None:
        """Say what comes of it by `say`."""
        super().__init__(theme, _text())
        self._own = own
        self._formatter = formatter
        self._say = say
        self.setAutoDefault(False)
        self.clicked.connect(self._write)
        self.hide()

    def follow(self) -> None:
        """Be there where it is needed; called once the button is in a window."""
        self.setVisible(self._own.removed)

    def _write(self) -> None:
        write_anew(self._own, self._formatter, self._say)
        self.follow()


def _text() -> str:
    return tr("Write your facts anew")
