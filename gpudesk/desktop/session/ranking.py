"""Whether announced parts are ranked beside shipping ones: the user's choice, for all windows."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings

#: The name of the setting.
RANK_ANNOUNCED: Final = "ranking.announced"


class Ranking(QObject):
    """Keeps the answers of a desk to the choice in the settings."""

    def __init__(self, desk: Desk, settings: Settings, parent: QObject) -> None:
        """Put the choice in force, and each later one as it is made."""
        super().__init__(parent)
        self._desk = desk
        self._settings = settings
        desk.workbench.rank_announced = self.announced
        settings.changed.connect(self._changed)

    @property
    def announced(self) -> bool:
        """Whether announced parts are ranked too."""
        return self._settings.get(RANK_ANNOUNCED, default=False)

    def toggle(self) -> None:
        """Rank announced parts, or no longer."""
        self._settings.put(RANK_ANNOUNCED, not self.announced)

    def _changed(self, name: str) -> None:
        if name == RANK_ANNOUNCED:
            self._desk.workbench.rank_announced = self.announced
            self._desk.evaluate()
