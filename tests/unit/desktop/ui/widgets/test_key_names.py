"""Names of shortcuts: keys separated by spaces, and + as itself."""

import pytest
from PySide6.QtGui import QKeySequence

from gpudesk.desktop.ui.widgets.qt_support import format_key


@pytest.mark.parametrize(
    ("key", "name"),
    [("Ctrl+K", "Ctrl K"), ("Ctrl+Shift+Z", "Ctrl Shift Z"), ("Ctrl++", "Ctrl +"), ("F1", "F1"), ("", "")],
)
def test_keys_are_separated_by_spaces(key: str, name: str) -> None:
    assert format_key(key) == name


def test_native_names_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    # The notation of macOS, without separators.
    monkeypatch.setattr(QKeySequence, "toString", lambda *_: "⇧⌘Z")
    assert format_key("Ctrl+Shift+Z") == "⇧⌘Z"
