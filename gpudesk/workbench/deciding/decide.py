"""Decisions: facts of an answered scenario, what rules say of them, and what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gpudesk.advisor.judging import theme_of, trace_of
from gpudesk.advisor.scoring import Shares, removed, scores, shares, undecided
from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import column_keys
from gpudesk.domain.costs import CostAnswer
from gpudesk.domain.decisions import (
    Advice,
    Answered,
    Decision,
    Dispute,
    Effect,
    Exclusion,
    Fact,
    Facts,
    Pilot,
    Recommended,
    Rule,
    Standing,
    Tested,
    TraceLine,
    Verdict,
    Weighed,
)
from gpudesk.domain.questions import AnswerValue
from gpudesk.workbench.costing.costs import SEED, common_error
from gpudesk.workbench.costing.unknowns import Basis, Drawing
from gpudesk.workbench.deciding.answers import answers_of, facts_of, platform_for_costs
from gpudesk.workbench.deciding.comparing import basis_of, leading_facts, payback_facts, with_costs
from gpudesk.workbench.deciding.drawing import drawn_parts
from gpudesk.workbench.deciding.factors import factors
from gpudesk.workbench.deciding.scenario_facts import with_platforms

if TYPE_CHECKING:
    from gpudesk.workbench.deciding.ground import Ground, GroundMaker

DRAWS: Final = 2_000
#: The leading column is recommended where it leads in so many of the draws: twice as many as all others.
CLEAR_SHARE: Final = 2.0 / 3.0
_REASONS: Final = 3
#: Requests that a pilot sends at least, and rounds of all in flight; seconds that it takes at least.
_PILOT_REQUESTS, _PILOT_ROUNDS, _PILOT_SECONDS = 256, 10, 600.0
_SECONDS_PER_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Situation:
    """All facts of a decision, and the columns that no rule removes by likely figures."""

    facts: Facts
    parts: tuple[Facts, ...]
    standing: tuple[int, ...]
    basis: Basis | None


class Decider:
    """Decides answered scenarios by rules; what does not depend on answers is worked out once."""

    def __init__(self, rules: Sequence[Rule], ground: GroundMaker) -> None:
        """Take the rules, and what finds the facts of an answered scenario."""
        self.rules = tuple(rules)
        self._removing = tuple(rule for rule in rules if any(case.requires for case in rule.cases))
        self._ground = ground

    def decide(
        self,
        answer: Answer,
        said: Mapping[str, AnswerValue] | None = None,
        *,
        draws: int = DRAWS,
    ) -> Decision:
        """Return the decision on an answered scenario, under other answers than its own where `said`."""
        answers = answers_of(answer.scenario, said, answer.model.native_precision)
        platform = platform_for_costs(answers)
        ground = self._ground.of(answer, platform)
        situation = self._situation(answer, ground, answers)
        weights = answer.scenario.decision.weights
        values = {name: each.value for name, each in answers.items()}
        lines = trace_of(self.rules, situation.facts, situation.parts, values, weights)
        found = self._shares(answer, ground, situation, lines, draws)
        decision = _decision(answer, answers, situation, lines, found, draws)
        return self._unsure(decision, values, weights)

    def apart(self, answer: Answer) -> Decider:
        """Return one that a job may use on its thread for this answer, with whatever is said and paid."""
        return Decider(self.rules, self._ground.apart(answer))

    def costs_of(self, answer: Answer, said: Mapping[str, AnswerValue] | None = None) -> CostAnswer:
        """Return the costs that a decision rests on: those of software on the platform that is in use."""
        answers = answers_of(answer.scenario, said, answer.model.native_precision)
        return self._ground.of(answer, platform_for_costs(answers)).costs

    def _situation(self, answer: Answer, ground: Ground, answers: Mapping[str, Answered]) -> Situation:
        """Return all facts: first those that remove columns, then who leads among those that are left."""
        keys = column_keys(answer.scenario.accelerators)
        every = tuple(range(len(ground.parts)))
        said = facts_of(answers)
        facts: dict[str, Fact] = {**ground.facts(every), **said}
        basis = basis_of(ground.parts, said.get("acquisition"))
        parts = [with_costs(part, basis) for part in ground.parts]
        wide, by_platform, current = ground.widest, ground.engines_by_platform, _platform(answer, said)
        parts = _with(parts, [with_platforms(current, part, wide, by_platform) for part in parts])
        parts = _with(parts, ground.for_engine(said.get("serving_engine")))
        facts |= _beside(parts, every, ground, said)
        hard = trace_of(self._removing, facts, parts, {}, {})
        standing = tuple(place for place in every if not removed(hard, place))
        if standing and standing != every:
            # What is compared from here on is what is left: whoever is out sets no measure.
            facts |= ground.facts(standing) | _beside(parts, standing, ground, said) | said
        hours = payback_facts(ground.situations, parts, standing, said.get("monthly_hours"))
        parts = _with(parts, hours)
        parts = _with(parts, leading_facts(answer, keys, parts, standing))
        return Situation(facts, tuple(parts), standing, basis)

    def _shares(
        self, answer: Answer, ground: Ground, situation: Situation, lines: Sequence[TraceLine], draws: int
    ) -> Shares:
        drawing = Drawing(draws, SEED, common_error(answer))
        drawn = drawn_parts(ground.situations, situation.parts, situation.standing, situation.basis, drawing)
        return shares(lines, situation.facts, situation.parts, drawn)

    def _unsure(
        self, decision: Decision, answers: Mapping[str, AnswerValue], weights: Mapping[str, float]
    ) -> Decision:
        """Return the decision with what rules tell to do where nothing is clear."""
        if decision.verdict is not Verdict.OPEN:
            silent = _silent(self.rules, decision.trace)
            return replace(decision, silent=silent)
        facts = {**decision.facts, "unsure": True}
        lines = trace_of(self.rules, facts, decision.parts, answers, weights)
        return replace(
            decision, facts=facts, trace=lines, advice=_advice(lines), silent=_silent(self.rules, lines)
        )


def _with(parts: Sequence[Facts], more: Sequence[Facts]) -> list[dict[str, Fact]]:
    return [{**part, **added} for part, added in zip(parts, more, strict=True)]


def _silent(rules: Sequence[Rule], lines: Sequence[TraceLine]) -> tuple[str, ...]:
    fired = {line.rule.id for line in lines}
    return tuple(rule.id for rule in rules if rule.id not in fired)


def _platform(answer: Answer, said: Facts) -> Fact:
    """Return the platform that software runs on; one that no option names is that of the costs."""
    current, costed = said.get("current_platform"), answer.scenario.costs.runs_on
    return costed if current == _OTHER and costed not in _NAMED else current


def _beside(parts: Sequence[Facts], places: Sequence[int], ground: Ground, said: Facts) -> dict[str, Fact]:
    """Return facts of the scenario that follow from those of these columns under the answers."""
    ports = [parts[place].get("needs_port") for place in places]
    announced = any(part.get("announced") is True for part in parts)
    return {
        "some_need_port": True if True in ports else None if None in ports else False,
        "some_announced": announced and ground.ranked_apart,
        "engine_everywhere": ground.everywhere(said.get("serving_engine"), places),
    }


def _decision(
    answer: Answer,
    answers: Mapping[str, Answered],
    situation: Situation,
    lines: tuple[TraceLine, ...],
    found: Shares,
    draws: int,
) -> Decision:
    keys = column_keys(answer.scenario.accelerators)
    points = scores(lines, len(keys))
    standings = tuple(
        Standing(
            key=key,
            accelerator=answer.columns[place].accelerator.id,
            score=points[place],
            share=found.columns[place],
            removed=removed(lines, place),
            open_rules=undecided(lines, place),
        )
        for place, key in enumerate(keys)
    )
    ranked = sorted(
        (place for place in range(len(keys)) if not standings[place].removed),
        key=lambda place: (-found.columns[place], -points[place], place),
    )
    verdict = _verdict(ranked, found)
    first = ranked[0] if ranked else None
    second = ranked[1] if len(ranked) > 1 else None
    others = ranked[1:] or [place for place in range(len(keys)) if place != first]
    weighed = () if first is None else _weighed(lines, first, others)
    return Decision(
        columns=keys,
        answers=answers,
        facts=situation.facts,
        parts=situation.parts,
        trace=lines,
        silent=(),
        standings=standings,
        verdict=verdict,
        recommended=None if first is None else _recommended(answer, keys, first),
        runner_up=None if second is None else keys[second],
        robustness=0.0 if first is None else found.columns[first],
        draws=draws,
        reasons=tuple(each for each in weighed if each.gain > 0.0)[:_REASONS],
        against=tuple(each for each in reversed(weighed) if each.gain < 0.0)[:1],
        exclusions=_exclusions(keys, lines),
        advice=_advice(lines),
        conflicts=_conflicts(lines),
        pilot=_pilot(answer, keys, lines, first, second) if verdict is Verdict.OPEN else None,
        factors=factors(situation.parts),
    )


def _verdict(ranked: Sequence[int], found: Shares) -> Verdict:
    if not ranked:
        return Verdict.NONE_FITS
    return Verdict.WINNER if found.columns[ranked[0]] >= CLEAR_SHARE else Verdict.OPEN


def _recommended(answer: Answer, keys: Sequence[str], place: int) -> Recommended | None:
    column = answer.columns[place]
    if column.estimate is None:
        return None
    return Recommended(keys[place], column.accelerator.id, column.estimate.count, column.estimate.plan)


def _weighed(lines: Sequence[TraceLine], first: int, others: Sequence[int]) -> tuple[Weighed, ...]:
    """Return what each theme gives the first column over the mean of the others, the most first."""
    by_theme: dict[str, list[TraceLine]] = {}
    for line in lines:
        if line.case.favours is not None:
            by_theme.setdefault(theme_of(line), []).append(line)
    found = []
    for of_theme in by_theme.values():
        ours = _heaviest(of_theme, first)
        rivals = [each for place in others if (each := _heaviest(of_theme, place)) is not None]
        mean = sum(each.weight for each in rivals) / max(len(others), 1)
        gain = (0.0 if ours is None else ours.weight) - mean
        said = ours if gain > 0.0 else max(rivals, key=lambda line: line.weight, default=None)
        if said is not None and gain != 0.0:
            found.append(Weighed(said.rule, said, gain))
    return tuple(sorted(found, key=lambda each: -each.gain))


def _heaviest(lines: Sequence[TraceLine], place: int) -> TraceLine | None:
    """Return the heaviest line that favours a column; of as heavy ones the first."""
    favouring = [line for line in lines if line.cells[place].effect is Effect.FAVOURS]
    return max(favouring, key=lambda line: line.weight, default=None)


def _exclusions(keys: Sequence[str], lines: Sequence[TraceLine]) -> tuple[Exclusion, ...]:
    return tuple(
        Exclusion(key, line.rule, _because(line.cells[place].tested))
        for place, key in enumerate(keys)
        for line in lines
        if line.cells[place].effect is Effect.REMOVES
    )


def _because(tested: tuple[Tested, ...]) -> tuple[Tested, ...]:
    """Return the comparisons that fail; of one that asks that something does not hold, all of them."""
    return tuple(each for each in tested if each.holds is False) or tested


def _advice(lines: Sequence[TraceLine]) -> tuple[Advice, ...]:
    return tuple(Advice(line.rule.id, line.case.advice) for line in lines if line.case.advice is not None)


def _conflicts(lines: Sequence[TraceLine]) -> tuple[Dispute, ...]:
    """Return rules of documents that say otherwise than one that does something here, each pair once."""
    pairs = {
        frozenset((line.rule.id, other)): Dispute(line.rule.id, other)
        for line in lines
        if line.case.checks is None
        for other in line.rule.against
    }
    return tuple(pairs.values())


def _pilot(
    answer: Answer, keys: Sequence[str], lines: Sequence[TraceLine], first: int | None, second: int | None
) -> Pilot | None:
    """Return what to measure: a limit that lies in a band, else throughput, on the two that lead."""
    if first is None or second is None:
        return None
    figure = "output_tokens_per_s"
    for line in lines:
        if line.rule.id in _LIMITS and any(
            line.cells[place].effect is Effect.UNDECIDED for place in (first, second)
        ):
            figure = _LIMITS[line.rule.id]
            break
    seconds, requests = 0.0, _PILOT_REQUESTS
    for place in (first, second):
        estimate = answer.columns[place].estimate
        if estimate is None or estimate.output_tokens_per_s is None:
            continue
        requests = max(requests, (estimate.concurrency or 1) * _PILOT_ROUNDS)
        tokens = requests * estimate.request.workload.output_tokens
        seconds = max(seconds, tokens / estimate.output_tokens_per_s.value)
    hours = math.ceil(max(seconds, _PILOT_SECONDS) / _SECONDS_PER_HOUR * 10.0) / 10.0
    return Pilot((keys[first], keys[second]), figure, requests, hours)


#: Stands for a platform that no option names, and those that one does.
_OTHER, _NAMED = "other", ("CUDA", "ROCm")
#: Rules that hold a figure to a limit -> the figure.
_LIMITS: Final = {"L-01": "ttft_ms", "L-02": "tpot_ms"}
