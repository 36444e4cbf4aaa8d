"""Between a window and its panel of sources and working: loaded after the first page, shown and hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpudesk.desktop.after_paint import after_paint

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow
    from gpudesk.desktop.pages.page import Page


class PanelLink:
    """Makes the panel when it is first needed, and hands on what it asks for."""

    def __init__(self, window: MainWindow) -> None:
        """Load nothing yet."""
        self._window = window
        self._body = window.body

    def load_after(self, page: Page) -> None:
        """Load the panel once a page is painted, and keep its place free until then."""
        if self._body.panel is None:
            self._body.hold_place()
            after_paint(page, self._load)

    def _load(self) -> None:
        if self._body.panel is not None:
            return
        from gpudesk.desktop.panel.panel import SourcesPanel

        window = self._window
        panel = SourcesPanel(window.desk, window.theme, window.settings, self._body)
        panel.close_requested.connect(lambda: self._body.show_panel(shown=False))
        panel.editor_requested.connect(window.catalog.open_editor)
        panel.failed.connect(window.catalog.say_not_done)
        self._body.set_panel(panel)

    @property
    def shown(self) -> bool:
        """Whether the panel is to be seen."""
        return self._body.panel_shown

    def toggle(self) -> None:
        """Show or hide the panel."""
        if self._body.panel is None:
            self._load()
            self._body.show_panel(shown=True)
        else:
            self._body.show_panel(not self.shown)
