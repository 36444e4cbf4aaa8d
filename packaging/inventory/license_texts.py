"""License texts: those required by an SPDX expression, and the folder that stores them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

#: Texts by their SPDX names. A line for the copyright holder is left out: that is listed with each component.
FOLDER: Final = Path(__file__).resolve().parent / "license_texts"

_ALIKE: Final = {
    # One text, used with and without permission for later versions.
    "GPL-2.0-or-later": "GPL-2.0-only",
    "GPL-3.0-or-later": "GPL-3.0-only",
    "LGPL-2.1-or-later": "LGPL-2.1-only",
    "LGPL-3.0-or-later": "LGPL-3.0-only",
}
_UNSAFE: Final = re.compile(r"[^\w.+-]+")
_PLAIN_COPYLEFT: Final = re.compile(r"A?GPL-[\d.]+(-only|-or-later)?")


class NoTextError(ValueError):
    """A license without a text in this folder."""


@dataclass(frozen=True, slots=True)
class Text:
    """A license text and a suitable file name."""

    name: str
    content: str


def texts_for(expression: str) -> list[Text]:
    """Return the texts of an SPDX expression: for alternatives, all that are stored here.

    Raises `NoTextError` if no alternative is stored here.
    """
    texts: dict[str, Text] = {}
    for alternatives in operands(expression):
        complete = [ids for ids in map(_ids, alternatives) if all(_file(name).exists() for name in ids)]
        if not complete:
            raise NoTextError(f"no text of {' OR '.join(alternatives)} in {FOLDER.name}")
        for name in (name for ids in complete for name in ids):
            texts.setdefault(name, Text(f"{_ALIKE.get(name, name)}.txt", _file(name).read_text("utf-8")))
    return list(texts.values())


def covers_the_whole(expression: str) -> bool:
    """Whether a license applies to the whole program, without an alternative or exception."""
    return any(all(_PLAIN_COPYLEFT.fullmatch(each) for each in alternatives) for alternatives in operands(expression))


def operands(expression: str) -> Iterator[list[str]]:
    """Yield the operands of an expression, each as the list of its alternatives.

    Brackets are assumed to enclose only such alternatives, as in the expressions of packages.
    """
    for operand in re.split(r"\s+AND\s+", re.sub(r"[()]", " ", expression)):
        yield [each.strip() for each in re.split(r"\s+OR\s+", operand.strip())]


@dataclass(slots=True)
class TextFolder:
    """Collects texts for one folder, each once for all components."""

    _names: dict[str, str] = field(default_factory=dict)
    _contents: dict[str, str] = field(default_factory=dict)

    def add(self, text: Text) -> str:
        """Add a text and return its file name; texts that differ only in spaces are equal."""
        key = " ".join(text.content.split())
        if key not in self._names:
            stem = _UNSAFE.sub("-", text.name.removesuffix(".txt"))
            name, number = f"{stem}.txt", 1
            while name.casefold() in map(str.casefold, self._contents):
                number += 1
                name = f"{stem}-{number}.txt"
            self._names[key] = name
            lines = (line.rstrip() for line in text.content.splitlines())
            self._contents[name] = "\n".join(lines).strip("\n") + "\n"
        return self._names[key]

    def content(self, name: str) -> str:
        """Return a text by its file name."""
        return self._contents[name]

    def write(self, folder: Path, names: Iterable[str]) -> None:
        """Write the texts of these names, replacing the content of the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        known_names = set(names)
        for old in folder.iterdir():
            if old.name not in known_names:
                old.unlink()
        for name in sorted(known_names):
            (folder / name).write_text(self._contents[name], encoding="utf-8", newline="\n")


def _ids(alternative: str) -> list[str]:
    """Return the license and the exception named by an alternative."""
    return [each.strip() for each in re.split(r"\s+WITH\s+", alternative)]


def _file(name: str) -> Path:
    return FOLDER / f"{_ALIKE.get(name, name)}.txt"
