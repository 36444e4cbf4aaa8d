"""Print the third-party notices: what GPU Desk needs to run, with licences as the packages state them."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "gpudesk"

HEADING = """\
# Third-party notices

GPU Desk needs the packages below. They are installed beside it and keep their own licences; each package
carries the full text of its licence in its `dist-info` folder. `make notices` writes this page from the
installed packages.

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


def needed(name: str, seen: dict[str, Distribution]) -> dict[str, Distribution]:
    """Collect a package's requirements, extras left out, and theirs in turn."""
    for text in distribution(name).requires or []:
        requirement = Requirement(text)
        key = canonicalize_name(requirement.name)
        if key not in seen and _applies(requirement.marker):
            seen[key] = distribution(key)
            needed(key, seen)
    return seen


def rows(packages: dict[str, Distribution]) -> Iterator[str]:
    """Yield a table row a package, by name."""
    for _, package in sorted(packages.items()):
        meta = package.metadata.json
        author = _first(meta, "author", "author_email", "maintainer", "maintainer_email")
        author = re.sub(r"\s*<[^>]*>", "", " ".join(author.split())).replace('"', "")
        cells = (meta["name"], package.version, _licence(meta), author, _home(meta))
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _applies(marker: Marker | None) -> bool:
    return marker is None or marker.evaluate({"extra": ""})


def _first(meta: dict[str, str | list[str]], *fields: str) -> str:
    """Return the first of the fields that is stated, else nothing."""
    return next((str(meta[field]) for field in fields if meta.get(field)), "")


def _licence(meta: dict[str, str | list[str]]) -> str:
    expression = _first(meta, "license_expression")
    classified = [text.rsplit(" :: ", 1)[-1] for text in meta.get("classifier", []) if "License ::" in text]
    return expression or ", ".join(classified) or _first(meta, "license").splitlines()[0]


def _home(meta: dict[str, str | list[str]]) -> str:
    entries = (entry.split(", ", 1) for entry in meta.get("project_url", []))
    by_label = {label.lower(): url for label, url in entries}
    labels = ("homepage", "home", "source", "repository", "source code")
    return next((by_label[label] for label in labels if label in by_label), _first(meta, "home_page"))


if __name__ == "__main__":
    print(HEADING + "\n".join(rows(needed(ROOT, {}))) + "\n" + QT_NOTE + ASSETS_NOTE, end="")
