"""The form of a system: entered by keyboard, copied, changed, removed."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.editors.entry_forms import SystemForm
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.accelerator import SystemKind
from tests.unit.desktop.pages.catalog.editors.keys import Show, get_focused_widget, press_key, type_text

BUILTIN = "dell-xe9680-h100"


def fill(dialog: SystemForm, **texts: str) -> None:
    for name, text in texts.items():
        row = dialog.row(name)
        assert row is not None, name
        row.focus_control()
        press_key(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        type_text(text) if text else press_key(Qt.Key.Key_Delete)


def test_system_is_added_by_keyboard(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = SystemForm(desk, theme)
    show(dialog)
    press_key(Qt.Key.Key_Return)
    faulty = [row.name for row in dialog.rows if row.fault]
    assert faulty == ["name", "vendor", "accelerator", "accelerator_count", "title"]
    assert get_focused_widget() is dialog.name.edit
    assert not dialog.provider.isVisible()
    fill(dialog, name="Our server", vendor="Our integrator", accelerator_count="8", price_low="98000", title="Quote")
    dialog.accelerator.focus_control()
    type_text("RTX PRO")
    assert dialog.accelerator.key()
    dialog.name.focus_control()
    press_key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    system = desk.service.catalog.system("our-server")
    assert (system.kind, system.accelerator_count, system.price_low_usd) == (SystemKind.SERVER, 8, 98_000)
    desk.service.user_catalog.undo()
    assert not any(each.own for each in desk.service.catalog.systems())


def test_more_accelerators_than_slots_is_reported_at_the_field(
    desk: Desk, theme: Theme, show: Show, qtbot: QtBot
) -> None:
    dialog = SystemForm(desk, theme, thing=BUILTIN)
    show(dialog)
    fill(dialog, name="Ours", accelerator_slots="4", title="Quote")
    row = dialog.row("accelerator_count")
    assert row is not None
    qtbot.waitUntil(lambda: bool(row.fault))
    press_key(Qt.Key.Key_Return)
    assert not dialog.saved
    fill(dialog, accelerator_slots="8")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved


def test_system_is_copied_changed_and_removed(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    dialog = SystemForm(desk, theme, thing=BUILTIN)
    show(dialog)
    fill(dialog, name="Ours", rack_units="5", title="Quote")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved, [(row.name, row.fault) for row in dialog.rows if row.fault]
    catalog = desk.service.catalog
    user_system, builtin = catalog.system("ours"), catalog.system(BUILTIN)
    assert (user_system.rack_units, user_system.accelerator) == (5, builtin.accelerator)
    claims = catalog.attribute("ours", "host_memory"), catalog.attribute(BUILTIN, "host_memory")
    assert len({each.preferred.source.title for each in claims if each.preferred is not None}) == 1
    second = SystemForm(desk, theme, thing="ours")
    show(second)
    second.system_kind.show_value("instance")
    second.system_kind.user_edited()
    assert second.provider.isVisible()
    fill(second, provider="Our cloud", instance="vm.8")
    press_key(Qt.Key.Key_Return)
    assert desk.service.catalog.system("ours").instance == "vm.8"
    last = SystemForm(desk, theme, thing="ours")
    show(last)
    answer_box("Remove Ours")
    last.remove_button.click()
    assert not any(each.own for each in desk.service.catalog.systems())
