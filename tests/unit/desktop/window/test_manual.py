"""F1 opens the manual at the topic of the focused control; the manual is searched and navigated by keys."""

import importlib
import pkgutil
import re
import time

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

import gpudesk.desktop
from gpudesk import paths
from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.pages.page import DeskPage, MultiViewPage
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import DARK
from gpudesk.desktop.window.action_list import show_about, show_keys, show_more_settings
from gpudesk.desktop.window.bars import _RailButton
from gpudesk.desktop.window.dialogs.keyboard import list_shortcuts
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.manual_window import ManualWindow, make_url, read_topic
from gpudesk.desktop.window.menus import find_manual_topic, list_menu_titles
from gpudesk.domain.attributes import CatalogSection
from gpudesk.report.manual import Picture, list_page_names, read_page

KEYBOARD = paths.get_resources_dir() / "manual/keyboard.md"


def list_classes(base: type[QWidget]) -> list[type[QWidget]]:
    for module in pkgutil.walk_packages(gpudesk.desktop.__path__, "gpudesk.desktop."):
        importlib.import_module(module.name)
    classes, queue = [], [base]
    while queue:
        subclasses = [each for each in queue.pop().__subclasses__() if each.__module__.startswith("gpudesk.")]
        classes += subclasses
        queue += subclasses
    return classes


def get_manual(window: MainWindow) -> ManualWindow:
    (manual,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, ManualWindow) and each.isVisible()]
    assert window.isEnabled()
    return manual


def is_topic(topic: str) -> bool:
    name, _, anchor = topic.partition("#")
    return name in list_page_names() and (not anchor or anchor in read_page(name).anchors)


def test_every_dialog_has_a_topic() -> None:
    dialogs = [each for each in list_classes(QDialog) if each is not ThemedDialog]
    topics = {each.__name__: getattr(each, "manual_topic", "") for each in dialogs}
    assert len(topics) > 15
    assert {name: topic for name, topic in topics.items() if not is_topic(topic)} == {}


def test_f1_opens_the_topic_of_every_page_and_view(window: MainWindow, qtbot: QtBot) -> None:
    for spec in window.page_specs:
        window.show_page(spec.id)
        assert isinstance(window.page, DeskPage)
        views = window.page.view_keys if isinstance(window.page, MultiViewPage) else [""]
        for view in views:
            if isinstance(window.page, MultiViewPage):
                window.page.choose_view(view)
            topic = f"{spec.id}#{view}" if view else spec.id
            assert window.manual_topic == topic
            assert is_topic(topic), topic
    window.focus_page()
    QTest.keyClick(window, Qt.Key.Key_F1)
    manual = get_manual(window)
    assert manual.topic == window.manual_topic == "catalog"
    window.activateWindow()
    window.scenario.model.setFocus()
    QTest.keyClick(window, Qt.Key.Key_F1)
    assert manual.topic == "scenario#bar"
    assert get_manual(window) is manual


SECTION_TOPICS = {
    "systems": "catalog#systems",
    "diffusion": "image-video",
    "claims": "catalog#claims-and-disputes",
    "disputes": "catalog#claims-and-disputes",
    "yours": "catalog#your-values",
}


def list_topics(window: MainWindow) -> dict[QWidget, str]:
    """Return the topic that F1 should open at each control of the window, without those of the visible view."""
    scenario, page, panel = window.scenario, window.page, window.body.panel
    assert panel is not None
    topics: dict[QWidget, str] = {button: button.item.id for button in window.findChildren(_RailButton)}
    topics |= dict.fromkeys((scenario.model, scenario.weights, scenario.kv, scenario.engine), "scenario#bar")
    topics |= dict.fromkeys((scenario.input_tokens, scenario.output_tokens, scenario.load), "scenario#load")
    topics |= dict.fromkeys((window.steps.undo, window.steps.redo), "scenario#undo")
    topics |= {window.chips: "scenario#accelerators", panel: "working"}
    if isinstance(page, MultiViewPage):
        topics |= {page.head.segment._buttons[key]: f"{page.page_id}#{key}" for key in page.view_keys}
    elif isinstance(page, CatalogPage):
        topics |= {page.filter: "catalog#search", page.import_button: "catalog#import"}
        topics |= {
            page.head.segment._buttons[each.value]: SECTION_TOPICS.get(each.value, "catalog") for each in CatalogSection
        }
    return topics


def check_topics(window: MainWindow, page: DeskPage, view_topic: str) -> int:
    """Check every control that is visible, and return how many are in the page."""
    topics, count = list_topics(window), 0
    for control in window.findChildren(QWidget):
        if control.focusPolicy() == Qt.FocusPolicy.NoFocus or not control.isVisible():
            continue
        owner: QWidget | None = control
        while owner is not None and owner not in topics:
            owner = owner.parentWidget()
        topic = view_topic if owner is None else topics[owner]
        topic = "sheet" if control.accessibleName() == "Print sheet" else topic
        assert find_manual_topic(control) == topic, (page.page_id, view_topic, control.accessibleName(), control)
        assert is_topic(topic), topic
        count += page.isAncestorOf(control)
    return count


def test_f1_opens_the_topic_of_every_control(window: MainWindow) -> None:
    window.open_template("70b-chat-on-four")
    window.panel.toggle()
    count = 0
    for spec in window.page_specs:
        window.show_page(spec.id)
        page = window.page
        assert isinstance(page, DeskPage)
        if isinstance(page, MultiViewPage):
            for view in page.view_keys:
                page.choose_view(view)
                QApplication.processEvents()
                count += check_topics(window, page, f"{spec.id}#{view}")
        elif isinstance(page, CatalogPage):
            for section in CatalogSection:
                page.show_section(section)
                QApplication.processEvents()
                count += check_topics(window, page, SECTION_TOPICS.get(section.value, "catalog"))
        else:
            count += check_topics(window, page, spec.id)
    assert count > 200


@pytest.mark.parametrize(
    ("show", "topic"),
    [(show_more_settings, "scenario#more-settings"), (show_keys, "keyboard"), (show_about, "contents")],
)
def test_f1_opens_the_topic_of_a_dialog(window: MainWindow, qtbot: QtBot, show: object, topic: str) -> None:
    show(window)  # type: ignore[operator]
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QDialog)
    qtbot.waitUntil(lambda: bool(dialog.property("helpKey")))
    QTest.keyClick(dialog, Qt.Key.Key_F1)
    manual = get_manual(window)
    assert manual.topic == topic
    assert not manual.isModal()
    dialog.reject()


def test_panel_and_accelerators_have_topics(window: MainWindow) -> None:
    assert find_manual_topic(window.chips.add) == "scenario#accelerators"
    window.panel.toggle()
    assert window.body.panel is not None
    assert find_manual_topic(window.body.panel) == "working"
    assert find_manual_topic(None) == "contents"


def test_search_result_is_opened_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    window.program.show_manual("contents")
    manual = get_manual(window)
    qtbot.waitUntil(manual.isActiveWindow)
    QTest.keyClick(manual, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert manual.search.hasFocus()
    QTest.keyClicks(manual.search, "payback")
    assert manual.list.count() > 1
    assert manual.list.accessibleName() == "Search results"
    assert manual.note.text() in manual.search.accessibleDescription()
    QTest.keyClick(manual.search, Qt.Key.Key_Return)
    assert manual.topic == "glossary#payback-period"
    QTest.keyClick(manual, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert manual.topic == "contents"
    QTest.keyClick(manual, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert manual.topic == "glossary#payback-period"
    QTest.keyClick(manual.search, Qt.Key.Key_Escape)
    assert manual.list.accessibleName() == "Contents"
    QTest.keyClick(manual.search, Qt.Key.Key_Escape)
    assert not manual.isVisible()


def test_contents_follow_links(window: MainWindow, qtbot: QtBot) -> None:
    window.program.show_manual("first-steps")
    manual = get_manual(window)
    item = manual.list.currentItem()
    assert item is not None
    assert item.text() == "First steps"
    manual.view.setSource(make_url("cost#rent"))
    assert manual.view.verticalScrollBar().value() > 0
    assert manual.list.currentItem().text() == "Cost"
    assert read_topic(make_url("cost#rent")) == "cost#rent"


def test_every_page_is_shown_with_its_pictures(window: MainWindow) -> None:
    for name in list_page_names():
        window.program.show_manual(name)
        manual = get_manual(window)
        text = manual.view.toPlainText()
        assert read_page(name).title in text
        assert manual.view.accessibleName() == read_page(name).title
        assert '.md"' not in manual.view.document().toHtml()
        for block in read_page(name).blocks:
            if isinstance(block, Picture):
                file = QUrl.fromLocalFile(str(paths.get_resources_dir() / "manual" / block.file))
                picture = manual.view.loadResource(QTextDocument.ResourceType.ImageResource.value, file)
                assert isinstance(picture, QImage)
                assert 100 < picture.width() / picture.devicePixelRatio() <= 700


def test_long_page_is_completed_after_the_first_paint(window: MainWindow, qtbot: QtBot) -> None:
    window.program.show_manual("accuracy")
    view = get_manual(window).view
    headings = [each.text for each in read_page("accuracy").headings]
    text = view.toPlainText()
    assert "Every figure on this page" in text
    assert headings[0] not in text
    qtbot.waitUntil(lambda: headings[-1] in view.toPlainText())
    assert view.verticalScrollBar().value() == 0
    get_manual(window).show_topic("contents")
    get_manual(window).show_topic(f"accuracy#{read_page('accuracy').headings[-1].anchor}")
    assert headings[-1] in view.toPlainText()
    assert view.verticalScrollBar().value() > 0


def test_page_follows_the_theme(window: MainWindow) -> None:
    window.program.show_manual("cost")
    manual = get_manual(window)
    window.program.set_theme(DARK)
    assert manual.view.document().defaultStyleSheet().count(window.theme.color("text1").name())
    assert manual.topic == "cost"


def test_long_page_follows_the_theme_after_the_next_paint(window: MainWindow, qtbot: QtBot) -> None:
    window.program.show_manual("accuracy")
    view = get_manual(window).view
    last_heading = read_page("accuracy").headings[-1].text
    qtbot.waitUntil(lambda: last_heading in view.toPlainText())
    assert (light := window.theme.color("sunken").name()) in view.toHtml()
    window.program.set_theme(DARK)
    # That takes as long as all windows together, and follows in a turn of its own.
    assert light in view.toHtml()
    qtbot.waitUntil(lambda: window.theme.color("sunken").name() in view.toHtml())
    assert light not in view.toHtml()


def test_manual_opens_at_once(window: MainWindow) -> None:
    window.program.show_manual("contents")
    get_manual(window).close()
    times = []
    for name in ("compare", "figures", "glossary"):
        start = time.process_time()
        window.program.show_manual(name)
        get_manual(window).repaint()
        times.append(time.process_time() - start)
    assert min(times) < 0.1


def test_manual_closes_with_the_last_window(window: MainWindow) -> None:
    window.program.show_manual("contents")
    manual = get_manual(window)
    window.close()
    assert not manual.isVisible()


def test_keyboard_page_has_the_shortcuts_of_all_pages(window: MainWindow, request: pytest.FixtureRequest) -> None:
    """`--update-golden` rewrites the page."""
    rows: dict[str, dict[str, str]] = {}
    for spec in window.page_specs:
        window.show_page(spec.id)
        for entry in list_shortcuts(window.list_window_actions(), list_menu_titles()):
            group = f"{spec.title} page" if entry.group == "This page" else f"{entry.group} menu"
            title = entry.title.partition(": ")[0] if entry.title.startswith(("Undo", "Redo")) else entry.title
            keys = " + ".join(entry.shortcut.split(" ")).replace(" + or + ", " or ")
            rows.setdefault(group, {}).setdefault(title, keys + (f" ({entry.detail})" if entry.detail else ""))
    lines = ["# Keyboard shortcuts", "", "Press Ctrl + F1 in the window for a searchable list of these keys."]
    for group, entries in rows.items():
        lines += ["", f"## {group}", "", "| command | keys |", "| --- | --- |"]
        lines += [f"| {title} | {keys} |" for title, keys in entries.items()]
    text = "\n".join(lines) + "\n"
    if request.config.getoption("--update-golden"):
        KEYBOARD.write_text(text, encoding="utf-8")
    assert KEYBOARD.read_text(encoding="utf-8") == text


def test_sections_of_views_have_their_titles(window: MainWindow, request: pytest.FixtureRequest) -> None:
    """`--update-golden` rewrites the titles."""
    for spec in window.page_specs:
        window.show_page(spec.id)
        if not isinstance(window.page, MultiViewPage):
            continue
        file = paths.get_resources_dir() / f"manual/{spec.id}.md"
        text = renewed = file.read_text(encoding="utf-8")
        for view in window.page.view_specs():
            renewed = re.sub(
                rf"^## .* {{#{view.key}}}$", f"## {view.text} {{#{view.key}}}", renewed, flags=re.MULTILINE
            )
        if request.config.getoption("--update-golden"):
            file.write_text(renewed, encoding="utf-8")
            continue
        assert text == renewed


def test_menu_paths_in_the_manual_exist(window: MainWindow) -> None:
    menus = {menu: title.replace("&", "") for menu, title in list_menu_titles().items()}
    entries: set[str] = set()
    for spec in window.page_specs:
        window.show_page(spec.id)
        for action in window.list_window_actions():
            if action.menu is not None:
                entries |= {f"{menus[action.menu]} → {text}" for text in (action.text, action.group)}
    for name in list_page_names():
        text = (paths.get_resources_dir() / f"manual/{name}.md").read_text(encoding="utf-8")
        assert [entry for entry in re.findall(r"\*(\w+ → [^*]+)\*", text) if entry not in entries] == [], name
