"""The print preview: pages, zoom, saving, printing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPageRanges
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QFileDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import PaperSize, SheetPages, make_printer, print_pages
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.window import sheet_preview as preview_module
from gpudesk.desktop.window.sheet_preview import SheetPreview
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Answer, Scenario
from gpudesk.domain.profile import ProfileQuestion
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError
from tests.unit.desktop.ui.printing.conftest import lay_out_answer, needs_poppler, read_info, read_words, save_pdf

AnswerTo = Callable[[Scenario], Answer]


@pytest.fixture
def settings(tmp_path: Path) -> UserSettings:
    user_settings = UserSettings(tmp_path / "settings.json")
    user_settings.put("sheet.paper", "a4")
    return user_settings


@pytest.fixture
def answer(answer_to: AnswerTo) -> Answer:
    return answer_to(read_template("mi325x-or-h200-70b"))


@pytest.fixture
def preview(qtbot: QtBot, answer: Answer, theme: Theme, settings: UserSettings) -> SheetPreview:
    sheet_preview = SheetPreview(answer, theme, settings, Formatter())
    qtbot.addWidget(sheet_preview)
    sheet_preview.show()
    qtbot.waitExposed(sheet_preview)
    return sheet_preview


def get_position_text(preview: SheetPreview) -> str:
    return preview._bar._place.text()


def test_first_page_fits_the_window(preview: SheetPreview, qtbot: QtBot) -> None:
    assert get_position_text(preview) == "Page 1 of 2"
    page = preview._view.compute_page_rect(0)
    assert page.height() <= preview._scroll.viewport().height()
    assert preview.windowTitle() == "Comparison sheet"


def test_no_control_is_shown_as_a_window_meanwhile(
    qtbot: QtBot, answer: Answer, theme: Theme, settings: UserSettings
) -> None:
    windows: list[QWidget] = []

    class ShowWatch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                windows.append(watched)
            return False

    watch = ShowWatch()
    qapp = QApplication.instance()
    assert qapp is not None
    qapp.installEventFilter(watch)
    try:
        qtbot.addWidget(SheetPreview(answer, theme, settings, Formatter()))
    finally:
        qapp.removeEventFilter(watch)
    assert not windows


def test_pages_are_turned_by_keyboard(preview: SheetPreview, qtbot: QtBot) -> None:
    preview.fit_to("width")
    qtbot.waitUntil(lambda: preview._scroll.verticalScrollBar().maximum() > 0)
    QTest.keyClick(preview, Qt.Key.Key_PageDown)
    assert get_position_text(preview) == "Page 2 of 2"
    QTest.keyClick(preview, Qt.Key.Key_PageUp)
    assert get_position_text(preview) == "Page 1 of 2"
    QTest.keyClick(preview, Qt.Key.Key_End)
    assert get_position_text(preview) == "Page 2 of 2"
    QTest.keyClick(preview, Qt.Key.Key_Home)
    assert get_position_text(preview) == "Page 1 of 2"


def test_zoom_keeps_the_page_and_stays_within_bounds(preview: SheetPreview, qtbot: QtBot) -> None:
    preview.fit_to(None)
    assert preview._view.zoom == 1.0
    QTest.keyClick(preview, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert preview._view.zoom == pytest.approx(1.25)
    assert preview._bar._zoom.text() == "125%"
    for _ in range(20):
        preview.zoom_by(2)
    assert preview._view.zoom == 4.0
    preview.grab()
    QTest.keyClick(preview, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert preview._view.zoom < 1.0


def test_paper_size_is_applied_and_saved(preview: SheetPreview, settings: UserSettings) -> None:
    preview._bar._paper._buttons["letter"].click()
    assert preview.pages.paper.size is PaperSize.LETTER
    assert settings.get("sheet.paper", "") == "letter"


def test_saved_pdf_has_the_scenario(
    preview: SheetPreview,
    answer: Answer,
    service: GpuDeskService,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "for the customer"), ""))
    with qtbot.waitSignal(preview.saved) as signal:
        preview.ask_and_save()
    file = tmp_path / "for the customer.pdf"
    assert signal.args == [file]
    assert preview.note == f"Saved: {file}"
    assert service.read_scenario(file).model == answer.scenario.model


def test_suggested_name_is_valid_on_every_system(
    preview: SheetPreview, tmp_path: Path, settings: UserSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggestions: list[str] = []

    def choose(parent: object, title: str, suggestion: str, kinds: str) -> tuple[str, str]:
        suggestions.append(suggestion)
        return "", ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    settings.put("sheet.folder", str(tmp_path))
    preview.ask_and_save()
    assert suggestions == [str(tmp_path / "MI325X or H200 for Llama 3.1 70B.pdf")]
    assert preview_module._make_file_name('a/b: "c"? <d>|\n') == "a b c d.pdf"
    assert preview_module._make_file_name("...") == "comparison.pdf"


def test_failed_save_is_reported_with_a_remedy(preview: SheetPreview, tmp_path: Path) -> None:
    target = tmp_path / "no such folder" / "sheet.pdf"
    assert not preview.save_to(target)
    assert preview.note.startswith(f"Not saved: {target}: cannot be written")
    assert preview.note.endswith("choose another folder")


def test_sheet_can_be_saved_without_a_printer(
    qtbot: QtBot, answer: Answer, theme: Theme, settings: UserSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = []

    def is_installed() -> bool:
        queries.append("printers")
        return False

    monkeypatch.setattr(preview_module, "is_print_service_there", lambda: True)
    monkeypatch.setattr(preview_module, "is_printer_installed", is_installed)
    preview = SheetPreview(answer, theme, settings, Formatter())
    qtbot.addWidget(preview)
    # The query may take long, and is made only on printing.
    assert queries == []
    preview.print_pages()
    assert queries == ["printers"]
    assert_not_printable(preview)


def test_printers_are_not_queried_without_a_print_service(
    qtbot: QtBot, answer: Answer, theme: Theme, settings: UserSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview_module, "is_print_service_there", lambda: False)
    monkeypatch.setattr(preview_module, "is_printer_installed", lambda: pytest.fail("printers were queried"))
    preview = SheetPreview(answer, theme, settings, Formatter())
    qtbot.addWidget(preview)
    assert_not_printable(preview)
    preview.print_pages()


def assert_not_printable(preview: SheetPreview) -> None:
    assert preview.note == "No printer is installed. Save a PDF and print it elsewhere."
    assert not preview._bar._print.isEnabled()
    assert preview._bar.save.isEnabled()


def test_staleness_follows_the_settings(
    preview: SheetPreview, qtbot: QtBot, answer: Answer, theme: Theme, settings: UserSettings
) -> None:
    assert any("Purchase prices older" in remark.text for remark in preview.sheet.remarks)
    settings.put("catalog.stale_price_days", 36_500)
    settings.put("catalog.stale_fact_days", 36_500)
    second_preview = SheetPreview(answer, theme, settings, Formatter())
    qtbot.addWidget(second_preview)
    remarks_text = " ".join(remark.text for remark in second_preview.sheet.remarks)
    assert "Purchase prices older" not in remarks_text
    assert "Sources older" not in remarks_text


def test_escape_closes(preview: SheetPreview, qtbot: QtBot) -> None:
    QTest.keyClick(preview, Qt.Key.Key_Escape)
    assert not preview.isVisible()


def test_every_control_has_a_name(preview: SheetPreview) -> None:
    buttons = preview.findChildren(QAbstractButton)
    names = [button.accessibleName() for button in buttons if button.window() is preview]
    assert all(names)
    assert {"Save PDF…", "Print…", "Zoom in", "Next page", "Paper: Letter"} <= set(names)
    assert preview._view.accessibleName() == "Comparison sheet, 2 pages"
    assert "Max concurrency: MI325X" in preview._view.accessibleDescription()


def test_rules_are_appended_on_request(
    qtbot: QtBot, service: GpuDeskService, theme: Theme, settings: UserSettings
) -> None:
    scenario = read_template("70b-chat-on-four")
    answered_scenario = replace(scenario, decision=replace(scenario.decision, answers={"priority": "cost"}))
    answer = service.answer(answered_scenario, with_curves=True)
    preview = SheetPreview(answer, theme, settings, Formatter(), further=service.make_sheet_extras(answer))
    qtbot.addWidget(preview)
    count = len(preview.pages.pages)
    preview._bar.rules.setChecked(True)
    assert len(preview.pages.pages) > count
    assert preview._view.count == len(preview.pages.pages)
    preview._bar.rules.setChecked(False)
    assert len(preview.pages.pages) == count


def test_profiles_are_appended_and_removed(preview: SheetPreview, service: GpuDeskService) -> None:
    assert preview.profiles.isHidden()
    count = len(preview.pages.pages)
    preview.offer_profiles(
        lambda accelerator, formatter: ProfileTables(
            service.profile(ProfileQuestion(accelerator)), formatter, lambda accelerator_id: accelerator_id
        )
    )
    assert preview.profiles.accessibleName() == "Add profile"
    preview.profiles.setFocus()
    QTest.keyClick(preview.profiles, Qt.Key.Key_Return)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [entry.text() for entry in menu.actions()] == ["H200 SXM", "MI325X"]
    for entry in menu.actions():
        entry.trigger()
    menu.close()
    assert len(preview.pages.pages) == count + 4
    assert preview.profiles.accessibleName() == "2 profiles"
    preview.toggle_profile("mi325x")
    assert len(preview.pages.pages) == count + 2
    preview.set_language("de")
    assert len(preview.pages.pages) == count + 2
    preview.toggle_profile("h200-sxm")
    assert len(preview.pages.pages) == count


def test_rules_need_a_recommendation(preview: SheetPreview) -> None:
    assert preview._bar.rules.isHidden()


def test_paper_is_white_in_dark_theme(preview: SheetPreview, theme: Theme) -> None:
    theme.set_preference(DARK)
    picture = preview._view.grab().toImage()
    page = preview._view.compute_page_rect(0)
    assert picture.pixelColor(int(page.left()) + 6, int(page.top()) + 6).name() == "#ffffff"
    assert picture.pixelColor(2, 2) == theme.color("sunken")


@needs_poppler
def test_printer_and_pdf_have_the_same_text(answer: Answer, tmp_path: Path) -> None:
    sheet, pages = lay_out_answer(answer)
    printer = make_printer(pages, sheet.title)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "printed.pdf"))
    print_pages(printer, pages, lambda size: lay_out_sheet(sheet, size, Formatter()))
    printed_file, saved_file = tmp_path / "printed.pdf", save_pdf(answer, tmp_path / "written.pdf")
    assert read_words(printed_file) == read_words(saved_file)
    assert read_info(printed_file)["Page size"] == read_info(saved_file)["Page size"]


@needs_poppler
def test_page_range_and_paper_of_the_printer_are_used(answer: Answer, tmp_path: Path) -> None:
    sheet, pages = lay_out_answer(answer)
    _, on_letter = lay_out_answer(answer, PaperSize.LETTER)
    printer = make_printer(on_letter, sheet.title)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "printed.pdf"))
    ranges = QPageRanges()
    ranges.addRange(2, 2)
    printer.setPageRanges(ranges)
    print_pages(printer, pages, lambda size: lay_out_sheet(sheet, size, Formatter()))
    info = read_info(tmp_path / "printed.pdf")
    assert info["Pages"] == "1"
    assert info["Page size"].startswith("612 x 792")
    assert "Page 2 of 2" in read_words(tmp_path / "printed.pdf")


@pytest.mark.qt_log_ignore("QPainter::begin")
def test_failure_to_print_is_reported(answer: Answer, tmp_path: Path) -> None:
    sheet, pages = lay_out_answer(answer)
    printer = make_printer(pages, sheet.title)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "no such folder" / "printed.pdf"))
    with pytest.raises(InputError) as caught:
        print_pages(printer, pages, lambda size: lay_out_sheet(sheet, size, Formatter()))
    assert caught.value.problem.id == "printer.refused"


def test_printing_shows_the_system_dialog(
    preview: SheetPreview, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    target = tmp_path / "printed.pdf"

    def make_file_printer(pages: SheetPages, title: str) -> QPrinter:
        printer = make_printer(pages, title)
        printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
        printer.setOutputFileName(str(target))
        return printer

    answers = iter((QDialog.DialogCode.Rejected, QDialog.DialogCode.Accepted))
    monkeypatch.setattr(preview_module, "is_print_service_there", lambda: True)
    monkeypatch.setattr(preview_module, "is_printer_installed", lambda: True)
    monkeypatch.setattr(preview_module, "make_printer", make_file_printer)
    monkeypatch.setattr(QPrintDialog, "exec", lambda _: next(answers))
    preview.print_pages()
    assert not target.exists()
    with qtbot.waitSignal(preview.printed):
        preview.print_pages()
    assert target.read_bytes().startswith(b"%PDF-")
    assert preview.note.startswith("Sent to printer")
