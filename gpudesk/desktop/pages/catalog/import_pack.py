"""The preview of a value pack: its signer, and what each row would change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QHeaderView, QTableView, QWidget

from gpudesk.desktop.pages.catalog.editors.form import BackgroundFormDialog
from gpudesk.desktop.pages.catalog.editors.rows import FieldRemark
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.ui.tables.table_base import Index, TableItemModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_row
from gpudesk.documents.imports import FileImport, apply_pack
from gpudesk.documents.pack_file import format_fingerprint
from gpudesk.documents.packs import find_new_signer
from gpudesk.domain.user_facts import (
    FactEdit,
    FactKey,
    FactPack,
    ImportProposal,
    PackRow,
    PackTrust,
    UserFacts,
    get_chosen_keys,
)
from gpudesk.report.catalog_import import PackLine, describe_signer, list_pack_lines
from gpudesk.report.labels import get_today
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn

_CHECK, _TEXTS = 0, ("label", "theirs", "yours", "shipped", "standing")


class PackModel(TableItemModel):
    """Rows that can be imported come first. Texts are made on demand."""

    #: The selection of rows changed.
    chosen_changed = Signal()

    def __init__(
        self, pack: FactPack, rows: Sequence[PackRow], formatter: Formatter, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._rows = sorted(rows, key=lambda row: not row.can_be_chosen)
        self._lines: list[PackLine] = list(list_pack_lines(pack, self._rows, formatter))
        self._open = frozenset(row.key for row in rows if row.can_be_chosen)
        self._chosen = set(get_chosen_keys(rows))

    @property
    def chosen(self) -> frozenset[FactKey]:
        return frozenset(self._chosen)

    @property
    def open(self) -> int:
        return len(self._open)

    def choose_all(self) -> None:
        self._choose(self._open)

    def choose_none(self) -> None:
        self._choose(frozenset())

    def toggle(self, row: int) -> None:
        key = self._rows[row].key
        if key in self._open:
            self._chosen ^= {key}
            self._emit_changes(row, row)

    def count_rows(self) -> int:
        return len(self._rows)

    def count_columns(self) -> int:
        return len(_TEXTS)

    def get_head(self, section: int, *, spoken: bool) -> str | None:
        heads = (tr("Value"), tr("Pack"), tr("Yours"), tr("Shipped"), tr("Status"))
        return None if spoken else heads[section]

    def get_text(self, row: int, column: int) -> str:
        text: str = getattr(self._lines[row], _TEXTS[column])
        return text

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - by role
        if not index.isValid() or index.column() != _CHECK:
            return super().data(index, role)
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.CheckStateRole and row.key in self._open:
            return Qt.CheckState.Checked if row.key in self._chosen else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            line = self._lines[index.row()]
            state = ""
            if row.key in self._open:
                state = tr("selected") if row.key in self._chosen else tr("not selected")
            return ", ".join(filter(None, (line.label, line.standing, state)))
        return super().data(index, role)

    def setData(
        self,
        index: Index,
        value: Any,  # noqa: ANN401 - Qt's type
        role: int = Qt.ItemDataRole.EditRole,
    ) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or index.column() != _CHECK:
            return False
        checked = Qt.CheckState(value) == Qt.CheckState.Checked
        if (self._rows[index.row()].key in self._chosen) != checked:
            self.toggle(index.row())
        return True

    def get_flags(self, row: int, column: int) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        if self._rows[row].key in self._open:
            flags |= Qt.ItemFlag.ItemIsEnabled
            if column == _CHECK:
                flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def _choose(self, keys: frozenset[FactKey]) -> None:
        if keys != self._chosen:
            self._chosen = set(keys)
            self._emit_changes(0, len(self._rows) - 1)

    def _emit_changes(self, first: int, last: int) -> None:
        roles = [Qt.ItemDataRole.CheckStateRole, Qt.ItemDataRole.AccessibleTextRole]
        self.dataChanged.emit(self.index(first, _CHECK), self.index(last, _CHECK), roles)
        self.chosen_changed.emit()


_WIDTH, _HEIGHT = 1000.0, 640.0
#: Shares of the table's width, by column.
_SHARES = (31, 26, 13, 15, 15)
#: Maximum rows visible without scrolling.
_SEEN, _ROW, _HEAD = 12, 29.0, 28.0
_ICONS = {PackTrust.KNOWN: "check", PackTrust.UNKNOWN: "triangle-alert", PackTrust.UNSIGNED: "triangle-alert"}


class PackDialog(BackgroundFormDialog):
    """Each row can be selected. A pack that is unsigned or has an unknown signer must be trusted first."""

    manual_topic = "values#packs"

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        jobs: Jobs,
        file_import: FileImport,
        pack: FactPack,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            desk, theme, jobs, tr("Import {file}", file=file_import.path.name), save=tr("Import none"), parent=parent
        )
        self._file_import = file_import
        self._pack = pack
        self.proposal = ImportProposal("pack", pack.name, ())
        self.model = PackModel(pack, file_import.rows, desk.formatter, self)
        self.model.chosen_changed.connect(self._count)
        self.table = self._make_table()
        self._fill()
        self._count()

    def sizeHint(self) -> QSize:
        hint, px = super().sizeHint(), self.theme.px
        return QSize(px(_WIDTH), min(hint.height(), px(_HEIGHT)))

    # Display

    def _fill(self) -> None:
        pack, signers = self._pack, self.desk.service.user_catalog.signers()
        trust = pack.trust(signers)
        values = trn("{n} value", "{n} values", len(pack.facts))
        self.add_head(pack.name, tr("Value pack from {date}, {values}", date=pack.date, values=values))
        print_of = "" if pack.signature is None else format_fingerprint(pack.signature.key)
        trusted_signer = pack.signer(signers)
        unsure = trust is not PackTrust.KNOWN
        self.signer = FieldRemark(self.theme, _ICONS[trust], "disputed" if unsure else "text2", "text1")
        self.signer.show_text(
            describe_signer(pack, trust, print_of, None if trusted_signer is None else trusted_signer.name)
        )
        self.column.addWidget(self.signer)
        unsigned = trust is PackTrust.UNSIGNED
        self.trust = QCheckBox(
            tr("Import without a signature: I trust this file")
            if unsigned
            else tr("The fingerprint is correct: trust this signer from now on")
        )
        self.trust.setVisible(unsure)
        self.trust.toggled.connect(self._count)
        self.column.addWidget(self.trust)
        self.count_label = ThemedLabel(self.theme, font="small", color="text2")
        all_rows = LinkButton(self.theme, tr("Select all"), self.model.choose_all)
        all_rows.setAccessibleName(tr("Select all rows"))
        none = LinkButton(self.theme, tr("Select none"), self.model.choose_none)
        none.setAccessibleName(tr("Clear selection"))
        self.column.addLayout(make_row(self.count_label, STRETCH, all_rows, none, gap=self.theme.px(16)))
        self.column.addWidget(self.table, 1)

    def _make_table(self) -> QTableView:
        theme = self.theme
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName(tr("Values in the pack"))
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        visible_rows = min(self.model.rowCount(), _SEEN)
        table.setMinimumHeight(theme.px(_HEAD) + visible_rows * theme.px(_ROW) + 4)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(theme.px(_ROW))
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setMinimumHeight(theme.px(27))
        table.installEventFilter(self)
        table.viewport().installEventFilter(self)
        return table

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Toggle the current row with Space; share the width when it changes."""
        if watched is self.table.viewport() and event.type() == QEvent.Type.Resize:
            room = self.table.viewport().width()
            for column, share in enumerate(_SHARES):
                self.table.setColumnWidth(column, room * share // 100)
        if watched is self.table and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Space and self.table.currentIndex().isValid():
                self.model.toggle(self.table.currentIndex().row())
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.accept()
                return True
        return super().eventFilter(watched, event)

    def _count(self) -> None:
        chosen, count = len(self.model.chosen), self.desk.formatter.count
        self.count_label.setText(
            tr("{chosen} of {open} new values selected", chosen=count(chosen), open=count(self.model.open))
        )
        self.save_button.setText(trn("Import {count} value", "Import {count} values", chosen, count=count(chosen)))
        settled = self.trust.isHidden() or self.trust.isChecked()
        self.save_button.setEnabled(bool(chosen) and settled and not self.writing)

    # Writing

    @property
    def entered(self) -> bool:
        """Whether closing would lose input: selections are quickly repeated."""
        return False

    def save(self) -> None:
        """Import the selected rows in the background, and then close."""
        user_catalog = self.desk.service.user_catalog
        signer = find_new_signer(self._pack, user_catalog.signers(), trust=self.trust.isChecked(), today=get_today())
        self.write(apply_pack(self.desk.service, self._file_import, self.model.chosen, signer), self._finish_import)

    def _finish_import(self, saved: tuple[FactEdit, UserFacts]) -> None:
        self.finish(*saved)

    def list_locked_controls(self) -> tuple[QWidget, ...]:
        """Return the controls that are disabled while writing; the main button follows the selection."""
        return (self.leave_button, self.table, self.trust)

    def set_writing(self, *, writing: bool) -> None:
        super().set_writing(writing=writing)
        self._count()
