"""The start page in a window, and the unsaved work it offers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gpudesk import paths
from gpudesk.desktop.pages.first_run import SAMPLE_TEMPLATE_ID, FirstRunPage, RecentFile, RecoveredFile
from gpudesk.desktop.session.recovery import RecoveredScenario, discard_recovered, list_recovered
from gpudesk.desktop.session.settings import list_recent_files
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow


class StartPage(FirstRunPage):
    """Opens samples, recent documents and what a crash left in its window."""

    def __init__(self, window: DocumentWindow) -> None:
        super().__init__(window.theme)
        self._window = window
        self._left: dict[str, RecoveredScenario] = {}
        self.open_sample.connect(lambda: window.open_template(SAMPLE_TEMPLATE_ID))
        self.start_empty.connect(window.new)
        self.help_wanted.connect(self._help)
        self.open_template.connect(window.open_template)
        self.open_file.connect(lambda path: window.open_path(Path(path)))
        self.open_recovered.connect(self._open_left)
        self.discard_recovered.connect(self._discard)

    def _help(self) -> None:
        from gpudesk.desktop.window.action_list import show_chooser

        show_chooser(self._window)

    def refresh(self) -> None:
        self.set_recent([_recent(path) for path in list_recent_files(self._window.settings)])
        self.show_left(list_recovered())

    def show_left(self, left: Sequence[RecoveredScenario]) -> None:
        self._left = {str(recovered.file): recovered for recovered in left}
        self.set_recovered([_recovered(key, recovered) for key, recovered in self._left.items()])

    def _open_left(self, key: str) -> None:
        recovered = self._left.get(key)
        self.show_left(list_recovered())
        if recovered is not None and _is_left(self._window, recovered):
            self._window.open_recovered(recovered)

    def _discard(self, key: str) -> None:
        recovered = self._left.get(key)
        if recovered is not None and _is_left(self._window, recovered):
            discard_recovered(recovered)
        self.show_left(list_recovered())


def offer_recovered(window: DocumentWindow) -> None:
    """Offer above the page what a crash left, the newest first: for a start without the start page."""
    left = list_recovered()
    if not left:
        return
    newest = left[0]
    offered = _recovered("", newest)

    def open_it() -> None:
        if _is_left(window, newest):
            window.open_recovered(newest)
        offer_recovered(window)

    def discard_it() -> None:
        if _is_left(window, newest):
            discard_recovered(newest)
        offer_recovered(window)

    window.note.offer(
        tr("Recovered: {name}, edited {time}", name=offered.name, time=offered.time),
        [(tr("Open"), open_it), (tr("Discard"), discard_it)],
    )


def warn_unsaved_storage(window: DocumentWindow) -> None:
    """Say at the start, not when it is too late, that nothing can be kept, as on a stick that is locked."""
    if not paths.can_write_user_dir():
        window.note.show_note(
            tr(
                "Cannot write to {folder}. Your values, settings and unsaved work are lost on exit. Save "
                "your files elsewhere.",
                folder=paths.user_dir(),
            )
        )


def _is_left(window: DocumentWindow, recovered: RecoveredScenario) -> bool:
    """Whether nobody has taken up meanwhile what a crash left; says so in the window where somebody has."""
    if any(each.file == recovered.file for each in list_recovered()):
        return True
    window.note.show_note(tr("These edits are already open in another window."), fault=False)
    return False


def _recent(path: Path) -> RecentFile:
    return RecentFile(str(path), path.stem, _when(datetime.fromtimestamp(path.stat().st_mtime).astimezone()))


def _recovered(key: str, recovered: RecoveredScenario) -> RecoveredFile:
    name = recovered.document.stem if recovered.document else recovered.scenario.name or tr("Untitled")
    return RecoveredFile(key, name, _when(recovered.edited))


def _when(moment: datetime) -> str:
    today = datetime.now().astimezone().date()
    return f"{moment:%H:%M}" if moment.astimezone().date() == today else f"{moment:%Y-%m-%d}"
