"""Every page and view in German and in the longer pseudo-language: all texts are translated and fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QPoint, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QTableView,
    QToolTip,
    QWidget,
)

from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.pages.page import DeskPage, MultiViewPage
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.selection import select_catalog_entry, select_figure
from gpudesk.desktop.ui.charts.bar_chart import BarChart
from gpudesk.desktop.ui.tables.table_base import RowsView
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme_painter import TextPainter, ThemePainter
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.service import GpuDeskService
from gpudesk.text.translation import PSEUDO, get_language, set_language

_SIZE: Final = (1280, 800)
_TURNS: Final = 6
#: White space, and places where a long word may be broken.
_WHITE: Final = re.compile(r"[\s\u200b\u2028\u2060]+")
#: Rows of a table that may be visible.
_ROWS: Final = 60
#: A word in Latin letters; of the vowels, the pseudo-language leaves only a capital Y as it is.
_WORD: Final = re.compile(r"[A-Za-z]{3,}")
_CUT_WORD: Final = re.compile(r"([A-Za-z]+)…$")
_ACCENTED: Final = re.compile("[ÀÉÎÖÛåéîöû⟦⟧]")
#: Words that no language translates: units, number formats, plans, and names of techniques and engines.
_NAMES: Final = """
    BF FLOPS FP GiB INT KiB MFMA MiB MLPerf MXFP NVFP TFLOPS TOPS USD TTFT TPOT kWh tok
    Blackwell CDNA Hopper CUDA ROCm vLLM SGLang TensorRT LLM TGI Offline GPU Desk English Deutsch matrix
"""


@dataclass
class VisibleTexts:
    """Texts of all views; clipped and cut ones with the key of their view."""

    texts: set[str] = field(default_factory=set)
    clipped: list[str] = field(default_factory=list)
    #: Texts that the program's painters or a table's head elided, without a tool tip that has the whole.
    cut: set[str] = field(default_factory=set)


def _watch_painted(patch: pytest.MonkeyPatch) -> set[str]:
    """Return the set of texts that the program's own painters draw, which grows as they paint."""
    texts: set[str] = set()

    def watch(owner: type, name: str, position: int) -> None:
        paint = getattr(owner, name)

        def paint_and_record(self: object, *arguments: object, **keywords: object) -> object:
            texts.add(str(arguments[position]))
            return paint(self, *arguments, **keywords)

        patch.setattr(owner, name, paint_and_record)

    watch(ThemePainter, "text", 1)
    watch(TextCache, "get_text_layout", 1)
    watch(TextPainter, "draw", 3)
    return texts


def _watch_elided(patch: pytest.MonkeyPatch) -> set[str]:
    """Return the set of texts that the program's own painters elide, in full, which grows as they paint."""
    texts: set[str] = set()
    elide = QFontMetricsF.elidedText

    def elide_and_record(self: QFontMetricsF, text: str, *options: Any) -> str:  # noqa: ANN401 - as Qt has it
        elided = elide(self, text, *options)
        if elided != text:
            texts.add(text)
        return elided

    patch.setattr(QFontMetricsF, "elidedText", elide_and_record)
    return texts


@contextmanager
def _open_window(qapp: QApplication, service: GpuDeskService, language: str) -> Iterator[MainWindow]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPUDESK_LANGUAGE", language)
        set_language(None)
        program = DesktopProgram(qapp, service)
        window = program.open_new_window()
        window.resize(*_SIZE)
        window.open_template("70b-chat-on-four")
        _settle()
        assert get_language() == language
        yield window
        program.end()
    set_language(None)


def _settle() -> None:
    QApplication.processEvents()
    # The results of jobs are part of the views.
    while Jobs.any_running():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    for _ in range(_TURNS):
        QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _show_views(window: MainWindow) -> Iterator[str]:
    """Show each view of each page, and yield its key; the demand for Fleet is entered on the way."""
    for spec in window.page_specs:
        window.show_page(spec.id)
        if spec.id == "fleet":
            _settle()
            yield "fleet/start"
            window.desk.edit("Enter demand", demand=Demand(DemandKind.USERS, 2000.0))
            _settle()
        for key, show in _list_views(window.page):
            show()
            _settle()
            window.grab()
            yield f"{spec.id}/{key}"
    window.body.show_panel(is_visible=True)
    for selection in (select_catalog_entry(window.desk.scenario.model), select_figure(window.desk.keys[0], "tpot_ms")):
        window.desk.select(selection)
        _settle()
        window.grab()
        yield f"panel/{selection.kind}"


def _list_views(page: DeskPage | None) -> list[tuple[str, Callable[[], object]]]:
    if isinstance(page, MultiViewPage):
        return [(key, partial(page.choose_view, key)) for key in page.view_keys]
    if isinstance(page, CatalogPage):
        return [(section.value, partial(page.show_section, section)) for section in CatalogSection]
    return [("", lambda: None)]


def _read_text(widget: QWidget) -> str:
    if isinstance(widget, QLabel | QAbstractButton):
        return widget.text()
    if isinstance(widget, QLineEdit):
        return "" if widget.text() else widget.placeholderText()
    return widget.currentText() if isinstance(widget, QComboBox) else ""


def _list_texts(window: MainWindow) -> Iterator[str]:
    for widget in window.findChildren(QWidget):
        if widget.isVisible():
            yield _read_text(widget)
        if isinstance(widget, QTableView) and widget.isVisible() and widget.horizontalHeader().isVisible():
            model = widget.model()
            heads = (model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount()))
            yield from (str(head or "") for head in heads)


def _is_clipped(widget: QWidget) -> bool:
    """Return whether a part of the text is invisible, without a tool tip that has the whole."""
    text, visible_rect = _read_text(widget), widget.visibleRegion().boundingRect()
    if not text.strip() or visible_rect.isEmpty():
        return False
    needed = widget.fontMetrics().horizontalAdvance(text)
    if isinstance(widget, QLabel) and widget.wordWrap():
        return widget.heightForWidth(widget.width()) > widget.height()
    if isinstance(widget, QLabel):
        return not widget.toolTip() and needed > min(widget.contentsRect().width(), visible_rect.width()) + 1
    if isinstance(widget, QAbstractButton):
        return widget.sizeHint().width() > min(widget.width(), visible_rect.width()) + 1
    return not widget.toolTip() and needed > visible_rect.width()


def _list_clipped(window: MainWindow) -> set[str]:
    return {
        f"{type(widget).__name__} {_read_text(widget)!r}"
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and _is_clipped(widget)
    }


def _list_tool_tips(window: MainWindow, shown_tips: list[str]) -> Iterator[str]:
    """Yield the tool tips of visible widgets, their parts, and the cells and heads of tables."""
    for widget in window.findChildren(QWidget):
        if not widget.isVisible():
            continue
        yield widget.toolTip()
        if isinstance(widget, QAbstractItemView):
            yield from _list_cell_tips(widget)
        elif isinstance(widget, BarChart):
            _ask_for_tips(widget)
        elif isinstance(widget, DeskChart):
            _ask_for_tips(widget.viewport())
    yield from shown_tips


def _list_cell_tips(view: QAbstractItemView) -> Iterator[str]:
    role, model = Qt.ItemDataRole.ToolTipRole, view.model()
    for column in range(model.columnCount()):
        yield str(model.headerData(column, Qt.Orientation.Horizontal, role) or "")
    indexes = [
        model.index(row, column) for row in range(min(model.rowCount(), _ROWS)) for column in range(model.columnCount())
    ]
    while indexes:
        index = indexes.pop()
        yield str(index.data(role) or "")
        indexes += [model.index(row, 0, index) for row in range(model.rowCount(index))]


def _ask_for_tips(widget: QWidget) -> None:
    """Request tool tips at points from top to bottom of a widget that paints."""
    for y in range(2, widget.height(), 8):
        position = QPoint(widget.width() // 2, y)
        QCoreApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, position, widget.mapToGlobal(position)))


def _list_cut_heads(window: MainWindow) -> Iterator[str]:
    """Yield the heads of ordinary tables that have less room than they need."""
    for table in window.findChildren(QTableView):
        header = table.horizontalHeader()
        if not table.isVisible() or not header.isVisible() or type(header) is not QHeaderView:
            continue
        for column in range(header.count()):
            if header.sectionSizeFromContents(column).width() > header.sectionSize(column):
                yield str(header.model().headerData(column, Qt.Orientation.Horizontal))


def _list_names(service: GpuDeskService) -> set[str]:
    """Return the words in the names of the catalog, and those that no language translates."""
    texts = [_NAMES]
    for accelerator in service.catalog.accelerators():
        texts += map(str, (accelerator.name, accelerator.vendor, accelerator.generation, accelerator.form_factor))
    texts += [model.name for model in service.catalog.models()]
    texts += [model.name for model in service.catalog.diffusion_models()]
    texts += [f"{source.title} {source.publisher}" for source in service.catalog.sources()]
    texts += [str(price.provider) for price in service.catalog.prices()]
    for round_name in service.mlperf.rounds:
        for model in service.mlperf.models(round_name):
            comparison = service.mlperf.head_to_head(round_name, model)
            rows = () if comparison is None else comparison.rows
            texts += [
                f"{each.submitter} {each.system}" for row in rows for c in row.cells.values() for each in c.results
            ]
    return set(_WORD.findall(" ".join(texts)))


def _list_words(text: str, names: set[str]) -> set[str]:
    """Return the words of a text, without the last one if it is cut and begins a name; an address has none."""
    if text.startswith("https://"):
        return set()
    cut = _CUT_WORD.search(text)
    if cut is not None and any(name.startswith(cut[1]) for name in names):
        text = text[: cut.start()]
    return set(_WORD.findall(text))


@pytest.fixture(scope="module")
def walk(qapp: QApplication, homes: Path, service: GpuDeskService) -> VisibleTexts:
    """Return the texts of a walk through the pseudo-language; cells of the catalog are left out, as they are names and
    quotations."""
    walk, shown_tips = VisibleTexts(), list[str]()
    with pytest.MonkeyPatch.context() as patch, _open_window(qapp, service, PSEUDO) as window:
        patch.setattr(QToolTip, "showText", lambda _place, text, _widget: shown_tips.append(text))
        painted_texts, elided_texts = _watch_painted(patch), _watch_elided(patch)
        for view in _show_views(window):
            walk.clipped += [f"{view}: {text}" for text in _list_clipped(window)]
            walk.texts |= {*_list_texts(window), *(set() if view.startswith("catalog/") else painted_texts)}
            tips = _WHITE.sub("", "\n".join(_list_tool_tips(window, shown_tips)))
            texts = {*elided_texts, *_list_cut_heads(window)}
            walk.cut |= {f"{view}: {text!r}" for text in texts if _WHITE.sub("", text) not in tips}
            for collected in (painted_texts, elided_texts, shown_tips):
                collected.clear()
        for menu in window.findChildren(QMenu):
            menu.aboutToShow.emit()
            walk.texts |= {menu.title(), *(action.text() for action in menu.actions())}
    return walk


def test_no_german_text_is_clipped(qapp: QApplication, service: GpuDeskService) -> None:
    with _open_window(qapp, service, "de") as window:
        clipped = [f"{view}: {text}" for view in _show_views(window) for text in _list_clipped(window)]
    assert not clipped, "\n".join(clipped)


def test_german_tables_of_a_profile_fit_their_columns(qapp: QApplication, service: GpuDeskService) -> None:
    with _open_window(qapp, service, "de") as window:
        window.show_page("profile")
        for _, show in _list_views(window.page):
            show()
            _settle()
            tables = [table for table in window.findChildren(RowsView) if table.isVisible()]
            assert all(table.horizontalHeader().length() <= table.viewport().width() for table in tables)


def test_painted_text_is_whole_or_has_a_tool_tip(walk: VisibleTexts) -> None:
    assert not walk.cut, "\n".join(sorted(walk.cut))


def test_no_text_is_clipped(walk: VisibleTexts) -> None:
    assert not walk.clipped, "\n".join(walk.clipped)


def test_every_text_is_translated(walk: VisibleTexts, service: GpuDeskService) -> None:
    names = _list_names(service)
    untranslated = {text for text in walk.texts if not _ACCENTED.search(text) and _list_words(text, names) - names}
    assert len(walk.texts) > 500
    assert any("Ûsééd bý" in text for text in walk.texts), "the panel was not seen"
    assert not untranslated, "\n".join(sorted(untranslated))
