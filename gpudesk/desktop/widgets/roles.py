"""What screen readers call the widgets that we paint: a chart, a list, an item of it.

A class says so by its attribute `accessible_role`. Without one, Qt knows no better than "something".
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

Role = QAccessible.Role


def install_roles() -> None:
    """Let Qt ask for the roles; once, when the application has been made."""
    QAccessible.installFactory(_interface)


def _interface(class_name: str, thing: QObject | None) -> QAccessibleInterface | None:
    """Return what stands for a widget of ours; None leaves it to Qt."""
    del class_name
    role = getattr(thing, "accessible_role", None)
    if not isinstance(thing, QWidget) or not isinstance(role, Role):
        return None
    return QAccessibleWidget(thing, role)
