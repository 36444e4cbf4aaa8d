"""The form of a choice between claims: all of them side by side, which is taken, and why."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpudesk.desktop.pages.catalog.editors.claim_option import ClaimOption, choice_text
from gpudesk.desktop.pages.catalog.editors.fields import LONGEST_NOTE, TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.impact_preview import ImpactPreview
from gpudesk.desktop.panel.pieces import Measure
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.claims import PRICE_ENDS, Claim, SeedClaim, Stance
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit
from gpudesk.sheets.claim_lines import claim_group, label_alone
from gpudesk.sheets.dates import today
from gpudesk.text import tr
from gpudesk.workbench.own_edits import prefer, take_shipped
from gpudesk.workbench.own_entry import attribute_or_empty
from gpudesk.workbench.own_forms import upper_end


class PreferEditor(FormDialog):
    """Takes one of the claims there are."""

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        thing: str,
        attribute: str,
        *,
        claim: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Begin with the claim of the source `claim`, else with the one in force.

        Raises `InputError` where there is nothing to choose from.
        """
        catalog = desk.workbench.catalog
        self.thing = catalog.thing(thing)
        first = PRICE_ENDS[0] if attribute in PRICE_ENDS else attribute
        self.attribute = attribute_or_empty(catalog, thing, first)
        if not self.attribute.claims:
            raise InputError(message("own.no_claims"), "claim")
        super().__init__(
            desk,
            theme,
            tr("Choose a claim"),
            save=tr("Take this claim"),
            leave=tr("Keep as it was"),
            parent=parent,
            wide=True,
        )
        self._from_start: Claim | None = None
        self.add_head(label_alone(self.attribute.name), self.thing.name)
        self.options = self._make_options()
        self.reason = TextRow(
            theme,
            "reason",
            tr("Why this one"),
            required=True,
            empty=tr("Stands beside the value"),
            longest=LONGEST_NOTE,
        )
        self._add_options()
        self.impact = ImpactPreview(desk, theme, self.trial)
        self.add_fixed(self.reason, self.impact)
        if self.attribute.preference is not None:
            self.reason.show_value(self.attribute.preference.reason)
        self._add_take_shipped()
        self._choose_first(claim)

    @property
    def chosen(self) -> Claim | None:
        """The claim that is marked."""
        return next((option.choice.claim for option in self.options if option.isChecked()), None)

    @property
    def entered(self) -> bool:
        """Whether a claim was marked or a reason written."""
        return super().entered or self.chosen is not self._from_start

    def edit(self) -> Edit | None:
        """Return the step that takes the marked claim."""
        claim = self.chosen
        return None if claim is None else self._step(claim, self.reason.text() or "")

    def trial(self) -> Edit | None:
        """Return the step with the claim that is marked, whatever the reason."""
        return None if self.chosen is None else self._step(self.chosen, tr("Your choice"))

    def _step(self, claim: Claim, reason: str) -> Edit:
        catalog = self.desk.workbench.catalog
        return prefer(catalog, self.thing.id, self.attribute.name, claim, reason, today=today())

    def _make_options(self) -> list[ClaimOption]:
        """Return an option for every claim, the one in force first."""
        found = self.attribute
        lines = claim_group(found, self.desk.formatter, upper_end(self.desk.workbench.catalog, found)).claims
        claims = (*filter(None, (found.preferred,)), *found.rivals)
        seeds = {each.id: each for each in self.desk.workbench.catalog.seed_claims()}
        measure = Measure(self.theme)
        options = []
        for claim, line in zip(claims, lines, strict=True):
            printed = tuple(_printed(seeds[each]) for each in claim.statements if each in seeds)
            text = choice_text(claim, line, self._stance_text(claim, line.stance), printed)
            options.append(ClaimOption(self.theme, text, measure))
        return options

    def _stance_text(self, claim: Claim, stance: Stance) -> str:
        """Say how a claim stands: taken by whom, agreeing, or not."""
        if claim.preferred:
            return tr("taken by you") if self.attribute.overridden else tr("taken")
        shipped = self.attribute.shipped
        if shipped is not None and shipped.source.id == claim.source.id and shipped.value == claim.value:
            return tr("shipped choice")
        if stance is Stance.REFUSED:
            return tr("refused")
        return tr("agrees") if stance is Stance.AGREES else tr("differs")

    def _add_options(self) -> None:
        px = self.theme.px
        box = QWidget()
        box.setAccessibleName(tr("Claims"))
        column = QVBoxLayout(box)
        column.setContentsMargins(0, px(4), 0, 0)
        column.setSpacing(px(8))
        for option in self.options:
            option.toggled.connect(self._marked)
            column.addWidget(option)
        self.column.addWidget(box)
        if self.attribute.reason:
            words = tr("In force: {reason}", reason=self.attribute.reason)
            self.column.addWidget(Label(self.theme, words, font="small", colour="text2", wrap=True))

    def _choose_first(self, source: str | None) -> None:
        wanted = next((each for each in self.options if each.choice.claim.source.id == source), None)
        first = wanted or (self.options[0] if self.options else None)
        if first is not None:
            first.setChecked(True)
            first.setFocus()
        self._from_start = self.chosen

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Have the claim in sight that is marked."""
        super().showEvent(event)
        marked = next((option for option in self.options if option.isChecked()), None)
        if marked is not None:
            QTimer.singleShot(0, marked, lambda: self.show_in_sight(marked))

    def _marked(self, on: bool) -> None:
        if on:
            self.say_at_top("")
            self.impact.ask_soon()

    def _add_take_shipped(self) -> None:
        if self.attribute.preference is None or self.thing.own:
            return
        self.shipped_button = Button(self.theme, tr("Take the shipped choice"))
        self.shipped_button.clicked.connect(self._take_shipped)
        self.add_left_button(self.shipped_button)

    def _take_shipped(self) -> None:
        try:
            step = take_shipped(self.desk.workbench.catalog, self.thing.id, self.attribute.name)
        except InputError as error:
            self.tell(error)
            return
        self.take(step)


def _printed(seed: SeedClaim) -> str:
    """Return what a source document prints, and where."""
    value = seed.value if seed.value_high is None else f"{seed.value} – {seed.value_high}"
    figure = f"{value} {seed.unit}" if seed.unit else value
    said = f"“{figure}”"
    who = tr("stated by {name}", name=seed.stated_by) if seed.stated_by else ""
    return ", ".join(part for part in (said, seed.conditions, who, seed.id) if part)
