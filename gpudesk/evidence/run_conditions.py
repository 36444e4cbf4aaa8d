"""The conditions of a published run: from the cells of a row to the question that the program is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.workloads import Load, LoadKind, Workload

_T = TypeVar("_T")

_MONTH: Final = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])")
_FLAGS: Final = {"true": True, "false": False}
#: How far lengths spread: not at all, by a tenth, evenly from nothing to twice the mean, as in real traffic.
_LENGTHS: Final = {"fixed": 0.0, "near": 0.05, "uniform": 0.45, "varied": 1.0}
_PRECISIONS: Final = {precision.value: precision for precision in Precision}
_LOADS: Final = {kind.value: kind for kind in LoadKind}
_KV: Final = {precision.value: precision for precision in KV_BYTES}


class CellError(Exception):
    """What is wrong with one cell."""

    def __init__(self, column: str, problem: str) -> None:
        """Keep the column and the problem."""
        super().__init__(f"{column}: {problem}")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file with its cells by column; an empty cell is unknown or left to the program."""

    file: str
    line: int
    cells: Mapping[str, str]

    def place(self, error: CellError) -> str:
        """Return what is wrong with the row, with file and line."""
        return f"{self.file}, line {self.line}: {error}"

    def assumed(self) -> tuple[str, ...]:
        """Return the columns that the source leaves open."""
        return tuple(filter(None, self.cells["assumed"].split(";")))

    def number(self, column: str) -> float:
        """Return a finite number above zero."""
        cell = self.cells[column]
        try:
            value = float(cell)
        except ValueError:
            raise CellError(column, f"{cell!r} is no number") from None
        if not math.isfinite(value) or value <= 0:
            raise CellError(column, f"{cell!r} is not above zero")
        return value

    def optional_number(self, column: str) -> float | None:
        """Return a number above zero, or None where the cell is empty."""
        return self.number(column) if self.cells[column] else None

    def whole(self, column: str) -> int:
        """Return a whole number of at least 1."""
        cell = self.cells[column]
        if not cell.isdecimal() or int(cell) < 1:
            raise CellError(column, f"{cell!r} is no whole number of at least 1")
        return int(cell)

    def optional_whole(self, column: str) -> int | None:
        """Return a whole number of at least 1, or None where the cell is empty."""
        return self.whole(column) if self.cells[column] else None

    def flag(self, column: str) -> bool:
        """Return a yes or no."""
        return _one_of(self, column, _FLAGS)

    def optional_flag(self, column: str) -> bool | None:
        """Return a yes or no, or None where the cell is empty."""
        return self.flag(column) if self.cells[column] else None

    def tokens(self, column: str) -> int:
        """Return a mean length as the nearest whole number of tokens."""
        return max(1, round(self.number(column)))


def _one_of(row: Row, column: str, words: Mapping[str, _T]) -> _T:
    cell = row.cells[column]
    if cell not in words:
        raise CellError(column, f"{cell!r} is none of {', '.join(words)}")
    return words[cell]


def formats(row: Row) -> tuple[Precision, Precision]:
    """Return the formats of the weights and of the KV cache."""
    return _one_of(row, "weights", _PRECISIONS), _one_of(row, "kv", _KV)


def estimate_request(row: Row, accelerator: str, model: str) -> EstimateRequest:
    """Return the question that asks for the figures of a run; the part and the model are catalog ids."""
    date = row.cells["date"]
    weights, kv = formats(row)
    if not _MONTH.fullmatch(date):
        raise CellError("date", f"{date!r} is no month (YYYY-MM)")
    return EstimateRequest(
        accelerator=accelerator,
        model=model,
        weights=weights,
        kv=kv,
        workload=_workload(row),
        count=row.whole("count"),
        serving_engine=row.cells["serving_engine"] or None,
        date=date,
        tp=row.optional_whole("tp"),
        pp=row.optional_whole("pp"),
        ep=row.optional_whole("ep"),
        dp=row.optional_whole("dp"),
        attention_dp=row.optional_flag("attention_dp"),
        memory_fraction=row.optional_number("memory_fraction"),
        max_batch=row.optional_whole("max_batch"),
        max_batched_tokens=row.optional_whole("max_batched_tokens"),
        id=row.cells["run"],
    )


def _workload(row: Row) -> Workload:
    spread = _one_of(row, "lengths", _LENGTHS)
    return Workload(
        input_tokens=row.tokens("input_tokens"),
        output_tokens=row.tokens("output_tokens"),
        load=_load(row),
        varied=spread > 0,
        spread=spread or 1.0,
        server=row.flag("server"),
        prefix_hit_rate=row.optional_number("prefix_hit_rate") or 0.0,
        eager=row.flag("eager"),
    )


def _load(row: Row) -> Load:
    kind = _one_of(row, "load", _LOADS)
    if kind is LoadKind.BATCH:
        return Load(kind, batch=row.whole("amount"))
    if kind is LoadKind.CONCURRENCY:
        return Load(kind, concurrency=row.whole("amount"), requests=row.optional_whole("requests"))
    if kind is LoadKind.SATURATE:
        return Load(kind, requests=row.whole("requests"))
    if kind is LoadKind.REQUEST_RATE:
        return Load(kind, request_rate=row.number("amount"))
    return Load(kind, ttft_ms=row.number("ttft_limit_ms"), tpot_ms=row.number("tpot_limit_ms"))
