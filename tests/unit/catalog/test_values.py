"""Published figures become exact figures in the unit used inside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.attributes import RecordedClaimValue, convert_claim_to_si, format_published
from gpudesk.domain.claim import is_figure
from gpudesk.text.units import UnknownUnitError


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (6000, "GB/s", 6_000_000_000_000),
        (1307.4, "TFLOPS", 1_307_400_000_000_000),
        (184320, "MiB", 193_273_528_320),
        (134.4, "GiB", 144_310_901_145.6),
        (0.1, "ms", 0.0001),
        (8, "stacks", 8),
        ("CDNA 3", None, "CDNA 3"),
        (["fp8", "int8"], None, ["fp8", "int8"]),
        (True, None, True),
        (28, None, 28),
    ],
)
def test_value_in_si(value: RecordedClaimValue, unit: str | None, expected: RecordedClaimValue) -> None:
    converted = convert_claim_to_si(value, unit)
    assert converted == expected
    assert type(converted) is type(expected)


@given(st.decimals(min_value="0.01", max_value=100_000, places=2))
def test_rate_with_two_decimals_is_a_whole_number_of_operations(rate: object) -> None:
    hundredths = int(float(str(rate)) * 100 + 0.5)
    assert convert_claim_to_si(float(str(rate)), "TFLOPS") == hundredths * 10**10


def test_unknown_unit_is_refused() -> None:
    with pytest.raises(UnknownUnitError):
        convert_claim_to_si(1, "furlong")


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (6000, "GB/s", "6000 GB/s"),
        (1307.4, "TFLOPS", "1307.4 TFLOPS"),
        (2614, "TOPS", "2614 TOPS"),
        (700, "W", None),
        (8, "stacks", None),
        ("CDNA 3", None, None),
    ],
)
def test_published_is_kept_where_it_differs(value: RecordedClaimValue, unit: str | None, expected: str | None) -> None:
    assert format_published(value, unit) == expected


def test_yes_is_no_number() -> None:
    assert is_figure(1)
    assert is_figure(1.5)
    assert not is_figure(True)
    assert not is_figure("1")
