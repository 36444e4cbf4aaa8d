"""From questions to arrays and back: keeps setups, lists the plans that fit, picks the best of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Basis, Estimate, EstimateRequest
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.models import Model
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.bands import band, basis
from gpudesk.engine.choosing import plan_scores
from gpudesk.engine.constants import Calibration
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.operating import ideal_row
from gpudesk.engine.serving import Results
from gpudesk.engine.steps import OneRow, Rows
from gpudesk.engine.work import has_experts
from gpudesk.engine.workload_arrays import workload_values
from gpudesk.workbench.candidates import Candidate, candidate
from gpudesk.workbench.case_arrays import CaseArrays, CaseColumns, case_arrays
from gpudesk.workbench.figures import figure_rows
from gpudesk.workbench.results import chosen_estimate
from gpudesk.workbench.row_table import RowTable
from gpudesk.workbench.setups import Frame, Placement, check_plan, counts, frame, placements

if TYPE_CHECKING:
    from gpudesk.workbench.estimating import Facts


#: Lengths of requests, by deployment size, that a setup remembers the fitting plans of.
MOST_LENGTHS = 4096
#: Plans and lengths that are remembered of all setups together, of about 1.5 kB each. A scenario takes one
#: or two thousand; more would make the interpreter's search for unreachable objects stop the window.
MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    """The plans of one deployment size that hold a request of some length: columns for the arrays."""

    count: int
    chosen: tuple[Candidate, ...]
    rows: tuple[int, ...]
    capacity: tuple[float, ...]
    replicas: tuple[float, ...]
    sequences: tuple[int, ...]
    sequence_bytes: tuple[int, ...]


@dataclass(slots=True)
class Setup:
    """What has been worked out for one part, model and settings.

    `factors` are those of the bands by load: low and high of throughput, TTFT and TPOT.
    """

    frame: Frame
    counts: tuple[int, ...]
    basis: Basis
    factors: Mapping[LoadKind, tuple[float, ...]]
    placements: dict[int, tuple[Placement, ...]] = field(default_factory=dict)
    candidates: dict[ParallelPlan, Candidate] = field(default_factory=dict)
    options: dict[tuple[int, int], Options | None] = field(default_factory=dict)


class SetupTable:
    """All setups asked for so far, and the table of their step rows."""

    def __init__(self, catalog: Facts, calibration: Calibration) -> None:
        """Start empty."""
        self._catalog = catalog
        self.calibration = calibration
        self._engines = catalog.serving_engines()
        self._bands: dict[tuple[str | float, ...], Mapping[LoadKind, tuple[float, ...]]] = {}
        #: How much is remembered.
        self.most_kept = MOST_KEPT
        self._empty()

    def _empty(self) -> None:
        self._setups: dict[tuple[object, ...], Setup] = {}
        self.rows = RowTable()
        self._ideal = RowTable()
        self._ideal_of: dict[int, int] = {}
        self._kept = 0

    @property
    def full(self) -> bool:
        """Whether as much has been worked out as is to be remembered."""
        return self._kept >= self.most_kept

    def make_room(self) -> bool:
        """Forget everything where too much has been worked out; return whether that was done.

        Rows have other positions afterwards, so this is for the time between two calls.
        """
        if not self.full:
            return False
        self._empty()
        return True

    def setup(self, request: EstimateRequest) -> Setup:
        """Return the setup of a question; raises InputError where nothing runs it or the plan cannot be."""
        work = request.workload
        key = (
            request.accelerator,
            request.model,
            request.weights,
            request.kv,
            request.serving_engine,
            request.date,
            request.count,
            request.tp,
            request.pp,
            request.ep,
            request.dp,
            request.attention_dp,
            request.memory_fraction,
            request.max_batch,
            request.max_batched_tokens,
            work.eager,
            work.behind_server,
            work.acceptance_length,
        )
        found = self._setups.get(key)
        if found is None:
            found = self._setups[key] = self._make(request)
        return found

    def _make(self, request: EstimateRequest) -> Setup:
        accelerator, model = self.facts(request)
        made = frame(request, accelerator, model, self._engines, self.calibration)
        check_plan(request, made)
        rests_on = basis(self.calibration, accelerator.generation, made.engine.family)
        return Setup(made, counts(request, made), rests_on, self._factors(made, rests_on))

    def _factors(self, made: Frame, rests_on: Basis) -> Mapping[LoadKind, tuple[float, ...]]:
        """Return the factors of the bands for every load."""
        key = (
            made.accelerator.generation,
            made.engine.family,
            "yes" if has_experts(made.model) else "no",
            str(made.weights),
            rests_on,
            made.months_newer,
        )
        if key not in self._bands:
            names = ("generation", "serving_engine", "experts", "weights")
            fixed = {name: str(value) for name, value in zip(names, key, strict=False)}
            self._bands[key] = {
                kind: tuple(
                    factor
                    for figure in ("throughput", "ttft", "tpot")
                    for factor in band(
                        self.calibration, figure, rests_on, {**fixed, "load": str(kind)}
                    ).widened(made.months_newer / 12.0)
                )
                for kind in LoadKind
            }
        return self._bands[key]

    def facts(self, request: EstimateRequest) -> tuple[Accelerator, Model]:
        """Return part and model of a question; raises InputError for ids that there are not."""
        return self._catalog.accelerator(request.accelerator), self._catalog.model(request.model)

    def options(self, request: EstimateRequest, setup: Setup, tokens: int) -> Options | None:
        """Return the plans of the smallest deployment that hold `tokens` once; None where none does."""
        for count in setup.counts:
            found = self.options_of(request, setup, count, tokens)
            if found is not None:
                return found
        return None

    def needs(self, request: EstimateRequest, setup: Setup, tokens: int) -> int | None:
        """Return the smallest deployment that holds `tokens` once, its plans not timed; None without one."""
        for count in setup.counts:
            placed = self.placements(request, setup, count)
            if any(p.budget.held(p.budget.cache.sequence_bytes(tokens)) >= 1 for p in placed):
                return count
        return None

    def placements(self, request: EstimateRequest, setup: Setup, count: int) -> tuple[Placement, ...]:
        """Return the plans of `count` accelerators, fitting or not; raises InputError without any."""
        if count not in setup.placements:
            made = placements(request, setup.frame, count)
            if not made and request.count is not None:
                raise InputError(message("plan.none", count=count, model=setup.frame.model.name), "count")
            setup.placements[count] = made
            self._kept += len(made)
        return setup.placements[count]

    def candidate(self, request: EstimateRequest, setup: Setup, placed: Placement) -> Candidate:
        """Return a placement with its step coefficients, which stand in the table of rows."""
        found = setup.candidates.get(placed.plan)
        if found is None:
            found = candidate(request, setup.frame, placed, self.calibration, len(self.rows))
            self.rows.add(found.row)
            setup.candidates[placed.plan] = found
        return found

    def options_of(self, request: EstimateRequest, setup: Setup, count: int, tokens: int) -> Options | None:
        """Return the plans of `count` accelerators that hold `tokens` once; None where none does."""
        key = count, tokens
        if key in setup.options:
            return setup.options[key]
        found = self._options(request, setup, count, tokens)
        if len(setup.options) >= MOST_LENGTHS:
            setup.options.clear()
        setup.options[key] = found
        self._kept += 1
        return found

    def _options(self, request: EstimateRequest, setup: Setup, count: int, tokens: int) -> Options | None:
        every = [(p, p.budget.cache.sequence_bytes(tokens)) for p in self.placements(request, setup, count)]
        placed = [(p, size, held) for p, size in every if (held := p.budget.held(size)) >= 1]
        if not placed:
            return None
        # Lists inside, since a generator costs more than the few plans that it yields.
        chosen = tuple([self.candidate(request, setup, p) for p, _, _ in placed])
        return Options(
            count=count,
            chosen=chosen,
            rows=tuple([c.position for c in chosen]),
            capacity=tuple([p.running(size) for p, size, _ in placed]),
            replicas=tuple([float(p.plan.dp) for p, _, _ in placed]),
            sequences=tuple([held for _, _, held in placed]),
            sequence_bytes=tuple([size for _, size, _ in placed]),
        )

    def room(self, request: EstimateRequest, setup: Setup, count: int, tokens: int) -> float:
        """Return the most sequences of `tokens` that a plan of `count` accelerators runs at once."""
        known = setup.options.get((count, tokens))
        if known is not None:
            return max(c * r for c, r in zip(known.capacity, known.replicas, strict=True))
        placed = self.placements(request, setup, count)
        return max((p.capacity(tokens) * p.plan.dp for p in placed), default=0.0)

    def ideal(self, chosen: list[Candidate]) -> Rows:
        """Return the rows that the chosen candidates would have if nothing were lost."""
        return self._ideal.take(np.array([self._ideal_position(each) for each in chosen], dtype=np.intp))

    def one_ideal(self, chosen: Candidate) -> OneRow:
        """Return the same of one candidate, for cases of any shape."""
        return self._ideal.one(self._ideal_position(chosen))

    def _ideal_position(self, chosen: Candidate) -> int:
        position = self._ideal_of.get(chosen.position)
        if position is None:
            lookup = float(chosen.budget.shards.embedding_lookup_bytes)
            row = ideal_row(chosen.work, lookup, chosen.rates.expert_evenness)
            position = self._ideal_of[chosen.position] = self._ideal.add(row)
        return position


class CaseList:
    """Collects the cases of many questions: every question has one case for each plan that fits."""

    def __init__(self, table: SetupTable) -> None:
        """Start empty."""
        self._table = table
        self._asked: list[tuple[int, EstimateRequest, Setup, Options]] = []
        self._rows: list[int] = []
        self._capacity: list[float] = []
        self._replicas: list[float] = []
        self._lengths: list[int] = []
        self._counts: list[int] = []
        self._per_request: list[tuple[float, ...]] = []

    def __len__(self) -> int:
        """Return the number of questions that have cases."""
        return len(self._asked)

    def add(self, position: int, request: EstimateRequest, setup: Setup) -> bool:
        """Add a question; returns False where no plan holds one request of its length."""
        work = request.workload
        options = self._table.options(request, setup, work.input_tokens + work.output_tokens)
        if options is None:
            return False
        self.add_options(position, request, setup, options)
        return True

    def add_options(self, position: int, request: EstimateRequest, setup: Setup, options: Options) -> None:
        """Add a question that one of the given plans is to answer."""
        self._asked.append((position, request, setup, options))
        self._rows.extend(options.rows)
        self._capacity.extend(options.capacity)
        self._replicas.extend(options.replicas)
        self._lengths.append(len(options.rows))
        self._counts.append(options.count)
        self._per_request.append(workload_values(request.workload))

    def arrays(self) -> CaseArrays:
        """Return the cases as arrays."""
        counts = np.repeat(np.array(self._counts, dtype=np.float64), self._lengths)
        columns = CaseColumns(self._rows, self._capacity, self._replicas, counts)
        return case_arrays(self._table.rows, self._per_request, self._lengths, columns)

    def winners(self, results: Results, arrays: CaseArrays, constants: ServingConstants) -> NDArray[np.intp]:
        """Return the case of every question that answers it: the plan with the highest output rate.

        Among plans within a thousandth of each other the one with the lower TPOT wins, then the simpler one;
        where none meets the limits of the load, the one that comes nearest to them.
        """
        starts = self._starts()
        score = plan_scores(arrays.rows, arrays.requests, arrays.loads, results, constants)
        peak = np.repeat(np.maximum.reduceat(score, starts), self._lengths)
        highest = np.flatnonzero(score >= peak)
        return highest[np.searchsorted(highest, starts)]

    def candidates(self, cases: NDArray[np.intp]) -> list[Candidate]:
        """Return the plans of the given cases, one of every question."""
        places = (cases - self._starts()).tolist()
        return [options.chosen[place] for (_, _, _, options), place in zip(self._asked, places, strict=True)]

    def _starts(self) -> NDArray[np.intp]:
        """Return the first case of every question."""
        return np.concatenate(([0], np.cumsum(self._lengths)[:-1])).astype(np.intp)

    def best(
        self, results: Results, arrays: CaseArrays, constants: ServingConstants
    ) -> Iterator[tuple[int, Estimate]]:
        """Yield position and estimate of every question, by the plan that wins."""
        first = self.winners(results, arrays, constants)
        factors = np.array(
            [setup.factors[request.workload.load.kind] for _, request, setup, _ in self._asked]
        )
        chosen = self.candidates(first)
        places = (first - self._starts()).tolist()
        figures = figure_rows(results, arrays, first, self._table.ideal(chosen), factors)
        for (position, request, setup, options), place, row in zip(self._asked, places, figures, strict=True):
            yield (
                position,
                chosen_estimate(
                    request,
                    setup.frame,
                    setup.basis,
                    options.chosen[place],
                    options.sequences[place],
                    options.sequence_bytes[place],
                    row,
                ),
            )
