"""What a report says beside the trace: which program, on what, showing what; nothing of the scenario.

A trace quotes the message of its error, which may hold a value: so a report is shown before it is copied, and
goes nowhere by itself. It is for those who look into it and stays in English.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import PySide6
from PySide6.QtCore import QLocale, QSysInfo, qVersion
from PySide6.QtGui import QGuiApplication

from gpudesk import __version__, paths
from gpudesk.release import Release, installation, release

if TYPE_CHECKING:
    from gpudesk.desktop.app import Program
    from gpudesk.desktop.main_window import MainWindow

#: What a report says, and of what.
Fact = tuple[str, str]

_BEGUN = time.monotonic()


def program_facts(*, ask_git: bool = False) -> list[Fact]:
    """Return which program this is and what it runs on; a checkout knows its commit from git alone."""
    # Asking git takes longer than a start may.
    known = release() if ask_git or paths.build_record_path() is not None else Release(__version__)
    kernel = f"{QSysInfo.kernelType()} {QSysInfo.kernelVersion()}"
    commit = f" ({known.short_commit})" if known.short_commit else ""
    return [
        ("GPU Desk", f"{known.version}{commit}, {installation()}"),
        ("Python", platform.python_version()),
        ("Qt", f"{qVersion()}, PySide6 {PySide6.__version__}"),
        ("System", f"{QSysInfo.prettyProductName()}, {kernel}, {QSysInfo.currentCpuArchitecture()}"),
    ]


def session_facts(program: Program | None) -> list[Fact]:
    """Return what is open and how it is shown."""
    facts = [("Running for", f"{time.monotonic() - _BEGUN:.0f} s")]
    if isinstance(QGuiApplication.instance(), QGuiApplication):
        facts.append(("Screens", f"{_screens()}; {QGuiApplication.platformName()}"))
    if program is None:
        return [*facts, ("Page", "none, while starting")]
    catalog, theme = program.workbench.catalog, program.theme
    window = program.active_window()
    page = "none" if window is None else _page(window)
    shade = "dark" if theme.dark else "light"
    return [
        ("Catalog", f"{catalog.data_date}, shipped revision {catalog.shipped_revision}"),
        *facts,
        ("Theme", f"{theme.preference} ({shade}), text at {theme.font_percent} %, {QLocale().name()}"),
        ("Page", f"{page}; windows open: {len(program.windows)}"),
    ]


def report_text(facts: Iterable[Fact], trace: str, lines: Sequence[str]) -> str:
    """Return a report: facts, trace, the last lines of the log; the user's home folder is not told."""
    text = "\n".join(f"{name}: {value}" for name, value in facts)
    text += f"\n\n{trace.rstrip()}\n"
    if lines:
        text += "\nLast lines of the log\n" + "\n".join(lines) + "\n"
    return masked(text.lstrip())


def masked(text: str, home: Path | None = None) -> str:
    """Put `~` in the place of the home folder, in every way in which it may be written."""
    folder = home or paths.home_dir()
    for path in {str(folder), str(folder.resolve())}:
        if len(path) < 2 or path == folder.anchor:
            continue
        # Windows takes both strokes, and the text of a Python string doubles one of them.
        parts = [re.escape(part) for part in re.split(r"[\\/]", path)]
        text = re.sub(r"(?:/|\\{1,2})".join(parts) + r"(?!\w)", "~", text, flags=re.IGNORECASE)
    return text


def _page(window: MainWindow) -> str:
    return next((spec.id for spec in window.page_specs if window.is_page(spec.id)), "start")


def _screens() -> str:
    said = []
    for screen in QGuiApplication.screens():
        size = screen.size()
        said.append(f"{size.width()} x {size.height()} at {screen.devicePixelRatio():g}")
    return ", ".join(said) or "none"
