"""How many accelerators are needed: the smallest deployments by weight format.

Plans and figures are those of the estimator's own search, so that both agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.models import Model
from gpudesk.domain.precision import FORMATS, Precision, concrete
from gpudesk.domain.sizing import Needed, Size
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.serving import serve
from gpudesk.workbench.cases import CaseList, Options, Setup, SetupTable
from gpudesk.workbench.results import unfit_estimate

#: Widths of weight formats that are compared; that of the scenario comes besides.
WIDTHS: Final = (16, 8, 4)

_ONE: Final = Load(LoadKind.CONCURRENCY, concurrency=1)


def in_flight(load: Load) -> int | None:
    """Return how many requests a load has in flight by itself; None where that is a result."""
    return {LoadKind.CONCURRENCY: load.concurrency, LoadKind.BATCH: load.batch}.get(load.kind)


def formats(bits: int, weights: Precision, model: Model, part: Accelerator) -> tuple[Precision, ...]:
    """Return the weight formats of a width in the order in which they are tried on a part.

    First the scenario's own, then that of the published checkpoint, then those that the part computes in.
    """
    usual = {
        16: [Precision.BF16],
        8: [Precision.FP8, Precision.INT8],
        6: [Precision.FP6],
        4: [concrete(Precision.FP4, part.vendor), Precision.INT4],
    }[bits]
    if bits == 4 and "fp4" not in part.peak_dense:
        usual.reverse()
    stated = [concrete(each, part.vendor) for each in (weights, model.native_precision) if each is not None]
    return tuple(dict.fromkeys([*(each for each in stated if FORMATS[each].bits == bits), *usual]))


@dataclass(slots=True)
class _Search:
    """One part with its weights in one width, which some serving engine runs.

    `counts` are the deployment sizes that hold one request and are tried for the load.
    """

    bits: int
    request: EstimateRequest
    setup: Setup
    counts: tuple[int, ...] = ()
    one: Size | None = None
    load: Size | None = None
    reason: Message | None = None

    @property
    def tokens(self) -> int:
        """Length of one request."""
        return self.request.workload.input_tokens + self.request.workload.output_tokens

    @property
    def wanted(self) -> int | None:
        """Requests in flight."""
        return in_flight(self.request.workload.load)

    def needed(self) -> Needed:
        """Return what was found."""
        request = self.request
        return Needed(request.accelerator, self.bits, request.weights, self.one, self.load, self.reason)


class NeedsFinder:
    """Finds the smallest deployments of several parts in several formats, all in a few vectorised calls."""

    def __init__(self, table: SetupTable, constants: ServingConstants) -> None:
        """Search with what the estimator knows."""
        self._table = table
        self._constants = constants

    def needed(self, requests: Sequence[EstimateRequest]) -> tuple[tuple[Needed, ...], ...]:
        """Return for each request what is needed, by weight format from wide to narrow."""
        rows = [[self._begin(request, bits) for bits in _widths(request)] for request in requests]
        self._run([each for row in rows for each in row if isinstance(each, _Search)])
        return tuple(
            tuple(each.needed() if isinstance(each, _Search) else each for each in row) for row in rows
        )

    def for_load(self, request: EstimateRequest) -> Size | None:
        """Return the smallest deployment that runs all that the load has in flight; None without one."""
        asked = _free(request)
        search = _Search(0, asked, self._table.setup(asked))
        self._run([search])
        return search.load

    def _begin(self, request: EstimateRequest, bits: int) -> _Search | Needed:
        """Return the search in the first format of a width that runs, or the reason against the first one."""
        part, model = self._table.facts(request)
        reason = None
        tried = formats(bits, request.weights, model, part)
        for weights in tried:
            asked = _free(request, weights)
            try:
                return _Search(bits, asked, self._table.setup(asked))
            except InputError as error:
                reason = reason or error.problem
        return Needed(part.id, bits, tried[0], None, None, reason)

    def _run(self, searches: list[_Search]) -> None:
        """Find the plans for one request, and, smallest first, those that run everything at once.

        All are tried together, and what fell short again; most are found at the first attempt.
        """
        fitting = [(each, options) for each in searches if (options := self._smallest(each)) is not None]
        alone = [(each, _alone(each.request), options) for each, options in fitting]
        left = [(each, self._roomy(each)) for each, _ in fitting if each.wanted is not None]
        while alone or left:
            tried = [(each, roomy, found) for each, roomy in left if (found := self._next(each, roomy))]
            whole = [(each, each.request, options) for each, _, options in tried]
            sizes = self._sizes([*alone, *whole])
            for (each, _, _), (size, _) in zip(alone, sizes[: len(alone)], strict=True):
                each.one = size
            for (each, _, _), (size, runs_all) in zip(whole, sizes[len(alone) :], strict=True):
                each.load = size if runs_all else None
            alone = []
            left = [(each, roomy) for each, roomy, _ in tried if each.load is None]

    def _smallest(self, search: _Search) -> Options | None:
        """Return the plans of the smallest deployment that holds one request."""
        options = self._table.options(search.request, search.setup, search.tokens)
        if options is None:
            search.reason = unfit_estimate(search.request, search.setup, self._table).reason
        else:
            search.counts = tuple(count for count in search.setup.counts if count >= options.count)
        return options

    def _next(self, search: _Search, roomy: Iterator[Options]) -> Options | None:
        """Return the next plans to try for the whole load; None, with the reason, after the last."""
        options = next(roomy, None)
        if options is None:
            search.reason = _too_large(search)
        return options

    def _roomy(self, search: _Search) -> Iterator[Options]:
        """Yield the plans of each count, smallest first, where one has room for all that is in flight."""
        for count in search.counts:
            asked = (search.request, search.setup, count, search.tokens)
            if self._table.room(*asked) >= (search.wanted or 1):
                options = self._table.options_of(*asked)
                if options is not None:
                    yield options

    def _sizes(self, asked: list[tuple[_Search, EstimateRequest, Options]]) -> list[tuple[Size, bool]]:
        """Return the best of the given plans for each, and whether it runs all that is in flight."""
        if not asked:
            return []
        cases = CaseList(self._table)
        for position, (search, request, options) in enumerate(asked):
            cases.add_options(position, request, search.setup, options)
        arrays = cases.arrays()
        results = serve(arrays.rows, arrays.requests, arrays.loads, self._constants)
        first = cases.winners(results, arrays, self._constants)
        runs_all = np.rint(results.admitted[first]) == np.rint(results.concurrency[first])
        plans = [candidate.plan for candidate in cases.candidates(first)]
        return [(Size(plan.count, plan), bool(all_)) for plan, all_ in zip(plans, runs_all, strict=True)]


def _free(request: EstimateRequest, weights: Precision | None = None) -> EstimateRequest:
    """Return the request, in other `weights` where given, with count and plan left to the program."""
    return replace(
        request,
        weights=weights or request.weights,
        count=None,
        tp=None,
        pp=None,
        ep=None,
        dp=None,
        attention_dp=None,
    )


def _alone(request: EstimateRequest) -> EstimateRequest:
    """Return the question about one request with nobody beside it."""
    return replace(request, workload=replace(request.workload, load=_ONE))


def _widths(request: EstimateRequest) -> tuple[int, ...]:
    own = FORMATS[concrete(request.weights, "")].bits
    return tuple(sorted({*WIDTHS, own}, reverse=True))


def _too_large(search: _Search) -> Message:
    return message(
        "needed.load_too_large",
        concurrency=search.wanted or 0,
        count=search.setup.counts[-1],
        accelerator=search.setup.frame.accelerator.name,
    )
