"""Jobs: background work that takes longer than a frame.

A job must not define or import Qt classes, see `PageModuleLoader`.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from threading import Event, Lock
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_message, input_error
from gpudesk.text.translation import tr

_T = TypeVar("_T")

#: Seconds after which a job is shown, and after which it can be canceled.
SHOWN_AFTER_MS = 200
CANCEL_AFTER_MS = 1000
_SHOWN_EVERY_MS = 100
#: Seconds that a job works before it yields the interpreter to the window, and for how long.
_WORKS_S = 0.002
_RESTS_S = 0.0005
#: The interpreter's switch interval in seconds while a job runs.
_SWITCH_S = 0.001
_USUAL_SWITCH_S = sys.getswitchinterval()


class _Worker(QThread):
    """Runs the steps when it holds `turn`. Its results are read after it has finished."""

    def __init__(self, steps: ProgressSteps[Any], turn: Lock, parent: QObject) -> None:
        super().__init__(parent)
        # Else the new thread asks for its class, without the interpreter's lock, and can crash.
        self.setObjectName("job")
        self._steps = steps
        self._turn = turn
        self._stop = Event()
        self.progress: JobProgress | None = None
        self.result: Any = None
        self.completed = False
        self.error: Exception | None = None

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        try:
            with self._turn:
                self._work()
        except Exception as error:  # noqa: BLE001 - passed on, and raised in the receiver
            self.error = error
        finally:
            self._steps.close()

    def _work(self) -> None:
        began = time.perf_counter()
        while not self._stop.is_set():
            try:
                self.progress = next(self._steps)
            except StopIteration as end:
                self.result, self.completed = end.value, True
                return
            if time.perf_counter() - began > _WORKS_S:
                time.sleep(_RESTS_S)
                began = time.perf_counter()


class Job(QObject, Generic[_T]):
    """A running job; made by `Jobs.start`."""

    #: It is done, has failed, or was canceled.
    ended = Signal()

    def __init__(
        self,
        steps: ProgressSteps[_T],
        done: Callable[[_T], object],
        failed: Callable[[InputError], object],
        canceled: Callable[[], object],
        turn: Lock,
        parent: QObject,
    ) -> None:
        """Start when `turn` is free.

        Exactly one of the three callbacks is called, in the window's thread, unless it is dropped.
        """
        super().__init__(parent)
        self._done = done
        self._failed = failed
        self._canceled = canceled
        self._dropped = False
        self.began = time.perf_counter()
        self._worker = _Worker(steps, turn, self)
        self._worker.finished.connect(self._finished)
        self._worker.start()

    @property
    def progress(self) -> JobProgress | None:
        """The progress, None before the first step."""
        return self._worker.progress

    @property
    def age_ms(self) -> float:
        return (time.perf_counter() - self.began) * 1000

    def cancel(self) -> None:
        """Cancel it after the current step; the generator's partial results stay."""
        self._worker.stop()

    def drop(self) -> None:
        """Cancel it silently: a newer job has replaced it."""
        self._dropped = True
        self._worker.stop()

    def wait(self) -> None:
        self._worker.wait()

    @Slot()
    def _finished(self) -> None:
        # The thread reports it shortly before it ends.
        self._worker.wait()
        worker = self._worker
        self.ended.emit()
        if self._dropped:
            return
        if isinstance(worker.error, InputError):
            self._failed(worker.error)
        elif worker.error is not None:
            # The caller must not wait forever: the error is passed on as one of the job.
            kind = type(worker.error).__name__
            try:
                self._failed(input_error("job.unexpected", "internal error ({kind_of_fault})", kind_of_fault=kind))
            finally:
                raise worker.error
        elif worker.completed:
            self._done(worker.result)
        else:
            self._canceled()


def _nothing() -> None:
    """A default callback for canceled jobs."""


class Jobs(QObject):
    """The jobs of one window. Only the newest of each kind counts: results of older ones are dropped."""

    #: Progress text of the newest job for the status bar, empty without one; whether it can be canceled.
    shown = Signal(str, bool)

    #: Running jobs of all windows, which share the interpreter.
    _at_work: ClassVar[int] = 0

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formatter = formatter
        self._jobs: dict[str, Job[Any]] = {}
        self._all: list[Job[Any]] = []
        #: A dropped job ends after its current step, which can take half a second and much memory: the next one waits.
        self._turns: defaultdict[str, Lock] = defaultdict(Lock)
        # No thread may outlive its owner, nor count as running forever.
        self.destroyed.connect(partial(Jobs._stop_all, self._all))
        self._text = ""
        self._timer = QTimer(self, interval=_SHOWN_EVERY_MS)
        self._timer.timeout.connect(self._show)

    def start(
        self,
        kind: str,
        steps: ProgressSteps[_T],
        done: Callable[[_T], object],
        failed: Callable[[InputError], object],
        canceled: Callable[[], object] = _nothing,
    ) -> Job[_T]:
        """Start a job; a running one of the same kind is dropped.

        Finally one of the three callbacks is called, in this thread. A bug in a job is reported as a failure, and
        raised here, like one in the window.
        """
        former = self._jobs.pop(kind, None)
        if former is not None:
            former.drop()
        # Before its thread runs.
        self._count(1)
        job: Job[_T] = Job(steps, done, failed, canceled, self._turns[kind], self)
        self._jobs[kind] = job
        self._all.append(job)
        job.ended.connect(self._ended)
        self._timer.start()
        return job

    @property
    def running(self) -> bool:
        return bool(self._jobs)

    @staticmethod
    def any_running() -> bool:
        """Whether a job of any window runs."""
        return bool(Jobs._at_work)

    def cancel(self) -> None:
        if self._jobs:
            next(reversed(self._jobs.values())).cancel()

    def stop(self) -> None:
        """Drop all jobs and wait for their end: the window closes."""
        self._stop_all(self._all)
        self._jobs = {}
        self._timer.stop()

    @staticmethod
    def _stop_all(jobs: list[Job[Any]]) -> None:
        for job in jobs:
            job.drop()
        for job in jobs:
            job.wait()
        Jobs._count(-len(jobs))
        jobs.clear()

    @Slot()
    def _ended(self) -> None:
        job = self.sender()
        if job in self._all:
            self._all.remove(job)
            self._count(-1)
        self._jobs = {kind: each for kind, each in self._jobs.items() if each is not job}
        if not self._jobs:
            self._timer.stop()
        self._show()
        job.deleteLater()

    @staticmethod
    def _count(more: int) -> None:
        Jobs._at_work += more
        sys.setswitchinterval(_SWITCH_S if Jobs._at_work else _USUAL_SWITCH_S)
        # Garbage can contain widgets, which only the window's thread may destroy: meanwhile `_show` collects it.
        (gc.disable if Jobs._at_work else gc.enable)()

    def _show(self) -> None:
        if not gc.isenabled():
            gc.collect(1)
        job = next(reversed(self._jobs.values()), None) if self._jobs else None
        if job is None or job.age_ms < SHOWN_AFTER_MS:
            self._show_state("", can_cancel=False)
        else:
            self._show_state(self._describe_progress(job.progress), can_cancel=job.age_ms >= CANCEL_AFTER_MS)

    def _describe_progress(self, progress: JobProgress | None) -> str:
        if progress is None:
            return tr("Working…")
        what = format_message(progress.what, self._formatter)
        if not progress.total:
            return what
        count = self._formatter.count
        return tr("{what}: {done} of {total}", what=what, done=count(progress.done), total=count(progress.total))

    def _show_state(self, text: str, *, can_cancel: bool) -> None:
        if text or self._text:
            self._text = text
            self.shown.emit(text, can_cancel)
