"""A scenario that rests on facts of its author: an accelerator of their own, and a bandwidth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpudesk.domain.claims import ClaimValue, Kind
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFact
from gpudesk.domain.scenarios import AcceleratorChoice
from gpudesk.workbench import own_edits
from gpudesk.workbench.own_checks import own_source
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

TODAY = "2026-11-21"
QUOTE = own_source("Data sheet, draft", "Acme")
_FIGURES: dict[str, ClaimValue] = {
    "memory": 137438953472,
    "memory_bandwidth": 4 * 10**12,
    "software_platform": "cuda",
}
_PART: tuple[OwnFact, ...] = (
    QUOTE,
    OwnAccelerator("acme-1", "Acme 1", "Acme", "hopper"),
    *(OwnClaim("acme-1", name, value, QUOTE.id, Kind.USER, TODAY) for name, value in _FIGURES.items()),
)


def save_of_author(path: Path) -> None:
    """State the author's facts in the user's folder in force, and save a scenario that uses them."""
    parts = (AcceleratorChoice("acme-1", 2), AcceleratorChoice("mi325x", 1))
    with Workbench.open() as bench:
        bench.own.do(own_edits.add(bench.catalog, _PART, "Acme 1"))
        edit = own_edits.state_value(
            bench.catalog, "mi325x", "memory_bandwidth", 5.3, "TB/s", QUOTE, today=TODAY
        )
        bench.own.do(edit)
        bench.save_scenario(replace(read_template("70b-chat-on-four"), accelerators=parts), path)
