"""The factor table of a document, each cell judged by a figure of these accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gpudesk.domain.decisions import Fact, Factor, FactorCell, Facts, Level


class _Row(NamedTuple):
    """One factor: the fact that it is judged by, the fact that says who leads in it, rules that state it."""

    id: str
    fact: str
    leads: str | None
    stated: tuple[str, ...]


#: In the document's order. What no leading fact judges has no measure: it stays unknown.
_ROWS: Final = (
    _Row("software", "engine_count", "most_engines", ("D003-15",)),
    _Row("very_large_models", "count", "leads_count", ("D003-16",)),
    _Row("cluster", "link_gbs", "leads_link", ("D003-17", "D003-02")),
    _Row("cost", "usd_per_million", "leads_cost", ("D003-18", "D003-07")),
    _Row("fine_tuning", "fine_tuning", None, ("D003-19", "D003-11")),
    _Row("experts", "memory_gib", "leads_memory", ("D003-20", "D003-06")),
    _Row("community", "community", None, ("D003-21",)),
    _Row("flexibility", "flexibility", None, ("D003-22",)),
    _Row("throughput", "tokens_per_s", "leads_throughput", ("D002-02", "D003-10")),
    _Row("first_token", "ttft_ms", "leads_ttft", ("D004-01",)),
    _Row("long_context", "kv_room_gb", "leads_kv_room", ("D000-04", "D001-02")),
    _Row("fp4", "fp4_pflops", "native_fp4", ("D002-04",)),
)


def factors(parts: Sequence[Facts]) -> tuple[Factor, ...]:
    """Return the rows of the table; of one accelerator alone nothing is preferred."""
    most = max((_engines(part) for part in parts), default=0.0)
    least = min((_engines(part) for part in parts), default=0.0)
    every = [{**part, "most_engines": None if most == least else _engines(part) == most} for part in parts]
    return tuple(Factor(row.id, row.fact, tuple(_cells(row, every)), row.stated) for row in _ROWS)


def _engines(part: Facts) -> float:
    count = part.get("engine_count")
    return count if isinstance(count, float) else 0.0


def _cells(row: _Row, parts: Sequence[Facts]) -> list[FactorCell]:
    if row.leads is None:
        return [FactorCell(Level.UNKNOWN, None) for _ in parts]
    leading = [part.get(row.leads) for part in parts]
    values = [part.get(row.fact) for part in parts]
    nobody = True not in leading or all(leading)
    return [
        FactorCell(_level(leads, value, fits=part.get("fits") is not False, nobody=nobody), value)
        for leads, value, part in zip(leading, values, parts, strict=True)
    ]


def _level(leads: Fact, value: Fact, *, fits: bool, nobody: bool) -> Level:
    if leads is False and value == 0.0:
        return Level.LACKS
    if value is None or not fits:
        return Level.UNKNOWN
    if nobody:
        return Level.EQUAL
    return Level.PREFERRED if leads is True else Level.CAPABLE
