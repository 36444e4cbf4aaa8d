"""The script for Debian's packages: silent when all are there, one clear line when the user must act."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "packaging" / "setup_debian.sh"

pytestmark = pytest.mark.skipif(shutil.which("sh") is None, reason="a shell script")


def run_as_user(folder: Path, query: str, target: str = "run") -> subprocess.CompletedProcess[str]:
    stand_ins = {"dpkg-query": query, "id": "echo 1000", "apt-get": "exit 99"}
    for name, body in stand_ins.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run([SCRIPT, target], env=environment, capture_output=True, text=True, check=False)


def test_installed_packages_need_no_word(tmp_path: Path) -> None:
    completed = run_as_user(tmp_path, "echo installed")
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")


def test_missing_packages_are_named_in_one_line_without_root(tmp_path: Path) -> None:
    completed = run_as_user(tmp_path, "echo not-installed")
    assert completed.returncode == 1
    (line,) = completed.stderr.splitlines()
    assert "sudo apt-get install --no-install-recommends libglib2.0-0" in line
    assert line.endswith("libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0")


@pytest.mark.parametrize("number", ["3.11", "3.13"])
def test_freezing_asks_for_the_library_of_the_python_that_is_there(tmp_path: Path, number: str) -> None:
    others = f"case $4 in python{number}-minimal) echo installed;; *python3.*) ;; *) echo installed;; esac"
    completed = run_as_user(tmp_path, others, "freeze")
    assert completed.stderr.endswith(f"--no-install-recommends libpython{number}\n")
