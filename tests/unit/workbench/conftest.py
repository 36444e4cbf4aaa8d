"""An estimator on the real facts and constants, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.build import build_catalog
from gpudesk.catalog.queries import Catalog
from gpudesk.workbench.calibration_file import read_calibration
from gpudesk.workbench.estimating import Estimator

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture(scope="session")
def estimator(tmp_path_factory: pytest.TempPathFactory) -> Estimator:
    """Answer from the real catalog and the real calibration."""
    path = tmp_path_factory.mktemp("estimating") / "catalog.sqlite"
    build_catalog(DATA, path)
    return Estimator(Catalog.open(path), read_calibration(paths.calibration_path()))
