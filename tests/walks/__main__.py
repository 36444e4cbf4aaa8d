"""Prints how many files, functions and calls of the program lie between what a user does and what is seen."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from tests.walks.ceilings import CALLS, FILES
from tests.walks.measured import Measured, measure, measured_as_json
from tests.walks.walk import WALKS

_LINE: Final = "{:<8} {:>6} {:>6} {:>10} {:>8} {:>6}\n"


def main() -> None:
    """Take the walks that are named, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.walks", description=__doc__)
    parser.add_argument("walks", nargs="*", metavar="WALK", help=f"of {', '.join(WALKS)}; all by default")
    parser.add_argument("--top", type=int, default=0, metavar="N", help="list the N functions called most")
    parser.add_argument("--files", action="store_true", help="list the files")
    parser.add_argument("--as-json", action="store_true", help="take one walk in this process, and write JSON")
    options = parser.parse_args()
    if any(name not in WALKS for name in options.walks):
        parser.error(f"the walks are {', '.join(WALKS)}")
    if options.as_json:
        sys.stdout.write(measured_as_json(options.walks[0]))
        return
    sys.stdout.write(_LINE.format("walk", "files", "goal", "functions", "calls", "goal"))
    for name in options.walks or WALKS:
        _print(name, measure(name), options.top, list_files=options.files)


def _print(name: str, measured: Measured, top: int, *, list_files: bool) -> None:
    calls_goal = CALLS[name].goal if name in CALLS else ""
    sys.stdout.write(
        _LINE.format(name, len(measured.files), FILES[name].goal, len(measured.calls), measured.call_count, calls_goal)
    )
    for file, function, count in measured.calls[:top]:
        sys.stdout.write(f"    {count:>8}  {file}  {function}\n")
    if list_files:
        sys.stdout.writelines(f"    {file}\n" for file in measured.files)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
