"""Whether there is a display to open a window on; Qt itself would end the process without one."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import Final

from gpudesk.text import tr

#: Platforms of Qt that draw without a display.
_NEED_NONE: Final = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")
_LOCAL: Final = re.compile(r"(?:unix)?:(\d+)(?:\.\d+)?")
#: How long a server that turns us away is asked again, and how often.
_PATIENCE_S: Final = 0.5
_AGAIN_S: Final = 0.02
#: The displays that a connection is held to.
_held: Final[set[int]] = set()


def display_problem() -> str | None:
    """Say why no window can be opened, or None where one can."""
    if not sys.platform.startswith("linux"):
        return None
    platform = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if platform in _NEED_NONE or os.environ.get("WAYLAND_DISPLAY"):
        return None
    display = os.environ.get("DISPLAY", "")
    if not display:
        return tr("there is no display to open a window on")
    local = _LOCAL.fullmatch(display)
    try:
        if local is None or _lets_us_in(int(local.group(1))):
            return None
    except OSError as error:
        return tr("Qt cannot be loaded ({reason})", reason=error)
    return tr("the display {name} cannot be reached", name=display)


def _lets_us_in(number: int) -> bool:
    """Ask the X server of a number with the library that Qt asks it with; OSError where that is missing.

    A server whose last client has gone begins anew, and turns away whoever comes meanwhile. So it is asked
    again for a moment, and the connection is held until the program ends, or Qt might be turned away.
    """
    import ctypes

    if number in _held:
        return True
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    for name in ("xcb_connection_has_error", "xcb_disconnect"):
        getattr(xcb, name).argtypes = [ctypes.c_void_p]
    end = time.monotonic() + _PATIENCE_S
    while True:
        # By this name the library looks on this machine alone; without the slash, newer ones refuse it.
        connection = xcb.xcb_connect(f"unix/:{number}".encode(), None)
        if not xcb.xcb_connection_has_error(connection):
            _held.add(number)
            return True
        xcb.xcb_disconnect(connection)
        if time.monotonic() > end:
            return False
        time.sleep(_AGAIN_S)
