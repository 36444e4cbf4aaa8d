"""The application's theme: palette, style sheet, fonts and icons, switched together at run time."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final
from weakref import WeakSet

from PySide6.QtCore import QEvent, QObject, Qt, QTemporaryDir, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPalette, QPixmap
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from shiboken6 import isValid

from gpudesk.desktop.ui.theme import tokens
from gpudesk.desktop.ui.theme.glyphs import TintedIconEngine, render_icon, tint_svg
from gpudesk.desktop.ui.theme.tokens import LEAST_TARGET, load_fonts, make_scaled_font

ColorTable = Mapping[str, str]


class ControlImages:
    """Tinted SVG files for the arrows and check marks of controls: style sheets take pictures only from files.

    They are in a temporary folder that is removed when the program ends. If it is not writable, controls have no arrows
    and everything else works.
    """

    def __init__(self, folder: QTemporaryDir) -> None:
        self._folder = folder
        self._written_files: set[str] = set()
        # Not before the end: the application's style sheet outlives the theme that made it.
        # Objects still alive then are never destroyed, so the folder would stay.
        atexit.register(folder.remove)

    def url(self, name: str, color: str) -> str:
        """Return the style sheet value of an icon in a color, `none` if the file cannot be written."""
        file = f"{name}-{color.lstrip('#')}.svg"
        path = Path(self._folder.filePath(file))
        if file not in self._written_files:
            try:
                path.write_bytes(tint_svg(name, QColor(color)))
            except OSError:
                return "none"
            self._written_files.add(file)
        return f'url("{path.as_posix()}")'


def make_style_sheet(colors: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
    """Return the rules for a palette; `px` scales lengths with the text size."""
    parts = (
        _make_button_styles(colors, px),
        _make_field_styles(colors, px, images),
        _make_check_box_styles(colors, px, images),
        _make_slider_styles(colors, px),
        _make_menu_styles(colors, px, images),
        _make_view_styles(colors, px),
        _scroll_bars(colors, px),
    )
    return "\n".join(parts)


def _make_button_styles(c: ColorTable, px: Callable[[float], int]) -> str:
    inner = px(28) - 2
    return f"""
QPushButton {{ background: {c["page"]}; color: {c["text1"]}; border: 1px solid {c["strong"]};
  border-radius: 6px; min-height: {inner}px; padding: 0 {px(12)}px; font-weight: 500;
  icon-size: {px(16)}px; outline: none; }}
QPushButton:hover {{ background: {c["hover"]}; }}
QPushButton:pressed, QPushButton:checked {{ background: {c["selection"]}; }}
QPushButton:disabled {{ background: {c["page"]}; color: {c["disabled"]}; border-color: {c["hair"]}; }}
QPushButton[kind="primary"], QPushButton:default {{ background: {c["button"]}; color: {c["button_text"]};
  border-color: {c["button"]}; }}
QPushButton[kind="primary"]:hover, QPushButton:default:hover,
QPushButton[kind="primary"]:pressed, QPushButton:default:pressed {{ background: {c["button_hover"]};
  border-color: {c["button_hover"]}; }}
QPushButton[kind="primary"]:disabled, QPushButton:default:disabled {{ background: {c["strong"]};
  border-color: {c["strong"]}; color: {c["page"]}; }}
QPushButton[kind="quiet"] {{ background: transparent; border-color: transparent; }}
QPushButton[kind="quiet"]:hover {{ background: {c["hover"]}; }}
QPushButton[kind="quiet"]:pressed {{ background: {c["selection"]}; }}
QPushButton[kind="link"] {{ background: transparent; border: none; color: {c["link"]}; padding: 0;
  min-height: {px(LEAST_TARGET)}px; font-weight: 400; text-align: left; }}
QPushButton[kind="link"]:hover {{ text-decoration: underline; }}
QPushButton[kind="link"]:disabled {{ color: {c["disabled"]}; }}
QFrame[kind="segment"] {{ background: {c["sunken"]}; border: none; border-radius: 6px; }}
QPushButton[kind="segment"] {{ background: transparent; border: 1px solid transparent; border-radius: 5px;
  color: {c["text2"]}; min-height: {px(24)}px; padding: 0 {px(10)}px; }}
QPushButton[kind="segment"]:hover {{ color: {c["text1"]}; }}
QPushButton[kind="segment"]:checked {{ background: {c["segment"]}; border-color: {c["strong"]};
  color: {c["text1"]}; }}
QPushButton[kind="segment"]:disabled {{ color: {c["disabled"]}; }}
QToolButton {{ background: transparent; color: {c["text2"]}; border: 1px solid transparent;
  border-radius: 6px; min-height: {inner}px; min-width: {inner}px; font-weight: 500; padding: 0;
  icon-size: {px(16)}px; }}
QToolButton:hover {{ background: {c["hover"]}; }}
QToolButton:pressed, QToolButton:checked {{ background: {c["selection"]}; color: {c["text1"]}; }}
QToolButton:disabled {{ color: {c["disabled"]}; background: transparent; }}
QToolButton::menu-indicator {{ image: none; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
"""


def _make_field_styles(c: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
    inner = px(28) - 2
    half = inner // 2
    down, down_off = images.url("chevron-down", c["text2"]), images.url("chevron-down", c["disabled"])
    up, up_off = images.url("chevron-up", c["text2"]), images.url("chevron-up", c["disabled"])
    return f"""
QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit {{ background: {c["page"]};
  color: {c["text1"]}; border: 1px solid {c["strong"]}; border-radius: 5px;
  selection-background-color: {c["focus"]}; selection-color: {c["page"]}; }}
QLineEdit {{ min-height: {inner}px; padding: 0 {px(8)}px; }}
QPlainTextEdit {{ padding: 0 {px(3)}px; }}
QComboBox {{ min-height: {inner}px; padding: 0 {px(8)}px; combobox-popup: 0; }}
QAbstractSpinBox {{ min-height: {inner - 4}px; padding: 2px {px(24)}px 2px {px(8)}px; }}
QLineEdit:hover, QComboBox:hover, QAbstractSpinBox:hover, QPlainTextEdit:hover, QTextEdit:hover {{
  border-color: {c["control"]}; }}
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled, QPlainTextEdit:disabled,
QTextEdit:disabled {{ background: {c["chrome"]}; color: {c["disabled"]}; border-color: {c["hair"]}; }}
QLineEdit[fault="true"], QComboBox[fault="true"], QAbstractSpinBox[fault="true"] {{
  border-color: {c["unfit"]}; }}
QLineEdit[kind="bare"] {{ border: none; background: transparent; padding: 0; min-height: 0; }}
QTextEdit[kind="bare"] {{ border: none; }}
QLineEdit QToolButton {{ min-width: 0; min-height: 0; border: none; background: transparent; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: none; background: transparent; padding: 0;
  min-height: 0; }}
QComboBox::drop-down {{ border: none; width: {px(24)}px; }}
QComboBox::down-arrow {{ image: {down}; width: {px(14)}px; height: {px(14)}px; }}
QComboBox::down-arrow:disabled {{ image: {down_off}; }}
QComboBox QAbstractItemView {{ background: {c["raised"]}; border: 1px solid {c["strong"]};
  padding: 4px; outline: none; }}
QAbstractSpinBox::up-button {{ subcontrol-origin: border; subcontrol-position: top right; border: none;
  background: transparent; width: {px(20)}px; height: {half}px; }}
QAbstractSpinBox::down-button {{ subcontrol-origin: border; subcontrol-position: bottom right; border: none;
  background: transparent; width: {px(20)}px; height: {half}px; }}
QAbstractSpinBox::up-arrow {{ image: {up}; width: {px(11)}px; height: {px(11)}px; }}
QAbstractSpinBox::up-arrow:disabled, QAbstractSpinBox::up-arrow:off {{ image: {up_off}; }}
QAbstractSpinBox::down-arrow {{ image: {down}; width: {px(11)}px; height: {px(11)}px; }}
QAbstractSpinBox::down-arrow:disabled, QAbstractSpinBox::down-arrow:off {{ image: {down_off}; }}
"""


def _make_check_box_styles(c: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
    side = px(14)
    radius = (side + 2) // 2
    return f"""
QCheckBox, QRadioButton {{ spacing: {px(8)}px; background: transparent; min-height: {px(LEAST_TARGET)}px; }}
QCheckBox::indicator:hover:enabled, QRadioButton::indicator:hover:enabled {{ border-color: {c["text1"]}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {c["disabled"]}; }}
QCheckBox::indicator, QRadioButton::indicator, QTableView::indicator {{ width: {side}px; height: {side}px;
  border: 1px solid {c["control"]}; background: {c["page"]}; border-radius: 4px; }}
QCheckBox::indicator:checked, QTableView::indicator:checked {{ background: {c["text1"]};
  border-color: {c["text1"]}; image: {images.url("check", c["page"])}; }}
QCheckBox::indicator:indeterminate {{ background: {c["text1"]}; border-color: {c["text1"]};
  image: {images.url("minus", c["page"])}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {c["hair"]};
  background: {c["chrome"]}; }}
QCheckBox::indicator:checked:disabled, QCheckBox::indicator:indeterminate:disabled {{
  background: {c["strong"]}; border-color: {c["strong"]}; }}
QRadioButton::indicator {{ border-radius: {radius}px; }}
QRadioButton::indicator:checked {{ background: {c["text1"]}; border-color: {c["text1"]};
  image: {images.url("dot", c["page"])}; }}
QRadioButton::indicator:checked:disabled {{ background: {c["strong"]}; border-color: {c["strong"]}; }}
"""


def _make_slider_styles(c: ColorTable, px: Callable[[float], int]) -> str:
    # The handle is as high as the groove and both margins, so its height is odd; for a circle the width must be the
    # same. Qt drops a radius above half of it, and the handle becomes square.
    whole = px(14) | 1
    handle, radius, margin = whole - 4, whole // 2, -(whole - 3) // 2
    return f"""
QSlider {{ background: transparent; min-height: {px(LEAST_TARGET)}px; }}
QSlider::groove:horizontal {{ height: 3px; border-radius: 1px; background: {c["strong"]}; }}
QSlider::sub-page:horizontal {{ height: 3px; border-radius: 1px; background: {c["text1"]}; }}
QSlider::sub-page:horizontal:disabled {{ background: {c["disabled"]}; }}
QSlider::handle:horizontal {{ width: {handle}px; height: {handle}px; margin: {margin}px 0;
  border: 2px solid {c["text1"]}; border-radius: {radius}px; background: {c["page"]}; }}
QSlider::handle:horizontal:hover {{ background: {c["hover"]}; }}
QSlider::handle:horizontal:pressed {{ background: {c["selection"]}; }}
QSlider::handle:horizontal:disabled {{ border-color: {c["disabled"]}; background: {c["page"]}; }}
QProgressBar {{ background: {c["sunken"]}; border: none; border-radius: 2px; max-height: 4px;
  min-height: 4px; }}
QProgressBar::chunk {{ background: {c["text1"]}; border-radius: 2px; }}
QProgressBar::chunk:disabled {{ background: {c["strong"]}; }}
"""


def _make_menu_styles(c: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
    check = images.url("check", c["text1"])
    sub = images.url("chevron-right", c["text2"])
    return f"""
QMenuBar {{ background: transparent; color: {c["text1"]}; border: none; spacing: 0;
  padding: {px(5)}px 0; }}
QMenuBar::item {{ background: transparent; border-radius: 5px; padding: {px(4)}px {px(9)}px; }}
QMenuBar::item:selected {{ background: {c["hover"]}; }}
QMenuBar::item:pressed {{ background: {c["selection"]}; }}
QMenu {{ background: {c["raised"]}; color: {c["text1"]}; border: 1px solid {c["strong"]};
  padding: 5px; }}
QMenu {{ icon-size: {px(16)}px; }}
QMenu[round="true"] {{ border-radius: 8px; }}
QMenu::item {{ background: transparent; border-radius: 4px; min-height: {px(26)}px;
  padding: 0 {px(16)}px 0 {px(6)}px; }}
QMenu::item:selected {{ background: {c["selection_raised"]}; }}
QMenu::item:disabled {{ color: {c["disabled"]}; background: transparent; }}
QMenu::icon {{ padding-left: {px(6)}px; }}
QMenu::indicator {{ width: {px(14)}px; height: {px(14)}px; margin-left: {px(7)}px; }}
QMenu::indicator:checked {{ image: {check}; }}
QMenu::right-arrow {{ image: {sub}; width: {px(14)}px; height: {px(14)}px; }}
QMenu::separator {{ height: 1px; background: {c["hair"]}; margin: 5px 2px; }}
QToolTip {{ background: {c["raised"]}; color: {c["text1"]}; border: 1px solid {c["strong"]};
  padding: {px(5)}px {px(7)}px; }}
"""


def _make_view_styles(c: ColorTable, px: Callable[[float], int]) -> str:
    return f"""
QAbstractItemView {{ background: {c["page"]}; color: {c["text1"]}; border: none; outline: none;
  selection-background-color: {c["selection"]}; selection-color: {c["text1"]}; }}
QAbstractItemView[kind="raised"] {{ background: {c["raised"]}; }}
QListView[kind="contents"]::item {{ padding: {px(4)}px {px(6)}px; }}
QTableView::item:disabled {{ color: {c["text3"]}; }}
QHeaderView {{ background: {c["page"]}; border: none; }}
QHeaderView::section {{ background: {c["page"]}; color: {c["text3"]}; border: none; font-weight: 500;
  font-size: {px(11)}px; padding: 0 3px; border-bottom: 1px solid {c["strong"]}; }}
QTableCornerButton::section {{ background: {c["page"]}; border: none; }}
QScrollArea {{ background: transparent; border: none; }}
QSplitter::handle {{ background: {c["hair"]}; }}
QSplitter::handle:hover {{ background: {c["control"]}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
QDialog {{ background: {c["page"]}; }}
"""


def _scroll_bars(c: ColorTable, px: Callable[[float], int]) -> str:
    width = 10
    return f"""
QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: {width}px; }}
QScrollBar:horizontal {{ height: {width}px; }}
QScrollBar::handle {{ background: {c["strong"]}; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: {px(28)}px; }}
QScrollBar::handle:horizontal {{ min-width: {px(28)}px; }}
QScrollBar::handle:hover, QScrollBar::handle:pressed {{ background: {c["control"]}; }}
QScrollBar::handle:disabled {{ background: transparent; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; border: none; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
"""


SYSTEM: Final = "system"
LIGHT: Final = "light"
DARK: Final = "dark"
PREFERENCES: Final = (SYSTEM, LIGHT, DARK)

LEAST_PERCENT: Final = 90
MOST_PERCENT: Final = 150

_Role = QPalette.ColorRole

_ROLES: Final = {
    _Role.Window: "chrome",
    _Role.WindowText: "text1",
    _Role.Base: "page",
    _Role.AlternateBase: "chrome",
    _Role.Text: "text1",
    _Role.Button: "sunken",
    _Role.ButtonText: "text1",
    _Role.BrightText: "unfit",
    _Role.Highlight: "selection",
    _Role.HighlightedText: "text1",
    _Role.ToolTipBase: "raised",
    _Role.ToolTipText: "text1",
    _Role.PlaceholderText: "text3",
    _Role.Link: "link",
    _Role.LinkVisited: "link",
    _Role.Light: "raised",
    _Role.Midlight: "sunken",
    _Role.Mid: "strong",
    _Role.Dark: "control",
    _Role.Shadow: "axis",
    _Role.Accent: "focus",
}

_DISABLED_ROLES: Final = {
    **dict.fromkeys(
        (
            _Role.WindowText,
            _Role.Text,
            _Role.ButtonText,
            _Role.HighlightedText,
            _Role.PlaceholderText,
            _Role.ToolTipText,
            _Role.Link,
            _Role.LinkVisited,
            _Role.BrightText,
        ),
        "disabled",
    ),
    _Role.Base: "chrome",
    _Role.Button: "chrome",
    _Role.Highlight: "hover",
    _Role.Accent: "disabled",
}

#: Look-ups cached until the theme or the text size changes: one frame makes 400.
#: Results are shared: copy a color or a font before changing it. Only `color` copies itself.
_KEPT: Final = ("_color", "mark_color", "name_color", "dash_pattern", "marker_name", "font", "line", "px", "length")


@dataclass
class _Look:
    """The current look: the user's choice, whether it is dark now, and the text size in percent."""

    preference: str
    percent: int
    dark: bool = False


class Theme(QObject):
    """Looks up colors, fonts and icons by token; every widget gets one and follows `changed`."""

    #: Palette, style sheet and tokens, or the text size, have changed.
    changed = Signal()

    def __init__(self, app: QApplication, preference: str = SYSTEM, font_percent: int = 100) -> None:
        """Style the application. `preference` is `system`, `light` or `dark`; the font from 90 to 150%."""
        super().__init__(app)
        self._app = app
        self._look = _Look(preference if preference in PREFERENCES else SYSTEM, _clamp_percent(font_percent))
        self._deferred: WeakSet[DeferredTheme] = WeakSet()
        self._images = ControlImages(QTemporaryDir())
        for name in _KEPT:
            setattr(self, name, lru_cache(maxsize=None)(getattr(self, name)))
        load_fonts()
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._settle)
        self._request_scheme()
        self._look.dark = self._wants_dark()
        self._apply()

    # Current look

    @property
    def dark(self) -> bool:
        return self._look.dark

    @property
    def preference(self) -> str:
        """The user's choice: `system`, `light` or `dark`."""
        return self._look.preference

    @property
    def font_percent(self) -> int:
        return self._look.percent

    @property
    def palette(self) -> tokens.Palette:
        return tokens.DARK if self._look.dark else tokens.LIGHT

    # Lookup

    def color(self, token: str) -> QColor:
        """Return the color of a token; `scrim` is the shade behind floating content."""
        return QColor(self._color(token))

    def _color(self, token: str) -> QColor:
        if token == "scrim":
            return QColor(0, 0, 0, self.palette.scrim_alpha)
        return QColor(self.palette.colors[token])

    def mark_color(self, slot: int) -> QColor:
        """Return the color of a slot's curves and markers; gray for an accelerator outside the scenario."""
        return QColor(self.palette.marks[(slot - 1) % tokens.PALETTE_SIZE]) if slot > 0 else self.color("text3")

    def name_color(self, slot: int) -> QColor:
        return QColor(self.palette.labels[(slot - 1) % tokens.PALETTE_SIZE]) if slot > 0 else self.color("text3")

    def band_color(self, slot: int) -> QColor:
        color = QColor(self.mark_color(slot))
        color.setAlpha(self.palette.band_alpha)
        return color

    def dash_pattern(self, slot: int) -> list[float]:
        """Return strokes and gaps in pen widths; empty for a solid line."""
        return list(tokens.DASHES[(slot - 1) % tokens.PALETTE_SIZE]) if slot > 0 else []

    def marker_name(self, slot: int) -> str:
        return tokens.MARKERS[(slot - 1) % tokens.PALETTE_SIZE] if slot > 0 else tokens.MARKERS[0]

    def font(self, token: str) -> QFont:
        return make_scaled_font(tokens.TYPE_STYLES[token], self._look.percent / 100)

    def line(self, token: str) -> int:
        return self.px(tokens.TYPE_STYLES[token].line)

    def px(self, n: float) -> int:
        """Return a design length at the current size in whole pixels, at least 1."""
        scaled = int(n * self._look.percent / 100 + 0.5)
        return max(1, scaled) if n > 0 else scaled

    def length(self, n: float) -> float:
        """Return a design length at the current size, not rounded, for painted marks."""
        return n * self._look.percent / 100

    @property
    def snaps(self) -> bool:
        return True

    def icon(self, name: str, color: str = "text2", size: float = 16) -> QIcon:
        """Return an icon that, once set on a control, follows theme and text size."""
        return QIcon(TintedIconEngine(name, color, size, self))

    def pixmap(self, name: str, color: str, size: float, ratio: float) -> QPixmap:
        """Return an icon as a picture of `size` device-independent pixels in a color of the current theme."""
        return render_icon(name, self.color(color), size, ratio)

    # Switching

    def set_preference(self, preference: str) -> None:
        """Follow the system, or use light or dark."""
        if preference not in PREFERENCES:
            raise ValueError(f"no such theme: {preference!r}")
        if preference == self._look.preference:
            return
        self._look.preference = preference
        self._request_scheme()
        self._settle()

    def set_font_percent(self, percent: int) -> None:
        """Set the text size, limited to 90 to 150."""
        percent = _clamp_percent(percent)
        if percent != self._look.percent:
            self._look.percent = percent
            self._apply()
            self.changed.emit()

    def defer(self) -> DeferredTheme:
        """Return the theme for a new page or view; see `DeferredTheme.attach`."""
        deferred = DeferredTheme(self, self._look)
        self._deferred.add(deferred)
        return deferred

    def follow(self, update: Callable[[], object]) -> None:
        self.changed.connect(update)
        update()

    def _settle(self) -> None:
        dark = self._wants_dark()
        if dark != self._look.dark:
            self._look.dark = dark
            self._apply()
            self.changed.emit()

    def _wants_dark(self) -> bool:
        if self._look.preference == SYSTEM:
            return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self._look.preference == DARK

    def _request_scheme(self) -> None:
        hints = self._app.styleHints()
        if self._look.preference == SYSTEM:
            hints.unsetColorScheme()
        else:
            dark = self._look.preference == DARK
            hints.setColorScheme(Qt.ColorScheme.Dark if dark else Qt.ColorScheme.Light)

    def _apply(self) -> None:
        """Apply palette, font and style sheet together: separately they would leave stale colors."""
        for name in _KEPT:
            getattr(self, name).cache_clear()
        # Qt takes a list of all widgets first, then calls their Python handlers: garbage collected there could destroy
        # listed widgets, and Qt would crash.
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            self._restyle()
        finally:
            if was_collecting:
                gc.enable()

    def _restyle(self) -> None:
        hidden = [widget for each in self._deferred if isValid(each) for widget in each.put_off()]
        polished, has_style = Qt.WidgetAttribute.WA_WState_Polished, Qt.WidgetAttribute.WA_SetStyle
        for widget in hidden:
            # Qt skips unpolished widgets with their own style: that saves 0.25 ms each.
            widget.setAttribute(polished, on=False)
            widget.setAttribute(has_style)
        # If one sheet replaces another, every widget passes its new palette to all its children: 4.2 s for the 2,700
        # widgets of all pages and views, against 0.6 s for removing one and setting the other.
        self._app.setStyleSheet("")
        palette = QPalette()
        for role, token in _ROLES.items():
            palette.setColor(QPalette.ColorGroup.All, role, self.color(token))
        for role, token in _DISABLED_ROLES.items():
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color(token))
        self._app.setPalette(palette)
        QToolTip.setPalette(palette)
        self._app.setFont(self.font("body"))
        QToolTip.setFont(self.font("small"))
        self._app.setStyleSheet(make_style_sheet(self.palette.colors, self.px, self._images))
        for widget in hidden:
            widget.setAttribute(has_style, on=False)


class DeferredTheme(Theme):
    """The theme of a page or view: follows a switch at once if visible, else when shown."""

    def __init__(self, whole: Theme, look: _Look) -> None:
        """Read the look of the application's theme, which alone is switched."""
        QObject.__init__(self)
        self._whole = whole
        self._look = look
        self._widget: QWidget | None = None
        self._stale = False
        for name in _KEPT:
            setattr(self, name, getattr(whole, name))

    def defer(self) -> DeferredTheme:
        return self._whole.defer()

    def attach(self, widget: QWidget) -> None:
        """Set the root widget, whose show event triggers the update; it owns this theme."""
        self.setParent(widget)
        self._widget = widget
        widget.installEventFilter(self)
        self._whole.changed.connect(self._follow)

    def put_off(self) -> list[QWidget]:
        """Return the widgets to leave unchanged, empty if they are visible."""
        if self._widget is None or self._widget.isVisible():
            return []
        self._stale = True
        return self._own_widgets(self._widget)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and self._stale and isinstance(watched, QWidget):
            self._stale = False
            for widget in self._own_widgets(watched):
                QApplication.sendEvent(widget, QEvent(QEvent.Type.Polish))
                QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
            self.changed.emit()
        return False

    def _follow(self) -> None:
        if not self._stale:
            self.changed.emit()

    @staticmethod
    def _own_widgets(root: QWidget) -> list[QWidget]:
        """Return the root and its descendants, except windows and widgets with a deferred theme."""
        window = root.window()
        others: set[QWidget] = set()
        for inner in root.findChildren(DeferredTheme):
            widget = inner.parent()
            if isinstance(widget, QWidget) and widget is not root:
                others.update((widget, *widget.findChildren(QWidget)))
        within = (widget for widget in root.findChildren(QWidget) if widget not in others)
        return [root, *(widget for widget in within if widget.window() is window)]


def _clamp_percent(percent: int) -> int:
    return min(MOST_PERCENT, max(LEAST_PERCENT, int(percent)))
