"""What parts, columns and loads are called wherever room is scarce."""

from __future__ import annotations

import re
from typing import Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import column_keys
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.text import tr, trn

#: Series, memory, remarks and second names in a part's name.
_LEFT_OUT: Final = re.compile(r"\bInstinct\b|\bGeForce\b|\([^)]*\)|\b\d+ ?GB\b| / .*")

#: The end of the key of a column that is the same as one before it.
_AGAIN: Final = re.compile(r"#(\d+)$")


def short_name(name: str) -> str:
    """Return a part's name without its series, its memory, a second name and what stands in brackets."""
    return " ".join(_LEFT_OUT.sub("", name).split()) or name


def part_names(answer: Answer) -> tuple[str, ...]:
    """Return the short name of each column's part; that of two columns where a part comes twice."""
    full = [column.accelerator.name for column in answer.columns]
    short = [short_name(name) for name in full]
    # Two parts must not be called the same.
    return tuple(
        brief if _unique(brief, short, full) else name for brief, name in zip(short, full, strict=True)
    )


def _unique(brief: str, short: list[str], full: list[str]) -> bool:
    return len({name for other, name in zip(short, full, strict=True) if other == brief}) == 1


def column_names(answer: Answer) -> tuple[str, ...]:
    """Return what columns are called: by their parts, with the count where a part comes twice."""
    keys = column_keys(answer.scenario.accelerators)
    return tuple(
        _AGAIN.sub(r" (\1)", key.replace(column.choice.accelerator, name, 1).replace(":", " × "))
        for key, name, column in zip(keys, part_names(answer), answer.columns, strict=True)
    )


def tokens_text(tokens: int, formatter: Formatter) -> str:
    """Return a number of tokens in words."""
    return trn("{n} token", "{n} tokens", tokens, n=formatter.count(tokens))


def load_text(load: Load, formatter: Formatter) -> str:
    """Return the load in words."""
    if load.kind is LoadKind.BATCH:
        return tr("batch of {n}", n=formatter.count(load.batch))
    if load.kind is LoadKind.CONCURRENCY:
        clients = tr("{n} in flight", n=formatter.count(load.concurrency))
        if load.requests is None:
            return clients
        return tr("{clients}, {n} in all", clients=clients, n=formatter.count(load.requests))
    if load.kind is LoadKind.SATURATE:
        return tr("{n} queued at once", n=formatter.count(load.requests))
    if load.kind is LoadKind.REQUEST_RATE:
        return tr("{n} requests/s", n=formatter.stated(load.request_rate))
    return tr(
        "TTFT {ttft} ms, TPOT {tpot} ms ({limit})",
        ttft=formatter.stated(load.ttft_ms),
        tpot=formatter.stated(load.tpot_ms),
        limit=tr("mean") if load.limit == "mean" else tr("p99"),
    )
