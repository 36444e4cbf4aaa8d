"""`gpudesk decide`: which accelerator to take, by the rules of documents, and what would change that."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.beside_text import SHOWN
from gpudesk.cli.faults import DONE
from gpudesk.cli.options import add_json, add_scenario_options, scenario_from
from gpudesk.text import tr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpudesk.domain.decisions import Answered
    from gpudesk.domain.questions import AnswerValue
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.workbench.workbench import Workbench

#: Options that say what is compared; lists of questions and rules need none of them.
_COMPARED: Final = ("scenario", "template", "accelerators", "model")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    summary = tr("Say which accelerator to take, by the rules of documents, and what would change that.")
    said = tr("Questions without an answer take the scenario's, or the default that --list-questions shows.")
    parser = commands.add_parser("decide", help=summary, description=f"{summary} {said}")
    _add_said(parser.add_argument_group(tr("answers and weights, over those of the scenario")))
    add_scenario_options(parser)
    parser.add_argument(
        "--show",
        action="append",
        default=[],
        choices=SHOWN,
        help=tr("what stands beside the recommendation too; can be repeated"),
    )
    add_json(parser)
    parser.set_defaults(run=run)


def _add_said(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--answers",
        metavar=tr("FILE"),
        help=tr("a JSON object of questions and answers; - for standard input"),
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        dest="stated",
        metavar="QUESTION=ANSWER",
        help=tr("an answer, as priority=cost or ttft_limit_ms=2000, over that of --answers; can be repeated"),
    )
    group.add_argument(
        "--weight",
        action="append",
        default=[],
        dest="rule_weights",
        metavar="RULE=NUMBER",
        help=tr("what a rule adds where it favours, as D000-03=2; can be repeated"),
    )
    group.add_argument(
        "--list-questions",
        action="store_true",
        help=tr("list the questions with their answers and defaults, and end"),
    )
    group.add_argument(
        "--list-rules",
        action="store_true",
        help=tr("list the rules with their sources and weights, and end"),
    )


def run(options: argparse.Namespace) -> int:
    """Decide, or list what is asked and weighed."""
    from gpudesk.cli.decide_input import read_answers, stated_answers, stated_weights
    from gpudesk.workbench.workbench import Workbench

    said = {} if options.answers is None else read_answers(options.answers)
    said |= stated_answers(options.stated)
    with Workbench.open() as workbench:
        weights = stated_weights(options.rule_weights, [rule.id for rule in workbench.decider.rules])
        listed = options.list_questions or options.list_rules
        if listed and not any(getattr(options, name) for name in _COMPARED):
            scenario = None
        else:
            scenario = scenario_from(options, workbench)
            settings = scenario.decision
            settings = replace(
                settings, answers={**settings.answers, **said}, weights={**settings.weights, **weights}
            )
            scenario = replace(scenario, decision=settings)
            weights = dict(settings.weights)
        if options.list_questions:
            _list_questions(_answers(scenario, said), as_json=options.json)
        elif options.list_rules:
            _list_rules(workbench, weights, as_json=options.json)
        elif scenario is not None:
            _decide(scenario, workbench, options.show, as_json=options.json)
    return DONE


def _answers(scenario: Scenario | None, said: Mapping[str, AnswerValue]) -> Mapping[str, Answered]:
    """Return the answers in force; without a scenario those that are said, and defaults."""
    from gpudesk.domain.decisions import Answered, Origin
    from gpudesk.domain.questions import QUESTIONS
    from gpudesk.workbench.deciding.answers import answers_of

    if scenario is not None:
        return answers_of(scenario)
    return {
        name: Answered(said[name], Origin.YOURS)
        if name in said
        else Answered(question.default, Origin.DEFAULT)
        for name, question in QUESTIONS.items()
    }


def _list_questions(answers: Mapping[str, Answered], *, as_json: bool) -> None:
    if as_json:
        from gpudesk.sheets.decision_json import question_fields

        output.say_json(question_fields(answers))
        return
    from gpudesk.cli.decide_lists import question_lines

    for line in question_lines(answers, output.width(), output.strong):
        output.say(line)


def _list_rules(workbench: Workbench, weights: Mapping[str, float], *, as_json: bool) -> None:
    from gpudesk.workbench.deciding.rule_weights import rules_in_force

    rules = rules_in_force(workbench.decider.rules, weights)
    if as_json:
        from gpudesk.sheets.decision_json import rule_fields

        output.say_json(rule_fields(rules))
        return
    from gpudesk.cli.decide_lists import rule_table

    for line in rule_table(rules, output.width(), output.strong):
        output.say(line)


def _decide(scenario: Scenario, workbench: Workbench, show: Sequence[str], *, as_json: bool) -> None:
    from gpudesk.cli.beside_text import Asked, shown_fields, shown_lines
    from gpudesk.domain.comparison import column_keys
    from gpudesk.sheets.dates import today
    from gpudesk.sheets.names import column_names

    answer = workbench.answer(scenario)
    decision = workbench.decide(answer)
    flips = workbench.flips(answer)
    names = dict(zip(column_keys(scenario.accelerators), column_names(answer), strict=True))
    asked = Asked(answer, decision, names, workbench, today())
    if as_json:
        from gpudesk.sheets.decision_json import decision_fields

        output.say_json({**decision_fields(decision, flips, names), **shown_fields(show, asked)})
        return
    from gpudesk.cli.decide_text import decision_lines

    # What cannot be shown is told before anything is written.
    beside = list(shown_lines(show, asked, output.width(), output.strong))
    for line in (*decision_lines(decision, flips, names, output.width(), output.strong), *beside):
        output.say(line)
