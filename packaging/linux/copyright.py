"""The machine-readable copyright file of the Debian package (DEP-5), from the list of parts of a frozen tree.

    copyright.py PARTS.json SECONDS

SECONDS of Unix time are the year of the program itself.
"""

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_PROGRAM = "GPU Desk"
#: Folder of the component texts once the package is installed.
_TEXTS = "/usr/lib/gpudesk/_internal/gpudesk/_bundled/licenses"
#: Texts included in every Debian, by SPDX name.
_COMMON = {
    "Apache-2.0": "Apache-2.0",
    "CC0-1.0": "CC0-1.0",
    "GPL-2.0-only": "GPL-2",
    "GPL-2.0-or-later": "GPL-2",
    "GPL-3.0-only": "GPL-3",
    "GPL-3.0-or-later": "GPL-3",
    "LGPL-2.1-only": "LGPL-2.1",
    "LGPL-2.1-or-later": "LGPL-2.1",
    "LGPL-3.0-only": "LGPL-3",
    "MPL-2.0": "MPL-2.0",
}
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


def copyright_file(parts: list[dict[str, Any]], year: int) -> str:
    """Return the file: the program itself, all components, and the licenses by name."""
    others = sorted(
        (part for part in parts if part["name"] != _PROGRAM),
        key=lambda part: (part["name"].casefold(), part.get("version", "")),
    )
    names = sorted({name for part in others for name in licenses(part["license"])} | {"Apache-2.0"})
    header = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: {_PROGRAM}\n"
        "Comment: The package carries the libraries that the program was tested with. Each is listed\n"
        f" below; the texts of their licenses lie in {_TEXTS}."
    )
    ours = f"Files: *\nCopyright: {year} {_PROGRAM} maintainers\nLicense: Apache-2.0"
    theirs = (
        "Files: usr/lib/gpudesk/_internal/*\n"
        f"Copyright: {_folded([_holder(part) for part in others])}\n"
        f"License: {' and '.join(names)}\n"
        f"Comment: {_folded([_described(part) for part in others])}"
    )
    paragraphs = [header, ours, theirs, *(f"License: {name}\n {_where(name)}" for name in names)]
    return "\n\n".join(paragraphs)


def licenses(expression: str) -> list[str]:
    """Return the licenses named by an SPDX expression; an exception belongs to the license before it."""
    names: list[str] = []
    words = _NAME.findall(expression)
    for at, word in enumerate(words):
        if at and words[at - 1] == "WITH":
            # The format has no field for this exception's name: it is in the component's description.
            continue
        if word not in ("AND", "OR", "WITH"):
            names.append(word)
    return names


def _holder(part: dict[str, Any]) -> str:
    """Return a component's copyright holder on one line."""
    holder = "; ".join(part.get("copyright") or ()) or part.get("author") or f"the authors of {part['name']}"
    return f"{part['name']}: {' '.join(holder.split())}"


def _described(part: dict[str, Any]) -> str:
    work = f"{part['name']} {part.get('version', '')}".rstrip()
    return f"{work}: {part['license']}" + (f", {part['home']}" if part.get("home") else "")


def _folded(lines: list[str]) -> str:
    """Return lines as the value of a field, each on its own."""
    return "\n " + "\n ".join(lines)


def _where(name: str) -> str:
    common = _COMMON.get(name)
    if common is not None:
        return f"On Debian systems the text is /usr/share/common-licenses/{common}."
    return f"The text lies in {_TEXTS}."


def main(arguments: list[str]) -> int:
    """Write the file on standard output."""
    if len(arguments) != 2:
        print("usage: copyright.py PARTS.json SECONDS", file=sys.stderr)
        return 2
    parts = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    print(copyright_file(parts, datetime.fromtimestamp(int(arguments[1]), UTC).year))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
