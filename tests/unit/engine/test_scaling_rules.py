"""Rules of thumb for several accelerators: the table of a published page, and the other readings of it."""

import pytest

from gpudesk.domain.deployment_analysis import ScalingRuleOfThumb
from gpudesk.engine.engine_support import compute_stream_ceiling, scale_bandwidth

COUNTS = (1, 2, 4, 8)


@pytest.mark.parametrize(
    ("rule", "table"),
    [
        (ScalingRuleOfThumb.FLAT, (6000, 10_560, 21_120, 42_240)),
        (ScalingRuleOfThumb.ADDED, (6000, 11_280, 21_840, 42_960)),
        (ScalingRuleOfThumb.COMPOUNDING, (6000, 10_560, 16_355.3, 19_616.4)),
        (ScalingRuleOfThumb.PER_DOUBLING, (6000, 10_560, 18_585.6, 32_710.7)),
    ],
)
def test_a_rule_gives_its_table(rule: ScalingRuleOfThumb, table: tuple[float, ...]) -> None:
    assert [scale_bandwidth(6000, count, rule) for count in COUNTS] == pytest.approx(table, abs=0.1)


def test_no_rule_changes_one_accelerator_or_gives_more_than_all() -> None:
    for rule in ScalingRuleOfThumb:
        assert scale_bandwidth(3350, 1, rule) == 3350
        assert all(scale_bandwidth(3350, count, rule) <= 3350 * count for count in range(1, 65))


def test_two_of_one_part_read_70b_faster_than_one_of_another_by_the_flat_rule() -> None:
    assert compute_stream_ceiling(3350e9, 140e9, 2) == pytest.approx(42.1, abs=0.05)
    assert compute_stream_ceiling(5300e9, 140e9) == pytest.approx(37.9, abs=0.05)


@pytest.mark.parametrize(("count", "factor"), [(0, 0.88), (2, 0.0), (2, 1.1)])
def test_impossible_values_are_refused(count: int, factor: float) -> None:
    with pytest.raises(ValueError, match="is"):
        scale_bandwidth(6000, count, ScalingRuleOfThumb.FLAT, factor)
