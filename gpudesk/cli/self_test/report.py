"""Results of the checks, as lines for people and as JSON for programs."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk import paths
from gpudesk.files import write_atomically
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.release import find_installation, get_release
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError
from gpudesk.text.translation import LabeledEnum, tr, trn

if TYPE_CHECKING:
    from gpudesk.service import GpuDeskService


#: How many items of a list are named.
_NAMED: Final = 4


class CheckFailedError(Exception):
    """A check failed; the text gives the reason, and the remedy if it is not to reinstall."""


@frozen_dataclass
class CheckFinding:
    """The result of a passed check; with a warning, something outside the program is wrong."""

    text: str = ""
    doubt: bool = False


Check = Callable[[], CheckFinding]


def fail_on_faults(faults: Sequence[str]) -> None:
    if faults:
        raise CheckFailedError(join_limited(faults, "; "))


def join_limited(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first names, and how many more there are."""
    names_text = separator.join(names[:_NAMED])
    more = len(names) - _NAMED
    return tr("{names} and {n} more", names=names_text, n=more) if more > 0 else names_text


@contextmanager
def open_shipped_catalog() -> Iterator[GpuDeskService]:
    """Open the shipped facts: the user's are checked separately, and must not change figures here."""
    from gpudesk.service import GpuDeskService

    with GpuDeskService.open(with_user_facts=False) as service:
        yield service


#: The last result is kept in the log folder, in case someone asks for it.
FILE_NAME: Final = "self-test.txt"


class CheckOutcome(LabeledEnum):
    """The outcome of a check; a warning concerns the environment, not the program."""

    OK = "ok", "ok"
    DOUBT = "warning", "warning"
    FAILED = "failed", "failed"


@frozen_dataclass
class CheckResult:
    """One check: short name, label, outcome, finding, duration."""

    id: str
    name: str
    outcome: CheckOutcome
    finding: str
    seconds: float

    @property
    def line(self) -> str:
        finding_text = " ".join(self.finding.split())
        text = tr("{check}: {outcome}", check=self.name, outcome=self.outcome.label)
        time = tr("[{seconds} s]", seconds=Formatter().number(self.seconds, 2))
        return f"{text} ({finding_text}) {time}" if finding_text else f"{text} {time}"


@dataclass
class SelfTestReport:
    """The results of all checks, and the overall result."""

    results: list[CheckResult] = field(default_factory=list)
    #: Path of the report, None if it could not be written.
    file: Path | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing failed; a warning is not a failure."""
        return not self._count(CheckOutcome.FAILED)

    @cached_property
    def head(self) -> str:
        this = get_release()
        return tr(
            "GPU Desk {version}, commit {commit} ({installation}), Python {python}, {system} {machine}",
            version=this.version,
            commit=this.short_commit or tr("unknown"),
            installation=find_installation(),
            python=platform.python_version(),
            system=f"{platform.system()} {platform.release()}",
            machine=platform.machine(),
        )

    @property
    def verdict(self) -> str:
        failed, doubts = self._count(CheckOutcome.FAILED), self._count(CheckOutcome.DOUBT)
        if failed:
            return trn(
                "{n} check failed. Reinstall GPU Desk. If it fails again, send this report to your administrator.",
                "{n} checks failed. Reinstall GPU Desk. If they fail again, send this report to your administrator.",
                failed,
            )
        if doubts:
            return trn(
                "GPU Desk works, with {n} warning about its environment.",
                "GPU Desk works, with {n} warnings about its environment.",
                doubts,
            )
        return tr("All checks passed.")

    def _count(self, outcome: CheckOutcome) -> int:
        return sum(result.outcome is outcome for result in self.results)

    def list_verdict_lines(self) -> list[str]:
        lines = [] if self.file is None else [tr("Report saved to {file}", file=self.file)]
        return [*lines, self.verdict]

    def text(self) -> str:
        return "\n".join([self.head, *(result.line for result in self.results), self.verdict]) + "\n"

    def fields(self) -> dict[str, Any]:
        """Return the whole report as JSON values."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            "release": get_release().record(),
            "installation": find_installation(),
            "python": platform.python_version(),
            "system": platform.platform(),
            "seconds": round(sum(result.seconds for result in self.results), 3),
            "file": None if self.file is None else str(self.file),
            "checks": [
                {
                    "id": result.id,
                    "check": result.name,
                    "ok": result.outcome is not CheckOutcome.FAILED,
                    "outcome": result.outcome.value,
                    "found": result.finding,
                    "seconds": round(result.seconds, 3),
                }
                for result in self.results
            ],
            # For users who are asked to pass it on.
            "text": self.text(),
        }

    def write(self, target: Path) -> None:
        """Write it to a file, as JSON or lines by its suffix; raises `InputError`."""
        if target.suffix.lower() == ".json":
            text = json.dumps(self.fields(), indent=2, ensure_ascii=False) + "\n"
        else:
            text = self.text()
        # A folder's name can contain bytes that are not text; JSON writes them as an escape.
        write_atomically(target, text.encode(errors="backslashreplace"))

    def keep(self) -> None:
        """Save it in the log folder if that is writable."""
        with suppress(OSError, InputError):
            folder = paths.ensure_logs_dir()
            self.write(folder / FILE_NAME)
            self.file = folder / FILE_NAME

    def show_file(self) -> None:
        """Open the saved report: a windowed program on Windows has no terminal."""
        if sys.platform == "win32" and self.file is not None:
            os.startfile(self.file)
