"""User facts at run time: stored, merged over the catalog, undoable."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpudesk.domain.user_facts import FactEdit, UserFacts
from gpudesk.text.messages import InputError, Message

if TYPE_CHECKING:
    from gpudesk.catalog.user_store.user_file import UserFile
    from gpudesk.domain.reference_data import WatchNote
    from gpudesk.domain.user_facts import Backup, TrustedSigner


#: Passed to observers of a change: the ids of the entries that changed.
ChangeListener = Callable[[frozenset[str]], None]
#: Maximum undo steps.
_MOST_UNDO_STEPS: Final = 500


class UserCatalog:
    """The user's facts and their file. Without a file they last as long as the program.

    With an unusable file only the shipped catalog is used; `problem` explains why.
    """

    def __init__(self, path: Path | None, show: Callable[[UserFacts, FactEdit | None], None]) -> None:
        """Open the file at `path`, which need not exist; `show` applies facts to the catalog.

        `show` gets the step that led to the facts, None if they are unrelated to the former ones.
        """
        self.path = path
        self.problem: InputError | None = None
        self._show = show
        self._file: UserFile | None = None
        self._listeners: list[ChangeListener] = []
        self._undo_steps: list[FactEdit] = []
        self._redo_steps: list[FactEdit] = []
        # Whether the file holds other facts than these.
        self._stale = False
        self.facts = self._open()
        #: The notes on the watch list, one per signal.
        self.watched = self._list_watched()
        if len(self.facts):
            show(self.facts, None)

    def _open(self) -> UserFacts:
        """Open the file if it exists, and return its facts; `problem` explains a failure."""
        self.problem = None
        # Most users have no facts of their own: the reader is loaded only if there is something to read.
        if self.path is None or not os.path.lexists(self.path):
            return UserFacts()
        try:
            self._file = self._open_file(self.path)
        except InputError as error:
            self.problem = error.detach()
            return UserFacts()
        return self._file.facts

    def _list_watched(self) -> tuple[WatchNote, ...]:
        return () if self._file is None else self._file.watched

    @property
    def unreadable(self) -> tuple[Message, ...]:
        """The reason for each row of the file that is set aside."""
        return () if self._file is None else tuple(row.describe() for row in self._file.unreadable)

    @staticmethod
    def _open_file(path: Path) -> UserFile:
        from gpudesk.catalog.user_store.user_file import UserFile

        return UserFile.open(path)

    def close(self) -> None:
        """Close the file; the facts stay valid."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def writable(self) -> bool:
        """Whether facts can be changed: not if the file is unusable or not writable."""
        if self.problem is not None:
            return False
        if self._file is not None or self.path is None:
            return self._file is None or self._file.writable
        from gpudesk.catalog.user_store.file_system import can_write

        return can_write(self.path)

    def subscribe(self, listener: ChangeListener) -> None:
        """Call `listener` after every change has taken effect."""
        self._listeners.append(listener)

    def unsubscribe(self, listener: ChangeListener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    # Steps

    def do(self, edit: FactEdit) -> None:
        """Write a step and put it in effect; raises `InputError` if that fails, without any change."""
        self.adopt(edit, self._write_or_look_again(edit))

    def _write_or_look_again(self, edit: FactEdit) -> UserFacts:
        """Write a step; if another program changed the file, read its changes before refusing."""
        try:
            return self.write(edit)
        except InputError:
            self.read_changes()
            raise

    def write(self, edit: FactEdit) -> UserFacts:
        """Write a step and return the facts after it, not yet in effect; callable from any thread.

        If another program changed the same facts, it is refused; `read_changes` reads the new state.
        """
        if self.path is None:
            return self.facts.after(edit)
        if self.problem is not None:
            raise self.problem
        from gpudesk.catalog.user_store.user_file import ChangedElsewhereError

        file = self._ensure_file(self.path)
        try:
            return file.apply(edit)
        except ChangedElsewhereError:
            self._stale = True
            raise

    def _ensure_file(self, path: Path) -> UserFile:
        """Return the file, which is created with the first step."""
        if self._file is None:
            self._file = self._open_file(path)
        return self._file

    def adopt(self, edit: FactEdit, facts: UserFacts) -> None:
        """Put a written step in effect, so that it can be undone.

        Later written steps take effect as well.
        """
        self._undo_steps.append(edit)
        del self._undo_steps[:-_MOST_UNDO_STEPS]
        self._redo_steps.clear()
        self._replace_facts(facts if self._file is None else self._file.facts, edit)

    def _replace_facts(self, facts: UserFacts, edit: FactEdit | None) -> None:
        things = self._list_things(facts) if edit is None else edit.things
        self.facts = facts
        if edit is None or self._file is not None:
            self.watched = self._list_watched()
        else:
            self.watched = edit.list_notes_after(self.watched)
        if edit is None or edit.changes_facts:
            self._show(facts, edit)
        for listener in tuple(self._listeners):
            listener(things)

    def _list_things(self, facts: UserFacts) -> frozenset[str]:
        both = FactEdit(Message("", ""), before=tuple(self.facts), after=tuple(facts))
        return both.things

    @property
    def undo_text(self) -> Message | None:
        return self._undo_steps[-1].text if self._undo_steps else None

    @property
    def redo_text(self) -> Message | None:
        return self._redo_steps[-1].text if self._redo_steps else None

    def undo(self) -> FactEdit | None:
        """Undo the last step and return it; None without one."""
        if not self._undo_steps:
            return None
        back = self._undo_steps[-1].invert()
        facts = self._write_or_look_again(back)
        self._redo_steps.append(self._undo_steps.pop())
        self._replace_facts(facts, back)
        return self._redo_steps[-1]

    def redo(self) -> FactEdit | None:
        """Redo the last undone step and return it; None without one."""
        if not self._redo_steps:
            return None
        step = self._redo_steps[-1]
        facts = self._write_or_look_again(step)
        self._undo_steps.append(self._redo_steps.pop())
        self._replace_facts(facts, step)
        return step

    # The file

    def read_changes(self) -> bool:
        """Read the changes of another program; return whether there were any.

        Steps stay undoable if the file turns out to hold the same facts.
        """
        if self.path is None or self.problem is not None:
            return False
        if self._file is None:
            # This way an unreadable folder counts as missing.
            if not os.access(self.path, os.F_OK):
                return False
            self._begin_anew()
            return True
        try:
            if not self._stale and not self._file.changed_elsewhere:
                return False
            facts = self._file.reload()
        except InputError:
            # The file was removed or is unreadable now: the data already read stays, and the next step reports the
            # error.
            return False
        self._stale = False
        if dict(facts.facts) == dict(self.facts.facts) and set(self._list_watched()) == set(self.watched):
            return False
        self._forget_steps()
        self._replace_facts(facts, None)
        return True

    @property
    def removed(self) -> bool:
        """Whether the file was removed while in use, so that steps cannot be written."""
        return self.problem is None and self._file is not None and self._file.removed

    def write_anew(self) -> None:
        """Write all facts to a new file, if theirs was removed; raises `InputError` if that fails.

        They stay in effect, and steps stay undoable.
        """
        if self.problem is not None:
            raise self.problem
        if self._file is not None:
            self._file.write_anew()

    # Trusted signers

    def signers(self) -> tuple[TrustedSigner, ...]:
        return () if self._file is None else self._file.signers()

    def trust(self, signer: TrustedSigner) -> None:
        """Trust a signer from now on; raises `InputError` if that cannot be written."""
        if self.problem is not None:
            raise self.problem
        if self.path is not None:
            self._ensure_file(self.path).trust(signer)

    def distrust(self, key: str) -> None:
        """Stop trusting a signer; raises `InputError` if that cannot be written."""
        if self.problem is not None:
            raise self.problem
        if self._file is not None:
            self._file.distrust(key)

    def _forget_steps(self) -> None:
        self._undo_steps.clear()
        self._redo_steps.clear()

    @property
    def backups_folder(self) -> Path | None:
        """The folder of backups; None without a file."""
        return None if self.path is None else self.path.parent / "backups"

    def backups(self) -> tuple[Backup, ...]:
        from gpudesk.catalog.user_store.user_file import list_backups

        return () if self.backups_folder is None else list_backups(self.backups_folder)

    def restore(self, backup: Backup | Path) -> None:
        """Replace the file by a backup, after backing up the file; steps are no longer undoable."""
        from gpudesk.catalog.user_store.user_file import restore_backup

        if self.path is None:
            return
        self.close()
        try:
            restore_backup(self.path, backup if isinstance(backup, Path) else backup.path)
        finally:
            self._begin_anew()

    def set_aside(self) -> Path | None:
        """Move an unusable file out of the way, and return its new path; start without facts."""
        from gpudesk.catalog.user_store.file_system import set_aside

        if self.path is None:
            return None
        self.close()
        try:
            return set_aside(self.path)
        finally:
            self._begin_anew()

    def _begin_anew(self) -> None:
        self._stale = False
        self._forget_steps()
        self._replace_facts(self._open(), None)
