"""Print the notices for who installs GPU Desk with its packages beside it: what those state of themselves.

A frozen program carries its own, which parts.py writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudesk.third_party import ThirdPartyWork, list_third_party

HEADING = """\
# Third-party notices

GPU Desk needs the packages below. They are installed beside it and keep their own licences; each package
carries the full text of its licence in its `dist-info` folder. `make notices` writes this page from the
installed packages. Installers of GPU Desk carry more works of others, and bring a list of their own with all
texts, `THIRD_PARTY_NOTICES.txt`.

| package | version | licence | author | home |
| --- | --- | --- | --- | --- |
"""

QT_NOTE = """
Qt, which PySide6-Essentials and shiboken6 carry as shared libraries, is used under the GNU Lesser General
Public License, version 3. The libraries lie in the installed `PySide6` folder and can be replaced there by
other builds of the same version.
"""

ASSETS_NOTE = """
Two works of others lie among the resources of GPU Desk itself, each with its licence file:

- `resources/fonts`: Desk Sans, made from Inter by The Inter Project Authors
  (https://github.com/rsms/inter) by freezing tabular figures and leaving out scripts; SIL Open Font
  License 1.1.
- `resources/icons`: icons of Lucide (https://lucide.dev), in parts from Feather; ISC and MIT.
"""


def rows(listed: Sequence[ThirdPartyWork]) -> Iterator[str]:
    """Yield a table row a package."""
    for part in listed:
        if part.kind == "package":
            cells = (part.name, part.version, part.licence, part.author, part.home)
            yield "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print(HEADING + "\n".join(rows(list_third_party())) + "\n" + QT_NOTE + ASSETS_NOTE, end="")
