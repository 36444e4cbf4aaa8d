"""Models and accelerators that the user entered are told from shipped ones, on screen and on paper."""

from __future__ import annotations

import json
from dataclasses import replace

from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.catalog.importing.model_facts import make_model_facts
from gpudesk.catalog.user_store import edits, entry
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.domain.estimate_json import write_estimate_json
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.table import build_comparison_table
from gpudesk.report.decision.recommendation import list_decision_assumptions
from gpudesk.report.labels import label_estimate_basis
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ClaimValue, Formatter

TODAY = "2026-11-21"


def test_sheet_marks_user_entries() -> None:
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
        claims = [
            UserClaim("acme-1", name, value, source.id, SourceKind.USER, TODAY) for name, value in figures.items()
        ]
        part: tuple[UserFact, ...] = (UserAccelerator("acme-1", "Acme 1", "Acme", "hopper"), *claims)
        bench.user_catalog.do(edits.add_facts(bench.catalog, [source, *model, *part], "mine"))
        parts = (AcceleratorChoice("acme-1", 1), AcceleratorChoice("h200-sxm", 1))
        scenario = replace(read_template("70b-chat-on-four"), model="my-llama", accelerators=parts)
        answer = bench.answer(scenario)
        sheet = build_sheet(answer, date=TODAY, explain=bench.explain)
        heads = build_comparison_table(answer, Formatter()).heads
    assert "yours" in heads[0].detail
    assert "yours" not in heads[1].detail
    assert sheet.assumptions[0].value == "My Llama (custom entry)"
    assert "custom entry" in sheet.heads[0].detail
    assert "custom entry" not in sheet.heads[1].detail


UNKNOWN = {
    "model_type": "newarch",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "attention_bias": False,
    "gated_mlp": True,
    "qk_norm": "none",
    "tie_word_embeddings": False,
    "max_position_embeddings": 131072,
    "mamba_ratio": 3,
}


def test_unknown_architecture_is_noted_on_every_result() -> None:
    proposal = propose_model(json.dumps(UNKNOWN).encode(), {}, name="Newer", today=TODAY)
    with GpuDeskService.open() as bench:
        bench.user_catalog.do(edits.add_facts(bench.catalog, proposal.facts, "mine"))
        scenario = replace(
            read_template("70b-chat-on-four"), model="newer", accelerators=(AcceleratorChoice("h200-sxm", 1),)
        )
        answer = bench.answer(scenario)
        estimate = answer.columns[0].estimate
        assert estimate is not None
        table = build_comparison_table(answer, Formatter())
        sheet = build_sheet(answer, date=TODAY)
        decision = bench.decide(answer)
    # No published row is of such an architecture, also for a known accelerator.
    assert (estimate.basis, estimate.user_model) == (EstimateBasis.UNCALIBRATED, True)
    assert estimate.notes[0].id == "model.generic_unread"
    assert any("mamba_ratio" in remark.text for remark in sheet.remarks)
    basis = next(row for group in table.groups for row in group.rows if row.key == "basis")
    assert basis.cells[0].text == "uncalibrated, your model"
    assert any("newarch" in line for line in list_decision_assumptions(decision, {}, Formatter()))


def test_estimate_of_a_user_model_names_its_author() -> None:
    source = entry.make_user_source("config.json")
    with GpuDeskService.open() as bench:
        definition = {**bench.catalog.definition("llama-3.1-8b"), "id": "my-llama", "name": "My Llama"}
        model = make_model_facts(definition, source, today=TODAY)
        bench.user_catalog.do(edits.add_facts(bench.catalog, model, "mine"))
        scenario = replace(
            read_template("70b-chat-on-four"), model="my-llama", accelerators=(AcceleratorChoice("h200-sxm", 1),)
        )
        estimate = bench.answer(scenario).columns[0].estimate
        shipped_estimate = bench.answer(replace(scenario, model="llama-3.1-8b")).columns[0].estimate
    assert estimate is not None
    assert shipped_estimate is not None
    assert (label_estimate_basis(estimate), label_estimate_basis(shipped_estimate)) == (
        "calibrated, your model",
        "calibrated",
    )
    assert write_estimate_json(estimate)["model_basis"] == "user"
    assert estimate.tpot_ms == shipped_estimate.tpot_ms
