"""How many accelerators hold each model by one of the readings of a memory label: weights alone.

For checking published counts. Answers never use these; they come from `fit_matrix`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.fit_matrix import FitCell, FitMatrix, FitQuestion, ReadingId
from gpudesk.domain.messages import message
from gpudesk.domain.models import Model
from gpudesk.domain.precision import FORMATS, Precision, concrete
from gpudesk.engine.capacity_readings import READINGS, CapacityReading
from gpudesk.engine.tensors import parameter_count

if TYPE_CHECKING:
    from gpudesk.catalog.queries import Catalog

#: A label as it is printed: `80 GB`, `192 GiB`, `1.5 TB`.
_LABEL: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(G|T)i?B\b", re.IGNORECASE)
_UNITS: Final = {"G": 1.0, "T": 1000.0}


def reading_matrix(
    reading: ReadingId,
    question: FitQuestion,
    accelerators: Sequence[Accelerator],
    models: Sequence[Model],
    parameters: Mapping[str, float],
) -> FitMatrix:
    """Return the counts of a reading; of the question only the format of the weights counts.

    `parameters` are those of each model by its id. Cells have no plan and no serving engine; what is usable
    and left of it is that of one accelerator by the reading.
    """
    read = READINGS[reading]
    rows = tuple(
        tuple(_cell(read, question, part, model, parameters.get(model.id)) for part in accelerators)
        for model in models
    )
    return FitMatrix(question, tuple(accelerators), tuple(models), rows)


def parameters_of(catalog: Catalog, models: Sequence[Model]) -> dict[str, float]:
    """Return the parameters of each model by its id: those stated, else those of its dimensions.

    A model of which neither is known is left out.
    """
    found: dict[str, float] = {}
    for model in models:
        named = (each for each in catalog.attributes(model.id) if each.name == "total_parameters")
        stated = next((each.value for each in named), None)
        if isinstance(stated, int | float) and stated > 0:
            found[model.id] = stated
        elif model.dimensions_known:
            found[model.id] = parameter_count(model)
    return found


def plain_weights_bytes(parameters: float, weights: Precision, vendor: str) -> float:
    """Return parameters × bits / 8: every parameter in the format, scales of blocks left out."""
    return parameters * FORMATS[concrete(weights, vendor)].bits / 8


def label_of(part: Accelerator) -> float | None:
    """Return the number of a memory label in its own GB or GiB; None without a label that has one."""
    match = _LABEL.match(part.memory_label or "")
    return float(match[1]) * _UNITS[match[2].upper()] if match else None


def _cell(
    reading: CapacityReading,
    question: FitQuestion,
    part: Accelerator,
    model: Model,
    parameters: float | None,
) -> FitCell:
    weights, kv = concrete(question.weights, part.vendor), concrete(question.kv, part.vendor)
    label = label_of(part)
    if not label:
        reason = message("fit.no_label", accelerator=part.name)
        return FitCell(part.id, model.id, weights, kv, fits=False, reason=reason)
    if parameters is None:
        reason = message("fit.no_parameters", model=model.name)
        return FitCell(part.id, model.id, weights, kv, fits=False, reason=reason)
    needed = plain_weights_bytes(parameters, weights, part.vendor)
    count, usable = reading.count(needed, label), reading.usable_bytes(label)
    return FitCell(
        part.id,
        model.id,
        weights,
        kv,
        fits=True,
        count=count,
        usable_bytes=int(usable),
        headroom_bytes=int(usable - needed / count),
    )
