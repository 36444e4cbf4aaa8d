"""The header of the profile, and the column widths of its tables."""

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.profile.page import ProfileHeader
from gpudesk.desktop.ui.tables.data_table import DataTableSection, DataTableView
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.profile import ProfileQuestion
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter


@pytest.fixture(scope="module")
def tables(service: GpuDeskService) -> ProfileTables:
    profile = service.profile(ProfileQuestion("rtx-5090"))
    return ProfileTables.from_entries(profile, Formatter(), service.catalog.things())


@pytest.mark.parametrize("width", [560, 900])
def test_strip_fits_below_a_wrapped_headline(tables: ProfileTables, theme: Theme, qtbot: QtBot, width: int) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    header = ProfileHeader(theme)
    layout = QVBoxLayout(page)
    layout.addWidget(header)
    layout.addWidget(QWidget(), 1)
    page.resize(width, 500)
    page.show()
    qtbot.waitExposed(page)
    header.show_profile(tables, 0, is_variant=False)
    header.headline.setText("The headline of an accelerator with a long name takes more than a line. " * 3)
    qtbot.waitUntil(lambda: header.strip.geometry().bottom() < header.height() and header.headline.height() > 20)


def test_status_column_fits_its_texts(tables: ProfileTables, theme: Theme, qtbot: QtBot) -> None:
    view = DataTableView(theme)
    qtbot.addWidget(view)
    view.resize(480, 320)
    view.show_table(tables.capabilities())
    view.show()
    qtbot.waitExposed(view)
    status = [row.cells[1].text for row in view.table.rows]
    widest = max(view.fontMetrics().horizontalAdvance(text) for text in status)
    assert view.columnWidth(1) >= widest * 0.85 + theme.px(20)
    assert view.columnWidth(0) < view.columnWidth(2)
    assert sum(view.columnWidth(number) for number in range(4)) <= view.viewport().width()


def test_reason_of_unknown_limits_is_given_once(service: GpuDeskService, theme: Theme, qtbot: QtBot) -> None:
    profile = service.profile(ProfileQuestion("mi308x"))
    tables = ProfileTables.from_entries(profile, Formatter(), service.catalog.things())
    section = DataTableSection(theme, Formatter())
    qtbot.addWidget(section)
    section.resize(375, 320)
    section.show_table(lambda _: tables.limits())
    section.show()
    qtbot.waitExposed(section)
    texts = [row.cells[1].text for row in section.view.table.rows]
    assert texts == [*["Not known"] * 5, "Not modeled"]
    assert tables.limits().note.startswith("Instinct MI308X needs a peak in BF16 or wider")
    cells = [row.cells[2].detail for row in tables.capabilities().rows]
    assert cells[0] == "BF16, 131,072 context"
