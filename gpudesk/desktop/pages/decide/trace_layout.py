"""Row heights and column widths of the rule trace, and the header of accelerators over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.decide.trace_model import FIRST, TraceFold, TraceGroup, TraceRuleRow, TraceTableLine
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.tables.painted_table import PaintedHeader
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, SWATCH_WIDTH, ThemePainter
from gpudesk.text.translation import tr

#: Left of the first text, so that the ring of a cell has room; rules end so far from the edges too.
PAD: Final = 8.0
#: Between a text and what follows it in its line, a mark with its room, and right of answers and weights.
GAP: Final = 8.0
MARK: Final = 14.0
END: Final = 12.0

_ROW: Final = 29.0
_TALL: Final = 42.0
_GROUP: Final = 36.0
_SILENT: Final = 25.0
_WEIGHT: Final = 54.0
_CELL: Final = (84.0, 150.0)
_ANSWER: Final = (72.0, 250.0)
_LEAST_RULE: Final = 180.0
#: The cells of accelerators take no more than this share of the width.
_CELLS: Final = 0.52
#: Rows have a second line where ids of more than this share of them have no room in the first.
_CUT: Final = 0.25


@dataclass(frozen=True, slots=True)
class RuleTraceWidths:
    """Widths of the columns in pixels; all accelerators have the same.

    `tall` rows have a second line for ids and answers; what they are about then has both columns' room.
    """

    rule: int
    answer: int
    weight: int
    cell: int
    tall: bool

    def of(self, column: int) -> int:
        return (self.rule, self.answer, self.weight)[column] if column < FIRST else self.cell


class RuleTraceLayout:
    """Measures lines by their texts."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        self._theme, self._texts = theme, texts

    def widths(self, room: int, accelerators: int, rows: Sequence[TraceRuleRow]) -> RuleTraceWidths:
        """Share the room: cells and weights first, answers as they need, and rules what is left."""
        px, count = self._theme.px, max(1, accelerators)
        weight = px(_WEIGHT)
        cell = min(max(int(room * _CELLS / count), px(_CELL[0])), px(_CELL[1]))
        cell = min(cell, max(px(_CELL[0]) // 2, (room - weight - px(_LEAST_RULE + _ANSWER[0])) // count))
        remaining = max(0, room - weight - cell * count)
        natural_width = max((self._texts.width("caption", row.answer) for row in rows), default=0.0)
        most = min(px(_ANSWER[1]), max(px(_ANSWER[0]), remaining - px(_LEAST_RULE) * 3 // 2))
        answer = min(max(round(natural_width) + px(END + 6), px(_ANSWER[0])), most, remaining)
        rule = remaining - answer
        cut = sum(self._needed(row) > rule for row in rows)
        return RuleTraceWidths(rule, answer, weight, cell, cut > _CUT * len(rows))

    def _needed(self, row: TraceRuleRow) -> float:
        """Return the width of a rule with unit, marks and ids in one line."""
        length, width = self._theme.length, self._texts.width
        needed = length(PAD + 4) + width("body", row.title) + length(GAP) + width("caption", row.ids)
        needed += length(MARK) * (row.refuted + row.disputed)
        return needed + (width("caption", row.unit) + length(GAP) if row.unit else 0.0)

    def height(self, line: TraceTableLine, *, tall: bool) -> int:
        px = self._theme.px
        match line:
            case TraceGroup():
                return px(_GROUP)
            case TraceRuleRow():
                return px(_TALL if tall else _ROW)
            case TraceFold():
                return px(_ROW)
        return px(_SILENT)

    @property
    def row(self) -> int:
        return self._theme.px(_ROW)


_SWATCH_GAP: Final = 5.0


class AcceleratorHeader(PaintedHeader):
    """Names of accelerators in their colours over their columns, and plain heads over the others."""

    def __init__(
        self,
        theme: Theme,
        get_head: Callable[[int], AcceleratorColumn | None],
        parent: QWidget,
        *,
        pad: float,
        numbers: tuple[int, ...] = (),
        unnamed: tuple[int, ...] = (),
    ) -> None:
        """Ask `get_head` for the accelerator of a column, None for others.

        Texts begin at `pad`; heads of `numbers` are flush right, those of `unnamed` are only read out.
        """
        super().__init__(theme, tr("Accelerators"), Qt.Orientation.Horizontal, parent)
        self._get_head, self._pad, self._numbers, self._unnamed = get_head, pad, numbers, unnamed
        self.setSectionsMovable(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:  # noqa: ARG002 - few heads, all painted
        theme, height = self._theme, self.height() - 1
        heads = {column: self._get_head(column) for column in range(self.count())}
        # Where one name has no room behind its swatch, none has a swatch.
        before = theme.length(self._pad + SWATCH_WIDTH + _SWATCH_GAP) + 2
        swatches = all(
            before + pen.width(head.name, "label") <= self.sectionSize(column)
            for column, head in heads.items()
            if head is not None
        )
        for column, head in heads.items():
            left = self.sectionViewportPosition(column)
            x, right = left + theme.length(self._pad), left + self.sectionSize(column) - 2.0
            if head is not None:
                if swatches:
                    x += pen.swatch(x, height / 2, head.palette_index, is_variant=head.is_variant) + theme.length(
                        _SWATCH_GAP
                    )
                place = QRectF(x, 0, max(1.0, right - x), height)
                pen.text(place, head.name, font="label", colour=theme.name_color(head.palette_index))
            elif column in self._numbers:
                place = QRectF(left, 0, self.sectionSize(column) - theme.length(END), height)
                pen.text(place, self._get_text(column), font="caption_strong", colour="text3", align=RIGHT)
            elif column not in self._unnamed:
                place = QRectF(x, 0, max(1.0, right - x), height)
                pen.text(place, self._get_text(column), font="caption_strong", colour="text3")
        pad = theme.px(PAD)
        pen.hairline(pad, height, self.viewport().width() - pad, height, "strong")

    def _get_text(self, column: int) -> str:
        return str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")
