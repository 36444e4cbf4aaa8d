"""The head of a profile: name, tags, status, and the five figures that one asks for first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import SWATCH_WIDTH, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.labels import Hairline, ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole, format_key
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.report.profile_tables import HeadlineSpecification
from gpudesk.text.translation import tr

#: Lengths of the design.
_MARGIN: Final = 16.0
_STRIP: Final = 58.0
_TAG: Final = 18.0
_GAP: Final = 6.0
_MARK: Final = 14.0


class SpecificationButton(QAbstractButton):
    """One figure; pressing it selects its attribute."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.specification: HeadlineSpecification | None = None
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_specification(self, specification: HeadlineSpecification) -> None:
        self.specification = specification
        self.setAccessibleName(specification.sentence)
        self.setToolTip(specification.sentence)
        self.update()

    def needed(self) -> float:
        each = self.specification
        if each is None:
            return 0.0
        small, large = (QFontMetricsF(self._theme.font(name)) for name in ("small", "headline"))
        mark = self._theme.length(_MARK + 4) if each.is_disputed or each.is_own else 0.0
        second = large.horizontalAdvance(each.text) + self._theme.length(_GAP) + small.horizontalAdvance(each.unit)
        return max(small.horizontalAdvance(each.label) + mark, second)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            if self.specification is not None:
                self._draw(ThemePainter(painter, self._theme), self.specification)

    def _draw(self, pen: ThemePainter, each: HeadlineSpecification) -> None:
        theme, line = self._theme, self._theme.line("small")
        upper = QRectF(0, theme.length(2), self.width(), line)
        x = pen.text(upper, each.label, font="small", colour="text2")
        if each.is_own or each.is_disputed:
            pen.glyph("own" if each.is_own else "disputed", x + theme.length(_MARK), upper.center().y())
        baseline = upper.bottom() + theme.line("headline") / 2 + pen.metrics("headline").capHeight() / 2
        x = pen.text(QPointF(0, baseline), each.text, font="headline") + theme.length(_GAP)
        rest = QRectF(x, baseline - line, self.width() - x, line)
        unit = pen.metrics("small").elidedText(each.unit, Qt.TextElideMode.ElideRight, rest.width())
        pen.text(QPointF(x, baseline), unit, font="small", colour="text3")


class SpecificationStrip(QWidget):
    """The figures side by side, divided by hairlines."""

    #: The attribute that was pressed.
    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._buttons: list[SpecificationButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Specifications"))
        theme.follow(self._measure)

    @property
    def buttons(self) -> Sequence[SpecificationButton]:
        return self._buttons

    def show_specifications(self, specifications: Sequence[HeadlineSpecification]) -> None:
        while len(self._buttons) < len(specifications):
            button = SpecificationButton(self._theme, self)
            button.clicked.connect(lambda _=False, button=button: self._press(button))
            button.show()
            self._buttons.append(button)
        for button, each in zip(self._buttons, specifications, strict=True):
            button.show_specification(each)
        self._place()

    def _press(self, button: SpecificationButton) -> None:
        if button.specification is not None:
            self.chosen.emit(button.specification.attribute)

    def _measure(self) -> None:
        self.setFixedHeight(self._theme.px(_STRIP))
        self._place()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Give each figure what it needs, and all the same share of what is left."""
        if not self._buttons:
            return
        gap = self._theme.px(_MARGIN)
        needs = [button.needed() for button in self._buttons]
        room = self.width() - 2 * gap * (len(needs) - 1)
        spare = (room - sum(needs)) / len(needs)
        x = 0.0
        for button, need in zip(self._buttons, needs, strict=True):
            width = max(need + spare, 1.0)
            button.setGeometry(QRect(round(x), 0, round(width), self._theme.px(_STRIP) - 6))
            x += width + 2 * gap
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self._theme)
            for button in self._buttons[1:]:
                x = button.x() - self._theme.px(_MARGIN)
                pen.hairline(x, self._theme.px(4), x, self._theme.px(_STRIP) - self._theme.px(8))


class RuleTags(QWidget):
    """Tags in a line; each tells the rule behind it. What has no room is left out at the end."""

    accessible_role = AccessibleRole.StaticText

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tags: tuple[tuple[str, str], ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_tags(self, tags: Sequence[tuple[str, str]]) -> None:
        """Show tags, given as (text, rule)."""
        self._tags = tuple(tags)
        self.setAccessibleName(tr("Tags: {tags}", tags=", ".join(text for text, _ in tags)))
        rules = "\n".join(f"{text}: {rule}" if rule else text for text, rule in tags)
        self.setAccessibleDescription(rules)
        self.setToolTip(rules)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self._theme.font("caption_strong"))
        gap, pad = self._theme.length(_GAP), 2 * self._theme.length(6)
        width = sum(metrics.horizontalAdvance(text) + pad + gap for text, _ in self._tags)
        return QSize(round(width) + 2, self._theme.px(_TAG + 4))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._theme.px(_TAG + 4))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen, x = ThemePainter(painter, self._theme), 0.5
            for text, _ in self._tags:
                if x + pen.tag_width(text) > self.width():
                    return
                x += pen.tag(x, self.height() / 2, text) + self._theme.length(_GAP)


class AcceleratorName(QWidget):
    """The name in the colour of its place in the scenario, with its swatch; one outside has none."""

    accessible_role = AccessibleRole.StaticText

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name, self._index, self._is_variant = "", 0, False
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_name(self, name: str, palette_index: int, *, is_variant: bool) -> None:
        self._name, self._index, self._is_variant = name, palette_index, is_variant
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.updateGeometry()
        self.update()

    def _before(self) -> int:
        return self._theme.px(SWATCH_WIDTH + 10) if self._index else 0

    def sizeHint(self) -> QSize:
        width = QFontMetricsF(self._theme.font("verdict")).horizontalAdvance(self._name)
        return QSize(round(width) + self._before() + 4, self._theme.line("verdict"))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(90), self._theme.line("verdict"))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self._theme)
            if self._index:
                pen.swatch(0, self.height() / 2, self._index, is_variant=self._is_variant)
            pen.text(QRectF(self.rect()).adjusted(self._before(), 0, 0, 0), self._name, font="verdict")


class ProfileHeader(QWidget):
    """Name, tags, status and date; below them the headline, and the five figures."""

    #: The attribute of a figure that was pressed.
    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.name = AcceleratorName(theme)
        self.tags = RuleTags(theme)
        self.headline = ThemedLabel(theme, font="small", colour="text2", wrap=True)
        self.other = Button(theme, tr("Other accelerator"), key=format_key("Ctrl+J"))
        self.strip = SpecificationStrip(theme)
        self.strip.chosen.connect(self.chosen)
        # What comes below stays where it is while a profile is computed.
        policy = self.strip.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.strip.setSizePolicy(policy)
        self._row = make_row(self.name, (self.tags, 1), self.other, gap=12)
        self._inner = make_column(self._row, self.headline, 8, self.strip, gap=2)
        make_column(self._inner, Hairline(theme), gap=0, on=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def show_profile(self, tables: ProfileTables, palette_index: int, *, is_variant: bool) -> None:
        self.name.show_name(tables.profile.accelerator.name, palette_index, is_variant=is_variant)
        self.tags.show_tags(tables.tags())
        self.headline.setText(f"{tables.status()}. {tables.headline()}")
        self.strip.show_specifications(tables.headline_specifications())
        self.strip.show()

    def show_name_alone(self, name: str) -> None:
        """Show an accelerator without a profile."""
        self.name.show_name(name, 0, is_variant=False)
        self.tags.show_tags(())
        self.headline.setText("")
        self.strip.hide()

    def _dress(self) -> None:
        px = self._theme.px
        self._inner.setContentsMargins(px(_MARGIN), px(4), px(_MARGIN), px(4))
