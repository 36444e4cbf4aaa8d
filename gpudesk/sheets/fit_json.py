"""Which accelerators hold which models, as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from gpudesk.domain.fit_matrix import FitCell
from gpudesk.domain.units import GIB
from gpudesk.sentences import sentence
from gpudesk.sheets.how_many_json import plan_fields


def fit_fields(
    cells: Iterable[FitCell], context: int, concurrency: int, beyond: Set[str] = frozenset()
) -> dict[str, Any]:
    """Return the cells of a question about sequences of `context` tokens, `concurrency` in flight.

    `beyond` are models that are not made for so many tokens.
    """
    return {
        "cells": [_cell(cell, context, concurrency, beyond_context=cell.model in beyond) for cell in cells]
    }


def _cell(cell: FitCell, context: int, concurrency: int, *, beyond_context: bool) -> dict[str, Any]:
    headroom, usable = cell.headroom_bytes, cell.usable_bytes
    return {
        "accelerator": cell.accelerator,
        "model": cell.model,
        "weights": cell.weights.value,
        "kv": cell.kv.value,
        "context": context,
        "concurrency": concurrency,
        "count": cell.count,
        "parallel": None if cell.plan is None else plan_fields(cell.plan),
        "serving_engine": cell.serving_engine,
        "usable_gib": None if usable is None else usable / GIB,
        "headroom_gib": None if headroom is None else headroom / GIB,
        "fits": cell.fits,
        "beyond_context": beyond_context,
        "reason": None if cell.reason is None else sentence(cell.reason),
    }
