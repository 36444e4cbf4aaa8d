"""Short texts of the built window: menus, buttons, tabs, column heads and fields of every page and dialog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QDialog,
    QFileDialog,
    QGroupBox,
    QLabel,
    QMenu,
    QTabBar,
    QTableView,
    QWidget,
)

from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.pages.page import DeskPage, MultiViewPage
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.documents.scenario_file import list_templates
from gpudesk.domain.attributes import CatalogSection
from gpudesk.report.labels import shorten_name
from gpudesk.service import GpuDeskService
from tests.words.rules import LONGEST_LABEL, find_faults

#: Commands that open files of the system, change the document, or close the window; views are shown one by one.
_NOT_RUN: Final = ("file.", "edit.", "view.", "help.logs", "help.check", "catalog.undo", "catalog.redo")
_HEAD_WORDS: Final = 3
#: The unit after the name of a column: after a comma, in brackets, or on a line below.
_UNIT: Final = re.compile(r"(,| \(|\n).*$", re.DOTALL)


@pytest.fixture
def window(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    for question in ("getOpenFileName", "getSaveFileName"):
        monkeypatch.setattr(QFileDialog, question, lambda *_args, **_named: ("", ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args, **_named: ([], ""))
    with GpuDeskService.open() as service:
        program = DesktopProgram(qapp, service)
        window = program.open_new_window()
        window.resize(1600, 1000)
        window.open_template("70b-chat-on-four")
        window.panel.toggle()
        settle()
        yield window
        for dialog in list_open_dialogs():
            dialog.close()
        program.end()


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def list_open_dialogs() -> list[QDialog]:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]


def read_labels(widget: QWidget) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each short text that a widget shows."""
    if isinstance(widget, QDialog):
        yield "title", widget.windowTitle()
    for each in widget.findChildren(QWidget):
        if not each.isVisible():
            continue
        if isinstance(each, QCheckBox):
            yield "statement", each.text()
        elif isinstance(each, QAbstractButton):
            yield "button", each.text()
        elif isinstance(each, QTabBar):
            yield from (("tab", each.tabText(number)) for number in range(each.count()))
        elif isinstance(each, QGroupBox):
            yield "group", each.title()
        elif isinstance(each, QLabel) and each.buddy() is not None:
            yield "field", each.text()
        elif isinstance(each, QTableView) and each.horizontalHeader().isVisible():
            model = each.model()
            heads = (model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount()))
            yield from (("head", str(head or "")) for head in heads)


def read_actions(bar: QWidget) -> Iterator[tuple[str, str]]:
    templates = {template.scenario.name for template in list_templates()}
    for menu in bar.findChildren(QMenu):
        menu.aboutToShow.emit()
        yield "menu", menu.title()
        texts = (action.text().partition("\t")[0] for action in menu.actions())
        yield from (("action", text) for text in texts if text not in templates)


def list_views(page: DeskPage | None) -> list[Callable[[], None]]:
    if isinstance(page, MultiViewPage):
        return [partial(page.choose_view, key) for key in page.view_keys]
    if isinstance(page, CatalogPage):
        return [partial(page.show_section, section) for section in CatalogSection]
    return [lambda: None]


def read_dialogs(window: MainWindow, texts: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield place, kind and text of the dialogs that commands open on this page, each command once."""
    for action in window.list_window_actions():
        if action.id in texts or action.id.startswith(_NOT_RUN) or not action.enabled():
            continue
        texts.add(action.id)
        action.run()
        settle()
        for dialog in list_open_dialogs():
            for kind, text in read_labels(dialog):
                yield action.id, kind, text
            dialog.close()
            settle()


def read_window(window: MainWindow) -> Iterator[tuple[str, str, str]]:
    action_ids = {action.id for action in window.list_window_actions() if action.id.startswith("compare.")}
    for spec in window.page_specs:
        window.show_page(spec.id)
        settle()
        page = window.page
        action_ids |= {f"{spec.id}.{key}" for key in page.view_keys} if isinstance(page, MultiViewPage) else set()
        for show in list_views(page):
            show()
            settle()
            for kind, text in (*read_labels(window), *read_actions(window.top)):
                yield spec.id, kind, text
        if isinstance(page, CatalogPage):
            page.show_section(CatalogSection.ACCELERATORS)
            page.view.setCurrentIndex(page.model.index(0, 1))
        yield from read_dialogs(window, action_ids)


def find_label_faults(kind: str, text: str) -> Iterator[str]:
    text = text.replace("&", "").strip()
    if len(text) > LONGEST_LABEL and kind != "statement":
        yield f"{len(text)} characters, at most {LONGEST_LABEL}"
    if kind == "head" and len(_UNIT.sub("", text).split()) > _HEAD_WORDS:
        yield f"more than {_HEAD_WORDS} words and a unit"
    yield from find_faults(text)


def test_labels_of_pages_and_dialogs_are_short_and_plain(window: MainWindow) -> None:
    names = {shorten_name(each.name) for each in window.desk.service.catalog.accelerators()}

    def without_name(text: str) -> str:
        # A product is called as its maker calls it.
        return next((text.replace(name, "H200") for name in names if name in text and name != text), text)

    places = {(kind, without_name(text)): place for place, kind, text in read_window(window) if text not in names}
    assert len(places) > 200
    faults = [f"{places[label]}: {label}: {fault}" for label in places for fault in find_label_faults(*label)]
    assert not faults, "\n".join(faults)
