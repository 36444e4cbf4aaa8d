"""Whether there is a display, asked of a real X server."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Iterator

import pytest

from gpudesk.cli import main
from gpudesk.cli.main import find_display_problem
from tests.e2e.x_session import x_server

pytestmark = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs an X server")


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of a display that no one else uses."""
    monkeypatch.setattr(main, "_connected_displays", set())
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with x_server() as started:
        monkeypatch.setenv("DISPLAY", started)
        yield started


@pytest.mark.usefixtures("name")
def test_display_is_detected() -> None:
    assert find_display_problem() is None


def test_connection_after_the_check_is_accepted(name: str) -> None:
    """A server begins again when its last client leaves, and for a moment lets no one in."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    for function in (xcb.xcb_connection_has_error, xcb.xcb_disconnect):
        function.argtypes = [ctypes.c_void_p]
    assert find_display_problem() is None
    for _ in range(200):
        connection = xcb.xcb_connect(name.encode(), None)
        assert not xcb.xcb_connection_has_error(connection)
        xcb.xcb_disconnect(connection)


def test_missing_display_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    other = f":{int(name[1:]) + 1}"
    monkeypatch.setenv("DISPLAY", other)
    assert find_display_problem() == f"cannot connect to display {other}"
