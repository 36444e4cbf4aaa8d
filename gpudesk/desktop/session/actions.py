"""Actions as data: menus, shortcuts, tooltips and the command palette are made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from enum import StrEnum

from gpudesk.frozen_dataclass import frozen_dataclass


class MenuId(StrEnum):
    """The place of an action in the menu bar; the order is that of the menus."""

    FILE = "file"
    EDIT = "edit"
    VIEW = "view"
    SCENARIO = "scenario"
    CATALOG = "catalog"
    HELP = "help"


def always_enabled() -> bool:
    """Return True, for actions that are always available."""
    return True


@frozen_dataclass
class ActionSpec:
    """One command.

    `id` is a dotted name. `text` is in the current language and starts with a verb. `shortcuts` are portable key
    sequences. `section` groups actions of a menu between separators, in rising order. `checked` makes it a toggle.
    `single_key` marks a one-letter shortcut, which is active only while no field has the focus. `own_keys` are handled
    by a focused list: they are displayed, but not bound. `palette` is a wording for the command palette if it differs
    from the menu's.
    """

    id: str
    text: str
    run: Callable[[], object]
    icon: str | None = None
    shortcuts: tuple[str, ...] = ()
    _: KW_ONLY
    menu: MenuId | None = None
    section: int = 0
    enabled: Callable[[], bool] = always_enabled
    checked: Callable[[], bool] | None = None
    group: str | None = None
    single_key: bool = False
    palette: str | None = None
    own_keys: tuple[str, ...] = ()
