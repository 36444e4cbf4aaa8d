"""The service and the estimator on the real facts and constants, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.estimator import Estimator
from gpudesk.evidence.calibration_file import read_calibration
from gpudesk.service import GpuDeskService

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="session")
def facts() -> Catalog:
    return Catalog.open(paths.get_built_catalog_path())


@pytest.fixture(scope="session")
def calibration() -> Calibration:
    return read_calibration(paths.get_data_path("calibration.json"))


@pytest.fixture(scope="session")
def estimator(facts: Catalog, calibration: Calibration) -> Estimator:
    return Estimator(facts, calibration)


@pytest.fixture(scope="session")
def service() -> Iterator[GpuDeskService]:
    """Return the service on the shipped catalog; a test that changes its facts takes a service of its own."""
    with GpuDeskService.open() as opened:
        yield opened
