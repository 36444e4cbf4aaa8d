"""Launch commands: another accelerator, serving engine or version; copying; reasons for refusal."""

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
    return open_dialog(window, qtbot)


def open_dialog(window: MainWindow, qtbot: QtBot) -> LaunchDialog:
    qtbot.waitUntil(window.desk.has_answer)
    (action,) = (spec for spec in window.list_window_actions() if spec.id == "scenario.launch")
    assert action.enabled()
    action.run()
    (launch_dialog,) = window.findChildren(LaunchDialog)
    return launch_dialog


def test_copy_buttons_name_their_command(dialog: LaunchDialog) -> None:
    assert dialog.server.copy.accessibleName() == "Copy: Start server"
    assert dialog.benchmark.copy.accessibleName() == "Copy: Run benchmark"


def test_commands_are_copied(dialog: LaunchDialog) -> None:
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


def test_engine_change_updates_the_estimate(dialog: LaunchDialog) -> None:
    before = dialog.plan_label.text()
    dialog.engine.set_value("tensorrt-llm")
    dialog.engine.chosen.emit("tensorrt-llm")
    assert "trtllm-serve" in dialog.server.text.toPlainText()
    assert dialog.file.isVisible()
    assert "kv_cache_config" in dialog.file.text.toPlainText()
    assert dialog.plan_label.text() != before
    assert dialog.server.copy.text() == "Copy"


def test_older_version_has_its_own_options(dialog: LaunchDialog) -> None:
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


def test_prefix_caching_is_disabled_only_to_match_the_estimate(dialog: LaunchDialog) -> None:
    assert "prefix" not in dialog.server.text.toPlainText()
    dialog.purpose.set_value("reproduce")
    dialog.purpose.chosen.emit("reproduce")
    assert "--no-enable-prefix-caching" in dialog.server.text.toPlainText()
    assert "to match the estimate" in " ".join(dialog.notes.texts)


def test_environment_variables_are_explained(window: MainWindow, dialog: LaunchDialog) -> None:
    assert not dialog.extras.isVisible()
    accelerators = [column.accelerator for column in window.desk.answer.columns] if window.desk.answer else []
    amd = next(position for position, accelerator in enumerate(accelerators) if accelerator.vendor == "AMD")
    dialog.accelerator.chosen.emit(str(amd))
    dialog.engine.set_value("vllm")
    dialog.engine.chosen.emit("vllm")
    assert "export VLLM_ROCM_USE_AITER=1" in dialog.server.text.toPlainText()
    assert dialog.extras.isVisible()
    assert "VLLM_ROCM_USE_AITER=1: enables AITER" in " ".join(dialog.extras.texts)


def test_unsupported_engine_is_reported(window: MainWindow, dialog: LaunchDialog) -> None:
    accelerators = [column.accelerator for column in window.desk.answer.columns] if window.desk.answer else []
    other = next(
        position for position, accelerator in enumerate(accelerators) if accelerator.vendor != accelerators[0].vendor
    )
    dialog.accelerator.chosen.emit(str(other))
    dialog.engine.set_value("tensorrt-llm")
    dialog.engine.chosen.emit("tensorrt-llm")
    assert not dialog.server.isVisible()
    assert "TensorRT-LLM" in dialog.plan_label.text()
    dialog.engine.set_value("vllm")
    dialog.engine.chosen.emit("vllm")
    assert dialog.server.isVisible()


def test_no_command_for_a_model_that_does_not_fit(window: MainWindow, qtbot: QtBot) -> None:
    desk = window.desk
    scenario = replace(desk.scenario, model="llama-3.1-405b")
    choices = tuple(replace(choice, count=1) for choice in scenario.accelerators)
    desk.apply(replace(scenario, accelerators=choices), "smaller")
    qtbot.waitUntil(lambda: desk.answer is not None and desk.answer.scenario == desk.scenario)
    dialog = open_dialog(window, qtbot)
    assert not dialog.server.isVisible()
    assert dialog.plan_label.text()


def test_copy_has_the_focus_and_escape_closes(dialog: LaunchDialog) -> None:
    assert dialog.server.copy.hasFocus()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
