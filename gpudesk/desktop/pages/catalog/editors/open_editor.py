"""Opens the editor for a request; the form for the age limit of stale figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtWidgets import QMessageBox, QWidget

from gpudesk.catalog.user_store.entry import UnitChoice
from gpudesk.desktop.pages.catalog.editors.fields import NumberLimits, NumberRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.rows import FieldError
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import EditorKind, EditorRequest
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.settings_file import STALE_FACT_DAYS, STALE_PRICE_DAYS, make_age_rule
from gpudesk.domain.claim import StalenessLimits
from gpudesk.domain.user_facts import FactEdit
from gpudesk.report.labels import get_today, is_stale_date
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import tr

_DEFAULT_RULE = StalenessLimits()
_DAYS = (UnitChoice("days", None),)
_LIMITS = NumberLimits(1, 36_500, whole=True)


class StaleRuleForm(FormDialog):
    """Sets the age in days from which prices and other figures are marked."""

    manual_topic = "catalog#stale"

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, *, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, tr("Age limits"), save=tr("Save limits"), parent=parent, writes_facts=False)
        self._settings = settings
        now = get_today()
        catalog = desk.service.catalog
        self._price_dates = [price.date for price in catalog.prices()]
        self._fact_dates = [
            claim.source.date
            for thing in catalog.things()
            for attribute in catalog.attributes(thing.id)
            for claim in attribute.claims
        ]
        self._today = now
        self.add_head(
            self.windowTitle(),
            tr("Older values are marked as stale in lists and on sheets. A year or month counts from its last day."),
        )
        style = desk.formatter.style
        self.prices = NumberRow(
            theme, STALE_PRICE_DAYS, tr("Prices, after"), _DAYS, required=True, limits=_LIMITS, style=style
        )
        self.facts = NumberRow(
            theme, STALE_FACT_DAYS, tr("Other values, after"), _DAYS, required=True, limits=_LIMITS, style=style
        )
        rule = make_age_rule(settings.values)
        self.prices.show_value(rule.prices)
        self.facts.show_value(rule.facts)
        self.add_rows([self.prices, self.facts])
        for row in self.rows:
            row.edited.connect(self._preview)
        text = tr("Reset to {prices} and {facts} days", prices=_DEFAULT_RULE.prices, facts=_DEFAULT_RULE.facts)
        self.add_left_button(text, self._take_default)
        self._preview()
        self.prices.focus_control()

    def edit(self) -> FactEdit | None:
        """Store the rule in the settings; no fact changes."""
        self._settings.put(STALE_PRICE_DAYS, self.prices.parse_whole_or_none())
        self._settings.put(STALE_FACT_DAYS, self.facts.parse_whole_or_none())
        return None

    def _take_default(self) -> None:
        self.prices.show_value(_DEFAULT_RULE.prices)
        self.facts.show_value(_DEFAULT_RULE.facts)
        for row in self.rows:
            row.user_edited()

    def _preview(self) -> None:
        self.prices.set_echo(self._count(self.prices, self._price_dates, tr("prices")))
        self.facts.set_echo(self._count(self.facts, self._fact_dates, tr("claims")))

    def _count(self, row: NumberRow, dates: Iterable[str | None], what: str) -> str:
        try:
            days = row.parse_whole_or_none()
        except FieldError:
            days = None
        if days is None:
            return ""
        all_dates = list(dates)
        marked = sum(is_stale_date(each, self._today, days) for each in all_dates)
        undated = sum(each is None for each in all_dates)
        number = self.desk.formatter.count
        text = tr("{n} of {all} {what} are stale", n=number(marked), all=number(len(all_dates)), what=what)
        return f"{text}; {tr('{n} without a date', n=number(undated))}" if undated else text


def open_editor(parent: QWidget, desk: Desk, theme: Theme, settings: UserSettings, request: EditorRequest) -> bool:
    """Open the requested editor over a window, and return whether there is one.

    It stays open after the return; `desk.catalog_changed` reports what it writes. A message box explains what cannot be
    edited.
    """
    try:
        dialog = _make_editor(parent, desk, theme, settings, request)
    except InputError as error:
        text = format_message(error.problem, desk.formatter)
        box = QMessageBox(parent)
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle(tr("GPU Desk"))
        box.setText(f"{capitalize_first(text)}.")
        box.addButton(tr("Close"), QMessageBox.ButtonRole.RejectRole)
        box.finished.connect(box.deleteLater)
        box.open()
        return False
    if dialog is None:
        return False
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return True


def _make_editor(
    parent: QWidget, desk: Desk, theme: Theme, settings: UserSettings, request: EditorRequest
) -> FormDialog | None:
    """Return the editor; None if the request is incomplete."""
    from gpudesk.desktop.pages.catalog.editors.entry_forms import AcceleratorForm, NameForm, SystemForm
    from gpudesk.desktop.pages.catalog.editors.preference_editor import PreferenceEditor
    from gpudesk.desktop.pages.catalog.editors.price_form import PriceForm
    from gpudesk.desktop.pages.catalog.editors.sources import SourceForm
    from gpudesk.desktop.pages.catalog.editors.value_editor import ValueEditor

    thing, name = request.thing, request.attribute
    makers: dict[EditorKind, Callable[[], FormDialog | None]] = {
        EditorKind.PRICE: lambda: PriceForm(desk, theme, price=request.price, thing=thing, parent=parent),
        EditorKind.SOURCE: lambda: SourceForm(desk, theme, source=request.source, parent=parent),
        EditorKind.STALENESS: lambda: StaleRuleForm(desk, theme, settings, parent=parent),
        EditorKind.ACCELERATOR: lambda: AcceleratorForm(desk, theme, thing=thing, parent=parent),
        EditorKind.SYSTEM: lambda: SystemForm(desk, theme, thing=thing, parent=parent),
        EditorKind.MODEL: lambda: None if thing is None else NameForm(desk, theme, thing, parent=parent),
    }
    if thing is not None and name is not None:
        makers[EditorKind.VALUE] = lambda: ValueEditor(desk, theme, thing, name, parent=parent)
        makers[EditorKind.PREFERENCE] = lambda: PreferenceEditor(
            desk, theme, thing, name, claim=request.claim, parent=parent
        )
    maker = makers.get(request.kind)
    return None if maker is None else maker()
