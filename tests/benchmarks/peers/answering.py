"""What the programs that ask a peer have in common: lines of runs in, lines of answers out.

Only the standard library is used: these programs run in the environments of the peers.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

#: One run, as `run_peers.py` describes it.
Run = dict[str, Any]
#: Figures by their names.
Figures = dict[str, float]


class UnansweredError(Exception):
    """The peer has no answer to a run; the message is the reason in a word."""


def answer_lines(
    peer: str,
    settings: Sequence[str],
    answer: Callable[[Run], dict[str, Figures]],
    prepare: Callable[[Sequence[Run]], None] | None = None,
) -> None:
    """Answer every run on standard input under every setting; the last line says how long it took.

    `answer` returns the figures by setting and raises `UnansweredError`. A setting that is missing had no
    room in memory. Processor time is counted, as other programs run next to this one; what `prepare` loads
    is not.
    """
    runs = [json.loads(line) for line in sys.stdin]
    release = version(peer)
    if prepare is not None:
        prepare(runs)
    answered = 0
    start_time = time.process_time()
    for run in runs:
        reason = "memory"
        figures: dict[str, Figures] = {}
        try:
            figures = answer(run)
            answered += bool(figures)
        except UnansweredError as error:
            reason = str(error)
        for setting in settings:
            line = {"run": run["run"], "peer": peer, "version": release, "setting": setting}
            if setting in figures:
                line["figures"] = figures[setting]
            else:
                line["reason"] = reason
            sys.stdout.write(json.dumps(line) + "\n")
    seconds = time.process_time() - start_time
    totals = {"peer": peer, "version": release, "how": "one by one", "runs": answered, "seconds": seconds}
    sys.stdout.write(json.dumps(totals) + "\n")
