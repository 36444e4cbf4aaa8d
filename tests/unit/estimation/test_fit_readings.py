"""The readings of a memory label count as published grids do, and say so where they cannot."""

from dataclasses import replace

import pytest

from gpudesk import paths
from gpudesk.costing.worked_examples import read_worked_examples
from gpudesk.domain.deployment_analysis import WorkedExample
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import CapacityReadingId, FitCell, FitQuestion
from gpudesk.estimation.sizing.fit_matrix import (
    compute_plain_weights_bytes,
    compute_reading_matrix,
    count_model_parameters,
    get_memory_label,
)
from gpudesk.service import GpuDeskService
from gpudesk.text.units import GB, GIB

#: The beginning of an example's id -> the reading that its grid is computed with.
GRIDS = {
    "FIT": CapacityReadingId.DECIMAL,
    "FITB": CapacityReadingId.BINARY,
    "FITP": CapacityReadingId.DECIMAL_RESERVED,
    "FITQ": CapacityReadingId.BINARY_RESERVED,
}
FORMATS = {2.0: Precision.FP16, 1.0: Precision.FP8, 0.5: Precision.FP4}


def grid(name: str) -> list[WorkedExample]:
    return [
        each
        for each in read_worked_examples(paths.get_data_path("worked_examples.csv"))
        if each.id.startswith(f"{name}-")
    ]


def count(service: GpuDeskService, reading: CapacityReadingId, example: WorkedExample) -> int | None:
    """Return what the matrix says of a part with the label and a model with the parameters of an example."""
    inputs = example.inputs
    part = replace(service.catalog.accelerator("h100-sxm"), memory_label=f"{inputs['mem']:g} GB")
    model = service.catalog.model("llama-3.1-70b")
    question = FitQuestion(FORMATS[inputs["bytes"]])
    matrix = compute_reading_matrix(reading, question, [part], [model], {model.id: inputs["params"] * GB})
    return matrix.rows[0][0].count


@pytest.mark.parametrize("name", GRIDS)
def test_every_row_of_a_published_grid_is_counted_alike(service: GpuDeskService, name: str) -> None:
    examples = grid(name)
    assert len(examples) > 60
    wrong = [each.id for each in examples if count(service, GRIDS[name], each) != each.expected]
    assert wrong == []


def cell(service: GpuDeskService, reading: CapacityReadingId, part: str, model: str) -> FitCell:
    catalog = service.catalog
    models = [catalog.model(model)]
    parameters = count_model_parameters(catalog, models)
    parts = [catalog.accelerator(part)]
    return compute_reading_matrix(reading, FitQuestion(Precision.FP16), parts, models, parameters).rows[0][0]


def test_what_is_left_is_that_of_one_part_by_the_reading(service: GpuDeskService) -> None:
    reading_cell = cell(service, CapacityReadingId.BINARY_RESERVED, "mi300x", "llama-3.1-70b")
    assert reading_cell.count == 1
    assert reading_cell.usable_bytes == int(192 * GIB * 0.9)
    parameters = count_model_parameters(service.catalog, [service.catalog.model("llama-3.1-70b")])["llama-3.1-70b"]
    weights = compute_plain_weights_bytes(parameters, Precision.FP16, "AMD")
    assert reading_cell.headroom_bytes == pytest.approx(reading_cell.usable_bytes - weights, abs=1)
    assert reading_cell.plan is None


def test_scales_of_blocks_are_left_out_and_plain_fp4_is_four_bits() -> None:
    assert compute_plain_weights_bytes(8e9, Precision.FP4, "NVIDIA") == 4e9
    assert compute_plain_weights_bytes(8e9, Precision.FP4, "AMD") == 4e9
    assert compute_plain_weights_bytes(8e9, Precision.FP6, "AMD") == 6e9


def test_a_model_without_dimensions_is_counted_by_what_is_stated(service: GpuDeskService) -> None:
    assert not service.catalog.model("devstral-2-123b").dimensions_known
    reading_cell = cell(service, CapacityReadingId.DECIMAL, "h200-sxm", "devstral-2-123b")
    assert reading_cell.count == 2


def test_unpublished_parameter_counts_come_from_dimensions(service: GpuDeskService) -> None:
    models = service.catalog.models()
    parameters = count_model_parameters(service.catalog, models)
    assert parameters["phi-4"] == pytest.approx(14.7e9, rel=0.01)
    assert len(parameters) == len(models)


@pytest.mark.parametrize(
    ("label", "value"), [("80 GB", 80), ("192GiB HBM3", 192), ("1.5 TB", 1500), ("no", None), (None, None)]
)
def test_labels_are_read_as_they_are_printed(service: GpuDeskService, label: str | None, value: float | None) -> None:
    assert get_memory_label(replace(service.catalog.accelerator("h100-sxm"), memory_label=label)) == value


def test_uncountable_model_is_explained(service: GpuDeskService) -> None:
    catalog = service.catalog
    nameless = replace(catalog.accelerator("h100-sxm"), memory_label=None)
    model = catalog.model("llama-3.1-70b")
    reading, question = CapacityReadingId.DECIMAL, FitQuestion(Precision.FP8)
    without_label = compute_reading_matrix(reading, question, [nameless], [model], {model.id: 70e9}).rows[0][0]
    assert without_label.reason is not None
    assert without_label.reason.id == "fit.no_label"
    unknown = compute_reading_matrix(reading, question, [catalog.accelerator("h100-sxm")], [model], {}).rows[0][0]
    assert unknown.reason is not None
    assert (unknown.fits, unknown.count, unknown.reason.id) == (False, None, "fit.no_parameters")
