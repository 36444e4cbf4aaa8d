"""The list of what a bundle holds: in the wheel, and made again for a folder that got more."""

import subprocess
import sys
from pathlib import Path

from gpudesk.bundle_manifest import compare_bundle, list_missing_program_files

ROOT = Path(__file__).parents[2]


def test_wheel_lists_exactly_what_its_bundle_holds(installed: Path) -> None:
    differences = compare_bundle(installed / "gpudesk" / "_bundled")
    assert (differences.changed, differences.missing, differences.added) == ((), (), ())
    assert differences.unharmed > 100


def make_list(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "packaging" / "bundle_manifest.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_folder_is_listed_as_it_is_then(tmp_path: Path) -> None:
    (tmp_path / "licenses").mkdir()
    (tmp_path / "licenses" / "MIT.txt").write_text("free")
    (tmp_path / "parts.json").write_text("{}")
    (tmp_path / "SHA256SUMS").write_text("of yesterday")
    assert make_list(str(tmp_path)).returncode == 0
    assert compare_bundle(tmp_path).unharmed == 2
    # A person without a GPU Desk that runs can look as well.
    checked = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, check=True)
    assert checked.stdout == b"licenses/MIT.txt: OK\nparts.json: OK\n"


def test_missing_folder_is_an_error_with_the_usage(tmp_path: Path) -> None:
    completed = make_list(str(tmp_path / "nowhere"))
    assert completed.returncode == 2
    assert "bundle_manifest.py FOLDER" in completed.stderr


def test_frozen_program_checks_files_around_its_bundle(tmp_path: Path) -> None:
    program = tmp_path / "_internal"
    bundle = program / "gpudesk" / "_bundled"
    bundle.mkdir(parents=True)
    (program / "numpy").mkdir()
    for name in ("libpython.so", "numpy/linear.so", "gpudesk/_bundled/catalog.sqlite"):
        (program / name).write_text("some")
    assert make_list(str(bundle)).returncode == 0
    assert list_missing_program_files(bundle) == ()
    # Signed: another content under the same name.
    (program / "libpython.so").write_text("other")
    (program / "numpy" / "linear.so").unlink()
    (bundle / "catalog.sqlite").unlink()
    assert list_missing_program_files(bundle) == ("numpy/linear.so",)
    assert compare_bundle(bundle).missing == ("catalog.sqlite",)
