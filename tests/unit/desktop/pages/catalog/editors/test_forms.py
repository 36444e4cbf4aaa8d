"""Editors of accelerators, prices, sources and names, and of the staleness rule."""

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
from tests.unit.desktop.pages.catalog.editors.keys import Show, get_focused_widget, press_key, press_tab, type_text

ACCELERATOR = "mi325x"


def fill(dialog: AcceleratorForm, **texts: str) -> None:
    for name, text in texts.items():
        get_edit(dialog, name).setFocus()
        get_edit(dialog, name).selectAll()
        type_text(text) if text else press_key(Qt.Key.Key_Delete)


def get_edit(dialog: AcceleratorForm, name: str) -> QLineEdit:
    row = dialog.row(name)
    assert row is not None, name
    control = row.control()
    assert isinstance(control, QLineEdit)
    return control


def list_user_prices(desk: Desk) -> list[PriceRecord]:
    return [price for price in desk.service.catalog.prices() if price.own]


# Accelerators


def test_accelerator_is_added_by_keyboard_and_can_be_estimated(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme)
    show(dialog)
    type_text("Testbed One")
    press_tab()
    type_text("ACME")
    press_tab()
    press_key(Qt.Key.Key_End)
    assert dialog.generation.key() == NONE_OF_THESE
    assert "uncalibrated" in dialog.generation.echo
    fill(dialog, memory="192", memory_bandwidth="5.2", peak_dense_bf16="1300", peak_dense_fp8="2600")
    platform = dialog.row("software_platform")
    assert isinstance(platform, ChoiceRow)
    platform.show_value("CUDA")
    fill(dialog, title="Data sheet, draft")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    catalog = desk.service.catalog
    accelerator = catalog.accelerator("testbed-one")
    assert (accelerator.vendor, accelerator.generation, accelerator.announced) == ("ACME", "testbed-one", False)
    assert accelerator.memory_bytes == 192 * 2**30
    assert accelerator.memory_bandwidth == 5.2e12
    assert accelerator.peak_dense == {"bf16": 1.3e15, "fp8": 2.6e15}
    claim = catalog.attribute("testbed-one", "memory").preferred
    assert claim is not None
    assert (claim.own, claim.source.title) == (True, "Data sheet, draft")
    desk.service.user_catalog.undo()
    assert all(entry.id != "testbed-one" for entry in desk.service.catalog.things())


def test_attribute_of_the_registry_has_a_row(desk: Desk, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    attribute = registry.Attribute("boost_power", "Boost power", "W", form=registry.Placement("power", 9))
    monkeypatch.setitem(registry.ATTRIBUTES, attribute.key, attribute)
    dialog = AcceleratorForm(desk, theme)
    row = dialog.row(attribute.key)
    assert isinstance(row, NumberRow)
    row.show_value(1234)
    assert row.inside() == 1234


def test_missing_fields_are_marked_and_the_first_focused(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme)
    show(dialog)
    press_key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    faulty = [row.name for row in dialog.rows if row.fault]
    assert faulty == ["name", "vendor", "generation", "memory", "memory_bandwidth", "software_platform", "title"]
    assert get_focused_widget() is dialog.name.edit


def test_copied_figures_keep_their_sources_until_overwritten(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme, thing=ACCELERATOR)
    show(dialog)
    type_text("MI325X of ours")
    row = dialog.row("memory_bandwidth")
    assert row is not None
    assert row.echo == "Source: GEAK hardware data, sku.json"
    fill(dialog, memory_bandwidth="5.8", title="Own run")
    assert row.echo == ""
    press_key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    catalog = desk.service.catalog
    builtin = catalog.accelerator(ACCELERATOR)
    accelerator = catalog.accelerator("mi325x-of-ours")
    assert accelerator.generation == builtin.generation
    assert accelerator.memory_bytes == builtin.memory_bytes
    assert dict(accelerator.peak_dense) == dict(builtin.peak_dense)
    assert accelerator.memory_bandwidth == 5.8e12
    claims = {name: catalog.attribute(accelerator.id, name).preferred for name in ("memory_type", "memory_bandwidth")}
    assert {name: claim.source.title for name, claim in claims.items() if claim is not None} == {
        "memory_type": "GEAK hardware data, sku.json",
        "memory_bandwidth": "Own run",
    }
    kind = claims["memory_type"]
    assert kind is not None
    assert kind.kind is SourceKind.VENDOR_DATASHEET


def test_typed_figures_stay_when_another_accelerator_is_copied(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme)
    show(dialog)
    fill(dialog, tdp="640")
    dialog.start.focus_control()
    press_key(Qt.Key.Key_Down)
    assert dialog.start.key()
    assert get_edit(dialog, "tdp").text() == "640"
    assert get_edit(dialog, "memory").text()


def test_user_accelerator_is_changed_in_place(desk: Desk, theme: Theme, show: Show) -> None:
    first = AcceleratorForm(desk, theme, thing=ACCELERATOR)
    show(first)
    type_text("Ours")
    fill(first, title="First word")
    press_key(Qt.Key.Key_Return)
    before = len(desk.service.user_catalog.facts)
    dialog = AcceleratorForm(desk, theme, thing="ours")
    show(dialog)
    assert dialog.name.text() == "Ours"
    fill(dialog, tdp="900", price_high="", title="Second word")
    dialog.status.show_value("announced")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault] + [dialog.note.text]
    catalog = desk.service.catalog
    accelerator = catalog.accelerator("ours")
    assert accelerator.announced
    assert accelerator.tdp_w == 900
    assert [claim.value for claim in catalog.attribute("ours", "tdp").claims] == [900]
    assert catalog.attribute("ours", "memory").value == catalog.attribute(ACCELERATOR, "memory").value
    assert abs(len(desk.service.user_catalog.facts) - before) <= 1, "old facts are replaced"
    desk.service.user_catalog.undo()
    assert desk.service.catalog.accelerator("ours").tdp_w == catalog.accelerator(ACCELERATOR).tdp_w


def test_faulty_peak_marks_only_its_field(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = AcceleratorForm(desk, theme, thing=ACCELERATOR)
    show(dialog)
    type_text("Ours")
    for row in dialog.figure_rows:
        if isinstance(row, PeakRow) and row.precision == "fp8":
            row.dense.setFocus()
            row.dense.selectAll()
            type_text("x")
            row.check()
            assert row.fault
            assert row.dense.property("fault") == "true"
            assert row.sparse.property("fault") != "true"


def test_impossible_figure_is_refused_at_its_row(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = AcceleratorForm(desk, theme, thing=ACCELERATOR)
    show(dialog)
    type_text("Ours")
    fill(dialog, memory_bandwidth="6000", title="Own run")
    row = dialog.row("memory_bandwidth")
    assert row is not None
    qtbot.waitUntil(lambda: bool(row.fault))
    press_key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    fill(dialog, memory_bandwidth="6")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved


def test_doubtful_value_is_marked_but_accepted(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, "tdp")
    show(dialog)
    type_text("9")
    qtbot.waitUntil(lambda: bool(dialog.value_row.doubt))
    dialog.source.title.show_value("Own run")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved
    assert desk.service.catalog.attribute(ACCELERATOR, "tdp").value == 9


# Prices


def test_rental_price_is_entered_by_keyboard(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PriceForm(desk, theme, thing=ACCELERATOR)
    show(dialog)
    type_text("2.10")
    press_tab()
    type_text("2.80")
    press_tab(2)
    type_text("Somecloud")
    press_tab()
    type_text("eu-west")
    dialog.date.focus_control()
    type_text("2026-11-18")
    dialog.source.title.focus_control()
    type_text("Quote by mail")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    (price,) = list_user_prices(desk)
    assert (price.accelerator, price.term, price.usd, price.usd_low, price.usd_high) == (
        ACCELERATOR,
        "on_demand",
        None,
        2.1,
        2.8,
    )
    assert (price.provider, price.region, price.date) == ("Somecloud", "eu-west", "2026-11-18")


def test_purchase_price_has_no_provider(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PriceForm(desk, theme, thing=ACCELERATOR)
    show(dialog)
    dialog.what.focus_control()
    press_key(Qt.Key.Key_Right)
    assert dialog.provider.isHidden()
    assert not dialog.basis.isHidden()
    dialog.low.focus_control()
    type_text("21,500")
    dialog.source.title.show_value("Quote by mail")
    press_key(Qt.Key.Key_Return)
    (price,) = list_user_prices(desk)
    assert (price.term, price.usd, price.usd_low) == ("purchase", 21_500, None)


def test_reversed_range_is_reported_at_its_upper_end(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PriceForm(desk, theme, thing=ACCELERATOR)
    show(dialog)
    type_text("3")
    press_tab()
    type_text("2")
    dialog.source.title.show_value("Quote by mail")
    press_key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert "swap the two" in dialog.high.fault
    assert get_focused_widget() is dialog.high.edit


def test_price_is_changed_and_removed(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    first = PriceForm(desk, theme, thing=ACCELERATOR)
    show(first)
    type_text("2.10")
    first.source.title.show_value("Quote by mail")
    press_key(Qt.Key.Key_Return)
    (price,) = list_user_prices(desk)
    dialog = PriceForm(desk, theme, price=price.id)
    show(dialog)
    type_text("1.95")
    press_key(Qt.Key.Key_Return)
    (changed,) = list_user_prices(desk)
    assert (changed.id, changed.usd) == (price.id, 1.95)
    questions = answer_box("Remove price")
    third = PriceForm(desk, theme, price=price.id)
    show(third)
    third.remove_button.click()
    assert questions == ["Remove this price? You can undo this until you quit."]
    assert not list_user_prices(desk)
    assert not len(desk.service.user_catalog.facts), "its source is removed with it"
    desk.service.user_catalog.undo()
    assert list_user_prices(desk)


def test_builtin_price_is_read_only(desk: Desk, theme: Theme) -> None:
    builtin = desk.service.catalog.prices()[0]
    with pytest.raises(InputError):
        PriceForm(desk, theme, price=builtin.id)


# Sources


def add_price_source(desk: Desk) -> str:
    source = make_user_source("Quote by mail")
    desk.service.user_catalog.do(
        state_value(desk.service.catalog, ACCELERATOR, "price_low", 21_000, "USD", source, today="2026-11-21")
    )
    return source.id


def test_source_edit_applies_to_all_its_values(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = SourceForm(desk, theme, source=add_price_source(desk))
    show(dialog)
    press_tab()
    type_text("Reseller Ltd")
    press_tab(2)
    type_text("2026-11-18")
    press_key(Qt.Key.Key_Return)
    claim = desk.service.catalog.attribute(ACCELERATOR, "price_low").preferred
    assert claim is not None
    assert (claim.source.publisher, claim.source.date) == ("Reseller Ltd", "2026-11-18")


def test_new_source_is_suggested_for_the_next_value(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = SourceForm(desk, theme)
    show(dialog)
    type_text("Handbook")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved
    assert ValueEditor(desk, theme, ACCELERATOR, "tdp").source.title.text() == "Handbook"


# Names


def add_accelerator(desk: Desk, theme: Theme, show: Show) -> str:
    dialog = AcceleratorForm(desk, theme, thing=ACCELERATOR)
    show(dialog)
    type_text("Ours")
    fill(dialog, title="Own run")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved
    return "ours"


def test_user_entry_is_renamed_and_keeps_its_id(desk: Desk, theme: Theme, show: Show) -> None:
    key_ = add_accelerator(desk, theme, show)
    dialog = NameForm(desk, theme, key_)
    show(dialog)
    type_text("Ours, second")
    press_key(Qt.Key.Key_Return)
    assert desk.service.catalog.thing(key_).name == "Ours, second"


def test_user_entry_is_removed_after_confirmation(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    accelerator_id = add_accelerator(desk, theme, show)
    questions = answer_box("Cancel")
    dialog = NameForm(desk, theme, accelerator_id)
    show(dialog)
    dialog.remove_button.click()
    assert dialog.isVisible()
    assert questions == ["Remove Ours? Its values and prices are removed too. You can undo this until you quit."]
    answer_box("Remove Ours")
    dialog.remove_button.click()
    assert all(entry.id != accelerator_id for entry in desk.service.catalog.things(CatalogEntryKind.ACCELERATOR))


def test_builtin_entry_cannot_be_renamed(desk: Desk, theme: Theme) -> None:
    with pytest.raises(InputError):
        NameForm(desk, theme, ACCELERATOR)


# The staleness rule


def test_staleness_rule_is_previewed_and_saved(desk: Desk, theme: Theme, settings: UserSettings, show: Show) -> None:
    dialog = StaleRuleForm(desk, theme, settings)
    show(dialog)
    preview = dialog.prices.echo
    type_text("36500")
    assert dialog.prices.echo != preview
    assert dialog.prices.echo.startswith("0 of ")
    press_tab()
    type_text("30")
    press_key(Qt.Key.Key_Return)
    assert (settings.get(STALE_PRICE_DAYS, 0), settings.get(STALE_FACT_DAYS, 0)) == (36_500, 30)


@pytest.mark.parametrize("days", ["0", "-3", "1.5", "99999", "soon"])
def test_staleness_rule_accepts_whole_days_only(
    desk: Desk, theme: Theme, settings: UserSettings, show: Show, days: str
) -> None:
    dialog = StaleRuleForm(desk, theme, settings)
    show(dialog)
    type_text(days)
    press_key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.prices.fault
    assert settings.get(STALE_PRICE_DAYS, -1) == -1


# From a request to its editor


@pytest.mark.parametrize(
    ("editor_request", "editor_class"),
    [
        (EditorRequest(EditorKind.VALUE, thing=ACCELERATOR, attribute="tdp"), ValueEditor),
        (EditorRequest(EditorKind.PREFERENCE, thing=ACCELERATOR, attribute="tdp"), PreferenceEditor),
        (EditorRequest(EditorKind.ACCELERATOR), AcceleratorForm),
        (EditorRequest(EditorKind.PRICE, thing=ACCELERATOR), PriceForm),
        (EditorRequest(EditorKind.SOURCE), SourceForm),
        (EditorRequest(EditorKind.STALENESS), StaleRuleForm),
    ],
)
def test_request_opens_its_editor(
    desk: Desk,
    theme: Theme,
    settings: UserSettings,
    qtbot: QtBot,
    editor_request: EditorRequest,
    editor_class: type[FormDialog],
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    assert open_editor(window, desk, theme, settings, editor_request)
    (dialog,) = window.findChildren(FormDialog)
    assert isinstance(dialog, editor_class)
    assert dialog.isVisible()
    dialog.reject()


def test_read_only_source_is_reported(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    request = EditorRequest(EditorKind.SOURCE, source="amd-geak-sku")
    assert not open_editor(window, desk, theme, settings, request)
    (box,) = window.findChildren(QMessageBox)
    assert "shipped catalog" in box.text()
    box.close()


def test_choice_without_claims_is_reported(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    request = EditorRequest(EditorKind.PREFERENCE, thing=ACCELERATOR, attribute="peak_dense_fp4")
    assert not open_editor(window, desk, theme, settings, request)
    (box,) = window.findChildren(QMessageBox)
    assert box.text() == "No source has a value; enter your own."
    box.close()


def test_saving_an_unchanged_price_changes_nothing(desk: Desk, theme: Theme, show: Show) -> None:
    first = PriceForm(desk, theme, thing=ACCELERATOR)
    show(first)
    type_text("2")
    press_tab()
    type_text("3")
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
