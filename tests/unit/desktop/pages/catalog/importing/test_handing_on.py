"""Export from the window: a table as a file, the user's facts as a pack."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.filter_line import SECTION_SETTING
from gpudesk.desktop.window.catalog_files import PackExportForm, TableExportForm
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.documents.packs import read_pack
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.user_facts import FactEdit
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import message
from tests.unit.domain.own_samples import ALL

Choose = Callable[[Path, str], None]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Return what answers the system's question for a file, with the form that is chosen next to it."""

    def answer(path: Path, form: str) -> None:
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), form))

    return answer


def written(window: MainWindow, qtbot: QtBot) -> str:
    qtbot.waitUntil(lambda: not window.jobs.running)
    return window.note.text


@pytest.mark.parametrize(
    ("section", "table"),
    [
        (CatalogSection.ACCELERATORS, "accelerators"),
        (CatalogSection.DIFFUSION, "diffusion-models"),
        (CatalogSection.PRICES, "prices"),
        (CatalogSection.YOURS, "own"),
    ],
)
def test_the_list_that_is_shown_is_offered_first(own_window: MainWindow, section: CatalogSection, table: str) -> None:
    own_window.settings.put(SECTION_SETTING, section.value)
    own_window.catalog.export()
    (form,) = own_window.findChildren(TableExportForm)
    assert form.table == table
    form.reject()


def test_a_table_gets_the_suffix_of_its_form(
    own_window: MainWindow, tmp_path: Path, choose: Choose, qtbot: QtBot
) -> None:
    own_window.settings.put(SECTION_SETTING, CatalogSection.PRICES.value)
    own_window.catalog.export()
    (form,) = own_window.findChildren(TableExportForm)
    choose(tmp_path / "prices", "CSV (*.csv)")
    form.accept()
    assert written(own_window, qtbot) == f"Saved: {tmp_path / 'prices.csv'}."
    head = (tmp_path / "prices.csv").read_text("utf-8-sig").splitlines()
    assert any("on_demand" in line for line in head)


def test_what_cannot_be_written_is_said(own_window: MainWindow, tmp_path: Path, choose: Choose, qtbot: QtBot) -> None:
    own_window.catalog.export()
    (form,) = own_window.findChildren(TableExportForm)
    choose(tmp_path / "nowhere" / "a.csv", "")
    form.accept()
    said = written(own_window, qtbot)
    assert said.startswith("Not saved: ")
    assert said.endswith("Existing files are unchanged.")


def test_facts_are_handed_on_signed(
    own_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, choose: Choose, qtbot: QtBot
) -> None:
    user_service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="x"), after=tuple(ALL)))
    own_window.catalog.make_pack()
    (form,) = own_window.findChildren(PackExportForm)
    choose(tmp_path / "ours", "")
    form.accept()
    assert form.isVisible(), "the name is missing"
    form.name_row.show_value("Ours")
    form.signing.show_value("yes")
    form.signing.edited.emit()
    form.by.show_value("Ada")
    form.accept()
    assert written(own_window, qtbot) == f"Saved: {tmp_path / 'ours.gpudeskpack'}."
    pack = read_pack((tmp_path / "ours.gpudeskpack").read_bytes())
    assert (pack.name, pack.signature is not None and pack.signature.name) == ("Ours", "Ada")
    assert dict(pack.facts.facts) == dict(ALL.facts)
