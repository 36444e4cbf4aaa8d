"""The theme: palette, style sheet, fonts and icons, and live switching."""

import gc
import re

import pytest
from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QColor, QIcon, QImage, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSlider,
    QStackedLayout,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.desktop.ui.theme import tokens
from gpudesk.desktop.ui.theme.theme import DARK, LIGHT, SYSTEM, Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel

Role = QPalette.ColorRole
Group = QPalette.ColorGroup


def find_most_opaque(image: QImage) -> QColor:
    """Return the color of the most opaque pixel."""
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return max(pixels, key=lambda color: color.alpha())


def are_similar(first: QColor, second: QColor, tolerance: int = 12) -> bool:
    channels = zip(first.getRgb()[:3], second.getRgb()[:3], strict=True)  # type: ignore[index]
    return all(abs(a - b) <= tolerance for a, b in channels)


def test_switch_changes_palette_and_style_sheet_before_the_signal(
    theme: Theme, qapp: QApplication, qtbot: QtBot
) -> None:
    colors: list[tuple[str, str]] = []
    theme.changed.connect(lambda: colors.append((theme.color("page").name(), qapp.palette().base().color().name())))
    with qtbot.waitSignal(theme.changed):
        theme.set_preference(DARK)
    assert theme.dark
    assert colors == [("#15181c", "#15181c")]
    assert tokens.DARK.colors["button"] in qapp.styleSheet()
    theme.set_preference(LIGHT)
    assert qapp.palette().base().color().name() == "#ffffff"


def test_same_preference_emits_no_signal(theme: Theme, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_preference(LIGHT)
        theme.set_font_percent(100)


def test_unknown_preference_is_refused(theme: Theme) -> None:
    with pytest.raises(ValueError, match="sepia"):
        theme.set_preference("sepia")


def test_every_palette_role_is_a_theme_color(theme: Theme, qapp: QApplication) -> None:
    theme_colors = {QColor(color).name() for color in tokens.LIGHT.colors.values()}
    palette = qapp.palette()
    roles = [role for role in Role if role not in (Role.NoRole, Role.NColorRoles)]
    for group in (Group.Active, Group.Inactive, Group.Disabled):
        other_roles = [role for role in roles if palette.color(group, role).name() not in theme_colors]
        assert other_roles == []
    assert palette.color(Group.Disabled, Role.Text).name() == theme.color("disabled").name()


def test_returned_color_is_a_copy(theme: Theme) -> None:
    theme.color("text1").setAlpha(10)
    assert theme.color("text1").alpha() == 255


def test_system_preference_selects_a_palette(theme: Theme) -> None:
    theme.set_preference(DARK)
    theme.set_preference(SYSTEM)
    assert theme.dark == (theme.palette is tokens.DARK)


@pytest.mark.parametrize(("percent", "effective"), [(150, 150), (90, 90), (300, 150), (10, 90)])
def test_text_size_is_limited(theme: Theme, qapp: QApplication, percent: int, effective: int) -> None:
    theme.set_font_percent(percent)
    assert theme.font_percent == effective
    assert qapp.font().pixelSize() == theme.font("body").pixelSize() == int(13 * effective / 100 + 0.5)
    assert theme.px(28) == int(28 * effective / 100 + 0.5)


def test_fonts_do_not_depend_on_the_platforms_hinting(theme: Theme) -> None:
    for token in tokens.TYPE_STYLES:
        assert theme.font(token).hintingPreference() == theme.font(token).HintingPreference.PreferNoHinting


def test_style_sheet_has_only_theme_colors(theme: Theme, qapp: QApplication) -> None:
    for preference, palette in ((LIGHT, tokens.LIGHT), (DARK, tokens.DARK)):
        theme.set_preference(preference)
        sheet = re.sub(r'url\("[^"]*"\)', "", qapp.styleSheet())
        colors = {color.upper() for color in re.findall(r"#[0-9A-Fa-f]{3,8}\b", sheet)}
        assert colors <= set(palette.colors.values())


def test_every_icon_is_tinted(theme: Theme) -> None:
    files = sorted(paths.resource("icons").glob("*.svg"))
    assert len(files) > 60
    for file in files:
        if file.stem == "gpudesk":
            continue
        assert "currentColor" in file.read_text(encoding="utf-8"), file.stem
        image = theme.pixmap(file.stem, "link", 16, 2.0).toImage()
        assert image.width() == 32
        assert are_similar(find_most_opaque(image), theme.color("link")), file.stem


def test_icon_follows_theme_state_and_scale(theme: Theme) -> None:
    icon = theme.icon("plus", "text1")
    light = icon.pixmap(QSize(16, 16), 2.0)
    assert light.devicePixelRatio() == 2.0
    assert light.deviceIndependentSize().toSize() == QSize(16, 16)
    assert are_similar(find_most_opaque(light.toImage()), theme.color("text1"))
    theme.set_preference(DARK)
    assert are_similar(find_most_opaque(icon.pixmap(16, 16).toImage()), theme.color("text1"))
    disabled = icon.pixmap(QSize(16, 16), QIcon.Mode.Disabled)
    assert are_similar(find_most_opaque(disabled.toImage()), theme.color("disabled"))


def test_icon_keeps_its_size_in_a_larger_pixmap(theme: Theme) -> None:
    assert theme.icon("plus", size=14).pixmap(64, 64).width() == 14


def test_labels_follow_color_and_size(theme: Theme, qtbot: QtBot) -> None:
    label = ThemedLabel(theme, "Bandwidth", font="small", color="text3")
    qtbot.addWidget(label)
    theme.set_preference(DARK)
    theme.set_font_percent(150)
    assert label.palette().color(Role.WindowText) == theme.color("text3")
    assert label.font().pixelSize() == 18


def test_icon_button_has_name_and_tool_tip(theme: Theme, qtbot: QtBot) -> None:
    button = IconButton(theme, "panel-right", "Show the panel", key="Ctrl+I")
    qtbot.addWidget(button)
    assert button.accessibleName() == "Show the panel"
    assert button.toolTip() == "Show the panel  Ctrl I"


@pytest.mark.parametrize("percent", [90, 100, 110, 125, 150])
def test_slider_handle_is_round(theme: Theme, qtbot: QtBot, percent: int) -> None:
    theme.set_font_percent(percent)
    window = QWidget()
    qtbot.addWidget(window)
    slider = QSlider()
    slider.setOrientation(slider.orientation().Horizontal)
    slider.setRange(0, 100)
    slider.setValue(50)
    QHBoxLayout(window).addWidget(slider)
    window.resize(260, 60)
    image = window.grab().toImage()
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    handle = slider.style().subControlRect(
        QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider
    )
    handle.translate(slider.pos())
    assert handle.width() == handle.height()
    ink, page, outside = theme.color("text1"), theme.color("page"), theme.color("chrome")
    center = handle.center()
    assert are_similar(image.pixelColor(center), page)
    assert are_similar(image.pixelColor(center.x(), handle.top()), ink, 60)
    assert are_similar(image.pixelColor(center.x(), handle.bottom()), ink, 60)
    for corner in (handle.topLeft(), handle.topRight(), handle.bottomLeft(), handle.bottomRight()):
        assert are_similar(image.pixelColor(corner), outside)


class GarbageWatch(QWidget):
    """Records whether garbage collection is enabled while its style changes."""

    def __init__(self) -> None:
        super().__init__()
        self.was_enabled: list[bool] = []

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.StyleChange:
            self.was_enabled.append(gc.isenabled())


def test_garbage_collection_is_disabled_during_restyling(theme: Theme, qtbot: QtBot) -> None:
    watch = GarbageWatch()
    qtbot.addWidget(watch)
    watch.show()
    gc.enable()
    watch.was_enabled.clear()
    theme.set_font_percent(125)
    assert set(watch.was_enabled) == {False}
    assert gc.isenabled()


class StackedPages(QWidget):
    """Pages with a button, a field and a label, each with a deferred theme; one page is visible."""

    def __init__(self, theme: Theme, count: int) -> None:
        super().__init__()
        self.themes = [theme.defer() for _ in range(count)]
        self.pages = [self._make_page(each) for each in self.themes]
        stack = QStackedLayout(self)
        for page, deferred in zip(self.pages, self.themes, strict=True):
            stack.addWidget(page)
            deferred.attach(page)
        self.show_page = stack.setCurrentIndex
        self.resize(300, 120)

    @staticmethod
    def _make_page(theme: Theme) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        for widget in (QPushButton("Copy"), QLineEdit("64"), ThemedLabel(theme, "Bandwidth", color="text3")):
            row.addWidget(widget)
        return page


def test_hidden_page_follows_a_switch(theme: Theme, qtbot: QtBot) -> None:
    pages = StackedPages(theme, 2)
    qtbot.addWidget(pages)
    pages.show()
    pages.show_page(1)
    pages.show_page(0)
    theme.set_preference(DARK)
    theme.set_font_percent(125)
    visible = pages.grab().toImage()
    pages.show_page(1)
    assert pages.grab().toImage() == visible


def test_only_visible_pages_are_restyled_by_a_switch(theme: Theme, qtbot: QtBot) -> None:
    pages = StackedPages(theme, 2)
    qtbot.addWidget(pages)
    pages.show()
    changes: list[str] = []
    for name, deferred in zip(("visible", "hidden"), pages.themes, strict=True):
        deferred.changed.connect(lambda name=name: changes.append(name))
    theme.set_preference(DARK)
    assert changes == ["visible"]
    pages.show_page(1)
    assert changes == ["visible", "hidden"]
    pages.show_page(0)
    assert changes == ["visible", "hidden"]


def test_hidden_view_in_a_page_is_restyled_when_shown(theme: Theme, qtbot: QtBot) -> None:
    pages = StackedPages(theme, 2)
    qtbot.addWidget(pages)
    inner, view = pages.themes[1].defer(), QWidget(pages.pages[1])
    inner.attach(view)
    view.hide()
    changes: list[str] = []
    inner.changed.connect(lambda: changes.append("view"))
    pages.show()
    theme.set_preference(DARK)
    pages.show_page(1)
    assert changes == []
    view.show()
    assert changes == ["view"]
