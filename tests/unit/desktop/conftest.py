"""What tests of the window share: the application's theme, light and at 100 % when a test begins."""

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.theme.theme import LIGHT, Theme


@pytest.fixture(scope="session")
def _theme_of_session(qapp: QApplication) -> Theme:
    return Theme(qapp, LIGHT)


@pytest.fixture
def theme(_theme_of_session: Theme) -> Theme:
    """Return the theme of the application, as it is at first."""
    _theme_of_session.set_preference(LIGHT)
    _theme_of_session.set_font_percent(100)
    return _theme_of_session
