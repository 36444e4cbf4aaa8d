"""The files of the accelerators: complete, sourced, one preferred value each, and the figures that matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

Table = dict[str, Any]

KINDS = {
    "vendor_datasheet",
    "vendor_claim",
    "config_copy",
    "measured_vendor",
    "measured_mlperf",
    "measured_independent",
    "independent",
    "press",
    "estimate",
    "user",
}
BYTES = {"B": 1, "MiB": 2**20, "GiB": 2**30, "GB": 10**9}


def attributes(parts: dict[str, Table]) -> Iterator[tuple[str, str, Table]]:
    for part, table in parts.items():
        for name, attribute in table["attributes"].items():
            yield part, name, attribute


def preferred(part: Table, name: str) -> Table:
    return next(claim for claim in part["attributes"][name]["claims"] if claim.get("preferred"))


def rivals(part: Table, name: str) -> set[tuple[object, str]]:
    """Return value and source of the claims that are not preferred."""
    claims = part["attributes"][name]["claims"]
    return {(claim["value"], claim["source"]) for claim in claims if not claim.get("preferred")}


def test_all_parts_are_there_under_their_own_id(accelerators: dict[str, Table]) -> None:
    assert len(accelerators) == 52
    assert [table["id"] for table in accelerators.values()] == list(accelerators)


def test_only_unreleased_parts_are_announced(accelerators: dict[str, Table]) -> None:
    announced = {part for part, table in accelerators.items() if table["announced"]}
    assert announced == {"vera-rubin-nvl72", "mi455x"}
    assert {preferred(accelerators[part], "status")["value"] for part in announced} == {"announced"}


def test_values_of_every_part_are_carried_over(accelerators: dict[str, Table]) -> None:
    claims = [
        claim
        for _, name, attribute in attributes(accelerators)
        for claim in attribute["claims"]
        if claim.get("preferred") and name != "memory"
    ]
    assert len(claims) == 1281


def test_exactly_one_claim_is_preferred_unless_none_can_be(accelerators: dict[str, Table]) -> None:
    for part, name, attribute in attributes(accelerators):
        count = sum(claim.get("preferred", False) for claim in attribute["claims"])
        assert count == (0 if attribute.get("none_preferred") else 1), f"{part} {name}"


def test_differing_claims_are_decided_with_a_reason_and_verdicts(accelerators: dict[str, Table]) -> None:
    for part, name, attribute in attributes(accelerators):
        claims = attribute["claims"]
        if len(claims) > 1 or attribute.get("none_preferred"):
            assert attribute.get("reason"), f"{part} {name} has no reason"
        for claim in claims:
            assert claim.get("preferred") or claim.get("verdict"), f"{part} {name} {claim['value']}"


def test_every_claim_names_a_known_source_and_kind(accelerators: dict[str, Table], sources: Table) -> None:
    for part, name, attribute in attributes(accelerators):
        for claim in attribute["claims"]:
            assert claim["source"] in sources, f"{part} {name}: {claim['source']}"
            assert claim.get("kind", sources[claim["source"]]["kind"]) in KINDS, f"{part} {name}"
            assert claim["retrieved"], f"{part} {name}"


def test_figures_carry_a_unit_and_words_do_not(accelerators: dict[str, Table]) -> None:
    for part, name, attribute in attributes(accelerators):
        figure = isinstance(attribute["claims"][0]["value"], int | float)
        assert figure == ("unit" in attribute), f"{part} {name}"


def test_every_accelerator_has_the_required_attributes(accelerators: dict[str, Table]) -> None:
    needed = {"memory", "memory_label", "memory_bandwidth", "software_platform"}
    for part, table in accelerators.items():
        assert needed <= table["attributes"].keys(), part
        assert {"peak_dense_bf16", "peak_dense_fp16"} & table["attributes"].keys(), part


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("h200-sxm", 151_397_597_184),
        ("mi325x", 256 * 2**30),
        ("mi300x", 192 * 2**30),
        ("b200-hgx", 184_320 * 2**20),
        ("gb200-nvl72", 189_471 * 2**20),
        ("b300-hgx", 275_040 * 2**20),
        ("gb300-nvl72", 284_208 * 2**20),
        ("l40s", 46_068 * 2**20),
        ("trainium2", 96 * 2**30),
    ],
)
def test_memory_is_what_the_device_exposes(part: str, expected: int, accelerators: dict[str, Table]) -> None:
    claim = preferred(accelerators[part], "memory")
    unit = claim.get("unit", accelerators[part]["attributes"]["memory"]["unit"])
    assert claim["value"] * BYTES[unit] == expected


def test_rival_readings_of_memory_lie_close_to_the_preferred_one(accelerators: dict[str, Table]) -> None:
    for part, table in accelerators.items():
        attribute = table["attributes"]["memory"]
        preferred, *others = [c["value"] * BYTES[c.get("unit", attribute["unit"])] for c in attribute["claims"]]
        assert all(0.9 < other / preferred < 1.1 for other in others), part


@pytest.mark.parametrize(
    ("part", "name", "value", "rival"),
    [
        ("mi325x", "memory_bandwidth", 6000, (5300, "seed-000")),
        ("mi325x", "architecture", "CDNA 3", ("CDNA 4", "seed-004")),
        ("mi325x", "tdp", 1000, (750, "seed-002")),
        ("mi325x", "release_date", "2024-10-10", ("late 2025", "seed-000")),
        ("h100-sxm", "peak_dense_fp8", 1978.9, (3958, "seed-002")),
        ("h200-sxm", "peak_dense_bf16", 989, (9.9, "seed-000")),
        ("mi355x", "memory_bandwidth", 8000, (9800, "seed-003")),
        ("b200-hgx", "memory_bandwidth", 7700, (8000, "seed-003")),
        ("b200-hgx", "memory_label", "180 GB", ("192 GB", "seed-003")),
        ("b300-hgx", "peak_dense_int8", 153.5, (4500, "bekman-accelerators")),
        ("b300-hgx", "peak_dense_fp8", 4500, (7000, "itkb-h200-b300")),
        ("mi300a", "memory_bandwidth", 5300, (10300, "techpowerup-mi300a")),
        ("mi355x", "peak_dense_fp4", 10066.3, (20100, "tomshardware-mi355x")),
        ("h100-pcie", "memory_bandwidth", 2040, (2000, "nvidia-aiconfigurator-h100-pcie")),
        ("gh200-144gb", "tdp", 700, (900, "bekman-accelerators")),
    ],
)
def test_disputes_are_decided_as_the_evidence_says(
    part: str, name: str, value: object, rival: tuple[object, str], accelerators: dict[str, Table]
) -> None:
    assert preferred(accelerators[part], name)["value"] == value
    assert rival in rivals(accelerators[part], name)


def test_fp8_on_ampere_has_no_preferred_rate(accelerators: dict[str, Table]) -> None:
    attribute = accelerators["a100-80gb-sxm"]["attributes"]["peak_dense_fp8"]
    assert attribute["none_preferred"]
    assert [claim["value"] for claim in attribute["claims"]] == [624]
