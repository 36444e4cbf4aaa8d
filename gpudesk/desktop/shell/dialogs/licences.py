"""Whose work the program stands on, with licences, as the installed packages state them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from gpudesk.text import tr

_ROOT = "gpudesk"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"\bextra\s*==")


@dataclass(frozen=True, slots=True)
class Licence:
    """A work of others: its name, its version where it has one, and the terms it comes under."""

    work: str
    version: str
    licence: str


def licences() -> list[Licence]:
    """Return all works that are needed or carried along, by name.

    A program without the records of its packages names those that it carries along, no others.
    """
    found: dict[str, Distribution] = {}
    _collect(_ROOT, found)
    packages = [Licence(package.name, package.version, _terms(package)) for package in found.values()]
    return sorted([*packages, *_carried()], key=lambda each: each.work.casefold())


def version_of(package: str) -> str | None:
    """Return the version of an installed package, None where there is no record of it."""
    found = _distribution(package)
    return None if found is None else found.version


def _carried() -> Iterator[Licence]:
    yield Licence("Qt", "", tr("LGPL-3.0-only, as shared libraries that can be replaced"))
    yield Licence("Inter", "", tr("OFL-1.1, changed and renamed Desk Sans"))
    yield Licence("Lucide", "", tr("ISC and MIT, icons"))


def _collect(name: str, found: dict[str, Distribution]) -> None:
    """Add what a package needs, extras left out, and what that needs in turn."""
    package = _distribution(name)
    for requirement in (package.requires or []) if package is not None else []:
        wanted = _NAME.match(requirement)
        if wanted is None or _EXTRA.search(requirement):
            continue
        key = re.sub(r"[-_.]+", "-", wanted.group()).lower()
        # What is needed on other platforms only is not installed on this one.
        needed = _distribution(key) if key not in found else None
        if needed is not None:
            found[key] = needed
            _collect(key, found)


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _terms(package: Distribution) -> str:
    meta = package.metadata
    if "License-Expression" in meta:
        return meta["License-Expression"]
    classified = [
        text.rsplit(" :: ", 1)[-1] for text in meta.get_all("Classifier") or [] if "License ::" in text
    ]
    stated = meta["License"].partition("\n")[0] if "License" in meta else ""
    return ", ".join(classified) or stated or tr("not stated; see the package")
