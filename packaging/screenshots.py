"""Take the README's pictures from the real window, off screen: `screenshots.py FOLDER`.

The window is 1440 × 900 and shows the sample with its four accelerators. No user files are read or written.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from gpudesk.desktop.session.selection import Selection

_SIZE = (1440, 900)
#: Pixels per point of paper.
_SHEET_SCALE = 1.5
_TEMPLATE = "70b-chat-on-four"
_TOO_BIG = "llama-3.1-405b"
_REST_S = 0.5
#: Maximum size of a picture, so that the README stays small.
_MOST_BYTES = 200_000
_COLORS = 256
_COMMONEST = 64
#: The quality of a PNG is its lack of compression.
_TIGHTEST = 0


def main(folder: Path) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gpudesk-pictures-") as home:
        # Before Qt and the program are imported: they read these once.
        os.environ.update(
            QT_QPA_PLATFORM="offscreen", QT_SCALE_FACTOR="1", GPUDESK_HOME=home, GPUDESK_LANGUAGE="en", LC_ALL="C.UTF-8"
        )
        _Studio(folder).take_all()


class _Studio:
    """Opens the program and takes pictures of it."""

    def __init__(self, folder: Path) -> None:
        """Open one window."""
        from PySide6.QtWidgets import QApplication

        from gpudesk.desktop.window.app import DesktopProgram
        from gpudesk.service import GpuDeskService

        self._folder = folder
        self._app = QApplication(["gpudesk"])
        self._program = DesktopProgram(self._app, GpuDeskService.open())
        self._window = self._program.open_new_window()
        self._window.resize(*_SIZE)
        self._window.open_template(_TEMPLATE)

    def take_all(self) -> None:
        """Take every picture."""
        from gpudesk.desktop.session.selection import select_attribute, select_cost, select_figure
        from gpudesk.report.costs import OWNED

        self._program.set_theme("light")
        self._take("compare-light", "compare", select_attribute("mi325x", "memory_bandwidth"))
        self._sheet("sheet")
        self._program.set_theme("dark")
        self._take("performance-dark", "performance", select_figure("b200-hgx", "output_tokens_per_s"))
        self._program.set_theme("light")
        self._take("cost-light", "cost", select_cost("mi325x", OWNED))
        self._ask_for_fleet()
        self._take("fleet-light", "fleet")
        self._window.desk.undo_stack.undo()
        self._program.set_theme("dark")
        self._ask_for_first_token()
        self._take("decide-question-dark", "decide")
        self._program.set_theme("light")
        self._state_a_value()
        self._choose_in_catalog("mi325x", "memory_bandwidth")
        self._take("catalog-light", "catalog")
        self._give_too_little()
        self._take("memory-and-fit-light", "memory", select_figure("h200-sxm", "memory"))
        self._show_all_models()
        self._take("all-models-light", "memory")
        self._close()

    def _close(self) -> None:
        """Close the window without asking about its scenario."""
        self._window.desk.undo_stack.setClean()
        self._window.close()
        self._settle()

    def _ask_for_fleet(self) -> None:
        """Enter a growing demand of 2,000 users."""
        from gpudesk.domain.fleet import FleetSettings
        from gpudesk.domain.sizing import Demand, DemandKind

        demand = Demand(DemandKind.USERS, 2000.0, ttft_ms=2000.0)
        self._window.desk.edit("Enter demand", demand=demand, fleet=FleetSettings(growth_per_year=0.3))
        self._settle()

    def _ask_for_first_token(self) -> None:
        """Go to the question for a limit, with two others answered, and answer it."""
        from gpudesk.desktop.pages.decide.page import DecidePage
        from gpudesk.desktop.pages.decide.questions_view import QuestionsView
        from gpudesk.domain.decision import DialogueScreen

        self._window.show_page("decide")
        self._settle()
        page = self._window.page
        if isinstance(page, DecidePage) and isinstance(page.view, QuestionsView):
            view = page.view
            for question, value in (("serving_engine", "vllm"), ("shape", "free"), ("ttft_limit_ms", 2000.0)):
                view.answer(question, value)
            view.show_screen(DialogueScreen.LATENCY)
            self._settle()
            while view.effects.busy:
                self._settle()

    def _choose_in_catalog(self, thing: str, name: str) -> None:
        """Go to a cell of the catalog's list."""
        from gpudesk.desktop.pages.catalog.page import CatalogPage
        from gpudesk.desktop.session.selection import select_catalog_attribute

        self._window.show_page("catalog")
        self._settle()
        page = self._window.page
        if isinstance(page, CatalogPage):
            page.view.show_cell(thing, name)
        # The list selects a cell after a pause.
        self._window.desk.select(select_catalog_attribute(thing, name))

    def _state_a_value(self) -> None:
        """Enter a price of an accelerator without one."""
        from gpudesk.catalog.user_store import edits as edits_module
        from gpudesk.catalog.user_store import entry

        service = self._program.service
        day = service.catalog.data_date
        source = entry.make_user_source("Quote by mail", "Reseller", date=day)
        price = (service.catalog, "mi355x", "price_low", 30_000, "USD", source)
        service.user_catalog.do(edits_module.state_value(*price, today=day))
        self._window.note.clear()

    def _give_too_little(self) -> None:
        """Request a model on two of each accelerator that not all can hold."""
        from dataclasses import replace

        from gpudesk.desktop.session import scenario_edits

        desk = self._window.desk
        scenario = replace(desk.scenario, model=_TOO_BIG)
        for position in range(len(scenario.accelerators)):
            scenario = scenario_edits.replace_count(scenario, position, 2)
        desk.apply(scenario, "")
        desk.flush()

    def _show_all_models(self) -> None:
        """Show how many of each accelerator hold each model, once computed."""
        from gpudesk.desktop.pages.memory.matrix_view import FitMatrixView
        from gpudesk.desktop.pages.memory.page import MATRIX, MemoryPage
        from gpudesk.desktop.pages.page import QueryState

        page = self._window.page
        if isinstance(page, MemoryPage):
            page.choose_view(MATRIX)
            (view,) = page.findChildren(FitMatrixView)
            while view.query.state is not QueryState.READY:
                self._settle()

    def _take(self, name: str, page: str, selection: Selection | None = None) -> None:
        """Show a page, with a selection, and save the picture."""
        self._window.show_page(page)
        self._settle()
        if selection is not None:
            self._window.desk.select(selection)
        # Again, now that everything is loaded: the status bar shows the time taken.
        self._window.desk.evaluate()
        self._settle()
        # The verdict follows after a pause; until then the former one is dimmed.
        rested = time.monotonic() + _REST_S
        while time.monotonic() < rested:
            self._app.processEvents()
        self._keep(name, self._window.grab().toImage())

    def _settle(self) -> None:
        """Process all events of the event loop."""
        for _ in range(20):
            self._app.processEvents()

    def _sheet(self, name: str) -> None:
        """Save the first page of the sheet."""
        from PySide6.QtGui import QImage, QPainter

        from gpudesk.desktop.ui.printing.layout import lay_out_sheet
        from gpudesk.desktop.ui.printing.paper import UNITS, PaperSize, SheetPainter
        from gpudesk.report.comparison.sheet import build_sheet

        service = self._program.service
        answer = service.costing.add_costs(service.answer(self._window.desk.scenario, with_curves=True))
        sheet = build_sheet(
            answer, date=answer.data_date, explain=service.explain, further=service.make_sheet_extras(answer)
        )
        pages = lay_out_sheet(sheet, PaperSize.A4, self._program.formatter)
        size = pages.paper.make_page_layout().fullRectPoints().size() * _SHEET_SCALE
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill("white")
        with QPainter(image) as painter:
            painter.scale(_SHEET_SCALE / UNITS, _SHEET_SCALE / UNITS)
            pages.draw(0, SheetPainter(painter))
        self._keep(name, image)

    def _keep(self, name: str, image: QImage) -> None:
        path = self._folder / f"{name}.png"
        if not _with_fewer_colors(image).save(str(path), quality=_TIGHTEST):
            raise SystemExit(f"{path} cannot be written")
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise SystemExit(f"{path} takes {size:,} bytes, more than {_MOST_BYTES:,}")
        print(f"{path}  {size:,} bytes")


def _with_fewer_colors(image: QImage) -> QImage:
    """Return a picture in 256 of its colors, each other one as the nearest of them: a third of the bytes.

    Text edges have thousands of shades that look alike.
    """
    import numpy as np
    from PySide6.QtGui import QImage

    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(plain.constBits(), np.uint32).reshape(plain.height(), plain.width())
    shades, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    parts = np.stack([(shades >> shift & 255).astype(np.float64) for shift in (16, 8, 0)], axis=1)
    nearest, distance = np.zeros(len(shades), np.uint8), np.full(len(shades), np.inf)
    palette = []
    for number in range(min(_COLORS, len(shades))):
        # The most frequent colors first, then always the worst represented one, so that no hue is lost.
        weight = counts if number < _COMMONEST else np.log1p(counts)
        index = int((np.where(distance > 0, weight, 0) * np.minimum(distance, 1e5)).argmax())
        palette.append(int(shades[index]))
        apart = ((parts - parts[index]) ** 2).sum(axis=1)
        nearest[apart < distance] = number
        distance = np.minimum(distance, apart)
    indexed = QImage(plain.size(), QImage.Format.Format_Indexed8)
    indexed.setColorTable(palette)
    rows = np.frombuffer(indexed.bits(), np.uint8).reshape(indexed.height(), indexed.bytesPerLine())
    rows[:, : indexed.width()] = nearest[places].reshape(pixels.shape)
    return indexed


if __name__ == "__main__":
    main(Path(sys.argv[1]))
