"""Reading the files of `data/` into validated records, collecting every problem."""

from __future__ import annotations

import csv
import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from catalog_build.records import (
    MODEL_FILE,
    AcceleratorFile,
    ApiPriceRecord,
    CloudPriceRecord,
    DiffusionFile,
    DisputeRecord,
    HardwareDisputeRecord,
    MissingPriceRecord,
    ModelFile,
    ProviderRecord,
    PurchasePriceRecord,
    ReferenceDesignFile,
    SeedClaimRecord,
    SourceRecord,
    SourcesFile,
    SystemFile,
)
from gpudesk.catalog.model_record import list_validation_problems
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.frozen_dataclass import frozen_dataclass


@dataclass(frozen=True, slots=True, order=True)
class DataProblem:
    """One fault of one field; `field` is its path, counted from 1, or a line of a table."""

    file: str
    field: str
    problem: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.field, self.problem) if part)


class DataError(ValueError):
    """The files of `data/` cannot be built into a catalog; `problems` has every reason."""

    def __init__(self, problems: Iterable[DataProblem]) -> None:
        """Keep all problems, sorted by file; the message has one per line."""
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_R = TypeVar("_R", bound=BaseModel)

#: The subfolders of `data/` in the catalog.
CATALOG_FOLDERS: Final = (
    "accelerators",
    "claims",
    "diffusion",
    "disputes",
    "models",
    "prices",
    "reference_designs",
    "serving_engines",
    "sources",
    "systems",
)
_CODE: Final = Path(__file__).resolve().parent
_PROGRAM: Final = _CODE.parents[1] / "gpudesk"
#: Folder of the files of serving engines.
ENGINES_FOLDER: Final = "serving_engines"


class _CsvLines(Protocol):
    """The type of `csv.reader`; its own has no public name."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


@frozen_dataclass
class DataEntry(Generic[_T_co]):
    """A record and its location: `file` below `data/`, `place` within it ("" for a whole file)."""

    file: str
    place: str
    record: _T_co

    def problem(self, field: str, problem: str) -> DataProblem:
        return DataProblem(self.file, " ".join(part for part in (self.place, field) if part), problem)


@frozen_dataclass
class DataFiles:
    """All records of `data/`, in the order of file names and lines."""

    sources: tuple[DataEntry[SourceRecord], ...]
    accelerators: tuple[DataEntry[AcceleratorFile], ...]
    systems: tuple[DataEntry[SystemFile], ...]
    reference_designs: tuple[DataEntry[ReferenceDesignFile], ...]
    models: tuple[DataEntry[ModelFile], ...]
    diffusion: tuple[DataEntry[DiffusionFile], ...]
    rents: tuple[DataEntry[CloudPriceRecord], ...]
    purchases: tuple[DataEntry[PurchasePriceRecord], ...]
    providers: tuple[DataEntry[ProviderRecord], ...]
    api_prices: tuple[DataEntry[ApiPriceRecord], ...]
    missing_prices: tuple[DataEntry[MissingPriceRecord], ...]
    seed_claims: tuple[DataEntry[SeedClaimRecord], ...]
    disputes: tuple[DataEntry[DisputeRecord], ...]
    engines: tuple[DataEntry[ServingEngine], ...]


@cache
def _make_adapter(schema: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any dataclass
    return TypeAdapter(schema)


class DataFileReader:
    """Reads files below one folder and collects their problems in `problems`."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.problems: list[DataProblem] = []

    def folder(self, name: str, schema: type[_T]) -> tuple[DataEntry[_T], ...]:
        """Read every TOML file of a folder; an empty folder is a problem."""
        paths = sorted((self.data_dir / name).glob("*.toml"))
        if not paths:
            self.problems.append(DataProblem(name, "", "the folder holds no TOML file"))
        entries = (self._read_toml(f"{name}/{path.name}", schema) for path in paths)
        return tuple(entry for entry in entries if entry is not None)

    def table(self, name: str, schema: type[_R]) -> tuple[DataEntry[_R], ...]:
        """Read a CSV table whose header must be the fields of the schema, one record per line."""
        try:
            with (self.data_dir / name).open(encoding="utf-8", newline="") as file:
                return tuple(self._read_lines(name, csv.reader(file, strict=True), schema))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            self.problems.append(DataProblem(name, "", _explain_unreadable(error)))
            return ()

    def _read_toml(self, name: str, schema: type[_T]) -> DataEntry[_T] | None:
        try:
            content = tomllib.loads((self.data_dir / name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            self.problems.append(DataProblem(name, "", _explain_unreadable(error)))
            return None
        return self._validate(name, "", content, schema)

    def _read_lines(self, name: str, lines: _CsvLines, schema: type[_R]) -> Iterator[DataEntry[_R]]:
        header: list[str] = next(lines, [])
        if header != list(schema.model_fields):
            header_text = ",".join(schema.model_fields)
            self.problems.append(DataProblem(name, "line 1", f"the columns must be {header_text}"))
            return
        for cells in lines:
            place = f"line {lines.line_num}"
            if len(cells) != len(header):
                problem = f"has {len(cells)} cells, the header {len(header)}"
                self.problems.append(DataProblem(name, place, problem))
                continue
            entry = self._validate(name, place, dict(zip(header, cells, strict=True)), schema)
            if entry is not None:
                yield entry

    def _validate(self, name: str, place: str, content: dict[str, Any], schema: type[_T]) -> DataEntry[_T] | None:
        try:
            if issubclass(schema, BaseModel):
                return DataEntry(name, place, schema.model_validate(content))
            # Via JSON: in strict mode, which rejects numbers in quotes, pydantic accepts lists as sets and words as
            # enumerations only from JSON.
            plain, hint = json.dumps(content, default=str), cast("Any", schema)
            return DataEntry(name, place, _make_adapter(hint).validate_json(plain, strict=True, extra="forbid"))
        except ValidationError as error:
            self.problems += (
                DataProblem(name, " ".join(part for part in (place, field) if part), problem)
                for field, problem in list_validation_problems(error)
            )
            return None


def read_data_files(data_dir: Path) -> tuple[DataFiles, list[DataProblem]]:
    """Read everything; the problems are those of single files, whose faulty records are left out."""
    reader = DataFileReader(data_dir)
    files = DataFiles(
        sources=tuple(
            DataEntry(entry.file, f"sources.{slug}", source)
            for entry in reader.folder("sources", SourcesFile)
            for slug, source in entry.record.sources.items()
        ),
        accelerators=reader.folder("accelerators", AcceleratorFile),
        systems=reader.folder("systems", SystemFile),
        reference_designs=reader.folder("reference_designs", ReferenceDesignFile),
        models=reader.folder("models", MODEL_FILE),
        diffusion=reader.folder("diffusion", DiffusionFile),
        rents=reader.table("prices/cloud.csv", CloudPriceRecord),
        purchases=reader.table("prices/purchase.csv", PurchasePriceRecord),
        providers=reader.table("prices/providers.csv", ProviderRecord),
        api_prices=reader.table("prices/api.csv", ApiPriceRecord),
        missing_prices=reader.table("prices/missing.csv", MissingPriceRecord),
        seed_claims=reader.table("claims/seeds.csv", SeedClaimRecord),
        disputes=(
            *reader.table("disputes/seeds.csv", DisputeRecord),
            *reader.table("disputes/hardware.csv", HardwareDisputeRecord),
        ),
        engines=reader.folder(ENGINES_FOLDER, ServingEngine),
    )
    return files, reader.problems


def _explain_unreadable(error: Exception) -> str:
    """Return why a file could not be read, without its path: the caller puts that in front."""
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    kind = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "is broken"
    return f"{kind}: {error}"


def compute_inputs_digest(data_dir: Path) -> str:
    """Digest the data files and the code that turns them into a catalog."""
    digest = hashlib.sha256()
    code = (_PROGRAM / "domain", _PROGRAM / "catalog", _CODE)
    for folder in (*(data_dir / part for part in CATALOG_FOLDERS), *code):
        for file in sorted(folder.glob("*.*")):
            if file.suffix in {".toml", ".csv", ".py"}:
                content = file.read_bytes()
                digest.update(f"{folder.name}/{file.name} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()
