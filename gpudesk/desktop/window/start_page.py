"""The start page in a window, the unsaved work it offers, and the hints of the first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject

from gpudesk import paths
from gpudesk.desktop.pages.first_run import SAMPLE_TEMPLATE_ID, FirstRunPage, RecentFile, RecoveredFile
from gpudesk.desktop.session.recovery import RecoveredScenario, discard_recovered, list_recovered
from gpudesk.desktop.session.settings import list_recent_files
from gpudesk.desktop.ui.widgets.qt_support import format_key
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow


class StartPage(FirstRunPage):
    """Opens samples, recent documents and what a crash left in its window."""

    def __init__(self, window: DocumentWindow) -> None:
        super().__init__(window.theme)
        self._window = window
        self._recovered_by_file: dict[str, RecoveredScenario] = {}
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

    def show_left(self, scenarios: Sequence[RecoveredScenario]) -> None:
        self._recovered_by_file = {str(recovered.file): recovered for recovered in scenarios}
        self.set_recovered([_recovered(key, recovered) for key, recovered in self._recovered_by_file.items()])

    def _open_left(self, key: str) -> None:
        recovered = self._recovered_by_file.get(key)
        self.show_left(list_recovered())
        if recovered is not None and _is_left(self._window, recovered):
            self._window.open_recovered(recovered)

    def _discard(self, key: str) -> None:
        recovered = self._recovered_by_file.get(key)
        if recovered is not None and _is_left(self._window, recovered):
            discard_recovered(recovered)
        self.show_left(list_recovered())


def offer_recovered(window: DocumentWindow) -> None:
    """Offer above the page what a crash left, the newest first: for a start without the start page."""
    recovered = list_recovered()
    if not recovered:
        return
    newest = recovered[0]
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
    """Warn at the start if nothing can be saved, as on a write-protected drive."""
    if not paths.can_write_user_dir():
        window.note.show_note(
            tr(
                "Cannot write to {folder}. Your values, settings and unsaved work are lost on exit. Save "
                "your files elsewhere.",
                folder=paths.user_dir(),
            )
        )


#: The hints that were closed, or whose move was made.
_SEEN_HINTS: Final = "hints.seen"


def list_hints() -> dict[str, str]:
    """Return the hints by the move that each teaches, in their order."""
    return {
        "load": tr("Tip: drag the slider above to change the load. All figures follow."),
        "figure": tr("Tip: select a figure to see its formula and its sources on the right."),
        "print": tr("Tip: press {key} to print the comparison or save it as PDF.", key=format_key("Ctrl+P")),
    }


class FirstHints(QObject):
    """Teaches three moves above the page, one at a time; a hint stays away once it is closed or its move is made."""

    def __init__(self, window: DocumentWindow) -> None:
        super().__init__(window)
        self._window = window
        self._shown_hint = ""
        self._withdraw: Callable[[], None] = lambda: None
        self._load = window.desk.scenario.workload.load
        window.desk.answered.connect(self.show_next)
        window.desk.selection_changed.connect(self._note_selection)

    @property
    def seen(self) -> list[str]:
        stored: list[str] = self._window.settings.get(_SEEN_HINTS, [])
        return stored

    def show_next(self) -> None:
        """Show the first hint that was not seen, once there are figures; a changed load is the first move."""
        desk = self._window.desk
        if self._shown_hint == "load" and desk.scenario.workload.load != self._load:
            self.finish("load")
        remaining = [name for name in list_hints() if name not in self.seen]
        if not remaining:
            self.deleteLater()
        if self._shown_hint or not remaining or self._window.page is None or desk.answer is None:
            return
        self._shown_hint, self._load = remaining[0], desk.scenario.workload.load
        self._withdraw = self._window.note.offer(
            list_hints()[remaining[0]], [(tr("Hide tips"), self.hide)], lambda: self.finish(remaining[0])
        )

    def finish(self, name: str) -> None:
        """Take a hint as seen, and show the next one."""
        if name != self._shown_hint:
            return
        self._window.settings.put(_SEEN_HINTS, [*self.seen, name])
        self._shown_hint = ""
        self._withdraw()
        self.show_next()

    def hide(self) -> None:
        self._window.settings.put(_SEEN_HINTS, list(list_hints()))
        self._shown_hint = ""
        self._withdraw()
        self.deleteLater()

    def _note_selection(self) -> None:
        if self._window.desk.selection is not None:
            self.finish("figure")


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
