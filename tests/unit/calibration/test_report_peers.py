"""Other estimators: their answers are compared on the very rows that they answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from accuracy_report.data import count_refusals, read_peers, read_speeds, summarize_peers
from accuracy_report.measures import FigureView, JudgedFigure, judge_figures
from tests.unit.calibration.records import make_held_out, make_run

PEERS = """run,peer,version,setting,figure,value,reason
0,other,1.0,,output_tokens_per_s,150,
1,other,1.0,,output_tokens_per_s,150,
2,other,1.0,,output_tokens_per_s,,memory
3,other,1.0,,tpot_ms,,load
0,other,1.0,fast,output_tokens_per_s,100,
"""


def rows() -> list[JudgedFigure]:
    runs = [make_run(f"{place}", series=f"s{place % 3}") for place in range(30)]
    return list(judge_figures(make_held_out(runs, [1.1, 1.3, *([5.0] * 28)]), runs))


def test_both_are_measured_on_the_rows_that_the_other_answers(tmp_path: Path) -> None:
    file = tmp_path / "peers.csv"
    file.write_text(PEERS)
    plain, fast = summarize_peers(read_peers(file), rows())
    assert (plain.answers.setting, plain.view, plain.answered, plain.figure_count) == ("", FigureView.THROUGHPUT, 2, 3)
    assert plain.theirs.median == pytest.approx(0.5)
    assert plain.ours.median == pytest.approx(0.2)
    assert plain.theirs.bias == pytest.approx(1.5)
    assert fast.theirs.median == 0.0


def test_reasons_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "peers.csv"
    file.write_text(PEERS)
    assert count_refusals(read_peers(file)[0]) == [("memory", 1), ("load", 1)]


def test_speeds_are_read(tmp_path: Path) -> None:
    file = tmp_path / "speed.csv"
    file.write_text("peer,version,how,runs,seconds,runs_per_s\nother,1.0,one by one,10,2.00,5\n")
    (speed,) = read_speeds(file)
    assert (speed.peer, speed.runs, speed.runs_per_s) == ("other", 10, 5.0)
