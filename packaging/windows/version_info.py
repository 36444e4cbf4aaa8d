"""What Windows shows of an executable under Properties, Details.

The spec file makes two executables of one analysis, a console one and a windowed one, since on Windows a
program is either the one or the other, and writes this resource for each:

    PROGRAMS = (("gpudesk", True), ("gpudesk-gui", False))                # name, console
    version=str(write_version_info(Path(workpath), gpudesk.__version__, f"{name}.exe")),
    manifest=str(HERE / "windows" / "gpudesk.manifest"),
"""

from __future__ import annotations

import re
from pathlib import Path

COMPANY = "GPU Desk maintainers"
COPYRIGHT = "Licensed under the Apache License, Version 2.0"
_PARTS = 4

#: American English in Unicode: language and character set of the only table, in both notations.
_TABLE = "040904B0"
_TRANSLATION = (0x0409, 0x04B0)


def four_numbers(version: str) -> tuple[int, ...]:
    """Return a version as the four numbers that Windows compares; suffixes are left out."""
    match = re.match(r"\d+(?:\.\d+){0,3}", version)
    if match is None:
        raise ValueError(f"the version {version!r} does not begin with a number")
    numbers = [int(number) for number in match[0].split(".")]
    return tuple(numbers + [0] * (_PARTS - len(numbers)))


def version_info(version: str, file_name: str) -> str:
    """Return the version resource of one executable in PyInstaller's text form."""
    numbers = four_numbers(version)
    strings = {
        "CompanyName": COMPANY,
        # The name in the task manager.
        "FileDescription": "GPU Desk",
        "FileVersion": version,
        "InternalName": Path(file_name).stem,
        "LegalCopyright": COPYRIGHT,
        "OriginalFilename": file_name,
        "ProductName": "GPU Desk",
        "ProductVersion": version,
    }
    table = ", ".join(f"StringStruct({name!r}, {text!r})" for name, text in strings.items())
    # 0x40004: 32-bit and 64-bit Windows NT; 1: an application.
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0x0,"
        " OS=0x40004, fileType=0x1, subtype=0x0, date=(0, 0)), kids=["
        f"StringFileInfo([StringTable({_TABLE!r}, [{table}])]),"
        f" VarFileInfo([VarStruct('Translation', [{_TRANSLATION[0]}, {_TRANSLATION[1]}])])])\n"
    )


def write_version_info(folder: Path, version: str, file_name: str) -> Path:
    """Write the version resource of one executable into a folder, and return the file."""
    target = folder / f"{file_name}.version"
    target.write_text(version_info(version, file_name), encoding="utf-8")
    return target
