"""The theme dresses the application, switches live, and what is painted follows."""

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


def strongest(image: QImage) -> QColor:
    """Return the color of the most opaque pixel."""
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return max(pixels, key=lambda color: color.alpha())


def near(first: QColor, second: QColor, tolerance: int = 12) -> bool:
    parts = zip(first.getRgb()[:3], second.getRgb()[:3], strict=True)  # type: ignore[index]
    return all(abs(a - b) <= tolerance for a, b in parts)


def test_switching_changes_palette_sheet_and_tokens_before_it_is_said(
    theme: Theme, qapp: QApplication, qtbot: QtBot
) -> None:
    seen: list[tuple[str, str]] = []
    theme.changed.connect(lambda: seen.append((theme.color("page").name(), qapp.palette().base().color().name())))
    with qtbot.waitSignal(theme.changed):
        theme.set_preference(DARK)
    assert theme.dark
    assert seen == [("#15181c", "#15181c")]
    assert tokens.DARK.colors["button"] in qapp.styleSheet()
    theme.set_preference(LIGHT)
    assert qapp.palette().base().color().name() == "#ffffff"


def test_setting_the_same_again_says_nothing(theme: Theme, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_preference(LIGHT)
        theme.set_font_percent(100)


def test_an_unknown_preference_is_refused(theme: Theme) -> None:
    with pytest.raises(ValueError, match="sepia"):
        theme.set_preference("sepia")


def test_every_role_of_the_palette_is_ours(theme: Theme, qapp: QApplication) -> None:
    ours = {QColor(color).name() for color in tokens.LIGHT.colors.values()}
    palette = qapp.palette()
    roles = [role for role in Role if role not in (Role.NoRole, Role.NColorRoles)]
    for group in (Group.Active, Group.Inactive, Group.Disabled):
        foreign = [role for role in roles if palette.color(group, role).name() not in ours]
        assert foreign == []
    assert palette.color(Group.Disabled, Role.Text).name() == theme.color("disabled").name()


def test_a_color_handed_out_is_a_copy(theme: Theme) -> None:
    theme.color("text1").setAlpha(10)
    assert theme.color("text1").alpha() == 255


def test_the_system_is_followed_where_it_says_nothing(theme: Theme) -> None:
    theme.set_preference(DARK)
    theme.set_preference(SYSTEM)
    assert theme.dark == (theme.palette is tokens.DARK)


@pytest.mark.parametrize(("asked", "got"), [(150, 150), (90, 90), (300, 150), (10, 90)])
def test_size_of_letters_stays_within_its_limits(theme: Theme, qapp: QApplication, asked: int, got: int) -> None:
    theme.set_font_percent(asked)
    assert theme.font_percent == got
    assert qapp.font().pixelSize() == theme.font("body").pixelSize() == int(13 * got / 100 + 0.5)
    assert theme.px(28) == int(28 * got / 100 + 0.5)


def test_fonts_do_not_depend_on_the_platforms_hinting(theme: Theme) -> None:
    for token in tokens.TYPE_STYLES:
        assert theme.font(token).hintingPreference() == theme.font(token).HintingPreference.PreferNoHinting


def test_style_sheet_has_no_color_that_is_no_token(theme: Theme, qapp: QApplication) -> None:
    for preference, palette in ((LIGHT, tokens.LIGHT), (DARK, tokens.DARK)):
        theme.set_preference(preference)
        sheet = re.sub(r'url\("[^"]*"\)', "", qapp.styleSheet())
        used = {color.upper() for color in re.findall(r"#[0-9A-Fa-f]{3,8}\b", sheet)}
        assert used <= set(palette.colors.values())


def test_every_icon_file_can_be_tinted_and_drawn(theme: Theme) -> None:
    files = sorted(paths.resource("icons").glob("*.svg"))
    assert len(files) > 60
    for file in files:
        if file.stem == "gpudesk":
            continue
        assert "currentColor" in file.read_text(encoding="utf-8"), file.stem
        image = theme.pixmap(file.stem, "link", 16, 2.0).toImage()
        assert image.width() == 32
        assert near(strongest(image), theme.color("link")), file.stem


def test_an_icon_once_set_follows_theme_state_and_scale(theme: Theme) -> None:
    icon = theme.icon("plus", "text1")
    light = icon.pixmap(QSize(16, 16), 2.0)
    assert light.devicePixelRatio() == 2.0
    assert light.deviceIndependentSize().toSize() == QSize(16, 16)
    assert near(strongest(light.toImage()), theme.color("text1"))
    theme.set_preference(DARK)
    assert near(strongest(icon.pixmap(16, 16).toImage()), theme.color("text1"))
    disabled = icon.pixmap(QSize(16, 16), QIcon.Mode.Disabled)
    assert near(strongest(disabled.toImage()), theme.color("disabled"))


def test_an_icon_keeps_its_size_in_a_larger_place(theme: Theme) -> None:
    assert theme.icon("plus", size=14).pixmap(64, 64).width() == 14


def test_labels_take_new_colors_and_sizes(theme: Theme, qtbot: QtBot) -> None:
    label = ThemedLabel(theme, "Bandwidth", font="small", color="text3")
    qtbot.addWidget(label)
    theme.set_preference(DARK)
    theme.set_font_percent(150)
    assert label.palette().color(Role.WindowText) == theme.color("text3")
    assert label.font().pixelSize() == 18


def test_an_icon_button_has_a_name_and_a_tool_tip_with_its_key(theme: Theme, qtbot: QtBot) -> None:
    button = IconButton(theme, "panel-right", "Show the panel", key="Ctrl+I")
    qtbot.addWidget(button)
    assert button.accessibleName() == "Show the panel"
    assert button.toolTip() == "Show the panel  Ctrl I"


@pytest.mark.parametrize("percent", [90, 100, 110, 125, 150])
def test_the_handle_of_a_slider_is_round(theme: Theme, qtbot: QtBot, percent: int) -> None:
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
    centre = handle.center()
    assert near(image.pixelColor(centre), page)
    assert near(image.pixelColor(centre.x(), handle.top()), ink, 60)
    assert near(image.pixelColor(centre.x(), handle.bottom()), ink, 60)
    for corner in (handle.topLeft(), handle.topRight(), handle.bottomLeft(), handle.bottomRight()):
        assert near(image.pixelColor(corner), outside)


class GarbageWatch(QWidget):
    """Notes whether garbage may be collected while its style changes."""

    def __init__(self) -> None:
        super().__init__()
        self.was_enabled: list[bool] = []

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.StyleChange:
            self.was_enabled.append(gc.isenabled())


def test_no_garbage_is_collected_while_qt_restyles_the_widgets_that_it_listed(theme: Theme, qtbot: QtBot) -> None:
    """A collection destroys widgets without parents that nothing uses any more, and Qt would restyle them."""
    watch = GarbageWatch()
    qtbot.addWidget(watch)
    watch.show()
    gc.enable()
    watch.was_enabled.clear()
    theme.set_font_percent(125)
    assert set(watch.was_enabled) == {False}
    assert gc.isenabled()


class StackedPages(QWidget):
    """Pages with a button, a field and a label, each with a deferred theme; one is shown."""

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


def test_a_page_that_was_hidden_at_a_switch_looks_as_one_that_was_visible(theme: Theme, qtbot: QtBot) -> None:
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


def test_only_what_is_visible_is_restyled_by_a_switch(theme: Theme, qtbot: QtBot) -> None:
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


def test_a_view_in_a_page_follows_by_itself(theme: Theme, qtbot: QtBot) -> None:
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
