"""`gpudesk sweep`: a grid of estimates, written to a file."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.options import (
    add_details,
    add_further_degrees,
    add_options,
    finish_command,
    make_option_error,
    open_service,
    parse_number_list,
    split_list,
)
from gpudesk.cli.output import EXIT_DONE, report_error
from gpudesk.domain.estimate_json import encode_fields
from gpudesk.text.messages import InputError, input_error
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.estimation.sweep.output import SweepRun


#: Options that are axes.
_AXES: Final = (
    "accelerators",
    "models",
    "weights",
    "kv",
    "tp",
    "input_tokens",
    "output_tokens",
    "batch",
    "concurrency",
)
#: Options that apply to all points.
_SETTINGS: Final = (
    "serving_engine",
    "pp",
    "ep",
    "dp",
    "attention_dp",
    "date",
    "memory_fraction",
    "max_batch",
    "max_batched_tokens",
    "lengths",
    "server",
    "eager",
    "prefix_hit_rate",
    "acceptance_length",
)
#: Points from which a sweep announces its size, and bytes per point in a file.
_MANY_POINTS: Final = 10_000_000
_BYTES_OF_POINT: Final = 200
#: Seconds between progress messages.
_PATIENCE_S: Final = 0.2
#: Returns to the start of the terminal's line and clears it.
_SAME_LINE: Final = "\r\x1b[K"


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    parser = commands.add_parser(
        "sweep",
        help=tr("Compute a grid of accelerators, models, formats, plans and loads, and save it."),
        description=tr(
            "Compute every combination of the axes and save it to a file. An axis is a list such as "
            "1,2,8 or a range such as 1..64+8 or 1..256*2. Points that do not fit get a reason instead "
            "of figures."
        ),
        epilog=tr(
            "A .csv file has one row per point. A .npz file holds the grid for NumPy: `axes` names its "
            "dimensions, and each name has an array of its values. All other arrays have one dimension "
            "per axis: output_tokens_per_s[0, 0] is the first accelerator with the first model. Unknown "
            "figures are NaN. Text columns hold indexes: limiter_words[limiter] is the text. On the tp "
            "axis, 0 means that the plan was chosen automatically."
        ),
    )
    _add_axes(parser.add_argument_group(tr("axes, slowest first")))
    group = parser.add_argument_group(tr("deployment (same for all points)"))
    add_options(group, ("--serving-engine", "ID", str, tr("serving engine (default: best for each point)")))
    add_further_degrees(group)
    add_details(parser.add_argument_group(tr("details")))
    parser.add_argument("-o", "--output", metavar=tr("FILE"), required=True, help=tr("output file, .npz or .csv"))
    parser.add_argument("--progress", action="store_true", help=tr("print progress, even outside a terminal"))
    finish_command(parser, run)


def _add_axes(group: argparse._ArgumentGroup) -> None:
    add_options(
        group,
        ("--accelerators", "ID,…", split_list, tr("accelerator ids, or all")),
        ("--models --model", "ID,…", split_list, tr("model ids, or all")),
        ("--weights", tr("PRECISION,…"), split_list, tr("weight precisions")),
        required=True,
    )
    add_options(
        group,
        ("--kv", tr("PRECISION,…"), split_list, tr("KV cache precisions (default: fp16)")),
        ("--tp", "N,…", parse_number_list, tr("tensor parallel degrees (default: smallest deployment that fits)")),
    )
    add_options(
        group,
        ("--input-tokens", tr("TOKENS,…"), parse_number_list, tr("input tokens per request")),
        ("--output-tokens", tr("TOKENS,…"), parse_number_list, tr("output tokens per request")),
        required=True,
    )
    add_options(
        group,
        ("--batch --batch-size", "N,…", parse_number_list, tr("static batch: requests started together")),
        ("--concurrency", "N,…", parse_number_list, tr("requests in flight (closed loop), instead of --batch")),
    )


def run(options: argparse.Namespace) -> int:
    from gpudesk.estimation.sweep.grid import parse_sweep
    from gpudesk.estimation.sweep.output import check_suffix

    target = Path(options.output)
    check_suffix(target)
    with open_service(options) as service:
        try:
            axes = {name: getattr(options, name) or () for name in _AXES}
            settings = {name: getattr(options, name) for name in _SETTINGS}
            sweep = parse_sweep(axes, settings, service.catalog)
        except InputError as error:
            raise make_option_error(error, _find_option(error.where)) from error
        sweep_run = service.sweep(sweep, target)
        _check_room(sweep.points, target)
        with closing(sweep_run.steps()) as steps:
            _follow(steps, sweep.points, is_visible=options.progress or sys.stderr.isatty())
    for line in (*_list_impossible_values(sweep_run), *_describe_unfit_points(sweep_run), _describe_speed(sweep_run)):
        report_error(line, "sweep")
    if options.json:
        output.print_json(_encode_run(sweep_run))
    else:
        output.print_line(tr("Wrote {file}", file=sweep_run.target))
    return EXIT_DONE


def _check_room(points: int, target: Path) -> None:
    """Print the expected size of a large file; raises `InputError` if the disk has no room for it."""
    from gpudesk.text.formatting import Formatter

    if points < _MANY_POINTS:
        return
    formatter, size = Formatter(), points * _BYTES_OF_POINT
    try:
        free = shutil.disk_usage(target.resolve().parent).free
    except OSError:
        # An unusable folder is reported when the file is opened.
        return
    if size > free:
        raise input_error(
            "sweep.no_room",
            "{count} points need about {size}, but the disk has {free} free; use fewer values",
            str(target),
            count=points,
            size=(float(size), "B"),
            free=(float(free), "B"),
        )
    text = tr(
        "{points} points need about {size} of disk space", points=formatter.count(points), size=formatter.memory(size)
    )
    report_error(text, "sweep")


def _find_option(where: str | None) -> str | None:
    return None if where is None else "--" + where.rpartition(".")[2].replace("_", "-")


def _follow(steps: Iterator[int], points: int, *, is_visible: bool) -> None:
    """Run the steps, and report progress on standard error.

    A terminal shows it in one line that is finally cleared, other outputs get a line for each tenth.
    """
    terminal = sys.stderr.isatty()
    said_at, said_tenth = monotonic(), 0
    try:
        for evaluated_points in steps:
            tenth = evaluated_points * 10 // points
            due = monotonic() - said_at >= _PATIENCE_S if terminal else tenth > said_tenth
            if is_visible and due:
                said_at, said_tenth = monotonic(), tenth
                from gpudesk.text.formatting import Formatter

                formatter = Formatter()
                line = tr(
                    "{share}  {done} of {points} points",
                    share=formatter.per_cent(evaluated_points / points),
                    done=formatter.count(evaluated_points),
                    points=formatter.count(points),
                )
                sys.stderr.write(f"{_SAME_LINE}{line}" if terminal else f"{line}\n")
                sys.stderr.flush()
    finally:
        if terminal and is_visible:
            sys.stderr.write(_SAME_LINE)


def _list_impossible_values(sweep_run: SweepRun) -> Iterator[str]:
    from gpudesk.text.messages import format_message

    options = dict(zip(sweep_run.sweep.names, _AXES, strict=False))
    for axis, value, reason in sweep_run.never():
        if not axis:
            yield tr("no point is possible: {reason}", reason=format_message(reason))
        else:
            place = f"{_find_option(options[axis])} {value}"
            yield tr("no point with {option} is possible: {reason}", option=place, reason=format_message(reason))


def _describe_unfit_points(sweep_run: SweepRun) -> Iterator[str]:
    from gpudesk.text.formatting import Formatter

    count = Formatter().count
    if sweep_run.reasons:
        unfit = sum(sweep_run.reasons.values())
        yield trn(
            "{n} of {points} points does not fit; reason column: {reasons}",
            "{n} of {points} points do not fit; reason column: {reasons}",
            unfit,
            n=count(unfit),
            points=count(sweep_run.evaluated_points),
            reasons=", ".join(f"{reason} {count(number)}" for reason, number in sweep_run.reasons.most_common()),
        )


def _describe_speed(sweep_run: SweepRun) -> str:
    from gpudesk.text.formatting import Formatter

    formatter = Formatter()
    return trn(
        "computed {points} point in {s} s ({rate}/s), wrote it in {written_s} s ({written_rate}/s)",
        "computed {points} points in {s} s ({rate}/s), wrote them in {written_s} s ({written_rate}/s)",
        sweep_run.evaluated_points,
        points=formatter.count(sweep_run.evaluated_points),
        s=formatter.estimate(sweep_run.evaluation_s),
        rate=formatter.count(sweep_run.evaluated_points / sweep_run.evaluation_s),
        written_s=formatter.estimate(sweep_run.writing_s),
        written_rate=formatter.count(sweep_run.evaluated_points / sweep_run.writing_s),
    )


def _encode_run(sweep_run: SweepRun) -> dict[str, Any]:
    return {
        **encode_fields(sweep_run, "file=target points=evaluated_points"),
        "fit": sweep_run.evaluated_points - sum(sweep_run.reasons.values()),
        "reasons": dict(sweep_run.reasons.most_common()),
        "shape": dict(zip(sweep_run.sweep.names, sweep_run.sweep.shape, strict=True)),
        **encode_fields(sweep_run, "estimates=plans evaluation_s writing_s"),
    }
