"""The import dialog: preview, edits, saving, and what it keeps after a failure."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.catalog.importing.model_facts import make_model_facts
from gpudesk.catalog.user_store.user_catalog import UserCatalog
from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, NumberRow, TextRow
from gpudesk.desktop.pages.catalog.import_dialog import ImportDialog
from gpudesk.desktop.ui.tables.data_table import TextTable
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.documents.imports import FieldAnswers, FileImport
from gpudesk.documents.offered_files import ImportKind
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.user_facts import UNKNOWN_MAKER, FactEdit, ImportProposal, MissingImportField, UserFacts, UserPrice
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, message

SOURCE = Source("own-config-1", "config.json of Tiny", "Nobody", SourceKind.CONFIG_COPY)
WHY = message("file.unreadable", "cannot be read: {reason}", reason="the reason")


def make_definition(head_dim: int = 64) -> dict[str, object]:
    return {
        "id": "tiny",
        "name": "Tiny",
        "organisation": "Nobody",
        "hidden_size": 512,
        "vocab_size": 1000,
        "tied_embeddings": False,
        "max_context": 4096,
        "native_precision": "bf16",
        "quantised_tensors": "linear",
        "mixers": {"attention": {"kind": "attention", "heads": 8, "kv_heads": 2, "head_dim": head_dim}},
        "ffns": {"mlp": {"kind": "dense", "intermediate_size": 2048}},
        "layers": [{"count": 4, "mixer": "attention", "ffn": "mlp", "norms": 2}],
    }


def propose_model(head_dim: int = 64) -> ImportProposal:
    return ImportProposal(
        "model", "Tiny", make_model_facts(make_definition(head_dim), SOURCE, today="2026-11-21"), notes=(WHY,)
    )


def propose_prices(n: int, provider: str | None = None, date: str | None = None) -> ImportProposal:
    facts = tuple(
        UserPrice(f"p{i}", "mi300x", "on_demand", SOURCE.id, SourceKind.USER, 2 + i / 100, provider=provider, date=date)
        for i in range(n)
    )
    return ImportProposal("prices", "offers.csv", (SOURCE, *facts))


def open_dialog(window: MainWindow, proposal: ImportProposal, qtbot: QtBot, **options: object) -> ImportDialog:
    file_import = FileImport(Path("/somewhere/config.json"), ImportKind.CONFIG, proposal, **options)  # type: ignore[arg-type]
    dialog = ImportDialog(window.desk, window.theme, window.jobs, file_import, parent=window)
    dialog.open()
    qtbot.waitExposed(dialog)
    return dialog


def list_texts(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def test_model_is_shown_with_its_exact_figures(user_window: MainWindow, qtbot: QtBot) -> None:
    dialog = open_dialog(user_window, propose_model(), qtbot)
    visible_texts = list_texts(dialog)
    # 4 layers of attention 512 × (2 × 512 + 2 × 128), feed-forward 3 × 512 × 2048 and two norms; embeddings and norm.
    parameters = 4 * (512 * (2 * 512 + 2 * 128) + 3 * 512 * 2048 + 2 * 512) + 2 * 1000 * 512 + 512
    assert f"{parameters:,}" in visible_texts
    assert "2.00 KiB" in visible_texts
    assert "4,096 tokens" in visible_texts
    assert dialog.save_button.text() == "Add model"


def test_enter_saves_one_undoable_step(user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot) -> None:
    dialog = open_dialog(user_window, propose_model(), qtbot)
    name = dialog.row("name")
    assert isinstance(name, TextRow)
    name.edit.selectAll()
    QTest.keyClicks(name.edit, "My Tiny")
    QTest.keyClick(name.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.saved)
    assert user_service.catalog.model("tiny").name == "My Tiny"
    user_service.user_catalog.undo()
    assert len(user_service.user_catalog.facts) == 0


def test_builtin_or_invalid_id_is_refused_at_its_field(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    dialog = open_dialog(user_window, propose_model(), qtbot)
    row = dialog.row("id")
    assert isinstance(row, TextRow)
    for text in ("llama-3.1-70b", "Not an id", ""):
        row.edit.setText(text)
        dialog.accept()
        qtbot.waitUntil(lambda: bool(row.fault) and dialog.save_button.isEnabled())
        assert not dialog.saved
        row.show_fault("")
    row.edit.setText("tiny-2")
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    assert user_service.catalog.thing("tiny-2").own


def test_failure_to_write_keeps_the_input(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_disk_full(_catalog: UserCatalog, _edit: FactEdit) -> UserFacts:
        raise InputError(
            message("file.unwritable", "cannot be written: {reason}; choose another folder", reason="the disk is full"),
            "catalog.sqlite",
        )

    monkeypatch.setattr(UserCatalog, "write", raise_disk_full)
    dialog = open_dialog(user_window, propose_model(), qtbot)
    row = dialog.row("name")
    assert isinstance(row, TextRow)
    row.edit.setText("Renamed")
    dialog.accept()
    qtbot.waitUntil(lambda: bool(dialog.note.text))
    assert "the disk is full" in dialog.note.text
    assert dialog.isVisible()
    assert row.edit.text() == "Renamed"
    assert dialog.save_button.isEnabled()
    assert len(user_service.user_catalog.facts) == 0


def test_missing_fields_are_requested_and_figures_follow_typing(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    answers_list: list[FieldAnswers] = []

    def complete(answers: FieldAnswers) -> ImportProposal:
        answers_list.append(answers)
        head_dim = answers["head_dim"]
        assert isinstance(head_dim, int)
        if head_dim > 1000:
            raise InputError(
                message("import.model.large", "is larger than the limit of {largest}", largest=1000), "head_dim"
            )
        return propose_model(head_dim)

    missing = (MissingImportField("head_dim", "whole", WHY), MissingImportField("tied", "yes_no", WHY))
    dialog = open_dialog(user_window, ImportProposal("model", "Tiny", (), missing=missing), qtbot, complete=complete)
    assert "Parameters and KV cache appear once you fill in 2 fields." in list_texts(dialog)
    head_dim, tied = dialog.row("head_dim"), dialog.row("tied")
    assert isinstance(head_dim, NumberRow)
    assert isinstance(tied, ChoiceRow)
    dialog.accept()
    assert head_dim.fault
    assert not answers_list
    QTest.keyClicks(head_dim.edit, "2000")
    tied.box.setCurrentIndex(1)
    qtbot.waitUntil(lambda: bool(answers_list))
    dialog.accept()
    assert "1,000" in head_dim.fault
    head_dim.edit.selectAll()
    QTest.keyClicks(head_dim.edit, "128")
    qtbot.waitUntil(lambda: "4.00 KiB" in list_texts(dialog))
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    assert answers_list[-1] == {"head_dim": 128, "tied": True}
    assert user_service.catalog.attribute("tiny", "mixers.attention.head_dim").value == 128


def test_answer_may_reveal_further_fields(user_window: MainWindow, qtbot: QtBot) -> None:
    first = MissingImportField("architecture", "word", WHY, ("llama", "qwen2"))
    second = MissingImportField("head_dim", "whole", WHY)

    def complete(answers: FieldAnswers) -> ImportProposal:
        if "head_dim" not in answers:
            return ImportProposal("model", "Tiny", (), missing=(second,))
        return propose_model()

    dialog = open_dialog(user_window, ImportProposal("model", "Tiny", (), missing=(first,)), qtbot, complete=complete)
    word = dialog.row("architecture")
    assert isinstance(word, ChoiceRow)
    word.box.setCurrentIndex(2)
    qtbot.waitUntil(lambda: dialog.row("head_dim") is not None)
    assert not dialog.saved


def test_prices_are_grouped_and_get_provider_and_date(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    def reread(provider: str | None, date: str | None) -> ProgressSteps[ImportProposal]:
        yield JobProgress(WHY)
        return propose_prices(101, provider=provider, date=date)

    dialog = open_dialog(user_window, propose_prices(101), qtbot, reread=reread)
    assert dialog.save_button.text() == "Add 101 prices"
    (table,) = dialog.findChildren(TextTable)
    assert {"2.00", "2.50", "3.00", "101", "undated"} <= {text for texts in table.texts() for text in texts}
    provider, date = dialog.row("provider"), dialog.row("date")
    assert isinstance(provider, TextRow)
    assert isinstance(date, TextRow)
    QTest.keyClicks(provider.edit, "Crusoe")
    date.edit.setText("2026-13")
    dialog.accept()
    assert date.fault
    date.edit.setText("2026-11")
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    user_prices = [price for price in user_service.catalog.prices("mi300x") if price.own]
    assert len(user_prices) == 101
    assert {(price.provider, price.date) for price in user_prices} == {("Crusoe", "2026-11")}


def test_escape_writes_nothing(user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot) -> None:
    dialog = open_dialog(user_window, propose_prices(3, provider="Crusoe", date="2026-11-21"), qtbot)
    assert dialog.row("provider") is None
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert len(user_service.user_catalog.facts) == 0


def test_unknown_organization_can_be_entered(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    assert open_dialog(user_window, propose_model(), qtbot).row("organisation") is None
    source = replace(SOURCE, publisher=UNKNOWN_MAKER)
    facts = make_model_facts(make_definition() | {"organisation": UNKNOWN_MAKER}, source, today="2026-11-21")
    dialog = open_dialog(user_window, ImportProposal("model", "Tiny", facts), qtbot)
    row = dialog.row("organisation")
    assert isinstance(row, TextRow)
    assert row.edit.accessibleName() == "Organization"
    assert row.is_empty()
    # The organization is optional.
    row.edit.setText("Acme")
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    assert user_service.catalog.model("tiny").organisation == "Acme"
    (source_fact,) = [fact for fact in user_service.user_catalog.facts if isinstance(fact, Source)]
    assert source_fact.publisher == "Acme"
