"""The row of accelerators below the scenario bar: their chips, the menu of a chip, the baseline."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFontMetricsF, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QInputDialog, QMenu, QSizePolicy, QWidget

from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import COUNTS
from gpudesk.desktop.session.scenario_options import list_accelerator_options
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption, ChoicePopup
from gpudesk.desktop.ui.widgets.load_slider import CaptionButton
from gpudesk.desktop.ui.widgets.qt_support import format_key, make_menu
from gpudesk.domain.answer import MAX_ACCELERATORS, AcceleratorChoice, assign_palette_indexes, find_variants
from gpudesk.estimation.request_fields import MOST_ACCELERATORS, check_degrees
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import shorten_name
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

_CHIP_HEIGHT = 28.0
_SIDE = 9.0
_SWATCH = 20.0
_CHEVRON = 13.0


class AcceleratorChip(PaintedButton):
    """One accelerator of the scenario; click, Space or Enter opens its menu.

    Del removes it, B makes it the baseline, ↑ and ↓ change the count, ← and → go to its neighbors.
    """

    #: Shortcuts of the window that are inactive while this has the focus.
    own_keys = ("B",)

    removed = Signal()
    made_baseline = Signal()
    #: The number of steps for the count, up or down.
    stepped = Signal(int)
    #: The neighbor to focus: -1 or 1.
    row_step_requested = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._name = ""
        self._count = ""
        self._slot = 0
        self._hollow = False
        self._announced = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("ringRadius", 6.0)
        theme.changed.connect(self.updateGeometry)

    def show_part(
        self,
        name: str,
        count: int | None,
        slot: int,
        *,
        automatic_count: int | None,
        is_variant: bool,
        announced: bool,
        baseline: bool,
    ) -> None:
        """Show an accelerator; a count of None is chosen by the program: `automatic_count`, once it is known."""
        self._name = name
        if count is not None:
            self._count, count_text = f"× {count}", tr("count {n}", n=count)
        elif automatic_count is not None:
            self._count = tr("auto × {n}", n=automatic_count)
            count_text = tr("automatic count {n}", n=automatic_count)
        else:
            self._count, count_text = "", tr("automatic count")
        self._slot = slot
        self._hollow = is_variant
        self._announced = announced
        texts = [name, count_text]
        texts += [tr("announced")] if announced else []
        texts += [tr("baseline")] if baseline else []
        self.setAccessibleName(", ".join(texts))
        self.setAccessibleDescription(tr("Enter: menu. Del: remove. B: set as baseline. ↑ ↓: change count."))
        self.setToolTip(", ".join(texts))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        theme = self._theme
        name = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(self._name)
        count = QFontMetricsF(theme.font("body")).horizontalAdvance(self._count)
        fixed = 2 * theme.px(_SIDE) + theme.px(_SWATCH) + theme.px(5) + theme.px(_CHEVRON) + theme.px(8)
        tag = theme.px(_TAG_GAP) + self._tag_width() if self._announced else 0
        gap = theme.px(8) if self._count else 0
        return QSize(round(fixed + name + gap + count + tag) + 1, theme.px(_CHIP_HEIGHT))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        elif key == Qt.Key.Key_B and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.made_baseline.emit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepped.emit(1 if key == Qt.Key.Key_Up else -1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.row_step_requested.emit(1 if key == Qt.Key.Key_Right else -1)
        else:
            super().keyPressEvent(event)

    def paint(self, pen: ThemePainter) -> None:
        theme, height = self._theme, float(self.height())
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        border = "control" if self.underMouse() else "strong"
        pen.frame(rect, border, radius=6.0, fill="page", dashed=self._announced)
        x = float(theme.px(_SIDE))
        pen.swatch(x, height / 2, self._slot, is_variant=self._hollow)
        x += theme.px(_SWATCH) + theme.px(5)
        x += pen.text(QRectF(x, 0, self.width() - x, height), self._name, font="body_strong", color="text1")
        if self._count:
            x += theme.px(8)
            x += pen.text(QRectF(x, 0, self.width() - x, height), self._count, font="body", color="text2")
        if self._announced:
            x += theme.px(_TAG_GAP)
            pen.tag(x, height / 2, tr("announced"), dashed=True)
        side = float(theme.px(_CHEVRON))
        pen.icon("chevron-down", self.width() - theme.px(_SIDE) - side + 2, (height - side) / 2, side, "text2")

    def _tag_width(self) -> float:
        metrics = QFontMetricsF(self._theme.font("caption_strong"))
        return metrics.horizontalAdvance(tr("announced")) + 2 * self._theme.px(6)


_TAG_GAP = 8.0


@frozen_dataclass
class ChipPlan:
    """A parallel plan for a count."""

    tp: int
    pp: int
    dp: int

    @property
    def text(self) -> str:
        degrees = (("TP", self.tp), ("PP", self.pp), ("DP", self.dp))
        return " × ".join(f"{name} {degree}" for name, degree in degrees if degree > 1) or "TP 1"


def list_chip_plans(count: int) -> Iterator[ChipPlan]:
    """Yield the plans of a count: more tensor parallel first, then replicas, then pipeline stages."""
    for tp in range(count, 0, -1):
        if count % tp or tp > _MOST_TP:
            continue
        rest = count // tp
        for pp in (1, 2, 4, 8):
            if rest % pp == 0:
                yield ChipPlan(tp, pp, rest // pp)


_MOST_TP = 72


def make_chip_menu(desk: Desk, theme: Theme, position: int, name: str, parent: QWidget) -> QMenu:
    menu = make_menu(parent=parent)
    choice = desk.scenario.accelerators[position]
    last = len(desk.scenario.accelerators) - 1

    def apply(text: str, **fields: object) -> Callable[[], None]:
        return lambda: desk.apply(scenario_edits.edit_accelerator(desk.scenario, position, **fields), text)

    def move(target: int, text: str) -> Callable[[], None]:
        return lambda: desk.apply(scenario_edits.move_accelerator(desk.scenario, position, target), text)

    menu.addMenu(_count_menu(desk, position, choice, name, menu))
    menu.addMenu(_make_plan_menu(choice, name, apply, menu))
    menu.addMenu(_make_engine_menu(desk, choice, name, apply, menu))
    menu.addSeparator()
    baseline = _add(menu, tr("Set as baseline"), move(0, tr("Set {name} as baseline", name=name)), "B")
    baseline.setIcon(theme.icon("equal"))
    baseline.setEnabled(position > 0)
    _add(menu, tr("Move left"), move(position - 1, tr("Move {name} left", name=name))).setEnabled(position > 0)
    _add(menu, tr("Move right"), move(position + 1, tr("Move {name} right", name=name))).setEnabled(position < last)
    menu.addSeparator()
    remove = _add(
        menu,
        tr("Remove {name}", name=name),
        lambda: desk.apply(scenario_edits.remove_accelerator(desk.scenario, position), tr("Remove {name}", name=name)),
        "Del",
    )
    remove.setIcon(theme.icon("x"))
    return menu


def _add(menu: QMenu, text: str, run: Callable[[], None], key: str = "") -> QAction:
    """Add an entry; the key is only shown, since the chip itself handles it."""
    action = menu.addAction(f"{text}\t{format_key(key)}" if key else text)
    action.triggered.connect(run)
    return action


def _switch(menu: QMenu, group: QActionGroup, text: str, run: Callable[[], None], *, on: bool) -> None:
    action = _add(menu, text, run)
    action.setCheckable(True)
    action.setChecked(on)
    group.addAction(action)


def _count_menu(desk: Desk, position: int, choice: AcceleratorChoice, name: str, parent: QMenu) -> QMenu:
    menu = make_menu(tr("Count"), parent)
    group = QActionGroup(menu)

    def set_count(count: int | None) -> Callable[[], None]:
        return lambda: desk.apply(
            scenario_edits.replace_count(desk.scenario, position, count), tr("Change count of {name}", name=name)
        )

    _switch(menu, group, tr("Smallest that fits"), set_count(None), on=choice.count is None)
    menu.addSeparator()
    # Counts specific to this accelerator: its current one, and its whole scale-up domain.
    counts = {choice.count} if choice.count else set()
    with contextlib.suppress(InputError):
        counts.add(desk.service.catalog.accelerator(choice.accelerator).cards_per_host)
    for count in sorted({*scenario_edits.COUNTS, *counts}):
        _switch(menu, group, f"× {count}", set_count(count), on=choice.count == count)
    menu.addSeparator()

    def ask() -> None:
        count = _ask_for_count(name, choice.count or 1, parent.parentWidget())
        if count is not None:
            set_count(count)()

    _add(menu, tr("Other count…"), ask)
    return menu


def _ask_for_count(name: str, count: int, parent: QWidget | None) -> int | None:
    """Let the user type any count; None if canceled."""
    dialog = QInputDialog(parent.window() if parent is not None else None)
    dialog.setInputMode(QInputDialog.InputMode.IntInput)
    dialog.setWindowTitle(tr("Count"))
    dialog.setLabelText(tr("Number of {name}", name=name))
    dialog.setIntRange(1, MOST_ACCELERATORS)
    dialog.setIntValue(count)
    dialog.setOkButtonText(tr("Set count"))
    dialog.setCancelButtonText(tr("Cancel"))
    return dialog.intValue() if dialog.exec() else None


def _make_plan_menu(
    choice: AcceleratorChoice, name: str, apply: Callable[..., Callable[[], None]], parent: QMenu
) -> QMenu:
    menu = make_menu(tr("Parallel plan"), parent)
    group = QActionGroup(menu)
    text = tr("Change plan of {name}", name=name)
    free = all(degree is None for degree in (choice.tp, choice.pp, choice.dp))
    release = apply(text, tp=None, pp=None, dp=None, ep=None, attention_dp=None)
    _switch(menu, group, tr("Best for this load"), release, on=free and choice.ep is None)
    if choice.count is None:
        menu.addSeparator()
        menu.addAction(tr("Set a count to choose a plan")).setEnabled(False)
        return menu
    menu.addSeparator()
    for plan in list_chip_plans(choice.count):
        chosen = (choice.tp, choice.pp or 1, choice.dp or 1) == (plan.tp, plan.pp, plan.dp)
        _switch(menu, group, plan.text, apply(text, tp=plan.tp, pp=plan.pp, dp=plan.dp, ep=None), on=chosen)
    if choice.count == 1:
        return menu
    menu.addSeparator()
    for ep in sorted({2, 4, 8, 16, choice.count} - {1}):
        if choice.count % ep == 0 and _spreads(choice, ep):
            entry = _add(menu, tr("Expert parallel {n}", n=ep), apply(text, ep=None if choice.ep == ep else ep))
            entry.setCheckable(True)
            entry.setChecked(choice.ep == ep)
    attention = _add(
        menu, tr("Data-parallel attention"), apply(text, attention_dp=None if choice.attention_dp else True)
    )
    attention.setCheckable(True)
    attention.setChecked(bool(choice.attention_dp))
    return menu


def _spreads(choice: AcceleratorChoice, ep: int) -> bool:
    """Whether an expert degree is possible with the chosen plan: other combinations cannot be saved."""
    try:
        check_degrees({**{name: getattr(choice, name) for name in ("count", "tp", "pp", "dp")}, "ep": ep})
    except InputError:
        return False
    return True


def _make_engine_menu(
    desk: Desk, choice: AcceleratorChoice, name: str, apply: Callable[..., Callable[[], None]], parent: QMenu
) -> QMenu:
    menu = make_menu(tr("Serving engine"), parent)
    group = QActionGroup(menu)
    text = tr("Change serving engine of {name}", name=name)
    _switch(menu, group, tr("Same as scenario"), apply(text, serving_engine=None), on=choice.serving_engine is None)
    menu.addSeparator()
    for engine in desk.service.catalog.serving_engines():
        _switch(menu, group, engine.name, apply(text, serving_engine=engine.id), on=choice.serving_engine == engine.id)
    return menu


class BaselineChoice(CaptionButton):
    """Shows the baseline of differences and lets the user choose another."""

    def sizeHint(self) -> QSize:
        theme = self._theme
        word = QFontMetricsF(theme.font("small")).horizontalAdvance(tr("Baseline"))
        name = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(self.text())
        return QSize(int(word + name) + theme.px(6 + 6 + 14 + 4), theme.px(28))

    def paint(self, pen: ThemePainter) -> None:
        theme, rect = self._theme, QRectF(self.rect())
        x = pen.text(rect, tr("Baseline"), font="small", color="text2") + theme.px(6)
        x += pen.text(rect.adjusted(x, 0, 0, 0), self.text(), font="body_strong", color="text1")
        side = float(theme.px(13))
        color = "text1" if self.underMouse() else "text2"
        pen.icon("chevron-down", x + theme.px(5), (self.height() - side) / 2 + 1, side, color)

    def name_it(self) -> None:
        """Set the accessible name, which includes the label next to the field."""
        self.setAccessibleName(tr("Baseline: {name}", name=self.text()))


_ROW_HEIGHT = 42.0
_MARGIN = 10.0
_GAP = 6.0


class ChipRow(PaintedWidget):
    """Shows the scenario's accelerators; wraps if they do not fit on one line."""

    manual_topic = "scenario#accelerators"

    #: The user wants to see the profile of an accelerator, by its id.
    profile_requested = Signal(str)

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(theme)
        self._desk = desk
        self.setAccessibleName(tr("Accelerators"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.chips: list[AcceleratorChip] = []
        self.add = Button(theme, tr("Add accelerator"), self.open_list, icon="plus", kind="quiet", key="A", parent=self)
        self.baseline = BaselineChoice(theme, self)
        self.baseline.chosen.connect(self._baseline_chosen)
        self._popup: ChoicePopup | None = None
        self._has_automatic_counts = False
        self._automatic_counts: tuple[int | None, ...] = ()
        desk.answered.connect(self._answered)
        desk.scenario_changed.connect(self._changed)
        desk.catalog_changed.connect(self._show)
        theme.follow(self._place)
        self._show()

    def open_list(self) -> None:
        if self._popup is None:
            self._popup = ChoicePopup(self._theme, tr("Add accelerator"), self.add)
            self._popup.chosen.connect(self._chosen)
        place = QRect(self.add.mapToGlobal(QPoint(0, 0)), self.add.size())
        options = list_accelerator_options(self._desk.service, self._desk.scenario, self._desk.formatter)
        self._popup.open_below(place, options, "")

    def add_accelerator(self, accelerator: str) -> None:
        """Add an accelerator with the count of the others, or with the next count if it already has that."""
        scenario = self._desk.scenario
        name = self._get_accelerator_name(accelerator)
        edited = scenario_edits.add_accelerator(
            scenario, accelerator, scenario_edits.find_fitting_count(scenario, accelerator)
        )
        self._desk.apply(edited, tr("Add {name}", name=name))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: ARG002 - Qt's name
        self._place()

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("chrome"))
        pen.hairline(0, self.height() - 1, self.width(), self.height() - 1)

    def _changed(self, changed: frozenset[str]) -> None:
        # Called at each step of a load drag.
        if "accelerators" in changed:
            self._show()

    def _answered(self) -> None:
        # Called at each step of a load drag.
        if self._has_automatic_counts and self._list_automatic_counts() != self._automatic_counts:
            self._show()

    def _list_automatic_counts(self) -> tuple[int | None, ...]:
        """Return the counts that the program chose, None where the user did, or before an answer."""
        choices, answer = self._desk.scenario.accelerators, self._desk.answer
        if answer is None or answer.scenario.accelerators != choices:
            return (None,) * len(choices)
        return tuple(
            None if choice.count is not None or column.estimate is None else column.estimate.count
            for choice, column in zip(choices, answer.columns, strict=True)
        )

    def _show(self) -> None:
        choices = self._desk.scenario.accelerators
        self._has_automatic_counts = any(choice.count is None for choice in choices)
        self._automatic_counts = self._list_automatic_counts()
        while len(self.chips) < len(choices):
            self._add_chip()
        while len(self.chips) > len(choices):
            chip = self.chips.pop()
            chip.hide()
            chip.deleteLater()
        looks = zip(assign_palette_indexes(choices), find_variants(choices), self._automatic_counts, strict=True)
        for position, (chip, choice, (slot, is_variant, automatic_count)) in enumerate(
            zip(self.chips, choices, looks, strict=True)
        ):
            chip.show_part(
                self._get_accelerator_name(choice.accelerator),
                choice.count,
                slot,
                automatic_count=automatic_count,
                is_variant=is_variant,
                announced=self._announced(choice.accelerator),
                baseline=position == 0,
            )
        options = [
            ChoiceOption(str(n), self._get_accelerator_name(choice.accelerator)) for n, choice in enumerate(choices)
        ]
        self.baseline.set_options(options, "0")
        self.baseline.name_it()
        self.baseline.setVisible(len(choices) > 1)
        self.add.setEnabled(len(choices) < MAX_ACCELERATORS)
        self._place()

    def _add_chip(self) -> None:
        chip = AcceleratorChip(self._theme, self)
        chip.clicked.connect(lambda: self._open_menu(chip))
        chip.removed.connect(lambda: self._remove(chip))
        chip.made_baseline.connect(lambda: self._make_baseline(chip))
        chip.stepped.connect(lambda by: self._step(chip, by))
        chip.row_step_requested.connect(lambda by: self._focus(self.chips.index(chip) + by))
        chip.show()
        QWidget.setTabOrder(self.chips[-1] if self.chips else self, chip)
        QWidget.setTabOrder(chip, self.add)
        QWidget.setTabOrder(self.add, self.baseline)
        self.chips.append(chip)

    def _open_menu(self, chip: AcceleratorChip) -> None:
        position = self.chips.index(chip)
        name = self._get_accelerator_name(self._desk.scenario.accelerators[position].accelerator)
        menu = make_chip_menu(self._desk, self._theme, position, name, chip)
        accelerator = self._desk.scenario.accelerators[position].accelerator
        menu.addSeparator()
        profile = _add(menu, tr("Show profile"), lambda: self.profile_requested.emit(accelerator))
        profile.setIcon(self._theme.icon("cpu"))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(chip.mapToGlobal(QPoint(0, chip.height() + 2)))

    def _remove(self, chip: AcceleratorChip) -> None:
        position = self.chips.index(chip)
        name = self._get_accelerator_name(self._desk.scenario.accelerators[position].accelerator)
        edited = scenario_edits.remove_accelerator(self._desk.scenario, position)
        self._desk.apply(edited, tr("Remove {name}", name=name))
        self._focus(max(0, min(position, len(self.chips) - 1)))

    def _step(self, chip: AcceleratorChip, by: int) -> None:
        position = self.chips.index(chip)
        choice = self._desk.scenario.accelerators[position]
        now = choice.count or 1
        if by > 0:
            count = next((count for count in COUNTS if count > now), now)
        else:
            count = next((count for count in reversed(COUNTS) if count < now), now)
        edited = scenario_edits.replace_count(self._desk.scenario, position, count)
        self._desk.apply(edited, tr("Change count of {name}", name=self._get_accelerator_name(choice.accelerator)))

    def _make_baseline(self, chip: AcceleratorChip) -> None:
        self._move(self.chips.index(chip), 0)
        self._focus(0)

    def _baseline_chosen(self, key: str) -> None:
        # The scenario can have lost accelerators that the list still showed.
        if int(key) < len(self._desk.scenario.accelerators):
            self._move(int(key), 0)

    def _move(self, position: int, target: int) -> None:
        name = self._get_accelerator_name(self._desk.scenario.accelerators[position].accelerator)
        edited = scenario_edits.move_accelerator(self._desk.scenario, position, target)
        self._desk.apply(edited, tr("Set {name} as baseline", name=name))

    def _focus(self, position: int) -> None:
        """Focus a chip; before the first is the first, after the last the add button."""
        if position < len(self.chips):
            self.chips[max(position, 0)].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.add.setFocus(Qt.FocusReason.TabFocusReason)

    def _chosen(self, key: str) -> None:
        self.add_accelerator(key)

    def _get_accelerator_name(self, accelerator: str) -> str:
        try:
            return shorten_name(self._desk.service.catalog.accelerator(accelerator).name)
        except InputError:
            return accelerator

    def _announced(self, accelerator: str) -> bool:
        try:
            return self._desk.service.catalog.accelerator(accelerator).announced
        except InputError:
            return False

    def _place(self) -> None:
        """Place the chips from the left, line by line; the baseline is at the right end of the first line."""
        px = self._theme.px
        margin, gap, line = px(_MARGIN), px(_GAP), px(_ROW_HEIGHT)
        right = self.width() - margin
        corner = self.baseline.sizeHint()
        has_baseline = not self.baseline.isHidden()
        if has_baseline:
            self.baseline.setGeometry(
                right - corner.width(), (line - corner.height()) // 2, corner.width(), corner.height()
            )
        x, top = margin, 0
        for widget in (*self.chips, self.add):
            size = widget.sizeHint()
            edge = right - (corner.width() + 2 * gap if has_baseline and top == 0 else 0)
            if x > margin and x + size.width() > edge:
                if widget is self.add and not widget.isEnabled():
                    # No separate line for a disabled control.
                    size = QSize(0, size.height())
                else:
                    x, top = margin, top + size.height() + gap
            widget.setGeometry(x, top + (line - size.height()) // 2, size.width(), size.height())
            x += size.width() + gap
        if self.height() != top + line:
            self.setFixedHeight(top + line)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(400), self.height())
