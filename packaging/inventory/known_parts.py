"""The components described in known_parts.toml, which no package metadata names."""

from __future__ import annotations

import fnmatch
import sys
import sysconfig
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from license_texts import FOLDER, Text, texts_for
from versions import probed

from gpudesk.third_party import ThirdPartyWork

FILE: Final = Path(__file__).resolve().parent / "known_parts.toml"
_PROBE: Final = "probe:"


@dataclass(frozen=True, slots=True)
class KnownPart:
    """One component of the file, and how to detect it in a frozen program."""

    part: ThirdPartyWork
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    #: Whether the executables at the top of the tree are this component.
    programs: bool = False
    #: Location of a text that is not stored here: with the interpreter, in the tree.
    text_with_interpreter: bool = False
    text_in: str = ""

    def owns(self, place: str) -> bool:
        """Whether a file of the tree is this component."""
        return matches(place, self.files)

    def owns_module(self, name: str) -> bool:
        """Whether a frozen module is this component."""
        return matches(name, self.modules)

    def is_compiled_in(self, owners: Collection[str], places: Iterable[str], platform: str) -> bool:
        """Whether this component is inside one of the others found."""
        if self.part.within not in owners or (self.platforms and platform not in self.platforms):
            return False
        return not self.needs or any(matches(place, self.needs) for place in places)

    def resolve_version(self, places: Collection[str]) -> ThirdPartyWork:
        """Return the component with its version in this environment."""
        version = self.part.version
        if version.startswith(_PROBE):
            version = probed(version.removeprefix(_PROBE), places)
        minor = ".".join(version.split(".")[:2])
        note = self.part.note.strip().replace("{version}", version).replace("{minor}", minor)
        return replace(self.part, version=version, note=note)

    def license_texts(self, tree: Path) -> list[Text]:
        """Return the license texts of this component; TREE is the folder for `text_in`."""
        if self.text_in:
            return [Text(f"{self.part.name}.txt", (tree / self.text_in).read_text("utf-8"))]
        own = _text_of_python() if self.text_with_interpreter else None
        if own is not None:
            return [own]
        if self.part.texts:
            return [Text(f"{name}.txt", (FOLDER / f"{name}.txt").read_text("utf-8")) for name in self.part.texts]
        return texts_for(self.part.license)


def known_parts() -> list[KnownPart]:
    """Return all components of the file."""
    with FILE.open("rb") as opened:
        return [_make_known_part(record) for record in tomllib.load(opened)["part"]]


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name matches one of the patterns, in which `*` also matches slashes."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _make_known_part(record: dict[str, Any]) -> KnownPart:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    described = {name: values.pop(name) for name in ThirdPartyWork.__dataclass_fields__ if name in values}
    return KnownPart(ThirdPartyWork(**described), **values)


def _text_of_python() -> Text | None:
    """Return the license text of the interpreter, which names its own third parties."""
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    for path in (
        Path(sys.base_prefix) / "LICENSE.txt",
        Path(sysconfig.get_paths()["stdlib"]) / "LICENSE.txt",
        Path(f"/usr/share/doc/python{minor}/copyright"),
    ):
        if path.is_file():
            return Text("CPython.txt", path.read_text("utf-8"))
    return None
