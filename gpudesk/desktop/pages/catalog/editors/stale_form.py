"""The form of the rule for what counts as stale, with how much it would mark."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.number_row import Limits, NumberRow
from gpudesk.desktop.pages.catalog.editors.rows import FieldFault
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.own_facts import Edit
from gpudesk.sheets.ages import stale
from gpudesk.sheets.dates import today
from gpudesk.text import tr
from gpudesk.workbench.own_entry import UnitChoice
from gpudesk.workbench.settings_file import STALE_FACT_DAYS, STALE_PRICE_DAYS, age_rule

_USUAL = AgeRule()
_DAYS = (UnitChoice("days", None),)
_LIMITS = Limits(1, 36_500, whole=True)


class StaleForm(FormDialog):
    """Sets from how many days on prices and other figures are marked."""

    def __init__(
        self, desk: Desk, theme: Theme, settings: Settings, *, parent: QWidget | None = None
    ) -> None:
        """Begin with the rule in force."""
        super().__init__(
            desk,
            theme,
            tr("What counts as stale"),
            save=tr("Save rule"),
            leave=tr("Keep as it was"),
            parent=parent,
            writes_facts=False,
        )
        self._settings = settings
        now = today()
        catalog = desk.workbench.catalog
        self._price_dates = [price.date for price in catalog.prices()]
        self._fact_dates = [
            claim.source.date
            for thing in catalog.things()
            for attribute in catalog.attributes(thing.id)
            for claim in attribute.claims
        ]
        self._today = now
        self.add_head(
            self.windowTitle(), tr("Marked in lists and on sheets. A date without a day counts from its end.")
        )
        style = desk.formatter.style
        self.prices = NumberRow(
            theme,
            STALE_PRICE_DAYS,
            tr("Prices after"),
            _DAYS,
            required=True,
            limits=_LIMITS,
            style=style,
        )
        self.facts = NumberRow(
            theme,
            STALE_FACT_DAYS,
            tr("Other figures after"),
            _DAYS,
            required=True,
            limits=_LIMITS,
            style=style,
        )
        rule = age_rule(settings.values)
        self.prices.show_number(rule.prices)
        self.facts.show_number(rule.facts)
        self.add_rows([self.prices, self.facts])
        for row in self.rows:
            row.edited.connect(self._preview)
        button = Button(theme, tr("Take {prices} and {facts} days", prices=_USUAL.prices, facts=_USUAL.facts))
        button.clicked.connect(self._take_default)
        self.add_left_button(button)
        self._preview()
        self.prices.take_focus()

    def edit(self) -> Edit | None:
        """Put the rule into the settings; no fact changes."""
        self._settings.put(STALE_PRICE_DAYS, self.prices.whole_or_none())
        self._settings.put(STALE_FACT_DAYS, self.facts.whole_or_none())
        return None

    def _take_default(self) -> None:
        self.prices.show_number(_USUAL.prices)
        self.facts.show_number(_USUAL.facts)
        for row in self.rows:
            row.user_edited()

    def _preview(self) -> None:
        """Say how many would be marked."""
        self.prices.set_echo(self._count(self.prices, self._price_dates, tr("prices")))
        self.facts.set_echo(self._count(self.facts, self._fact_dates, tr("claims")))

    def _count(self, row: NumberRow, dates: Iterable[str | None], what: str) -> str:
        try:
            days = row.whole_or_none()
        except FieldFault:
            days = None
        if days is None:
            return ""
        stated = list(dates)
        marked = sum(stale(each, self._today, days) for each in stated)
        undated = sum(each is None for each in stated)
        number = self.desk.formatter.count
        said = tr("marks {n} of {all} {what}", n=number(marked), all=number(len(stated)), what=what)
        return f"{said}; {tr('{n} have no date', n=number(undated))}" if undated else said
