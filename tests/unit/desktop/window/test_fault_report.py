"""Contents of an error report, and what it leaves out."""

from pathlib import Path, PureWindowsPath
from typing import cast

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk import __version__
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.faults.crash import collect_program_facts, collect_session_facts, format_report, mask_home
from gpudesk.service import GpuDeskService


def test_program_facts_name_version_and_platform() -> None:
    facts = dict(collect_program_facts())
    assert facts["GPU Desk"].startswith(f"{__version__}, ")
    assert set(facts) == {"GPU Desk", "Python", "Qt", "System"}
    assert all(facts.values())


def test_startup_does_not_run_git(monkeypatch: pytest.MonkeyPatch) -> None:
    def get_release() -> None:
        raise AssertionError("git was run")

    monkeypatch.setattr("gpudesk.desktop.window.faults.crash.get_release", get_release)
    assert collect_program_facts()
    with pytest.raises(AssertionError):
        collect_program_facts(ask_git=True)


def test_session_facts_contain_no_scenario_data(qapp: QApplication, service: GpuDeskService, theme: Theme) -> None:
    program = DesktopProgram(qapp, service)
    window = program.open_new_window()
    window.open_template("70b-chat-on-four")
    facts = dict(collect_session_facts(program))
    text = " ".join(facts.values())
    program.end()
    assert facts["Page"] == "compare; windows open: 1"
    assert facts["Catalog"].startswith(service.catalog.data_date)
    assert "text at 100%" in facts["Theme"]
    assert "offscreen" in facts["Screens"]
    assert "llama" not in text.lower()
    assert "h200" not in text.lower()


def test_session_facts_during_startup(qapp: QApplication) -> None:
    assert dict(collect_session_facts(None))["Page"] == "none, while starting"


def test_report_has_facts_trace_and_log_lines() -> None:
    text = format_report([("A", "1"), ("B", "2")], "trace\n", ["line 1", "line 2"])
    assert text == "A: 1\nB: 2\n\ntrace\n\nLast lines of the log\nline 1\nline 2\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/anna/x.gpudesk: no", "~/x.gpudesk: no"),
        ("in /home/anna.", "in ~."),
        ("/home/annabel/x", "/home/annabel/x"),
        ("'/home/anna'", "'~'"),
        ("/srv/home/anna", "/srv~"),
    ],
)
def test_home_folder_is_masked(text: str, expected: str) -> None:
    assert mask_home(text, Path("/home/anna")) == expected


@pytest.mark.parametrize(
    "text",
    [
        r"C:\Users\Anna\x.gpudesk",
        r"c:\users\anna\x.gpudesk",
        "C:/Users/Anna/x.gpudesk",
        r"'C:\\Users\\Anna\\x.gpudesk'",
    ],
)
def test_windows_home_folder_is_masked_in_any_spelling(text: str) -> None:
    class Home(PureWindowsPath):
        def resolve(self) -> PureWindowsPath:
            return self

    assert "anna" not in mask_home(text, cast("Path", Home(r"C:\Users\Anna"))).lower()


def test_root_as_home_masks_nothing() -> None:
    assert mask_home("/etc/x", Path("/")) == "/etc/x"
