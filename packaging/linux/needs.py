"""What the libraries of a frozen tree need of the system, and which links among them are ever followed.

    needs.py depends TREE     the packages of this Debian that the tree needs, as fields of a control file
    needs.py packages TREE    the packages without which no window opens, on a line
    needs.py glibc TREE       the oldest C library that will do
    needs.py links TREE       the links of the tree that the loader needs, with what they stand for; all
                              others only repeat under another name what is found without them

Needs objdump, and for `depends` a system of dpkg on which the libraries are installed. The start names
`_internal` in LD_LIBRARY_PATH; in addition, libraries name folders of their own.
"""

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: Library paths, as packages list them.
_SYSTEM_FOLDERS = re.compile(r"(?:/usr)?/lib(?:64)?(?:/x86_64-linux-gnu)?")
#: Qt plugins required for a window on X11, or for drawing in memory.
_NEEDED_PLUGINS = ("platforms/libqxcb", "platforms/libqoffscreen", "iconengines/", "imageformats/")
_PLUGINS = "PySide6/Qt/plugins/"
#: An executable, or a Python module: every other file is there because one of these needs it.
_MODULE = re.compile(r".*\.(?:cpython-\S+|abi3)\.so")
#: Bundled libraries that read the system's data.
_DATA = {"libX11.so.6": "libx11-data", "libfontconfig.so.1": "fontconfig-config", "libxkbcommon.so.0": "xkb-data"}
#: Renamed in Debian 13 and Ubuntu 24.04 for a change that does not affect 64-bit systems: either is fine.
_RENAMED = ("libcups2", "libglib2.0-0", "libssl3")
#: Recommended besides libraries: tools that open files and folders, and the file type database.
_RECOMMENDED = ("shared-mime-info", "xdg-utils")


@dataclass(frozen=True)
class Library:
    """An ELF file: its required libraries and its search paths."""

    path: Path
    needed: tuple[str, ...]
    folders: tuple[str, ...]
    glibc: tuple[int, ...]


class Tree:
    """A frozen tree with its libraries."""

    def __init__(self, folder: Path) -> None:
        """Read all of them."""
        self.folder = folder
        self.libraries = {path: read(path) for path in elf_files(folder)}

    def place(self, path: Path) -> str:
        """Return the path of a file in `_internal`, or its name at the top."""
        place = path.relative_to(self.folder).as_posix()
        return place.removeprefix("_internal/")

    def candidates(self, library: Library, name: str) -> Iterator[Path]:
        """Return the paths under which the loader would find a library, in search order."""
        own = [folder.replace("$ORIGIN", str(library.path.parent)) for folder in library.folders]
        for folder in (*own, str(self.folder / "_internal")):
            path = Path(os.path.normpath(Path(folder) / name))
            if path.is_relative_to(self.folder) and path.exists():
                yield path

    def find_library(self, library: Library, name: str) -> Library | None:
        """Return the library of the tree that the loader uses; None if it uses the system's."""
        path = next(self.candidates(library, name), None)
        return None if path is None else self.libraries.get(path.resolve())

    @functools.cached_property
    def required(self) -> frozenset[Path]:
        """The files required to start the program and open a window."""
        waiting = [library for path, library in self.libraries.items() if self._is_root(path)]
        reached = {library.path for library in waiting}
        while waiting:
            library = waiting.pop()
            for name in library.needed:
                other = self.find_library(library, name)
                if other is not None and other.path not in reached:
                    reached.add(other.path)
                    waiting.append(other)
        return frozenset(reached)

    def _is_root(self, path: Path) -> bool:
        place = self.place(path)
        if place.startswith(_PLUGINS):
            return place.removeprefix(_PLUGINS).startswith(_NEEDED_PLUGINS)
        return ("/" not in place and ".so" not in place) or _MODULE.fullmatch(place) is not None

    def of_the_system(self, *, required: bool) -> dict[str, set[str]]:
        """Return the required system libraries, with the files that need them."""
        names_by_library: dict[str, set[str]] = {}
        for path, library in self.libraries.items():
            if (path in self.required) is required:
                for name in library.needed:
                    if self.find_library(library, name) is None:
                        names_by_library.setdefault(name, set()).add(self.place(path))
        return names_by_library

    def glibc(self) -> tuple[int, ...]:
        """Return the newest version of the C library required by any file."""
        return max(library.glibc for library in self.libraries.values())

    def followed_links(self) -> dict[Path, Path]:
        """Return the links required to find a library."""
        followed: dict[Path, Path] = {}
        for library in self.libraries.values():
            for name in library.needed:
                paths = list(self.candidates(library, name))
                if paths and all(path.is_symlink() for path in paths):
                    followed[paths[0]] = paths[0].resolve()
        return followed


def elf_files(folder: Path) -> Iterator[Path]:
    """Return the executables and libraries of a folder, without links."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path.resolve()


def read(path: Path) -> Library:
    """Return objdump's information on a file."""
    output = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    folders = re.findall(r"^\s+(?:RPATH|RUNPATH)\s+(\S+)", output, re.MULTILINE)
    versions = re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)", output)
    return Library(
        path,
        tuple(re.findall(r"^\s+NEEDED\s+(\S+)", output, re.MULTILINE)),
        tuple(folder for group in folders for folder in group.split(":")),
        max((tuple(map(int, version.split("."))) for version in versions), default=(0,)),
    )


def package_of(name: str) -> str:
    """Return the package of this system with a library."""
    output = subprocess.run(["dpkg", "-S", f"*/{name}"], capture_output=True, text=True, check=False).stdout
    for line in output.splitlines():
        packages, _, path = line.partition(": ")
        place = PurePosixPath(path)
        if place.name == name and _SYSTEM_FOLDERS.fullmatch(str(place.parent)):
            return packages.partition(",")[0].partition(":")[0]
    raise LookupError(name)


def packages_of(names_by_library: dict[str, set[str]]) -> set[str]:
    """Return the packages of libraries; ends the program if one of them is not installed here."""
    packages = set()
    for name, files in sorted(names_by_library.items()):
        try:
            packages.add(package_of(name))
        except LookupError:
            some = ", ".join(sorted(files)[:3])
            raise SystemExit(f"{name}, for {some}, is of no package that is installed here: install it") from None
    return packages


def write_dependencies(packages: set[str], glibc: tuple[int, ...]) -> str:
    """Return packages in the syntax of a control file."""
    entries = []
    for package in sorted(packages):
        old = package.removesuffix("t64")
        if package == "libc6":
            entries.append(f"libc6 (>= {'.'.join(map(str, glibc))})")
        elif old in _RENAMED:
            entries.append(f"{old}t64 | {old}")
        else:
            entries.append(package)
    return ", ".join(entries)


def required_packages(tree: Tree) -> set[str]:
    """Return the packages required to open a window."""
    data = {package for name, package in _DATA.items() if (tree.folder / "_internal" / name).exists()}
    return packages_of(tree.of_the_system(required=True)) | data


def packages(tree: Tree) -> str:
    """Return the packages to install with apt for a tree without its own package; every system has libc6."""
    return " ".join(sorted(package.removesuffix("t64") for package in required_packages(tree) - {"libc6"}))


def glibc(tree: Tree) -> str:
    """Return the oldest sufficient version of the C library."""
    return ".".join(map(str, tree.glibc()))


def depends(tree: Tree) -> str:
    """Return the fields Depends and Recommends."""
    required = required_packages(tree)
    optional = packages_of(tree.of_the_system(required=False)) | set(_RECOMMENDED)
    depends, recommends = (write_dependencies(each, tree.glibc()) for each in (required, optional - required))
    return f"Depends: {depends}\nRecommends: {recommends}"


def links(tree: Tree) -> str:
    """Return the required links, one per line: the link, a tab, the file."""
    lines = [
        f"{link.relative_to(tree.folder)}\t{target.relative_to(tree.folder)}"
        for link, target in sorted(tree.followed_links().items())
    ]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Answer one question about a tree."""
    questions = {"depends": depends, "packages": packages, "glibc": glibc, "links": links}
    if len(arguments) != 2 or arguments[0] not in questions:
        print("usage: needs.py depends|packages|glibc|links TREE", file=sys.stderr)
        return 2
    answer = questions[arguments[0]](Tree(Path(arguments[1]).resolve()))
    if answer:
        print(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
