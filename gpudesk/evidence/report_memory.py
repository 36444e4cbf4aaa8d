"""Section of the accuracy report on memory: what serving engines print of theirs against what we say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gpudesk.evidence.memory_rows import CACHE_METRICS, JudgedMemory
from gpudesk.evidence.report_data import ReportData
from gpudesk.evidence.report_words import count, factor, share, table

#: What the metrics are called, the room for the cache apart.
_PARTS: Final = {
    "weights": "weights",
    "activations": "activations",
    "driver_memory": "memory that the driver reports",
}


def memory_section(data: ReportData) -> list[str]:
    """Return the section."""
    lines = ["## 7. Memory", ""]
    if not data.memory:
        return [*lines, "No serving engine's own figures of its memory are there.", ""]
    publications = len({each.row.source for each in data.memory})
    room = [each for each in data.memory if each.row.metric in CACHE_METRICS]
    by_engine: dict[str, list[JudgedMemory]] = {}
    for each in sorted(room, key=lambda one: one.row.request.serving_engine or ""):
        by_engine.setdefault(each.row.request.serving_engine or "", []).append(each)
    body = [_row("room for the KV cache", "all", room)] if room else []
    body += [_row("room for the KV cache", engine, rows) for engine, rows in by_engine.items()]
    for metric, name in _PARTS.items():
        rows = [each for each in data.memory if each.row.metric == metric]
        if rows:
            body.append(_row(name, "all", rows))
    return [
        *lines,
        (
            f"Serving engines print when they start how they divide the memory: "
            f"{count(len(data.memory), 'figure')} from {count(publications, 'publication')}, each beside "
            "what an estimate of the same deployment says. Nothing is fitted here: settings and kernels are "
            "facts with sources, though they were settled while looking at these rows."
        ),
        "",
        *table(("what", "serving engine", "rows", "median", "p90", "bias"), body, text_columns=2),
    ]


def _row(what: str, engine: str, rows: Sequence[JudgedMemory]) -> tuple[str, ...]:
    ratios = np.array([each.ratio for each in rows])
    errors = np.abs(ratios - 1.0)
    return (
        what,
        engine,
        f"{len(rows):,}",
        share(float(np.median(errors))),
        share(float(np.quantile(errors, 0.9))),
        factor(float(np.median(ratios))),
    )
