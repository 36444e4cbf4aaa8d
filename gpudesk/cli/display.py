"""Whether there is a display to open a window on; Qt itself would end the process without one."""

from __future__ import annotations

import os
import re
import sys
from typing import Final

from gpudesk.text import tr

#: Platforms of Qt that draw without a display.
_NEED_NONE: Final = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")
_LOCAL: Final = re.compile(r"(?:unix)?:(\d+)(?:\.\d+)?")
_WAIT_S: Final = 2.0


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
    if local is not None and not _answers(int(local.group(1))):
        return tr("the display {name} cannot be reached", name=display)
    return None


def _answers(number: int) -> bool:
    """Whether an X server listens under a number on this machine, by file or by abstract name."""
    import socket

    path = f"/tmp/.X11-unix/X{number}"
    for address in (path, f"\0{path}"):
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(_WAIT_S)
            try:
                asked.connect(address)
            except OSError:
                continue
            return True
    return False
