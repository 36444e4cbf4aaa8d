"""From questions to arrays and back: keeps setups, lists the plans that fit, picks the best of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpudesk.domain.estimates import Basis, Estimate, EstimateRequest
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.engine.bands import band, basis
from gpudesk.engine.constants import Calibration
from gpudesk.engine.loads import Requests
from gpudesk.engine.operating import ideal_row
from gpudesk.engine.serving import CODES, Loads, Results
from gpudesk.engine.steps import Array, Rows, StepRow
from gpudesk.workbench.figures import CaseArrays, figure_rows
from gpudesk.workbench.results import chosen_estimate
from gpudesk.workbench.setups import Candidate, Frame, candidates, check_plan, counts, frame

if TYPE_CHECKING:
    from gpudesk.workbench.estimating import Facts


#: Lengths of requests that a setup remembers the fitting plans of.
MOST_LENGTHS = 4096


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

    `factors` are those of the bands: low and high of throughput, TTFT and TPOT.
    """

    frame: Frame
    counts: tuple[int, ...]
    basis: Basis
    factors: tuple[float, ...]
    candidates: dict[int, tuple[Candidate, ...]] = field(default_factory=dict)
    options: dict[int, Options | None] = field(default_factory=dict)


class SetupTable:
    """All setups asked for so far, and the table of their step rows."""

    def __init__(self, catalog: Facts, calibration: Calibration) -> None:
        """Start empty."""
        self._catalog = catalog
        self.calibration = calibration
        self._engines = catalog.serving_engines()
        self._setups: dict[tuple[object, ...], Setup] = {}
        self._rows: list[StepRow] = []
        self._ideal: list[StepRow] = []
        self._arrays: tuple[Array, Array] | None = None

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
        accelerator = self._catalog.accelerator(request.accelerator)
        model = self._catalog.model(request.model)
        made = frame(request, accelerator, model, self._engines, self.calibration)
        check_plan(request, made)
        rests_on = basis(self.calibration, accelerator.generation, made.engine.family)
        bands = [band(self.calibration, name, rests_on) for name in ("throughput", "ttft", "tpot")]
        return Setup(made, counts(request, made), rests_on, tuple(f for each in bands for f in each))

    def options(self, request: EstimateRequest, setup: Setup, tokens: int) -> Options | None:
        """Return the plans of the smallest deployment that hold `tokens` once; None where none does."""
        if tokens in setup.options:
            return setup.options[tokens]
        found = None
        for count in setup.counts:
            found = self._fitting(self.candidates(request, setup, count), count, tokens)
            if found is not None:
                break
        if len(setup.options) >= MOST_LENGTHS:
            setup.options.clear()
        setup.options[tokens] = found
        return found

    def candidates(self, request: EstimateRequest, setup: Setup, count: int) -> tuple[Candidate, ...]:
        """Return the plans of `count` accelerators, fitting or not; raises InputError without any."""
        if count not in setup.candidates:
            made = candidates(request, setup.frame, count, self.calibration, len(self._rows))
            self._keep(setup, made)
            if not made and request.count is not None:
                raise InputError(message("plan.none", count=count, model=setup.frame.model.name), "count")
            setup.candidates[count] = made
        return setup.candidates[count]

    @staticmethod
    def _fitting(made: tuple[Candidate, ...], count: int, tokens: int) -> Options | None:
        fitting = [(c, c.budget.max_sequences(tokens)) for c in made]
        fitting = [(c, sequences) for c, sequences in fitting if sequences >= 1]
        if not fitting:
            return None
        ranks = [c.budget.attention_ranks for c, _ in fitting]
        return Options(
            count=count,
            chosen=tuple(c for c, _ in fitting),
            rows=tuple(c.position for c, _ in fitting),
            capacity=tuple(
                float(min(sequences // c.plan.dp, c.situation.max_batch * rank))
                for (c, sequences), rank in zip(fitting, ranks, strict=True)
            ),
            replicas=tuple(float(c.plan.dp) for c, _ in fitting),
            sequences=tuple(sequences for _, sequences in fitting),
            sequence_bytes=tuple(c.budget.cache.sequence_bytes(tokens) for c, _ in fitting),
        )

    def _keep(self, setup: Setup, made: tuple[Candidate, ...]) -> None:
        """Add the rows of new candidates to the table."""
        for candidate in made:
            budget = candidate.budget
            self._rows.append(candidate.row)
            self._ideal.append(
                ideal_row(
                    candidate.situation, setup.frame.model, budget.shards, budget.cache, candidate.point
                )
            )
        self._arrays = None

    def arrays(self) -> tuple[Array, Array]:
        """Return all step rows and all ideal rows, each of shape (fields, rows)."""
        if self._arrays is None:
            self._arrays = (Rows.table(self._rows), Rows.table(self._ideal))
        return self._arrays


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
        self._asked.append((position, request, setup, options))
        self._rows.extend(options.rows)
        self._capacity.extend(options.capacity)
        self._replicas.extend(options.replicas)
        self._lengths.append(len(options.rows))
        self._counts.append(options.count)
        held = float(work.input_tokens)
        self._per_request.append(
            (
                held * (1.0 - work.prefix_hit_rate),
                held,
                float(work.output_tokens),
                float(work.varied),
                *_load(work.load),
            )
        )
        return True

    def arrays(self) -> CaseArrays:
        """Return the cases as arrays."""
        lengths = np.array(self._lengths, dtype=np.intp)
        columns = np.repeat(np.array(self._per_request, dtype=np.float64), lengths, axis=0).T
        prompt, held, output, varied, kind, amount, total, ttft, tpot, p99 = np.ascontiguousarray(columns)
        index = np.array(self._rows, dtype=np.intp)
        table, _ = self._table.arrays()
        return CaseArrays(
            index=index,
            rows=Rows(table[:, index]),
            requests=Requests(prompt, held, output, np.array(self._capacity), varied > 0),
            loads=Loads(kind.astype(np.int8), amount, total, ttft, tpot, p99 > 0, np.array(self._replicas)),
            counts=np.repeat(np.array(self._counts, dtype=np.float64), lengths),
        )

    def best(self, results: Results, arrays: CaseArrays) -> Iterator[tuple[int, Estimate]]:
        """Yield position and estimate of every question, by the plan with the highest output rate.

        Among plans within a thousandth of each other the one with the lower TPOT wins, then the simpler one.
        """
        starts = np.concatenate(([0], np.cumsum(self._lengths)[:-1])).astype(np.intp)
        score = np.nan_to_num(results.rate, nan=-1.0)
        pace = np.nan_to_num(results.tpot, nan=1.0)
        score = score * (1.0 - 1e-3 * pace / (1.0 + pace))
        peak = np.repeat(np.maximum.reduceat(score, starts), self._lengths)
        winners = np.flatnonzero(score >= peak)
        first = winners[np.searchsorted(winners, starts)]
        _, ideal = self._table.arrays()
        factors = np.array([setup.factors for _, _, setup, _ in self._asked])
        figures = figure_rows(results, arrays, first, Rows(ideal[:, arrays.index[first]]), factors)
        places = (first - starts).tolist()
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


def _load(load: Load) -> tuple[float, float, float, float, float, float]:
    """Return code, amount, total, TTFT and TPOT limits in seconds, and whether they are p99 limits."""
    amount, total = 1.0, math.inf
    if load.kind is LoadKind.BATCH:
        amount = float(load.batch or 1)
    elif load.kind is LoadKind.CONCURRENCY:
        amount = float(load.concurrency or 1)
        total = math.inf if load.requests is None else float(max(load.requests, 1))
    elif load.kind is LoadKind.SATURATE:
        total = float(load.requests or 1)
    elif load.kind is LoadKind.REQUEST_RATE:
        amount = float(load.request_rate or 0.0)
    ttft = math.inf if load.ttft_ms is None else load.ttft_ms / 1e3
    tpot = math.inf if load.tpot_ms is None else load.tpot_ms / 1e3
    return float(CODES[load.kind]), amount, total, ttft, tpot, float(load.limit == "p99")
