"""Verification: a sound catalog has no finding, and each fault of the rows has its own."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from gpudesk.catalog.database import CatalogDatabase, compute_stored_revision, seal_file
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.verify import verify_catalog
from gpudesk.text.messages import format_message
from tests.unit.domain.user_samples import ALL


def spoil(path: Path, *statements: str, keep_revision: bool = False) -> None:
    """Change rows behind the back of every check; the revision follows unless it is to be kept."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = OFF")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    seal_file(path)
    if not keep_revision:
        with CatalogDatabase(path) as store:
            revision = compute_stored_revision(store)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'revision'", (revision,))
        connection.commit()
    connection.close()
    seal_file(path)


def _dimension(model: str, old: str, new: str) -> str:
    return f"UPDATE model SET definition = replace(definition, '{old}', '{new}') WHERE id = '{model}'"


def _diffusion_dimension(model: str, old: str, new: str) -> str:
    return f"UPDATE diffusion_model SET architecture = replace(architecture, '{old}', '{new}') WHERE id = '{model}'"


def findings_of(path: Path) -> list[tuple[str, str]]:
    with Catalog.open(path) as catalog:
        findings = verify_catalog(catalog)
    assert all(format_message(finding.problem) for finding in findings)
    return [(finding.where, finding.problem.id) for finding in findings]


def test_real_catalog_has_no_finding(catalog: Catalog) -> None:
    assert verify_catalog(catalog) == ()


def test_facts_of_the_user_are_no_fault_of_the_catalog(catalog: Catalog) -> None:
    assert verify_catalog(catalog.with_user_facts(ALL)) == ()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("DELETE FROM source WHERE id = 'seed-000'", "catalog.verify.dangling"),
        ("DELETE FROM thing WHERE id = 'mi300x'", "catalog.verify.dangling"),
        ("UPDATE price SET accelerator = 'mi300' WHERE accelerator = 'mi300x'", "catalog.verify.dangling"),
        ("UPDATE seed_claim SET source = 'seed-9' WHERE id = 'C000-001'", "catalog.verify.dangling"),
        ("UPDATE seed_subject SET attribute = 'x' WHERE seed_claim = 'C000-001'", "catalog.verify.dangling"),
        ("UPDATE seed_subject SET claim = 99 WHERE seed_claim = 'C000-001'", "catalog.verify.dangling"),
        ("UPDATE dispute_subject SET thing = 'x' WHERE dispute = 'D-001'", "catalog.verify.dangling"),
        ("UPDATE dispute SET claim_a = 'C9' WHERE id = 'D-001'", "catalog.verify.dangling"),
    ],
)
def test_row_with_a_dangling_reference_is_reported(broken_path: Path, statement: str, expected: str) -> None:
    spoil(broken_path, statement)
    findings = findings_of(broken_path)
    assert findings
    assert {problem for _, problem in findings} == {expected}


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (
            ["UPDATE claim SET value = '7000' WHERE thing = 'nvidia-dgx-b200' AND attribute = 'power_max'"],
            ("nvidia-dgx-b200 power_max", "catalog.verify.power"),
        ),
        (
            ["UPDATE claim SET value = '10' WHERE thing = 'dell-xe9680-h100' AND attribute = 'accelerator_count'"],
            ("dell-xe9680-h100 accelerator_count", "catalog.verify.slots"),
        ),
        (
            ["DELETE FROM claim WHERE thing = 'mi325x' AND attribute = 'peak_dense_fp64'"],
            ("mi325x peak_dense_fp64", "catalog.verify.no_claim"),
        ),
        (
            ["INSERT INTO thing VALUES ('mi400', 'accelerator', 'MI400', 'AMD', 99)"],
            ("mi400", "catalog.verify.no_attribute"),
        ),
        (
            [
                "DROP INDEX one_preferred_claim",
                "UPDATE claim SET preferred = 1 WHERE thing = 'mi325x' AND attribute = 'tdp'",
            ],
            ("mi325x tdp", "catalog.verify.preferred"),
        ),
        (
            [
                "UPDATE attribute SET reason = NULL WHERE thing = 'mi325x' AND name = 'tdp'",
                "UPDATE claim SET verdict = NULL WHERE thing = 'mi325x' AND attribute = 'tdp'",
            ],
            ("mi325x tdp", "catalog.verify.no_reason"),
        ),
        (
            ["UPDATE seed_subject SET claim = 0 WHERE seed_claim = 'C000-001'"],
            ("C000-001", "catalog.verify.other_source"),
        ),
        (["UPDATE dispute SET claim_b = 'HEARSAY' WHERE id = 'D-001'"], ("D-001", "catalog.verify.no_such_claim")),
        (
            [_dimension("llama-3.1-70b", '"kv_heads":8', '"kv_heads":7')],
            ("llama-3.1-70b layers.1", "catalog.verify.multiple"),
        ),
        (
            [_dimension("mixtral-8x7b", '"experts_per_token":2', '"experts_per_token":9')],
            ("mixtral-8x7b layers.1", "catalog.verify.at_most"),
        ),
        (
            [_diffusion_dimension("flux1-dev", '"count":38', '"count":19')],
            ("flux1-dev architecture.blocks", "catalog.verify.block_parameters"),
        ),
    ],
)
def test_each_fault_has_its_finding(broken_path: Path, statements: list[str], expected: tuple[str, str]) -> None:
    spoil(broken_path, *statements)
    assert findings_of(broken_path) == [expected]


def test_changed_figure_is_noticed(broken_path: Path) -> None:
    spoil(
        broken_path,
        "UPDATE claim SET value = '9000000000000' WHERE thing = 'mi325x'"
        " AND attribute = 'memory_bandwidth' AND preferred",
        keep_revision=True,
    )
    assert findings_of(broken_path) == [("meta", "catalog.verify.revision")]


def test_damaged_pages_are_a_finding_and_no_failure(broken_path: Path) -> None:
    content = bytearray(broken_path.read_bytes())
    content[-8192:] = b"\x5a" * 8192
    broken_path.write_bytes(content)
    seal_file(broken_path)
    findings = findings_of(broken_path)
    assert findings
    assert {problem for _, problem in findings} == {"catalog.verify.integrity"}
