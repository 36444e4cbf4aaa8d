"""Cells of a sweep: which plans of a setup hold a request of which length, and how many of them.

A cell is a setup (part, model, formats, degree) at one pair of lengths; it has one point for each load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import Message
from gpudesk.engine.steps import Array
from gpudesk.workbench.candidates import Candidate
from gpudesk.workbench.cases import Setup, SetupTable
from gpudesk.workbench.results import unfit_reason
from gpudesk.workbench.setups import Placement

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]

#: Reasons by the message that says them at length, where the name of the message alone does not tell.
_CODES: Final = {"engine.none": "no-engine-runs-it", "engine.none_kv": "no-engine-keeps-kv"}


def reason_code(reason: Message) -> str:
    """Return the short word for a reason: `heads`, `no-kernel`, `weights-do-not-fit`."""
    return _CODES.get(reason.id) or reason.id.rpartition(".")[2].replace("_", "-")


@dataclass(frozen=True, slots=True)
class Lengths:
    """Pairs of lengths as the engine takes them: prompt tokens to compute and to hold, output tokens."""

    prompt: Array
    held: Array
    output: Array

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.prompt)

    @property
    def tokens(self) -> Counts:
        """What a sequence has grown to in the end."""
        return (self.held + self.output).astype(np.int64)

    def select(self, chosen: Positions | slice) -> Lengths:
        """Return some of the pairs."""
        return Lengths(self.prompt[chosen], self.held[chosen], self.output[chosen])


@dataclass(frozen=True, slots=True)
class Group:
    """Cells of one setup that the same plans are tried for, all of one count; arrays of (cells, plans).

    `at` are the places of the cells among those of the setup. `sequences` is what memory holds in the whole
    deployment, `capacity` what one replica runs at once, 1 where the plan does not hold a request.
    """

    setup: Setup
    chosen: tuple[Candidate, ...]
    at: Positions
    lengths: Lengths
    sequences: Counts
    capacity: Array

    @property
    def fits(self) -> Mask:
        """Which plan holds a request of which length."""
        held: Mask = self.sequences >= 1
        return held


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of one setup: those that fit in groups, and for each cell the reason why it does not, else ''."""

    groups: tuple[Group, ...]
    reasons: tuple[str, ...]


def refused_cells(reason: Message, lengths: Lengths) -> Cells:
    """Return cells that cannot be, whatever the lengths."""
    return Cells((), (reason_code(reason),) * len(lengths))


def cells_of(table: SetupTable, request: EstimateRequest, setup: Setup, lengths: Lengths) -> Cells:
    """Return the cells of a setup: each takes the smallest deployment of which a plan holds its request.

    Raises InputError where the setup has no plan.
    """
    groups: list[Group] = []
    seen: list[Placement] = []
    tokens = lengths.tokens
    missing = np.arange(len(lengths))
    for count in setup.counts:
        placed = table.placements(request, setup, count)
        seen += placed
        if placed and len(missing):
            group = _group(table, request, setup, placed, (lengths, missing))
            if group is not None:
                groups.append(group)
                missing = np.setdiff1d(missing, group.at, assume_unique=True)
        if not len(missing):
            break
    reasons = [""] * len(lengths)
    for place, reason in zip(missing.tolist(), _reasons(request, setup, seen, tokens[missing]), strict=True):
        reasons[place] = reason
    return Cells(tuple(groups), tuple(reasons))


def _group(
    table: SetupTable,
    request: EstimateRequest,
    setup: Setup,
    placed: Sequence[Placement],
    asked: tuple[Lengths, Positions],
) -> Group | None:
    """Return the cells that a plan of one count holds, with the plans that hold any of them."""
    lengths, places = asked
    sequences = np.stack([each.budget.max_sequences_of(lengths.tokens[places]) for each in placed], axis=1)
    held = sequences >= 1
    at, plans = np.flatnonzero(held.any(axis=1)), np.flatnonzero(held.any(axis=0))
    if not len(at):
        return None
    used = [placed[plan] for plan in plans.tolist()]
    sequences = sequences[np.ix_(at, plans)]
    tokens = lengths.tokens[places[at]]
    admitted = np.stack([each.budget.admitted_sequences_of(tokens) for each in used], axis=1)
    most = np.array([each.most_running for each in used])
    replicas = np.array([each.plan.dp for each in used])
    return Group(
        setup=setup,
        chosen=tuple(table.candidate(request, setup, each) for each in used),
        at=places[at],
        lengths=lengths.select(places[at]),
        sequences=sequences,
        capacity=np.maximum(np.minimum(admitted // replicas, most), 1.0),
    )


def _reasons(
    request: EstimateRequest, setup: Setup, placed: Sequence[Placement], tokens: Counts
) -> list[str]:
    """Return why none of the plans holds requests of these lengths, by the plan that comes closest."""
    if not len(tokens):
        return []
    needed = np.stack([each.budget.cache.sequences_bytes(tokens) for each in placed])
    pools = np.array([each.budget.pool_bytes for each in placed])
    nearest = (pools[:, np.newaxis] - needed).argmax(axis=0).tolist()
    return [
        reason_code(unfit_reason(request, setup.frame, placed[place], length))
        for place, length in zip(nearest, tokens.tolist(), strict=True)
    ]
