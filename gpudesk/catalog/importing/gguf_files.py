"""The files that a GGUF model lies in: one, or several parts that are told by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpudesk.catalog.importing.gguf_header import GgufHeader, TensorInfo, read_header
from gpudesk.domain.messages import InputError, message

_PART: Final = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<count>\d{5})(?P<suffix>\.gguf)", re.IGNORECASE)
_MOST_PARTS: Final = 1000


@dataclass(frozen=True, slots=True)
class GgufFiles:
    """A file, or all parts of one: the header of the first, every tensor, and how many parts there are."""

    path: Path
    header: GgufHeader
    tensors: Mapping[str, TensorInfo]
    parts: int
    short: bool


def read_files(path: Path) -> GgufFiles:
    """Read a file; where it is one of several parts, all of them."""
    header = read_header(path)
    count = header.keys.get("split.count", 1)
    if not isinstance(count, int) or count <= 1:
        return GgufFiles(path, header, header.tensors, 1, header.file_size < header.expected_size)
    number = header.keys.get("split.no", 0)
    paths = _part_paths(path, count, number if isinstance(number, int) else 0)
    headers = [read_header(each) for each in paths]
    tensors: dict[str, TensorInfo] = {}
    for each, part in zip(paths, headers, strict=True):
        if part.keys.get("split.count") != count:
            raise InputError(message("import.gguf.other_split"), str(each))
        if tensors.keys() & part.tensors.keys():
            raise InputError(message("import.gguf.same_part"), str(each))
        tensors |= part.tensors
    short = any(part.file_size < part.expected_size for part in headers)
    return GgufFiles(paths[0], headers[0], tensors, count, short)


def _part_paths(path: Path, count: int, number: int) -> list[Path]:
    """Return the paths of all parts; they are counted by their names, so that none can point to another."""
    named = _PART.fullmatch(path.name)
    if named is None or int(named["count"]) != count or count > _MOST_PARTS:
        raise InputError(message("import.gguf.part_name", number=number + 1, count=count), str(path))
    paths = [
        path.with_name(f"{named['stem']}-{each:05d}-of-{named['count']}{named['suffix']}")
        for each in range(1, count + 1)
    ]
    for each in paths:
        if not each.is_file():
            problem = message("import.gguf.part_missing", number=number + 1, count=count, missing=each.name)
            raise InputError(problem, str(path))
    return paths


def stem(path: Path) -> str:
    """Return the name of a file without its suffix and the number of its part."""
    part = _PART.fullmatch(path.name)
    return part["stem"] if part else path.stem
