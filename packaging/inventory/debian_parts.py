"""System libraries in a frozen program that was built on Debian or a derivative."""

from __future__ import annotations

import filecmp
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from license_texts import Text

_COMMON: Final = Path("/usr/share/common-licenses")
_NAMED: Final = re.compile(r"/usr/share/common-licenses/([A-Za-z]+(?:-[\d.]*\d)?)")
_FIELDS: Final = r"${Package}\t${source:Package}\t${source:Version}\t${Homepage}\n"


@dataclass(frozen=True, slots=True)
class SystemPackage:
    """A package of the system: its name, its source package, and the distribution."""

    name: str
    source: str
    version: str
    home: str

    @property
    def source_address(self) -> str:
        """Where the source of exactly this version is published."""
        if _system("ID") == "ubuntu":
            return f"https://launchpad.net/ubuntu/+source/{self.source}/{self.version}"
        return f"https://snapshot.debian.org/package/{self.source}/{self.version}/"

    @property
    def purl(self) -> str:
        """The source package as a package URL."""
        return f"pkg:deb/{_system('ID')}/{self.source}@{quote(self.version, safe='')}?arch=source"

    def texts(self) -> list[Text]:
        """Return the system's license texts of the package, including common ones that it only names."""
        path = Path("/usr/share/doc") / self.name / "copyright"
        if not path.is_file():
            return []
        own = path.read_text("utf-8", errors="replace")
        named = sorted({_COMMON / name for name in _NAMED.findall(own)} & set(_COMMON.iterdir()))
        return [
            Text(f"{self.source}.txt", own),
            *(Text(f"{file.resolve().name}.txt", file.read_text("utf-8")) for file in named),
        ]


def system_name() -> str:
    """Return the name of the system."""
    return _system("PRETTY_NAME")


def packages_of(libraries: Mapping[str, Path]) -> dict[str, SystemPackage]:
    """Return the packages of libraries, which are given by their paths in a tree.

    Only byte-identical files count: a different file of the same name is not the package's.
    """
    if not libraries or shutil.which("dpkg-query") is None:
        return {}
    names = {path.name for path in libraries.values()}
    installed = _installed(names)
    facts = _facts({package for package_names in installed.values() for package in package_names.values()})
    packages = {}
    for place, path in libraries.items():
        for file, package in installed.get(path.name, {}).items():
            if package in facts and file.is_file() and filecmp.cmp(file, path, shallow=False):
                packages[place] = facts[package]
    return packages


def _system(name: str) -> str:
    """Return the system's identification."""
    return platform.freedesktop_os_release().get(name, "linux")


def _installed(names: Iterable[str]) -> dict[str, dict[Path, str]]:
    """Return the installed files of these names with their packages, by file name."""
    output = _dpkg("-S", *(f"*/{name}" for name in sorted(names)))
    paths_by_name: dict[str, dict[Path, str]] = {}
    for line in output.splitlines():
        packages, _, file = line.partition(": ")
        if not line.startswith("diversion"):
            # Several packages share only folders; a file belongs to one, with its architecture.
            paths_by_name.setdefault(Path(file).name, {})[Path(file)] = packages.split(", ")[0].partition(":")[0]
    return paths_by_name


def _facts(packages: Iterable[str]) -> dict[str, SystemPackage]:
    names = sorted(packages)
    lines = _dpkg("-W", "-f", _FIELDS, *names).splitlines() if names else []
    system_packages = (SystemPackage(*line.split("\t")) for line in lines)
    return {package.name: package for package in system_packages}


def _dpkg(*arguments: str) -> str:
    """Return the output of dpkg-query; it omits unknown names here."""
    return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False).stdout
