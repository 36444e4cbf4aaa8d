"""An X session of the test's own, and what someone needs who reads the program there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SYSTEM_PYTHON: Final = Path("/usr/bin/python3")
SCRIPT: Final = Path(__file__).with_name("screen_reader.py")
_LAUNCHERS: Final = (Path("/usr/libexec/at-spi-bus-launcher"), Path("/usr/lib/at-spi2-core/at-spi-bus-launcher"))


def missing_packages() -> list[str]:
    """Return what packaging/setup_debian.sh would have installed and is not here."""
    programs = {"Xvfb": "xvfb", "dbus-run-session": "dbus-daemon"}
    missing = [package for program, package in programs.items() if shutil.which(program) is None]
    if not any(launcher.exists() for launcher in _LAUNCHERS):
        missing.append("at-spi2-core")
    completed = subprocess.run([SYSTEM_PYTHON, "-c", "import pyatspi"], capture_output=True, check=False)
    return missing if completed.returncode == 0 else [*missing, "python3-pyatspi"]


@contextmanager
def x_server() -> Iterator[str]:
    """Start an X server without a screen; give the name of its display."""
    reading, writing = os.pipe()
    # A number of its own: a server in a namespace looks from 0 on, and takes the socket of one out here.
    number = f":{1000 + os.getpid() % 50_000}"
    command = ["Xvfb", number, "-displayfd", str(writing)]
    command += ["-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as display:
            yield f":{display.readline().strip()}"
    finally:
        server.terminate()
        server.wait(timeout=20)
