"""The style sheet of standard controls."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QTemporaryDir
from PySide6.QtGui import QColor

from gpudesk.desktop.ui.theme.icons import tint_svg

ColorTable = Mapping[str, str]


class ControlImages:
    """Tinted SVG files for the arrows and ticks of controls: style sheets take pictures from files only.

    They lie in a temporary folder that goes when the program ends. Where it cannot be
    written, controls have no arrows and all else works.
    """

    def __init__(self, folder: QTemporaryDir) -> None:
        self._folder = folder
        self._written_files: set[str] = set()
        # Not sooner than at the end: the application's style sheet outlives the theme that it was made for.
        # And what still lives then is never destroyed by itself, so that the folder would stay.
        atexit.register(folder.remove)

    def url(self, name: str, colour: str) -> str:
        """Return the style sheet value of an icon in a colour, `none` if the file cannot be written."""
        file = f"{name}-{colour.lstrip('#')}.svg"
        path = Path(self._folder.filePath(file))
        if file not in self._written_files:
            try:
                path.write_bytes(tint_svg(name, QColor(colour)))
            except OSError:
                return "none"
            self._written_files.add(file)
        return f'url("{path.as_posix()}")'


def make_style_sheet(colours: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
    """Return the rules for a palette; `px` scales lengths with the size of letters."""
    parts = (
        _buttons(colours, px),
        _fields(colours, px, images),
        _ticks(colours, px, images),
        _sliders(colours, px),
        _menus(colours, px, images),
        _views(colours, px),
        _scroll_bars(colours, px),
    )
    return "\n".join(parts)


def _buttons(c: ColorTable, px: Callable[[float], int]) -> str:
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
  min-height: 0; font-weight: 400; text-align: left; }}
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


def _fields(c: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
    inner = px(28) - 2
    half = inner // 2
    down, down_off = images.url("chevron-down", c["text2"]), images.url("chevron-down", c["disabled"])
    up, up_off = images.url("chevron-up", c["text2"]), images.url("chevron-up", c["disabled"])
    return f"""
QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit {{ background: {c["page"]};
  color: {c["text1"]}; border: 1px solid {c["strong"]}; border-radius: 5px;
  selection-background-color: {c["focus"]}; selection-color: {c["page"]}; }}
QLineEdit {{ min-height: {inner}px; padding: 0 {px(8)}px; }}
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


def _ticks(c: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
    side = px(14)
    radius = (side + 2) // 2
    return f"""
QCheckBox, QRadioButton {{ spacing: {px(8)}px; background: transparent; }}
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


def _sliders(c: ColorTable, px: Callable[[float], int]) -> str:
    # The handle is as high as the groove and both margins, so its height is odd; for a circle the width must
    # be the same. A radius above half of it would be dropped and the handle be square.
    whole = px(14) | 1
    handle, radius, margin = whole - 4, whole // 2, -(whole - 3) // 2
    return f"""
QSlider {{ background: transparent; min-height: {px(20)}px; }}
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


def _menus(c: ColorTable, px: Callable[[float], int], images: ControlImages) -> str:
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


def _views(c: ColorTable, px: Callable[[float], int]) -> str:
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
