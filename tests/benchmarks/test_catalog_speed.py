"""How long the catalog keeps a short command waiting."""

from __future__ import annotations

from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from gpudesk import paths
from gpudesk.catalog.read import Catalog

#: Seconds that opening the catalog and making every object of it may take.
OPENING = 0.15


def _open_whole(path: Path) -> int:
    with Catalog.open(path) as catalog:
        return len(catalog.accelerators()) + len(catalog.models()) + len(catalog.serving_engines())


def _median(benchmark: BenchmarkFixture) -> float:
    """Return the seconds of the middle round."""
    assert benchmark.stats is not None
    return float(benchmark.stats.stats.median)


def test_opening_the_catalog_and_making_every_object(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_open_whole, paths.get_catalog_path()) == 52 + 83 + 5
    assert _median(benchmark) <= OPENING
