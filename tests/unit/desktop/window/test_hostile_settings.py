"""The window starts and every page opens with any settings file."""

from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.service import GpuDeskService
from tests.unit.desktop.window.conftest import FOUR

#: Values by type that pass the checks of the settings file.
HOSTILE: tuple[dict[type, Any], ...] = (
    {int: -1, float: -1.0, str: "", list: ["\0", None], dict: {"order": 3, "hidden": [[]], "widths": [1]}},
    {int: 2**31 - 1, float: 2.0**31, str: "x" * 70_000, list: [1, {}, "y" * 5000], dict: {"widths": {"name": 10**9}}},
    {int: -(2**31), float: 5e-324, str: "\0", list: [["a"]], dict: {"order": ["name", "name", 1]}},
    {int: 0, float: 0.0, str: "\udcff<b>%s{x}", list: [], dict: {"hidden": {"a": 1}}},
)


@pytest.mark.parametrize("values", [HOSTILE[1], *(pytest.param(each, marks=pytest.mark.thorough) for each in HOSTILE)])
def test_every_page_opens(
    qapp: QApplication, service: GpuDeskService, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, values: dict[type, Any]
) -> None:
    def get(_: UserSettings, name: str, default: Any) -> Any:  # noqa: ANN401 - any setting
        return values.get(type(default), default)

    monkeypatch.setattr(UserSettings, "get", get)
    program = DesktopProgram(qapp, service)
    try:
        window = program.open_new_window()
        window.open_template(FOUR)
        for spec in window.page_specs:
            window.show_page(spec.id)
            assert window.page is not None
            window.grab()
    finally:
        program.end()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
