"""How one accelerator and model scale with their number: a row for each count, all of them in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.topology import Scaling, ScalingRow, ScalingRule, Spread, throughput
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.scaling_rules import scaled_bandwidth
from gpudesk.workbench.topology_spread import spreads

if TYPE_CHECKING:
    from gpudesk.workbench.cases import SetupTable

#: Counts that are looked at, beside that of the scenario.
COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)

#: Rates that differ by less than this share are the same to a reader.
_SAME: Final = 0.005
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
        self, requests: Sequence[EstimateRequest], *, brief: bool = False
    ) -> tuple[Scaling | InputError, ...]:
        """Return for each question how its accelerator scales; counts and plans that it fixes are left open.

        In `brief`, one request at a time and replicas are left out, which only tables show.
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
            free = _open(request)
            asked += [_Asked(free, part, count) for count in _counts(request)]
        rows = iter(self._rows(asked, brief=brief))
        return tuple(
            each
            if isinstance(each, InputError)
            else Scaling(
                each.id,
                each.memory_bandwidth,
                each.cards_per_host,
                _explained(tuple(islice(rows, len(_counts(request))))),
            )
            for each, request in zip(found, requests, strict=True)
        )

    def _rows(self, asked: Sequence[_Asked], *, brief: bool) -> list[ScalingRow]:
        """Return a row for each: one replica at the load, one request at a time, and replicas."""
        questions = [replace(each.request, count=each.size, dp=1) for each in asked]
        if not brief:
            questions += [replace(each.request, count=each.size) for each in asked]
        answers = self._ask(questions)
        free = dict(enumerate(answers[len(asked) :]))
        fitting = [
            (place, found)
            for place, found in enumerate(answers[: len(asked)])
            if isinstance(found, Estimate) and found.fits
        ]
        places = [place for place, _ in fitting]
        spread = spreads([found for _, found in fitting], self._table, self._constants)
        ones = {}
        if not brief:
            singles = self._alone([alone(asked[place].request, found) for place, found in fitting])
            ones = dict(zip(places, singles, strict=True))
        of_load = dict(zip(places, spread, strict=True))
        return [
            _row(each, answers[place], free.get(place), of_load.get(place), ones.get(place))
            for place, each in enumerate(asked)
        ]

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
    spread: Spread | None,
    one: tuple[Estimate, Spread] | None,
) -> ScalingRow:
    part, count = asked.part, asked.size
    estimate = whole if isinstance(whole, Estimate) else None
    bandwidth = count * part.memory_bandwidth
    return ScalingRow(
        count=count,
        hosts=-(-count // part.cards_per_host),
        memory_bytes=count * part.memory_bytes,
        estimate=estimate,
        single=None if one is None else one[0],
        replicas=_faster(free, estimate),
        spread=spread,
        single_spread=None if one is None else one[1],
        bandwidth=None if spread is None else bandwidth * spread.arriving,
        drawn=None if spread is None else bandwidth * spread.drawn,
        by_rule=_by_rule(part.memory_bandwidth, count),
        problem=whole.problem if isinstance(whole, InputError) else None,
    )


@lru_cache(maxsize=1024)
def _by_rule(bandwidth: float, count: int) -> Mapping[ScalingRule, float]:
    return MappingProxyType({rule: scaled_bandwidth(bandwidth, count, rule) for rule in ScalingRule})


def _faster(free: Estimate | InputError | None, whole: Estimate | None) -> Estimate | None:
    """Return the plan of our choice where it has replicas and is faster than one replica."""
    if not isinstance(free, Estimate) or not free.fits or free.plan.dp == 1:
        return None
    ours, theirs = throughput(free), throughput(whole)
    return free if ours is not None and ours > (theirs or 0.0) else None


def _explained(rows: tuple[ScalingRow, ...]) -> tuple[ScalingRow, ...]:
    """Name the reason where more accelerators are slower than fewer."""
    best: ScalingRow | None = None
    made = []
    for row in rows:
        rate, before = throughput(row.estimate), throughput(best.estimate) if best is not None else None
        if rate is not None and before is not None and best is not None and rate < before * (1.0 - _SAME):
            made.append(replace(row, falls=_why_slower(row, best)))
            continue
        made.append(row)
        if rate is not None:
            best = row
    return tuple(made)


def _why_slower(row: ScalingRow, best: ScalingRow) -> Message | None:
    """Say which part of a step grew most: what a stage waits, communication, or launching and scheduling."""
    if row.spread is None or best.spread is None or row.estimate is None:
        return None
    ours, theirs = (_losses(spread) for spread in (row.spread, best.spread))
    grown = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    most = grown.index(max(grown))
    if most == 0:
        return message("topology.falls_idle", fewer=best.count, share=1.0 - row.spread.filled)
    if most == 1:
        return message("topology.falls_links", fewer=best.count, share=row.spread.collectives)
    return message("topology.falls_overhead", fewer=best.count, share=row.spread.overhead)


def _losses(spread: Spread) -> tuple[float, float, float]:
    """Milliseconds of a step that stages wait, links take, and launching and scheduling take."""
    return spread.step_ms * (1.0 - spread.filled), spread.collective_ms, spread.step_ms * spread.overhead
