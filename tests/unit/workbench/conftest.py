"""An estimator on the real facts and constants, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.build import build_catalog
from gpudesk.catalog.queries import Catalog
from gpudesk.engine.constants import Calibration
from gpudesk.workbench.calibration_file import read_calibration
from gpudesk.workbench.estimating import Estimator

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture(scope="session")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Return the real catalog."""
    path = tmp_path_factory.mktemp("estimating") / "catalog.sqlite"
    build_catalog(DATA, path)
    return Catalog.open(path)


@pytest.fixture(scope="session")
def calibration() -> Calibration:
    """Return the real constants."""
    return read_calibration(paths.calibration_path())


@pytest.fixture(scope="session")
def estimator(facts: Catalog, calibration: Calibration) -> Estimator:
    """Answer from the real catalog and the real calibration."""
    return Estimator(facts, calibration)
