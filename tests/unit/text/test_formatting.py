"""Quantities as text: digits, grouping, units, and the same figure in each language."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.registry import find_quantity
from gpudesk.text.formatting import (
    GERMAN_NUMBERS,
    MACHINE_NUMBERS,
    Formatter,
    IntervalEstimate,
    Quantity,
    find_number_style,
    get_display_unit,
)

EN = Formatter()
DE = Formatter(GERMAN_NUMBERS)
PLAIN = Formatter(MACHINE_NUMBERS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.4, "1,230"),
        (1_234_567.0, "1,230,000"),
        (999.6, "1,000"),
        (9996.0, "10,000"),
        (980.4, "980"),
        (99.96, "100"),
        (99.94, "99.9"),
        (34.28, "34.3"),
        (9.996, "10.0"),
        (4.2049, "4.20"),
        (0.12345, "0.123"),
        (0.0, "0"),
        (-34.28, "−34.3"),
        (None, "—"),
        (math.nan, "—"),
        (math.inf, "—"),
    ],
)
def test_estimates_have_three_significant_digits(value: float | None, text: str) -> None:
    assert EN.estimate(value) == text


@given(st.floats(min_value=1e-6, max_value=1e15))
def test_estimate_is_right_to_the_third_digit(value: float) -> None:
    assert float(EN.estimate(value).replace(",", "")) == pytest.approx(value, rel=0.00501)
    assert float(PLAIN.estimate(value)) == pytest.approx(value, rel=1e-9)


def test_band_and_figure_in_three_styles() -> None:
    banded = IntervalEstimate(1234.4, 980.2, 1560.7)
    assert EN.estimate_with_interval(banded, "tok/s") == "1,230 (980 – 1,560) tok/s"
    assert DE.estimate_with_interval(banded) == "1.230 (980 – 1.560)"
    assert PLAIN.estimate_with_interval(banded) == "1234.4 (980.2 – 1560.7)"
    assert DE.estimate(34.28) == "34,3"
    assert EN.estimate_with_interval(None, "tok/s") == EN.band(None) == "—"


@pytest.mark.parametrize(
    ("memory_bytes", "text"),
    [
        (141_107_412_992, "131.4 GiB (141.1 GB)"),
        (275_040 * 2**20, "268.6 GiB (288.4 GB)"),
        (0, "0.0 GiB (0.0 GB)"),
        (327_680, "320 KiB"),
        (50 * 2**20, "50.0 MiB"),
        (512, "512 B"),
        (None, "—"),
    ],
)
def test_memory_is_shown_in_gib_with_gb_next_to_it(memory_bytes: int | None, text: str) -> None:
    assert EN.memory(memory_bytes) == text


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [
        (6.0e12, Quantity.MEMORY_BANDWIDTH, "6.0"),
        (3.35e12, Quantity.MEMORY_BANDWIDTH, "3.35"),
        (4.8e12, Quantity.MEMORY_BANDWIDTH, "4.8"),
        (8e12, Quantity.MEMORY_BANDWIDTH, "8.0"),
        (0.864e12, Quantity.MEMORY_BANDWIDTH, "0.864"),
        (1.8e12, Quantity.LINK_BANDWIDTH, "1,800"),
        (989.4e12, Quantity.ARITHMETIC, "989"),
        (2500e12, Quantity.ARITHMETIC, "2,500"),
        (700, Quantity.POWER, "700"),
        (3.5, Quantity.USD_PER_HOUR, "3.50"),
        (35_000, Quantity.USD, "35,000"),
        (256 * 2**20, Quantity.CACHE, "256"),
        ("HBM3e", Quantity.TEXT, "HBM3e"),
        (("fp8", "bf16"), Quantity.TEXT, "fp8, bf16"),
        (None, Quantity.POWER, "—"),
    ],
)
def test_catalog_values_keep_the_digits_of_the_claim(
    value: float | str | tuple[str, ...] | None, quantity: Quantity, text: str
) -> None:
    assert EN.catalog(value, quantity) == text


@pytest.mark.parametrize(
    ("attribute", "unit", "value", "text"),
    [
        ("memory_bandwidth", "B/s", 6.0e12, "6.0 TB/s"),
        ("scale_up_bandwidth", "B/s", 9.0e11, "900 GB/s"),
        ("peak_dense_int8", "FLOP/s", 1.979e15, "1,979 TOPS"),
        ("peak_dense_fp8", "FLOP/s", 1.979e15, "1,979 TFLOPS"),
        ("peak_dense_fp8", "FLOP/s", 1.9789e15, "1,979 TFLOPS"),
        ("peak_dense_fp16", "FLOP/s", 6.51e13, "65.1 TFLOPS"),
        ("memory", "B", 141 * 2**30, "141.0 GiB (151.4 GB)"),
        ("tdp", "W", None, "—"),
        ("scale_up_domain", "accelerators", 72, "72"),
        ("architecture", None, "CDNA 3", "CDNA 3"),
    ],
)
def test_attribute_is_shown_in_the_units_of_the_field(
    attribute: str, unit: str | None, value: float | str | None, text: str
) -> None:
    assert EN.catalog_with_unit(value, find_quantity(attribute, unit)) == text


def test_units_stand_next_to_figures_only_where_there_are_any() -> None:
    assert get_display_unit(Quantity.MEMORY) == "GiB"
    assert get_display_unit(Quantity.TEXT) is None


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.25, "+25%"), (0.9, "−10%"), (1.001, "0%"), (0.999, "0%"), (3.42, "+242%"), (12.3456, "+1,130%"), (0.2, "−80%")],
)
def test_difference_has_a_sign(ratio: float, text: str) -> None:
    assert EN.difference(ratio) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (413.2, "ms", "413 ms"),
        (9_990.0, "ms", "9,990 ms"),
        (10_000.0, "ms", "10.0 s"),
        (119_000.0, "ms", "119 s"),
        (2_340_000.0, "ms", "39.0 min"),
        (74.4, "s", "74.4 s"),
        (150.0, "s", "2.50 min"),
        (0.0, "ms", "0 ms"),
        (0.02, "ms", "0.0200 ms"),
    ],
)
def test_long_times_are_in_seconds_and_minutes(value: float, unit: str, text: str) -> None:
    assert EN.quantity(value, unit) == text


def test_an_interval_is_in_the_unit_of_its_median() -> None:
    assert EN.estimate_with_interval(IntervalEstimate(12_340.0, 8_100.0, 20_200.0), "ms") == "12.3 (8.10 – 20.2) s"


def test_signed_per_cent_stays_per_cent() -> None:
    assert [EN.signed_per_cent(ratio) for ratio in (0.95, 1.0, 4.2)] == ["−5", "0", "+320"]
    assert PLAIN.signed_per_cent(0.95) == "-5"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, "s", "12.3 ms"),
        (12.3, "s", "12.3 s"),
        (0, "s", "0 s"),
        (4.2e-6, "s", "4.20 µs"),
        (4.8e12, "B/s", "4.8 TB/s"),
        (9.0e14, "FLOP/s", "900 TFLOPS"),
        # A peak as the catalog shows it; a computed rate has three digits.
        (1.9789e15, "FLOP/s", "1,979 TFLOPS"),
        (1.97891234e15, "FLOP/s", "1,980 TFLOPS"),
        (7.2e17, "FLOP/s", "720 PFLOPS"),
        (1.07e12, Quantity.LINK_BANDWIDTH, "1,070 GB/s"),
        (141_107_412_992, "B", "131.4 GiB (141.1 GB)"),
        (80, "layers", "80 layers"),
        (0.00333, "1/s", "0.00333/s"),
        (131_072, "tokens", "131,072 tokens"),
        (0.75, None, "0.750"),
        (8, None, "8"),
        (70_553_706_496, "parameters", "70,553,706,496 parameters"),
    ],
)
def test_any_quantity_is_scaled_to_read_well(value: float, unit: str | None, text: str) -> None:
    assert EN.quantity(value, unit) == text


def test_style_follows_the_language() -> None:
    assert find_number_style("de_AT") is GERMAN_NUMBERS
    assert find_number_style("pseudo").name == "en"
    assert find_number_style(None).name == "en"


@pytest.mark.parametrize(
    ("date", "german"), [("2026-11-26", "26.11.2026"), ("2025-10", "10.2025"), ("2026", "2026"), ("undated", "undated")]
)
def test_dates_are_written_as_the_language_does(date: str, german: str) -> None:
    assert DE.date(date) == german
    assert EN.date(date) == PLAIN.date(date) == date


def test_quarters_and_halves_are_written_before_the_year() -> None:
    assert [EN.date("2024-Q2"), DE.date("2026-H2"), PLAIN.date("2024-Q2")] == ["Q2 2024", "H2 2026", "2024-Q2"]
