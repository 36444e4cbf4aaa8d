"""Import of files, export of tables and packs: the dialogs, the background work and the note that follows."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from gpudesk.catalog.importing.proposals import get_subject
from gpudesk.desktop.pages.catalog.editors.fields import LONGEST_TEXT, ChoiceRow, SegmentRow, TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.filter_line import SECTION_SETTING
from gpudesk.desktop.pages.catalog.import_dialog import ImportDialog
from gpudesk.desktop.pages.catalog.import_pack import PackDialog
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings, get_folder
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.note_bar import NoteAction, show_folder
from gpudesk.desktop.ui.widgets.qt_support import FileType, ask_save_path
from gpudesk.documents.imports import FileImport, propose_imports
from gpudesk.documents.pack_file import PACK_SUFFIX
from gpudesk.documents.packs import select_keys, write_pack
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.user_facts import FactEdit, ImportProposal, UserModel, UserPrice, UserSystem
from gpudesk.files import write_atomically
from gpudesk.report.catalog_export import build_catalog_table, write_table
from gpudesk.report.comparison.verdicts import describe_impact
from gpudesk.report.explanation.catalog_entry import ReportedCatalog
from gpudesk.report.labels import get_today
from gpudesk.report.writers.export_table import MACHINE_FORMATS, ExportFormat
from gpudesk.text.messages import InputError, format_input_error, message
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow

_WRITING_TABLE: Final = message("handing_on.table", "Writing table")


log = logging.getLogger(__name__)

_IMPORT_FOLDER = "import.folder"


def ask_for_imports(window: DocumentWindow) -> None:
    chosen, _ = QFileDialog.getOpenFileNames(
        window,
        tr("Import"),
        str(get_folder(window.settings, _IMPORT_FOLDER)),
        tr("Models, accelerators, prices, packs (*.json *.gguf *.csv *.gpudeskpack);;All files (*)"),
    )
    if chosen:
        window.settings.put(_IMPORT_FOLDER, str(Path(chosen[0]).absolute().parent))
        import_files(window, [Path(name) for name in chosen])


def import_files(window: DocumentWindow, paths: Sequence[Path], then: Callable[[], object] | None = None) -> None:
    """Preview the import of files and folders, one after the other, and write what the user accepts.

    `then` is called if anything was imported, instead of showing a note.
    """
    ImportFlow(window, then).read(paths)


class ImportFlow(QObject):
    """One import, from the files to the last of its dialogs."""

    def __init__(self, window: DocumentWindow, then: Callable[[], object] | None = None) -> None:
        super().__init__(window)
        self._window = window
        self._then = then
        self._waiting: list[FileImport] = []
        self._total = 0
        self._proposals: list[ImportProposal] = []
        self._steps: list[FactEdit] = []

    def read(self, paths: Sequence[Path]) -> None:
        window = self._window
        steps = propose_imports(paths, window.desk.service.catalog, today=get_today())
        window.jobs.start("import", steps, self._show, self._refuse, self.deleteLater)

    def _refuse(self, error: InputError) -> None:
        problem = format_input_error(error, self._window.desk.formatter).rstrip(".")
        self._window.note.show_note(tr("Import failed: {problem}. Nothing was changed.", problem=problem))
        self.deleteLater()

    def _show(self, file_imports: tuple[FileImport, ...]) -> None:
        self._waiting = list(file_imports)
        self._total = len(file_imports)
        self._window.note.clear()
        self._next()

    def _next(self) -> None:
        if not self._waiting:
            self._show_outcome()
            self.deleteLater()
            return
        file_import = self._waiting.pop(0)
        window, number = self._window, self._total - len(self._waiting)
        place = tr("{n} of {total}", n=number, total=self._total) if self._total > 1 else ""
        dialog: ImportDialog | PackDialog
        if file_import.pack is not None:
            dialog = PackDialog(window.desk, window.theme, window.jobs, file_import, file_import.pack, window)
        else:
            dialog = ImportDialog(window.desk, window.theme, window.jobs, file_import, place=place, parent=window)
        dialog.finished.connect(partial(self._closed, dialog))
        dialog.open()

    def _closed(self, dialog: ImportDialog | PackDialog, _result: int) -> None:
        if dialog.step is not None:
            self._proposals.append(dialog.proposal)
            self._steps.append(dialog.step)
        dialog.deleteLater()
        self._next()

    def _show_outcome(self) -> None:
        log.info("imported: %d of %d", len(self._proposals), self._total)
        if self._proposals and self._then is not None:
            self._then()
        elif self._proposals:
            window = self._window
            impact = window.desk.impact
            take_back: NoteAction = (tr("Undo"), partial(undo_import, window, tuple(self._steps)))
            remedies = [*_offer_uses(window, self._proposals), take_back]
            texts = [format_added_facts(self._proposals, window)]
            if impact is not None:
                texts.append(f"{describe_impact(impact, window.desk.formatter).sentence}.")
            window.note.show_note(" ".join(texts), remedies, fault=False)


def _offer_uses(window: DocumentWindow, proposals: Sequence[ImportProposal]) -> list[NoteAction]:
    subject = get_subject(proposals[0])
    if subject is None or len(proposals) > 1:
        return []
    if isinstance(subject, UserModel):
        change_model = partial(window.desk.edit, tr("Change model"), model=subject.id)
        return [(tr("Set as model"), change_model)]
    if isinstance(subject, UserSystem):
        return []
    return [(tr("Add to scenario"), partial(window.chips.add_accelerator, subject.id))]


def format_added_facts(proposals: Sequence[ImportProposal], window: DocumentWindow) -> str:
    prices = sum(isinstance(fact, UserPrice) for proposal in proposals for fact in proposal.facts)
    names = [proposal.name for proposal in proposals if proposal.kind != "prices"]
    if not names:
        count = window.desk.formatter.count(prices)
        return trn("Imported {count} price.", "Imported {count} prices.", prices, count=count)
    return tr("Imported {names}.", names=", ".join(names))


def undo_import(window: DocumentWindow, steps: Sequence[FactEdit]) -> None:
    """Undo these steps, the last first; if something else was done since, show where to undo."""
    user_catalog = window.desk.service.user_catalog
    try:
        for step in reversed(steps):
            if user_catalog.undo_text is not step.text:
                window.note.show_note(tr("Undo failed: there are newer changes. Undo those first on the Catalog page."))
                return
            user_catalog.undo()
    except InputError as error:
        problem = format_input_error(error, window.desk.formatter).rstrip(".")
        window.note.show_note(tr("Undo failed: {problem}.", problem=problem))


_EXPORT_FOLDER, _SIGNER = "export.folder", "pack.signer"
_ALL: Final = "all"
#: The table of each list.
_TABLES: Final = {section.value: section.value for section in CatalogSection} | {
    CatalogSection.DIFFUSION.value: "diffusion-models",
    CatalogSection.YOURS.value: "own",
}


def list_export_tables() -> tuple[tuple[str, str], ...]:
    """Return the exportable tables by the keys of the command line."""
    return (
        ("accelerators", tr("Accelerators")),
        ("systems", tr("Systems")),
        ("models", tr("Models")),
        ("diffusion-models", tr("Diffusion models")),
        ("diffusion-results", tr("Diffusion model run times")),
        ("prices", tr("Prices")),
        ("claims", tr("Published values")),
        ("statements", tr("Statements in documents")),
        ("disputes", tr("Disputes")),
        ("sources", tr("Sources")),
        ("own", tr("Your values")),
    )


def export_table(window: DocumentWindow) -> None:
    """Let the user choose a table, by default the visible list, and a file; write it there."""
    section = window.settings.get(SECTION_SETTING, CatalogSection.ACCELERATORS.value)
    table = _TABLES.get(section, CatalogSection.ACCELERATORS.value)
    form = TableExportForm(window.desk, window.theme, window.settings, table, window)
    form.accepted.connect(lambda: _write_table(window, form))
    form.finished.connect(form.deleteLater)
    form.open()


def _write_table(window: DocumentWindow, form: TableExportForm) -> None:
    target = form.target
    if target is not None:
        steps = write_catalog_table(form.table, window.desk.service.catalog, target)
        _write_in_background(window, "export", steps)


def write_catalog_table(table: str, catalog: ReportedCatalog, target: Path) -> ProgressSteps[Path]:
    """Write a table in the format of the suffix; raises `InputError` if that fails."""
    yield JobProgress(_WRITING_TABLE)
    form = ExportFormat(target.suffix.lower())
    catalog_table = build_catalog_table(table, catalog, for_programs=form in MACHINE_FORMATS)
    yield JobProgress(_WRITING_TABLE)
    contents = io.BytesIO()
    write_table(catalog_table, form, contents)
    yield JobProgress(_WRITING_TABLE)
    write_atomically(target, contents.getvalue())
    return target


def export_pack(window: DocumentWindow) -> None:
    form = PackExportForm(window.desk, window.theme, window.settings, window)
    form.accepted.connect(lambda: _write_pack(window, form))
    form.finished.connect(form.deleteLater)
    form.open()


def _write_pack(window: DocumentWindow, form: PackExportForm) -> None:
    if form.target is None:
        return
    service = window.desk.service
    steps = write_pack(
        service.user_catalog.facts,
        form.part,
        form.pack_name,
        form.target,
        date=get_today(),
        about=service.catalog.shipped_revision,
        signed_by=form.signed_by,
    )
    _write_in_background(window, "pack", steps)


def _write_in_background(window: DocumentWindow, kind: str, steps: ProgressSteps[Path]) -> None:
    def done(target: Path) -> None:
        log.info("written: %s, %s", kind, target.suffix)
        remedy = (tr("Open folder"), lambda: show_folder(target.parent, window.note.show_note))
        window.note.show_note(tr("Saved: {file}.", file=str(target)), [remedy], fault=False)

    def failed(error: InputError) -> None:
        problem = format_input_error(error, window.desk.formatter).rstrip(".")
        window.note.show_note(tr("Not saved: {problem}. Existing files are unchanged.", problem=problem))

    window.jobs.start(kind, steps, done, failed)


class _FileTargetForm(FormDialog):
    """A form that ends with a file to write, and changes no facts."""

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, title: str, parent: QWidget | None) -> None:
        super().__init__(desk, theme, title, save=tr("Save as…"), leave=tr("Cancel"), parent=parent, writes_facts=False)
        self.target: Path | None = None
        self._settings = settings

    def save(self) -> None:
        """Ask for the file; continue with the form if canceled."""
        self.target = self.ask_for_target()
        if self.target is not None:
            self._settings.put(_EXPORT_FOLDER, str(self.target.absolute().parent))
            QDialog.accept(self)

    def ask_for_target(self) -> Path | None:
        raise NotImplementedError

    def ask(self, name: str, types: Sequence[FileType]) -> Path | None:
        return ask_save_path(self, self.windowTitle(), get_folder(self._settings, _EXPORT_FOLDER) / name, types)


class TableExportForm(_FileTargetForm):
    """Asks for a table and a file."""

    def __init__(
        self, desk: Desk, theme: Theme, settings: UserSettings, table: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(desk, theme, settings, tr("Export table"), parent)
        self.add_head(
            self.windowTitle(),
            tr("Every value has its unit, source, date and kind. The file extension sets the format."),
        )
        self.choice = ChoiceRow(theme, "table", tr("Table"), list_export_tables())
        self.choice.show_value(table)
        self.add_rows([self.choice])

    @property
    def table(self) -> str:
        return self.choice.key()

    def ask_for_target(self) -> Path | None:
        forms = (
            (tr("Excel workbook"), ExportFormat.XLSX.value),
            (tr("CSV"), ExportFormat.CSV.value),
            (tr("JSON"), ExportFormat.JSON.value),
            (tr("Markdown"), ExportFormat.MARKDOWN.value),
        )
        return self.ask(f"gpudesk-{self.table}.xlsx", forms)


class PackExportForm(_FileTargetForm):
    """Asks which facts are exported, under which name, and whether they are signed."""

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, settings, tr("Share your values"), parent)
        self.add_head(
            self.windowTitle(),
            tr("Saves your values and their sources to one file. Recipients preview all changes before they import."),
        )
        facts, count = desk.service.user_catalog.facts, desk.formatter.count
        choices = (
            (_ALL, tr("All")),
            ("things", tr("Accelerators and models")),
            ("figures", tr("Values and preferred sources")),
            ("prices", tr("Prices")),
        )
        options = []
        for key, text in choices:
            number = len(select_keys(facts, key))
            if number:
                facts_text = trn("{n} item", "{n} items", number, n=count(number))
                options.append((key, f"{text} ({facts_text})"))
        self.what = ChoiceRow(theme, "what", tr("Contents"), options)
        self.name_row = TextRow(theme, "name", tr("Name"), required=True, empty=tr("Name that recipients see"))
        self.signing = SegmentRow(theme, "sign", tr("Signature"), (("no", tr("None")), ("yes", tr("Your key"))))
        self.by = TextRow(theme, "by", tr("Signed by"), required=True, empty=tr("Your name or team"))
        self.by.show_value(settings.get(_SIGNER, ""))
        self.add_rows([self.what, self.name_row, self.signing, self.by])
        self.signing.edited.connect(self._show_signer)
        self._show_signer()

    def _show_signer(self) -> None:
        signs = self.signing.key() == "yes"
        self.by.setVisible(signs)
        if signs == (self.by in self.rows):
            return
        # A hidden row must not prevent saving.
        self.rows.append(self.by) if signs else self.rows.remove(self.by)

    @property
    def part(self) -> str:
        return self.what.key()

    @property
    def pack_name(self) -> str:
        return self.name_row.text() or ""

    @property
    def signed_by(self) -> str | None:
        """The name of the signer, None if it is not signed."""
        return self.by.text() if self.signing.key() == "yes" else None

    def ask_for_target(self) -> Path | None:
        if self.signed_by:
            self._settings.put(_SIGNER, self.signed_by)
        plain = "".join(c if c.isalnum() or c in " -_." else " " for c in self.pack_name)[:LONGEST_TEXT]
        name = " ".join(plain.split()) or "facts"
        return self.ask(f"{name}{PACK_SUFFIX}", ((tr("Value pack"), PACK_SUFFIX),))
