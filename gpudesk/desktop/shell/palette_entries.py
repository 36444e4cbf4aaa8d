"""What the command palette of a window offers: its actions, accelerators to add, models to choose."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gpudesk.desktop.actions import ActionSpec
from gpudesk.desktop.shell.choices import accelerator_options, model_options
from gpudesk.desktop.shell.palette_model import PaletteEntry
from gpudesk.desktop.widgets.key_names import key_name
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow

#: Actions that would only open what the palette itself is.
_LEFT_OUT = frozenset({"help.palette"})
_NO_SCENARIOS = frozenset({"file.recent.clear"})


def palette_entries(window: MainWindow) -> list[PaletteEntry]:
    """Return everything that can be run or chosen here and now."""
    commands = [_command(spec) for spec in window.actions_of_window() if spec.id not in _LEFT_OUT]
    return [*commands, *_accelerators(window), *_models(window)]


def _command(spec: ActionSpec) -> PaletteEntry:
    is_scenario = spec.id.startswith(("file.template.", "file.recent.")) and spec.id not in _NO_SCENARIOS
    group = tr("Scenarios") if is_scenario else tr("Commands")
    return PaletteEntry(
        group=group,
        title=spec.palette or spec.text,
        detail=tr("in force") if spec.checked is not None and spec.checked() else "",
        icon=spec.icon or "corner-down-right",
        shortcut=key_name(spec.shortcuts[0]) if spec.shortcuts else "",
        run=spec.run,
        enabled=spec.enabled(),
        words=spec.text,
    )


def _accelerators(window: MainWindow) -> list[PaletteEntry]:
    desk = window.desk
    return [
        PaletteEntry(
            group=tr("Accelerators"),
            title=tr("Add {name}", name=option.text),
            detail=", ".join((*option.notes, *((option.tag,) if option.tag else ()))),
            icon="cpu",
            shortcut="",
            run=partial(window.chips.add_accelerator, option.key),
            enabled=not option.reason,
            words=f"{option.words} {option.group} {tr('accelerator memory')}",
        )
        for option in accelerator_options(desk.workbench, desk.scenario, desk.formatter)
    ]


def _models(window: MainWindow) -> list[PaletteEntry]:
    desk = window.desk
    return [
        PaletteEntry(
            group=tr("Models"),
            title=option.text,
            detail=option.reason or ", ".join(note for note in option.notes if note),
            icon="layers",
            shortcut="",
            run=partial(desk.edit, tr("Change of model"), model=option.key),
            enabled=not option.reason,
            words=f"{option.words} {option.group}",
        )
        for option in model_options(desk.workbench)
    ]
