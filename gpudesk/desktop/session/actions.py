"""Actions as data: menus, shortcuts, tooltips and the command palette are made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One command.

    `id` is a dotted name. `text` is in the current language and begins with a verb. `shortcuts` are
    portable key sequences. `section` groups actions of a menu between dividing lines, in rising order.
    `checked` makes it a switch. `single_key` marks a shortcut of one letter, which is in effect only while
    no field has the focus. `own_keys` are answered by a list while it has the focus: they are shown with the
    others, and not bound. `palette` is a wording for the command palette where it differs from the menu's.
    """

    id: str
    text: str
    run: Callable[[], object]
    menu: MenuId | None = None
    section: int = 0
    icon: str | None = None
    shortcuts: tuple[str, ...] = ()
    enabled: Callable[[], bool] = always_enabled
    checked: Callable[[], bool] | None = None
    group: str | None = None
    single_key: bool = False
    palette: str | None = None
    own_keys: tuple[str, ...] = ()
