"""Answers to JSON lines as text: many questions about few deployments, computed and written in columns.

Lines that differ only in id, lengths and load share a template. Its deployments are resolved once, and
`write_estimate_json` writes each once, with placeholders for the varying values. Full requests and estimates are built
only for disaggregated deployments and requests that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import orjson

from gpudesk.domain.estimate import Estimate, EstimateRequest, Limiter, Load
from gpudesk.domain.estimate_json import PER_GIB, write_estimate_json, write_memory_json, write_plan_json
from gpudesk.domain.registry import FIGURES
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.memory import ResolvedDeployment
from gpudesk.engine.serving import make_load_values
from gpudesk.engine.steps import Array
from gpudesk.estimation.deployment import prepare_plans
from gpudesk.estimation.evaluation import (
    CaseFigures,
    CaseList,
    ChosenCases,
    FigureIntervals,
    count_resident,
    ends_unevenly,
    find_limiter,
    list_whole,
    make_deployment_notes,
    make_estimate,
    make_load_notes,
    make_unfit_estimates,
)
from gpudesk.estimation.search_space import FittingPlans, SearchSpace, SearchSpaceTable
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, format_message


@dataclass(frozen=True, slots=True, eq=False)
class RequestTemplate:
    """A request that represents all that differ from it in id, lengths and load of the same kind and limit."""

    request: EstimateRequest


class LineQuestion(NamedTuple):
    """The question of a line: its shared template, and its own values."""

    template: RequestTemplate
    identity: str | int | None
    input_tokens: int
    output_tokens: int
    load: Load

    def make_request(self) -> EstimateRequest:
        request = self.template.request
        if self.load is request.workload.load:
            return request  # of the line that created the template: no other line has this object
        work = replace(
            request.workload, input_tokens=self.input_tokens, output_tokens=self.output_tokens, load=self.load
        )
        return replace(request, workload=work, id=self.identity)


class _LineDeployment(NamedTuple):
    """A deployment, its answer to a line as a bytes format, and the sentences of its notes, also as JSON."""

    deployment: ResolvedDeployment
    text: bytes
    notes: list[str]
    notes_json: bytes


@dataclass(slots=True)
class _LineGroup:
    """Common data of a template's lines.

    `deployments` by position, known figures, and whether the run's end matters.
    """

    request: EstimateRequest
    space: SearchSpace
    factors: tuple[float, ...]
    missed_share: float
    spread: float
    deployments: dict[tuple[int, int, bool], _LineDeployment] = field(default_factory=dict)


#: A question whose request fits some plans: its position, itself, its group, and the plans.
_LineRequest = tuple[int, LineQuestion, _LineGroup, FittingPlans]


#: Templates and sentences that are cached.
_MOST_GROUPS: Final = 10_000
_MOST_SENTENCES: Final = 10_000
#: Stands for any figure that has a meaning.
_ANY_FIGURE: Final = IntervalEstimate(1.0, 1.0, 1.0)
_LIMITERS: Final = {limiter: orjson.dumps(limiter) for limiter in Limiter}
#: Parts of the memory that do not depend on the requests.
_FIXED_MEMORY: Final = ("capacity", "weights", "activations", "runtime")
_BITS: Final = 1 << np.arange(len(FIGURES))


class LineAnswerer:
    """Answers questions of lines from cached deployments."""

    def __init__(
        self,
        table: SearchSpaceTable,
        constants: SchedulingConstants,
        estimate_pools: Callable[[EstimateRequest], Estimate],
    ) -> None:
        self._table = table
        self._constants = constants
        self._estimate_pools = estimate_pools
        self._groups: dict[RequestTemplate, _LineGroup] = {}
        self._sentences: dict[tuple[object, ...], str] = {}
        self._forms: dict[tuple[int, bool], bytes] = {}

    def answer(self, questions: Sequence[LineQuestion]) -> list[bytes | InputError]:
        """Return the line of each answer, with its line feed, in order; a failed one gives its InputError."""
        cases = CaseList(self._table)
        line_requests: list[_LineRequest] = []
        unfit: dict[int, tuple[EstimateRequest, SearchSpace]] = {}
        answers: list[bytes | InputError] = [b""] * len(questions)
        for position, (question, group) in enumerate(zip(questions, self._find_groups(questions), strict=True)):
            _, _, input_tokens, output_tokens, load = question
            try:
                if group is None:
                    answers[position] = self._write(self._estimate_pools(question.make_request()))
                    continue
                if isinstance(group, InputError):
                    answers[position] = group
                    continue
                fitting = group.space.find_smallest_fitting(input_tokens + output_tokens)
            except InputError as error:
                answers[position] = error.detach()
                continue
            if fitting is None:
                unfit[position] = question.make_request(), group.space
                continue
            line_requests.append((position, question, group, fitting))
            lengths = input_tokens * group.missed_share, input_tokens, output_tokens, group.spread
            cases.add(fitting, (*lengths, *make_load_values(load)))
        if line_requests:
            chosen = cases.choose([group.factors for _, _, group, _ in line_requests], self._constants)
            for position, line in self._write_lines(line_requests, chosen):
                answers[position] = line
        for position, estimate in zip(unfit, make_unfit_estimates(list(unfit.values()), self._table), strict=True):
            answers[position] = estimate if isinstance(estimate, InputError) else self._write(estimate)
        return answers

    def _find_groups(self, questions: Sequence[LineQuestion]) -> list[_LineGroup | InputError | None]:
        """Return the group of each question, or its error; None for pools. The weights of new groups are prepared."""
        if len(self._groups) > _MOST_GROUPS:
            self._groups.clear()
        known = len(self._groups)
        groups = [self._find_group(question) for question in questions]
        added = [group.space for group in islice(self._groups.values(), known, None)]
        prepare_plans((space.configuration, plan) for space in added for plan in space.list_smallest_plans())
        return groups

    def _find_group(self, question: LineQuestion) -> _LineGroup | InputError | None:
        template = question.template
        group = self._groups.get(template)
        if group is not None or template.request.disaggregated is not None:
            return group
        request = question.make_request()
        work = request.workload
        try:
            space = self._table.find_space(request)
        except InputError as error:
            return error.detach()
        factors, spread = space.interval_factors[work.load.kind], work.spread if work.uneven else 0.0
        group = self._groups[template] = _LineGroup(request, space, factors, 1.0 - work.prefix_hit_rate, spread)
        return group

    def _write(self, estimate: Estimate) -> bytes:
        fields = write_estimate_json(estimate, estimate.request.id, self._write_note)
        return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)

    def _write_lines(self, line_requests: Sequence[_LineRequest], chosen: ChosenCases) -> Iterator[tuple[int, bytes]]:
        """Yield the position of each request with its line."""
        results, cases = chosen.results, chosen.cases
        concurrency, admitted = list_whole(results.concurrency[cases]), list_whole(results.admitted[cases])
        patterns, figures = _stack_figures(chosen.intervals)
        texts = orjson.dumps(np.ascontiguousarray(figures.T), option=orjson.OPT_SERIALIZE_NUMPY)
        # Figures without meaning are null, and have no placeholder. The first column is none.
        lines = texts[2:-2].replace(b",null", b"").split(b"],[")
        states = zip(concurrency, admitted, results.stable[cases].tolist(), strict=True)
        rows = zip(line_requests, chosen.places, patterns, lines, states, results.limiter[cases].tolist(), strict=True)
        for (position, question, group, fitting), place, pattern, numbers, state, binding in rows:
            _, identity, input_tokens, output_tokens, load = question
            most, running, stable = state
            room = fitting.sequences[place], fitting.admitted[place]
            total = load.requests if group.spread else None
            runs_out = total is not None and ends_unevenly(output_tokens, total, running)
            key = fitting.positions[place], pattern, runs_out
            line = group.deployments.get(key) or self._add_deployment(group, key, fitting, place)
            notes = make_load_notes(input_tokens + output_tokens, load.kind, line.deployment, room, state)
            kv_bytes = line.deployment.budget.compute_kv_bytes(
                count_resident(running, room[1]), fitting.sequence_bytes[place]
            )
            text = line.text % (
                orjson.dumps(identity),
                orjson.dumps(most),
                orjson.dumps(running),
                _LIMITERS[find_limiter(binding, most, running)],
                *numbers.split(b",")[1:],
                b"true" if stable else b"false",
                orjson.dumps(kv_bytes * PER_GIB),
                orjson.dumps((line.deployment.budget.empty_bytes - kv_bytes) * PER_GIB),
                orjson.dumps(room[0]),
                orjson.dumps([*line.notes, *map(self._write_note, notes)]) if notes else line.notes_json,
            )
            yield position, text

    def _add_deployment(
        self, group: _LineGroup, key: tuple[int, int, bool], fitting: FittingPlans, place: int
    ) -> _LineDeployment:
        _, pattern, runs_out = key
        space, deployment = group.space, fitting.deployments[place]
        form = pattern, space.configuration.model.own
        if form not in self._forms:
            figures = [_ANY_FIGURE if pattern >> bit & 1 else None for bit in range(len(FIGURES))]
            case = CaseFigures._make((None, None, 0, *figures, True))
            self._forms[form] = _make_form(make_estimate(group.request, space, fitting, place, case))
        memory = write_memory_json(deployment.budget.compute_use(0, 0))
        text = self._forms[form] % (
            orjson.dumps(space.configuration.engine.id),
            orjson.dumps(write_plan_json(deployment.plan)),
            orjson.dumps(deployment.plan.count),
            orjson.dumps(space.basis),
            *orjson.dumps([memory[name] for name in _FIXED_MEMORY])[1:-1].split(b","),
        )
        has_rate = bool(pattern & 1)
        notes = make_deployment_notes(group.request, space, deployment, has_rate=has_rate, runs_out=runs_out)
        sentences = [self._write_note(note) for note in notes]
        line = group.deployments[key] = _LineDeployment(deployment, text, sentences, orjson.dumps(sentences))
        return line

    def _write_note(self, note: Message) -> str:
        """Return the sentence of a note; most notes recur."""
        key = (note.id, *note.parameters.values())
        sentence = self._sentences.get(key)
        if sentence is None:
            if len(self._sentences) >= _MOST_SENTENCES:
                self._sentences.clear()
            sentence = self._sentences[key] = format_message(note)
        return sentence


def _make_form(estimate: Estimate) -> bytes:
    """Return the line of an estimate as a bytes format for the lines of its deployment.

    Figures that are null have no placeholder.
    """
    fields = write_estimate_json(estimate)
    fixed, hole = orjson.Fragment(b"%b"), orjson.Fragment(b"%%b")
    fields |= dict.fromkeys(("serving_engine", "parallel", "count", "basis"), fixed)
    fields |= dict.fromkeys(("id", "concurrency", "admitted", "limiter", "stable", "max_concurrency", "notes"), hole)
    fields |= {name: dict.fromkeys(fields[name], hole) for name in FIGURES if fields[name] is not None}
    fields["memory_gib"] = dict.fromkeys(fields["memory_gib"], fixed) | {"kv": hole, "free": hole}
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def _stack_figures(intervals: FigureIntervals) -> tuple[list[int], Array]:
    """Return the meaningful figures of each case as bits, and a column of zeros and all numbers, NaN for the others."""
    numbers = np.array([getattr(intervals, name) for name in FIGURES])
    is_complete = np.isfinite(numbers).all(axis=1) & (numbers[:, 1] > 0.0)
    numbers = np.where(is_complete[:, np.newaxis], numbers, np.nan)
    cases = numbers.shape[-1]
    return (_BITS @ is_complete).tolist(), np.concatenate((np.zeros((1, cases)), numbers.reshape(-1, cases)))
