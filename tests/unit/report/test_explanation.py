"""What stands behind a figure, in words: bands, bases, claims, limits, remedies, and copies of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.claim import AttributeClaims, ClaimStatus
from gpudesk.domain.deployment_analysis import PREFILL_SHARE, DeploymentTimeShares, DerivationTerm, TimeShare
from gpudesk.domain.estimate import CalibrationCoverage, EstimateBasis, Limiter
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitRemedy, FitRemedyKind
from gpudesk.report.explanation.claims import format_explanation, format_working
from gpudesk.report.explanation.figure import FigureEvidence, explain_attribute, explain_figure
from gpudesk.report.explanation.parts import Explanation, ExplanationBasis
from gpudesk.report.explanation.working import format_named_formula, format_numeric_formula, format_term_value
from gpudesk.report.labels import label_attribute_alone
from gpudesk.text.formatting import ENGLISH_NUMBERS, GERMAN_NUMBERS, Formatter
from gpudesk.text.messages import message
from gpudesk.text.units import GIB
from tests.unit.report.conftest import MakeAnswer

FORMATTER = Formatter(ENGLISH_NUMBERS)
SHARES = DeploymentTimeShares(
    run=(TimeShare("memory bandwidth", 0.3), TimeShare("compute", 0.6), TimeShare("overhead", 0.1)),
    token=(TimeShare("memory bandwidth", 0.54), TimeShare("overhead", 0.07), TimeShare(PREFILL_SHARE, 0.39)),
    decode=(),
    prefill=(TimeShare("compute", 0.998), TimeShare("overhead", 0.002)),
)


@pytest.fixture
def answer(make_answer: MakeAnswer) -> Answer:
    return make_answer("h200-sxm", "mi325x")


def with_estimate(answer: Answer, position: int, **changes: object) -> Answer:
    columns: list[ComparisonColumn] = list(answer.columns)
    estimate = columns[position].estimate
    assert estimate is not None
    columns[position] = replace(columns[position], estimate=replace(estimate, **changes))  # type: ignore[arg-type]
    return replace(answer, columns=tuple(columns))


def explain(answer: Answer, name: str, backing: FigureEvidence | None = None, position: int = 0) -> Explanation:
    return explain_figure(answer, position, name, backing or FigureEvidence(), FORMATTER)


# Attributes


def test_a_disputed_value_names_all_claims_with_the_preferred_one_first(answer: Answer) -> None:
    explanation = explain_attribute(answer, 1, "memory_bandwidth", FORMATTER)
    assert explanation is not None
    assert (explanation.what, explanation.conditions, explanation.value) == ("Memory bandwidth", "MI325X", "6.0 TB/s")
    assert explanation.band == "Claims range from 5.3 to 6.0"
    assert explanation.basis == "Vendor data sheet, 2025-03-01"
    (group,) = explanation.claims
    assert [claim.stance for claim in group.claims] == [ClaimStatus.TAKEN, ClaimStatus.REFUSED]
    assert group.claims[1].verdict == "another part's figure"
    assert group.claims[1].origin == "Press · 2025-06"
    assert group.reason == "The maker's own figure."
    (dispute,) = explanation.disputes
    assert dispute.verdict == "6.0 TB/s"


def test_agreeing_claims_are_counted(answer: Answer) -> None:
    attribute = answer.columns[0].attributes["tdp"]
    twin = replace(attribute.claims[0], preferred=False, verdict="agrees")
    explanation = explain_attribute(_with_attribute(answer, attribute, (*attribute.claims, twin)), 0, "tdp", FORMATTER)
    assert explanation is not None
    assert explanation.band == "All 2 claims agree"
    assert explanation.claims[0].claims[1].stance is ClaimStatus.AGREES


def test_a_figure_that_differs_but_for_rounding_agrees_by_its_verdict(answer: Answer) -> None:
    attribute = answer.columns[0].attributes["tdp"]
    rounded = replace(attribute.claims[0], value=699.0, preferred=False, verdict="agrees; rounded")
    explanation = explain_attribute(
        _with_attribute(answer, attribute, (*attribute.claims, rounded)), 0, "tdp", FORMATTER
    )
    assert explanation is not None
    assert explanation.claims[0].claims[1].stance is ClaimStatus.AGREES


def _with_attribute(answer: Answer, attribute: AttributeClaims, claims: tuple[object, ...]) -> Answer:
    changed = replace(attribute, claims=claims)  # type: ignore[arg-type]
    column = answer.columns[0]
    attributes = {**column.attributes, attribute.name: changed}
    return replace(answer, columns=(replace(column, attributes=attributes), *answer.columns[1:]))


def test_memory_is_in_gb_next_to_gib(answer: Answer) -> None:
    explanation = explain_attribute(answer, 0, "memory", FORMATTER)
    assert explanation is not None
    assert explanation.value == "141.0 GiB"
    assert explanation.band.startswith("151.4 GB")


def test_unknown_entries_have_no_explanation(answer: Answer) -> None:
    assert explain_attribute(answer, 0, "color", FORMATTER) is None


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("memory_bandwidth", "Memory bandwidth"),
        ("peak_dense_fp8", "FP8, dense"),
        ("mixers.attention.kv_heads", "KV heads"),
        ("mixers.mamba.conv_kernel", "Convolution size"),
    ],
)
def test_attribute_names_are_complete_by_themselves(name: str, label: str) -> None:
    assert label_attribute_alone(name) == label


# Figures


def test_figure_explanation_has_interval_and_basis(answer: Answer) -> None:
    explanation = explain(answer, "output_tokens_per_s", FigureEvidence(rows=CalibrationCoverage(213, 1500, 788)))
    assert explanation.what == "Output throughput, H200-SXM × 1"
    assert explanation.conditions == "64 requests in flight, 2,000 input and 500 output tokens"
    assert (explanation.value, explanation.band) == ("1,000 tok/s", "80% interval: 900 to 1,100")
    assert explanation.ground is ExplanationBasis.CALIBRATED
    assert explanation.basis == "Calibrated on 213 measured runs of Hopper with vLLM"
    assert explanation.sentence.startswith("Output throughput, H200-SXM × 1; 1,000 tok/s; 80% interval: 900 to 1,100")


@pytest.mark.parametrize(
    ("basis", "text"),
    [
        (EstimateBasis.ESTIMATED, ("Estimated: 15 measured runs of Hopper and 788 of vLLM, but no run of both")),
        (EstimateBasis.UNCALIBRATED, "Uncalibrated: no measured runs of Hopper or vLLM"),
    ],
)
def test_other_bases_name_what_is_missing(answer: Answer, basis: EstimateBasis, text: str) -> None:
    changed = with_estimate(answer, 0, basis=basis)
    assert explain(changed, "ttft_ms", FigureEvidence(rows=CalibrationCoverage(0, 15, 788))).basis == text


def test_undefined_figure_explains_why(answer: Answer) -> None:
    flood = with_estimate(
        answer,
        0,
        ttft_ms=None,
        notes=(
            message(
                "estimate.overload",
                "Requests arrive faster than this deployment can serve them: the queue grows without end",
            ),
        ),
    )
    explanation = explain(flood, "ttft_ms")
    assert (explanation.figure, explanation.ground) == ("—", ExplanationBasis.UNKNOWN)
    assert explanation.band.startswith("Requests arrive faster")
    single = with_estimate(answer, 0, tpot_ms=None)
    term = DerivationTerm("TPOT", None, "ms", "a single output token has none")
    assert explain(single, "tpot_ms", FigureEvidence(term)).band == "A single output token has none"


def test_memory_is_exact_and_shows_how_many_requests_fit(answer: Answer) -> None:
    explanation = explain(answer, "memory")
    assert explanation.ground is ExplanationBasis.EXACT
    assert explanation.value == "56.0 GiB free"
    assert explanation.band == "Of 141.0 GiB. Fits, up to 120 in flight"
    fewer = with_estimate(answer, 0, concurrency=64, admitted=53, max_concurrency=53)
    assert explain(fewer, "max_concurrency").band == "Memory for 53 of 64 in flight"
    usual = with_estimate(answer, 0, concurrency=64, admitted=53, max_concurrency=60)
    assert explain(usual, "max_concurrency").band == "53 of 64 in flight, with memory for 60"


def test_unfit_explanation_names_missing_memory_and_remedies(answer: Answer) -> None:
    needed, usable = DerivationTerm("needed", 237 * GIB, "B"), DerivationTerm("usable", 126 * GIB, "B")
    term = DerivationTerm("missing memory", 111 * GIB, "B", "{needed} − {usable}", inputs=(needed, usable))
    unfit = with_estimate(answer, 0, fits=False, needs=4)
    fitting = answer.columns[0].estimate
    remedies = (
        FitRemedy(FitRemedyKind.FRACTION, 0.98, works=True, estimate=fitting),
        FitRemedy(FitRemedyKind.COUNT, 4, works=True, estimate=fitting),
        FitRemedy(FitRemedyKind.WEIGHTS, Precision.FP4, works=True, estimate=fitting),
        FitRemedy(
            FitRemedyKind.CONCURRENCY,
            1,
            works=False,
            estimate=None,
            reason=message(
                "estimate.overload",
                "Requests arrive faster than this deployment can serve them: the queue grows without end",
            ),
        ),
        FitRemedy(FitRemedyKind.CONCURRENCY, 32, works=True, estimate=fitting),
    )
    explanation = explain(unfit, "output_tokens_per_s", FigureEvidence(term, remedies=remedies))
    assert explanation.what == "Does not fit: H200-SXM × 1"
    assert (explanation.value, explanation.ground) == ("111.0 GiB short", ExplanationBasis.DOES_NOT_FIT)
    assert explanation.band == "Needs 237.0 GiB per accelerator; 126.0 GiB usable"
    assert explanation.limits is None
    assert [(line.label, line.verdict, line.action) for line in explanation.remedies] == [
        ("Memory fraction of 98% on 1 × H200-SXM", "yes", "Use a memory fraction of 98%"),
        ("4 × H200-SXM", "yes", "Use 4 × H200-SXM"),
        ("FP4 weights on 1 × H200-SXM", "yes", "Use FP4 weights"),
        ("1 request instead of 64", "no", None),
        ("32 requests instead of 64", "yes", "Use 32 in flight"),
    ]
    assert explanation.remedies[-1].detail.endswith("no queueing")
    assert explanation.working is not None
    assert explanation.working.formula == "237.0 − 126.0"


def test_failed_estimate_shows_the_problem(answer: Answer) -> None:
    column = replace(
        answer.columns[0],
        estimate=None,
        problem=message("plan.degree", "{name} is {value}; it must be at least 1", name="tp", value=0),
    )
    broken = replace(answer, columns=(column, *answer.columns[1:]))
    explanation = explain(broken, "output_tokens_per_s")
    assert explanation.figure == "—"
    assert explanation.band == "tp is 0; it must be at least 1"


# Limits


def test_the_largest_share_comes_first_and_what_is_nothing_is_left_out(answer: Answer) -> None:
    limits = explain(answer, "tpot_ms", FigureEvidence(shares=SHARES)).limits
    assert limits is not None
    assert [(share.label, share.text) for share in limits.shares] == [
        ("Memory bandwidth", "54%"),
        ("Interleaved prefill", "39%"),
        ("Overhead", "7%"),
    ]
    prompt = explain(answer, "ttft_ms", FigureEvidence(shares=SHARES)).limits
    assert prompt is not None
    assert [share.label for share in prompt.shares] == ["Compute"]
    run = explain(answer, "output_tokens_per_s", FigureEvidence(shares=SHARES)).limits
    assert run is not None
    assert run.shares[0].label == "Compute"
    assert explain(answer, "memory", FigureEvidence(shares=SHARES)).limits is None


def test_full_memory_is_shown_next_to_the_shares(answer: Answer) -> None:
    full = with_estimate(answer, 0, limiter=Limiter.CAPACITY, admitted=53, max_concurrency=53)
    limits = explain(full, "output_tokens_per_s", FigureEvidence(shares=SHARES)).limits
    assert limits is not None
    assert limits.remark == "Memory is full at 53 in flight"
    usual = with_estimate(answer, 0, limiter=Limiter.CAPACITY, admitted=53, max_concurrency=60)
    limits = explain(usual, "output_tokens_per_s", FigureEvidence(shares=SHARES)).limits
    assert limits is not None
    assert limits.remark == "53 in flight, with memory for 60"


# Working


STEP = DerivationTerm(
    "reading",
    0.0108,
    "s",
    "{bytes} ÷ ({memory_bandwidth} × {weight_read_efficiency})",
    inputs=(
        DerivationTerm("bytes", 68.5e9, "B"),
        DerivationTerm("memory bandwidth", 7.7e12, "B/s", source="catalog:h200-sxm/memory_bandwidth"),
        DerivationTerm("weight read efficiency", 0.82, None, source="calibration:weight_read_efficiency"),
    ),
)


def test_formulas_are_shown_with_their_numbers_and_units() -> None:
    assert format_numeric_formula(STEP, FORMATTER) == "68.5 GB ÷ (7.7 TB/s × 0.820)"
    assert format_numeric_formula(STEP, Formatter(GERMAN_NUMBERS)) == "68,5 GB ÷ (7,7 TB/s × 0,820)"
    assert format_named_formula(STEP) == "bytes ÷ (memory bandwidth × weight read efficiency)"


def test_terms_of_a_sum_use_the_unit_of_the_result_once() -> None:
    parts = (DerivationTerm("step", 0.0234, "s"), DerivationTerm("stall", -1.5, "ms"))
    assert (
        format_numeric_formula(DerivationTerm("TPOT", 21.9, "ms", "{step} + {stall}", inputs=parts), FORMATTER)
        == "23.4 − 1.50"
    )
    larger = DerivationTerm(
        "class", 0.0109, "s", "({step}² + {other}²)^½", inputs=(parts[0], DerivationTerm("other", 3e-4, "s"))
    )
    assert format_numeric_formula(larger, FORMATTER) == "(23.4² + 0.300²)^½"


def test_units_are_not_repeated() -> None:
    assert format_term_value(DerivationTerm("output tokens", 1000, "tokens"), FORMATTER) == ("1,000", None)
    assert format_term_value(DerivationTerm("mean context", 4500, "tokens"), FORMATTER) == ("4,500", "tokens")
    assert format_term_value(DerivationTerm("mean context", 1, "tokens"), FORMATTER) == ("1", "token")
    assert format_term_value(DerivationTerm("max concurrency", 137, "sequences"), FORMATTER) == ("137", None)


def test_the_claims_behind_a_working_are_named_once_each(answer: Answer) -> None:
    twice = DerivationTerm("round", 1.0, "s", inputs=(STEP, STEP))
    explanation = explain(answer, "output_tokens_per_s", FigureEvidence(twice))
    assert [group.key for group in explanation.claims] == ["h200-sxm/memory_bandwidth"]
    assert explanation.working is not None
    leaf = next(term for term in explanation.working.walk() if term.claims)
    assert leaf.label == "Memory bandwidth"
    assert "7.7 TB/s" in leaf.sentence


# Copies


def test_a_copy_holds_figure_band_conditions_and_source(answer: Answer) -> None:
    explanation = explain(
        answer, "output_tokens_per_s", FigureEvidence(STEP, SHARES, rows=CalibrationCoverage(2, 2, 2))
    )
    text = format_explanation(explanation)
    assert text.startswith("Output throughput, H200-SXM × 1: 1,000 tok/s\n80% interval: 900 to 1,100\n")
    assert "64 requests in flight, 2,000 input and 500 output tokens" in text
    assert "Llama 3.1 70B, FP8 weights, FP16 KV cache, served by vLLM" in text
    assert "https://maker.example/sheet" in text
    assert answer.catalog_revision[:8] in text


def test_a_copied_working_is_indented_by_its_levels(answer: Answer) -> None:
    explanation = explain(answer, "output_tokens_per_s", FigureEvidence(STEP))
    assert explanation.working is not None
    assert format_working(explanation.working).splitlines() == [
        "Reading: 10.8 ms = 68.5 GB ÷ (7.7 TB/s × 0.820)",
        "  Bytes to read: 63.8 GiB",
        "  Memory bandwidth: 7.7 TB/s [catalog:h200-sxm/memory_bandwidth]",
        "  Weight read efficiency: 0.820 [calibration:weight_read_efficiency]",
    ]
