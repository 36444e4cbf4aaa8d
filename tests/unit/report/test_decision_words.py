"""Decisions in words: verdict, firmness, reasons, exclusions, changes, and rules without a word of Python."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import (
    COUNTED_IN_USE,
    COUNTED_WHOLE,
    SYSTEMS_COUNTED,
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionFlip,
    DecisionReason,
    DecisionVerdict,
    FactorLevel,
    PilotMeasurement,
    QuestionAnswer,
    RuleEffect,
    RuleStrength,
)
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.decision.no_recommendation import describe_way_out
from gpudesk.report.decision.recommendation import (
    describe_flip,
    describe_pilot,
    list_arguments_against,
    list_candidate_lines,
    list_decision_assumptions,
    list_memory_fits,
    list_recommendation_lines,
    list_removed_columns,
    list_unpriced_candidates,
)
from gpudesk.report.decision.rules import (
    describe_exclusion,
    describe_reason,
    describe_rule_answers,
    find_candidate,
    label_factor,
    label_rule_source,
    list_rule_lines,
)
from gpudesk.report.decision.verdict import (
    describe_missing_value,
    describe_other_payment,
    describe_verdict_reason,
    describe_verdict_terms,
    find_leading_column,
    format_objective,
    format_verdict,
)
from gpudesk.report.labels import format_odds, join_names
from gpudesk.report.writers.decision_json import encode_decision
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter, IntervalEstimate
from gpudesk.text.messages import lower_for_sentence

FORMATTER = Formatter()
NAMES = {"h200-sxm": "H200", "mi325x": "MI325X", "b200-hgx": "B200", "mi355x": "MI355X"}


def decide(service: GpuDeskService, *, weights: Mapping[str, float] | None = None, **answers: AnswerValue) -> Decision:
    scenario: Scenario = read_template("70b-chat-on-four")
    settings = replace(scenario.decision, weights=weights or {})
    return service.decide(service.answer(replace(scenario, decision=settings)), answers)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_verdict_orders_whole_systems_and_names_what_its_figure_counts(service: GpuDeskService) -> None:
    """One module of eight cannot be bought: the verdict names the system, the terms its price and the share."""
    decision = decide(service, acquisition="own", priority="cost", current_platform="CUDA")
    terms = plain(describe_verdict_terms(decision, NAMES, FORMATTER))
    assert terms.startswith(
        "At 100% utilization. "
        "B200 ($451,000 with network) is sold in systems of 8; costs count only accelerators in use. "
    )
    assert re.search(r"Speed per user: 2\d\.\d tok/s \(B200\); at least 10 tok/s is assumed\.$", terms)
    assert encode_decision(decision, (), NAMES)["terms"] == describe_verdict_terms(decision, NAMES, FORMATTER)
    limited = decide(service, acquisition="own", priority="cost", current_platform="CUDA", tpot_limit_ms=100.0)
    assert "Speed per user" not in describe_verdict_terms(limited, NAMES, FORMATTER), "the user has set a limit"
    scenario = read_template("70b-chat-on-four")
    whole = service.answer(replace(scenario, costs=replace(scenario.costs, single_accelerators=False)))
    decision = service.decide(whole, {"acquisition": "own", "priority": "cost", "current_platform": "CUDA"})
    assert format_verdict(decision, NAMES, FORMATTER).startswith("Buy 8 × B200 (1 in use): $")
    terms = plain(describe_verdict_terms(decision, NAMES, FORMATTER))
    assert " with network) is sold in systems of 8; costs count whole systems." in terms
    rented = service.decide(whole, {"acquisition": "rent", "priority": "cost"})
    assert rented.recommended is not None
    mi355x = replace(rented, runner_up=None, recommended=replace(rented.recommended, key="mi355x"))
    assert format_verdict(mi355x, NAMES, FORMATTER).startswith("Rent 8 × MI355X (1 in use): $")
    terms = describe_verdict_terms(mi355x, NAMES, FORMATTER)
    assert "MI355X is rented in instances of 8; costs count whole instances." in terms


def test_a_card_is_bought_singly(service: GpuDeskService) -> None:
    parts = tuple(AcceleratorChoice(each) for each in ("l40s", "rtx-5090"))
    scenario = replace(read_template("70b-chat-on-four"), accelerators=parts)
    decision = service.decide(service.answer(scenario), {"acquisition": "own", "priority": "cost"})
    names = {each: each for each in decision.columns}
    verdict = format_verdict(decision, names, FORMATTER)
    assert verdict.startswith("Buy ")
    assert "in use" not in verdict
    assert "cost of" not in verdict
    assert "sold in" not in describe_verdict_terms(decision, names, FORMATTER)


def test_terms_name_counts_that_a_demand_would_change(service: GpuDeskService) -> None:
    """With a demand the decision keeps counts that the user set; its load is the peak, half of which is the average."""
    demand = Demand(DemandKind.CONCURRENCY, 64.0)
    scenario = replace(read_template("70b-chat-on-four"), demand=demand)
    terms = describe_verdict_terms(service.decide(service.answer(scenario)), NAMES, FORMATTER)
    assert terms.startswith("At 50% average load (of the peak). Counts are those you set, not sized for the demand.")
    sized = replace(scenario, accelerators=tuple(replace(each, count=None) for each in scenario.accelerators))
    terms = describe_verdict_terms(service.decide(service.answer(sized)), NAMES, FORMATTER)
    assert "Counts are those you set" not in terms


def test_counts_too_small_for_a_demand_are_answered_with_those_it_needs(service: GpuDeskService) -> None:
    parts = (AcceleratorChoice("h200-sxm", 1), AcceleratorChoice("mi325x", 1))
    scenario = replace(read_template("70b-chat-on-four"), demand=Demand(DemandKind.USERS, 20_000.0), accelerators=parts)
    answer = service.answer(scenario)
    decision = service.decide(answer)
    needed = {each.accelerator: each.count for each in service.size(scenario).candidates}
    assert decision.set_counts == needed
    assert format_verdict(decision, NAMES, FORMATTER) == "The counts that you set do not carry the demand"
    assert describe_verdict_reason(decision, NAMES, FORMATTER) == (
        f"The demand needs {needed['h200-sxm']} × H200 or {needed['mi325x']} × MI325X."
    )
    assert decision.ways_out[0].estimate.count in needed.values()


def test_a_winner_is_named_with_its_count_its_figure_and_its_odds(service: GpuDeskService) -> None:
    decision = decide(service, acquisition="own", priority="cost", current_platform="CUDA")
    assert decision.verdict is DecisionVerdict.WINNER
    assert decision.recommended is not None
    key = decision.recommended.key
    value = find_candidate(decision, key).value
    assert value is not None
    cost = f"${FORMATTER.small_amount(value.value)} per million output tokens"
    odds = f"{format_odds(decision.robustness, FORMATTER)} odds of being the cheapest"
    assert format_verdict(decision, NAMES, FORMATTER) == f"Buy 1 × {NAMES[key]} (in a system of 8): {cost} ({odds})"
    assert describe_verdict_reason(decision, NAMES, FORMATTER) == ""
    doubted = add_doubts(decision, {key: ("basis", "discontinued", "license_limit")})
    reason = describe_verdict_reason(doubted, NAMES, FORMATTER)
    assert reason == "Discontinued: check that you can still buy it at this price."


def add_doubts(decision: Decision, doubts: Mapping[str, tuple[str, ...]]) -> Decision:
    """Return the decision with these doubts about candidates."""
    return replace(
        decision, candidates=tuple(replace(each, doubts=doubts.get(each.key, ())) for each in decision.candidates)
    )


def set_odds(decision: Decision, odds: Mapping[str, float]) -> Decision:
    """Return the decision with these odds, and 10% for the other candidates."""
    return replace(
        decision, candidates=tuple(replace(each, odds=odds.get(each.key, 0.1)) for each in decision.candidates)
    )


def test_a_close_call_names_its_figures_its_open_limits_and_its_doubts(service: GpuDeskService) -> None:
    """A limit that may be missed, or an accelerator that is not available yet, hides no figure and is not hidden."""
    decision = decide(service, priority="speed")
    assert decision.recommended is not None
    assert decision.runner_up is not None
    first, second = decision.recommended.key, decision.runner_up
    limit = next(line for line in decision.trace if line.case.requires is not None)
    candidates = tuple(replace(each, open_rules=(limit.rule.id,)) for each in decision.candidates)
    close = set_odds(replace(decision, candidates=candidates, tied_by=None), {first: 0.3, second: 0.3})
    for doubted in ((first, second), (second,)):
        doubtful = add_doubts(close, dict.fromkeys(doubted, ("announced", "basis")))
        figures, about = plain(describe_verdict_reason(doubtful, NAMES, FORMATTER)).split(
            f" Undecided for {NAMES[first]} and {NAMES[second]}: "
        )
        assert figures.startswith(f"{NAMES[first]}: 1,")
        assert f"; {NAMES[second]}: " in figures
        names = join_names([NAMES[key] for key in doubted])
        lines = list_candidate_lines(doubtful, NAMES, FORMATTER)
        assert all(each.full_value.endswith(f", undecided: {lower_for_sentence(limit.title)}") for each in lines)
        assert about == f"{lower_for_sentence(limit.title)}. Announced, but not available yet ({names})."


@pytest.mark.parametrize(
    ("answers", "verb"),
    [
        ({"acquisition": "own"}, "Buy"),
        ({"acquisition": "rent"}, "Rent"),
        ({"acquisition": "own", "priority": "speed"}, "Buy"),
        ({"acquisition": "undecided", "priority": "speed"}, "Choose"),
    ],
)
def test_the_verb_is_that_of_the_payment(service: GpuDeskService, answers: dict[str, str], verb: str) -> None:
    assert format_verdict(decide(service, weights=None, **answers), NAMES, FORMATTER).startswith(f"{verb} ")


def test_odds_are_in_percent_and_never_certain() -> None:
    share = FORMATTER.per_cent
    texts = [format_odds(odds, FORMATTER) for odds in (0.0, 0.002, 0.5, 0.998, 1.0)]
    least, most = f"under {share(0.01)}", f"over {share(0.99)}"
    assert texts == [least, least, share(0.5), most, most]


def test_close_call_is_named(service: GpuDeskService) -> None:
    close_decision = decide(service, priority="speed")
    assert close_decision.verdict is DecisionVerdict.OPEN
    assert close_decision.recommended is not None
    second = replace(close_decision.recommended, key="b200-hgx", accelerator="b200-hgx")
    decision = replace(close_decision, recommended=second, runner_up="mi355x", tied_by="mi355x")
    decision = set_odds(decision, {"mi355x": 0.4, "b200-hgx": 0.3, "mi325x": 0.2})
    assert format_verdict(decision, NAMES, FORMATTER) == "Choose 1 × B200, 1 × MI355X or 1 × MI325X: too close to call"
    reason = plain(describe_verdict_reason(decision, NAMES, FORMATTER))
    assert re.match(r"B200: 1,.*; MI355X: 1,.* \(40%\); MI325X: \d+ .* \(20%\)\. B200 is the smaller commit", reason)
    decision = set_odds(decision, {"mi355x": 0.7})
    reason = describe_verdict_reason(decision, NAMES, FORMATTER)
    assert reason.startswith("MI355X: 1,")
    assert "B200 is the smaller commitment. B200 costs $" in reason
    assert format_verdict(decision, NAMES, FORMATTER).startswith("Choose 1 × B200: 1,")
    alone = format_verdict(replace(decision, runner_up=None, tied_by=None), NAMES, FORMATTER)
    assert alone.endswith(" (the only one with figures to compare)")


@pytest.mark.parametrize(
    ("payments", "verb"),
    [
        (("rented", "rented"), "Rent 1 × {} or 1 × {}: too close to call"),
        (("rented", "owned"), "Rent 1 × {} or buy 1 × {}: too close to call"),
        (("owned", "rented"), "Buy 1 × {} or rent 1 × {}: too close to call"),
    ],
)
def test_each_of_two_close_ones_is_bought_or_rented(
    service: GpuDeskService, payments: tuple[str, str], verb: str
) -> None:
    decision = decide(service, priority="speed")
    assert decision.recommended is not None
    assert decision.runner_up is not None
    two = decision.recommended.key, decision.runner_up
    paid = dict(zip(two, payments, strict=True))
    candidates = tuple(replace(each, payment=paid.get(each.key)) for each in decision.candidates)
    close = set_odds(replace(decision, candidates=candidates, tied_by=None), dict.fromkeys(two, 0.3))
    assert format_verdict(close, NAMES, FORMATTER) == verb.format(*(NAMES[key] for key in two))


def test_a_hosted_api_that_costs_less_is_an_argument_against(service: GpuDeskService) -> None:
    scenario = replace(read_template("70b-chat-on-four"), model="llama-3.3-70b")
    decision = service.decide(service.answer(scenario), {"priority": "cost"})
    assert decision.recommended is not None
    candidate = find_candidate(decision, decision.recommended.key)
    assert candidate.value is not None
    for share, is_argument in ((0.5, True), (1.5, False)):
        hosted = replace(decision, api_usd=share * candidate.value.value)
        against = list(list_arguments_against(hosted, NAMES, FORMATTER))
        assert any(plain(each).endswith("(−50%)") for each in against) is is_argument
    unknown = replace(decision, api_usd=None)
    assert len(list(list_arguments_against(unknown, NAMES, FORMATTER))) == len(decision.against)


def test_tie_breaker_is_named(service: GpuDeskService) -> None:
    decision = decide(service, priority="speed")
    assert decision.recommended is not None
    assert decision.runner_up is not None
    first, other = decision.recommended.key, decision.runner_up
    ours, theirs = NAMES[first], NAMES[other]
    for score, sentence in ((1.0, f"The arguments favor {ours}."), (0.0, f"{ours} is the smaller commitment.")):
        candidates = tuple(replace(each, score=score if each.key == first else 0.0) for each in decision.candidates)
        tied = set_odds(replace(decision, candidates=candidates, tied_by=other), {other: 0.7})
        assert format_verdict(tied, NAMES, FORMATTER).endswith(" (close to the best)")
        reason = plain(describe_verdict_reason(tied, NAMES, FORMATTER))
        rival = find_candidate(tied, other)
        assert reason.startswith(f"{theirs}: {plain(format_objective(tied, rival, FORMATTER, brief=True))} (")
        assert (
            f"; {ours}: {format_odds(find_candidate(tied, first).odds, FORMATTER)}). {sentence} {ours} costs $"
            in reason
        )
        speeds = plain(describe_verdict_terms(tied, NAMES, FORMATTER)).partition("Speed per user: ")[2]
        assert f"({ours})" in speeds, "of both"
        assert f"({theirs})" in speeds, "of both"


def test_close_call_names_the_candidate_that_arguments_favor(service: GpuDeskService) -> None:
    """Whether they change who leads or not."""
    decision = decide(service, priority="speed")
    assert decision.recommended is not None
    assert decision.runner_up is not None
    first, other = decision.recommended.key, decision.runner_up
    for favored, is_named in ((first, True), (other, True), (None, False)):
        candidates = tuple(replace(each, score=float(each.key == favored)) for each in decision.candidates)
        close = set_odds(replace(decision, candidates=candidates, tied_by=None), {first: 0.3, other: 0.3})
        reason = plain(describe_verdict_reason(close, NAMES, FORMATTER))
        assert ("The arguments favor" in reason) is is_named
        assert favored is None or f"The arguments favor {NAMES[favored]}." in reason


def test_of_more_than_two_equals_none_is_named_first(service: GpuDeskService) -> None:
    decision = decide(service, priority="certainty")
    assert format_verdict(decision, NAMES, FORMATTER) == "Any of 4: available now, no porting"
    listed = join_names([NAMES[each.key] for each in decision.candidates])
    assert describe_verdict_reason(decision, NAMES, FORMATTER) == f"Equal by this goal: {listed}."


def test_requests_of_each_accelerator_have_the_digits_of_the_verdict(service: GpuDeskService) -> None:
    decision = decide(service, priority="users")
    key = find_leading_column(decision)
    reason = DecisionReason("requests_each", 8.75, 6.25, decision.runner_up)
    assert plain(describe_reason(reason, NAMES, FORMATTER)).startswith(
        "Requests per accelerator: 8.75, compared with 6.25 for "
    )
    value = IntervalEstimate(8.75, 8.75, 8.75)
    candidates = tuple(replace(each, value=value if each.key == key else each.value) for each in decision.candidates)
    verdict = plain(format_verdict(replace(decision, candidates=candidates), NAMES, FORMATTER))
    assert ": 8.75 requests in flight per accelerator" in verdict


def test_an_exact_tie_names_its_equals_and_no_figure_twice(service: GpuDeskService) -> None:
    decision = decide(service, priority="certainty")
    assert decision.recommended is not None
    assert "months_to_production" not in [each.fact for each in decision.reasons]
    other = next(each.key for each in decision.candidates if each.key != decision.recommended.key)
    tied = replace(decision, tied_by=other)
    verdict = format_verdict(tied, NAMES, FORMATTER)
    assert verdict.endswith(": available now, no porting (3 others are equal)")
    reason = describe_verdict_reason(tied, NAMES, FORMATTER)
    assert re.match(rf"Equal by this goal: .*{NAMES[other]}.*\. ({NAMES[decision.recommended.key]} is|The arg)", reason)


def test_purchase_is_delivered_before_production(service: GpuDeskService) -> None:
    """B200 is on record with 30 weeks and H100 with 44; the others are taken to need as long as those."""
    scenario = read_template("70b-chat-on-four")
    answers: dict[str, AnswerValue] = {"priority": "certainty", "acquisition": "own", "current_platform": "CUDA"}
    decision = service.decide(service.answer(scenario), answers)
    months = {each.key: each.value for each in decision.candidates}
    assert months["b200-hgx"] is not None
    assert months["h200-sxm"] is not None
    assert months["mi325x"] is not None
    assert months["b200-hgx"].value == pytest.approx(30 * 12 * 7 / 365.25)
    assert months["b200-hgx"].value < months["h200-sxm"].value < months["mi325x"].value - 4.0, "a port follows"
    assert find_leading_column(decision) == "b200-hgx"
    assumed = "No delivery time on record for H200, MI325X and MI355X: 8.5 months, as of similar systems"
    assert assumed in map(plain, list_decision_assumptions(decision, NAMES, FORMATTER))
    rented = service.decide(service.answer(scenario), {**answers, "acquisition": "rent"})
    assert {each.key for each in rented.candidates if each.value and each.value.value == 0.0} == {
        *("b200-hgx", "h200-sxm")
    }


def test_candidates_have_their_figure_and_odds_the_best_first(service: GpuDeskService) -> None:
    decision = decide(service, priority="cost", acquisition="own")
    lines = list_candidate_lines(decision, NAMES, FORMATTER)
    eligible = {each.key: each for each in decision.candidates if each.eligible}
    assert {each.key for each in lines} == set(eligible)
    ranks = [(-round(each.odds, 2), -eligible[each.key].merit) for each in lines]
    assert ranks == sorted(ranks)
    for line in lines:
        assert line.deployment == f"1 × {NAMES[line.key]}"
        assert line.value.startswith("$")
        assert line.value.endswith(", owned")
        assert line.odds == eligible[line.key].odds


def test_candidate_without_a_price_shows_the_price_at_which_it_would_lead(service: GpuDeskService) -> None:
    decision = decide(service, priority="cost", acquisition="own")
    (candidate,) = list_unpriced_candidates(decision)
    assert (candidate.key, candidate.missing) == ("mi355x", "price_usd")
    assert candidate.needed is not None
    assert describe_missing_value(candidate, NAMES, FORMATTER) == (
        f"MI355X has no purchase price; it would be the cheapest below ${FORMATTER.estimate(candidate.needed)}"
    )
    rentable = describe_missing_value(replace(candidate, payment="rented"), NAMES, FORMATTER)
    assert rentable.startswith("MI355X has no purchase price, so its rent is compared; bought below $")
    rented = describe_missing_value(replace(candidate, missing="rent_usd_per_hour"), NAMES, FORMATTER)
    assert rented.endswith(" per hour")
    unsolved = describe_missing_value(replace(candidate, needed=None), NAMES, FORMATTER)
    assert unsolved == "MI355X: purchase price unknown"


def test_none_fits_names_the_rule_that_removes_most(service: GpuDeskService) -> None:
    decision = decide(service, site="pcie", precision="fp4")
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert find_leading_column(decision) is None
    assert format_verdict(decision, NAMES, FORMATTER) == "No accelerator meets every limit"
    assert describe_verdict_reason(decision, NAMES, FORMATTER).startswith("Alternatives: ")
    searching = replace(decision, ways_out=())
    assert "“Existing servers” rules out 4 of 4" in describe_verdict_reason(searching, NAMES, FORMATTER)
    assert list_candidate_lines(decision, NAMES, FORMATTER) == ()


def test_a_model_that_fits_nowhere_is_the_first_reason(service: GpuDeskService) -> None:
    scenario = replace(read_template("70b-chat-on-four"), model="llama-3.1-405b")
    parts = tuple(AcceleratorChoice(part, count=1) for part in ("mi325x", "h200-sxm"))
    decision = service.decide(service.answer(replace(scenario, accelerators=parts)))
    first = describe_verdict_reason(replace(decision, ways_out=()), NAMES, FORMATTER)
    assert first.startswith("The model does not fit: MI325X needs 2, H200 needs 4.")
    assert list(list_removed_columns(decision, NAMES, FORMATTER)) == [
        "Does not fit: MI325X needs 2",
        "Does not fit: H200 needs 4",
    ]


@pytest.mark.parametrize("work", ["embeddings", "fine_tuning", "training"])
def test_work_out_of_scope_has_no_recommendation(service: GpuDeskService, work: str) -> None:
    decision = decide(service, work=work)
    assert not decision.scope.answered
    assert format_verdict(decision, NAMES, FORMATTER) == "No recommendation for this kind of work"
    assert "text serving" in describe_verdict_reason(decision, NAMES, FORMATTER)
    assert list_candidate_lines(decision, NAMES, FORMATTER) == ()
    assert list_unpriced_candidates(decision) == ()
    labels = {"embeddings": ["Weights"], "fine_tuning": ["Full fine-tuning", "LoRA", "QLoRA"]}
    labels["training"] = ["Full fine-tuning"]
    fits = [line for line in list_memory_fits(decision, NAMES, FORMATTER) if not line.startswith("Assumed: ")]
    assert [line.partition(":")[0] for line in fits] == labels.get(work, [])
    for line in fits:
        (size,) = re.findall(r": ([\d,.]+)\sGB; fits on ", line)
        for part, name in zip(decision.parts, NAMES.values(), strict=True):
            assert isinstance(part["memory_gb"], float)
            assert f"{math.ceil(float(size.replace(',', '')) / (0.9 * part['memory_gb']))} × {name}" in line
    assert {each.rule for each in decision.advice} <= {
        line.rule.id for line in decision.trace if "work" in line.answers
    }


def test_memory_for_tuning_follows_the_parameters(service: GpuDeskService) -> None:
    """Adam holds 16 bytes per trained parameter; LoRA freezes them in 2 bytes, QLoRA in about half a byte."""
    facts = decide(service, work="fine_tuning").facts
    parameters, full, lora, qlora = (
        float(str(facts[name])) for name in ("params_b", "full_tuning_gb", "lora_gb", "qlora_gb")
    )
    assert full == pytest.approx(16.0 * parameters)
    assert 2.0 * parameters < lora < 2.5 * parameters
    assert 0.5 * parameters < qlora < parameters


def test_images_and_video_list_the_models_that_fit(service: GpuDeskService) -> None:
    decision = decide(service, work="media")
    assert not decision.scope.answered
    assert format_verdict(decision, NAMES, FORMATTER) == "No recommendation for this kind of work"
    assert list_candidate_lines(decision, NAMES, FORMATTER) == ()
    *fits, assumed = list_memory_fits(decision, NAMES, FORMATTER)
    assert len(fits) == len(decision.columns)
    for fit, line in zip(decision.media_fits, fits, strict=True):
        total = len(fit.held) + len(fit.too_large)
        assert line.startswith(f"{NAMES[fit.key]}: ")
        assert f"{len(fit.held)} of {total} image and video models fit" in line or not fit.too_large
    (small,) = service.decide(answer_on(service, "l4"), {"work": "media"}).media_fits
    assert "Stable Diffusion XL 1.0" in small.held
    assert "HunyuanVideo" in small.too_large
    assert assumed.startswith("Assumed: one accelerator, BF16")
    assert decide(service, work="embeddings").media_fits == ()


def answer_on(service: GpuDeskService, part: str) -> Answer:
    return service.answer(replace(read_template("70b-chat-on-four"), accelerators=(AcceleratorChoice(part),)))


def test_first_paragraph_names_a_way_out(service: GpuDeskService) -> None:
    scenario = replace(read_template("70b-chat-on-four"), model="llama-3.1-405b")
    parts = tuple(AcceleratorChoice(part, count=1) for part in ("mi325x", "h200-sxm"))
    decision = service.decide(service.answer(replace(scenario, accelerators=parts)), {"shape": "one"})
    assert decision.verdict is DecisionVerdict.NONE_FITS
    ways = " or ".join(describe_way_out(way, FORMATTER)[1] for way in decision.ways_out)
    assert describe_verdict_reason(decision, NAMES, FORMATTER).endswith(f"Alternatives: {ways}.")


def test_export_control_exclusion_has_its_score(service: GpuDeskService) -> None:
    decision = decide(service, destination="controlled")
    exclusions = [plain(describe_exclusion(each, NAMES, FORMATTER, decision)) for each in decision.exclusions]
    assert any("H200: destination under export control" in text and "15,824" in text for text in exclusions)


def test_reasons_carry_the_figures_of_both_sides_and_the_change(service: GpuDeskService) -> None:
    decision = decide(service, priority="cost", acquisition="rent")
    reason = decision.reasons[0]
    assert (reason.fact, reason.line) == ("usd_per_million", None)
    assert reason.other is not None
    ours, theirs = reason.ours, reason.theirs
    assert isinstance(ours, IntervalEstimate)
    assert isinstance(theirs, IntervalEstimate)
    answers = plain(describe_reason(reason, NAMES, FORMATTER))
    assert answers == (
        f"Cost per million output tokens: ${FORMATTER.small_amount(ours.value)} rented, compared with "
        f"${FORMATTER.small_amount(theirs.value)} rented for {NAMES[reason.other]} "
        f"(−{plain(FORMATTER.per_cent(1.0 - ours.value / theirs.value))})"
    )
    level = reason._replace(theirs=ours._replace(value=1.001 * ours.value))
    assert "%" not in describe_reason(level, NAMES, FORMATTER)
    argued = next(line for line in decision.trace if line.case.favours is not None)
    words = DecisionReason("memory_gib", 256.0, 141.0, "h200-sxm", argued)
    assert plain(describe_reason(words, NAMES, FORMATTER)) == (
        f"Memory: 256 GiB, compared with 141 GiB for H200 (+82%; {lower_for_sentence(argued.title)})"
    )
    assert describe_reason(words._replace(fact=None), NAMES, FORMATTER) == argued.title
    assert describe_reason(words._replace(theirs=256.0), NAMES, FORMATTER) == argued.title


def test_exclusions_name_the_rule_and_its_number(service: GpuDeskService) -> None:
    decision = decide(service, ttft_limit_ms=500.0, porting="no")
    exclusions = {
        (each.key, each.rule.id): plain(describe_exclusion(each, NAMES, FORMATTER, decision))
        for each in decision.exclusions
    }
    limit = exclusions["h200-sxm", "L-01"]
    assert limit.startswith("H200: TTFT limit; time to first token, ")
    assert limit.endswith("ms > TTFT limit 500 ms")


def test_an_exclusion_without_a_number_names_the_fact(service: GpuDeskService) -> None:
    decision = decide(service, porting="no", current_platform="CUDA")
    exclusions = {
        (each.key, each.rule.id): plain(describe_exclusion(each, NAMES, FORMATTER, decision))
        for each in decision.exclusions
    }
    assert exclusions["mi325x", "D000-10"] == ("MI325X: software cannot be ported; software platform: ROCm")


def test_oversized_model_for_one_accelerator_is_quantified(service: GpuDeskService) -> None:
    scenario = replace(read_template("405b-one-node"))
    decision = service.decide(service.answer(scenario), {"shape": "one"})
    names = dict.fromkeys(decision.columns, "It")
    exclusion = next(each for each in decision.exclusions if each.rule.id == "D003-09")
    assert "needed on one, 416 GB > memory " in plain(describe_exclusion(exclusion, names, FORMATTER, decision))
    assert plain(describe_exclusion(exclusion, names, FORMATTER)).endswith("; fits on one: no")


@pytest.mark.parametrize(
    ("flip", "expected"),
    [
        (
            DecisionFlip("ttft_limit_ms", 2000.0, 1600.0, ("b200-hgx",), DecisionVerdict.WINNER),
            ("TTFT limit below 1.6 s", "now 2 s", "B200 leads"),
        ),
        (
            DecisionFlip("mi325x.rent_usd_per_hour", 1.95, 3.14, ("b200-hgx",), DecisionVerdict.OPEN),
            ("MI325X, rental price above $3.14/h", "now $1.95/h", "B200 is ahead, but too close to call"),
        ),
        (
            DecisionFlip("serving_engine", "any", "tensorrt-llm", (), DecisionVerdict.NONE_FITS),
            ("Serving engine: TensorRT-LLM", "now any", "no recommendation"),
        ),
        (
            DecisionFlip("monthly_hours", "unknown", 20_600.0, ("mi325x",), DecisionVerdict.WINNER),
            ("Rented accelerator-hours: 20,600 h/month", "now unknown", "MI325X leads"),
        ),
        (
            DecisionFlip("mi355x.price_usd", None, 35_000.0, ("mi355x",), DecisionVerdict.WINNER),
            ("MI355X, purchase price: $35,000", "now unknown", "MI355X leads"),
        ),
        (
            DecisionFlip("energy_usd_per_kwh", 0.1, 0.3, ("mi355x",), DecisionVerdict.WINNER),
            ("Electricity price above $0.30/kWh", "now $0.10/kWh", "MI355X leads"),
        ),
        (
            DecisionFlip(SYSTEMS_COUNTED, COUNTED_WHOLE, COUNTED_IN_USE, ("mi355x",), DecisionVerdict.WINNER),
            ("Counting only accelerators in use", "now counting whole systems", "MI355X leads"),
        ),
        (
            DecisionFlip("monthly_hours", 10_000.0, 20_600.0, ("mi325x", "mi355x"), DecisionVerdict.OPEN),
            (
                "Rented accelerator-hours above 20,600 h/month",
                "now 10,000 h/month",
                "too close to call between MI325X and MI355X",
            ),
        ),
    ],
)
def test_changes_show_the_current_value_and_the_effect(
    service: GpuDeskService, flip: DecisionFlip, expected: tuple[str, str, str]
) -> None:
    decision = decide(service)
    assert tuple(map(plain, describe_flip(flip, decision, NAMES, FORMATTER))) == expected


def test_an_accelerator_in_two_columns_is_called_without_its_count(service: GpuDeskService) -> None:
    decision = decide(service)
    twice = tuple(replace(each, accelerator="mi325x") for each in decision.candidates)
    flip = DecisionFlip("mi325x.rent_usd_per_hour", 1.95, 3.14, ("b200-hgx",), DecisionVerdict.WINNER)
    names = {key: f"{name} × 1" for key, name in NAMES.items()}
    change, _, _ = describe_flip(flip, replace(decision, candidates=twice), names, FORMATTER)
    assert plain(change) == "MI325X, rental price above $3.14/h"


def test_pilot_names_requests_accelerators_and_duration() -> None:
    pilot = PilotMeasurement(("mi355x", "b200-hgx"), "ttft_ms", 640, 0.2)
    assert describe_pilot(pilot, NAMES, FORMATTER) == (
        "Run 640 of your requests on MI355X and B200: about 12 minutes on each accelerator. "
        "Compare time to first token."
    )
    assert "about 2.6 hours on each" in describe_pilot(replace(pilot, hours=31.0 / 12.0), NAMES, FORMATTER)


def test_rules_show_source_conditions_and_alternative(service: GpuDeskService) -> None:
    rules = {rule.id: rule for rule in service.decider.rules}
    assert label_rule_source(rules["D000-02"]) == "MI325X vs H200"
    assert label_rule_source(rules["D004-01"]) == "MI325X product page"
    assert label_rule_source(rules["D002-01"]) == "AMD stack scorecard"
    assert label_rule_source(rules["L-01"]) == "Your limit"
    assert label_rule_source(replace(rules["D004-01"], pair=())) == "MI325X product page"
    lines = list_rule_lines(rules["D000-02"], FORMATTER)
    assert lines[0] == rules["D000-02"].why
    assert "What matters most: cost → favored: lowest cost per token" in lines
    assert any(line.startswith("Source text: ") for line in lines)
    assert any(line.startswith("Correct: ") for line in lines)
    assert any(line.startswith("Sources disagree: D-095") for line in lines)
    unfounded = list_rule_lines(rules["D000-05"], FORMATTER)
    assert any(line.startswith("Unfounded: ") for line in unfounded)
    against = list_rule_lines(rules["D002-20"], FORMATTER)
    assert any(line.startswith("Contradicted by: D000-21") for line in against)
    for rule in rules.values():
        for line in list_rule_lines(rule, FORMATTER)[1:]:
            assert "==" not in line
            assert " 1e" not in line


def test_answers_have_their_origin(service: GpuDeskService) -> None:
    decision = decide(service, ttft_limit_ms=2000.0, priority="cost", current_platform="CUDA")
    lines = {line.rule.id: line for line in decision.trace}
    assert plain(describe_rule_answers(lines["L-01"], FORMATTER)) == "you: 2 s"
    assert describe_rule_answers(lines["D004-03"], FORMATTER) == "no answer needed"
    theirs = {**decision.answers, "current_platform": QuestionAnswer("CUDA", AnswerOrigin.SCENARIO)}
    assert describe_rule_answers(lines["D000-14"], FORMATTER, theirs) == "scenario: CUDA"
    assert describe_rule_answers(lines["D004-02"], FORMATTER, decision.answers) == "default: serving text"
    mine: dict[str, QuestionAnswer] = {**decision.answers, "priority": QuestionAnswer("cost", AnswerOrigin.YOURS)}
    assert describe_rule_answers(lines["D000-02"], FORMATTER, mine) == "you: cost"


def test_effects_levels_factors_and_strengths_have_words(service: GpuDeskService) -> None:
    assert len({each.label for each in RuleEffect}) == len(RuleEffect)
    assert len({each.label for each in FactorLevel}) == len(FactorLevel)
    assert len({each.label for each in RuleStrength}) == len(RuleStrength)
    factors = decide(service).factors
    assert len({label_factor(each.id) for each in factors}) == len(factors) >= 12


def test_the_other_way_to_pay_is_one_sentence_where_another_leads(service: GpuDeskService) -> None:
    scenario = replace(read_template("70b-chat-on-four"), weights=Precision.BF16)
    parts = tuple(AcceleratorChoice(part, count=8) for part in ("h100-sxm", "mi300x"))
    costs = scenario.costs.with_input("rent_usd_per_hour", UncertainValue(1.5, 2.5, 5.0), "h100-sxm")
    scenario = replace(scenario, costs=costs.with_input("rent_usd_per_hour", UncertainValue(1.5, 2.4, 6.0), "mi300x"))
    names = {"h100-sxm": "H100", "mi300x": "MI300X"}
    decision = service.decide(service.answer(replace(scenario, accelerators=parts)), {"priority": "cost"})
    assert format_verdict(decision, names, FORMATTER).startswith("Buy 8 × MI300X: $")
    close = describe_other_payment(decision, names, FORMATTER)
    assert re.fullmatch(r"If rented: too close to call \(8 × H100: \d+% odds; 8 × MI300X: \d+%\)", plain(close or ""))
    assert decision.other_payment is not None
    clear = decision.other_payment._replace(leader=replace(decision.other_payment.leader, odds=0.7))
    sentence = describe_other_payment(replace(decision, other_payment=clear), names, FORMATTER)
    assert plain(sentence or "").startswith("If rented: 8 × H100 (70% odds of being the cheapest; 8 × MI300X: ")
    tipping = [each.text for each in list_recommendation_lines(decision, (), names, FORMATTER) if each.text == close]
    assert tipping == [close]
    assert describe_other_payment(replace(decision, other_payment=None), names, FORMATTER) is None
    document = encode_decision(decision, (), names)
    assert document["other_payment"]["leading"] == "h100-sxm"
    assert sum(document["other_payment"]["odds"].values()) == pytest.approx(1.0)
    assert [each["objective"]["payment"] for each in document["candidates"]] == ["owned", "owned"]
    assert [line.value.rpartition(", ")[2] for line in list_candidate_lines(decision, names, FORMATTER)] == [
        "owned"
    ] * 2
