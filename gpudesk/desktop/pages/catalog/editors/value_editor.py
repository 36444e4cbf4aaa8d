"""The form of one figure: the user's value of an attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from gpudesk.catalog.importing.accelerator_plausibility import check_new_value
from gpudesk.catalog.user_store.edits import find_upper_end, revert_attribute, state_value
from gpudesk.catalog.user_store.entry import ValueEntry, ValueKind, make_entry, make_user_source
from gpudesk.desktop.pages.catalog.editors.fields import NoteRow, NumberRow, TextRow, WordListRow, YesNoRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.rows import LABEL, FieldError, FieldVerdict, FormRow, describe_findings
from gpudesk.desktop.pages.catalog.editors.sources import SourceFields, format_kind_choice
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.ui.panel.blocks import NoteBlock
from gpudesk.desktop.ui.panel.nodes import PanelNode, make_claim_node, make_note_node
from gpudesk.desktop.ui.panel.view import PanelView
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, AttributeClaims, Claim, Source, is_figure
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.registry import find_quantity
from gpudesk.domain.user_facts import FactEdit
from gpudesk.report.comparison.verdicts import describe_impact
from gpudesk.report.explanation.claims import build_claim_group
from gpudesk.report.explanation.parts import ClaimGroup
from gpudesk.report.labels import get_today, label_attribute_alone
from gpudesk.text.formatting import MISSING_VALUE_TEXT, ClaimValue, Formatter, Quantity
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import AnswerImpact, Scenario
    from gpudesk.service import GpuDeskService


class CurrentClaimRow(QWidget):
    """The current value with its unit and source, read-only."""

    def __init__(
        self,
        theme: Theme,
        label: str,
        attribute: AttributeClaims,
        claim: Claim | None,
        formatter: Formatter,
        high: AttributeClaims | None = None,
    ) -> None:
        """Show a claim about an attribute; `high` holds the upper end of a range."""
        super().__init__()
        px = theme.px
        value = MISSING_VALUE_TEXT if claim is None else format_claim_value(attribute, claim.value, formatter)
        upper = None if claim is None or high is None else _find_upper_end(high, claim)
        if claim is not None and upper is not None and upper != claim.value:
            value = (
                f"{formatter.catalog(claim.value, Quantity.USD)} – {format_claim_value(attribute, upper, formatter)}"
            )
        origin_text = tr("No value") if claim is None else format_claim_origin(claim)
        caption = ThemedLabel(theme, label)
        caption.setFixedWidth(px(LABEL))
        figure = ThemedLabel(theme, value, font="section", wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, px(4), 0, 0)
        grid.setHorizontalSpacing(px(10))
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(caption, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(figure, 0, 1)
        grid.addWidget(ThemedLabel(theme, origin_text, font="small", color="text2", wrap=True), 1, 1)
        self.setAccessibleName(f"{label}: {value}, {origin_text}")


def _find_upper_end(high: AttributeClaims, claim: Claim) -> ClaimValue:
    """Return the upper end that the source of a claim states."""
    return next((each.value for each in high.claims if each.source.id == claim.source.id), None)


def format_claim_value(attribute: AttributeClaims, value: ClaimValue, formatter: Formatter) -> str:
    quantity = find_quantity(attribute.name, attribute.unit)
    return formatter.catalog_with_unit(value, quantity)


def format_claim_origin(claim: Claim) -> str:
    source = claim.source
    publisher = source.named_publisher
    parts = (publisher, source.title, format_kind_choice(claim.kind), source.date or tr("no date"))
    return ", ".join(part for part in parts if part)


class RivalClaimsPanel(PaintedWidget):
    """All claims about an attribute, the preferred one first; each expands to its details."""

    def __init__(
        self, theme: Theme, attribute: AttributeClaims, formatter: Formatter, high: AttributeClaims | None = None
    ) -> None:
        """Show an attribute's claims; `high` holds the upper end of a range."""
        super().__init__(theme)
        self.view = PanelView(theme)
        self.view.setAccessibleName(tr("Claims"))
        group = build_claim_group(attribute, formatter, high)
        self.view.show_nodes(_make_claim_nodes(group) if group.claims else (_make_empty_node(),))
        px = theme.px
        head = make_row(
            ThemedLabel(theme, tr("Claims"), font="section"), STRETCH, margins=(px(16), px(16), px(16), px(6))
        )
        if len(group.claims) > 1:
            head.addWidget(ThemedLabel(theme, tr("preferred first"), font="caption", color="text3"))
        make_column(head, (self.view, 1), gap=0, margins=(1, 0, 0, 0), on=self)

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("chrome"))
        area = QRectF(self.rect())
        pen.hairline(0, area.top(), 0, area.bottom())
        pen.hairline(0, 0, area.right(), 0)


def _make_claim_nodes(group: ClaimGroup) -> tuple[PanelNode, ...]:
    lines = [make_claim_node(f"claim.{place}", claim, claim.sentence) for place, claim in enumerate(group.claims)]
    if group.reason:
        lines.append(make_note_node("reason", group.reason, "scale"))
    return tuple(lines)


def _make_empty_node() -> PanelNode:
    text = tr("No source has a value yet")
    return PanelNode("nobody", NoteBlock(text, "info", boxed=False), text)


#: Delay after typing before the preview is computed.
_WAIT_MS = 150
#: Lines of detail below the sentence.
_MOST_LINES = 2


class SaveEffectPreview(QWidget):
    """A sentence and a few details on the result after saving, computed in the background.

    The previous one stays dimmed.
    """

    def __init__(self, desk: Desk, theme: Theme, trial: Callable[[], FactEdit | None]) -> None:
        """Get the step to preview from `trial`, which can raise `FieldError` or `InputError`."""
        super().__init__()
        self._desk = desk
        self._trial = trial
        self._jobs = Jobs(desk.formatter, self)
        self._timer = make_delay(self, _WAIT_MS, self._ask)
        caption = ThemedLabel(theme, tr("Open scenario"))
        caption.setFixedWidth(theme.px(LABEL))
        self.words = ThemedLabel(theme, font="body_strong", wrap=True)
        self.detail = ThemedLabel(theme, font="small", color="text2", wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(10))
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(caption, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.words, 0, 1)
        grid.addWidget(self.detail, 1, 1)
        self.setVisible(desk.answer is not None)
        self._show_sentence(tr("Current result"), (), pale=True)

    def ask_soon(self) -> None:
        if self._desk.answer is not None:
            self.words.set_color("text3")
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
        self._jobs.stop()

    def _ask(self) -> None:
        try:
            step = self._trial()
        except (FieldError, InputError):
            step = None
        if step is None:
            self._show_sentence(tr("Current result"), (), pale=True)
            return
        work = _compute_effect(self._desk.service, self._desk.scenario, step)
        self._jobs.start("impact", work, self._show, self._failed)

    def _show(self, impact: AnswerImpact) -> None:
        impact_text = describe_impact(impact, self._desk.formatter)
        self._show_sentence(impact_text.sentence, impact_text.lines[:_MOST_LINES], pale=False)

    def _failed(self, error: InputError) -> None:  # noqa: ARG002 - the form shows the error itself
        self._show_sentence(tr("No result with this value"), (), pale=False)

    def _show_sentence(self, sentence: str, lines: tuple[str, ...], *, pale: bool) -> None:
        self.words.setText(sentence)
        self.words.set_color("text3" if pale else "text1")
        self.detail.setText(" · ".join(lines))
        self.detail.setVisible(bool(lines))
        self.setAccessibleName(tr("Open scenario: {words}", words=". ".join((sentence, *lines))))


def _compute_effect(service: GpuDeskService, scenario: Scenario, step: FactEdit) -> ProgressSteps[AnswerImpact]:
    # The job is too short for progress.
    nothing: tuple[JobProgress, ...] = ()
    yield from nothing
    return service.compute_impact(scenario, step)


class ValueEditor(FormDialog):
    """States a user value, effective on saving."""

    manual_topic = "values#enter"

    def __init__(self, desk: Desk, theme: Theme, thing: str, attribute: str, *, parent: QWidget | None = None) -> None:
        """Begin with the user's value, if any; raises `InputError` for an unknown entry or attribute."""
        catalog = desk.service.catalog
        self.entry = make_entry(
            catalog, thing, PRICE_BOUND_ATTRIBUTES[0] if attribute in PRICE_BOUND_ATTRIBUTES else attribute
        )
        self.thing = catalog.thing(thing)
        super().__init__(desk, theme, tr("Your value"), save=tr("Save value"), parent=parent, wide=True)
        claims = self.entry.attribute
        user_claim = claims.preferred if claims.preferred is not None and claims.preferred.own else None
        self.add_head(label_attribute_alone(claims.name), self.thing.name)
        self._add_present(claims)
        self.value_row = make_value_row(theme, self.entry, desk)
        self.conditions = TextRow(theme, "conditions", tr("Conditions"), empty=tr("Example: x16, both directions"))
        self.reason = TextRow(theme, "reason", tr("Reason"), empty=tr("Shown with the value"))
        self.note_row = NoteRow(theme, "note", tr("Note"))
        self.high_row = self._make_upper_row()
        values = [row for row in (self.value_row, self.high_row) if row is not None]
        self.add_section(tr("Your value"), [*values, self.conditions, self.reason, self.note_row])
        self.source = SourceFields(theme, desk.service.user_catalog.facts, desk)
        self.add_section(tr("Source"), self.source.rows())
        if user_claim is not None:
            self.value_row.show_figures({"value": user_claim.value})
            upper = find_upper_end(self.desk.service.catalog, self.entry.attribute)
            if self.high_row is not None and upper is not None and upper.value != user_claim.value:
                self.high_row.show_figures({"high": upper.value})
            self.conditions.show_value(user_claim.conditions)
            self.note_row.show_value(user_claim.note)
            preference = self.entry.attribute.preference
            self.reason.show_value(preference.reason if preference is not None else None)
            self.source.show_source(user_claim.source)
            self._say_difference()
        self._add_revert()
        self.claims = RivalClaimsPanel(theme, claims, desk.formatter, find_upper_end(catalog, claims))
        self.set_aside(self.claims)
        self.value_row.judge = self._judge
        self.value_row.edited.connect(self._say_difference)
        self.impact = SaveEffectPreview(desk, theme, self.trial)
        for row in values:
            row.edited.connect(self.impact.ask_soon)
        self.add_fixed(self.impact)
        self.value_row.focus_control()

    def edit(self) -> FactEdit:
        return self._make_fact_edit(self.source.source())

    def trial(self) -> FactEdit:
        return self._make_fact_edit(make_user_source(tr("Your value")))

    def _make_fact_edit(self, source: Source) -> FactEdit:
        catalog, name = self.desk.service.catalog, self.entry.attribute.name
        figure = next(self.value_row.list_figures())
        return state_value(
            catalog,
            self.thing.id,
            name,
            figure.value,
            figure.unit,
            source,
            today=get_today(),
            conditions=self.conditions.text(),
            note=self.note_row.text(),
            reason=self.reason.text(),
            high=None if self.high_row is None else self.high_row.parse_number_or_none(),
        )

    def after_saving(self) -> None:
        self.source.remember()

    def _make_upper_row(self) -> NumberRow | None:
        """Return the row of the upper end of a purchase price; None otherwise."""
        if self.entry.attribute.name != PRICE_BOUND_ATTRIBUTES[0]:
            return None
        style, empty = self.desk.formatter.style, tr("For a range")
        return NumberRow(self.theme, "high", tr("Up to"), self.entry.units, empty=empty, style=style)

    def _add_present(self, attribute: AttributeClaims) -> None:
        """Show the current value, and the shipped one if it differs."""
        formatter, upper = self.desk.formatter, find_upper_end(self.desk.service.catalog, attribute)
        self.column.addWidget(
            CurrentClaimRow(self.theme, tr("Current"), attribute, attribute.preferred, formatter, upper)
        )
        if attribute.overridden and attribute.shipped is not None:
            shipped = CurrentClaimRow(self.theme, tr("Shipped"), attribute, attribute.shipped, formatter, upper)
            self.column.addWidget(shipped)

    def _add_revert(self) -> None:
        attribute = self.entry.attribute
        states = attribute.overridden or any(claim.own for claim in attribute.claims)
        if not states or self.thing.own:
            return
        self.revert_button = self.add_left_button(tr("Reset to shipped value"), self._revert)

    def _revert(self) -> None:
        catalog = self.desk.service.catalog
        self.apply_immediately(lambda: revert_attribute(catalog, self.thing.id, self.entry.attribute.name))

    def _judge(self) -> FieldVerdict:
        catalog, value = self.desk.service.catalog, next(self.value_row.list_figures()).inside
        name = self.entry.attribute.name
        findings = check_new_value(catalog, self.thing.id, name, value)
        # For a price the other end changes with it.
        own_findings = findings if self.high_row is None else [each for each in findings if each.attribute == name]
        return describe_findings(own_findings, self.desk.formatter)

    def _say_difference(self) -> None:
        row = self.value_row
        if not isinstance(row, NumberRow):
            return
        try:
            inside = row.inside()
        except FieldError:
            inside = None
        row.set_echo("" if inside is None else self._describe_difference(inside))

    def _describe_difference(self, inside: float) -> str:
        attribute, formatter = self.entry.attribute, self.desk.formatter
        parts = []
        if find_quantity(attribute.name, attribute.unit) is Quantity.MEMORY:
            parts.append(format_claim_value(attribute, inside, formatter))
        shipped = attribute.catalog_choice
        against = None if shipped is None else shipped.value
        if is_figure(against) and against:
            same = inside == against
            difference = tr("equal") if same else formatter.difference(inside / against)
            parts.append(tr("{difference} vs. shipped value", difference=difference))
        return " · ".join(parts)


def make_value_row(theme: Theme, entry: ValueEntry, desk: Desk) -> FormRow:
    label = tr("Value")
    if entry.kind is ValueKind.NUMBER:
        return NumberRow(theme, "value", label, entry.units, required=True, style=desk.formatter.style)
    if entry.kind is ValueKind.YES_NO:
        return YesNoRow(theme, "value", label, required=True)
    if entry.kind is ValueKind.WORDS:
        empty = tr("Words, separated by commas")
        return WordListRow(theme, "value", label, required=True, empty=empty, words=entry.words)
    return TextRow(theme, "value", label, required=True, words=entry.words)
