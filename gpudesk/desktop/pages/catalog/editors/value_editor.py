"""The form of one figure: the user's value of an attribute."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gpudesk.catalog.importing.accelerator_plausibility import check_new_value
from gpudesk.catalog.user_store.edits import find_upper_end, revert_attribute, state_value
from gpudesk.catalog.user_store.entry import ValueEntry, ValueKind, make_entry, make_user_source
from gpudesk.desktop.pages.catalog.editors.fields import NoteRow, NumberRow, TextRow, WordListRow, YesNoRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.form_context import (
    CurrentClaimRow,
    RivalClaimsPanel,
    SaveEffectPreview,
    format_claim_value,
)
from gpudesk.desktop.pages.catalog.editors.rows import FieldError, FieldVerdict, FormRow, describe_findings
from gpudesk.desktop.pages.catalog.editors.sources import SourceFields
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, AttributeClaims, Source, is_figure
from gpudesk.domain.registry import find_quantity
from gpudesk.domain.user_facts import FactEdit
from gpudesk.report.labels import get_today, label_attribute_alone
from gpudesk.text.formatting import Quantity
from gpudesk.text.translation import tr


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
        self.take_at_once(lambda: revert_attribute(catalog, self.thing.id, self.entry.attribute.name))

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
