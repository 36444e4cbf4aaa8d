"""List the components of a frozen program, and add the list and all license texts to it: parts.py TREE.

Run it in the environment that froze the program. TREE is the folder made by PyInstaller, or an application of macOS.
Every file and every module must belong to a component: if some do not, or have a license that would cover the whole
program, they are reported and nothing is written.

The result is `parts.json` and `licenses/` among the program's own files, shown in About, and at the top
`THIRD_PARTY_NOTICES.txt`, which installers place next to the program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from debian_parts import SystemPackage, packages_of, system_name
from frozen_tree import NOTICES, FrozenTree, TreeError
from known_parts import KnownPart, known_parts, matches
from license_texts import NoTextError, Text, TextFolder, covers_the_whole, texts_for
from notices_text import notices_text
from python_parts import PythonPackages, is_a_record

from gpudesk import __version__
from gpudesk.third_party import PROGRAM, ThirdPartyWork

_LICENSES = "licenses"
_PYTHON = "CPython"


@dataclass(frozen=True, slots=True)
class Shipped:
    """A component of a tree with its files; one compiled into others has none."""

    part: ThirdPartyWork
    files: tuple[Path, ...]


@dataclass(slots=True)
class Inventory:
    """The components of a tree, the license texts, and the faults."""

    shipped: list[Shipped] = field(default_factory=list)
    texts: TextFolder = field(default_factory=TextFolder)
    problems: list[str] = field(default_factory=list)

    def add(self, part: ThirdPartyWork, texts: Iterable[Text], files: Iterable[Path] = ()) -> None:
        """Add a component with its license texts."""
        if not part.license:
            self.problems.append(f"{part.work} states no license that can be told")
        elif covers_the_whole(part.license):
            self.problems.append(f"{part.work} is under {part.license}, which would cover the whole program")
        names = tuple(dict.fromkeys(f"{_LICENSES}/{self.texts.add(text)}" for text in texts))
        self.shipped.append(Shipped(replace(part, texts=names), tuple(sorted(files))))

    @property
    def parts(self) -> list[ThirdPartyWork]:
        """All components, the program first, the others by name."""
        return [each.part for each in self.shipped]


def main() -> int:
    """List a tree and write the list into it."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    tree = FrozenTree(Path(sys.argv[1]))
    parts_inventory = whole_inventory(tree)
    if parts_inventory is None:
        return 1
    write(tree, parts_inventory)
    file_count = sum(len(each.files) for each in parts_inventory.shipped)
    print(f"{tree.root}: {len(parts_inventory.shipped)} parts of {file_count} files")
    return 0


def whole_inventory(tree: FrozenTree) -> Inventory | None:
    """Return the components of a tree; None, with the reason on standard error, on failure."""
    try:
        parts_inventory = inventory(tree)
    except TreeError as error:
        print(error, file=sys.stderr)
        return None
    if not parts_inventory.problems:
        return parts_inventory
    print("\n".join(parts_inventory.problems), file=sys.stderr)
    print(
        f"{len(parts_inventory.problems)} problems; known_parts.toml tells of works that need naming", file=sys.stderr
    )
    return None


def inventory(tree: FrozenTree, platform: str = sys.platform) -> Inventory:
    """Return the components of a tree."""
    return _Listing(tree, platform).make()


def write(tree: FrozenTree, parts_inventory: Inventory) -> None:
    """Write list, texts and notices into the tree, replacing former ones."""
    records = [part.record() for part in parts_inventory.parts]
    listed = json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    (tree.bundle / "parts.json").write_text(listed, encoding="utf-8", newline="\n")
    text_names = {Path(name).name for part in parts_inventory.parts for name in part.texts}
    parts_inventory.texts.write(tree.bundle / _LICENSES, text_names)
    notices = notices_text(parts_inventory.parts, parts_inventory.texts)
    (tree.root / NOTICES).write_text(notices, encoding="utf-8", newline="\n")


class _Listing:
    """Finds the owner of every file and module of a tree."""

    def __init__(self, tree: FrozenTree, platform: str) -> None:
        self._tree = tree
        self._platform = platform
        self._known = known_parts()
        self._packages = PythonPackages()
        self._found = Inventory()
        #: By owner: a known component, a package by its name, a package of the system, the program.
        self._files: dict[KnownPart | SystemPackage | str, list[Path]] = {}
        self._records: list[Path] = []

    def make(self) -> Inventory:
        """Return the complete list."""
        self._own_files()
        self._own_modules()
        self._add_program()
        for name in [each for each in self._files if isinstance(each, str) and each != PROGRAM]:
            self._add_package(name)
        self._add_system()
        self._add_known()
        self._found.shipped.sort(key=_order)
        return self._found

    def _own_files(self) -> None:
        """Assign each file to its owner."""
        of_the_system = {}
        for place, path in self._tree.files.items():
            owner = self._owner(place)
            if owner is not None:
                self._files.setdefault(owner, []).append(path)
            elif (package := self._packages.package_of(place)) is None:
                of_the_system[place] = path
            elif not is_a_record(place):
                self._files.setdefault(package, []).append(path)
        packages = packages_of(of_the_system)
        for place, path in of_the_system.items():
            if place in packages:
                self._files.setdefault(packages[place], []).append(path)
            else:
                self._found.problems.append(f"{place.lstrip('/')} is nobody's")

    def _owner(self, place: str) -> KnownPart | str | None:
        """Return the owner of a file that is known by its path."""
        program = place in self._tree.programs
        python = _is_a_library_of_python(place)
        for known_part in self._known:
            if (
                known_part.owns(place)
                or (program and known_part.programs)
                or (python and known_part.part.name == _PYTHON)
            ):
                return known_part
        return PROGRAM if self._tree.is_the_programs_own(place) else None

    def _own_modules(self) -> None:
        """Assign each frozen module to its owner, which adds packages without any other file."""
        for name in sorted(self._tree.modules):
            known_part = next((each for each in self._known if each.owns_module(name)), None)
            packages = [PROGRAM] if _is_ours(name) else self._packages.packages_of_module(name)
            if known_part is not None:
                self._files.setdefault(known_part, [])
            elif _is_of_python(name):
                continue
            elif packages:
                for package in packages:
                    self._files.setdefault(package, [])
            else:
                self._found.problems.append(f"the module {name} is nobody's")

    def _add_program(self) -> None:
        part, texts = self._packages.part("gpudesk")
        own = [replace(text, name=part.license) for text in texts if "LICENSE" in text.name]
        work = ThirdPartyWork(PROGRAM, __version__, part.license, kind="program")
        self._found.add(work, own, self._files[PROGRAM])

    def _add_package(self, name: str) -> None:
        try:
            part, texts = self._packages.part(name)
            self._found.add(part, texts, self._files[name])
            for inner in self._packages.compiled_in(name):
                self._found.add(inner, texts_for(inner.license))
        except NoTextError as error:
            self._found.problems.append(f"{name}: {error}")

    def _add_system(self) -> None:
        """Add the libraries of the system, grouped by source package."""
        by_source: dict[str, list[SystemPackage]] = {}
        for package in self._files:
            if isinstance(package, SystemPackage):
                by_source.setdefault(package.source, []).append(package)
        for source, packages in by_source.items():
            files = [file for package in packages for file in self._files[package]]
            known_part = next((each for each in self._known if matches(source, each.debian)), None)
            if known_part is None:
                names = ", ".join(sorted(file.name for file in files))
                self._found.problems.append(f"{names}: of {source}, which known_parts.toml does not have")
            else:
                texts = [text for package in packages for text in package.texts()]
                self._found.add(_from_system(known_part.part, packages), texts, files)

    def _add_known(self) -> None:
        """Add the known components found, and those compiled into them."""
        places = self._tree.files
        names = {each.part.name for each in self._found.shipped}
        waiting = list(self._known)
        # A component compiled into another can have further ones inside.
        while here := [each for each in waiting if self._is_there(each, names)]:
            for known_part in here:
                part = known_part.resolve_version(places)
                if known_part.part.within and known_part.part.within not in names:
                    part = replace(part, within="")
                self._found.add(
                    part, known_part.license_texts(self._tree.bundle.parents[1]), self._files.get(known_part, ())
                )
                names.add(part.name)
            waiting = [each for each in waiting if each not in here]

    def _is_there(self, known_part: KnownPart, names: set[str]) -> bool:
        return known_part in self._files or known_part.is_compiled_in(names, self._tree.files, self._platform)


def _from_system(part: ThirdPartyWork, packages: Sequence[SystemPackage]) -> ThirdPartyWork:
    """Return a known component in the system's version, with its source address."""
    first = packages[0]
    names = ", ".join(sorted(package.name for package in packages))
    notes = [
        part.note.strip(),
        f"Taken unchanged from {system_name()}, {names} {first.version}.",
        f"The source of exactly this version: {first.source_address}",
    ]
    if "LGPL" in part.license:
        notes.append("A shared library that can be replaced by another build of the same version.")
    note = "\n".join(filter(None, notes))
    return replace(part, version=first.version, home=part.home or first.home, note=note, purl=first.purl)


def _is_a_library_of_python(place: str) -> bool:
    """Whether a file is one of Python's own modules in the Windows layout, next to all others at the top."""
    return "/" not in place and place.removesuffix(".pyd") in sys.stdlib_module_names and ".pyd" in place


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == "gpudesk"


def _is_of_python(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names or name.startswith("_sysconfigdata")


def _order(entry: Shipped) -> tuple[bool, str, str, str]:
    part = entry.part
    return (part.name != PROGRAM, part.name.casefold(), part.version, part.within)


if __name__ == "__main__":
    sys.exit(main())
