"""Export from the window: a table as a file, the user's values as a pack."""

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
from tests.unit.domain.user_samples import ALL

Choose = Callable[[Path, str], None]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Return a function that answers the file dialog with a path and a file format."""

    def answer(path: Path, form: str) -> None:
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), form))

    return answer


def wait_for_note(window: MainWindow, qtbot: QtBot) -> str:
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
def test_current_list_is_the_default_table(user_window: MainWindow, section: CatalogSection, table: str) -> None:
    user_window.settings.put(SECTION_SETTING, section.value)
    user_window.catalog.export()
    (form,) = user_window.findChildren(TableExportForm)
    assert form.table == table
    form.reject()


def test_suffix_follows_the_format(user_window: MainWindow, tmp_path: Path, choose: Choose, qtbot: QtBot) -> None:
    user_window.settings.put(SECTION_SETTING, CatalogSection.PRICES.value)
    user_window.catalog.export()
    (form,) = user_window.findChildren(TableExportForm)
    choose(tmp_path / "prices", "CSV (*.csv)")
    form.accept()
    assert wait_for_note(user_window, qtbot) == f"Saved: {tmp_path / 'prices.csv'}."
    head = (tmp_path / "prices.csv").read_text("utf-8-sig").splitlines()
    assert any("on_demand" in line for line in head)


def test_failure_to_write_is_reported(user_window: MainWindow, tmp_path: Path, choose: Choose, qtbot: QtBot) -> None:
    user_window.catalog.export()
    (form,) = user_window.findChildren(TableExportForm)
    choose(tmp_path / "nowhere" / "a.csv", "")
    form.accept()
    note = wait_for_note(user_window, qtbot)
    assert note.startswith("Not saved: ")
    assert note.endswith("Existing files are unchanged.")


def test_signed_pack_is_exported(
    user_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, choose: Choose, qtbot: QtBot
) -> None:
    user_service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="x"), after=tuple(ALL)))
    user_window.catalog.make_pack()
    (form,) = user_window.findChildren(PackExportForm)
    choose(tmp_path / "ours", "")
    form.accept()
    assert form.isVisible(), "the name is missing"
    form.name_row.show_value("Ours")
    form.signing.show_value("yes")
    form.signing.edited.emit()
    form.by.show_value("Ada")
    form.accept()
    assert wait_for_note(user_window, qtbot) == f"Saved: {tmp_path / 'ours.gpudeskpack'}."
    pack = read_pack((tmp_path / "ours.gpudeskpack").read_bytes())
    assert (pack.name, pack.signature is not None and pack.signature.name) == ("Ours", "Ada")
    assert dict(pack.facts.facts) == dict(ALL.facts)
