"""The preview of an import: what would come, under which name and source, and what the file leaves open."""

from __future__ import annotations

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.catalog.editors.fields import DateRow, TextRow
from gpudesk.desktop.pages.catalog.editors.rows import FieldFault, FormRow
from gpudesk.desktop.pages.catalog.importing.figures_view import FiguresAside, FiguresView
from gpudesk.desktop.pages.catalog.importing.missing_rows import answer_of, missing_rows
from gpudesk.desktop.pages.catalog.importing.writing_form import WritingForm
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import Edit, MissingField, OwnFacts, OwnPrice, Proposal
from gpudesk.sentences import problem, sentence
from gpudesk.sheets.import_lines import kind_word
from gpudesk.text import tr, trn
from gpudesk.workbench.import_figures import import_figures
from gpudesk.workbench.importing import Import
from gpudesk.workbench.proposals import lacks, nobodys, sources_of, subject_of
from gpudesk.workbench.taking_in import Wishes, take

#: What figures have beside the rows, the buttons below, and the highest that the dialog becomes by itself.
_ASIDE, _FOOT, _HIGHEST = 300.0, 54.0, 700.0
#: A count of parameters follows what is typed after a rest of this length.
_FOLLOWS_MS = 200


class ImportDialog(WritingForm):
    """Shows one import; what is entered here holds before anything is written, and stays where that fails."""

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        jobs: Jobs,
        found: Import,
        *,
        place: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Show what a file would bring; `place` tells it from others that come with it."""
        title = tr("Import {file}", file=found.path.name)
        super().__init__(
            desk,
            theme,
            jobs,
            f"{title}, {place}" if place else title,
            save=_save_text(found.proposal, desk),
            leave=tr("Leave it out"),
            parent=parent,
            wide=True,
        )
        self._found = found
        self.proposal = found.proposal
        self._missing: list[tuple[FormRow, MissingField]] = []
        self._beside: FiguresAside | None = None
        self._figures = FiguresView(theme, desk.formatter)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_FOLLOWS_MS)
        self._timer.timeout.connect(self._follow)
        self._fill()
        self._show_figures()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Show all rows and figures where the screen has room for them."""
        hint, px = super().sizeHint(), self.theme.px
        if self._beside is None:
            return hint
        figures = self._beside.height_for(px(_ASIDE)) + px(_FOOT)
        return QSize(hint.width(), min(max(hint.height(), figures), px(_HIGHEST)))

    # Rows

    def _fill(self) -> None:
        proposal = self.proposal
        self.add_head(proposal.name, f"{kind_word(proposal.kind)}, {self._found.path.name}")
        self.add_rows(self._name_rows())
        self.add_rows(self._price_rows())
        if proposal.missing:
            remark = tr("Nothing is guessed.")
            if proposal.kind == "model":
                remark = tr("Take it from the model's card or its code. Nothing is guessed.")
            self.add_section(tr("What the file does not state"), remark=remark)
            self._ask(proposal)
        if proposal.kind == "prices":
            self.column.addSpacing(self.theme.px(8))
            self.column.addWidget(self._figures)
        else:
            self._beside = FiguresAside(self.theme, self._figures)
            self.set_aside(self._beside)

    def _name_rows(self) -> list[FormRow]:
        subject = subject_of(self.proposal)
        if subject is None and not self.proposal.missing:
            return self._id_rows()
        name = TextRow(self.theme, "name", tr("Name"), required=True)
        name.show_value(self.proposal.name if subject is None else subject.name)
        return [name, *self._id_rows()]

    def _id_rows(self) -> list[FormRow]:
        subject, sources = subject_of(self.proposal), sources_of(self.proposal)
        rows: list[FormRow] = []
        if subject is not None:
            row = TextRow(self.theme, "id", tr("Id"), required=True)
            row.show_value(subject.id)
            rows.append(row)
        if nobodys(self.proposal):
            rows.append(self._organisation_row())
        if len(sources) == 1:
            row = TextRow(self.theme, "title", tr("Source"), required=True)
            row.show_value(sources[0].title)
            rows.append(row)
        return rows

    def _organisation_row(self) -> FormRow:
        """Ask whose model it is where neither its folder nor its file says so."""
        known = {model.organisation for model in self.desk.workbench.catalog.models()}
        return TextRow(
            self.theme,
            "organisation",
            tr("Organisation"),
            empty=tr("who made it; its files do not say"),
            words=sorted(known, key=str.casefold),
        )

    def _price_rows(self) -> list[FormRow]:
        no_provider, no_date = lacks(self.proposal)
        rows: list[FormRow] = []
        if no_provider:
            providers = {price.provider for price in self.desk.workbench.catalog.prices() if price.provider}
            row = TextRow(
                self.theme,
                "provider",
                tr("Provider"),
                empty=tr("of the prices for which the file names none"),
                words=sorted(providers),
            )
            rows.append(row)
        if no_date:
            rows.append(DateRow(self.theme, "date", tr("Date of the prices")))
            rows[-1].set_echo(tr("The file gives none. Without one they are shown as undated."))
        return rows

    def _name_what_is_whole(self) -> None:
        """Let id and source be changed too once there is something that has them."""
        if self._missing and self.row("id") is None and subject_of(self.proposal) is not None:
            self.add_section(tr("Entry"), self._id_rows())

    def _ask(self, proposal: Proposal) -> bool:
        """Put a row for each missing field that was not asked for yet; return whether there was one."""
        asked = {field.name for _, field in self._missing}
        fields = [field for field in proposal.missing if field.name not in asked]
        rows = missing_rows(self.theme, fields, self.desk.formatter)
        self._missing += zip(rows, fields, strict=True)
        self.add_rows(rows)
        for row in rows:
            row.edited.connect(self._timer.start)
        return bool(rows)

    # What comes

    def _answers(self) -> dict[str, object] | None:
        """Return what is answered, None while an answer is missing or cannot be used."""
        answers: dict[str, object] = {}
        for row, field in self._missing:
            try:
                value = answer_of(row, field)
            except FieldFault:
                return None
            if value is None:
                return None
            answers[field.name] = value
        return answers

    def _follow(self) -> None:
        """Count anew with what is typed."""
        answers = self._answers()
        if answers is None or self._found.complete is None:
            self._show_figures()
            return
        try:
            self.proposal = self._found.complete(answers)
        except InputError as error:
            self._figures.show_sentence(problem(error, self.desk.formatter))
            return
        self._ask(self.proposal)
        self._name_what_is_whole()
        self._show_figures()
        # What is new has its size with the next turn of the event loop.
        QTimer.singleShot(0, self, self._grow)

    def _grow(self) -> None:
        """Make room for what has come, as far as the screen has it."""
        room = self.screen().availableGeometry().bottom() - self.y()
        wanted = min(self.sizeHint().height(), room)
        if wanted > self.height():
            self.resize(self.width(), wanted)

    def _show_figures(self) -> None:
        said = [sentence(note, self.desk.formatter) for note in self.proposal.notes]
        left_out = [sentence(note, self.desk.formatter) for note in self.proposal.left_out]
        open_fields = [row for row, field in self._missing if _is_open(row, field)]
        if open_fields:
            text = trn(
                "Parameters and KV cache follow once {n} field is filled in.",
                "Parameters and KV cache follow once {n} fields are filled in.",
                len(open_fields),
            )
            self._figures.show_sentence(text, said)
            return
        figures = import_figures(self.proposal, self.desk.workbench.catalog)
        self._figures.show_figures(figures, said, left_out)

    # Writing

    def accept(self) -> None:
        """Write it beside the window, and close; where that fails, say so, and keep what was entered."""
        if self.writing:
            return
        self.note.show_text("")
        usable = [row.check(saving=True) for row in self.rows]
        if not all(usable):
            self._go_to_fault()
            return
        try:
            proposal = self._completed()
        except FieldFault as error:
            self.say_problem(str(error))
        except InputError as error:
            self.tell(error)
        else:
            wishes = Wishes(**{row.name: _text_of(row) for row in self.rows if row.name in _WISHES})
            self.write(take(self.desk.workbench, self._found, proposal, wishes), self._written)

    def _completed(self) -> Proposal:
        """Return the proposal with what is answered; raises `InputError` or `FieldFault`."""
        if not self._missing:
            return self.proposal
        answers = self._answers()
        if answers is None or self._found.complete is None:
            raise FieldFault(tr("A field is not filled in"))
        proposal = self._found.complete(answers)
        if self._ask(proposal):
            raise FieldFault(tr("The file leaves more open: fill in what is asked for now"))
        return proposal

    def _written(self, written: tuple[Edit, OwnFacts, Proposal]) -> None:
        step, facts, self.proposal = written
        self.finish(step, facts)


#: The rows of wishes, by the names of their fields.
_WISHES = frozenset({"id", "name", "organisation", "title", "provider", "date"})


def _is_open(row: FormRow, field: MissingField) -> bool:
    try:
        return answer_of(row, field) is None
    except FieldFault:
        return True


def _text_of(row: FormRow) -> str:
    return "" if row.is_empty() else str(row.read())


def _save_text(proposal: Proposal, desk: Desk) -> str:
    """Return what the main button says: what comes, and how many of them."""
    if proposal.kind == "model":
        return tr("Add model")
    if proposal.kind == "accelerator":
        return tr("Add accelerator")
    prices = sum(isinstance(fact, OwnPrice) for fact in proposal.facts)
    return trn("Add {count} price", "Add {count} prices", prices, count=desk.formatter.count(prices))
