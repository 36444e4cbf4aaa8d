"""Uses the program as someone does who hears its window: finds things by role and name, presses, listens.

Runs in an X session of its own, with the system's Python, which has the AT-SPI library:

    dbus-run-session -- /usr/bin/python3 screen_reader.py PLAN FILE COMMAND …

starts the command, does what the plan of that name says, and writes what it met into the file as JSON.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyatspi  # type: ignore[import-not-found]
from gi.repository import Atspi, Gio, GLib  # type: ignore[import-not-found]

_PATIENCE_S = 30.0
_RETURN, _ESCAPE = 0xFF0D, 0xFF1B


class NotThereError(LookupError):
    """Something was not found in time; the text says what was there instead."""


class Reader:
    """Reads the windows of one program."""

    def __init__(self, program: subprocess.Popen[bytes]) -> None:
        """Wait until the program shows a window."""
        self._program = program
        self.application: Any = None
        self.application = self._wait(self._find_application, "a window")

    def _find_application(self) -> Any:  # noqa: ANN401 - the library has no types
        if self._program.poll() is not None:
            raise NotThereError(f"the program ended by itself with status {self._program.returncode}")
        desktop = pyatspi.Registry.getDesktop(0)
        for number in range(desktop.childCount):
            application = desktop.getChildAtIndex(number)
            if application is not None and application.get_process_id() == self._program.pid:
                windows = [application.getChildAtIndex(n) for n in range(application.childCount)]
                return application if any(_shows(window) for window in windows if window) else None
        return None

    def _wait(self, look: Callable[[], Any], what: str) -> Any:  # noqa: ANN401
        """Look until something is there. The library waits 0.8 s for a reply; a busy machine takes longer."""
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            match = self._unless_late(look)
            if match:
                return match
            time.sleep(0.05)
        raise NotThereError(f"no {what}; available: {self.names()}")

    def _unless_late(self, look: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Return what is seen, None if no reply came in time; raises where the program has ended."""
        try:
            return look()
        except GLib.GError as error:
            if self._program.poll() is not None:
                raise
            sys.stderr.write(f"no reply in time: {error}\n")
            return None

    # Finding

    def everything(self) -> Iterator[Any]:
        """Yield all that is shown, each thing after what it is in."""
        for window in self._windows():
            yield window
            visited = {window}
            for each in _list_matches(window):
                if each.parent in visited:
                    visited.add(each)
                    yield each

    def names(self) -> list[str]:
        if self.application is None:
            return []
        return [f"{each.getRoleName()} {each.name!r}" for each in self.everything() if each.name]

    def named(self, role: str, start: str) -> Iterator[Any]:
        """Yield what is shown of that role and name."""
        for window in self._windows():
            own = [window] if window.getRoleName() == role else []
            for each in (*own, *_list_matches(window, role)):
                if each.name.startswith(start) and self._is_in_sight(each):
                    yield each

    def _is_in_sight(self, node: Any) -> bool:  # noqa: ANN401
        """Whether all is shown that something is in: cells of a hidden table do not know that it is."""
        while node is not None and node != self.application:
            if not _shows(node):
                return False
            node = node.parent
        return node is not None

    def find(self, role: str, start: str) -> Any:  # noqa: ANN401
        return self._wait(lambda: next(self.named(role, start), None), f"{role} {start!r}")

    def changed(self, role: str, start: str, before: str) -> str:
        """Wait until something that began like this is called otherwise than before; return its name."""

        def look() -> str:
            return next((each.name for each in self.named(role, start) if each.name != before), "")

        return str(self._wait(look, f"other {role} than {before!r}"))

    def opened(self, title: str) -> None:
        self._wait(lambda: any(each.startswith(title) for each in self._titles()), f"window {title!r}")

    def closed(self, title: str) -> None:
        """Wait until no such window is left."""
        self._wait(lambda: not any(each.startswith(title) for each in self._titles()), f"end of {title!r}")

    def _titles(self) -> list[str]:
        return [window.name for window in self._windows()]

    def _windows(self) -> list[Any]:
        windows = (self.application.getChildAtIndex(n) for n in range(self.application.childCount))
        return [window for window in windows if window is not None and _shows(window)]

    # Acting

    def press(self, role: str, start: str) -> None:
        _press(self.find(role, start))

    def write(self, role: str, start: str, text: str) -> None:
        self.find(role, start).queryEditableText().setTextContents(text)

    def key(self, symbol: int) -> None:
        pyatspi.Registry.generateKeyboardEvent(symbol, None, pyatspi.KEY_SYM)

    def command(self, start: str) -> None:
        self.press("push button", "Search or run a command")
        self.write("text", "Search or run a command", start)
        self.find("list item", start)
        self.key(_RETURN)

    def choose_file(self, dialog: str, path: Path) -> None:
        self.opened(dialog)
        self.write("text", "File name:", str(path))
        self.key(_RETURN)
        self.closed(dialog)

    def leave(self, dialog: str) -> None:
        self.opened(dialog)
        self.key(_ESCAPE)
        self.closed(dialog)

    def choices(self, role: str, start: str) -> list[str]:
        return [each.name for each in _list_matches(self.find(role, start), "check box")]

    def views(self) -> list[str]:
        """Return the names of the tabs of the page's views, which stand side by side."""
        first = next(self.named("check box", "View: "), None)
        return [] if first is None else [each.name for each in _list_matches(first.parent, "check box")]

    def choose(self, name: str) -> None:
        """Choose a page or a view, and wait until it is the one that is shown."""
        tab = self.find("check box", name)
        _press(tab)
        self._wait(lambda: tab.getState().contains(pyatspi.STATE_CHECKED), f"choice {name}")

    def controls(self) -> list[dict[str, object]]:
        """Describe everything; again where something goes meanwhile."""
        return list(self._wait(lambda: [_describe(each) for each in self.everything()], "controls"))

    def controls_with(self, role: str, start: str) -> list[dict[str, object]]:
        """Wait until one of that role and name is among the controls; return all."""
        self.find(role, start)
        return self.controls()


def _describe(control: Any) -> dict[str, object]:  # noqa: ANN401
    state = control.getState()
    return {
        "role": control.getRoleName(),
        "name": control.name,
        "description": control.description,
        # What is disabled does not take the focus.
        "focusable": state.contains(pyatspi.STATE_FOCUSABLE) and state.contains(pyatspi.STATE_ENABLED),
    }


def _press(control: Any) -> None:  # noqa: ANN401
    action = control.queryAction()
    offered = [action.getName(number) for number in range(action.nActions)]
    press_action = next((name for name in ("Press", "Toggle", "press", "toggle") if name in offered), None)
    if press_action is None:
        raise NotThereError(f"{control.name!r} can only be asked to {offered}")
    action.doAction(offered.index(press_action))


def _list_matches(inside: Any, role: str = "") -> list[Any]:  # noqa: ANN401
    """Return what in something says that it is shown, all or that of one role, in one question to the program."""
    state_set = Atspi.StateSet.new([Atspi.StateType.SHOWING])
    roles = [getattr(pyatspi, f"ROLE_{role.upper().replace(' ', '_')}")] if role else []
    every, one = Atspi.CollectionMatchType.ALL, Atspi.CollectionMatchType.ANY
    rule = Atspi.MatchRule.new(state_set, every, {}, every, roles, one if role else every, [], every, False)
    return list(Atspi.Collection.get_matches(inside, rule, Atspi.CollectionSortOrder.CANONICAL, 0, True))


def _shows(node: Any) -> bool:  # noqa: ANN401
    return bool(node.getState().contains(pyatspi.STATE_SHOWING))


# Plans


#: How lines of the panel begin for the throughput that leads.
_PANEL = ("Output throughput, B200 SXM × 1; ", "Limiting factor")

#: Pages with what is on each of their views: role and beginning of the name.
_PAGES: dict[str, dict[str, tuple[str, str]]] = {
    "Compare": {"": ("table", "Comparison")},
    "Performance": {
        "Overview": ("chart", "Output throughput"),
        "Pareto": ("chart", "Throughput vs. interactivity"),
        "Latency": ("chart", "Time per output token"),
        "Roofline": ("chart", "Roofline"),
        "Prefill and decode": ("chart", ""),
        "Scaling": ("chart", ""),
        "MLPerf": ("filler", "MLPerf comparison"),
        "Throughput": ("chart", "Output throughput"),
    },
    "Memory and fit": {
        "Current fit": ("list item", "MI325X × 1: Fits"),
        "KV cache by context": ("chart", "Max concurrency"),
        "Minimum to fit": ("table cell", "One request of 5,000 tokens. MI325X with FP8 weights"),
        "All models": ("table", "Smallest deployment per model"),
        "Size for demand": ("push button", ""),
    },
    "Cost": {
        "Overview": ("chart", "Cost per million output tokens"),
        "Per token": ("chart", "Cost vs. interactivity"),
        "Rent or buy": ("table", "Break-even points"),
        "Monte Carlo": ("table", "100,000 simulations"),
        "Assumptions": ("text", "Purchase price, H200 SXM, low"),
    },
    "Decide": {
        "Questions": ("radio button", "ROCm, AMD in production"),
        "Recommendation": ("table", "Key figures"),
        "Answer sets": ("push button", ""),
        "Factors": ("table", "Factors"),
        "Buy or wait": ("text", "Launch in"),
        "Two vendors": ("table", "Plans"),
        "Export and terms": ("table", "Scores and limits by rule"),
        "References": ("label", "Software on ROCm"),
    },
}


def _change_load(reader: Reader) -> dict[str, str]:
    """Move the slider and take that back; return what is heard of both."""
    cell = ("table cell", "Output throughput, MI325X")
    before = reader.find(*cell).name
    slider = reader.find("slider", "Concurrency").queryValue()
    slider.currentValue = slider.currentValue + (slider.maximumValue - slider.minimumValue) / 4
    after = reader.changed(*cell, before)
    moved = reader.find("slider", "Concurrency").name
    reader.press("push button", "Undo")
    return {"before": before, "after": after, "undone": reader.changed(*cell, after), "slider": moved}


def _walk_pages(reader: Reader) -> dict[str, object]:
    """Open every view of every page by its tab; return what those of `_PAGES` show."""
    report: dict[str, object] = {}
    for page in reader.choices("filler", "Pages"):
        reader.choose(page)
        for tab in reader.views() or [""]:
            if tab:
                reader.choose(tab)
            view = tab.removeprefix("View: ")
            steps = _PAGES.get(page, {}).get(view)
            report[f"{page}/{view}"] = reader.controls_with(*steps) if steps else []
    return report


def start_page(reader: Reader) -> dict[str, object]:
    report: dict[str, object] = {"start": reader.controls()}
    reader.press("push button", "Open sample")
    report["cell"] = reader.find("table cell", "Output throughput, MI325X").name
    reader.press("push button", "Search or run a command")
    reader.find("text", "Search or run a command")
    report["commands"] = reader.controls()
    return report


#: Commands, as they begin, with the dialog that each opens.
_DIALOGS = {
    "About": "About GPU Desk",
    "Keyboard shortcuts": "Keyboard shortcuts",
    "More settings": "More settings",
    "New accelerator": "Add accelerator",
    "New system": "Add system",
    "New price": "Add price",
    "Export a catalog table": "Export table",
    "Show launch commands": "Launch commands",
    "Checked claims": "Checked claims",
    "Age limits": "Age limits",
    "Backups of your values": "Backups of your values",
    "Open…": "Open scenario",
}


def whole_program(reader: Reader) -> dict[str, object]:
    """Do the main job, visit every page, save the scenario and the sheet, bring a file in.

    The files are those of the user's folder. What the machine's network says to an attempt is told as well,
    and where on it the desktop's own services are.
    """
    folder = Path(os.environ["GPUDESK_HOME"])
    reader.find("table cell", "Output throughput, MI325X")
    report: dict[str, object] = {"first": reader.controls(), "load": _change_load(reader)}
    reader.press("push button", "Output throughput")
    report["panel"] = [reader.find("table cell", start).name for start in _PANEL]
    report["pages"] = _walk_pages(reader)
    reader.choose("Compare")
    for command, dialog in _DIALOGS.items():
        reader.command(command)
        reader.leave(dialog)
    reader.command("Theme: Dark")
    reader.command("Import models")
    reader.choose_file("Import", folder / "config.json")
    reader.write("text", "Name, required", "Brought in")
    reader.write("text", "Source, required", "Measured here")
    reader.press("push button", "Add model")
    reader.closed("Import config.json")
    reader.command("Save as")
    reader.choose_file("Save scenario", folder / "saved.gpudesk")
    reader.command("Print or save")
    reader.find("dialog", "Comparison sheet")
    reader.find("push button", "Save PDF")
    report["sheet"] = reader.controls()
    reader.press("push button", "Save PDF")
    reader.choose_file("Save sheet", folder / "sheet.pdf")
    reader.find("label", "Saved: ")
    reader.leave("Comparison sheet")
    return {**report, "network": _network(), "services": _services()}


def _network() -> dict[str, str]:
    report = {}
    for address in ("127.0.0.1", "192.0.2.1"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as reaching:
            report[address] = errno.errorcode.get(reaching.connect_ex((address, 9)), "reached")
    return report


def _services() -> dict[str, str]:
    session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    names = ("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
    answer = session.call_sync(*names, None, None, Gio.DBusCallFlags.NONE, 10_000, None)
    return {"session": os.environ["DBUS_SESSION_BUS_ADDRESS"], "accessibility": answer.unpack()[0]}


_PLANS: dict[str, Callable[[Reader], dict[str, object]]] = {"start": start_page, "whole-program": whole_program}


def _announce_a_screen_reader() -> None:
    """Say on the session bus that someone listens; programs speak only then."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    for key in ("IsEnabled", "ScreenReaderEnabled"):
        value = GLib.Variant("(ssv)", ("org.a11y.Status", key, GLib.Variant("b", True)))
        bus.call_sync(
            "org.a11y.Bus",
            "/org/a11y/bus",
            "org.freedesktop.DBus.Properties",
            "Set",
            value,
            None,
            Gio.DBusCallFlags.NONE,
            10_000,
            None,
        )


def main(plan: str, file: str, command: list[str]) -> None:
    _announce_a_screen_reader()
    environment = {**os.environ, "QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
    program = subprocess.Popen(command, env=environment, stdout=sys.stderr)
    try:
        report = _PLANS[plan](Reader(program))
    finally:
        program.terminate()
        program.wait(timeout=20)
    Path(file).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
