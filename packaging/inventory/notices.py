"""Print the notices for an installation next to its packages, from their own metadata.

A frozen program carries its own notices, written by parts.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudesk.third_party import ThirdPartyWork, list_third_party

HEADING = """\
# Third-party notices

GPU Desk needs the packages below. They are installed with it and keep their licenses. The `dist-info` folder
of each package has the full text of its license. `make notices` writes this page from the installed packages.
Installers of GPU Desk contain more works of others; their `THIRD_PARTY_NOTICES.txt` lists all texts.

| package | version | license | author | home |
| --- | --- | --- | --- | --- |
"""

QT_NOTE = """
Qt is used under the GNU Lesser General Public License, version 3. PySide6-Essentials and shiboken6 contain it as
shared libraries. They are in the installed `PySide6` folder and can be replaced there by other builds of the same
version.
"""

ASSETS_NOTE = """
The resources of GPU Desk contain two works of others, each with its license file:

- `resources/fonts`: Desk Sans, made from Inter by The Inter Project Authors
  (https://github.com/rsms/inter) with frozen tabular figures and fewer scripts; SIL Open Font License 1.1.
- `resources/icons`: icons of Lucide (https://lucide.dev), some from Feather; ISC and MIT.
"""


def rows(listed: Sequence[ThirdPartyWork]) -> Iterator[str]:
    """Yield one table row per package."""
    for part in listed:
        if part.kind == "package":
            cells = (part.name, part.version, part.license, part.author, part.home)
            yield "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print(HEADING + "\n".join(rows(list_third_party())) + "\n" + QT_NOTE + ASSETS_NOTE, end="")
