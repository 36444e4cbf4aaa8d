"""Freezes GPU Desk into a folder that runs where no Python is: build/packages/frozen/gpudesk.

    freeze.py

Works alike on Linux, macOS and Windows, with Python 3.11 to 3.13 and what `pip` reaches. It builds the wheel
in an environment of its own from the locked versions, so that what is on the machine besides does not get in,
installs it there, and lets PyInstaller collect it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "packaging"
BUILD = ROOT / "build" / "packages"
LOCK = SCRIPTS / "requirements.lock"
TREE = BUILD / "frozen" / "gpudesk"
NOTICES = "THIRD_PARTY_NOTICES.txt"
_QUIET = ("--quiet", "--disable-pip-version-check")


def main() -> int:
    """Freeze, and report the result."""
    BUILD.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(commit_time()), "PYTHONHASHSEED": "0"}
    python = make_environment(BUILD / "venv")
    install_wheel(python, environment)
    icons = BUILD / "icons"
    run(python, SCRIPTS / "make_icons.py", icons, environment={**environment, "QT_QPA_PLATFORM": "offscreen"})
    environment["GPUDESK_ICONS"] = str(icons)
    collect(python, environment)
    if sys.platform == "linux":
        slim()
    add_records(python, environment)
    if sys.platform == "darwin":
        make_application(python, environment)
    size = sum(path.lstat().st_size for path in TREE.rglob("*") if not path.is_symlink())
    print(f"{TREE.relative_to(ROOT)}: {size / 1e6:.0f} MB")
    return 0


def commit_time() -> int:
    """Return the time of the frozen commit in Unix seconds; 1980 outside of a repository.

    It is the time of all files in a package, so that the same commit makes the same package.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch:
        return int(epoch)
    try:
        completed = subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        # The earliest time that a zip file can store.
        return 315_532_800
    return int(completed.stdout)


def make_environment(folder: Path) -> Path:
    """Return the interpreter of an environment with the locked versions, recreated when those change."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = folder / "lock.sha256"
    digest = sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == digest:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    run(Path(sys.executable), "-m", "venv", "--without-pip", folder)
    install(python, "--require-hashes", "-r", LOCK)
    stamp.write_text(digest)
    return python


def install(python: Path, *what: str | os.PathLike[str]) -> None:
    """Install into an environment without compiling, which takes longer than compiling on import."""
    run(Path(sys.executable), "-m", "pip", "--python", python, "install", "--no-compile", *_QUIET, *what)


def install_wheel(python: Path, environment: Mapping[str, str]) -> None:
    """Build the wheel and install it, so that the frozen program equals what others install."""
    folder = BUILD / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    run(
        python,
        *("-m", "build", "--quiet", "--wheel", "--no-isolation", "--outdir", folder, ROOT),
        environment=environment,
    )
    (wheel,) = folder.glob("*.whl")
    install(python, "--no-deps", "--force-reinstall", wheel)


def collect(python: Path, environment: Mapping[str, str]) -> None:
    """Let PyInstaller make the folder."""
    run(
        python,
        *("-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR"),
        *("--distpath", TREE.parent, "--workpath", BUILD / "work"),
        SCRIPTS / "gpudesk.spec",
        environment=environment,
    )


def add_records(python: Path, environment: Mapping[str, str]) -> None:
    """Add the lists of components, of licenses, and of files to the folder."""
    run(python, SCRIPTS / "inventory/parts.py", TREE, environment=environment)
    run(python, SCRIPTS / "bundle_manifest.py", TREE / "_internal/gpudesk/_bundled", environment=environment)


def make_application(python: Path, environment: Mapping[str, str]) -> None:
    """Collect again, with the records among the application's data.

    An application is signed when it is made, and later additions would break the signature.
    """
    bundle = BUILD / "bundle"
    shutil.rmtree(bundle, ignore_errors=True)
    shutil.copytree(TREE / "_internal/gpudesk/_bundled", bundle)
    notices = (TREE / NOTICES).read_bytes()
    collect(python, {**environment, "GPUDESK_BUNDLE": str(bundle)})
    (TREE / NOTICES).write_bytes(notices)


def slim() -> None:
    """Remove debug symbols, links to libraries, and paths of this machine.

    Libraries find each other without the links, and removable drives cannot store them. Only Python's own library is
    stripped: the others already are, and stripping breaks NumPy's OpenBLAS. Python can contain the path of its library
    from compile time; elsewhere that folder could belong to anyone.
    """
    for path in list(TREE.rglob("*")):
        if path.is_symlink():
            path.unlink()
    for library in TREE.glob("_internal/libpython3*.so*"):
        run(Path("strip"), "--strip-unneeded", library)
        run(Path("patchelf"), "--remove-rpath", library)
    for module in TREE.glob("_internal/python3*/lib-dynload/*.so"):
        run(Path("patchelf"), "--remove-rpath", module)


def run(program: Path, *arguments: str | os.PathLike[str], environment: Mapping[str, str] | None = None) -> None:
    """Run a program of the build; a failure ends the build with its status."""
    command = [str(program), *map(str, arguments)]
    # Not in the checkout, where Python would find the source tree before the installation.
    ended = subprocess.run(command, cwd=BUILD, env=environment, check=False)
    if ended.returncode != 0:
        print(f"failed with status {ended.returncode}: {' '.join(command)}", file=sys.stderr)
        raise SystemExit(ended.returncode)


if __name__ == "__main__":
    sys.exit(main())
