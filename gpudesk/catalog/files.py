"""The files of `data/` as validated records. Everything is read before anything is refused."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from gpudesk.catalog.model_schema import MODEL_FILE, ModelFile
from gpudesk.catalog.problems import Problem, validation_problems
from gpudesk.catalog.schemas import (
    AcceleratorFile,
    CloudPriceRecord,
    DiffusionFile,
    DisputeRecord,
    HardwareDisputeRecord,
    PurchasePriceRecord,
    SeedClaimRecord,
    SourceRecord,
    SourcesFile,
)

_R = TypeVar("_R", bound=BaseModel)
_R_co = TypeVar("_R_co", bound=BaseModel, covariant=True)

#: Tables of records that are told apart by their `kind`.
_WITH_KINDS: Final = frozenset({"mixers", "ffns"})


class _CsvLines(Protocol):
    """What `csv.reader` returns; its own type has no public name."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Entry(Generic[_R_co]):
    """A record and where it stands: `file` below `data/`, `place` within it ("" for a whole file)."""

    file: str
    place: str
    record: _R_co

    def problem(self, field: str, problem: str) -> Problem:
        """Make a problem of one field of this record."""
        return Problem(self.file, " ".join(part for part in (self.place, field) if part), problem)


@dataclass(frozen=True, slots=True)
class DataFiles:
    """All records of `data/`, in the order of file names and lines."""

    sources: tuple[Entry[SourceRecord], ...]
    accelerators: tuple[Entry[AcceleratorFile], ...]
    models: tuple[Entry[ModelFile], ...]
    diffusion: tuple[Entry[DiffusionFile], ...]
    rents: tuple[Entry[CloudPriceRecord], ...]
    purchases: tuple[Entry[PurchasePriceRecord], ...]
    seed_claims: tuple[Entry[SeedClaimRecord], ...]
    disputes: tuple[Entry[DisputeRecord], ...]


class Reader:
    """Reads files below one folder and collects what is wrong with them in `problems`."""

    def __init__(self, data_dir: Path) -> None:
        """Read below `data_dir`."""
        self.data_dir = data_dir
        self.problems: list[Problem] = []

    def folder(self, name: str, schema: type[_R]) -> tuple[Entry[_R], ...]:
        """Read every TOML file of a folder; a folder without any is a problem."""
        paths = sorted((self.data_dir / name).glob("*.toml"))
        if not paths:
            self.problems.append(Problem(name, "", "the folder holds no TOML file"))
        entries = (self._toml(f"{name}/{path.name}", schema) for path in paths)
        return tuple(entry for entry in entries if entry is not None)

    def table(self, name: str, schema: type[_R]) -> tuple[Entry[_R], ...]:
        """Read a CSV table whose header must be the fields of the schema, each line a record."""
        try:
            with (self.data_dir / name).open(encoding="utf-8", newline="") as file:
                return tuple(self._lines(name, csv.reader(file, strict=True), schema))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            self.problems.append(Problem(name, "", _unreadable(error)))
            return ()

    def _toml(self, name: str, schema: type[_R]) -> Entry[_R] | None:
        try:
            content = tomllib.loads((self.data_dir / name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            self.problems.append(Problem(name, "", _unreadable(error)))
            return None
        return self._validated(name, "", content, schema)

    def _lines(self, name: str, lines: _CsvLines, schema: type[_R]) -> Iterator[Entry[_R]]:
        header: list[str] = next(lines, [])
        if header != list(schema.model_fields):
            wanted = ",".join(schema.model_fields)
            self.problems.append(Problem(name, "line 1", f"the columns must be {wanted}"))
            return
        for cells in lines:
            place = f"line {lines.line_num}"
            if len(cells) != len(header):
                told = f"has {len(cells)} cells, the header {len(header)}"
                self.problems.append(Problem(name, place, told))
                continue
            entry = self._validated(name, place, dict(zip(header, cells, strict=True)), schema)
            if entry is not None:
                yield entry

    def _validated(
        self, name: str, place: str, content: dict[str, Any], schema: type[_R]
    ) -> Entry[_R] | None:
        try:
            return Entry(name, place, schema.model_validate(content))
        except ValidationError as error:
            self.problems += validation_problems(error, name, place, _WITH_KINDS)
            return None


def read_files(data_dir: Path) -> tuple[DataFiles, list[Problem]]:
    """Read everything; the problems are those of single files, records that have one are left out."""
    reader = Reader(data_dir)
    files = DataFiles(
        sources=_sources(reader),
        accelerators=reader.folder("accelerators", AcceleratorFile),
        models=reader.folder("models", MODEL_FILE),
        diffusion=reader.folder("diffusion", DiffusionFile),
        rents=reader.table("prices/cloud.csv", CloudPriceRecord),
        purchases=reader.table("prices/purchase.csv", PurchasePriceRecord),
        seed_claims=reader.table("claims/seeds.csv", SeedClaimRecord),
        disputes=(
            *reader.table("disputes/seeds.csv", DisputeRecord),
            *reader.table("disputes/hardware.csv", HardwareDisputeRecord),
        ),
    )
    return files, reader.problems


def _sources(reader: Reader) -> tuple[Entry[SourceRecord], ...]:
    """Read the sources of all files; the place of each is its slug."""
    return tuple(
        Entry(entry.file, f"sources.{slug}", source)
        for entry in reader.folder("sources", SourcesFile)
        for slug, source in entry.record.sources.items()
    )


def _unreadable(error: Exception) -> str:
    """Say why a file could not be read, without its path, which stands before."""
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    kind = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "is broken"
    return f"{kind}: {error}"
