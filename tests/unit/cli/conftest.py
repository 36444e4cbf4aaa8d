"""What tests of commands share: the application of Qt."""

import pytest
from PySide6.QtWidgets import QApplication


@pytest.fixture(autouse=True, scope="session")
def _application_is_shared(qapp: QApplication) -> None:
    """Let commands that draw find an application: one that they made no window of a later test could use."""
