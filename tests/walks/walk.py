"""The walks: what a user does while calls are counted, each in a process that does nothing else."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final
from unittest.mock import patch

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFileDialog, QSlider

from tests.walks.calls import CallCounter, Walked
from tests.walks.user import WalkUser

_SIZE: Final = (1440, 900)
_PERFORMANCE, _DECIDE = "Ctrl+2", "Ctrl+6"
#: A button that only the recommendation has.
_OF_RESULT: Final = "Print sheet"
#: What else is done meanwhile only adds: of several times the least counts.
_TIMES: Final = 3
_TEMPLATE: Final = "70b-chat-on-four"

Walk = Callable[[CallCounter], None]


def walk_slider(counter: CallCounter) -> None:
    """One step of the load while its key is held down, until the curve of throughput is painted."""

    def at_window(user: WalkUser) -> None:
        user.press(_PERFORMANCE)
        user.rest()
        chart = user.widget(QAbstractScrollArea, "Output throughput, chart")
        slider = user.widget(QSlider, "Concurrency")
        slider.setFocus()
        for _ in range(3):
            user.until_painted(chart, lambda: user.hold(Qt.Key.Key_Right))
            user.rest()
        for _ in range(_TIMES):
            before, load = chart.grab().toImage(), slider.accessibleName()
            user.rest()
            with user.count_calls():
                user.until_painted(chart, lambda: user.hold(Qt.Key.Key_Right))
            assert slider.accessibleName() != load
            assert chart.grab().toImage() != before
            user.rest()

    _at_window(counter, at_window)


def walk_wizard(counter: CallCounter) -> None:
    """An answer to a question of Decide, until the recommendation is painted."""

    def at_window(user: WalkUser) -> None:
        _open_questions(user)
        _answer(user, "vLLM, ")
        _answer(user, "TGI, ")
        for answer in ("TensorRT-LLM, ", "vLLM, ", "TGI, ")[:_TIMES]:
            before = user.said_by("Decide")
            user.click("View: Questions")
            user.rest()
            with user.count_calls():
                user.click(answer)
                _see_recommendation(user, before)
            user.rest()

    _at_window(counter, at_window)


def walk_pdf(counter: CallCounter) -> None:
    """The sheet of a recommendation that is shown: Ctrl+P, the preview, and the PDF in its file."""

    def at_window(user: WalkUser) -> None:
        with tempfile.TemporaryDirectory() as folder:
            _open_questions(user)
            _answer(user, "vLLM, ")
            _answer(user, "TensorRT-LLM, ")
            _save_sheet(user, Path(folder) / "first.pdf")
            for answer in ("TGI, ", "vLLM, ", "TensorRT-LLM, ")[:_TIMES]:
                _answer(user, answer)
                with user.count_calls():
                    _save_sheet(user, Path(folder) / f"{answer[:2]}.pdf")

    _at_window(counter, at_window)


def walk_explain(counter: CallCounter) -> None:
    """`gpudesk explain tpot_ms` on the command line, all that is loaded for it included."""
    output = io.StringIO()
    with counter.watching(), counter.counting(), contextlib.redirect_stdout(output):
        from gpudesk.cli.main import main

        assert main(["explain", "tpot_ms", "--template", _TEMPLATE]) == 0
    assert "H200" in output.getvalue()


WALKS: Final[dict[str, Walk]] = {"slider": walk_slider, "wizard": walk_wizard, "pdf": walk_pdf, "explain": walk_explain}


def take(name: str) -> Walked:
    """Take a walk. Once a process: the window is real, and what is loaded stays loaded."""
    counter = CallCounter()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "GPUDESK_HOME": home, "GPUDESK_LANGUAGE": "en"}
        WALKS[name](counter)
    return min(counter.walked_steps, key=lambda walked: (sum(walked.calls.values()), len(walked.files)))


def _at_window(counter: CallCounter, do: Callable[[WalkUser], None]) -> None:
    """Start the program, open a comparison of four accelerators, and do something there."""
    raised: list[Exception] = []

    def act(_app: QApplication) -> int:
        user = WalkUser(counter)
        user.window.resize(*_SIZE)
        user.rest()
        # The first of the questions that the start page offers.
        user.press("Return")
        user.rest()
        user.click("Hide tips")
        user.rest()
        try:
            do(user)
        except Exception as error:  # noqa: BLE001 - raised again outside of the program
            raised.append(error)
        return 0

    from gpudesk.cli.main import main

    # The user acts where the program would wait for one.
    with patch.object(QApplication, "exec", act), counter.watching():
        assert main([]) == 0, "the program says what went wrong above"
    if raised:
        raise raised[0]


def _open_questions(user: WalkUser) -> None:
    """Open the first screen of questions."""
    user.press(_DECIDE)
    user.rest()
    user.click("1, Existing software, ")
    user.rest()


def _answer(user: WalkUser, answer: str) -> None:
    """Answer the first question, and go to the recommendation."""
    before = user.said_by("Decide")
    user.click("View: Questions")
    user.rest()
    user.click(answer)
    _see_recommendation(user, before)
    user.rest()


def _see_recommendation(user: WalkUser, before: list[str]) -> None:
    """Go to the recommendation, and wait until another one than before is painted."""

    def is_new() -> bool:
        texts = user.said_by("Decide")
        return _OF_RESULT in texts and texts != before

    user.click("See recommendation now")
    user.until(is_new, "there is a new recommendation")
    # What was changed in one turn of the event loop is painted in the next at the latest.
    user.turn()


def _save_sheet(user: WalkUser, file: Path) -> None:
    """Open the preview, save what it shows, and close it."""
    user.press("Ctrl+P")
    user.until(QApplication.activeModalWidget, "the preview is open")
    user.come_to(QApplication.activeModalWidget())
    with patch.object(QFileDialog, "getSaveFileName", lambda *_: (str(file), "")):
        user.press("Ctrl+S")
        user.until(file.exists, "the sheet is saved")
    assert file.read_bytes().startswith(b"%PDF")
    user.press("Escape")
    user.until(lambda: QApplication.activeModalWidget() is None, "the preview is closed")
    user.come_to(user.window)
