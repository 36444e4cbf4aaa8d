"""From the window to the comparison sheet."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow

log = logging.getLogger(__name__)


def show_preview(window: MainWindow) -> None:
    """Show the sheet of the window's answer, which needs its curves."""
    desk = window.desk
    desk.flush()
    if desk.answer is None:
        window.note.show_note(
            tr("There is nothing to print yet: choose a model and an accelerator."), fault=False
        )
        return
    from gpudesk.desktop.printing.preview import SheetPreview

    answer = desk.workbench.answer(desk.answer.scenario, with_curves=True)
    dialog = SheetPreview(
        answer,
        window.theme,
        window.settings,
        desk.formatter,
        explain=desk.workbench.explain,
        further=desk.workbench.further(answer, desk.workbench.known_flips(answer.scenario)),
        parent=window,
    )
    dialog.saved.connect(lambda path: _say(window, "saved", tr("Sheet saved: {file}", file=path)))
    dialog.printed.connect(lambda: _say(window, "printed", tr("Sheet sent to the printer")))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def _say(window: MainWindow, done: str, text: str) -> None:
    log.info("sheet %s", done)
    window.status.show_message(text)
