"""What one thread has found is not forgotten for another one while that is in the middle of a call."""

from gpudesk.catalog.read import Catalog
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.search_space import SearchSpaceTable


def test_nothing_is_forgotten_during_a_call(facts: Catalog, calibration: Calibration) -> None:
    table = SearchSpaceTable(facts, calibration)
    coefficients = table.coefficients
    table.plan_count = table.most_kept
    with table:
        assert not table.make_room()
        assert table.coefficients is coefficients
    assert table.make_room()
    assert table.coefficients is not coefficients
