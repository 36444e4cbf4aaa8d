"""Background jobs: results, cancellation, progress, and that the window stays responsive."""

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
    jobs = Jobs(Formatter(ENGLISH_NUMBERS))
    yield jobs
    jobs.stop()
    jobs.deleteLater()


class Outcome:
    """Records the results of a job, and the threads in which they arrived."""

    def __init__(self) -> None:
        self.results: list[object] = []
        self.threads: list[QThread] = []

    def finish(self, result: object) -> None:
        self._record(result)

    def fail(self, error: InputError) -> None:
        self._record(error)

    def cancel(self) -> None:
        self._record("cancelled")

    def _record(self, result: object) -> None:
        self.results.append(result)
        self.threads.append(QThread.currentThread())


@pytest.fixture
def outcome() -> Outcome:
    return Outcome()


def start(jobs: Jobs, steps: ProgressSteps[object], outcome: Outcome, kind: str = "import") -> None:
    jobs.start(kind, steps, outcome.finish, outcome.fail, outcome.cancel)


def count_to(total: int, pause_s: float = 0.0) -> ProgressSteps[object]:
    for number in range(total):
        yield JobProgress(READING, number, total)
        time.sleep(pause_s)
    return total


def run_forever(log: list[str]) -> ProgressSteps[object]:
    log.append("started")
    try:
        while True:
            yield JobProgress(READING)
            time.sleep(0.001)
    finally:
        log.append("closed")


def test_result_arrives_in_the_main_thread(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    start(jobs, count_to(5), outcome)
    assert jobs.running
    qtbot.waitUntil(lambda: outcome.results == [5])
    assert outcome.threads == [QThread.currentThread()]
    qtbot.waitUntil(lambda: not jobs.running)


def test_input_error_is_passed_to_the_caller(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    def steps() -> ProgressSteps[object]:
        yield JobProgress(READING)
        raise InputError(READING, "a file")

    start(jobs, steps(), outcome)
    qtbot.waitUntil(lambda: bool(outcome.results))
    (error,) = outcome.results
    assert isinstance(error, InputError)
    assert error.where == "a file"


def test_unexpected_exception_is_raised_in_the_main_thread(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    def steps() -> ProgressSteps[object]:
        yield JobProgress(READING)
        raise ZeroDivisionError("defect")

    with capture_exceptions() as raised:
        start(jobs, steps(), outcome)
        qtbot.waitUntil(lambda: bool(raised))
    assert raised[0][0] is ZeroDivisionError
    (error,) = outcome.results
    assert isinstance(error, InputError)
    assert format_input_error(error) == "internal error (ZeroDivisionError)"
    assert not jobs.running


def test_canceled_job_reports_and_cleans_up(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    log: list[str] = []
    start(jobs, run_forever(log), outcome)
    qtbot.waitUntil(lambda: log == ["started"])
    jobs.cancel()
    qtbot.waitUntil(lambda: outcome.results == ["cancelled"])
    assert log == ["started", "closed"]


def test_new_job_replaces_an_older_one_of_its_kind(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    log: list[str] = []
    old, other = Outcome(), Outcome()
    start(jobs, run_forever(log), old)
    qtbot.waitUntil(lambda: log == ["started"])
    start(jobs, count_to(7), other, kind="other")
    start(jobs, count_to(3), outcome)
    qtbot.waitUntil(lambda: outcome.results == [3] and other.results == [7] and log == ["started", "closed"])
    assert old.results == []


def test_job_waits_for_the_step_of_the_one_that_it_replaces(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    """Steps of several at once took 58 MB."""
    started, may_end = threading.Event(), threading.Event()
    at_work: list[str] = []

    def take_long_step() -> ProgressSteps[object]:
        started.set()
        may_end.wait()
        at_work.append("former")
        yield JobProgress(READING, 0, 1)
        return "former"

    def take_step() -> ProgressSteps[object]:
        at_work.append("newer")
        yield JobProgress(READING, 0, 1)
        return "done"

    start(jobs, take_long_step(), outcome)
    assert started.wait(10)
    start(jobs, take_step(), outcome)
    start(jobs, take_step(), outcome)
    qtbot.wait(50)
    meanwhile = list(at_work)
    may_end.set()
    assert not meanwhile
    qtbot.waitUntil(lambda: outcome.results == ["done"])
    assert at_work == ["former", "newer"]
    qtbot.waitUntil(lambda: not Jobs.any_running())


def test_short_job_shows_no_progress(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    progress: list[tuple[str, bool]] = []
    jobs.shown.connect(lambda text, can_cancel: progress.append((text, can_cancel)))
    start(jobs, count_to(10), outcome)
    qtbot.waitUntil(lambda: outcome.results == [10])
    assert progress == []


def test_long_job_shows_progress_and_can_be_canceled(
    jobs: Jobs, outcome: Outcome, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CANCEL_AFTER_MS", 350)
    progress: list[tuple[str, bool]] = []
    jobs.shown.connect(lambda text, can_cancel: progress.append((text, can_cancel)))
    start(jobs, count_to(5000, 0.001), outcome)
    qtbot.waitUntil(lambda: bool(progress) and progress[-1][1])
    assert not progress[0][1]
    assert progress[-1][0].endswith(" of 5,000")
    jobs.cancel()
    qtbot.waitUntil(lambda: outcome.results == ["cancelled"])
    assert progress[-1] == ("", False)


def test_stop_waits_for_threads_and_reports_nothing(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    log: list[str] = []
    interval = sys.getswitchinterval()
    start(jobs, run_forever(log), outcome)
    qtbot.waitUntil(lambda: log == ["started"])
    jobs.stop()
    assert log == ["started", "closed"]
    assert not jobs.running
    assert sys.getswitchinterval() == interval
    qtbot.wait(20)
    assert outcome.results == []


def test_jobs_deleted_with_their_owner_no_longer_run(outcome: Outcome, qtbot: QtBot) -> None:
    owner, log = QObject(), list[str]()
    jobs = Jobs(Formatter(), owner)
    start(jobs, run_forever(log), outcome)
    qtbot.waitUntil(lambda: log == ["started"])
    start(jobs, count_to(1), outcome)
    # The second has finished, but its result has not arrived; the first has only been asked to end.
    time.sleep(0.05)
    assert Jobs.any_running()
    shiboken6.delete(owner)
    assert log == ["started", "closed"]
    assert not Jobs.any_running()
    assert gc.isenabled()
    qtbot.wait(20)
    assert outcome.results == []
    assert not Jobs.any_running()


def test_switch_interval_is_restored_after_jobs_of_two_windows(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    interval = sys.getswitchinterval()
    others, log = Jobs(Formatter()), list[str]()
    start(jobs, run_forever(log), outcome)
    start(others, run_forever(log), outcome)
    assert sys.getswitchinterval() < interval
    jobs.stop()
    assert sys.getswitchinterval() < interval
    others.stop()
    assert sys.getswitchinterval() == interval


def test_busy_python_job_does_not_block_the_window(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    """A shorter switch interval takes the interpreter lock from Python code that yields seldom."""

    def steps() -> ProgressSteps[object]:
        for _ in range(4):
            yield JobProgress(READING)
            until = time.thread_time() + 0.1
            while time.thread_time() < until:
                sum(range(200))
        return None

    start(jobs, steps(), outcome)
    turns = 0
    while not outcome.results:
        qtbot.wait(1)
        turns += 1
    qtbot.waitUntil(lambda: not jobs.running)
    # Blocked for a whole step each time, the window would get one turn per step, four in all.
    assert turns > 12


def test_job_thread_never_collects_garbage(jobs: Jobs, outcome: Outcome, qtbot: QtBot) -> None:
    collected_in: list[threading.Thread] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            collected_in.append(threading.current_thread())

    def allocate() -> ProgressSteps[object]:
        while not collected_in:
            allocated = [[number] for number in range(10_000)]
            yield JobProgress(READING, len(allocated), 1)
        return "end"

    Garbage()
    start(jobs, allocate(), outcome)
    qtbot.waitUntil(lambda: outcome.results == ["end"])
    assert collected_in == [threading.main_thread()]
    assert gc.isenabled()


#: Starts many job threads while the main thread makes Qt classes: threads must not read the bindings' table of classes
#: without the interpreter's lock.
MAKING_CLASSES = """
from threading import Lock

from PySide6.QtCore import QCoreApplication, QObject
from gpudesk.desktop.session.jobs import _Worker
from gpudesk.domain.progress import JobProgress

app = QCoreApplication([])
parent = QObject()
classes = []
for _ in range(200):
    workers = [type("Worker", (_Worker,), {})(iter(()), Lock(), parent) for _ in range(20)]
    for worker in workers:
        worker.run = lambda: None
        worker.start()
        classes += [type("Made", (QObject,), {}) for _ in range(5)]
    for worker in workers:
        worker.wait()
"""


def test_thread_starts_while_qt_classes_are_made() -> None:
    completed = subprocess.run([sys.executable, "-c", MAKING_CLASSES], capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")
