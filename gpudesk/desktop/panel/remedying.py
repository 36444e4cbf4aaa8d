"""Edits that a remedy asks for."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.desktop.session.edits import with_count, with_load_value
from gpudesk.domain.precision import Precision
from gpudesk.domain.scenarios import Scenario
from gpudesk.domain.sizing import Remedy, RemedyKind


def with_remedy(scenario: Scenario, position: int, remedy: Remedy) -> Scenario:
    """Return the scenario in which the accelerator at a position holds what it is asked to.

    Formats and the number of requests are those of the scenario, so that they change for all columns.
    """
    value = remedy.value
    if remedy.kind is RemedyKind.WEIGHTS:
        return replace(scenario, weights=Precision(str(value)))
    if remedy.kind is RemedyKind.KV:
        return replace(scenario, kv=Precision(str(value)))
    if remedy.kind is RemedyKind.COUNT:
        return with_count(scenario, position, int(value))
    return with_load_value(scenario, int(value))
