"""Work next to the window: its result, its early end, what is shown meanwhile, and that nothing freezes."""

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QObject, QThread
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session import jobs as module
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import InputError, format_input_error, message

READING = message("file.unreadable", "cannot be read: {reason}", reason="x")


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    made = Jobs(Formatter(ENGLISH_NUMBERS))
    yield made
    made.stop()
    made.deleteLater()


class Outcome:
    """Keeps what a job came to, and on which thread that was said."""

    def __init__(self) -> None:
        self.said: list[object] = []
        self.threads: list[QThread] = []

    def done(self, result: object) -> None:
        self._keep(result)

    def failed(self, error: InputError) -> None:
        self._keep(error)

    def cancelled(self) -> None:
        self._keep("cancelled")

    def _keep(self, said: object) -> None:
        self.said.append(said)
        self.threads.append(QThread.currentThread())


@pytest.fixture
def outcome() -> Outcome:
    return Outcome()


def start(jobs: Jobs, steps: ProgressSteps[object], outcome: Outcome, kind: str = "import") -> None:
    jobs.start(kind, steps, outcome.done, outcome.failed, outcome.cancelled)


def counting(total: int, pause_s: float = 0.0) -> ProgressSteps[object]:
    for done in range(total):
        yield JobProgress(READING, done, total)
        time.sleep(pause_s)
    return total


def for_ever(ended: list[str]) -> ProgressSteps[object]:
    try:
        while True:
            yield JobProgress(READING)
            time.sleep(0.001)
    finally:
        ended.append("closed")


def test_a_result_comes_back_in_the_thread_of_the_window(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    start(jobs, counting(5), outcome)
    assert jobs.running
    qtbot.waitUntil(lambda: outcome.said == [5])
    assert outcome.threads == [QThread.currentThread()]
    qtbot.waitUntil(lambda: not jobs.running)


def test_a_fault_of_the_input_is_handed_to_the_caller(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    def steps() -> ProgressSteps[object]:
        yield JobProgress(READING)
        raise InputError(message("file.unreadable", "cannot be read: {reason}", reason="x"), "here")

    start(jobs, steps(), outcome)
    qtbot.waitUntil(lambda: bool(outcome.said))
    (error,) = outcome.said
    assert isinstance(error, InputError)
    assert error.where == "here"


def test_a_mistake_of_the_program_is_raised_as_one_of_the_window(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    def steps() -> ProgressSteps[object]:
        yield JobProgress(READING)
        raise ZeroDivisionError("own mistake")

    with capture_exceptions() as raised:
        start(jobs, steps(), outcome)
        qtbot.waitUntil(lambda: bool(raised))
    assert raised[0][0] is ZeroDivisionError
    (said,) = outcome.said
    assert isinstance(said, InputError)
    assert format_input_error(said) == "internal error (ZeroDivisionError)"
    assert not jobs.running


def test_a_job_that_is_cancelled_says_so_and_cleans_up(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    ended: list[str] = []
    start(jobs, for_ever(ended), outcome)
    qtbot.wait(20)
    jobs.cancel()
    qtbot.waitUntil(lambda: outcome.said == ["cancelled"])
    assert ended == ["closed"]


def test_the_result_of_an_older_job_of_the_kind_is_dropped(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    ended: list[str] = []
    old, other = Outcome(), Outcome()
    start(jobs, for_ever(ended), old)
    qtbot.wait(20)
    start(jobs, counting(7), other, kind="other")
    start(jobs, counting(3), outcome)
    qtbot.waitUntil(lambda: outcome.said == [3] and other.said == [7] and ended == ["closed"])
    assert old.said == []


def test_a_short_job_is_not_shown(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    said: list[tuple[str, bool]] = []
    jobs.shown.connect(lambda text, can_cancel: said.append((text, can_cancel)))
    start(jobs, counting(10), outcome)
    qtbot.waitUntil(lambda: outcome.said == [10])
    assert said == []


def test_a_long_one_says_how_far_it_is_and_can_then_be_cancelled(
    jobs: Jobs, outcome: Outcome, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CANCEL_AFTER_MS", 350)
    said: list[tuple[str, bool]] = []
    jobs.shown.connect(lambda text, can_cancel: said.append((text, can_cancel)))
    start(jobs, counting(5000, 0.001), outcome)
    qtbot.waitUntil(lambda: bool(said) and said[-1][1])
    assert not said[0][1]
    assert said[-1][0].endswith(" of 5,000")
    jobs.cancel()
    qtbot.waitUntil(lambda: outcome.said == ["cancelled"])
    assert said[-1] == ("", False)


def test_stopping_waits_for_the_threads_and_says_nothing(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    ended: list[str] = []
    interval = sys.getswitchinterval()
    start(jobs, for_ever(ended), outcome)
    qtbot.wait(20)
    jobs.stop()
    assert ended == ["closed"]
    assert not jobs.running
    assert sys.getswitchinterval() == interval
    qtbot.wait(20)
    assert outcome.said == []


def test_jobs_that_are_deleted_with_what_they_belong_to_no_longer_count(outcome: Outcome, qtbot: QtBot) -> None:
    owner, ended = QObject(), list[str]()
    jobs = Jobs(Formatter(), owner)
    start(jobs, for_ever(ended), outcome)
    time.sleep(0.05)
    start(jobs, counting(1), outcome)
    # The second has finished, which no one was told of yet; the first has only been told to end.
    time.sleep(0.05)
    assert Jobs.any_running()
    shiboken6.delete(owner)
    assert ended == ["closed"]
    assert not Jobs.any_running()
    assert gc.isenabled()
    qtbot.wait(20)
    assert outcome.said == []
    assert not Jobs.any_running()


def test_jobs_of_two_windows_leave_the_interpreter_as_it_was(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    interval = sys.getswitchinterval()
    others, ended = Jobs(Formatter()), list[str]()
    start(jobs, for_ever(ended), outcome)
    start(others, for_ever(ended), outcome)
    assert sys.getswitchinterval() < interval
    jobs.stop()
    assert sys.getswitchinterval() < interval
    others.stop()
    assert sys.getswitchinterval() == interval


def test_one_that_never_lets_go_by_itself_does_not_hold_up_the_window(
    jobs: Jobs, outcome: Outcome, qtbot: QtBot
) -> None:
    """Plain Python that yields seldom is taken the interpreter from long before a step of it has ended."""

    def steps() -> ProgressSteps[object]:
        for _ in range(4):
            yield JobProgress(READING)
            until = time.thread_time() + 0.1
            while time.thread_time() < until:
                sum(range(200))
        return None

    start(jobs, steps(), outcome)
    turns = 0
    while not outcome.said:
        qtbot.wait(1)
        turns += 1
    qtbot.waitUntil(lambda: not jobs.running)
    # Held up by a whole step each time, the window would have one turn for each of the four.
    assert turns > 12


def test_garbage_of_the_window_is_not_collected_by_the_thread_of_a_job(
    jobs: Jobs, outcome: Outcome, qtbot: QtBot
) -> None:
    collected_in: list[threading.Thread] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            collected_in.append(threading.current_thread())

    def allocate() -> ProgressSteps[object]:
        while not collected_in:
            kept = [[number] for number in range(10_000)]
            yield JobProgress(READING, len(kept), 1)
        return "end"

    Garbage()
    start(jobs, allocate(), outcome)
    qtbot.waitUntil(lambda: outcome.said == ["end"])
    assert collected_in == [threading.main_thread()]
    assert gc.isenabled()


#: Starts many threads of jobs while the main thread makes classes of Qt.
MAKING_CLASSES = """
from PySide6.QtCore import QCoreApplication, QObject
from gpudesk.desktop.session.jobs import _Worker
from gpudesk.domain.progress import JobProgress

app = QCoreApplication([])
parent = QObject()
made = []
for _ in range(200):
    workers = [type("Worker", (_Worker,), {})(iter(()), parent) for _ in range(20)]
    for worker in workers:
        worker.run = lambda: None
        worker.start()
        made += [type("Made", (QObject,), {}) for _ in range(5)]
    for worker in workers:
        worker.wait()
"""


def test_a_thread_can_start_while_classes_are_made() -> None:
    """The bindings' table of classes must not be read by a thread without the interpreter's lock."""
    done = subprocess.run([sys.executable, "-c", MAKING_CLASSES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
