"""`make fuzz`: damaged files and odd command lines, drawn again each time, until the time or the cases are over.

Each failure is kept in `build/fuzz/`: the files, and the seed by which `python -m tests.fuzz --case SEED` makes and
runs the case again. Workers are processes, so that one that hangs or dies is told by the case that it was at.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import resource
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.fuzz.cases import FILE_KINDS, make_case
from tests.fuzz.execution import MOST_MIB, FuzzFinding, get_peak_mib, run_case

KEPT: Final = Path(__file__).parents[2] / "build" / "fuzz"
#: Seconds after which a case counts as hanging, without those in which others had the processor.
_HANGS_S: Final = 60
_MEMORY: Final = Path("/dev/shm")
#: Findings of one signature that are kept.
_MOST_KEPT: Final = 3


def list_seeds(seed: int, first: int, step: int, files: int, lines: int) -> Iterator[str]:
    """Yield the seeds of one worker: files of every kind in turn, and among them command lines."""
    for number in range(first, max(files, lines), step):
        if number < files:
            yield f"{FILE_KINDS[number // step % len(FILE_KINDS)]}:{number}:{seed}"
        if number < lines:
            yield f"line:{number}:{seed}"


def work(seeds: list[str], at: Any, findings: Any, folder: Path) -> None:  # noqa: ANN401 - of multiprocessing
    """Run cases, telling before each which it is, then that it ended: early where memory is not given back."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    for place, seed in enumerate(seeds):
        at.put((place, False))
        for finding in run_case(make_case(seed), folder):
            findings.put(finding)
        if get_peak_mib() > MOST_MIB:
            at.put((place + 1, True))
            return
    at.put((len(seeds), True))


class FuzzWorker:
    """A process that runs its share of the seeds, and the place that it has reached."""

    def __init__(self, seeds: list[str], findings: Any, folder: Path) -> None:  # noqa: ANN401
        self.seeds, self._findings, self._folder = seeds, findings, folder
        self.done = 0
        self._start()

    def _start(self) -> None:
        self._left = self.seeds[self.done :]
        self._from, self._ended = self.done, False
        self._at: Any = multiprocessing.Queue()
        arguments = (self._left, self._at, self._findings, self._folder)
        self._process = multiprocessing.Process(target=work, args=arguments, daemon=True)
        self._process.start()
        self._since = self._read_clock()

    @property
    def is_finished(self) -> bool:
        return self.done >= len(self.seeds)

    def _read_clock(self) -> float:
        """Return seconds that pass while the process runs or sleeps, not while others have the processor."""
        with contextlib.suppress(OSError):
            waited_ns = int(Path(f"/proc/{self._process.pid}/schedstat").read_text().split()[1])
            return time.monotonic() - waited_ns / 1e9
        return time.monotonic()

    def look(self) -> None:
        """Take note of where it is; begin again behind a case that hangs or killed it."""
        while not self._at.empty():
            place, self._ended = self._at.get()
            self.done, self._since = self._from + place, self._read_clock()
        is_alive = self._process.is_alive()
        hangs = is_alive and not self._ended and self._read_clock() - self._since > _HANGS_S
        if self.is_finished or (is_alive and not hangs):
            return
        if not self._ended:
            self.stop()
            signature = "hang" if hangs else f"died: {self._process.exitcode}"
            self._findings.put(FuzzFinding(self.seeds[self.done], (), signature, ""))
            self.done += 1
        self._start()

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def keep(finding: FuzzFinding, number: int) -> Path:
    """Keep what makes a fault again."""
    folder = KEPT / f"{number:03d}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, raw in make_case(finding.seed).files.items():
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(raw)
    (folder / "finding.json").write_text(json.dumps(asdict(finding), indent=1))
    return folder


def fuzz(options: argparse.Namespace) -> int:
    """Run until the cases or the time are over; return how many findings there were."""
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    print(f"seed {seed}: {options.files} damaged files, {options.lines} command lines, {options.seconds} s at the most")
    findings: Any = multiprocessing.Queue()
    began, tally, numbers = time.monotonic(), Counter[str](), count(1)
    # In memory where there is such a folder: waiting for a disk is most of what small cases do.
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        workers = [
            FuzzWorker(
                list(list_seeds(seed, each, options.workers, options.files, options.lines)),
                findings,
                Path(folder) / str(each),
            )
            for each in range(options.workers)
        ]
        while not all(worker.is_finished for worker in workers) and time.monotonic() - began < options.seconds:
            time.sleep(0.2)
            for worker in workers:
                worker.look()
            _tell(findings, tally, numbers)
        for worker in workers:
            worker.stop()
        time.sleep(0.2)
        _tell(findings, tally, numbers)
    ran = Counter(seed.partition(":")[0] == "line" for worker in workers for seed in worker.seeds[: worker.done])
    print(f"{ran[False]} damaged files, {ran[True]} command lines in {time.monotonic() - began:.0f} s")
    for signature, times in tally.most_common():
        print(f"{times:6} {signature}")
    return tally.total()


def _tell(findings: Any, tally: Counter[str], numbers: Iterator[int]) -> None:  # noqa: ANN401
    while not findings.empty():
        finding: FuzzFinding = findings.get()
        tally[finding.signature] += 1
        if tally[finding.signature] <= _MOST_KEPT:
            print(f"{finding.signature}: {finding.seed}, kept in {keep(finding, next(numbers))}", flush=True)


def run_again(seed: str) -> int:
    """Run one case and print what it does."""
    case = make_case(seed)
    with tempfile.TemporaryDirectory() as folder:
        faults = run_case(case, Path(folder) / "case")
    for command in case.commands:
        print("gpudesk", *map(repr, command))
    for finding in faults:
        print(finding.signature, *finding.command, finding.detail, sep="\n")
    return len(faults)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--case", metavar="SEED", help="run one case again")
    parser.add_argument("--seed", type=int, help="draw as in an earlier run")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=900)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    return min(run_again(options.case) if options.case else fuzz(options), 1)


if __name__ == "__main__":
    sys.exit(main())
