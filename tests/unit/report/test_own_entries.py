"""Models and accelerators that the user entered are told from shipped ones, on screen and on paper."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.catalog.importing.model_facts import make_model_facts
from gpudesk.catalog.user_store import edits, entry
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.scenario import AcceleratorChoice
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.table import build_comparison_table
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ClaimValue, Formatter

TODAY = "2026-11-21"


def test_own_entries_say_so() -> None:
    source = entry.make_user_source("Draft of a data sheet")
    figures: dict[str, ClaimValue] = {
        "memory": 192 << 30,
        "memory_bandwidth": 5 * 10**12,
        "software_platform": "cuda",
        "peak_dense_bf16": 9 * 10**14,
    }
    with GpuDeskService.open() as bench:
        definition = {**bench.catalog.definition("llama-3.1-8b"), "id": "my-llama", "name": "My Llama"}
        model = make_model_facts(definition, source, today=TODAY)
        stated = [
            UserClaim("acme-1", name, value, source.id, SourceKind.USER, TODAY) for name, value in figures.items()
        ]
        part: tuple[UserFact, ...] = (UserAccelerator("acme-1", "Acme 1", "Acme", "hopper"), *stated)
        bench.user_catalog.do(edits.add_facts(bench.catalog, [source, *model, *part], "mine"))
        parts = (AcceleratorChoice("acme-1", 1), AcceleratorChoice("h200-sxm", 1))
        scenario = replace(read_template("70b-chat-on-four"), model="my-llama", accelerators=parts)
        answer = bench.answer(scenario)
        sheet = build_sheet(answer, date=TODAY, explain=bench.explain)
        heads = build_comparison_table(answer, Formatter()).heads
    assert "yours" in heads[0].detail
    assert "yours" not in heads[1].detail
    assert sheet.assumptions[0].value == "My Llama (own entry)"
    assert "own entry" in sheet.heads[0].detail
    assert "own entry" not in sheet.heads[1].detail
