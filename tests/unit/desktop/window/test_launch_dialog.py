"""Launch commands: from the menu, for another part and serving engine, copied, refused with a reason."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.window.dialogs.launch import LaunchDialog
from gpudesk.desktop.window.main_window import MainWindow


@pytest.fixture
def dialog(window: MainWindow, qtbot: QtBot) -> LaunchDialog:
    return opened(window, qtbot)


def opened(window: MainWindow, qtbot: QtBot) -> LaunchDialog:
    qtbot.waitUntil(window.has_answer)
    (action,) = (spec for spec in window.list_window_actions() if spec.id == "scenario.launch")
    assert action.enabled()
    action.run()
    (made,) = window.findChildren(LaunchDialog)
    return made


def test_a_command_is_copied_with_one_click(dialog: LaunchDialog) -> None:
    assert dialog.accelerator.value == "0"
    assert dialog.engine.value == "vllm"
    assert "vllm serve" in dialog.server.text.toPlainText()
    assert not dialog.file.isVisible()
    QTest.mouseClick(dialog.server.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied == dialog.server.text.toPlainText() + "\n"
    assert dialog.server.copy.text() == "Copied"
    QTest.keyClick(dialog.benchmark.copy, Qt.Key.Key_Space)
    assert "vllm bench serve" in QGuiApplication.clipboard().text()
    assert "Options for vLLM" in dialog.sources.text()
    assert "https://" in dialog.sources.text()


def test_another_serving_engine_is_estimated_anew(dialog: LaunchDialog) -> None:
    before = dialog.plan_label.text()
    dialog.engine.set_value("tensorrt-llm")
    dialog.engine.chosen.emit("tensorrt-llm")
    assert "trtllm-serve" in dialog.server.text.toPlainText()
    assert dialog.file.isVisible()
    assert "kv_cache_config" in dialog.file.text.toPlainText()
    assert dialog.plan_label.text() != before
    assert dialog.server.copy.text() == "Copy"


def test_an_older_version_has_its_own_words(dialog: LaunchDialog) -> None:
    dialog.engine.set_value("sglang")
    dialog.engine.chosen.emit("sglang")
    newest = dialog.version.value
    assert "sglang serve" in dialog.server.text.toPlainText()
    dialog.version.chosen.emit("0.5.5")
    assert "sglang.launch_server" in dialog.server.text.toPlainText()
    assert "Options for SGLang 0.5.5" in dialog.sources.text()
    dialog.engine.set_value("vllm")
    dialog.engine.chosen.emit("vllm")
    assert dialog.version.value not in ("0.5.5", newest)


def test_prefixes_are_kept_for_use_and_not_for_the_measurement(dialog: LaunchDialog) -> None:
    assert "prefix" not in dialog.server.text.toPlainText()
    dialog.purpose.set_value("reproduce")
    dialog.purpose.chosen.emit("reproduce")
    assert "--no-enable-prefix-caching" in dialog.server.text.toPlainText()
    assert "to match the estimate" in dialog.notes.text()


def test_why_a_variable_is_set_stands_below_the_command(window: MainWindow, dialog: LaunchDialog) -> None:
    assert not dialog.extras.isVisible()
    parts = [column.accelerator for column in window.desk.answer.columns] if window.desk.answer else []
    amd = next(place for place, part in enumerate(parts) if part.vendor == "AMD")
    dialog.accelerator.chosen.emit(str(amd))
    dialog.engine.set_value("vllm")
    dialog.engine.chosen.emit("vllm")
    assert "export VLLM_ROCM_USE_AITER=1" in dialog.server.text.toPlainText()
    assert dialog.extras.isVisible()
    assert "VLLM_ROCM_USE_AITER=1: enables AITER" in dialog.extras.text()


def test_what_a_part_cannot_run_is_said(window: MainWindow, dialog: LaunchDialog) -> None:
    """TensorRT-LLM runs on the accelerators of one vendor only."""
    parts = [column.accelerator for column in window.desk.answer.columns] if window.desk.answer else []
    other = next(place for place, part in enumerate(parts) if part.vendor != parts[0].vendor)
    dialog.accelerator.chosen.emit(str(other))
    dialog.engine.set_value("tensorrt-llm")
    dialog.engine.chosen.emit("tensorrt-llm")
    assert not dialog.server.isVisible()
    assert "TensorRT-LLM" in dialog.plan_label.text()
    dialog.engine.set_value("vllm")
    dialog.engine.chosen.emit("vllm")
    assert dialog.server.isVisible()


def test_nothing_is_started_that_does_not_fit(window: MainWindow, qtbot: QtBot) -> None:
    desk = window.desk
    scenario = replace(desk.scenario, model="llama-3.1-405b")
    parts = tuple(replace(choice, count=1) for choice in scenario.accelerators)
    desk.apply(replace(scenario, accelerators=parts), "smaller")
    qtbot.waitUntil(lambda: desk.answer is not None and desk.answer.scenario == desk.scenario)
    made = opened(window, qtbot)
    assert not made.server.isVisible()
    assert made.plan_label.text()


def test_keys_lead_through_it(dialog: LaunchDialog) -> None:
    assert dialog.server.copy.hasFocus()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
