"""Which parallel plan is chosen: the fastest, or the one that comes nearest to limits that none meets."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpudesk.engine.arrivals import mean_to_p99
from gpudesk.engine.loads import Requests, ServingConstants
from gpudesk.engine.rounds import alone
from gpudesk.engine.serving import Loads, Results, serve
from gpudesk.engine.steps import Array, Rows


class LeastLimits(NamedTuple):
    """The lowest limits of TTFT and TPOT, in seconds, that a single request in flight meets."""

    ttft: Array
    tpot: Array

    def missed_by(self, loads: Loads) -> Array:
        """Return these over the limits of the loads, whichever is missed by the larger factor."""
        times: Array = np.maximum(self.ttft / loads.ttft, np.nan_to_num(self.tpot) / loads.tpot)
        return times


def rate_scores(results: Results) -> Array:
    """Return by what plans are chosen, the highest wins: output rate, less up to a thousandth by TPOT."""
    score = np.nan_to_num(results.rate, nan=-1.0)
    pace = np.nan_to_num(results.tpot, nan=1.0)
    scores: Array = score * (1.0 - 1e-3 * pace / (1.0 + pace))
    return scores


def plan_scores(
    rows: Rows, requests: Requests, loads: Loads, results: Results, constants: ServingConstants
) -> Array:
    """Return `rate_scores`; below zero where limits are not met, the less the further a plan is from them."""
    scores = rate_scores(results)
    # Only limits leave a load without a rate.
    missed = np.flatnonzero(np.isnan(results.rate))
    if len(missed):
        asked = loads.select(missed)
        least = least_limits(rows.select(missed), requests.select(missed), asked, constants)
        scores[missed] = -least.missed_by(asked)
    return scores


def least_limits(rows: Rows, requests: Requests, loads: Loads, constants: ServingConstants) -> LeastLimits:
    """Return what the limits of each case must be for one request in flight, as p99 or as mean."""
    endless = np.full_like(loads.ttft, np.inf)
    single = replace(requests, capacity=np.ones_like(endless))
    anything = replace(loads, ttft=endless, tpot=endless, p99=np.zeros_like(loads.p99))
    found = serve(rows, single, anything, constants)
    first = alone(rows, requests)
    tail, margin = mean_to_p99(loads.p99, constants)
    return LeastLimits(first + tail * (found.ttft - first), found.tpot / margin)
