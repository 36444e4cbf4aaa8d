"""From the values of axes as somebody names them to a `Sweep`; what the catalog does not know is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.models import Model
from gpudesk.domain.sweeps import LOADS, MOST_POINTS, Sweep
from gpudesk.domain.workloads import LoadKind
from gpudesk.workbench.fields import Check, text, whole
from gpudesk.workbench.requests import REQUEST_FIELDS, WORKLOAD_FIELDS, parse_request

#: Stands for all accelerators, or all models.
ALL: Final = "all"
#: Values of one axis at the most: the answers to one cell are worked out together.
MOST_VALUES: Final = 10_000
_MOST_SEQUENCES: Final = 10**9


class Things(Protocol):
    """What is asked of the catalog; look-ups raise `InputError` for an unknown id."""

    def accelerators(self) -> tuple[Accelerator, ...]:
        """Return every accelerator."""

    def accelerator(self, accelerator_id: str) -> Accelerator:
        """Return one accelerator."""

    def models(self) -> tuple[Model, ...]:
        """Return every model."""

    def model(self, model_id: str) -> Model:
        """Return one model."""


def parse_sweep(axes: Mapping[str, Sequence[Any]], settings: Mapping[str, Any], catalog: Things) -> Sweep:
    """Return the sweep over `axes`, all of it with the same `settings`, which are fields of a request.

    Axes are accelerators, models, weights, kv, tp, input_tokens, output_tokens, and either batch or
    concurrency. Without kv it is fp16; without tp, or where tp is None, count and plan are left open. Raises
    `InputError` whose place is the axis or the setting.
    """
    load = _load(axes)
    given = {name: tuple(dict.fromkeys(values)) for name, values in axes.items() if values}
    for name, values in given.items():
        if len(values) > MOST_VALUES:
            raise InputError(message("sweep.too_many_values", count=len(values), most=MOST_VALUES), name)
    parts = [part.id for part in catalog.accelerators()]
    accelerators = _ids(given, "accelerators", parts, catalog.accelerator)
    models = _ids(given, "models", [model.id for model in catalog.models()], catalog.model)
    weights = _checked(given, "weights", REQUEST_FIELDS["weights"][1])
    kv = _checked({"kv": ("fp16",)} | given, "kv", REQUEST_FIELDS["kv"][1])
    tp = _checked({"tp": (None,)} | given, "tp", REQUEST_FIELDS["tp"][1])
    prompts = _checked(given, "input_tokens", WORKLOAD_FIELDS["input_tokens"][1])
    outputs = _checked(given, "output_tokens", WORKLOAD_FIELDS["output_tokens"][1])
    amounts = _checked(given, load.value, whole(1, _MOST_SEQUENCES))
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
    if sweep.points > MOST_POINTS:
        raise InputError(message("sweep.too_many_points", count=sweep.points, most=MOST_POINTS))
    return sweep


def _load(axes: Mapping[str, Sequence[Any]]) -> LoadKind:
    """Return the kind of load that is given; it must be exactly one."""
    found = [kind for kind in LOADS if axes.get(kind.value)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(message("load.two", first=found[0].value, second=found[1].value), found[1].value)
    raise InputError(message("sweep.no_load", known=tuple(kind.value for kind in LOADS)))


def _ids(
    axes: Mapping[str, tuple[Any, ...]], name: str, every: Sequence[str], look_up: Callable[[str], object]
) -> tuple[str, ...]:
    """Return the ids of an axis, each of which the catalog knows; the word for all stands for itself only."""
    if axes.get(name) == (ALL,):
        return tuple(every)
    found = _checked(axes, name, text())
    for each in found:
        try:
            look_up(each)
        except InputError as error:
            raise InputError(error.problem, name) from error
    return found


def _checked(axes: Mapping[str, tuple[Any, ...]], name: str, check: Check) -> tuple[Any, ...]:
    if not axes.get(name):
        raise InputError(message("field.missing"), name)
    return tuple(None if value is None else check(name, value) for value in axes[name])
