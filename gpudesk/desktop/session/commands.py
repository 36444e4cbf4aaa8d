"""Undo: one command for every edit of the scenario, the edits of one gesture merged into one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QUndoCommand

from gpudesk.domain.scenarios import Scenario

#: Any number but -1 lets Qt offer a command to the one before it for merging.
_MERGEABLE = 1


class EditScenario(QUndoCommand):
    """Puts one scenario in the place of another. Edits of the same `gesture` become one step."""

    def __init__(
        self,
        before: Scenario,
        after: Scenario,
        text: str,
        gesture: str | None,
        show: Callable[[Scenario], None],
    ) -> None:
        """Keep both states; `show` puts one in force."""
        super().__init__(text)
        self.before = before
        self.after = after
        self.gesture = gesture
        self._show = show

    def id(self) -> int:
        """Say whether this command may be merged with others."""
        return -1 if self.gesture is None else _MERGEABLE

    def redo(self) -> None:
        """Put the later state in force."""
        self._show(self.after)

    def undo(self) -> None:
        """Put the former state in force."""
        self._show(self.before)

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802 - Qt's name
        """Take a later edit of the same gesture in; a gesture that ends where it began vanishes."""
        if not isinstance(other, EditScenario) or other.gesture != self.gesture:
            return False
        self.after = other.after
        self.setText(other.text())
        self.setObsolete(self.after == self.before)
        return True
