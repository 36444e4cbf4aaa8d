"""What an estimate rests on: how many published rows are behind its constants."""

from __future__ import annotations

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.estimates import Estimate, RowsBehind
from gpudesk.engine.constants import Calibration


def rows_behind(estimate: Estimate, catalog: Catalog, calibration: Calibration) -> RowsBehind:
    """Count the rows of the estimate's generation and of its serving-engine family."""
    generation = catalog.accelerator(estimate.request.accelerator).generation
    family = catalog.serving_engine(estimate.serving_engine).family
    return RowsBehind(
        together=calibration.rows(generation, family),
        generation=calibration.generation_rows(generation),
        family=calibration.family_rows(family),
    )
