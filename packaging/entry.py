"""Entry point of a frozen program."""

import os
import sys
from importlib import import_module


def hold_modules() -> None:
    """Read modules from the executable that was started, even after an upgrade has replaced it.

    PyInstaller opens it by its path each time, and fails on the content of another one. Only Linux replaces running
    files, and there an open file can be reopened by its number.
    """
    if sys.platform != "linux":
        return
    archive = import_module("pyimod02_importers").pyz_archive
    file_descriptor = os.open(archive._filename, os.O_RDONLY | os.O_CLOEXEC)  # noqa: SLF001 - no public attribute has it
    by_number = f"/proc/self/fd/{file_descriptor}"
    if os.access(by_number, os.R_OK):
        archive._filename = by_number  # noqa: SLF001


hold_modules()

from gpudesk.cli.main import main  # noqa: E402 - read from what is held

sys.exit(main())
