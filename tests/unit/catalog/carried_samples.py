"""A scenario that rests on facts of its author: an accelerator of their own, and a bandwidth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpudesk.catalog.user_store import edits
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ClaimValue

TODAY = "2026-11-21"
QUOTE = make_user_source("Data sheet, draft", "Acme")
_FIGURES: dict[str, ClaimValue] = {"memory": 137438953472, "memory_bandwidth": 4 * 10**12, "software_platform": "cuda"}
_PART: tuple[UserFact, ...] = (
    QUOTE,
    UserAccelerator("acme-1", "Acme 1", "Acme", "hopper"),
    *(UserClaim("acme-1", name, value, QUOTE.id, SourceKind.USER, TODAY) for name, value in _FIGURES.items()),
)


def save_of_author(path: Path) -> None:
    parts = (AcceleratorChoice("acme-1", 2), AcceleratorChoice("mi325x", 1))
    with GpuDeskService.open() as bench:
        bench.user_catalog.do(edits.add_facts(bench.catalog, _PART, "Acme 1"))
        edit = edits.state_value(bench.catalog, "mi325x", "memory_bandwidth", 5.3, "TB/s", QUOTE, today=TODAY)
        bench.user_catalog.do(edit)
        bench.save_scenario(replace(read_template("70b-chat-on-four"), accelerators=parts), path)
