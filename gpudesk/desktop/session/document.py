"""The document of a window: the file that the scenario comes from and goes to. It changes only on Save."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.edits import empty_scenario
from gpudesk.desktop.session.recent import note_recent
from gpudesk.desktop.session.recovery import Recovered, RecoveryFile
from gpudesk.desktop.session.settings import Settings
from gpudesk.domain.scenarios import Scenario
from gpudesk.text import tr
from gpudesk.workbench.answering import check_ids
from gpudesk.workbench.scenario_file import SUFFIX
from gpudesk.workbench.templates import read_template


class Document(QObject):
    """Where the desk's scenario is kept. A fault of a file raises `InputError` and changes nothing."""

    #: Path, name, or whether there is something to save.
    changed = Signal()

    def __init__(
        self, desk: Desk, settings: Settings, recovery: RecoveryFile, parent: QObject | None = None
    ) -> None:
        """Begin with a new document that nobody has touched."""
        super().__init__(parent)
        self._desk = desk
        self._settings = settings
        self._recovery = recovery
        self.path: Path | None = None
        self.saved_at: datetime | None = None
        self.begun = False
        self._always_edited = False
        desk.scenario_changed.connect(self._scenario_changed)
        desk.undo_stack.cleanChanged.connect(self._clean_changed)

    @property
    def edited(self) -> bool:
        """Whether there is something that Save would keep."""
        return self._always_edited or not self._desk.undo_stack.isClean()

    @property
    def untouched(self) -> bool:
        """Whether nobody has begun anything here."""
        return not self.begun and not self.edited

    @property
    def replaceable(self) -> bool:
        """Whether another document may take this one's place: it has no file, and nothing would be lost."""
        return self.path is None and not self.edited

    @property
    def title(self) -> str:
        """What the document is called: its file's name, or that of the scenario."""
        if self.path is not None:
            return self.path.name
        return self._desk.scenario.name or tr("Untitled")

    @property
    def suggested_name(self) -> str:
        """A file name to save under that every system takes."""
        name = "".join(c if c.isalnum() or c in " -_.," else " " for c in self._desk.scenario.name)
        return (" ".join(name.split()) or tr("Comparison")) + SUFFIX

    def new(self) -> None:
        """Begin anew, with nothing but a workload."""
        self._put(empty_scenario(), None, begun=True)

    def open_template(self, template: str) -> None:
        """Begin with a ready-made scenario; saving asks for a name."""
        self._put(read_template(template), None, begun=True)

    def check(self, path: Path) -> None:
        """Read a file only to see whether it can be opened."""
        self._desk.workbench.read_scenario(path)

    def open_file(self, path: Path) -> None:
        """Open a scenario file, or the scenario that a sheet carries."""
        scenario = self._desk.workbench.read_scenario(path)
        is_scenario = path.suffix.lower() == SUFFIX
        self._put(scenario, path.absolute() if is_scenario else None, begun=True)
        if is_scenario:
            self.saved_at = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
            note_recent(self._settings, path)
        self.changed.emit()

    @property
    def carries_other_facts(self) -> bool:
        """Whether the scenario carries facts of its author that the catalog lacks or has otherwise."""
        from gpudesk.workbench.carried_facts import news

        scenario = self._desk.scenario
        return bool(scenario.own_records) and news(scenario, self._desk.workbench.catalog) is not None

    def open_recovered(self, recovered: Recovered) -> None:
        """Take up what a crash left; it stays to be saved under the name that the document had."""
        check_ids(recovered.scenario, self._desk.workbench.catalog)
        self._put(recovered.scenario, recovered.document, begun=True)
        self._always_edited = True
        self._recovery.take_over(recovered)
        self.changed.emit()

    def save(self, path: Path | None = None) -> None:
        """Write the document, under another name where one is given."""
        target = path or self.path
        if target is None:
            raise ValueError("a document without a name is saved under one")
        self._desk.workbench.save_scenario(self._desk.scenario, target)
        self.path = target.absolute()
        self.saved_at = datetime.now().astimezone()
        self._always_edited = False
        self._desk.undo_stack.setClean()
        self._recovery.clear()
        note_recent(self._settings, target)
        self.changed.emit()

    def close(self) -> None:
        """Let the document go; what was not saved was given up by the user."""
        self._recovery.clear()

    def leave(self) -> None:
        """Let the document go without a question; the next start offers what was not saved."""
        self._recovery.leave()

    def keep_now(self) -> bool:
        """Bring the recovery file up to date at once; return whether it is."""
        return self._recovery.write()

    def _put(self, scenario: Scenario, path: Path | None, *, begun: bool) -> None:
        self._recovery.clear()
        self.path = path
        self.saved_at = None
        self.begun = begun
        self._always_edited = False
        self._desk.open(scenario)
        self.changed.emit()

    def _scenario_changed(self) -> None:
        if self.edited:
            self._recovery.keep(self._desk.scenario, self.path)
        self.changed.emit()

    def _clean_changed(self, clean: bool) -> None:
        if clean and not self._always_edited:
            self._recovery.clear()
        else:
            self._recovery.keep(self._desk.scenario, self.path)
        self.changed.emit()
