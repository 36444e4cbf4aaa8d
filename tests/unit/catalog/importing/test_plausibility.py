"""Whether figures of accelerators can be: held against the shipped ones, and against slips made of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpudesk.catalog.importing.accelerator_plausibility import check_plausibility
from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import SOFTWARE_PLATFORMS
from gpudesk.domain.claim import PlausibilityFinding, PlausibilityGrade
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import format_message
from gpudesk.text.units import GIB

#: What is doubtful of shipped accelerators, and why it is kept: disputes that are known.
KNOWN_DOUBTS = {
    # Four of sixteen weights are kept, which is not two of four.
    ("trainium2", "peak_sparse_bf16"): "3.84 times the dense peak",
    # The vector units alone run these; the matrix units are for BF16 and FP8.
    ("gaudi3", "peak_dense_fp16"): "0.274 times the BF16 peak",
    ("gaudi3", "peak_dense_tf32"): "0.274 times the BF16 peak",
    # Cards whose BF16 peak is that with FP32 accumulation, half of what the units do otherwise.
    ("rtx-4090", "peak_dense_int8"): "4.00 times the BF16 peak",
    ("rtx-5090", "peak_dense_int8"): "4.00 times the BF16 peak",
    ("rtx-5090", "peak_dense_fp4"): "4.00 times the FP8 peak",
    ("rtx-5090", "peak_sparse_fp16"): "4.00 times the dense peak",
    ("rtx-5090", "peak_sparse_fp8"): "4.00 times the dense peak",
    # Blackwell Ultra gave INT8 up for FP4, which grew by half, dense alone.
    ("b300-hgx", "peak_dense_int8"): "0.0682 times the BF16 peak",
    ("b300-hgx", "peak_dense_fp4"): "3.11 times the FP8 peak",
    ("b300-hgx", "peak_sparse_fp4"): "1.29 times the dense peak",
    ("gb300-nvl72", "peak_dense_int8"): "0.0660 times the BF16 peak",
    ("gb300-nvl72", "peak_dense_fp4"): "3.00 times the FP8 peak",
    # The same GPU in a desktop board.
    ("gb300-desktop", "peak_dense_int8"): "0.0660 times the BF16 peak",
    ("gb300-desktop", "peak_dense_fp4"): "3.00 times the FP8 peak",
    ("gb300-desktop", "peak_sparse_fp4"): "1.33 times the dense peak",
    # Formats with a scale for each block run at four times the rate, and so does sparse BF16.
    ("trainium3", "peak_dense_fp8"): "3.75 times the BF16 peak",
    ("trainium3", "peak_sparse_bf16"): "3.75 times the dense peak",
    # Announced figures from several slides.
    ("vera-rubin-nvl72", "peak_dense_fp8"): "4.38 times the BF16 peak",
    ("vera-rubin-nvl72", "peak_dense_int8"): "0.625 times the BF16 peak",
}

#: Attributes in which a slip by ten, or by a thousand, is caught in every part that has them.
BY_TEN = ("memory", "memory_bandwidth", "scale_up_bandwidth", "tdp", "peak_dense_bf16", "peak_dense_fp8")
BY_THOUSAND = (*BY_TEN, "pcie_bandwidth")


def values_of(catalog: Catalog, part: str) -> dict[str, ClaimValue]:
    return {each.name: each.value for each in catalog.attributes(part) if each.value is not None}


def parts(catalog: Catalog) -> dict[str, dict[str, ClaimValue]]:
    return {part.id: values_of(catalog, part.id) for part in catalog.accelerators()}


def caught(values: Mapping[str, ClaimValue], name: str, part: str = "") -> list[PlausibilityFinding]:
    return [each for each in check_plausibility(values, part) if name in (each.attribute, *each.others)]


def scaled(values: Mapping[str, ClaimValue], name: str, factor: float) -> dict[str, ClaimValue]:
    value = values[name]
    assert isinstance(value, int | float)
    return {**values, name: value * factor}


def test_no_shipped_part_is_refused_and_the_doubts_are_known(catalog: Catalog) -> None:
    names = {part.id: part.name for part in catalog.accelerators()}
    findings = {
        (part, finding.attribute): finding
        for part, values in parts(catalog).items()
        for finding in check_plausibility(values, names[part])
    }
    assert len(names) >= 51
    assert not [each for each in findings.values() if each.grade is PlausibilityGrade.REFUSED]
    assert findings.keys() == KNOWN_DOUBTS.keys()
    for key, words in KNOWN_DOUBTS.items():
        assert words in format_message(findings[key].problem), key


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        *((name, factor) for name in BY_TEN for factor in (10,)),
        *((name, factor) for name in BY_THOUSAND for factor in (1000, 0.001)),
    ],
)
def test_slips_are_caught_in_every_part(name: str, factor: float, catalog: Catalog) -> None:
    checked = 0
    for part, values in parts(catalog).items():
        if name in values:
            checked += 1
            assert caught(scaled(values, name, factor), name), f"{part}: {name} × {factor}"
    assert checked > 10


def test_sparse_peak_given_as_dense_is_caught(catalog: Catalog) -> None:
    checked = 0
    for part, values in parts(catalog).items():
        for name in [each for each in values if each.startswith("peak_sparse_")]:
            dense = name.replace("sparse", "dense")
            if dense in values:
                checked += 1
                assert caught({**values, dense: values[name]}, dense), f"{part}: {name}"
    assert checked > 30


def test_exchanged_peaks_are_refused(catalog: Catalog) -> None:
    values = values_of(catalog, "h100-sxm")
    values["peak_dense_fp8"], values["peak_sparse_fp8"] = values["peak_sparse_fp8"], values["peak_dense_fp8"]
    (finding,) = [each for each in check_plausibility(values) if each.grade is PlausibilityGrade.REFUSED]
    assert (finding.attribute, finding.others) == ("peak_sparse_fp8", ("peak_dense_fp8",))


def test_stacks_that_do_not_exist_are_caught(catalog: Catalog) -> None:
    """Six stacks of an MI325X would hold 42.7 GiB each, and give 1 TB/s."""
    values = {**values_of(catalog, "mi325x"), "memory_stacks": 6}
    assert any("42.7" in format_message(each.problem) for each in caught(values, "memory"))
    assert any(each.grade is PlausibilityGrade.REFUSED for each in caught({**values, "memory_stacks": 4}, "memory"))


def test_doubled_data_rate_is_caught(catalog: Catalog) -> None:
    values = {**values_of(catalog, "mi325x"), "memory_bandwidth": 10_300_000_000_000}
    problems = [format_message(each.problem) for each in caught(values, "memory_bandwidth")]
    assert (
        "memory bandwidth: 1.29 TB/s per stack; HBM3e stacks in known accelerators reach 700 GB/s to 1.26 TB/s"
        in problems[0]
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"memory_type": "GDDR6", "memory_bandwidth": 3e12}, "GDDR6 of this size reaches at most"),
        ({"memory_type": "gddr7", "memory_bandwidth": 1e12, "memory": 512 * GIB}, "at this speed reaches at most"),
        (
            {"memory_type": "HBM2", "memory": 16 * GIB, "memory_bandwidth": 8e12},
            "HBM2 of this size reaches at most 1.36 TB/s",
        ),
        ({"memory": 192 * GIB, "memory_label": "256 GB"}, "the marketed capacity is 256 GB"),
        (
            {"pcie_generation": 5, "pcie_bandwidth": 63e9},
            "16 lanes of PCIe 5 reach 126 GB/s in both directions together",
        ),
        ({"price_low": 3000, "price_high": 2000}, "swap the two"),
        ({"software_platform": "OpenCL"}, "CUDA, ROCm"),
        ({"tdp": 4}, "outside the possible range, 5.00 W to 20,000 W"),
        ({"memory_bandwidth": 1e12, "memory": 4096 * GIB}, "reads all memory 0.227 times per second"),
    ],
)
def test_pairs_that_do_not_go_together(values: dict[str, ClaimValue], words: str) -> None:
    assert any(words in format_message(each.problem) for each in check_plausibility(values))


@pytest.mark.parametrize(
    ("name", "memory", "doubted"),
    [
        ("NVIDIA H200 SXM", 141, False),
        ("H200", 80, True),
        ("H100 NVL", 94, False),
        ("H100 SXM5 80GB", 120, True),
        ("Radeon L40", 48, False),
        ("L4", 48, True),
        ("MI355X", 288, False),
        ("MI325X", 288, True),
        ("B300", 288, False),
        ("RTX PRO 6000 Blackwell", 48, True),
        ("Something new", 77, False),
    ],
)
def test_names_that_contain_the_memory_size(name: str, memory: int, doubted: bool) -> None:
    assert bool(check_plausibility({"memory": memory * GIB}, name)) is doubted


def test_unknown_facts_raise_no_doubt() -> None:
    assert check_plausibility({}) == ()
    assert check_plausibility({"memory": None, "memory_type": "HBM9", "software_platform": "CUDA"}) == ()


def test_platforms_are_those_of_the_shipped_parts(catalog: Catalog) -> None:
    for part in catalog.accelerators():
        assert set(part.platform.split(", ")) & set(SOFTWARE_PLATFORMS), part.id


def test_impossible_value_is_reported_once(catalog: Catalog) -> None:
    values = scaled(values_of(catalog, "mi300x"), "memory_bandwidth", 1000)
    assert [each.attribute for each in check_plausibility(values)] == ["memory_bandwidth"]
