"""Third-party packages of the program, with versions and licenses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, fields
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from gpudesk import paths
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import tr

#: The program's own name in the list.
PROGRAM: Final = "GPU Desk"

_ROOT: Final = "gpudesk"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA: Final = re.compile(r"\bextra\s*==")
_ADDRESS: Final = re.compile(r"\s*<[^>]*>")
#: Metadata files of a package that hold its license.
_TERMS: Final = re.compile(r"\.dist-info/(licenses/|[^/]*(licen[cs]e|copying|notice)[^/]*$)", re.IGNORECASE)
#: Older packages use this field for free text; some put an SPDX expression there.
_EXPRESSION: Final = re.compile(r"[\w.+-]+( (OR|AND|WITH) [\w.+-]+)*")
_HOMES: Final = ("homepage", "home", "source", "repository", "source code")
#: Trove classifiers with an unambiguous SPDX name. Others are too vague.
_CLASSIFIED: Final = {
    "Apache Software License": "Apache-2.0",
    # The usual license of this name.
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


@frozen_dataclass
class ThirdPartyWork:
    """One component: its name, version and license (an SPDX expression), its owner, and its source.

    `within` names the component that it is compiled into, `purl` the exact release in a registry. `texts` are files:
    next to the list in a frozen program, else full paths.
    """

    name: str
    version: str = ""
    license: str = ""
    author: str = ""
    home: str = ""
    kind: str = "package"
    within: str = ""
    purl: str = ""
    copyright: tuple[str, ...] = ()
    note: str = ""
    texts: tuple[str, ...] = ()

    @property
    def work(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    def record(self) -> dict[str, Any]:
        return asdict(self)


def list_third_party() -> list[ThirdPartyWork]:
    """Return the components of this program, itself first, the others by name."""
    listed = paths.find_parts_path()
    works = list_installed() if listed is None else read_third_party(listed)
    return sorted(works, key=lambda part: (part.name != PROGRAM, part.name.casefold(), part.version))


def read_third_party(path: Path) -> list[ThirdPartyWork]:
    """Read a list of components; an unreadable one is an empty list, because the program still works."""
    field_names = {field.name for field in fields(ThirdPartyWork)}
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        return [
            _make_component({name: value for name, value in record.items() if name in field_names})
            for record in records
        ]
    except (OSError, ValueError, TypeError, AttributeError):
        return []


def make_license_text(part: ThirdPartyWork) -> str:
    """Return the full license of a component: owner, notices, and texts."""
    listed = paths.find_parts_path()
    folder = Path() if listed is None else listed.parent
    texts = [text for name in part.texts if (text := _read_text(folder / name))]
    blocks = ["\n".join(part.copyright), part.note, *texts]
    return "\n\n".join(each.strip("\n") for each in blocks if each.strip())


def list_installed() -> list[ThirdPartyWork]:
    """Return the program, all packages that it needs directly or indirectly, and vendored works."""
    distributions: dict[str, Distribution] = {}
    _collect(_ROOT, distributions)
    return [_describe_program(), *map(describe_package, distributions.values()), *_list_bundled_works()]


def get_package_version(package: str) -> str | None:
    distribution = _find_distribution(package)
    return None if distribution is None else distribution.version


def describe_package(package: Distribution) -> ThirdPartyWork:
    meta = package.metadata
    author = next(
        (text for field in ("Author", "Author-email", "Maintainer", "Maintainer-email") if (text := meta[field])), ""
    )
    texts = sorted(str(package.locate_file(file)) for file in package.files or [] if _TERMS.search(file.as_posix()))
    name = meta["Name"]
    entries = (entry.split(", ", 1) for entry in package.metadata.get_all("Project-URL") or [])
    by_label = {label.lower(): url for label, url in entries}
    home_page = package.metadata["Home-page"] or ""
    return ThirdPartyWork(
        name=name,
        version=package.version,
        license=find_license_terms(package),
        author=_ADDRESS.sub("", " ".join(author.split())).replace('"', ""),
        home=next((by_label[label] for label in _HOMES if label in by_label), home_page),
        purl=f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{package.version}",
        texts=tuple(texts),
    )


def find_license_terms(package: Distribution) -> str:
    """Return a package's license as an SPDX expression; empty if it does not state one clearly."""
    meta = package.metadata
    if meta["License-Expression"]:
        return str(meta["License-Expression"])
    terms = (meta["License"] or "").strip()
    if _EXPRESSION.fullmatch(terms):
        return terms
    names = [text.rsplit(" :: ", 1)[-1] for text in meta.get_all("Classifier") or [] if "License ::" in text]
    licenses = [_CLASSIFIED[name] for name in names if name in _CLASSIFIED]
    return " AND ".join(licenses) if len(licenses) == len(names) else ""


def _describe_program() -> ThirdPartyWork:
    package = _find_distribution(_ROOT)
    home = paths.data_dir()
    work = describe_package(package) if package is not None else ThirdPartyWork(PROGRAM)
    texts = work.texts if home is None else (str(home.parent / "LICENSE"),)
    return ThirdPartyWork(PROGRAM, work.version, "Apache-2.0", kind="program", texts=texts)


def _list_bundled_works() -> Iterator[ThirdPartyWork]:
    """Yield works inside packages or resources that no package metadata names."""
    yield ThirdPartyWork(
        "Qt",
        get_package_version("PySide6_Essentials") or "",
        "LGPL-3.0-only",
        "The Qt Company",
        "https://www.qt.io",
        kind="library",
        note=tr("Its shared libraries are in the PySide6 folder, where you can replace them."),
    )
    yield ThirdPartyWork(
        "Inter",
        license="OFL-1.1",
        author="The Inter Project Authors",
        home="https://github.com/rsms/inter",
        kind="asset",
        note=tr("Modified and renamed Desk Sans."),
        texts=(str(paths.get_resources_dir() / "fonts" / "LICENSE"),),
    )
    yield ThirdPartyWork(
        "Lucide",
        license="ISC AND MIT",
        author="Lucide Icons and Contributors",
        home="https://lucide.dev",
        kind="asset",
        note=tr("Icons, partly from Feather."),
        texts=(str(paths.get_resources_dir() / "icons" / "LICENSE"),),
    )


def _collect(name: str, distributions: dict[str, Distribution]) -> None:
    package = _find_distribution(name)
    for requirement in (package.requires or []) if package is not None else []:
        match = _NAME.match(requirement)
        if match is None or _EXTRA.search(requirement):
            continue
        key = re.sub(r"[-_.]+", "-", match.group()).lower()
        # Packages needed only on other platforms are not installed here.
        needed = _find_distribution(key) if key not in distributions else None
        if needed is not None:
            distributions[key] = needed
            _collect(key, distributions)


def _find_distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _make_component(record: dict[str, Any]) -> ThirdPartyWork:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    return ThirdPartyWork(**values)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
