"""The row of accelerators below the scenario bar: a chip for each, one more to add, and the baseline."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.session import edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.edits import COUNTS
from gpudesk.desktop.shell.baseline_choice import BaselineChoice
from gpudesk.desktop.shell.chip import Chip
from gpudesk.desktop.shell.chip_menu import make_chip_menu
from gpudesk.desktop.shell.choices import accelerator_options
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.choice_popup import ChoicePopup
from gpudesk.desktop.widgets.options import Option
from gpudesk.domain.comparison import repeated, slots
from gpudesk.domain.messages import InputError
from gpudesk.domain.scenarios import MOST_ACCELERATORS
from gpudesk.sheets.names import short_name
from gpudesk.text import tr

_HEIGHT = 42.0
_MARGIN = 10.0
_GAP = 6.0


class ChipRow(QWidget):
    """Shows the scenario's accelerators; wraps where there is no room for all in one line."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Show what the desk has."""
        super().__init__(parent)
        self._desk = desk
        self._theme = theme
        self.setAccessibleName(tr("Accelerators"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.chips: list[Chip] = []
        self.add = Button(theme, tr("Add accelerator"), icon="plus", kind="quiet", key="A", parent=self)
        self.add.clicked.connect(self.open_list)
        self.baseline = BaselineChoice(theme, self)
        self.baseline.chosen.connect(self._baseline_chosen)
        self._popup: ChoicePopup | None = None
        desk.scenario_changed.connect(self._changed)
        desk.catalog_changed.connect(self._show)
        theme.follow(self._place)
        self._show()

    def open_list(self) -> None:
        """Offer all accelerators."""
        if self._popup is None:
            self._popup = ChoicePopup(self._theme, tr("Add accelerator"), self.add)
            self._popup.chosen.connect(self._chosen)
        place = QRect(self.add.mapToGlobal(QPoint(0, 0)), self.add.size())
        options = accelerator_options(self._desk.workbench, self._desk.scenario, self._desk.formatter)
        self._popup.open_below(place, options, "")

    def add_accelerator(self, accelerator: str) -> None:
        """Add a part with the count that the others have, or the next one where it stands there with that."""
        scenario = self._desk.scenario
        name = self._name(accelerator)
        edited = edits.add_accelerator(scenario, accelerator, edits.fitting_count(scenario, accelerator))
        self._desk.apply(edited, tr("Add {name}", name=name))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Set the chips anew in the width there is."""
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground, the word beside the baseline, and the line below."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            pen.hairline(0, self.height() - 1, self.width(), self.height() - 1)
        finally:
            painter.end()

    def _changed(self, changed: frozenset[str]) -> None:
        # A drag of the load comes by here at each step.
        if "accelerators" in changed:
            self._show()

    def _show(self) -> None:
        choices = self._desk.scenario.accelerators
        while len(self.chips) < len(choices):
            self._add_chip()
        while len(self.chips) > len(choices):
            chip = self.chips.pop()
            chip.hide()
            chip.deleteLater()
        for position, (chip, choice, slot, hollow) in enumerate(
            zip(self.chips, choices, slots(choices), repeated(choices), strict=True)
        ):
            chip.show_part(
                self._name(choice.accelerator),
                choice.count,
                slot,
                hollow=hollow,
                announced=self._announced(choice.accelerator),
                baseline=position == 0,
            )
        options = [Option(str(n), self._name(choice.accelerator)) for n, choice in enumerate(choices)]
        self.baseline.set_options(options, "0")
        self.baseline.name_it()
        self.baseline.setVisible(len(choices) > 1)
        self.add.setEnabled(len(choices) < MOST_ACCELERATORS)
        self._place()

    def _add_chip(self) -> None:
        chip = Chip(self._theme, self)
        chip.clicked.connect(lambda: self._open_menu(chip))
        chip.removed.connect(lambda: self._remove(chip))
        chip.made_baseline.connect(lambda: self._make_baseline(chip))
        chip.stepped.connect(lambda by: self._step(chip, by))
        chip.left_for.connect(lambda by: self._focus(self.chips.index(chip) + by))
        chip.show()
        QWidget.setTabOrder(self.chips[-1] if self.chips else self, chip)
        QWidget.setTabOrder(chip, self.add)
        QWidget.setTabOrder(self.add, self.baseline)
        self.chips.append(chip)

    def _open_menu(self, chip: Chip) -> None:
        position = self.chips.index(chip)
        name = self._name(self._desk.scenario.accelerators[position].accelerator)
        menu = make_chip_menu(self._desk, self._theme, position, name, chip)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(chip.mapToGlobal(QPoint(0, chip.height() + 2)))

    def _remove(self, chip: Chip) -> None:
        position = self.chips.index(chip)
        name = self._name(self._desk.scenario.accelerators[position].accelerator)
        edited = edits.remove_accelerator(self._desk.scenario, position)
        self._desk.apply(edited, tr("Remove {name}", name=name))
        self._focus(max(0, min(position, len(self.chips) - 1)))

    def _step(self, chip: Chip, by: int) -> None:
        position = self.chips.index(chip)
        choice = self._desk.scenario.accelerators[position]
        now = choice.count or 1
        if by > 0:
            count = next((count for count in COUNTS if count > now), now)
        else:
            count = next((count for count in reversed(COUNTS) if count < now), now)
        edited = edits.with_count(self._desk.scenario, position, count)
        self._desk.apply(edited, tr("Change of count of {name}", name=self._name(choice.accelerator)))

    def _make_baseline(self, chip: Chip) -> None:
        self._move(self.chips.index(chip), 0)
        self._focus(0)

    def _baseline_chosen(self, key: str) -> None:
        self._move(int(key), 0)

    def _move(self, position: int, target: int) -> None:
        name = self._name(self._desk.scenario.accelerators[position].accelerator)
        edited = edits.move_accelerator(self._desk.scenario, position, target)
        self._desk.apply(edited, tr("Set {name} as baseline", name=name))

    def _focus(self, position: int) -> None:
        """Give a chip the focus; before the first is the first, after the last the button that adds."""
        if position < len(self.chips):
            self.chips[max(position, 0)].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.add.setFocus(Qt.FocusReason.TabFocusReason)

    def _chosen(self, key: str) -> None:
        self.add_accelerator(key)

    def _name(self, accelerator: str) -> str:
        try:
            return short_name(self._desk.workbench.catalog.accelerator(accelerator).name)
        except InputError:
            return accelerator

    def _announced(self, accelerator: str) -> bool:
        try:
            return self._desk.workbench.catalog.accelerator(accelerator).announced
        except InputError:
            return False

    def _place(self) -> None:
        """Set the chips from the left, line by line; the baseline stands at the right end of the first."""
        px = self._theme.px
        margin, gap, line = px(_MARGIN), px(_GAP), px(_HEIGHT)
        right = self.width() - margin
        corner = self.baseline.sizeHint()
        shown = not self.baseline.isHidden()
        if shown:
            self.baseline.setGeometry(
                right - corner.width(), (line - corner.height()) // 2, corner.width(), corner.height()
            )
        x, top = margin, 0
        for widget in (*self.chips, self.add):
            size = widget.sizeHint()
            edge = right - (corner.width() + 2 * gap if shown and top == 0 else 0)
            if x > margin and x + size.width() > edge:
                if widget is self.add and not widget.isEnabled():
                    # No line only for what cannot be used.
                    size = QSize(0, size.height())
                else:
                    x, top = margin, top + size.height() + gap
            widget.setGeometry(x, top + (line - size.height()) // 2, size.width(), size.height())
            x += size.width() + gap
        if self.height() != top + line:
            self.setFixedHeight(top + line)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for the height of the lines there are."""
        return QSize(self._theme.px(400), self.height())
