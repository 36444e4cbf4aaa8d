"""What the wheel holds, and that the program in it finds its own files."""

import os
import sqlite3
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import gpudesk
from gpudesk import paths
from gpudesk.release import read_release

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def run_installed(installed: Path, home: Path, *arguments: str) -> str:
    """Run Python outside the checkout with the unpacked wheel first on the path; return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "GPUDESK_HOME": str(home)}
    command = [sys.executable, *arguments]
    completed = subprocess.run(command, cwd=installed, env=environment, check=True, capture_output=True, text=True)
    return completed.stdout.strip()


def test_wheel_carries_the_whole_package(names: set[str]) -> None:
    modules = {str(file.relative_to(ROOT)) for file in (ROOT / "gpudesk").rglob("*.py")}
    assert modules <= names
    assert "gpudesk/py.typed" in names


def test_wheel_carries_catalog_resources_and_run_time_data_only(names: set[str]) -> None:
    bundled = {name.removeprefix("gpudesk/_bundled/") for name in names if name.startswith("gpudesk/_bundled/")}
    resources = {str(file.relative_to(ROOT)) for file in (ROOT / "resources").rglob("*") if file.is_file()}
    # Of the translations the program reads what is compiled from them.
    translations = {name for name in resources if name.startswith("resources/translations/")}
    compiled = {str(Path(name).with_suffix(".mo")) for name in translations if name.endswith(".po")}
    folders = {
        str(file.relative_to(ROOT))
        for folder in ("measurements", "model_architectures", "rules", "software_support")
        for file in (ROOT / "data" / folder).rglob("*")
        if file.is_file()
    }
    # What fits say of runs that they have not seen; a checkout can be without.
    held_out = {"data/accuracy/held-out.csv"} if paths.find_held_out_path() else set()
    built_files = {"SHA256SUMS", "build.json", "catalog.sqlite"}
    read = {f"data/{file}" for file in ("calibration.json", "cost_assumptions.toml", "launch.toml")}
    read |= {
        f"data/{file}"
        for file in (
            "calculations.toml",
            "diffusion_constants.toml",
            "export_rules.toml",
            "plausibility.toml",
            "price_names.toml",
            "profile.toml",
            "references.toml",
            "worked_examples.csv",
        )
    }
    assert bundled == {*built_files, *read, *held_out, *folders, *(resources - translations), *compiled}


def test_wheel_has_only_the_package(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert tops == {"gpudesk", f"gpudesk-{gpudesk.__version__}.dist-info"}


def test_wheel_states_version_license_and_commands(wheel: Path) -> None:
    info = f"gpudesk-{gpudesk.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = message_from_bytes(archive.read(f"{info}/METADATA"))
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
    assert metadata["Version"] == gpudesk.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE", "THIRD_PARTY_NOTICES.md"]
    assert "[console_scripts]\ngpudesk = gpudesk.cli.main:main" in entry_points
    assert "[gui_scripts]\ngpudesk-gui = gpudesk.cli.main:gui_main" in entry_points


def test_bundled_catalog_is_a_sound_database(installed: Path) -> None:
    file = installed / "gpudesk" / "_bundled" / "catalog.sqlite"
    connection = sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()[0]
    connection.close()
    assert tables > 0


def test_installed_program_finds_its_own_files(installed: Path, tmp_path: Path) -> None:
    code = (
        "from gpudesk import paths\n"
        "print(paths.get_catalog_path(), sep='\\n')\n"
        "print(paths.get_data_path('calibration.json'), paths.get_data_path('measurements'), sep='\\n')\n"
        "print(paths.get_translations_dir(), paths.find_held_out_path(), paths.data_dir(), sep='\\n')"
    )
    bundle = installed / "gpudesk" / "_bundled"
    expected = [
        bundle / "catalog.sqlite",
        bundle / "data" / "calibration.json",
        bundle / "data" / "measurements",
        bundle / "resources/translations",
        bundle / "data/accuracy/held-out.csv" if paths.find_held_out_path() else None,
    ]
    assert run_installed(installed, tmp_path, "-c", code).splitlines() == [*map(str, expected), "None"]


def test_installed_program_knows_the_commit_that_it_was_built_from(installed: Path, tmp_path: Path) -> None:
    code = (
        "from gpudesk.release import find_installation, get_release; print(find_installation(), get_release().record())"
    )
    # Asked in the same way, since this checkout may have changes, or no history.
    built_from = read_release(ROOT, patience_s=60.0)
    assert run_installed(installed, tmp_path, "-c", code) == f"package {built_from.record()}"


def test_installed_program_prints_its_version(installed: Path, tmp_path: Path) -> None:
    assert gpudesk.__version__ in run_installed(installed, tmp_path, "-m", "gpudesk", "--version")
