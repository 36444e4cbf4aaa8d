"""Python packages of the freezing environment, and what is compiled into them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from importlib.metadata import distributions, packages_distributions
from pathlib import Path
from typing import Any

from license_texts import Text, texts_for

from gpudesk.third_party import ThirdPartyWork, describe_package

_RECORDS = ".dist-info/"
#: Folder for lists of what was compiled into a package (PEP 770).
_LISTS = ".dist-info/sboms/"


class PythonPackages:
    """Finds the package of a file or of a module."""

    def __init__(self) -> None:
        """Read the installed packages."""
        self._packages = {package.name: package for package in distributions() if package.name}

    def package_of(self, place: str) -> str | None:
        """Return the package of an installed file by its path among the packages."""
        return self._owners.get(place)

    def packages_of_module(self, name: str) -> list[str]:
        """Return the packages of a module, whose first name several can share."""
        return self._tops.get(name.partition(".")[0], [])

    def part(self, name: str) -> tuple[ThirdPartyWork, list[Text]]:
        """Return a package by its metadata, with its license texts."""
        package = describe_package(self._packages[name])
        files = map(Path, package.texts)
        texts = [Text(f"{package.name}-{file.name}", file.read_text("utf-8", "replace")) for file in files]
        return replace(package, texts=()), texts or texts_for(package.license)

    def compiled_in(self, name: str) -> Iterator[ThirdPartyWork]:
        """Yield the components in the package's own lists, without build tools."""
        package = self._packages[name]
        for file in package.files or []:
            if _LISTS in file.as_posix() and file.name.endswith((".cdx.json", ".cyclonedx.json")):
                listed = json.loads(Path(str(package.locate_file(file))).read_text("utf-8"))
                for component in listed.get("components", []):
                    if component.get("scope", "required") == "required":
                        yield _component(component, within=describe_package(package).name)

    @cached_property
    def _owners(self) -> dict[str, str]:
        return {file.as_posix(): name for name, package in self._packages.items() for file in package.files or []}

    @cached_property
    def _tops(self) -> dict[str, list[str]]:
        names_by_top = {top: sorted(set(names)) for top, names in packages_distributions().items()}
        return {top: [name for name in names if name in self._packages] for top, names in names_by_top.items()}


def is_a_record(place: str) -> bool:
    """Whether a file is only metadata of a package, which need not be there itself."""
    return _RECORDS in place


def _component(component: dict[str, Any], within: str) -> ThirdPartyWork:
    """Return an entry of a package's list as a component."""
    licenses = [
        entry.get("expression") or entry.get("license", {}).get("id") or entry.get("license", {}).get("name", "")
        for entry in component.get("licenses", [])
    ]
    references = component.get("externalReferences", [])
    homes = {entry.get("type"): entry.get("url", "") for entry in references}
    return ThirdPartyWork(
        name=component["name"],
        version=component.get("version", ""),
        license=" AND ".join(licenses),
        author=_without_addresses(component.get("author", "")),
        home=homes.get("website") or homes.get("vcs") or "",
        kind="library",
        within=within,
        purl=component.get("purl", ""),
    )


def _without_addresses(authors: str) -> str:
    return ", ".join(author.partition("<")[0].strip() for author in authors.split(",") if author.strip())
