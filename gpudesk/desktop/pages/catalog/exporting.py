"""Handing on: a table of the catalog as a file, and the user's facts as a pack."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from gpudesk import paths
from gpudesk.desktop.pages.catalog.arrangement import SECTION_SETTING
from gpudesk.desktop.pages.catalog.editors.fields import LONGEST_TEXT, ChoiceRow, SegmentRow, TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.shell.opening import show_folder
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.catalog_tables import Section
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.progress import Progress, Steps
from gpudesk.sentences import problem
from gpudesk.sheets.catalog_tables import CatalogFacts, catalog_table
from gpudesk.sheets.dates import today
from gpudesk.sheets.table_export import MACHINE_FORMS, Form, write_table
from gpudesk.text import tr, trn
from gpudesk.workbench.files import write_atomically
from gpudesk.workbench.handing_on import keys_of, write_pack
from gpudesk.workbench.pack_format import PACK_SUFFIX

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow

log = logging.getLogger(__name__)

_FOLDER, _SIGNER = "export.folder", "pack.signer"
_ALL: Final = "all"
#: The table of each list.
_TABLES: Final = {section.value: section.value for section in Section} | {
    Section.DIFFUSION.value: "diffusion-models",
    Section.YOURS.value: "own",
}


def table_names() -> tuple[tuple[str, str], ...]:
    """Return the tables that can be exported, by the key that the command line has for each."""
    return (
        ("accelerators", tr("Accelerators")),
        ("models", tr("Models")),
        ("diffusion-models", tr("Diffusion models")),
        ("diffusion-results", tr("Times of diffusion models")),
        ("prices", tr("Prices")),
        ("claims", tr("Claims")),
        ("statements", tr("Statements of the source documents")),
        ("disputes", tr("Disputes")),
        ("sources", tr("Sources")),
        ("own", tr("Your facts")),
    )


def export_table(window: MainWindow) -> None:
    """Let the user choose a table, at first the list that is shown, and a file; write it there."""
    shown = window.settings.get(SECTION_SETTING, Section.ACCELERATORS.value)
    table = _TABLES.get(shown, Section.ACCELERATORS.value)
    form = ExportForm(window.desk, window.theme, window.settings, table, window)
    form.accepted.connect(lambda: _write_table(window, form))
    form.finished.connect(form.deleteLater)
    form.open()


def _write_table(window: MainWindow, form: ExportForm) -> None:
    target = form.target
    if target is not None:
        steps = write_catalog_table(form.table, window.desk.workbench.catalog, target)
        _run(window, "export", steps)


def write_catalog_table(table: str, catalog: CatalogFacts, target: Path) -> Steps[Path]:
    """Write a table in the form that the suffix names; raises `InputError` where that fails."""
    yield Progress(message("handing_on.table"))
    form = Form(target.suffix.lower())
    made = catalog_table(table, catalog, for_programs=form in MACHINE_FORMS)
    yield Progress(message("handing_on.table"))
    contents = io.BytesIO()
    write_table(made, form, contents)
    yield Progress(message("handing_on.table"))
    write_atomically(target, contents.getvalue())
    return target


def make_pack(window: MainWindow) -> None:
    """Let the user choose facts and a file, and write the pack beside the window."""
    form = PackForm(window.desk, window.theme, window.settings, window)
    form.accepted.connect(lambda: _write_pack(window, form))
    form.finished.connect(form.deleteLater)
    form.open()


def _write_pack(window: MainWindow, form: PackForm) -> None:
    if form.target is None:
        return
    workbench = window.desk.workbench
    steps = write_pack(
        workbench.own.facts,
        form.part,
        form.pack_name,
        form.target,
        made=today(),
        about=workbench.catalog.shipped_revision,
        signed_by=form.signed_by,
    )
    _run(window, "pack", steps)


def _run(window: MainWindow, kind: str, steps: Steps[Path]) -> None:
    """Write beside the window, and say in its note how it went."""

    def done(target: Path) -> None:
        log.info("written: %s, %s", kind, target.suffix)
        remedy = (tr("Open folder"), lambda: show_folder(target.parent, window.note.show_note))
        window.note.show_note(tr("Written: {file}.", file=str(target)), [remedy], fault=False)

    def failed(error: InputError) -> None:
        said = problem(error, window.desk.formatter).rstrip(".")
        window.note.show_note(tr("Not written: {problem}. What was there is as it was.", problem=said))

    window.jobs.start(kind, steps, done, failed)


class _FileForm(FormDialog):
    """A form that ends with a file to write to, and changes no facts."""

    def __init__(
        self, desk: Desk, theme: Theme, settings: Settings, title: str, parent: QWidget | None
    ) -> None:
        """Name the form."""
        super().__init__(
            desk, theme, title, save=tr("Save as…"), leave=tr("Cancel"), parent=parent, writes_facts=False
        )
        self.target: Path | None = None
        self._settings = settings

    def edit(self) -> Edit | None:
        """Return no step: a file is written, not a fact."""
        return None

    def accept(self) -> None:
        """Ask for the file once everything is filled in; go on with the form where none is chosen."""
        usable = [row.check(saving=True) for row in self.rows]
        if not all(usable):
            self._go_to_fault()
            return
        self.target = self.ask_for_target()
        if self.target is not None:
            self._settings.put(_FOLDER, str(self.target.absolute().parent))
            QDialog.accept(self)

    def ask_for_target(self) -> Path | None:
        """Return the file to write to, None where the user chose none."""
        raise NotImplementedError

    def ask(self, name: str, filters: Sequence[tuple[str, str]]) -> Path | None:
        """Let the user choose a file; one without a known suffix gets that of the form chosen beside it."""
        folder = Path(self._settings.get(_FOLDER, str(paths.home_dir())))
        wanted = ";;".join(f"{said} (*{suffix})" for said, suffix in filters)
        chosen, form = QFileDialog.getSaveFileName(self, self.windowTitle(), str(folder / name), wanted)
        if not chosen:
            return None
        target = Path(chosen)
        known = [suffix for _, suffix in filters]
        if target.suffix.lower() in known:
            return target
        taken = next((suffix for said, suffix in filters if form.startswith(f"{said} (")), known[0])
        return target.with_name(target.name + taken)


class ExportForm(_FileForm):
    """Asks which table is written where."""

    def __init__(
        self, desk: Desk, theme: Theme, settings: Settings, table: str, parent: QWidget | None = None
    ) -> None:
        """Begin with a table."""
        super().__init__(desk, theme, settings, tr("Export a table"), parent)
        self.add_head(
            self.windowTitle(),
            tr("Every figure with its unit, source, date and kind. The suffix names the form of the file."),
        )
        self.choice = ChoiceRow(theme, "table", tr("Table"), table_names())
        self.choice.show_value(table)
        self.add_rows([self.choice])

    @property
    def table(self) -> str:
        """The table that is chosen."""
        return self.choice.key()

    def ask_for_target(self) -> Path | None:
        """Offer all forms of tables."""
        forms = (
            (tr("Workbook"), Form.XLSX.value),
            (tr("Table with commas"), Form.CSV.value),
            (tr("JSON for programs"), Form.JSON.value),
            (tr("Markdown"), Form.MARKDOWN.value),
        )
        return self.ask(f"gpudesk-{self.table}.xlsx", forms)


class PackForm(_FileForm):
    """Asks which facts are handed on, under what name, and whether they are signed."""

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Begin with all facts, unsigned."""
        super().__init__(desk, theme, settings, tr("Hand on your facts"), parent)
        self.add_head(
            self.windowTitle(),
            tr("One file with your facts and their sources. Whoever imports it sees first what it changes."),
        )
        facts, count = desk.workbench.own.facts, desk.formatter.count
        said = (
            (_ALL, tr("All")),
            ("things", tr("Accelerators and models")),
            ("figures", tr("Values and choices")),
            ("prices", tr("Prices")),
        )
        options = []
        for key, text in said:
            number = len(keys_of(facts, key))
            if number:
                facts_text = trn("{n} fact", "{n} facts", number, n=count(number))
                options.append((key, f"{text} ({facts_text})"))
        self.what = ChoiceRow(theme, "what", tr("What"), options)
        self.named = TextRow(
            theme, "name", tr("Name"), required=True, empty=tr("What it is called for others")
        )
        self.signing = SegmentRow(
            theme, "sign", tr("Signature"), (("no", tr("None")), ("yes", tr("With your key")))
        )
        self.by = TextRow(theme, "by", tr("Signed by"), required=True, empty=tr("Your name for others"))
        self.by.show_value(settings.get(_SIGNER, ""))
        self.add_rows([self.what, self.named, self.signing, self.by])
        self.signing.edited.connect(self._show_signer)
        self._show_signer()

    def _show_signer(self) -> None:
        signs = self.signing.key() == "yes"
        self.by.setVisible(signs)
        if signs == (self.by in self.rows):
            return
        # A row that is out of sight must not keep the form from being saved.
        self.rows.append(self.by) if signs else self.rows.remove(self.by)

    @property
    def part(self) -> str:
        """Which of the facts are handed on."""
        return self.what.key()

    @property
    def pack_name(self) -> str:
        """What the pack is called."""
        return self.named.text() or ""

    @property
    def signed_by(self) -> str | None:
        """Whose name stands under it, None where it is not signed."""
        return self.by.text() if self.signing.key() == "yes" else None

    def ask_for_target(self) -> Path | None:
        """Offer the one form of packs."""
        if self.signed_by:
            self._settings.put(_SIGNER, self.signed_by)
        plain = "".join(c if c.isalnum() or c in " -_." else " " for c in self.pack_name)[:LONGEST_TEXT]
        name = " ".join(plain.split()) or "facts"
        return self.ask(f"{name}{PACK_SUFFIX}", ((tr("Pack of facts"), PACK_SUFFIX),))
