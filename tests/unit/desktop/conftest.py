"""What tests of the window share: the application's theme, light and at 100 % when a test begins."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
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


@pytest.fixture(autouse=True)
def _widgets_go_with_their_test(qapp: QApplication) -> Iterator[None]:
    """Delete the widgets of a test when it ends.

    No event loop runs here that would do so. Left to the garbage collector, they would go while Qt walks over
    them in a later test.
    """
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True, scope="session")
def _clipboard_is_emptied(qapp: QApplication) -> Iterator[None]:
    """Empty the clipboard at the end: without a screen Qt deletes what it holds after Python has gone."""
    yield
    qapp.clipboard().clear()
