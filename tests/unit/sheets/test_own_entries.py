"""Models and accelerators that the user entered are told from shipped ones, on screen and on paper."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.catalog.importing.model_facts import model_facts
from gpudesk.domain.claims import ClaimValue, Kind
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFact
from gpudesk.domain.scenarios import AcceleratorChoice
from gpudesk.sheets.comparison_table import comparison_table
from gpudesk.sheets.sections import make_sheet
from gpudesk.workbench import own_edits
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

TODAY = "2026-11-21"


def test_own_entries_say_so() -> None:
    source = own_edits.own_source("Draft of a data sheet")
    figures: dict[str, ClaimValue] = {
        "memory": 192 << 30,
        "memory_bandwidth": 5 * 10**12,
        "software_platform": "cuda",
        "peak_dense_bf16": 9 * 10**14,
    }
    with Workbench.open() as bench:
        definition = {**bench.catalog.definition("llama-3.1-8b"), "id": "my-llama", "name": "My Llama"}
        model = model_facts(definition, source, today=TODAY)
        stated = [
            OwnClaim("acme-1", name, value, source.id, Kind.USER, TODAY) for name, value in figures.items()
        ]
        part: tuple[OwnFact, ...] = (OwnAccelerator("acme-1", "Acme 1", "Acme", "hopper"), *stated)
        bench.own.do(own_edits.add(bench.catalog, [source, *model, *part], "mine"))
        parts = (AcceleratorChoice("acme-1", 1), AcceleratorChoice("h200-sxm", 1))
        scenario = replace(read_template("70b-chat-on-four"), model="my-llama", accelerators=parts)
        answer = bench.answer(scenario)
        sheet = make_sheet(answer, date=TODAY, explain=bench.explain)
        heads = comparison_table(answer, Formatter()).heads
    assert "yours" in heads[0].detail
    assert "yours" not in heads[1].detail
    assert sheet.assumptions[0].value == "My Llama (own entry)"
    assert "own entry" in sheet.heads[0].detail
    assert "own entry" not in sheet.heads[1].detail
