"""What the frozen program says it is made of, in its list, its notices and its bill of materials."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpudesk.third_party import PROGRAM, ThirdPartyWork, read_third_party
from tests.frozen.conftest import BUILDERS_PYTHON, BUNDLE, ROOT


@pytest.fixture(scope="module")
def parts(frozen: Path) -> list[ThirdPartyWork]:
    return read_third_party(frozen / BUNDLE / "parts.json")


@pytest.fixture(scope="module")
def bill_file(frozen: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bill of materials; the tool writes none that the schema does not take."""
    path = tmp_path_factory.mktemp("bill") / "gpudesk.cdx.json"
    run_tool("sbom.py", str(frozen), str(path))
    return path


@pytest.fixture(scope="module")
def bill(bill_file: Path) -> dict[str, Any]:
    return dict(json.loads(bill_file.read_text("utf-8")))


def run_tool(name: str, *arguments: str) -> str:
    """Run a tool of packaging/inventory as `make packages` does."""
    completed = subprocess.run(
        [str(BUILDERS_PYTHON), str(ROOT / "packaging" / "inventory" / name), *arguments],
        cwd=ROOT / "build",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def test_every_component_has_a_license_and_its_text(frozen: Path, parts: list[ThirdPartyWork]) -> None:
    assert parts[0].name == PROGRAM
    assert [part.name for part in parts if not part.license or not part.texts] == []
    named = {name for part in parts for name in part.texts}
    there = {path.relative_to(frozen / BUNDLE).as_posix() for path in (frozen / BUNDLE / "licenses").iterdir()}
    assert named == there


def test_main_components_are_listed(parts: list[ThirdPartyWork]) -> None:
    by_name = {part.name: part for part in parts}
    assert by_name["Qt"].version == by_name["PySide6_Essentials"].version
    for name in ("CPython", "PyInstaller bootloader", "numpy", "xlsxwriter", "PyNaCl", "Qt"):
        assert by_name[name].version, name
    inside = {(part.name, part.within) for part in parts}
    expected = {
        ("OpenBLAS", "numpy"),
        ("libsodium", "PyNaCl"),
        ("HarfBuzz", "Qt"),
        ("FreeType", "Qt"),
        ("serde", "pydantic_core"),
        ("pyo3-ffi", "orjson"),
    }
    assert expected <= inside


def test_notices_list_every_component(frozen: Path, parts: list[ThirdPartyWork]) -> None:
    notices = (frozen / "THIRD_PARTY_NOTICES.txt").read_text("utf-8")
    assert [part.work for part in parts[1:] if f"\n{part.work}" not in notices] == []
    assert "may be replaced there by other builds of Qt" in notices


@pytest.mark.thorough
def test_second_listing_is_identical(frozen: Path, parts: list[ThirdPartyWork], tmp_path: Path) -> None:
    """What was added since is the list itself: every file is still some part's."""
    copy = shutil.copytree(frozen, tmp_path / "copy", symlinks=True)
    run_tool("parts.py", str(copy))
    assert read_third_party(copy / BUNDLE / "parts.json") == parts


@pytest.mark.thorough
def test_sbom_lists_the_same_components(bill: dict[str, Any], parts: list[ThirdPartyWork]) -> None:
    listed = [(each["name"], each.get("version", "")) for each in bill["components"]]
    assert sorted(listed) == sorted((part.name, part.version) for part in parts[1:])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    by_name = {each["name"]: each for each in bill["components"]}
    assert by_name["numpy"]["purl"] == f"pkg:pypi/numpy@{by_name['numpy']['version']}"
    assert {"Qt", "OpenBLAS", "CPython"} <= by_name.keys()
    assert all(each["licenses"] for each in bill["components"])


@pytest.mark.thorough
def test_sbom_names_the_frozen_commit(bill: dict[str, Any], frozen: Path) -> None:
    record = json.loads((frozen / BUNDLE / "build.json").read_text("utf-8"))
    own = bill["metadata"]["component"]
    assert (own["name"], own["version"]) == (PROGRAM, record["version"])
    facts = {fact["name"]: fact["value"] for fact in own.get("properties", [])}
    assert facts.get("gpudesk:commit") == record["commit"]
    moment = bill["metadata"]["timestamp"]
    assert moment.startswith((record["committed"] or "1970-01-01T00:00:00Z").removesuffix("Z"))


@pytest.mark.thorough
def test_sbom_is_reproducible(frozen: Path, bill_file: Path, tmp_path: Path) -> None:
    run_tool("sbom.py", str(frozen), str(tmp_path / "another"))
    assert (tmp_path / "another").read_bytes() == bill_file.read_bytes()
