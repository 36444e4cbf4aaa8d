"""Sentences about software, deployments, steps of a purchase and loading, as window and terminal show them."""

from dataclasses import replace

from gpudesk.decision.purchasing.procurement import make_negotiation_sheet
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain import decision
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.deployment_analysis import QuotedLinkRate, WeightLoading
from gpudesk.domain.purchase import NegotiationSheet, ProcurementFigure, ProcurementStepStatus
from gpudesk.domain.reference_data import ReferenceDeployment, SupportEntry, SupportLevel
from gpudesk.report.decision.advisory import (
    describe_expired_step,
    describe_missing_facts,
    describe_operator,
    describe_quoted_link,
    describe_reference,
    describe_step_alternative,
    describe_step_reason,
    describe_support,
    describe_unknown_time,
    format_host_count,
    format_load_time,
    format_progress,
    format_scale,
    format_step_amount,
    format_step_figure,
    group_by_software,
    join_lines,
    label_step_state,
    list_load_workings,
    list_loading_lines,
    list_negotiation_lines,
    list_platforms,
    list_reference_lines,
    list_step_remarks,
    list_support_lines,
    merge_loading_notes,
    split_platforms,
    summarize_step,
)
from gpudesk.report.labels import label_document
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import message

FORMATTER = Formatter()
TODAY = "2026-11-23"


def scenario_of(*parts: tuple[str, int | None]) -> Scenario:
    choices = tuple(AcceleratorChoice(part, count) for part, count in parts)
    return replace(read_template("70b-chat-on-four"), accelerators=choices)


def spaced(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


# Software and deployments


def test_each_software_has_its_newest_entry_first_and_none_is_merged(service: GpuDeskService) -> None:
    support = service.reference_data.support
    groups = list(group_by_software(support, "ROCm"))
    assert [group[0].software for group in groups] == [
        each for each in support.software if support.support("ROCm", each)
    ]
    vllm = next(group for group in groups if group[0].software == "vllm")
    assert [entry.date for entry in vllm] == ["2026-05-15", "2026-03", "2026-03", "2026-02-27", "2024-01", None]
    lines = join_lines(list_support_lines(support, ["ROCm"])).splitlines()
    titles = {label_document(entry.source) for entry in support.entries}
    assert sum(any(title in line for title in titles) for line in lines) == len(support.support("ROCm"))
    assert sum(line.strip() == "vLLM" for line in lines) == 1


def test_platform_without_statements_is_reported(service: GpuDeskService) -> None:
    text = join_lines(list_support_lines(service.reference_data.support, ["SynapseAI"]))
    assert "No source describes software support on SynapseAI." in text
    assert set(list_platforms(service.reference_data.support)) == {"CUDA", "ROCm"}


def test_entry_shows_level_scope_date_document_and_disputes() -> None:
    entry = SupportEntry("x", "X", "ROCm", SupportLevel.LAGS, "Slow", "seed-002", None, (), ("D-1", "D-2"))
    assert describe_support(entry) == ("lags behind: Slow (undated, AMD stack scorecard); sources disagree")
    assert label_document("own-notes") == "own-notes"


def test_platforms_of_one_accelerator_are_distinguished() -> None:
    assert split_platforms("JAX/XLA, PyTorch") == ("JAX/XLA", "PyTorch")
    assert split_platforms(None) == ()


def test_deployment_names_accelerator_count_and_source() -> None:
    reference = ReferenceDeployment("r", "A bank", False, "Runs it", "the author", "seed-002", count=1, date="2024-02")
    assert describe_operator(reference) == "A bank (unnamed)"
    assert describe_operator(replace(reference, named=True)) == "A bank"
    assert format_scale(reference, FORMATTER) == "1 accelerator"
    assert format_scale(replace(reference, count=4800), FORMATTER) == "4,800 accelerators"
    description = describe_reference(replace(reference, count=None, disputes=("D-9",)), FORMATTER)
    assert description == (
        "A bank (unnamed): Runs it. Count not published, 2024-02; the author (AMD stack scorecard); sources disagree"
    )
    assert "describes a deployment" in join_lines(list_reference_lines((), FORMATTER))


# A purchase


def steps(service: GpuDeskService, **facts: float | bool | None) -> NegotiationSheet:
    return make_negotiation_sheet(service.reference_data.steps, facts, {"P002-04": "by June"}, TODAY)


def step(service: GpuDeskService, number: int, **facts: float | bool | None) -> ProcurementStepStatus:
    return steps(service, **facts).lines[number - 1]


def test_negotiation_step_names_its_state_and_missing_facts(service: GpuDeskService) -> None:
    open_step = step(service, 1, fleet_size=800.0)
    assert label_step_state(open_step) == "Undecided"
    assert describe_step_reason(open_step, FORMATTER) == (
        "Accelerators sharing the software, 800 > 200: yes; competing quote available: unknown."
    )
    assert describe_missing_facts(open_step) == "Missing: whether you have a competing quote."
    assert (describe_step_alternative(open_step) or "").startswith("Otherwise: Use list prices")
    applies = step(service, 1, fleet_size=800.0, competing_quote=True)
    assert (label_step_state(applies), describe_missing_facts(applies), describe_step_alternative(applies)) == (
        "Applies",
        None,
        None,
    )
    small = step(service, 1, fleet_size=8.0, competing_quote=True)
    assert label_step_state(small) == "Does not apply"
    assert "8 > 200: no" in (describe_step_reason(small, FORMATTER) or "")


def test_unknown_facts_are_marked_unknown(service: GpuDeskService) -> None:
    nothing = step(service, 1)
    assert "software, unknown > 200: unknown" in (describe_step_reason(nothing, FORMATTER) or "")
    assert describe_missing_facts(nothing) == (
        "Missing: whether you have a competing quote; number of accelerators sharing the software."
    )


def test_a_step_without_a_condition_needs_no_reason(service: GpuDeskService) -> None:
    always = step(service, 5)
    assert (describe_step_reason(always, FORMATTER), describe_missing_facts(always), describe_expired_step(always)) == (
        None,
        None,
        None,
    )
    assert list_step_remarks(always, FORMATTER) == ()


def test_time_that_is_over_is_reported(service: GpuDeskService) -> None:
    assert describe_expired_step(step(service, 3)) == "Expired: the source covers the time until 2024-06."


def test_figures_keep_their_marks(service: GpuDeskService) -> None:
    figures = step(service, 1).step.figures
    assert spaced(format_step_figure(figures[0], FORMATTER)).startswith("16 – 22%: MI325X discount: ")
    assert "anecdotal (unnamed people)" in format_step_figure(figures[0], FORMATTER)
    assert "; recomputed; sources disagree)" in format_step_figure(figures[-1], FORMATTER)
    assert spaced(format_step_amount(ProcurementFigure("x", 1, "years"), FORMATTER)) == "1 year"
    assert spaced(format_step_amount(ProcurementFigure("x", 200, "accelerators"), FORMATTER)) == "200 accelerators"


def test_completed_steps_are_counted_with_notes(service: GpuDeskService) -> None:
    sheet = steps(service)
    assert format_progress(sheet, FORMATTER) == "1 of 6 steps done"
    first, roadmap = sheet.lines[3], sheet.lines[4]
    assert summarize_step(first, FORMATTER) == "Applies. High impact.", "a step that is done has no point open"
    assert summarize_step(roadmap, FORMATTER) == "Applies. Low impact. 1 point open."
    text = join_lines(list_negotiation_lines(sheet, FORMATTER))
    assert "[x] Exact support terms (P002-04): by June" in text
    assert text.count("[ ]") == 5 + sum(len(line.points) for line in sheet.lines)


def test_a_comparison_that_is_only_true_or_not_has_no_sign(service: GpuDeskService) -> None:
    line = replace(step(service, 2), tested=(decision.ConditionResult("both_platforms", False, None, False),))
    assert describe_step_reason(line, FORMATTER) == "Serving engine runs on all accelerators: no."


# Loading


def loadings(service: GpuDeskService, scenario: Scenario) -> dict[str, WeightLoading]:
    by_key = service.reference_data.loadings(service.answer(scenario))
    return {key: each for key, each in by_key.items() if isinstance(each, WeightLoading)}


def test_times_come_with_their_formulas(service: GpuDeskService) -> None:
    h200 = loadings(service, scenario_of(("h200-sxm", 1)))["h200-sxm"]
    assert format_load_time(h200.one, FORMATTER) == "1.15 s"
    assert [spaced(line) for line in list_load_workings(h200.one, FORMATTER)] == [
        "One direction of the host link: 126 GB/s ÷ 2 = 63.0 GB/s",
        "Over the host link: 72.7 GB ÷ 63.0 GB/s = 1.15 s",
    ]
    assert format_host_count(h200, FORMATTER) == "1 per host"
    link_text = spaced(describe_quoted_link(h200.quoted[0], FORMATTER))
    assert link_text == "At the 64.0 GB/s to 128 GB/s stated in C000-035 (2026-03): 1.14 s to 568 ms"
    one = QuotedLinkRate("C1", None, 64e9, 64e9, 1.0, 1.0)
    assert "At the 64.0 GB/s stated in C1 (undated): 1.00 s" in spaced(describe_quoted_link(one, FORMATTER))


def test_storage_that_is_slower_sets_the_time(service: GpuDeskService) -> None:
    scenario = scenario_of(("h200-sxm", 16))
    settings = replace(scenario.decision, plans={"storage_gb_s": 14.0})
    h200 = loadings(service, replace(scenario, decision=settings))["h200-sxm"]
    lines = [spaced(line) for line in list_load_workings(h200.host, FORMATTER)]
    assert lines[-1] == "The slower of the two sets the time."
    assert any(line.startswith("Weights read: ") for line in lines)
    assert any(line.endswith(f"= {format_load_time(h200.host, FORMATTER)}") for line in lines)


def test_unknown_value_has_a_reason(service: GpuDeskService) -> None:
    scenario = scenario_of(("gb200-nvl72", 8), ("trainium2", 1), ("l4", 1))
    settings = replace(scenario.decision, plans={"storage_gb_s": 14.0})
    by_key = service.reference_data.loadings(service.answer(replace(scenario, decision=settings)))
    gb200, trainium = by_key["gb200-nvl72"], by_key["trainium2"]
    assert isinstance(gb200, WeightLoading)
    assert format_load_time(gb200.host, FORMATTER) == "unknown"
    assert "per host is unknown" in list_load_workings(gb200.host, FORMATTER)[0]
    assert format_host_count(gb200, FORMATTER) == "—"
    assert isinstance(trainium, WeightLoading)
    assert list_load_workings(trainium.one, FORMATTER)[1].startswith("From storage alone: 5.19")
    names = {key: key.upper() for key in by_key}
    text = spaced(join_lines(list_loading_lines(by_key, names, FORMATTER)))
    assert "L4: unknown: The weights do not fit 1 × L4" in text
    assert describe_unknown_time(
        message("explain.does_not_fit", "Estimate not available: the model does not fit"), FORMATTER
    ).startswith("unknown: ")


def test_notes_are_reported_once_and_with_names_where_not_for_all(service: GpuDeskService) -> None:
    by_key = service.reference_data.loadings(service.answer(scenario_of(("h200-sxm", 1), ("b200-hgx", 1))))
    notes = merge_loading_notes(by_key, {"h200-sxm": "H200", "b200-hgx": "B200"}, FORMATTER)
    assert len(notes) == len(set(notes))
    assert any(note.startswith("B200: The catalog lists PCIe bandwidth for both directions") for note in notes)
    assert any(note.startswith("Storage speed is not set") for note in notes)
