"""What keys are called: with blanks between them, and the key + as itself."""

import pytest
from PySide6.QtGui import QKeySequence

from gpudesk.desktop.ui.widgets.qt_support import format_key


@pytest.mark.parametrize(
    ("key", "name"),
    [("Ctrl+K", "Ctrl K"), ("Ctrl+Shift+Z", "Ctrl Shift Z"), ("Ctrl++", "Ctrl +"), ("F1", "F1"), ("", "")],
)
def test_keys_are_named_apart(key: str, name: str) -> None:
    assert format_key(key) == name


def test_names_are_those_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    # As macOS writes it, where no sign stands between the keys.
    monkeypatch.setattr(QKeySequence, "toString", lambda *_: "⇧⌘Z")
    assert format_key("Ctrl+Shift+Z") == "⇧⌘Z"
