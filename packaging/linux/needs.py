"""What the libraries of a frozen tree need of the system, and which links among them are ever followed.

    needs.py depends TREE     the packages of this Debian that the tree needs, as fields of a control file
    needs.py packages TREE    the packages without which no window opens, on a line
    needs.py glibc TREE       the oldest C library that will do
    needs.py links TREE       the links of the tree that the loader needs, with what they stand for; all
                              others only repeat under another name what is found without them

Needs objdump, and for `depends` a system of dpkg on which the libraries are installed. The start names
`_internal` in LD_LIBRARY_PATH; beside that, libraries name folders of their own.
"""

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: Where a library of the system lies, as its package lists it.
_SYSTEM_FOLDERS = re.compile(r"(?:/usr)?/lib(?:64)?(?:/x86_64-linux-gnu)?")
#: Plugins of Qt without which no window opens on X11, or none is drawn in memory.
_NEEDED_PLUGINS = ("platforms/libqxcb", "platforms/libqoffscreen", "iconengines/", "imageformats/")
_PLUGINS = "PySide6/Qt/plugins/"
#: A program, or a module that Python loads: everything else is there because one of these needs it.
_MODULE = re.compile(r".*\.(?:cpython-\S+|abi3)\.so")
#: Libraries that are carried along and read data of the system's.
_DATA = {"libX11.so.6": "libx11-data", "libfontconfig.so.1": "fontconfig-config", "libxkbcommon.so.0": "xkb-data"}
#: Renamed in Debian 13 and Ubuntu 24.04 for a change that 64-bit systems do not see: either will do.
_RENAMED = ("libcups2", "libglib2.0-0", "libssl3")
#: What is better with, beside libraries: opening folders and files, and what knows the types of files.
_RECOMMENDED = ("shared-mime-info", "xdg-utils")


@dataclass(frozen=True)
class Library:
    """A file of the ELF format: what it asks the loader for, and where it lets it look."""

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
        """Return where a file lies in `_internal`, or its name at the top."""
        place = path.relative_to(self.folder).as_posix()
        return place.removeprefix("_internal/")

    def candidates(self, library: Library, name: str) -> Iterator[Path]:
        """Return the paths under which the loader would find a library, the first one first."""
        own = [folder.replace("$ORIGIN", str(library.path.parent)) for folder in library.folders]
        for folder in (*own, str(self.folder / "_internal")):
            path = Path(os.path.normpath(Path(folder) / name))
            if path.is_relative_to(self.folder) and path.exists():
                yield path

    def found(self, library: Library, name: str) -> Library | None:
        """Return the library of the tree that the loader takes; None if it asks the system."""
        path = next(self.candidates(library, name), None)
        return None if path is None else self.libraries.get(path.resolve())

    @functools.cached_property
    def required(self) -> frozenset[Path]:
        """The files without which the program does not start or opens no window."""
        waiting = [library for path, library in self.libraries.items() if self._is_root(path)]
        reached = {library.path for library in waiting}
        while waiting:
            library = waiting.pop()
            for name in library.needed:
                other = self.found(library, name)
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
        """Return the libraries that the system has to have, with the files that ask for them."""
        asked: dict[str, set[str]] = {}
        for path, library in self.libraries.items():
            if (path in self.required) is required:
                for name in library.needed:
                    if self.found(library, name) is None:
                        asked.setdefault(name, set()).add(self.place(path))
        return asked

    def glibc(self) -> tuple[int, ...]:
        """Return the newest version of the C library that any file asks for."""
        return max(library.glibc for library in self.libraries.values())

    def followed_links(self) -> dict[Path, Path]:
        """Return the links through which a library is found that would not be found without them."""
        followed: dict[Path, Path] = {}
        for library in self.libraries.values():
            for name in library.needed:
                paths = list(self.candidates(library, name))
                if paths and all(path.is_symlink() for path in paths):
                    followed[paths[0]] = paths[0].resolve()
        return followed


def elf_files(folder: Path) -> Iterator[Path]:
    """Return the programs and libraries of a folder, without links."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path.resolve()


def read(path: Path) -> Library:
    """Return what objdump says of a file."""
    shown = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    folders = re.findall(r"^\s+(?:RPATH|RUNPATH)\s+(\S+)", shown, re.MULTILINE)
    versions = re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)", shown)
    return Library(
        path,
        tuple(re.findall(r"^\s+NEEDED\s+(\S+)", shown, re.MULTILINE)),
        tuple(folder for group in folders for folder in group.split(":")),
        max((tuple(map(int, version.split("."))) for version in versions), default=(0,)),
    )


def package_of(name: str) -> str:
    """Return the package of this system that a library comes from."""
    shown = subprocess.run(["dpkg", "-S", f"*/{name}"], capture_output=True, text=True, check=False).stdout
    for line in shown.splitlines():
        packages, _, path = line.partition(": ")
        place = PurePosixPath(path)
        if place.name == name and _SYSTEM_FOLDERS.fullmatch(str(place.parent)):
            return packages.partition(",")[0].partition(":")[0]
    raise LookupError(name)


def packages_of(asked: dict[str, set[str]]) -> set[str]:
    """Return the packages of libraries; ends the program where one of them is not installed here."""
    packages = set()
    for name, files in sorted(asked.items()):
        try:
            packages.add(package_of(name))
        except LookupError:
            some = ", ".join(sorted(files)[:3])
            raise SystemExit(f"{name}, for {some}, is of no package that is installed here: install it") from None
    return packages


def written(packages: set[str], glibc: tuple[int, ...]) -> str:
    """Return packages as a field of a control file has them."""
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
    """Return the packages that the program does not open a window without."""
    data = {package for name, package in _DATA.items() if (tree.folder / "_internal" / name).exists()}
    return packages_of(tree.of_the_system(required=True)) | data


def packages(tree: Tree) -> str:
    """Return what apt installs for a tree that brings no package of its own; every system has libc6."""
    return " ".join(sorted(package.removesuffix("t64") for package in required_packages(tree) - {"libc6"}))


def glibc(tree: Tree) -> str:
    """Return the oldest version of the C library."""
    return ".".join(map(str, tree.glibc()))


def depends(tree: Tree) -> str:
    """Return the fields Depends and Recommends."""
    required = required_packages(tree)
    optional = packages_of(tree.of_the_system(required=False)) | set(_RECOMMENDED)
    return f"Depends: {written(required, tree.glibc())}\nRecommends: {written(optional - required, tree.glibc())}"


def links(tree: Tree) -> str:
    """Return the links that are followed, a line each: the link, a tab, the file."""
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
