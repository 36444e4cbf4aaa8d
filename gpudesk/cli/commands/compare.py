"""`gpudesk compare`: up to six accelerators side by side."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.options import add_options, add_scenario_options, build_scenario, finish_command, open_service
from gpudesk.cli.output import EXIT_DONE, UsageError
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import Answer, SheetExtras
    from gpudesk.domain.decision import Decision
    from gpudesk.service import GpuDeskService


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    description = tr("Compare up to six accelerators for one model and workload.")
    parser = commands.add_parser("compare", help=description, description=description)
    add_scenario_options(parser)
    text = tr("save the sheet as .pdf, .html, .md, .csv, .xlsx or .json, or the scenario as .gpudesk")
    add_options(parser, ("-o --output", tr("FILE"), str, text))
    add_ranking(parser)
    finish_command(parser, run)


def add_ranking(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rank-announced", action="store_true", help=tr("rank announced accelerators together with available ones")
    )


def run(options: argparse.Namespace) -> int:
    from gpudesk.domain.answer import SheetExtras

    target = None if options.output is None else Path(options.output)
    profiled = getattr(options, "profile", None) or []
    if target is not None:
        output.check_format(target)
        if profiled and target.suffix.lower() not in output.PROFILE_FORMATS:
            raise UsageError(tr("--profile needs a .pdf, .html or .md file"))
    with open_service(options) as service:
        service.rank_announced = options.rank_announced
        answer, leading = _answer(options, service, with_curves=target is not None)
        if target is not None and target.suffix.lower() == output.SCENARIO_SUFFIX:
            service.save_scenario(answer.scenario, target)
        elif target is not None:
            paper = getattr(options, "paper", None)
            flips = service.flips(answer) if answer.scenario.decision.answers else ()
            with_rules = getattr(options, "rules", False)
            further = None
            if answer.has_load:
                further = service.make_sheet_extras(answer, flips, with_rules=with_rules)
            from gpudesk.domain.profile import ProfileQuestion
            from gpudesk.report.profile_sections import ProfileTables

            questions = [
                ProfileQuestion.from_scenario(answer.scenario, each) if answer.has_load else ProfileQuestion(each)
                for each in dict.fromkeys(profiled)
            ]
            entries = service.catalog.things() if questions else ()
            profiles = tuple(
                ProfileTables.from_entries(service.profile(each), Formatter(), entries) for each in questions
            )
            output.write_sheet(answer, target, paper, service.explain, further, profiles)
    if target is not None:
        output.report_written_file(target, as_json=options.json, content_hash=answer.content_hash)
    else:
        print_answer(answer, SheetExtras(leading=leading), as_json=options.json)
    return EXIT_DONE


def _answer(
    options: argparse.Namespace, service: GpuDeskService, *, with_curves: bool
) -> tuple[Answer, Decision | None]:
    """Return the answer with its leaders; without a load only the specifications."""
    try:
        answer = service.answer(build_scenario(options, service), with_curves=with_curves)
    except InputError as error:
        saves = options.output is not None and options.output.lower().endswith(output.SCENARIO_SUFFIX)
        if error.problem.id != "load.no_option" or options.requests is not None or options.limit is not None or saves:
            raise
        # The load does not matter if no estimate is shown.
        options.input_tokens, options.output_tokens = options.input_tokens or 1, options.output_tokens or 1
        return service.answer(build_scenario(options, service, load={"concurrency": 1})).without_load(), None
    answer = service.costing.add_costs(answer)
    return answer, service.decide(answer)


def print_answer(answer: Answer, further: SheetExtras | None = None, *, as_json: bool = False) -> None:
    if as_json:
        from gpudesk.report.writers.json import encode_answer

        output.print_json(encode_answer(answer, further))
        return
    from gpudesk.report.comparison.sheet import build_sheet
    from gpudesk.report.writers.text import list_sheet_lines

    output.print_lines(
        list_sheet_lines(build_sheet(answer, further=further), output.get_terminal_width(), output.make_bold)
    )
