"""Export control in words: products, limits, standings, days, and what is refused."""

from dataclasses import replace

import pytest

from gpudesk.domain.reference_data import (
    ExportCheck,
    ExportLimit,
    ExportLineCheck,
    ExportMetric,
    ExportRuleLine,
    LimitComparison,
)
from gpudesk.report.decision.advisory import join_lines, list_export_lines
from gpudesk.report.decision.export_control import (
    describe_destination,
    describe_limit_standing,
    describe_refused_claim,
    describe_rule_outcome,
    describe_rule_status,
    format_rule_dates,
    format_rule_limit,
    format_rule_title,
    get_export_warning,
    list_check_notes,
    list_export_rule_lines,
    list_rule_cell_lines,
    list_rule_conditions,
    list_rule_publications,
    list_scores,
    select_scored_rules,
)
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from gpudesk.text.formatting import GERMAN_NUMBERS, Formatter

FORMATTER = Formatter()
OCTOBER, JANUARY, FRAMEWORK, OLDEST = "bis-2023-10", "bis-2026-01", "bis-2025-01-diffusion", "bis-2022-10"


def checked(service: GpuDeskService, part: str, destination: str | None = None) -> ExportCheck:
    return service.reference_data.export_check(part, destination)


def test_scores_are_products_and_equal_ones_are_grouped(service: GpuDeskService) -> None:
    lines = list_scores(checked(service, "mi300x"), FORMATTER)
    assert lines[0] == "2,614.9 × 8 = 20,919 (FP8, INT8)"
    assert lines[1] == "1,307.4 × 16 = 20,918 (BF16, FP16)"
    assert lines[-1] == "653.7 TFLOPS, not scored (TF32)"
    assert list_scores(checked(service, "mi300x"), Formatter(GERMAN_NUMBERS))[0].startswith("2.614,9 × 8 = 20.919")


def test_a_part_without_peaks_has_a_dash(service: GpuDeskService) -> None:
    none = replace(checked(service, "mi300x"), scores=(), tpp=None)
    assert list_scores(none, FORMATTER) == ("—",)


@pytest.mark.parametrize(
    ("limit", "value", "expected"),
    [
        (ExportLimit(ExportMetric.TPP, 4800.0, True), 20919.2, "TPP 20,919: above 4,800"),
        (ExportLimit(ExportMetric.TPP, 4800.0, True), 4800.0, "TPP 4,800: exactly 4,800, which counts as above"),
        (ExportLimit(ExportMetric.TPP, 21000.0, False), 15824.0, "TPP 15,824: below 21,000"),
        (ExportLimit(ExportMetric.DENSITY, 5.92, True), None, "Performance density: unknown, limit 5.92"),
        (
            ExportLimit(ExportMetric.MEMORY_BANDWIDTH, 6.5e12, False),
            5.3e12,
            "Memory bandwidth 5.3\u00a0TB/s: below 6.5\u00a0TB/s",
        ),
    ],
)
def test_figure_is_shown_next_to_its_limit(limit: ExportLimit, value: float | None, expected: str) -> None:
    assert describe_limit_standing(LimitComparison(limit, value), FORMATTER) == expected


def test_limits_are_labeled_at_least_or_below() -> None:
    assert format_rule_limit(ExportLimit(ExportMetric.TPP, 4800.0, True), FORMATTER) == "TPP at least 4,800"
    assert format_rule_limit(ExportLimit(ExportMetric.TPP, 21000.0, False), FORMATTER) == "TPP below 21,000"


def test_outcomes_name_the_lines_behind_them(service: GpuDeskService) -> None:
    h200, b200, l4 = (
        {each.rule.id: each for each in checked(service, part).rules} for part in ("h200-sxm", "b200-hgx", "l4")
    )
    assert describe_rule_outcome(h200[OCTOBER]) == "Controlled: 3A090.a by TPP"
    assert describe_rule_outcome(h200[JANUARY]) == "Eligible: case-by-case review"
    # Above the limits of an easing rule the stricter review stays: nothing is free of control by it.
    assert describe_rule_outcome(b200[JANUARY]) == "Not eligible: case-by-case review"
    assert describe_rule_outcome(l4[OCTOBER]) == "Undecided: 3A090.a by density, 3A090.b by density"
    assert describe_rule_outcome(h200[FRAMEWORK]) == "No score applies"
    assert list_rule_cell_lines(l4[OCTOBER], FORMATTER) == (
        "TPP 1,936: below 4,800",
        describe_rule_outcome(l4[OCTOBER]),
    )
    assert list_rule_cell_lines(h200[FRAMEWORK], FORMATTER) == ("No score applies",)


def test_rules_have_dates_and_outcomes(service: GpuDeskService) -> None:
    rules = service.reference_data.export_rules
    by_id = {rule.id: rule for rule in rules.rules}
    assert format_rule_dates(by_id[OCTOBER]) == "effective 2023-11-17, published 2023-10-25"
    assert format_rule_dates(by_id[JANUARY]) == "published and effective 2026-01-15"
    assert format_rule_dates(by_id[OLDEST]) == "published 2022-10-13"
    translation.set_language("de")
    assert format_rule_dates(by_id[JANUARY]) == "veröffentlicht und in Kraft ab 15.01.2026"
    translation.set_language("en")
    assert format_rule_title(by_id[OCTOBER]) == "October 2023 rule (88 FR 73458)"
    assert format_rule_title(replace(by_id[OCTOBER], reference=None)) == "October 2023 rule"
    assert describe_rule_status(by_id[FRAMEWORK], rules) == "Not enforced since 2025-05-13, according to its publisher"
    assert describe_rule_status(by_id[OLDEST], rules) == "Superseded by: October 2023 rule"
    assert describe_rule_status(by_id[OCTOBER], rules) is None
    assert [rule.id for rule in select_scored_rules(rules)] == [JANUARY, OCTOBER]


def test_lines_of_a_rule_contain_its_whole_text(service: GpuDeskService) -> None:
    rules = service.reference_data.export_rules
    october = next(rule for rule in rules.rules if rule.id == OCTOBER)
    lines = list_export_rule_lines(october, rules, FORMATTER)
    assert lines[0] == october.counts
    assert "3A090.a by TPP: TPP at least 4,800." in lines
    assert lines[-1] == october.note
    assert any("TPP at least 1,600 and performance density at least 5.92" in line for line in lines)
    bare = replace(october, lines=(ExportRuleLine("one", (ExportLimit(ExportMetric.TPP, 1.0, True),), "Its note."),))
    assert list_rule_conditions(bare, FORMATTER) == ("one: TPP at least 1. Its note.",)
    places = list_rule_publications(october)
    assert len(places) == len(october.read_in)
    assert any("undated" in place and "https://" in place for place in places)


def test_a_destination_is_only_looked_for_among_those_that_are_named(service: GpuDeskService) -> None:
    rules = {rule.id: rule for rule in service.reference_data.export_rules.rules}
    china, peru = checked(service, "l4", "China"), checked(service, "l4", "Peru")
    assert describe_destination(rules[OCTOBER], china) == "The rule text on file names China."
    assert describe_destination(rules[OCTOBER], peru) == "The rule text on file does not name Peru."
    assert describe_destination(rules[FRAMEWORK], china) is None, "nothing read of it names a destination"
    assert describe_destination(rules[OCTOBER], checked(service, "l4")) is None


def test_the_claim_that_does_not_hold_is_refused_with_its_product(service: GpuDeskService) -> None:
    claim = checked(service, "mi300x").refused[0]
    sentence = describe_refused_claim(claim, "MI300X", FORMATTER)
    assert "1,307 × 16 = 20,912, and the threshold is 4,800" in sentence
    assert "C002-088" in sentence
    assert "D-114" in sentence


def test_notes_are_reported_once_with_names_where_not_for_all(service: GpuDeskService) -> None:
    checks = [checked(service, part, "Peru") for part in ("h200-sxm", "mi355x", "vera-rubin-nvl72")]
    notes = list_check_notes(checks, FORMATTER)
    assert len(notes) == len(set(notes))
    assert any(note.startswith("H200 SXM, Vera Rubin NVL72: Not in the score") for note in notes)
    assert sum("is announced" in note for note in notes) == 1
    assert sum("Peru" in note for note in notes) == 1
    assert not any("legal advice" in note for note in notes), "the warning has a place of its own"


def test_the_warning_opens_what_is_copied(service: GpuDeskService) -> None:
    checks = [checked(service, "mi300x")]
    text = join_lines(list_export_lines(checks, service.reference_data.export_rules, FORMATTER))
    assert get_export_warning() == "Arithmetic, not legal advice: check the current rule and ask counsel"
    assert text.splitlines()[1].strip() == f"{get_export_warning()}."
    assert text.index("May 2026 guidance") < text.index("October 2022 rule")


def test_line_without_a_figure_is_undecided() -> None:
    limit = ExportLimit(ExportMetric.DENSITY, 5.92, True)
    line = ExportLineCheck(ExportRuleLine("d", (limit,)), (LimitComparison(limit, None),))
    assert line.met is None
