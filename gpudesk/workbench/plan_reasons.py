"""Why the plan of an estimate was taken and the others were not.

Reasons are worked out: each plan is served under the load of the estimate, and what sets it apart from the
plan taken is the part of its time that grew most, or how many sequences it runs at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.messages import Message, Parameter, message
from gpudesk.domain.plans import PlanChoice, PlanOption, kinds_of, plan_degrees
from gpudesk.domain.units import GIB
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.engine.bands import BandFactors
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.plans import replica_counts
from gpudesk.workbench.deployed import tokens_of
from gpudesk.workbench.plan_exclusions import exclusions
from gpudesk.workbench.plan_trials import Trial, growth, plan_trials
from gpudesk.workbench.setups import Placement, wishes

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup, SetupTable

#: Rates that differ by less than this share are the same to a reader: both are shown in whole per cent.
_SAME: Final = 0.005
#: From this ratio on a plan is so many times as fast as another; below it, so many per cent faster.
_TIMES: Final = 3.0


@dataclass(frozen=True, slots=True)
class PairBands:
    """What tells two plans apart: the bands of the ratio of their throughput, TTFT and TPOT."""

    throughput: BandFactors
    ttft: BandFactors
    tpot: BandFactors


def plan_choice(
    estimate: Estimate, table: SetupTable, constants: ServingConstants, bands: PairBands
) -> PlanChoice:
    """Return every plan that was looked at for an estimate, with the reasons for and against it."""
    request = estimate.request
    if estimate.plan.count != estimate.count:
        return PlanChoice(())
    setup = table.setup(request)
    placed = table.placements(request, setup, estimate.count)
    tokens = tokens_of(estimate)
    fitting = [each for each in placed if each.budget.max_sequences(tokens) >= 1]
    trials = plan_trials(estimate, setup, fitting, table, constants) if estimate.fits else ()
    short = [each for each in placed if each.budget.max_sequences(tokens) < 1]
    options = [
        *_fitting(estimate, trials, bands),
        *(_unfit(each, tokens) for each in _nearest_first(short, tokens)),
        *(_unfit(each, tokens) for each in _smaller(estimate, setup, table, tokens)),
        *(
            PlanOption(plan, fits=None, taken=False, reasons=(why,))
            for plan, why in exclusions(request, setup.frame, estimate.count)
        ),
    ]
    return PlanChoice(tuple(options))


# Plans that do not fit


def _nearest_first(placed: list[Placement], tokens: int) -> list[Placement]:
    return sorted(placed, key=lambda each: -each.budget.headroom_bytes(tokens))


def _smaller(estimate: Estimate, setup: Setup, table: SetupTable, tokens: int) -> list[Placement]:
    """Return the plan that comes closest of each smaller deployment, where the size was left open."""
    request, frame = estimate.request, setup.frame
    if request.count is not None:
        return []
    sizes = replica_counts(frame.accelerator, wishes(request, frame.engine))
    smaller = [count for count in sizes if count < estimate.count]
    made = [table.placements(request, setup, count) for count in reversed(smaller)]
    return [_nearest_first(list(each), tokens)[0] for each in made if each]


def _unfit(placed: Placement, tokens: int) -> PlanOption:
    budget = placed.budget
    if budget.weights_bytes > budget.capacity_bytes:
        why = message(
            "plan.weights_do_not_fit",
            weights=budget.weights_bytes / GIB,
            capacity=(budget.capacity_bytes / GIB, "GiB"),
        )
    else:
        why = message("plan.does_not_fit", missing=(-budget.headroom_bytes(tokens) / GIB, "GiB"))
    return PlanOption(placed.plan, fits=False, taken=False, reasons=(why,))


# Plans that fit


def _fitting(estimate: Estimate, trials: tuple[Trial, ...], bands: PairBands) -> list[PlanOption]:
    """Return the plan taken, and the others from fast to slow."""
    if not trials:
        return []
    taken = next(trial for trial in trials if trial.plan == estimate.plan)
    others = sorted((trial for trial in trials if trial is not taken), key=lambda trial: -trial.score)
    load = estimate.request.workload.load
    made = [_option(other, taken, load, bands) for other in others]
    return [_taken(estimate, taken, others, made, bands), *made]


def _option(other: Trial, taken: Trial, load: Load, bands: PairBands) -> PlanOption:
    reasons = [_against(other, taken, load)]
    if reasons[0].id == "plan.slower_limits":
        reasons += _with_as_many(other, taken)
    within = _within(other.rate, taken.rate, bands.throughput) and other.rate < taken.rate * (1.0 - _SAME)
    if within:
        reasons.append(message("plan.within_error"))
    return PlanOption(
        plan=other.plan,
        fits=True,
        taken=False,
        reasons=tuple(reasons),
        output_tokens_per_s=other.figures.output_tokens_per_s,
        ttft_ms=other.figures.ttft_ms,
        tpot_ms=other.figures.tpot_ms,
        within_error=within,
    )


def _within(value: float, against: float, factors: BandFactors) -> bool:
    """Whether nobody can tell two figures apart."""
    if value <= 0.0 or against <= 0.0:
        return False
    ratio = factors.around(value / against)
    return ratio.low <= 1.0 <= ratio.high


def _taken(
    estimate: Estimate, taken: Trial, others: list[Trial], made: list[PlanOption], bands: PairBands
) -> PlanOption:
    option = PlanOption(
        plan=taken.plan,
        fits=True,
        taken=True,
        reasons=(_for(estimate, taken, others),),
        output_tokens_per_s=estimate.output_tokens_per_s,
        ttft_ms=estimate.ttft_ms,
        tpot_ms=estimate.tpot_ms,
    )
    simpler = _simpler(option, made, bands)
    if taken.rate <= 0.0:
        missed = _misses(taken, estimate.request.workload.load)
        return replace(option, reasons=(*option.reasons, missed))
    if simpler is None:
        return option
    return replace(
        option, reasons=(*option.reasons, message("plan.simpler_would_do", plan=plan_degrees(simpler)))
    )


def _for(estimate: Estimate, taken: Trial, others: list[Trial]) -> Message:
    """Say what the plan taken has over the next."""
    if estimate.count == 1:
        return message("plan.single")
    if not others:
        request = estimate.request
        given = request.tp is not None and request.pp is not None
        return message("plan.as_given" if given else "plan.only_one")
    following = others[0]
    plan = plan_degrees(following.plan)
    if taken.rate <= 0.0:
        return message("plan.nearest_to_limits")
    if following.rate <= 0.0:
        return message("plan.only_one_meets_limits")
    ratio = taken.rate / following.rate
    if ratio >= _TIMES:
        return message("plan.ahead_times", times=ratio, plan=plan)
    if following.rate < taken.rate * (1.0 - _SAME):
        return message("plan.ahead", ahead=ratio - 1.0, plan=plan)
    ours, theirs = taken.figures.tpot_ms, following.figures.tpot_ms
    if ours is not None and theirs is not None and ours.value < theirs.value * (1.0 - _SAME):
        return message("plan.sooner", plan=plan, tpot=(ours.value, "ms"), other=(theirs.value, "ms"))
    return message("plan.level", plan=plan)


def _simpler(taken: PlanOption, others: list[PlanOption], bands: PairBands) -> ParallelPlan | None:
    """Return the simplest plan that combines fewer kinds of parallelism and would do as well."""
    fewer = [
        other
        for other in others
        if kinds_of(other.plan) < kinds_of(taken.plan) and _as_good(other, taken, bands)
    ]
    found = min(fewer, key=lambda other: kinds_of(other.plan), default=None)
    return None if found is None else found.plan


def _as_good(other: PlanOption, taken: PlanOption, bands: PairBands) -> bool:
    """Whether a plan is as good in every figure, as far as one can tell."""
    ours, theirs = taken.output_tokens_per_s, other.output_tokens_per_s
    if ours is None or theirs is None:
        return False
    if theirs.value < ours.value and not _within(theirs.value, ours.value, bands.throughput):
        return False
    return _no_later(other.ttft_ms, taken.ttft_ms, bands.ttft) and _no_later(
        other.tpot_ms, taken.tpot_ms, bands.tpot
    )


def _no_later(other: Banded | None, taken: Banded | None, factors: BandFactors) -> bool:
    if other is None or taken is None:
        return other is taken
    return other.value <= taken.value or _within(other.value, taken.value, factors)


def _against(other: Trial, taken: Trial, load: Load) -> Message:
    """Say what a plan that fits lacks against the plan taken."""
    if other.rate <= 0.0:
        return _misses(other, load)
    if taken.figures.stable and not other.figures.stable:
        asked = load.request_rate or 0.0
        return message("plan.overloaded", served=asked * other.rate / taken.rate, asked=asked)
    behind = 1.0 - other.rate / taken.rate if taken.rate > 0.0 else 0.0
    if behind < _SAME:
        return _later(other, taken)
    if other.idle > taken.idle:
        return message("plan.slower_idle", behind=behind, idle=other.idle, replicas=other.plan.dp)
    if other.admitted < taken.admitted:
        if other.lifted - other.rate > 0.5 * (taken.rate - other.rate):
            most = taken.admitted
            return message("plan.slower_fewer", behind=behind, admitted=other.admitted, most=most)
        if load.kind is LoadKind.LIMITS:
            most = taken.admitted
            return message("plan.slower_limits", behind=behind, admitted=other.admitted, most=most)
    return _slower(behind, other, taken)


def _with_as_many(other: Trial, taken: Trial) -> list[Message]:
    """Say why a plan meets limits with fewer sequences only: what grows most if it runs as many."""
    grown = growth(other.level, taken.level)
    most = taken.admitted
    if grown is None:
        return []
    if grown.is_share:
        return [message("plan.as_many_share", most=most, part=grown.part, now=grown.now, before=grown.before)]
    return [message("plan.as_many_times", most=most, part=grown.part, times=grown.times)]


def _misses(other: Trial, load: Load) -> Message:
    """Say which latency limit not even one request meets: the one that is missed by more."""
    ttft, tpot = (1e3 * each for each in other.alone)
    missed = {}
    if load.ttft_ms is not None and ttft > load.ttft_ms:
        missed[ttft / load.ttft_ms] = message(
            "plan.misses_ttft", ttft=(ttft, "ms"), limit=_stated(load.ttft_ms)
        )
    if load.tpot_ms is not None and tpot > load.tpot_ms:
        missed[tpot / load.tpot_ms] = message(
            "plan.misses_tpot", tpot=(tpot, "ms"), limit=_stated(load.tpot_ms)
        )
    return missed[max(missed)] if missed else message("plan.misses_limits")


def _stated(value: float) -> Parameter:
    return int(value) if value == int(value) else value


def _later(other: Trial, taken: Trial) -> Message:
    """Say how a plan of the same throughput differs."""
    ours, theirs = other.figures.tpot_ms, taken.figures.tpot_ms
    if ours is not None and theirs is not None and ours.value > theirs.value * (1.0 + _SAME):
        return message("plan.later", tpot=(ours.value, "ms"), other=(theirs.value, "ms"))
    return message("plan.no_better")


def _slower(behind: float, other: Trial, taken: Trial) -> Message:
    """Name the part of the time that grew most, by its share or, where that did not rise, by its grown."""
    grown = growth(other.spent, taken.spent)
    if grown is None:
        if other.plan.pp > taken.plan.pp:
            # What no round shows: prompts wait until the stages are filled.
            return message("plan.slower_stages", behind=behind, pp=other.plan.pp)
        return message("plan.slower", behind=behind)
    part = grown.part
    if grown.is_share:
        return message("plan.slower_share", behind=behind, part=part, now=grown.now, before=grown.before)
    return message("plan.slower_times", behind=behind, part=part, times=grown.times)
