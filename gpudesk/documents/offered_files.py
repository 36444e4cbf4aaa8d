"""Files offered for import: read within limits, identified by content."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gpudesk.documents.pack_file import PACK_SUFFIX
from gpudesk.domain.field_checks import NESTED_TOO_DEEP, NOT_UTF8, describe_too_large_import, parse_bounded_json
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.user_facts import NOTHING_TO_IMPORT
from gpudesk.files import PIPE, describe_unreadable
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, explain_system_error, input_error, message

#: Maximum bytes of a file that is read whole.
_MOST_JSON: Final = 32 << 20
_MOST_CSV: Final = 64 << 20
#: Maximum lists and objects in a file; a configuration with its vocabulary has a tenth of that.
_MOST_NESTS: Final = 1_000_000
#: Maximum values of a JSON file; a vocabulary in a configuration has a fifth of that.
_MOST_VALUES: Final = 1_000_000
#: Bytes that identify a file.
_HEAD: Final = 4096

CONFIG: Final = "config.json"
#: Files next to a configuration with more information on the model, and their maximum size.
COMPANION_SIZES: Final = {
    "hf_quant_config.json": 4 << 20,
    "generation_config.json": 1 << 20,
    "model.safetensors.index.json": 64 << 20,
}


class ImportKind(StrEnum):
    """Importable kinds of files."""

    CONFIG = "config"
    GGUF = "gguf"
    ACCELERATOR = "accelerator"
    SYSTEM = "system"
    PRICES = "prices"
    PACK = "pack"
    #: A scenario, or a sheet that contains one, with its author's own facts.
    SCENARIO = "scenario"


@frozen_dataclass
class OfferedFile:
    """A file and its kind. `raw` is its contents, `siblings` those of related files, by name.

    A GGUF file is not read here: it can be larger than memory.
    """

    path: Path
    kind: ImportKind
    raw: bytes = b""
    siblings: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        # A name that is too long or contains NUL fails when opened.
        return False


def open_offered_file(path: Path) -> OfferedFile:
    """Return the content at a path; raises `InputError` that names it and the readable kinds.

    A folder stands for its configuration, and so does a file next to one.
    """
    if _is_folder(path):
        try:
            models = sorted(each for each in path.iterdir() if each.suffix.lower() == ".gguf")
            has_config = (path / CONFIG).is_file()
        except OSError as error:
            raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error
        if has_config:
            return open_offered_file(path / CONFIG)
        if models:
            return open_offered_file(models[0])
        raise input_error("import.folder", "contains no config.json or GGUF file", str(path))
    if path.name in COMPANION_SIZES and (path.parent / CONFIG).is_file():
        return open_offered_file(path.parent / CONFIG)
    head = read_regular_file(path, _HEAD, whole=False)
    if head.startswith(b"GGUF"):
        return OfferedFile(path, ImportKind.GGUF)
    if head.startswith(b"%PDF"):
        return OfferedFile(path, ImportKind.SCENARIO)
    _refuse_others(path, head)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return _open_json(path)
    if path.suffix.lower() in (".csv", ".tsv", ".txt") or b"," in head or b";" in head:
        return OfferedFile(path, ImportKind.PRICES, read_regular_file(path, _MOST_CSV))
    raise InputError(NOTHING_TO_IMPORT, str(path))


def _refuse_others(path: Path, head: bytes) -> None:
    for begins, name in (
        (b"PK\x03\x04", "ZIP"),
        (b"\x1f\x8b", "gzip"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"\x80\x02", "pickle"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xfd7zXZ", "xz"),
    ):
        if head.startswith(begins):
            raise input_error(
                "import.is_other",
                "is a {format} file; extract or export it first, then import the result",
                str(path),
                format=name,
            )
    if not head:
        raise input_error("import.empty", "is empty", str(path))
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(NOT_UTF8, str(path))
    if b"\x00" in head:
        raise InputError(NOTHING_TO_IMPORT, str(path))


def _open_json(path: Path) -> OfferedFile:
    raw = read_regular_file(path, _MOST_JSON)
    if path.suffix.lower() == PACK_SUFFIX or b'"gpudesk_pack"' in raw[:_HEAD]:
        return OfferedFile(path, ImportKind.PACK, raw)
    # A JSON object; raises `InputError` that names the file and, if known, the line.
    if raw.count(b"[") + raw.count(b"{") > _MOST_NESTS:
        # Parsing would take twenty times the size of the file in memory and block everything else.
        raise InputError(NESTED_TOO_DEEP, str(path))
    if raw.count(b",") > _MOST_VALUES:
        raise input_error(
            "import.many_values", "has more than {most} values, which is the limit", str(path), most=_MOST_VALUES
        )
    table = parse_bounded_json(raw, str(path), _MOST_JSON, no_object=NOTHING_TO_IMPORT)
    if "gpudesk_pack" in table:
        return OfferedFile(path, ImportKind.PACK, raw)
    if "gpudesk" in table:
        return OfferedFile(path, ImportKind.SCENARIO)
    if any(
        name in table for name in ("model_type", "architectures", "num_hidden_layers", "hidden_size", "text_config")
    ):
        return OfferedFile(path, ImportKind.CONFIG, raw, _read_companions(path))
    if table.get("kind") == "system":
        return OfferedFile(path, ImportKind.SYSTEM, raw)
    if "vendor" in table or "generation" in table or isinstance(table.get("attributes"), dict | list):
        return OfferedFile(path, ImportKind.ACCELERATOR, raw)
    if path.name == CONFIG:
        return OfferedFile(path, ImportKind.CONFIG, raw, _read_companions(path))
    raise InputError(NOTHING_TO_IMPORT, str(path))


def _read_companions(path: Path) -> Mapping[str, bytes]:
    companions = {}
    for name, most in COMPANION_SIZES.items():
        sibling = path.with_name(name)
        if sibling.is_file():
            companions[name] = read_regular_file(sibling, most)
    return MappingProxyType(companions)


def read_regular_file(path: Path, most: int, *, whole: bool = True) -> bytes:
    """Return the contents of a plain file of at most `most` bytes, or without `whole` its first `most` bytes.

    Pipes and devices, which could block forever, are refused unread. Raises `InputError`.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise InputError(PIPE, str(path))
            if whole and about.st_size > most:
                raise _make_size_error(path, most)
            raw = file.read(most + 1 if whole else most)
    except (OSError, ValueError) as error:
        # A name with NUL raises ValueError.
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error
    if whole and len(raw) > most:
        raise _make_size_error(path, most)
    return raw


def _make_size_error(path: Path, most: int) -> InputError:
    return InputError(describe_too_large_import(most), str(path))


#: Files in a folder, and total bytes of their headers, above which no headers are used.
_MOST_FILES: Final = 400
_MOST_BYTES: Final = 64 << 20
#: The length field of a header, and the first read, which covers most headers.
_LENGTH: Final = 8
_FIRST: Final = 1 << 17


def read_tensor_headers(folder: Path) -> ProgressSteps[dict[str, bytes]]:
    """Return the headers by file name; empty if they are too many or too long.

    A truncated file gives what it has. Raises `InputError` for an unreadable one.
    """
    files = sorted(folder.glob("*.safetensors"))
    if len(files) > _MOST_FILES:
        return {}
    headers: dict[str, bytes] = {}
    remaining_bytes = _MOST_BYTES
    for number, file in enumerate(files):
        yield JobProgress(describe_reading(file.name), number, len(files))
        begin = read_regular_file(file, _FIRST, whole=False)
        size = _LENGTH + int.from_bytes(begin[:_LENGTH], "little")
        remaining_bytes -= size
        if remaining_bytes < 0:
            return {}
        headers[file.name] = begin[:size] if size <= len(begin) else read_regular_file(file, size, whole=False)
    return headers


def describe_reading(file: str) -> Message:
    return message("import.reading", "Reading {file}", file=file)
