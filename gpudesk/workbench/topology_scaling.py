"""How one accelerator and model scale with their number: a row for each count, all of them in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.messages import InputError
from gpudesk.domain.topology import Scaling, ScalingRow, ScalingRule, Spread, throughput
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.scaling_rules import scaled_bandwidth
from gpudesk.workbench.topology_spread import spreads

if TYPE_CHECKING:
    from gpudesk.workbench.cases import SetupTable

#: Counts that are looked at, beside that of the scenario.
COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)

#: Rows of one request at a time that are kept: those of some scenarios.
_MOST_KEPT: Final = 512

_Ask = Callable[[Sequence[EstimateRequest]], list[Estimate | InputError]]


class _Asked(NamedTuple):
    """One row to be made."""

    request: EstimateRequest
    part: Accelerator
    size: int


class ScalingTable:
    """Makes the rows, and keeps those of one request at a time, which do not depend on the load."""

    def __init__(self, table: SetupTable, constants: ServingConstants, ask: _Ask) -> None:
        """Start empty; `ask` answers questions in one call."""
        self._table = table
        self._constants = constants
        self._ask = ask
        self._kept: dict[EstimateRequest, tuple[Estimate, Spread]] = {}

    def scalings(
        self, requests: Sequence[EstimateRequest], *, with_replicas: bool = True
    ) -> tuple[Scaling | InputError, ...]:
        """Return for each question how its accelerator scales; counts and plans that it fixes are left open.

        Whether replicas would be faster is left out while nobody can read it.
        """
        found: list[Accelerator | InputError] = []
        asked: list[_Asked] = []
        for request in requests:
            try:
                part, _ = self._table.facts(request)
            except InputError as error:
                found.append(error)
                continue
            found.append(part)
            asked += [_Asked(_open(request), part, count) for count in _counts(request)]
        rows = iter(self._rows(asked, with_replicas))
        return tuple(
            each
            if isinstance(each, InputError)
            else _scaling(each, tuple(islice(rows, len(_counts(request)))))
            for each, request in zip(found, requests, strict=True)
        )

    def _rows(self, asked: Sequence[_Asked], with_replicas: bool) -> list[ScalingRow]:
        """Return a row for each: one replica at the load, one request at a time, and replicas."""
        questions = [replace(each.request, count=each.size, dp=1) for each in asked]
        if with_replicas:
            questions += [replace(each.request, count=each.size) for each in asked]
        answers = self._ask(questions)
        free: list[Estimate | InputError | None] = [None] * len(asked)
        if with_replicas:
            free = list(answers[len(asked) :])
        fitting = [
            (place, found)
            for place, found in enumerate(answers[: len(asked)])
            if isinstance(found, Estimate) and found.fits
        ]
        ones = self._alone([alone(asked[place].request, found) for place, found in fitting])
        spread = spreads([found for _, found in fitting], self._table, self._constants)
        known = {place: (each, one) for (place, _), each, one in zip(fitting, spread, ones, strict=True)}
        return [_row(each, answers[place], free[place], known.get(place)) for place, each in enumerate(asked)]

    def _alone(self, requests: Sequence[EstimateRequest]) -> list[tuple[Estimate, Spread]]:
        """Return the estimates of one request at a time, and what they spend on being spread."""
        missing = [request for request in dict.fromkeys(requests) if request not in self._kept]
        if missing:
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
                missing = list(dict.fromkeys(requests))
            made = [each for each in self._ask(missing) if isinstance(each, Estimate)]
            spread = spreads(made, self._table, self._constants)
            self._kept.update(zip(missing, zip(made, spread, strict=True), strict=True))
        return [self._kept[request] for request in requests]


def _open(request: EstimateRequest) -> EstimateRequest:
    return replace(
        request, count=None, tp=None, pp=None, ep=None, dp=None, attention_dp=None, disaggregated=None
    )


def _counts(request: EstimateRequest) -> tuple[int, ...]:
    own = () if request.count is None or request.count > COUNTS[-1] else (request.count,)
    return tuple(sorted({*COUNTS, *own}))


def alone(request: EstimateRequest, estimate: Estimate) -> EstimateRequest:
    """Return the question about the same deployment with one request at a time."""
    plan, work = estimate.plan, request.workload
    one = replace(work, load=Load(LoadKind.CONCURRENCY, concurrency=1), server=work.behind_server)
    return replace(
        request,
        workload=one,
        count=estimate.count,
        tp=plan.tp,
        pp=plan.pp,
        ep=plan.ep,
        dp=plan.dp,
        attention_dp=plan.attention_dp,
        serving_engine=estimate.serving_engine,
    )


def _row(
    asked: _Asked,
    whole: Estimate | InputError,
    free: Estimate | InputError | None,
    known: tuple[Spread, tuple[Estimate, Spread]] | None,
) -> ScalingRow:
    part, count = asked.part, asked.size
    row = ScalingRow(
        count=count,
        hosts=-(-count // part.cards_per_host),
        memory_bytes=count * part.memory_bytes,
        by_rule=MappingProxyType(
            {rule: scaled_bandwidth(part.memory_bandwidth, count, rule) for rule in ScalingRule}
        ),
    )
    if isinstance(whole, InputError):
        return replace(row, problem=whole.problem, replicas=_faster(free, None))
    row = replace(row, estimate=whole, replicas=_faster(free, whole))
    if known is None:
        return row
    spread, (single, single_spread) = known
    return replace(
        row,
        single=single,
        spread=spread,
        single_spread=single_spread,
        bandwidth=count * part.memory_bandwidth * spread.arriving,
        drawn=count * part.memory_bandwidth * spread.drawn,
    )


def _faster(free: Estimate | InputError | None, whole: Estimate | None) -> Estimate | None:
    """Return the plan of our choice where it has replicas and is faster than one replica."""
    if not isinstance(free, Estimate) or not free.fits or free.plan.dp == 1:
        return None
    ours, theirs = throughput(free), throughput(whole)
    return free if ours is not None and ours > (theirs or 0.0) else None


def _scaling(part: Accelerator, rows: tuple[ScalingRow, ...]) -> Scaling:
    scaling = Scaling(part.id, part.memory_bandwidth, part.cards_per_host, rows)
    start = scaling.start
    first = None if start is None else throughput(start.estimate)
    if start is None or first is None:
        return scaling
    return replace(
        scaling,
        rows=tuple(
            row
            if (rate := throughput(row.estimate)) is None
            else replace(row, efficiency=(rate / row.count) / (first / start.count))
            for row in rows
        ),
    )
