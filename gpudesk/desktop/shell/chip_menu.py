"""The menu of an accelerator's chip: count, parallel plan, serving engine, place, removal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from gpudesk.desktop.session import edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.menu import make_menu
from gpudesk.domain.messages import InputError
from gpudesk.domain.scenarios import AcceleratorChoice
from gpudesk.text import tr
from gpudesk.workbench.requests import MOST_ACCELERATORS, check_degrees


@dataclass(frozen=True, slots=True)
class Plan:
    """A parallel plan that multiplies up to a count."""

    tp: int
    pp: int
    dp: int

    @property
    def text(self) -> str:
        """The plan as people write it, degrees of one left out."""
        degrees = (("TP", self.tp), ("PP", self.pp), ("DP", self.dp))
        return " × ".join(f"{name} {degree}" for name, degree in degrees if degree > 1) or "TP 1"


def plans(count: int) -> Iterator[Plan]:
    """Yield the plans of a count: more tensor parallel first, then replicas, then pipeline stages."""
    for tp in range(count, 0, -1):
        if count % tp or tp > _MOST_TP:
            continue
        rest = count // tp
        for pp in (1, 2, 4, 8):
            if rest % pp == 0:
                yield Plan(tp, pp, rest // pp)


_MOST_TP = 72


def make_chip_menu(desk: Desk, theme: Theme, position: int, name: str, parent: QWidget) -> QMenu:
    """Return the menu of the accelerator at a position of the scenario."""
    menu = make_menu(parent=parent)
    choice = desk.scenario.accelerators[position]
    last = len(desk.scenario.accelerators) - 1

    def apply(text: str, **fields: object) -> Callable[[], None]:
        return lambda: desk.apply(edits.with_accelerator(desk.scenario, position, **fields), text)

    def move(target: int, text: str) -> Callable[[], None]:
        return lambda: desk.apply(edits.move_accelerator(desk.scenario, position, target), text)

    menu.addMenu(_count_menu(desk, position, choice, name, menu))
    menu.addMenu(_plan_menu(choice, name, apply, menu))
    menu.addMenu(_engine_menu(desk, choice, name, apply, menu))
    menu.addSeparator()
    baseline = _add(menu, tr("Set as baseline"), move(0, tr("Set {name} as baseline", name=name)), "B")
    baseline.setIcon(theme.icon("equal"))
    baseline.setEnabled(position > 0)
    _add(menu, tr("Move left"), move(position - 1, tr("Move {name} left", name=name))).setEnabled(
        position > 0
    )
    _add(menu, tr("Move right"), move(position + 1, tr("Move {name} right", name=name))).setEnabled(
        position < last
    )
    menu.addSeparator()
    remove = _add(
        menu,
        tr("Remove {name}", name=name),
        lambda: desk.apply(edits.remove_accelerator(desk.scenario, position), tr("Remove {name}", name=name)),
        "Del",
    )
    remove.setIcon(theme.icon("x"))
    return menu


def _add(menu: QMenu, text: str, run: Callable[[], None], key: str = "") -> QAction:
    """Add an entry; the key is shown only, since the chip itself answers it."""
    shown = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    action = menu.addAction(f"{text}\t{shown}" if key else text)
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
            edits.with_count(desk.scenario, position, count), tr("Change of count of {name}", name=name)
        )

    _switch(menu, group, tr("Smallest that fits"), set_count(None), on=choice.count is None)
    menu.addSeparator()
    for count in sorted({*edits.COUNTS, *_own_counts(desk, choice)}):
        _switch(menu, group, f"× {count}", set_count(count), on=choice.count == count)
    menu.addSeparator()

    def ask() -> None:
        count = _ask_for_count(name, choice.count or 1, parent.parentWidget())
        if count is not None:
            set_count(count)()

    _add(menu, tr("Other count…"), ask)
    return menu


def _own_counts(desk: Desk, choice: AcceleratorChoice) -> set[int]:
    """Return counts that only this part is offered: the one that it has, and all of its scale-up domain."""
    counts = {choice.count} if choice.count else set()
    with contextlib.suppress(InputError):
        counts.add(desk.workbench.catalog.accelerator(choice.accelerator).cards_per_host)
    return counts


def _ask_for_count(name: str, count: int, parent: QWidget | None) -> int | None:
    """Let the user type any count; None where it is called off."""
    dialog = QInputDialog(parent.window() if parent is not None else None)
    dialog.setInputMode(QInputDialog.InputMode.IntInput)
    dialog.setWindowTitle(tr("Count"))
    dialog.setLabelText(tr("How many {name}?", name=name))
    dialog.setIntRange(1, MOST_ACCELERATORS)
    dialog.setIntValue(count)
    dialog.setOkButtonText(tr("Set count"))
    dialog.setCancelButtonText(tr("Keep as it was"))
    return dialog.intValue() if dialog.exec() else None


def _plan_menu(
    choice: AcceleratorChoice, name: str, apply: Callable[..., Callable[[], None]], parent: QMenu
) -> QMenu:
    menu = make_menu(tr("Parallel plan"), parent)
    group = QActionGroup(menu)
    text = tr("Change of plan of {name}", name=name)
    free = all(degree is None for degree in (choice.tp, choice.pp, choice.dp))
    release = apply(text, tp=None, pp=None, dp=None, ep=None, attention_dp=None)
    _switch(menu, group, tr("Best at this load"), release, on=free and choice.ep is None)
    if choice.count is None:
        menu.addSeparator()
        menu.addAction(tr("Set a count to choose a plan")).setEnabled(False)
        return menu
    menu.addSeparator()
    for plan in plans(choice.count):
        chosen = (choice.tp, choice.pp or 1, choice.dp or 1) == (plan.tp, plan.pp, plan.dp)
        _switch(menu, group, plan.text, apply(text, tp=plan.tp, pp=plan.pp, dp=plan.dp, ep=None), on=chosen)
    if choice.count == 1:
        return menu
    menu.addSeparator()
    for ep in sorted({2, 4, 8, 16, choice.count} - {1}):
        if choice.count % ep == 0 and _spreads(choice, ep):
            entry = _add(
                menu, tr("Expert parallel {n}", n=ep), apply(text, ep=None if choice.ep == ep else ep)
            )
            entry.setCheckable(True)
            entry.setChecked(choice.ep == ep)
    attention = _add(
        menu,
        tr("Attention data-parallel"),
        apply(text, attention_dp=None if choice.attention_dp else True),
    )
    attention.setCheckable(True)
    attention.setChecked(bool(choice.attention_dp))
    return menu


def _spreads(choice: AcceleratorChoice, ep: int) -> bool:
    """Whether experts can be spread so with the plan that is chosen: no file could hold another one."""
    try:
        check_degrees({**{name: getattr(choice, name) for name in ("count", "tp", "pp", "dp")}, "ep": ep})
    except InputError:
        return False
    return True


def _engine_menu(
    desk: Desk,
    choice: AcceleratorChoice,
    name: str,
    apply: Callable[..., Callable[[], None]],
    parent: QMenu,
) -> QMenu:
    menu = make_menu(tr("Serving engine"), parent)
    group = QActionGroup(menu)
    text = tr("Change of serving engine of {name}", name=name)
    _switch(
        menu, group, tr("As the scenario"), apply(text, serving_engine=None), on=choice.serving_engine is None
    )
    menu.addSeparator()
    for engine in desk.workbench.catalog.serving_engines():
        _switch(
            menu,
            group,
            engine.name,
            apply(text, serving_engine=engine.id),
            on=choice.serving_engine == engine.id,
        )
    return menu
