"""Which cells of a list are selected, as rectangles: of thousands of rows the cells would be too many."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QItemSelectionModel


def blocks_of(model: QItemSelectionModel) -> list[tuple[int, int, int, int]]:
    """Return top, bottom, left and right of each selected rectangle."""
    chosen = model.selection()
    found = (chosen.at(number) for number in range(chosen.count()))
    return [(block.top(), block.bottom(), block.left(), block.right()) for block in found]


def lines_and_columns(model: QItemSelectionModel) -> tuple[set[int], set[int]]:
    """Return the lines and the columns that hold selected cells."""
    lines: set[int] = set()
    columns: set[int] = set()
    for top, bottom, left, right in blocks_of(model):
        lines.update(range(top, bottom + 1))
        columns.update(range(left, right + 1))
    return lines, columns


def chosen_among(model: QItemSelectionModel, lines: Iterable[int]) -> frozenset[tuple[int, int]]:
    """Return (line, column) of the selected cells among lines, none where one cell alone is selected."""
    blocks = blocks_of(model)
    if len(blocks) <= 1 and all(top == bottom and left == right for top, bottom, left, right in blocks):
        return frozenset()
    return frozenset(
        (line, column)
        for line in lines
        for top, bottom, left, right in blocks
        if top <= line <= bottom
        for column in range(left, right + 1)
    )
