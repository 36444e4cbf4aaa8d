"""The forms of things: accelerator, price, source, name, and the rule for what is stale."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.pages.catalog.editors.entry_forms import NONE_OF_THESE, AcceleratorForm, NameForm
from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, NumberRow, PeakRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.open_editor import StaleRuleForm, open_editor
from gpudesk.desktop.pages.catalog.editors.preference_editor import PreferenceEditor
from gpudesk.desktop.pages.catalog.editors.price_form import PriceForm
from gpudesk.desktop.pages.catalog.editors.sources import SourceForm
from gpudesk.desktop.pages.catalog.editors.value_editor import ValueEditor
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import EditorKind, EditorRequest
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.settings_file import STALE_FACT_DAYS, STALE_PRICE_DAYS
from gpudesk.domain import registry
from gpudesk.domain.claim import CatalogEntryKind, PriceRecord, SourceKind
from gpudesk.domain.user_facts import UserPrice
from gpudesk.text.messages import InputError
from tests.unit.desktop.pages.catalog.editors.keys import Show, focused, key, tab, typed

PART = "mi325x"


def fill(dialog: AcceleratorForm, **texts: str) -> None:
    for name, text in texts.items():
        line(dialog, name).setFocus()
        line(dialog, name).selectAll()
        typed(text) if text else key(Qt.Key.Key_Delete)


def line(dialog: AcceleratorForm, name: str) -> QLineEdit:
    row = dialog.row(name)
    assert row is not None, name
    control = row.control()
    assert isinstance(control, QLineEdit)
    return control


def own_prices(desk: Desk) -> list[PriceRecord]:
    return [price for price in desk.service.catalog.prices() if price.own]


# Accelerators


def test_accelerator_is_added_by_keyboard_and_can_be_estimated(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme)
    show(dialog)
    typed("Testbed One")
    tab()
    typed("ACME")
    tab()
    key(Qt.Key.Key_End)
    assert dialog.generation.key() == NONE_OF_THESE
    assert "uncalibrated" in dialog.generation.echo
    fill(dialog, memory="192", memory_bandwidth="5.2", peak_dense_bf16="1300", peak_dense_fp8="2600")
    platform = dialog.row("software_platform")
    assert isinstance(platform, ChoiceRow)
    platform.show_value("CUDA")
    fill(dialog, title="Data sheet, draft")
    key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    catalog = desk.service.catalog
    part = catalog.accelerator("testbed-one")
    assert (part.vendor, part.generation, part.announced) == ("ACME", "testbed-one", False)
    assert part.memory_bytes == 192 * 2**30
    assert part.memory_bandwidth == 5.2e12
    assert part.peak_dense == {"bf16": 1.3e15, "fp8": 2.6e15}
    claim = catalog.attribute("testbed-one", "memory").preferred
    assert claim is not None
    assert (claim.own, claim.source.title) == (True, "Data sheet, draft")
    desk.service.user_catalog.undo()
    assert all(thing.id != "testbed-one" for thing in desk.service.catalog.things())


def test_an_attribute_of_the_registry_has_a_row(desk: Desk, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    added = registry.Attribute("boost_power", "Boost power", "W", form=registry.Placement("power", 9))
    monkeypatch.setitem(registry.ATTRIBUTES, added.key, added)
    dialog = AcceleratorForm(desk, theme)
    row = dialog.row(added.key)
    assert isinstance(row, NumberRow)
    row.show_value(1234)
    assert row.inside() == 1234


def test_what_is_missing_is_told_and_the_first_of_it_focused(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme)
    show(dialog)
    key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    faulty = [row.name for row in dialog.rows if row.fault]
    assert faulty == ["name", "vendor", "generation", "memory", "memory_bandwidth", "software_platform", "title"]
    assert focused() is dialog.name.edit


def test_copied_figures_keep_their_sources_until_they_are_typed_over(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme, thing=PART)
    show(dialog)
    typed("MI325X of ours")
    row = dialog.row("memory_bandwidth")
    assert row is not None
    assert row.echo == "Source: GEAK hardware data, sku.json"
    fill(dialog, memory_bandwidth="5.8", title="Own run")
    assert row.echo == ""
    key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    catalog = desk.service.catalog
    shipped = catalog.accelerator(PART)
    part = catalog.accelerator("mi325x-of-ours")
    assert part.generation == shipped.generation
    assert part.memory_bytes == shipped.memory_bytes
    assert dict(part.peak_dense) == dict(shipped.peak_dense)
    assert part.memory_bandwidth == 5.8e12
    named = {name: catalog.attribute(part.id, name).preferred for name in ("memory_type", "memory_bandwidth")}
    assert {name: claim.source.title for name, claim in named.items() if claim is not None} == {
        "memory_type": "GEAK hardware data, sku.json",
        "memory_bandwidth": "Own run",
    }
    kind = named["memory_type"]
    assert kind is not None
    assert kind.kind is SourceKind.VENDOR_DATASHEET


def test_what_was_typed_stays_when_another_part_is_copied(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme)
    show(dialog)
    fill(dialog, tdp="640")
    dialog.start.focus_control()
    key(Qt.Key.Key_Down)
    assert dialog.start.key()
    assert line(dialog, "tdp").text() == "640"
    assert line(dialog, "memory").text()


def test_own_accelerator_is_changed_in_place(desk: Desk, theme: Theme, show: Show) -> None:
    first = AcceleratorForm(desk, theme, thing=PART)
    show(first)
    typed("Ours")
    fill(first, title="First word")
    key(Qt.Key.Key_Return)
    before = len(desk.service.user_catalog.facts)
    dialog = AcceleratorForm(desk, theme, thing="ours")
    show(dialog)
    assert dialog.name.text() == "Ours"
    fill(dialog, tdp="900", price_high="", title="Second word")
    dialog.status.show_value("announced")
    key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault] + [dialog.note.text]
    catalog = desk.service.catalog
    part = catalog.accelerator("ours")
    assert part.announced
    assert part.tdp_w == 900
    assert [claim.value for claim in catalog.attribute("ours", "tdp").claims] == [900]
    assert catalog.attribute("ours", "memory").value == catalog.attribute(PART, "memory").value
    assert abs(len(desk.service.user_catalog.facts) - before) <= 1, "nothing piles up"
    desk.service.user_catalog.undo()
    assert desk.service.catalog.accelerator("ours").tdp_w == catalog.accelerator(PART).tdp_w


def test_peaks_are_in_the_unit_that_is_chosen(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme, thing=PART)
    show(dialog)
    typed("Ours")
    for row in dialog.figure_rows:
        if isinstance(row, PeakRow) and row.precision == "fp8":
            row.dense.setFocus()
            row.dense.selectAll()
            typed("x")
            row.check()
            assert row.fault
            assert row.dense.property("fault") == "true"
            assert row.sparse.property("fault") != "true"


def test_figure_that_cannot_be_is_refused_at_its_row(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = AcceleratorForm(desk, theme, thing=PART)
    show(dialog)
    typed("Ours")
    fill(dialog, memory_bandwidth="6000", title="Own run")
    row = dialog.row("memory_bandwidth")
    assert row is not None
    qtbot.waitUntil(lambda: bool(row.fault))
    key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    fill(dialog, memory_bandwidth="6")
    key(Qt.Key.Key_Return)
    assert dialog.saved


def test_what_is_doubtful_is_said_and_may_be_kept(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = ValueEditor(desk, theme, PART, "tdp")
    show(dialog)
    typed("9")
    qtbot.waitUntil(lambda: bool(dialog.value_row.doubt))
    dialog.source.title.show_value("Own run")
    key(Qt.Key.Key_Return)
    assert dialog.saved
    assert desk.service.catalog.attribute(PART, "tdp").value == 9


# Prices


def test_rent_is_stated_by_keyboard(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PriceForm(desk, theme, thing=PART)
    show(dialog)
    typed("2.10")
    tab()
    typed("2.80")
    tab(2)
    typed("Somecloud")
    tab()
    typed("eu-west")
    dialog.date.focus_control()
    typed("2026-11-18")
    dialog.source.title.focus_control()
    typed("Quote by mail")
    key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    (price,) = own_prices(desk)
    assert (price.accelerator, price.term, price.usd, price.usd_low, price.usd_high) == (
        PART,
        "on_demand",
        None,
        2.1,
        2.8,
    )
    assert (price.provider, price.region, price.date) == ("Somecloud", "eu-west", "2026-11-18")


def test_purchase_asks_for_no_provider(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PriceForm(desk, theme, thing=PART)
    show(dialog)
    dialog.what.focus_control()
    key(Qt.Key.Key_Right)
    assert dialog.provider.isHidden()
    assert not dialog.basis.isHidden()
    dialog.low.focus_control()
    typed("21,500")
    dialog.source.title.show_value("Quote by mail")
    key(Qt.Key.Key_Return)
    (price,) = own_prices(desk)
    assert (price.term, price.usd, price.usd_low) == ("purchase", 21_500, None)


def test_range_the_wrong_way_round_is_told_at_its_upper_end(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PriceForm(desk, theme, thing=PART)
    show(dialog)
    typed("3")
    tab()
    typed("2")
    dialog.source.title.show_value("Quote by mail")
    key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert "swap the two" in dialog.high.fault
    assert focused() is dialog.high.edit


def test_price_is_changed_and_removed(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    first = PriceForm(desk, theme, thing=PART)
    show(first)
    typed("2.10")
    first.source.title.show_value("Quote by mail")
    key(Qt.Key.Key_Return)
    (price,) = own_prices(desk)
    dialog = PriceForm(desk, theme, price=price.id)
    show(dialog)
    typed("1.95")
    key(Qt.Key.Key_Return)
    (changed,) = own_prices(desk)
    assert (changed.id, changed.usd) == (price.id, 1.95)
    asked = answer_box("Remove price")
    again = PriceForm(desk, theme, price=price.id)
    show(again)
    again.remove_button.click()
    assert asked == ["Remove this price? You can undo this until you quit."]
    assert not own_prices(desk)
    assert not len(desk.service.user_catalog.facts), "its source goes with it"
    desk.service.user_catalog.undo()
    assert own_prices(desk)


def test_shipped_price_is_not_changed(desk: Desk, theme: Theme) -> None:
    shipped = desk.service.catalog.prices()[0]
    with pytest.raises(InputError):
        PriceForm(desk, theme, price=shipped.id)


# Sources


def stated(desk: Desk) -> str:
    source = make_user_source("Quote by mail")
    desk.service.user_catalog.do(
        state_value(desk.service.catalog, PART, "price_low", 21_000, "USD", source, today="2026-11-21")
    )
    return source.id


def test_source_is_changed_for_all_that_rests_on_it(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = SourceForm(desk, theme, source=stated(desk))
    show(dialog)
    tab()
    typed("Reseller Ltd")
    tab(2)
    typed("2026-11-18")
    key(Qt.Key.Key_Return)
    claim = desk.service.catalog.attribute(PART, "price_low").preferred
    assert claim is not None
    assert (claim.source.publisher, claim.source.date) == ("Reseller Ltd", "2026-11-18")


def test_new_source_is_there_for_the_next_value(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = SourceForm(desk, theme)
    show(dialog)
    typed("Handbook")
    key(Qt.Key.Key_Return)
    assert dialog.saved
    assert ValueEditor(desk, theme, PART, "tdp").source.title.text() == "Handbook"


# Names


def add_own(desk: Desk, theme: Theme, show: Show) -> str:
    dialog = AcceleratorForm(desk, theme, thing=PART)
    show(dialog)
    typed("Ours")
    fill(dialog, title="Own run")
    key(Qt.Key.Key_Return)
    assert dialog.saved
    return "ours"


def test_own_entry_is_renamed_and_keeps_its_id(desk: Desk, theme: Theme, show: Show) -> None:
    part = add_own(desk, theme, show)
    dialog = NameForm(desk, theme, part)
    show(dialog)
    typed("Ours, second")
    key(Qt.Key.Key_Return)
    assert desk.service.catalog.thing(part).name == "Ours, second"


def test_own_entry_is_removed_after_a_question(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    part = add_own(desk, theme, show)
    asked = answer_box("Cancel")
    dialog = NameForm(desk, theme, part)
    show(dialog)
    dialog.remove_button.click()
    assert dialog.isVisible()
    assert asked == ["Remove Ours? Its values and prices are removed too. You can undo this until you quit."]
    answer_box("Remove Ours")
    dialog.remove_button.click()
    assert all(thing.id != part for thing in desk.service.catalog.things(CatalogEntryKind.ACCELERATOR))


def test_shipped_entry_is_not_renamed(desk: Desk, theme: Theme) -> None:
    with pytest.raises(InputError):
        NameForm(desk, theme, PART)


# The rule for what is stale


def test_rule_shows_what_it_would_mark_and_is_kept(
    desk: Desk, theme: Theme, settings: UserSettings, show: Show
) -> None:
    dialog = StaleRuleForm(desk, theme, settings)
    show(dialog)
    marked = dialog.prices.echo
    typed("36500")
    assert dialog.prices.echo != marked
    assert dialog.prices.echo.startswith("0 of ")
    tab()
    typed("30")
    key(Qt.Key.Key_Return)
    assert (settings.get(STALE_PRICE_DAYS, 0), settings.get(STALE_FACT_DAYS, 0)) == (36_500, 30)


@pytest.mark.parametrize("days", ["0", "-3", "1.5", "99999", "soon"])
def test_rule_takes_whole_days(desk: Desk, theme: Theme, settings: UserSettings, show: Show, days: str) -> None:
    dialog = StaleRuleForm(desk, theme, settings)
    show(dialog)
    typed(days)
    key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.prices.fault
    assert settings.get(STALE_PRICE_DAYS, -1) == -1


# From a request to its editor


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        (EditorRequest(EditorKind.VALUE, thing=PART, attribute="tdp"), ValueEditor),
        (EditorRequest(EditorKind.PREFERENCE, thing=PART, attribute="tdp"), PreferenceEditor),
        (EditorRequest(EditorKind.ACCELERATOR), AcceleratorForm),
        (EditorRequest(EditorKind.PRICE, thing=PART), PriceForm),
        (EditorRequest(EditorKind.SOURCE), SourceForm),
        (EditorRequest(EditorKind.STALENESS), StaleRuleForm),
    ],
)
def test_request_opens_its_editor(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot, request_: EditorRequest, wanted: type[FormDialog]
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    assert open_editor(window, desk, theme, settings, request_)
    (dialog,) = window.findChildren(FormDialog)
    assert isinstance(dialog, wanted)
    assert dialog.isVisible()
    dialog.reject()


def test_what_cannot_be_edited_is_said(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    asked = EditorRequest(EditorKind.SOURCE, source="amd-geak-sku")
    assert not open_editor(window, desk, theme, settings, asked)
    (box,) = window.findChildren(QMessageBox)
    assert "shipped catalog" in box.text()
    box.close()


def test_choice_among_no_claims_is_said(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    asked = EditorRequest(EditorKind.PREFERENCE, thing=PART, attribute="peak_dense_fp4")
    assert not open_editor(window, desk, theme, settings, asked)
    (box,) = window.findChildren(QMessageBox)
    assert box.text() == "No source has a value; enter your own."
    box.close()


def test_price_keeps_what_it_says(desk: Desk, theme: Theme, show: Show) -> None:
    """Opening and saving without a change says so and changes nothing."""
    first = PriceForm(desk, theme, thing=PART)
    show(first)
    typed("2")
    tab()
    typed("3")
    first.in_instance.show_value(8)
    first.note_row.show_value("a year's term")
    first.source.title.show_value("Quote by mail")
    first.accept()
    (price,) = [fact for fact in desk.service.user_catalog.facts if isinstance(fact, UserPrice)]
    dialog = PriceForm(desk, theme, price=price.id)
    show(dialog)
    dialog.accept()
    assert dialog.isVisible()
    assert "current catalog value" in dialog.note.text
    assert desk.service.user_catalog.facts.get("price", price.id) == price
