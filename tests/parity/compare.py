"""Compare two recordings: `python -m tests.parity.compare OLD NEW`.

Prints every difference, alike ones together, by command and kind, and ends with 1 if one is left that
`accepted.toml` does not list. There each `[[accepted]]` says with `case`, `kind` and `place` (patterns of the
shell; all if omitted) and `old` and `new` (regular expressions that are found in what is shown of both sides)
what it stands for, and `reason` why that is meant. A `[[normalized]]` replaces `pattern` by `replacement` in
both sides beforehand.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

ACCEPTED: Final = Path(__file__).with_name("accepted.toml")
#: Share by which numbers may differ that are told apart as noise of the arithmetic; they still differ.
_NOISE: Final = 1e-9
#: A pixel differs where one of its colors does by more than this, and a picture where more pixels than this
#: share do.
_SHADE: Final = 24
_PIXELS: Final = 0.0005
_SHOWN: Final = 3
_LONGEST: Final = 160
_POSITION: Final = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same: in which case, of which kind, where, and what both sides have."""

    case: str
    kind: str
    place: str
    old: str
    new: str

    @property
    def command(self) -> str:
        """The command, or the part of the window."""
        return self.case.partition("/")[0]


@dataclass(slots=True)
class Accepted:
    """A difference that is meant."""

    reason: str
    case: str = "*"
    kind: str = "*"
    place: str = "*"
    old: str = ""
    new: str = ""
    uses: int = field(default=0, init=False)

    def takes(self, difference: Difference) -> bool:
        """Whether it stands for a difference."""
        patterns = ((self.case, difference.case), (self.kind, difference.kind), (self.place, difference.place))
        return (
            all(fnmatchcase(_bare(value), _bare(pattern)) for pattern, value in patterns)
            and re.search(self.old, difference.old) is not None
            and re.search(self.new, difference.new) is not None
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and return 1 if there are differences that no one accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--accepted", type=Path, default=ACCEPTED)
    parser.add_argument("--all", action="store_true", help="show every difference, not three of those alike")
    parser.add_argument("--only", default="", help="cases whose names begin with this")
    options = parser.parse_args(arguments)
    accepted, normalized = _read_accepted(options.accepted)
    unaccepted = [
        each for each in differences(options.old, options.new, normalized) if each.case.startswith(options.only)
    ]
    left = [each for each in unaccepted if not _is_accepted(each, accepted)]
    for line in _report(left, None if options.all else _SHOWN):
        print(line)
    for each in accepted:
        if not each.uses:
            print(f"accepted, but not used: {each.reason}")
    print(f"{len(unaccepted)} differences, {len(unaccepted) - len(left)} of them accepted, {len(left)} left")
    return 1 if left else 0


def _read_accepted(path: Path) -> tuple[list[Accepted], list[tuple[re.Pattern[str], str]]]:
    accepted_table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    normalized = [
        (re.compile(each["pattern"], re.MULTILINE), each["replacement"])
        for each in accepted_table.get("normalized", [])
        if each["reason"]
    ]
    return [Accepted(**each) for each in accepted_table.get("accepted", [])], normalized


def _is_accepted(difference: Difference, accepted: Sequence[Accepted]) -> bool:
    for each in accepted:
        if each.takes(difference):
            each.uses += 1
            return True
    return False


# What differs


def differences(old: Path, new: Path, normalized: Sequence[tuple[re.Pattern[str], str]] = ()) -> Iterator[Difference]:
    """Yield what differs between two recordings; of unlike extent, between the cases that both have."""
    old_files, new_files = _files(old), _files(new)
    names = old_files.keys() | new_files.keys()
    if _extent(old) != _extent(new):
        # One of them is of some cases only.
        names = old_files.keys() & new_files.keys()
    for name in sorted(names):
        case = name.removesuffix(".json").removesuffix(".txt").removeprefix("cases/")
        if name not in old_files or name not in new_files:
            sides = ("recorded", "nothing") if name in old_files else ("nothing", "recorded")
            yield Difference(case, "on one side", "", *sides)
        elif name.endswith(".png"):
            yield from _picture(case, old_files[name], new_files[name])
        else:
            texts = [path.read_text(encoding="utf-8") for path in (old_files[name], new_files[name])]
            for pattern, instead in normalized:
                texts = [pattern.sub(instead, text) for text in texts]
            if texts[0] != texts[1]:
                yield from _texts(case, name, *texts)


def _extent(folder: Path) -> tuple[str, str]:
    index = folder / "index.json"
    index_table = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    return index_table.get("kind", ""), index_table.get("only", "")


def _files(folder: Path) -> dict[str, Path]:
    kinds = (".json", ".txt", ".png")
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.suffix in kinds and path.name != "index.json"
    }


def _texts(case: str, name: str, old: str, new: str) -> Iterator[Difference]:
    if not name.endswith(".json"):
        yield from _lines(case, "text", "", old.split("\n"), new.split("\n"))
        return
    olds, news = json.loads(old)["steps"], json.loads(new)["steps"]
    if len(olds) != len(news):
        yield Difference(case, "steps", "", str(len(olds)), str(len(news)))
    for number, (one, other) in enumerate(zip(olds, news, strict=False)):
        yield from _step(case, f"step {number}: " if len(olds) > 1 else "", one, other)


def _step(case: str, lead: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    if old["arguments"] != new["arguments"]:
        yield Difference(case, "arguments", lead, " ".join(old["arguments"]), " ".join(new["arguments"]))
    if old["code"] != new["code"]:
        yield Difference(case, "exit code", lead, str(old["code"]), str(new["code"]))
    yield from _compare_texts(case, f"{lead}stdout", old["stdout"], new["stdout"])
    yield from _lines(case, "stderr", f"{lead}stderr", old["stderr"], new["stderr"])
    for name in sorted(old["files"].keys() | new["files"].keys()):
        one, other = old["files"].get(name), new["files"].get(name)
        place = f"{lead}{name}"
        if one is None or other is None:
            yield Difference(case, "file", place, str(one is not None), str(other is not None))
            continue
        for part in sorted(one.keys() | other.keys()):
            yield from _part(case, f"{place} {part}", one.get(part), other.get(part))


def _part(case: str, place: str, old: Any, new: Any) -> Iterator[Difference]:  # noqa: ANN401 - any JSON
    if isinstance(old, list) and isinstance(new, list) and _are_texts(old) and _are_texts(new):
        yield from _compare_texts(case, place, old, new)
    elif isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            yield from _part(case, f"{place} {name}", old.get(name), new.get(name))
    elif old != new:
        yield Difference(case, "file", place, _short(old), _short(new))


def _compare_texts(case: str, place: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Difference]:
    """Compare two texts: as JSON where they are that, or JSON line by line, else by their lines."""
    if old == new:
        return
    pairs = _as_json(old, new)
    if pairs is None:
        yield from _lines(case, "text", place, old, new)
        return
    differs = False
    for one, other, lead in pairs:
        for each in _values(case, f"{place} {lead}", one, other):
            differs = True
            yield each
    if not differs:
        yield Difference(case, "order or form of JSON", place, "", "")


def _as_json(old: Sequence[str], new: Sequence[str]) -> list[tuple[Any, Any, str]] | None:
    if not all(lines and lines[0].startswith(("{", "[")) for lines in (old, new)):
        return None
    try:
        return [(json.loads("\n".join(old)), json.loads("\n".join(new)), "")]
    except ValueError:
        pass
    olds, news = [each for each in old if each], [each for each in new if each]
    if len(olds) != len(news):
        return None
    try:
        pairs = zip(olds, news, strict=True)
        return [(json.loads(one), json.loads(other), f"[{n}]") for n, (one, other) in enumerate(pairs)]
    except ValueError:
        return None


def _values(case: str, place: str, old: Any, new: Any) -> Iterator[Difference]:  # noqa: ANN401 - any JSON
    """Yield where two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            inner = f"{place}.{name}"
            if name not in new:
                yield Difference(case, "field gone", inner, _short(old[name]), "")
            elif name not in old:
                yield Difference(case, "field new", inner, "", _short(new[name]))
            else:
                yield from _values(case, inner, old[name], new[name])
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Difference(case, "length", place, str(len(old)), str(len(new)))
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from _values(case, f"{place}[{number}]", one, other)
    elif old != new or type(old) is not type(new):
        yield Difference(case, _kind(old, new), place, _short(old), _short(new))


def _kind(old: object, new: object) -> str:
    if isinstance(old, str) and isinstance(new, str):
        return "sentence" if " " in old or " " in new else "word"
    if isinstance(old, int | float) and isinstance(new, int | float) and not isinstance(old, bool):
        return "number, noise" if math.isclose(old, new, rel_tol=_NOISE) else "number"
    return "type"


def _lines(case: str, kind: str, place: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Difference]:
    if old == new:
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if b - a == d - c:
            for one, other in zip(old[a:b], new[c:d], strict=True):
                yield Difference(case, kind, place, one, other)
        else:
            yield Difference(case, kind, place, " ⏎ ".join(old[a:b]), " ⏎ ".join(new[c:d]))


def _picture(case: str, old: Path, new: Path) -> Iterator[Difference]:
    if old.read_bytes() == new.read_bytes():
        return
    import numpy as np

    one, other = _pixels(old), _pixels(new)
    if one.shape != other.shape:
        yield Difference(case, "picture", "size", str(one.shape), str(other.shape))
        return
    apart = np.abs(one.astype(np.int16) - other.astype(np.int16)).max(axis=2) > _SHADE
    share = float(apart.mean())
    if share > _PIXELS:
        rows, columns = np.nonzero(apart)
        box = f"x {columns.min()}–{columns.max()}, y {rows.min()}–{rows.max()}"
        yield Difference(case, "picture", box, old.name, f"{share:.2%} of the pixels")


def _pixels(path: Path) -> Any:  # noqa: ANN401 - an array
    import numpy as np
    from PySide6.QtGui import QImage

    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return rows[:, : image.width(), :3].copy()


def _are_texts(value: Sequence[object]) -> bool:
    return all(isinstance(each, str) for each in value)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _bare(pattern: str) -> str:
    """Return a place without positions, whose brackets would be sets of letters in a pattern."""
    return _POSITION.sub("#", pattern)


# What is printed


def _report(left: Sequence[Difference], most: int | None) -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[Difference]] = defaultdict(list)
    for each in left:
        groups[each.command, each.kind, _bare(each.place)].append(each)
    header = None
    for (command, kind, place), alike in sorted(groups.items()):
        if header != (command, kind):
            header = (command, kind)
            total = sum(len(each) for key, each in groups.items() if key[:2] == header)
            yield f"== {command}: {kind} ({total})"
        cases = len({each.case for each in alike})
        yield f"   {place or '-'}: {len(alike)} in {cases} cases"
        reported: set[tuple[str, str]] = set()
        for each in alike:
            if most is not None and len(reported) >= most:
                break
            if (each.old, each.new) not in reported or most is None:
                reported.add((each.old, each.new))
                yield f"     {each.case}"
                yield f"       - {_short(each.old)}"
                yield f"       + {_short(each.new)}"


if __name__ == "__main__":
    sys.exit(main())
