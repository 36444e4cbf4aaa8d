"""The grid of a sweep: its axes from named values, and its cells with the plans that fit each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.catalog.read import Catalog
from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind
from gpudesk.domain.field_checks import MISSING_FIELD, FieldCheck, accept_text, accept_whole
from gpudesk.domain.precision import Precision
from gpudesk.engine.memory import MemoryPlan, ResolvedDeployment
from gpudesk.engine.steps import Array
from gpudesk.estimation.evaluation import explain_unfit
from gpudesk.estimation.request_fields import REQUEST_FIELDS, WORKLOAD_FIELDS, describe_conflicting_loads, parse_request
from gpudesk.estimation.search_space import SearchSpace
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, input_error

#: Stands for all accelerators, or all models.
ALL_ENTRIES: Final = "all"
#: Maximum values of one axis: the answers to one cell are computed together.
MOST_VALUES: Final = 10_000
_MOST_SEQUENCES: Final = 10**9
#: Larger sweeps are probably mistakes: they would take hours and fill the disk.
_MOST_POINTS: Final = 10**9
#: Loads that a sweep can vary, all of which are a number of sequences.
_LOADS: Final = (LoadKind.BATCH, LoadKind.CONCURRENCY)


@frozen_dataclass
class Sweep:
    """The axes of a grid, from the slowest to the fastest, and the common settings of all points.

    `tp` None leaves count and plan open: the smallest deployment that fits, with its best plan. A number is a
    deployment of one replica of that degree (times PP and DP if `base` fixes them). `amounts` are sequences of a static
    batch or of a closed loop, as in `load`. `base` is any request: its fields that are not axes apply everywhere.
    """

    accelerators: tuple[str, ...]
    models: tuple[str, ...]
    weights: tuple[Precision, ...]
    kv: tuple[Precision, ...]
    tp: tuple[int | None, ...]
    input_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...]
    load: LoadKind
    amounts: tuple[int, ...]
    base: EstimateRequest

    @property
    def names(self) -> tuple[str, ...]:
        return ("accelerator", "model", "weights", "kv", "tp", "input_tokens", "output_tokens", self.load.value)

    @property
    def axes(self) -> tuple[tuple[Any, ...], ...]:
        """Values of the axes in the order of `names`."""
        return (
            self.accelerators,
            self.models,
            self.weights,
            self.kv,
            self.tp,
            self.input_tokens,
            self.output_tokens,
            self.amounts,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis) for axis in self.axes)

    @property
    def points(self) -> int:
        return prod(self.shape)

    def load_of(self, amount: int) -> Load:
        """Return the load of `amount` sequences."""
        if self.load is LoadKind.BATCH:
            return Load(LoadKind.BATCH, batch=amount)
        return Load(LoadKind.CONCURRENCY, concurrency=amount)


def parse_sweep(axes: Mapping[str, Sequence[Any]], settings: Mapping[str, Any], catalog: Catalog) -> Sweep:
    """Return the sweep over `axes` with common `settings`, which are fields of a request.

    Axes are accelerators, models, weights, kv, tp, input_tokens, output_tokens, and either batch or concurrency.
    Without kv it is fp16; without tp, or with tp None, count and plan are left open. Raises `InputError` whose place is
    the axis or the setting.
    """
    load = _find_load_axis(axes)
    used_axes = {name: tuple(dict.fromkeys(values)) for name, values in axes.items() if values}
    for name, values in used_axes.items():
        if len(values) > MOST_VALUES:
            raise input_error(
                "sweep.too_many_values",
                "has {count} values; an axis has at most {most}",
                name,
                count=len(values),
                most=MOST_VALUES,
            )
    parts = [part.id for part in catalog.accelerators()]
    accelerators = _list_axis_ids(used_axes, "accelerators", parts, catalog.accelerator)
    models = _list_axis_ids(used_axes, "models", [model.id for model in catalog.models()], catalog.model)
    weights = _check_axis(used_axes, "weights", REQUEST_FIELDS["weights"])
    kv = _check_axis({"kv": ("fp16",)} | used_axes, "kv", REQUEST_FIELDS["kv"])
    tp = _check_axis({"tp": (None,)} | used_axes, "tp", REQUEST_FIELDS["tp"])
    prompts = _check_axis(used_axes, "input_tokens", WORKLOAD_FIELDS["input_tokens"])
    outputs = _check_axis(used_axes, "output_tokens", WORKLOAD_FIELDS["output_tokens"])
    amounts = _check_axis(used_axes, load.value, accept_whole(1, _MOST_SEQUENCES))
    base = parse_request(
        {
            **settings,
            "accelerator": accelerators[0],
            "model": models[0],
            "weights": weights[0].value,
            "input_tokens": prompts[0],
            "output_tokens": outputs[0],
            "load": {load.value: amounts[0]},
        }
    )
    sweep = Sweep(accelerators, models, weights, kv, tp, prompts, outputs, load, amounts, base)
    if sweep.points > _MOST_POINTS:
        raise input_error(
            "sweep.too_many_points",
            "the axes make {count} points; a sweep has at most {most}",
            count=sweep.points,
            most=_MOST_POINTS,
        )
    return sweep


def _find_load_axis(axes: Mapping[str, Sequence[Any]]) -> LoadKind:
    """Return the kind of load given; it must be exactly one."""
    kinds = [kind for kind in _LOADS if axes.get(kind.value)]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        raise InputError(describe_conflicting_loads(kinds[0].value, kinds[1].value), kinds[1].value)
    raise input_error("sweep.no_load", "no load given; use one of {known}", known=tuple(kind.value for kind in _LOADS))


def _list_axis_ids(
    axes: Mapping[str, tuple[Any, ...]], name: str, every: Sequence[str], look_up: Callable[[str], object]
) -> tuple[str, ...]:
    """Return the known ids of an axis; the word for all must be alone."""
    if axes.get(name) == (ALL_ENTRIES,):
        return tuple(every)
    ids = _check_axis(axes, name, accept_text())
    for each in ids:
        try:
            look_up(each)
        except InputError as error:
            raise InputError(error.problem, name) from error
    return ids


def _check_axis(axes: Mapping[str, tuple[Any, ...]], name: str, check: FieldCheck) -> tuple[Any, ...]:
    if not axes.get(name):
        raise InputError(MISSING_FIELD, name)
    return tuple(None if value is None else check(name, value) for value in axes[name])


CountArray = NDArray[np.int64]
MaskArray = NDArray[np.bool_]
PositionArray = NDArray[np.intp]

#: Reason codes by message id, if the id itself is not clear enough.
_CODES: Final = {"engine.none": "no-engine-runs-it", "engine.none_kv": "no-engine-keeps-kv"}


def get_reason_code(reason: Message) -> str:
    """Return the short code of a reason: `heads`, `no-kernel`, `weights-do-not-fit`."""
    return _CODES.get(reason.id) or reason.id.rpartition(".")[2].replace("_", "-")


@frozen_dataclass
class LengthPairs:
    """Pairs of lengths for the engine: prompt tokens to compute and to hold, output tokens."""

    prompt: Array
    context_tokens: Array
    output: Array

    def __len__(self) -> int:
        return len(self.prompt)

    @property
    def tokens(self) -> CountArray:
        return (self.context_tokens + self.output).astype(np.int64)

    def select(self, chosen: PositionArray | slice) -> LengthPairs:
        return LengthPairs(self.prompt[chosen], self.context_tokens[chosen], self.output[chosen])


@frozen_dataclass
class SweepGroup:
    """Cells of one space with common plans, all of one count; arrays of (cells, plans).

    `at` are the indexes of the cells in those of the space. `sequences` is the capacity of the whole deployment's
    memory, `capacity` that of one replica, 1 if the plan does not hold a request.
    """

    space: SearchSpace
    deployments: tuple[ResolvedDeployment, ...]
    at: PositionArray
    lengths: LengthPairs
    sequences: CountArray
    capacity: Array

    @property
    def fits(self) -> MaskArray:
        """Whether each plan holds a request of each length."""
        fits: MaskArray = self.sequences >= 1
        return fits


@frozen_dataclass
class SweepCells:
    """Cells of one space: those that fit in groups, and for each other cell the reason, else ''."""

    groups: tuple[SweepGroup, ...]
    reasons: tuple[str, ...]


def make_refused_cells(reason: Message, lengths: LengthPairs) -> SweepCells:
    """Return cells that are impossible for all lengths."""
    return SweepCells((), (get_reason_code(reason),) * len(lengths))


def make_sweep_cells(request: EstimateRequest, space: SearchSpace, lengths: LengthPairs) -> SweepCells:
    """Return the cells of a space: each uses the smallest deployment with a plan that holds its request.

    Raises InputError if the space has no plan.
    """
    groups: list[SweepGroup] = []
    tried: list[MemoryPlan] = []
    tokens = lengths.tokens
    missing = np.arange(len(lengths))
    for count in space.counts:
        plans = space.list_memory_plans(count)
        tried += plans
        if plans and len(missing):
            group = _make_group(space, plans, (lengths, missing))
            if group is not None:
                groups.append(group)
                missing = np.setdiff1d(missing, group.at, assume_unique=True)
        if not len(missing):
            break
    reasons = [""] * len(lengths)
    for place, reason in zip(missing.tolist(), _list_reason_codes(request, space, tried, tokens[missing]), strict=True):
        reasons[place] = reason
    return SweepCells(tuple(groups), tuple(reasons))


def _make_group(
    space: SearchSpace, plans: Sequence[MemoryPlan], cells: tuple[LengthPairs, PositionArray]
) -> SweepGroup | None:
    lengths, places = cells
    sequences = np.stack([each.budget.count_max_by_length(lengths.tokens[places]) for each in plans], axis=1)
    fits = sequences >= 1
    at, fitting = np.flatnonzero(fits.any(axis=1)), np.flatnonzero(fits.any(axis=0))
    if not len(at):
        return None
    used = [plans[place] for place in fitting.tolist()]
    sequences = sequences[np.ix_(at, fitting)]
    tokens = lengths.tokens[places[at]]
    admitted = np.stack([each.budget.count_admitted_by_length(tokens) for each in used], axis=1)
    most = np.array([each.max_running for each in used])
    replicas = np.array([each.plan.dp for each in used])
    return SweepGroup(
        space=space,
        deployments=tuple(space.resolve(each) for each in used),
        at=places[at],
        lengths=lengths.select(places[at]),
        sequences=sequences,
        capacity=np.maximum(np.minimum(admitted // replicas, most), 1.0),
    )


def _list_reason_codes(
    request: EstimateRequest, space: SearchSpace, plans: Sequence[MemoryPlan], tokens: CountArray
) -> list[str]:
    if not len(tokens):
        return []
    needed = np.stack([each.budget.cache.compute_sequences_bytes(tokens) for each in plans])
    pools = np.array([each.budget.pool_bytes for each in plans])
    nearest = (pools[:, np.newaxis] - needed).argmax(axis=0).tolist()
    return [
        get_reason_code(explain_unfit(request, space.configuration, plans[place], length))
        for place, length in zip(nearest, tokens.tolist(), strict=True)
    ]
