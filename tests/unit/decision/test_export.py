"""Exports: scores as products, dated rules and what each says of a figure, and no verdict anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.decision.purchasing.export_control import check_export
from gpudesk.decision.rules.data_files import read_export_rules
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.reference_data import ExportCheck, ExportMetric, ExportRuleCheck, ExportRuleSet, LimitSide
from gpudesk.report.decision.export_control import describe_rule_outcome
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_message

OCTOBER, JANUARY = "bis-2023-10", "bis-2026-01"


@pytest.fixture(scope="module")
def rules() -> ExportRuleSet:
    return read_export_rules(paths.get_data_path("export_rules.toml"))


@pytest.fixture(scope="module")
def bench() -> Iterator[GpuDeskService]:
    with GpuDeskService.open(with_user_facts=False) as bench:
        yield bench


def part(peaks: Mapping[str, float], bandwidth: float = 3e12, name: str = "card") -> Accelerator:
    return Accelerator(
        id=name,
        name="Card",
        vendor="Maker",
        generation="hopper",
        announced=False,
        platform="CUDA",
        memory_bytes=80 * 2**30,
        memory_bandwidth=bandwidth,
        peak_dense={precision: tera * 1e12 for precision, tera in peaks.items()},
    )


def of_rule(check: ExportCheck, rule: str) -> ExportRuleCheck:
    return next(each for each in check.rules if each.rule.id == rule)


def outcomes(check: ExportCheck) -> list[bool | None]:
    return [line.met for line in of_rule(check, OCTOBER).lines]


def test_score_is_the_largest_product_with_its_factors_shown(rules: ExportRuleSet) -> None:
    check = check_export(part({"fp16": 1307, "fp8": 2600, "fp64": 80}), rules)
    assert [(score.precision, score.bits, score.tpp) for score in check.scores] == [
        ("fp16", 16, 20912),
        ("fp8", 8, 20800),
        ("fp64", 64, 5120),
    ]
    assert check.scores[0].flops == 1307e12
    assert check.tpp == 20912
    threshold = of_rule(check, OCTOBER).threshold
    assert threshold is not None
    assert (threshold.value, threshold.limit.value, threshold.standing) == (20912, 4800, LimitSide.ABOVE)


def test_catalog_part_scores_alike_in_eight_and_sixteen_bits(bench: GpuDeskService, rules: ExportRuleSet) -> None:
    check = check_export(bench.catalog.accelerator("mi300x"), rules)
    by_format = {score.precision: score.tpp for score in check.scores}
    assert by_format["fp8"] == pytest.approx(by_format["fp16"], rel=1e-3)
    assert check.tpp == pytest.approx(20912, rel=1e-3)
    assert of_rule(check, OCTOBER).met is True


def test_format_whose_bits_are_not_settled_is_left_out_and_named(rules: ExportRuleSet) -> None:
    check = check_export(part({"tf32": 1000, "fp16": 100}), rules)
    assert check.tpp == 1600
    assert (check.scores[-1].precision, check.scores[-1].tpp) == ("tf32", None)
    assert any(
        format_message(note) == "Not in the score, because the bit length is unclear: TF32" for note in check.notes
    )


@pytest.mark.parametrize(
    ("fp16_tflops", "expected", "is_met"),
    [
        # By 3A090.a on TPP, 3A090.a with density, 3A090.b on both, 3A090.b with density.
        (300, [True, None, False, None], True),
        (299, [False, None, None, None], None),
        (150, [False, None, None, None], None),
        (149, [False, None, False, None], None),
        (100, [False, None, False, None], None),
        (99, [False, False, False, False], False),
    ],
)
def test_rule_of_2023_is_partly_decided_without_die_area(
    rules: ExportRuleSet, fp16_tflops: float, expected: list[bool | None], is_met: bool | None
) -> None:
    check = check_export(part({"fp16": fp16_tflops}), rules)
    assert outcomes(check) == expected
    assert of_rule(check, OCTOBER).met is is_met


def test_density_is_never_guessed(bench: GpuDeskService, rules: ExportRuleSet) -> None:
    for accelerator in bench.catalog.accelerators():
        check = check_export(accelerator, rules)
        densities = [
            comparison
            for rule in check.rules
            for line in rule.lines
            for comparison in line.comparisons
            if comparison.limit.measured is ExportMetric.DENSITY
        ]
        assert densities
        assert all(comparison.value is None and comparison.standing is LimitSide.UNKNOWN for comparison in densities)
        assert any("die area" in format_message(note) for note in check.notes)


@pytest.mark.parametrize(
    ("fp16_tflops", "bandwidth", "is_met"), [(1312, 6.4e12, True), (1313, 6.4e12, False), (1312, 6.5e12, False)]
)
def test_rule_of_2026_describes_what_stays_below_both_figures(
    rules: ExportRuleSet, fp16_tflops: float, bandwidth: float, is_met: bool
) -> None:
    check = check_export(part({"fp16": fp16_tflops}, bandwidth), rules)
    assert of_rule(check, JANUARY).met is is_met


def test_parts_that_the_rule_of_2026_names_lie_below_and_the_next_ones_above(
    bench: GpuDeskService, rules: ExportRuleSet
) -> None:
    is_met = {
        name: of_rule(check_export(bench.catalog.accelerator(name), rules), JANUARY).met
        for name in ("h200-sxm", "mi325x", "b200-hgx", "mi355x")
    }
    assert is_met == {"h200-sxm": True, "mi325x": True, "b200-hgx": False, "mi355x": False}


def test_statement_that_does_not_hold_is_refused_with_its_arithmetic(
    bench: GpuDeskService, rules: ExportRuleSet
) -> None:
    check = check_export(bench.catalog.accelerator("mi300x"), rules)
    (claim,) = check.refused
    assert (claim.statement, claim.dispute, claim.worked) == ("C002-088", "D-114", "W002-68")
    assert claim.tpp == 20912
    answers = next(format_message(note) for note in check.notes if note.id == "export.refused")
    assert "1,307 TFLOPS × 16 bits = 20,912, with a threshold of 4,800" in answers
    assert "D-114" not in answers, "ids are in JSON and in the details"
    (dispute,) = (each for each in bench.catalog.disputes() if each.id == "D-114")
    assert dispute.claim_a == claim.statement
    assert check_export(bench.catalog.accelerator("h200-sxm"), rules).refused == ()


def test_every_check_ends_with_the_rule_in_force_and_counsel(bench: GpuDeskService, rules: ExportRuleSet) -> None:
    for accelerator in bench.catalog.accelerators():
        notes = check_export(accelerator, rules, "Anywhere").notes
        assert notes[-1].id == "export.verify"
        assert "is not legal advice" in format_message(notes[-1])
        assert notes[-2].id == "export.read"


def test_no_sentence_decides_whether_a_license_is_needed(bench: GpuDeskService, rules: ExportRuleSet) -> None:
    for accelerator in bench.catalog.accelerators():
        check = check_export(accelerator, rules, "China")
        text = " ".join([*map(format_message, check.notes), *map(describe_rule_outcome, check.rules)]).lower()
        for verdict in ("is allowed", "is forbidden", "licence is needed", "no licence", "may be exported"):
            assert verdict not in text


def test_destination_is_only_looked_for_among_those_that_a_rule_names(rules: ExportRuleSet) -> None:
    check = check_export(part({"fp16": 1000}), rules, " china ")
    assert check.destination == "china"
    assert of_rule(check, JANUARY).named is True
    assert of_rule(check, "bis-2025-01-diffusion").named is None, "what was read of it names none"
    assert of_rule(check_export(part({"fp16": 1000}), rules, "Norway"), JANUARY).named is False
    assert of_rule(check_export(part({"fp16": 1000}), rules, "  "), JANUARY).named is None
    assert any("country group" in format_message(note) for note in check.notes)


def test_accelerator_without_a_peak_is_undecided(rules: ExportRuleSet) -> None:
    check = check_export(part({}), rules)
    assert check.tpp is None
    assert check.scores == ()
    threshold = of_rule(check, OCTOBER).threshold
    assert threshold is not None
    assert threshold.standing is LimitSide.UNKNOWN
    assert of_rule(check, OCTOBER).met is None
    assert any(note.id == "export.no_peak" for note in check.notes)


def test_announced_accelerator_names_the_source_of_its_peaks(bench: GpuDeskService, rules: ExportRuleSet) -> None:
    announced = [each for each in bench.catalog.accelerators() if each.announced]
    assert announced
    for each in announced:
        assert any(note.id == "export.announced" for note in check_export(each, rules).notes)


# The rules themselves


def test_rules_are_dated_read_somewhere_and_the_newest_comes_first(rules: ExportRuleSet) -> None:
    days = [rule.in_force or rule.published for rule in rules.rules]
    assert days == sorted(days, reverse=True)
    assert all(day <= rules.read for day in days)
    assert all(each.url.startswith("https://") for rule in rules.rules for each in rule.read_in)
    october = next(rule for rule in rules.rules if rule.id == OCTOBER)
    assert (october.in_force, october.reference) == ("2023-11-17", "88 FR 73458")


def test_framework_of_2025_shows_the_end_of_its_enforcement(rules: ExportRuleSet) -> None:
    framework = next(rule for rule in rules.rules if rule.id == "bis-2025-01-diffusion")
    assert framework.not_enforced_since == "2025-05-13"
    assert not framework.lines


BARE = """
read = "2026-01-01"
[[rules]]
id = "one"
name = "One"
publisher = "Somebody"
title = "Title"
published = "2025-01-01"
counts = "Something"
note = "Nothing"
read_in = [{ title = "Here", url = "https://example.com" }]
"""


@pytest.mark.parametrize(
    ("changed", "with_", "where", "problem"),
    [
        ('id = "one"', "", "rules[0].id", "field.missing"),
        ('published = "2025-01-01"', 'published = "last year"', "rules[0].published", "field.month"),
        ('counts = "Something"', "counts = 3", "rules[0].counts", "field.type"),
        ('note = "Nothing"', 'note = "Nothing"\nnotes = "x"', "rules[0]", "field.unknown_near"),
        ('note = "Nothing"', 'note = "Nothing"\nsuperseded_by = "two"', "", "beside.no_rule"),
        ('read_in = [{ title = "Here", url = "https://example.com" }]', "", "rules[0]", "beside.unread"),
        (
            'note = "Nothing"',
            'note = "Nothing"\nlines = [{ name = "a", limits = [{ measured = "weight", below = 1 }] }]',
            "rules[0].lines[0].limits[0].measured",
            "field.word",
        ),
        ('note = "Nothing"', 'note = "Nothing"\nlines = [{ name = "a" }]', "limits", "field.empty"),
        ('read = "2026-01-01"', "read =", "", "file.unreadable"),
    ],
)
def test_broken_file_is_reported_with_its_place(
    tmp_path: Path, changed: str, with_: str, where: str, problem: str
) -> None:
    path = tmp_path / "rules.toml"
    assert changed in BARE
    path.write_text(BARE.replace(changed, with_, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_export_rules(path)
    assert refused.value.problem.id == problem
    assert str(path) in (refused.value.where or "")
    assert (refused.value.where or "").endswith(where)


def test_duplicate_rule_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(BARE + BARE.split("\n", 2)[2], encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_export_rules(path)
    assert refused.value.problem.id == "beside.twice"
