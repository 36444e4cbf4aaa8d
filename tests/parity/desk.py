"""Record the window: pictures and accessible texts of every page, view and dialog, in both themes.

`python -m tests.parity.desk OUT [--tree DIR]`. All is found as someone finds it who uses the window: by
menus, keys, names and roles, and by no class of the program. This runs instead of the program's own loop.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.parity.environment import ROOT, Places, surround

if TYPE_CHECKING:
    from PySide6.QtGui import QAccessibleInterface, QAction
    from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

_SIZE: Final = (1280, 800)
#: How long nothing may happen until something counts as painted, and the longest wait for that.
_QUIET_TURNS, _TURN_S, _LONGEST_S = 6, 0.015, 30.0
#: What a single timer that is to be waited for takes at most; others write files now and then.
_SOON_MS: Final = 600
#: Processor time of a turn of the loop in which nothing was done.
_IDLE_S: Final = 0.004
_THEMES: Final = ("Light", "Dark")
_TEMPLATE: Final = "70b-chat-on-four"
_VIEW: Final = "View: "
_PANEL: Final = "Sources and calculation"
#: What lasts differently long each time.
_ELAPSED: Final = re.compile(r"\bin [0-9.,]+ m?s\b")
#: Which state of the program this is.
_COMMIT: Final = re.compile(r"\b[0-9a-f]{10}, \d{4}-\d\d-\d\d\b")
#: Dialogs that are not opened: of the system, of other programs, and what ends the program.
_LEFT_ALONE: Final = ("Open…", "Save as…", "Save", "Check installation…", "Quit", "Close window")
_OPENED: Final = ("Keyboard shortcuts", "About GPU Desk")
#: Steps down the table of the comparison, at each of which the panel is read.
_ROWS: Final = 60
_SCREENS: Final = 9
#: What stands around the page.
_AROUND: Final = {"Pages", "Steps", "Scenario", "Accelerators", _PANEL}
_MOST_CHILDREN: Final = 4000


def main(arguments: Sequence[str] | None = None) -> int:
    """Record all of the window of a tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tree", type=Path, default=ROOT)
    parser.add_argument("--start", action="store_true", help="the start page, which has no file open")
    options = parser.parse_args(arguments)
    out, tree = options.out.resolve(), options.tree.resolve()
    surround(tree)
    from PySide6.QtWidgets import QApplication

    from gpudesk.cli.main import main as start

    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        places = Places(home=Path(folder, "home"), work=Path(folder), tree=tree)
        os.environ["GPUDESK_HOME"] = str(Path(folder, "home"))
        file = Path(folder, f"{_TEMPLATE}.gpudesk")
        shutil.copyfile(tree / "resources" / "templates" / file.name, file)
        os.utime(file, (0, 0))
        faults: list[BaseException] = []

        def instead(*_: object) -> int:
            try:
                recorder = _Recorder(out, places)
                recorder.record_start() if options.start else recorder.record_everything()
            except BaseException as error:  # noqa: BLE001 - told once the program has ended
                faults.append(error)
            return 0

        QApplication.exec = instead  # type: ignore[method-assign]
        code = start([] if options.start else [str(file)])
        if faults:
            raise faults[0]
        return code


class _Recorder:
    """Goes through a window and writes what it finds."""

    def __init__(self, out: Path, places: Places) -> None:
        """Take the window that was opened."""
        from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow

        self._out, self._places = out, places
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._app = app
        # A cursor that blinks is another picture each time.
        app.setCursorFlashTime(0)
        for question in ("getOpenFileName", "getSaveFileName", "getOpenFileNames"):
            setattr(QFileDialog, question, staticmethod(lambda *_, **__: ("", "")))
        QFileDialog.getExistingDirectory = staticmethod(lambda *_, **__: "")  # type: ignore[method-assign]
        self._window = next(each for each in app.topLevelWidgets() if isinstance(each, QMainWindow))
        self._window.resize(*_SIZE)
        self._window.activateWindow()
        self._settle()

    def record_everything(self) -> None:
        """Record pages and views in both themes, then questions and dialogs."""
        self._write("menus", self._menus())
        for theme in _THEMES:
            self._choose("View", "Theme", theme)
            self._pages(theme.lower())
        self._choose("View", "Theme", _THEMES[0])
        self._panel_of_rows()
        self._dialogs()
        self._questions()
        self._size_of_text()

    # Pages

    def _pages(self, theme: str) -> None:
        for title in self._page_titles():
            self._choose("View", title)
            self._keep(f"{theme}/{title}")
            views = [name for name in self._button_names() if name.startswith(_VIEW)]
            for view in views[1:]:
                self._click(view)
                self._keep(f"{theme}/{title}-{view.removeprefix(_VIEW)}")
            if views:
                self._click(views[0])

    def _page_titles(self) -> list[str]:
        """Return the title of each page, from the menu: those that have a key of one digit."""
        entries = (action.text().partition("\t") for action in self._entries("View"))
        return [text for text, _, key in entries if re.fullmatch(r"Ctrl\+\d", key)]

    def _button_names(self) -> list[str]:
        from PySide6.QtWidgets import QAbstractButton

        buttons = self._window.findChildren(QAbstractButton)
        return [each.accessibleName() for each in buttons if each.isVisible()]

    def _click(self, name: str) -> None:
        """Click the button that is called so."""
        from PySide6.QtWidgets import QAbstractButton

        for each in self._window.findChildren(QAbstractButton):
            if each.isVisible() and name in (each.accessibleName(), each.text()):
                each.click()
                self._settle()
                return
        raise LookupError(f"no button {name!r}")

    def _panel_of_rows(self) -> None:
        """Go down the table of the comparison, and read the panel at each row."""
        from PySide6.QtWidgets import QAbstractItemView

        self._choose("View", "Compare")
        tables = [each for each in self._window.findChildren(QAbstractItemView) if each.isVisible()]
        table = next(each for each in tables if each.accessibleName() == "Comparison")
        model = table.model()
        lines: list[str] = []
        for row in range(min(_ROWS, model.rowCount())):
            column = row % max(1, model.columnCount())
            table.setFocus()
            table.setCurrentIndex(model.index(row, column))
            self._settle()
            lines += [f"--- row {row}, column {column}", *self._panel_texts()]
        self._write("panel-of-rows", lines)
        self._keep("panel-of-last-row")

    def _panel_texts(self) -> list[str]:
        from PySide6.QtWidgets import QWidget

        panels = [
            each for each in self._window.findChildren(QWidget) if each.accessibleName() == _PANEL and each.isVisible()
        ]
        if not panels:
            return ["no panel"]
        # What scrolls is laid out when it is painted.
        panels[0].grab()
        return self._texts(panels[0])

    def _questions(self) -> None:
        """Answer a question on each screen with its second choice, and see what comes of it."""
        self._choose("View", "Decide")
        self._click(next(name for name in self._button_names() if name.startswith("1, ")))
        for screen in range(_SCREENS):
            options = self._options()
            if len(options) > 1:
                options[1].click()
                self._settle()
            self._keep(f"questions/{screen + 1}")
            with contextlib.suppress(LookupError):
                self._click("Next question")
        for view in [name for name in self._button_names() if name.startswith(_VIEW)]:
            self._click(view)
            self._keep(f"questions/{view.removeprefix(_VIEW)}")

    def _options(self) -> list[QAbstractButton]:
        """Return what can be chosen in the page that is shown."""
        from PySide6.QtWidgets import QAbstractButton

        def around(widget: QWidget) -> Iterator[str]:
            while (parent := widget.parentWidget()) is not None:
                widget = parent
                yield widget.accessibleName()

        return [
            each
            for each in self._window.findChildren(QAbstractButton)
            if each.isVisible()
            and each.isCheckable()
            and not each.accessibleName().startswith(_VIEW)
            and _AROUND.isdisjoint(around(each))
        ]

    def _size_of_text(self) -> None:
        self._choose("View", "Text size", "150%")
        for title in self._page_titles():
            self._choose("View", title)
            self._keep(f"large/{title}")
        self._choose("View", "Text size", "100%")

    def record_start(self) -> None:
        """Record the start page in both themes."""
        for theme in _THEMES:
            self._choose("View", "Theme", theme)
            self._keep(f"{theme.lower()}/start")

    # Menus and dialogs

    def _menu(self, title: str) -> QMenu:
        from PySide6.QtWidgets import QMenuBar

        bar = self._window.findChild(QMenuBar)
        assert bar is not None
        menu = next(_menu_of(each) for each in bar.actions() if each.text().replace("&", "") == title)
        assert menu is not None
        menu.aboutToShow.emit()
        return menu

    def _entries(self, title: str) -> list[QAction]:
        return list(self._menu(title).actions())

    def _choose(self, title: str, *path: str) -> None:
        """Choose the entry of a menu."""
        entries = self._entries(title)
        for name in path:
            entry = next(each for each in entries if each.text().partition("\t")[0] == name)
            inner = _menu_of(entry)
            if inner is None:
                entry.trigger()
            else:
                entries = list(inner.actions())
        self._settle()

    def _menus(self) -> list[str]:
        """Return all entries of all menus on each page."""
        from PySide6.QtWidgets import QMenuBar

        lines = []
        for page in self._page_titles():
            self._choose("View", page)
            bar = self._window.findChild(QMenuBar)
            assert bar is not None
            for top in bar.actions():
                title = top.text().replace("&", "")
                lines += [f"{page}: {title}: {each}" for each in _entry_lines(self._menu(title))]
        return lines

    def _dialogs(self) -> None:
        """Open what the menus offer to open, keep it, and close it again."""
        for title in ("File", "Edit", "View", "Scenario", "Catalog", "Help"):
            for text in [each.text() for each in self._entries(title)]:
                name = text.partition("\t")[0]
                opens = name.endswith("…") or name in _OPENED
                if opens and name not in _LEFT_ALONE:
                    self._choose("View", "Compare")
                    entry = next(each for each in self._entries(title) if each.text() == text)
                    if entry.isEnabled():
                        self._dialog(name, entry.trigger)

    def _dialog(self, name: str, open_it: Callable[[], object]) -> None:
        """Keep what opens, whether or not it keeps the loop to itself, and close it."""
        from PySide6.QtCore import QTimer

        before = set(self._list_visible_windows())
        texts: list[str] = []

        def look() -> None:
            timer.stop()
            self._settle()
            for widget in [each for each in self._list_visible_windows() if each not in before]:
                texts.append(name)
                self._keep_widget(f"dialogs/{name.removesuffix('…')}", widget)
                self._shut(widget)

        timer = QTimer()
        timer.timeout.connect(look)
        timer.start(50)
        open_it()
        end = time.monotonic() + _LONGEST_S
        while timer.isActive() and time.monotonic() < end:
            self._app.processEvents()
        self._settle()
        if not texts:
            # Not a window of its own, but something in this one.
            self._keep(f"dialogs/{name.removesuffix('…')}")
            self._press("Esc")
        self._settle()

    def _list_visible_windows(self) -> list[QWidget]:
        return [
            each
            for each in self._app.topLevelWidgets()
            if each.isVisible() and each.metaObject().className() not in ("QTipLabel", "QRubberBand")
        ]

    def _shut(self, widget: QWidget) -> None:
        from PySide6.QtWidgets import QDialog

        if isinstance(widget, QDialog):
            widget.reject()
        else:
            widget.close()
        self._settle()

    # Looking

    def _press(self, key: str) -> None:
        from PySide6.QtGui import QKeySequence
        from PySide6.QtTest import QTest

        self._window.activateWindow()
        focus: QWidget | None = self._window.focusWidget()
        QTest.keySequence(self._window if focus is None else focus, QKeySequence(key))
        self._settle()

    def _settle(self) -> None:
        """Let everything happen that waits for a turn of the loop, until some turns have nothing to do."""
        quiet, end = 0, time.monotonic() + _LONGEST_S
        while quiet < _QUIET_TURNS and time.monotonic() < end:
            began = time.process_time()
            self._app.processEvents()
            time.sleep(_TURN_S)
            idle = time.process_time() - began < _IDLE_S
            quiet = quiet + 1 if idle and not self._is_something_due() else 0

    def _is_something_due(self) -> bool:
        """Whether a thread works, or a timer is about to begin something."""
        from PySide6.QtCore import QThread, QTimer

        for widget in self._app.topLevelWidgets():
            if any(thread.isRunning() for thread in widget.findChildren(QThread)):
                return True
            for timer in widget.findChildren(QTimer):
                if timer.isActive() and timer.isSingleShot() and timer.interval() <= _SOON_MS:
                    return True
        return False

    def _keep(self, name: str) -> None:
        self._keep_widget(name, self._window)

    def _keep_widget(self, name: str, widget: QWidget) -> None:
        """Write the picture and the texts of a window."""
        self._settle()
        self._write(name, self._texts(widget))
        with self._without_changing(widget):
            picture = self._path(name, ".png")
            widget.grab().save(str(picture))

    @contextlib.contextmanager
    def _without_changing(self, widget: QWidget) -> Iterator[None]:
        """Hide labels that say what differs each time: a duration, a folder, the commit."""
        from PySide6.QtWidgets import QLabel

        changed = [
            each for each in widget.findChildren(QLabel) if each.isVisible() and self._plain(each.text()) != each.text()
        ]
        for label in changed:
            label.setVisible(False)
        try:
            yield
        finally:
            for label in changed:
                label.setVisible(True)

    def _texts(self, widget: QWidget) -> list[str]:
        from PySide6.QtGui import QAccessible

        return list(_spoken(QAccessible.queryAccessibleInterface(widget)))

    def _write(self, name: str, lines: Sequence[str]) -> None:
        text = "\n".join(map(self._plain, lines))
        self._path(name, ".txt").write_text(f"{text}\n", encoding="utf-8")

    def _plain(self, text: str) -> str:
        return _COMMIT.sub("<commit>", _ELAPSED.sub("in <time>", self._places.plain(text)))

    def _path(self, name: str, suffix: str) -> Path:
        path = self._out / (re.sub(r"[^\w/.-]+", "-", name.strip()) + suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def _menu_of(entry: QAction) -> QMenu | None:
    """Return the menu that an entry opens; the bindings have no type for it."""
    menu: Any = entry.menu()
    return menu  # type: ignore[no-any-return]


def _entry_lines(menu: QMenu, lead: str = "") -> Iterator[str]:
    for entry in menu.actions():
        state = "" if entry.isEnabled() else " (off)"
        mark = f" [{'x' if entry.isChecked() else ' '}]" if entry.isCheckable() else ""
        yield f"{lead}{entry.text()!r}{mark}{state}"
        inner = _menu_of(entry)
        if inner is not None:
            yield from _entry_lines(inner, f"{lead}   ")


def _spoken(thing: QAccessibleInterface, depth: int = 0) -> Iterator[str]:
    """Yield role, name, value and description of what is shown, and of all that is in it."""
    from PySide6.QtGui import QAccessible

    state = thing.state()
    if _flag(state, "invisible"):
        return
    texts = [thing.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Value, QAccessible.Text.Description)]
    marks = [name for name in ("checked", "disabled", "selected", "expanded") if _flag(state, name)]
    if any(texts) or marks:
        speech = " | ".join(text.replace("\n", " ⏎ ") for text in texts if text)
        yield f"{'  ' * depth}{thing.role().name}: {speech}{' (' + ', '.join(marks) + ')' if marks else ''}"
        depth += 1
    for number in range(min(thing.childCount(), _MOST_CHILDREN)):
        child: QAccessibleInterface | None = thing.child(number)
        if child is not None and child.isValid():
            yield from _spoken(child, depth)


def _flag(state: Any, name: str) -> bool:  # noqa: ANN401 - a C++ bit field
    return bool(getattr(state, name, False))


if __name__ == "__main__":
    sys.exit(main())
