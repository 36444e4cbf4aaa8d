"""Actions shared by tests of the whole program: move the load, read it from a file, list recovery files."""

from pathlib import Path

from gpudesk.desktop.session.scenario_edits import read_load_value
from gpudesk.documents.scenario_file import read_scenario
from tests.e2e.window_user import User


def load(user: User) -> float:
    return read_load_value(user.window.desk.scenario.workload.load)


def load_in(path: Path) -> int | None:
    return read_scenario(path).workload.load.concurrency


def move_load(user: User) -> float:
    """Edit the scenario by the keyboard; return the new load."""
    before = load(user)
    user.window.scenario.load.slider.setFocus()
    user.press("Right")
    assert load(user) > before
    assert user.window.isWindowModified()
    return load(user)


def list_recovery_files(home: Path) -> list[Path]:
    return list((home / "recovery").glob("*.recovery"))
