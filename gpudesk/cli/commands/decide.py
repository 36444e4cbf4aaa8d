"""`gpudesk decide`: the recommended accelerator, the rules behind it, and changes that would alter it."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.commands.decide_show import ADVISORY_TOPICS
from gpudesk.cli.commands.size import OPEN_LOAD, add_peak_options, add_traffic_options, read_demand, refuse_replicas
from gpudesk.cli.options import (
    add_flags,
    add_options,
    add_provider_class_option,
    add_scenario_options,
    add_site_options,
    build_scenario,
    finish_command,
    open_service,
    read_site,
)
from gpudesk.cli.output import EXIT_DONE
from gpudesk.documents.scenario_file import parse_answer, parse_answers
from gpudesk.domain.claim import ProviderClass
from gpudesk.domain.decision import (
    QUESTIONS,
    UNSERVED_WORK,
    WEIGHT_BOUNDS,
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionFlip,
    DecisionQuestion,
    DecisionRule,
    DecisionVerdict,
    QuestionAnswer,
    TraceCell,
    TraceLine,
)
from gpudesk.domain.field_checks import describe_json_fault, find_closest, make_unknown_field_error, parse_strict_json
from gpudesk.files import describe_unreadable
from gpudesk.report.decision.facts import format_answer, format_fact_figure, get_fact_unit, get_option_texts, label_fact
from gpudesk.report.decision.questions import get_question_text
from gpudesk.report.decision.recommendation import list_candidate_lines, list_recommendation_lines
from gpudesk.report.decision.rules import (
    describe_effect_marks,
    describe_rule_answers,
    get_effect_mark,
    label_rule_source,
)
from gpudesk.report.decision.verdict import describe_verdict_reason, describe_verdict_terms, format_verdict
from gpudesk.report.writers.text import align_table, indent_hanging, measure_text, pad_text, wrap_text
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import (
    InputError,
    Message,
    explain_system_error,
    input_error,
    lower_for_sentence,
    message,
    quote_input,
)
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import Answer, Scenario
    from gpudesk.domain.cost import CostAnswer
    from gpudesk.service import GpuDeskService

_NO_ANSWERS: Final = message(
    "decide.no_answers", "is not a JSON object of answers; list questions with `gpudesk decide --list-questions`"
)


ANSWERS: Final = "--answers"
SET: Final = "--set"
WEIGHT: Final = "--weight"
#: Stands for standard input in place of a file name.
_STANDARD_INPUT: Final = "-"
_MOST_BYTES: Final = 1 << 20


def read_answers(name: str) -> dict[str, AnswerValue]:
    """Return the answers of a JSON file, `-` for standard input; raises `InputError` with the place."""
    where = ANSWERS if name == _STANDARD_INPUT else name
    document = parse_strict_json(_read_input(name, where), where, _NO_ANSWERS, describe_json_fault)
    try:
        return parse_answers("", document)
    except InputError as error:
        place = (error.where or "").lstrip(".")
        raise InputError(error.problem, f"{where}: {place}" if place else where) from error


def _read_input(name: str, where: str) -> bytes:
    try:
        if name == _STANDARD_INPUT:
            raw = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with Path(name).open("rb") as source:
                raw = source.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(describe_unreadable(explain_system_error(error)), where) from error
    if len(raw) > _MOST_BYTES:
        raise input_error(
            "decide.too_large",
            "is larger than {most}; files of answers are smaller",
            where,
            most=(float(_MOST_BYTES), "B"),
        )
    return raw


def _answer(name: str, value: str) -> dict[str, AnswerValue]:
    if name not in QUESTIONS:
        raise make_unknown_field_error(SET, name, QUESTIONS)
    answer_value: str | float = _find_option(QUESTIONS[name], value)
    if QUESTIONS[name].takes_number and (number := _parse_finite(value)) is not None:
        answer_value = number
    return {name: parse_answer(name, f"{SET} {name}", answer_value)}


def _find_option(question: DecisionQuestion, text: str) -> str:
    if text in question.options:
        return text
    titles = {get_option_texts(question.id, each, Formatter()).title.casefold(): each for each in question.options}
    return titles.get(text.casefold(), text)


def parse_weight_options(options: Sequence[str], rules: Collection[str]) -> dict[str, float]:
    """Return the weights of options, `D000-03=2`; raises `InputError` naming the option."""
    weights: dict[str, float] = {}
    check = WEIGHT_BOUNDS.make_check()
    for each in options:
        rule, _, value = (part.strip() for part in each.partition("="))
        weight = _parse_finite(value)
        if weight is None:
            raise input_error(
                "decide.weight", "{given} is not a valid weight; example: D000-03=2", WEIGHT, given=quote_input(each)
            )
        if rule not in rules:
            if near := find_closest(rule, [each.lower() for each in rules]):
                suggestions = tuple(each.upper() for each in near)
                raise input_error(
                    "decide.unknown_rule_near",
                    "unknown rule {given}; did you mean {near}?",
                    WEIGHT,
                    given=quote_input(rule),
                    near=suggestions,
                )
            raise input_error(
                "decide.unknown_rule",
                "unknown rule {given}; list all with --list-rules",
                WEIGHT,
                given=quote_input(rule),
            )
        weights[rule] = check(f"{WEIGHT} {rule}", weight)
    return weights


def _parse_finite(text: str) -> float | None:
    """Return the number in a text; None without one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def list_question_lines(answers: Mapping[str, QuestionAnswer], width: int) -> Iterator[str]:
    """Yield the questions of each screen: id, title, current answer and its origin, and the options."""
    for number, (screen, questions) in enumerate(groupby(QUESTIONS.values(), key=lambda each: each.screen)):
        if number:
            yield ""
        yield output.make_bold(screen.label)
        for question in questions:
            yield from _describe_question(question, answers[question.id], width)


def _describe_question(question: DecisionQuestion, answered: QuestionAnswer, width: int) -> Iterator[str]:
    formatter = Formatter()
    yield from indent_hanging(f"{question.id}  ", get_question_text(question.id), width)
    value = lower_for_sentence(format_answer(question.id, answered.value, formatter))
    in_force = tr("current: {value} ({origin})", value=value, origin=answered.origin.label)
    if answered.origin is not AnswerOrigin.DEFAULT:
        default = lower_for_sentence(format_answer(question.id, question.default, formatter))
        in_force = tr("{now}; default: {value}", now=in_force, value=default)
    yield from indent_hanging("    ", in_force, width)
    for option in question.options:
        words = get_option_texts(question.id, option, formatter)
        yield from indent_hanging(f"    {option}  ", tr("{title}: {use}", title=words.title, use=words.use), width)
    if question.bounds is not None:
        low, high = formatter.exact(question.bounds.low), formatter.exact(question.bounds.high)
        range_text = tr("a number from {low} to {high}", low=low, high=high)
        if question.bounds.above:
            range_text = tr("a number above {low}, up to {high}", low=low, high=high)
        yield from indent_hanging("    ", tr("{number}, {unit}", number=range_text, unit=question.unit), width)


def list_rule_table(rules: Sequence[tuple[DecisionRule, float]], width: int) -> Iterator[str]:
    """Yield a table of the rules: id, strength, weight, related answers, title and document."""
    formatter = Formatter()
    rows = [
        (
            rule.id,
            rule.strength.label,
            formatter.exact(weight),
            ", ".join(rule.asks) or tr("figures only"),
            tr("{title}; {source}", title=rule.title, source=label_rule_source(rule)),
        )
        for rule, weight in rules
    ]
    head = (tr("Rule"), tr("Strength"), tr("Weight"), tr("Answers"), tr("Title and source"))
    yield from align_table(head, rows, width, right=(2,), strong=output.make_bold)


_GAP: Final = "  "
#: Maximum width of accelerator columns; longer content appears in the text next to them.
_WIDEST: Final = 12
#: Minimum width of a rule's text next to the columns; otherwise figures are left out, then columns.
_ROOM: Final = 30
_LEAST_ROOM: Final = 18


def list_trace_lines(decision: Decision, names: Mapping[str, str], formatter: Formatter, width: int) -> Iterator[str]:
    """Yield the rules that fired, in order, as a table that fits; as a list if none does."""
    yield output.make_bold(tr("Rules"))
    heads = [names[key] for key in decision.columns]
    grids = ([_list_cells(line, formatter) for line in decision.trace], [_list_marks(line) for line in decision.trace])
    for grid, room in zip(grids, (_ROOM, _LEAST_ROOM), strict=True):
        widths = [max(map(measure_text, column)) for column in zip(*grid, heads, strict=True)]
        used_width = _measure_ids(decision) + len(_GAP) + sum(widths) + len(_GAP) * len(widths)
        if width - used_width >= room:
            ids = _measure_ids(decision)
            blank = " " * ids
            yield output.make_bold(
                _GAP.join([blank, *(pad_text(*each) for each in zip(heads, widths, strict=True)), tr("Rule")])
            )
            rows = zip(decision.trace, grid, strict=True)
            for role, group in groupby(rows, key=lambda row: row[0].role):
                yield output.make_bold(role.label)
                for line, cells in group:
                    texts = (pad_text(*each) for each in zip(cells, widths, strict=True))
                    lead = _GAP.join([pad_text(line.rule.id, ids), *texts, ""])
                    yield from indent_hanging(lead, _describe_trace_line(line, decision, formatter), width)
            break
    else:
        yield from _list_trace_items(decision, heads, formatter, width)
    yield from wrap_text(describe_effect_marks(), width)


def _measure_ids(decision: Decision) -> int:
    return max((measure_text(line.rule.id) for line in decision.trace), default=0)


def _list_trace_items(decision: Decision, heads: Sequence[str], formatter: Formatter, width: int) -> Iterator[str]:
    for role, group in groupby(decision.trace, key=lambda line: line.role):
        yield output.make_bold(role.label)
        for line in group:
            yield from indent_hanging(f"{line.rule.id}{_GAP}", _describe_trace_line(line, decision, formatter), width)
            cells = zip(heads, line.cells, strict=True)
            cells_text = "; ".join(" ".join(_list_item_cells(line, cell, head, formatter)) for head, cell in cells)
            yield from indent_hanging(_GAP * 2, cells_text, width)


def _list_item_cells(line: TraceLine, cell: TraceCell, head: str, formatter: Formatter) -> list[str]:
    mark, *figure = _format_trace_cell(line, cell, formatter).split(" ", 1)
    return [mark, head, *figure]


def _describe_trace_line(line: TraceLine, decision: Decision, formatter: Formatter) -> str:
    parts = [line.title]
    if line.shows is not None:
        name, unit = lower_for_sentence(label_fact(line.shows)), get_fact_unit(line.shows)
        parts.append(name if unit is None else tr("{fact} in {unit}", fact=name, unit=unit))
    parts.append(describe_rule_answers(line, formatter, decision.answers))
    if line.counted_with is not None:
        parts.append(tr("counted together with {rule}", rule=line.counted_with))
    elif line.case.favours is not None:
        parts.append(tr("weight {number}", number=formatter.exact(line.weight)))
    return "; ".join(parts)


def _list_marks(line: TraceLine) -> list[str]:
    return [get_effect_mark(cell.effect) for cell in line.cells]


def _list_cells(line: TraceLine, formatter: Formatter) -> list[str]:
    return [_format_trace_cell(line, cell, formatter) for cell in line.cells]


def _format_trace_cell(line: TraceLine, cell: TraceCell, formatter: Formatter) -> str:
    mark = get_effect_mark(cell.effect)
    if line.shows is None or cell.value is None:
        return mark
    text = f"{mark} {format_fact_figure(line.shows, cell.value, formatter)}"
    return text if measure_text(text) <= _WIDEST else mark


def list_decision_lines(
    decision: Decision,
    flips: Sequence[DecisionFlip],
    names: Mapping[str, str],
    width: int,
    costs: CostAnswer,
    *,
    requests: str = "",
    with_rules: bool,
) -> Iterator[str]:
    """Yield the verdict with its odds, reasons, comparison and changes that would alter it; every rule on request."""
    formatter = Formatter()
    for line in wrap_text(format_verdict(decision, names, formatter), width):
        yield output.make_bold(line)
    for describe in (describe_verdict_reason, describe_verdict_terms):
        if text := describe(decision, names, formatter):
            yield from wrap_text(text, width)
    if requests:
        yield from wrap_text(requests, width)
    candidates = list_candidate_lines(decision, names, formatter)
    if candidates:
        yield ""
        yield output.make_bold(tr("Compared"))
    for candidate in candidates:
        summary = tr(
            "{name}: {value}, {odds} odds",
            name=candidate.deployment,
            value=candidate.full_value,
            odds=candidate.odds_text,
        )
        yield from indent_hanging("  ", f"{summary}.", width)
    lines = list_recommendation_lines(decision, flips, names, formatter, costs)
    for subject, remarks in groupby(lines, key=lambda line: line.subject):
        yield ""
        yield output.make_bold(subject)
        for each in remarks:
            yield from indent_hanging("  ", f"{each.text}.", width)
    if with_rules:
        yield ""
        yield from list_trace_lines(decision, names, formatter, width)


#: Options of the comparison; lists of questions and rules need none of them.
_COMPARED: Final = ("scenario", "template", "accelerators", "model")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    summary = tr("Recommend an accelerator for your goal and limits, and list what would change it.")
    epilog = tr(
        "Unanswered questions use the answers of the scenario or the defaults. Without "
        "--accelerators, the whole catalog is searched. Discontinued accelerators are included only with "
        "--set acquisition=rent."
    )
    parser = commands.add_parser("decide", help=summary, description=f"{summary} {epilog}")
    _add_said(parser.add_argument_group(tr("answers and weights (override the scenario)")))
    site = parser.add_argument_group(tr("site and providers (override the scenario)"))
    add_site_options(site)
    add_provider_class_option(site)
    traffic = parser.add_argument_group(tr("traffic, instead of a load"))
    add_traffic_options(traffic)
    add_peak_options(traffic)
    add_scenario_options(parser)
    parser.add_argument("--rules", action="store_true", help=tr("show every applied rule, grouped by effect"))
    parser.add_argument(
        "--show", action="append", default=[], choices=ADVISORY_TOPICS, help=tr("additional advice to show; repeatable")
    )
    finish_command(parser, run)


def _add_said(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--answers", metavar=tr("FILE"), help=tr("JSON file with answers by question id; - for standard input")
    )
    for option, name, placeholder, text in (
        (
            SET,
            "answer_settings",
            tr("QUESTION=ANSWER"),
            tr("set an answer, such as priority=cost; overrides --answers; repeatable"),
        ),
        (WEIGHT, "rule_weights", tr("RULE=NUMBER"), tr("set the weight of a rule, such as D000-03=2; repeatable")),
    ):
        add_options(group, (option, placeholder, str, text), action="append", default=[], dest=name)
    add_flags(
        group,
        ("--list-questions", tr("list questions with answers and defaults, then exit")),
        ("--list-rules", tr("list rules with sources and weights, then exit")),
    )


def run(options: argparse.Namespace) -> int:

    user_answers = {} if options.answers is None else read_answers(options.answers)
    answers: dict[str, AnswerValue] = {}
    for each in options.answer_settings:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not name or not value:
            raise InputError(_describe_wrong_answer(each), SET)
        answers |= _answer(name, value)
    user_answers |= answers
    with open_service(options) as service:
        weights = parse_weight_options(options.rule_weights, [rule.id for rule in service.decider.rules])
        listed = options.list_questions or options.list_rules
        if listed and not any(getattr(options, name) for name in _COMPARED):
            scenario = None
        else:
            if user_answers.get("work") in UNSERVED_WORK and not (options.scenario or options.template):
                _fill_workload(options)
            scenario = _build_scenario(options, service)
            settings = scenario.decision
            settings = replace(
                settings, answers={**settings.answers, **user_answers}, weights={**settings.weights, **weights}
            )
            scenario = replace(scenario, decision=settings, fleet=read_site(options, scenario.fleet))
            if options.provider_class is not None:
                costs = replace(scenario.costs, provider_class=ProviderClass(options.provider_class))
                scenario = replace(scenario, costs=costs)
            weights = dict(settings.weights)
        if options.list_questions:
            _list_questions(_answers(scenario, user_answers), as_json=options.json)
        elif options.list_rules:
            _list_rules(service, weights, as_json=options.json)
        elif scenario is not None:
            _decide(scenario, service, options)
    return EXIT_DONE


def _build_scenario(options: argparse.Namespace, service: GpuDeskService) -> Scenario:
    """Return the scenario of the options, with a demand where they state traffic."""
    if options.users is None and options.tokens_per_day is None:
        return build_scenario(options, service, open_accelerators=True)
    refuse_replicas(options)
    # Limits are those of the demand, not of a load.
    options.demand_ttft_ms, options.demand_tpot_ms = options.ttft_ms, options.tpot_ms
    options.ttft_ms = options.tpot_ms = None
    scenario = build_scenario(options, service, load=OPEN_LOAD, open_accelerators=True)
    return replace(scenario, demand=read_demand(options, scenario.demand))


def _fill_workload(options: argparse.Namespace) -> None:
    """Fill in the smallest request and load where none is given: no figure depends on them."""
    if not any(getattr(options, name) for name in ("concurrency", "batch_size", "saturate", "request_rate", "ttft_ms")):
        options.concurrency = 1
    options.input_tokens = options.input_tokens or 1
    options.output_tokens = options.output_tokens or 1


def _answers(scenario: Scenario | None, user_answers: Mapping[str, AnswerValue]) -> Mapping[str, QuestionAnswer]:
    """Return the current answers; without a scenario those given, and defaults."""
    from gpudesk.decision.facts.answers import resolve_answers
    from gpudesk.domain.decision import QUESTIONS, AnswerOrigin, QuestionAnswer

    if scenario is not None:
        return resolve_answers(scenario)
    return {
        name: QuestionAnswer(user_answers[name], AnswerOrigin.YOURS)
        if name in user_answers
        else QuestionAnswer(question.default, AnswerOrigin.DEFAULT)
        for name, question in QUESTIONS.items()
    }


def _list_questions(answers: Mapping[str, QuestionAnswer], *, as_json: bool) -> None:
    if as_json:
        from gpudesk.report.writers.decision_json import encode_questions

        output.print_json(encode_questions(answers))
        return

    output.print_lines(list_question_lines(answers, output.get_terminal_width()))


def _list_rules(service: GpuDeskService, weights: Mapping[str, float], *, as_json: bool) -> None:
    from gpudesk.decision.rules.scoring import list_weighted_rules

    rules = list_weighted_rules(service.decider.rules, weights)
    if as_json:
        from gpudesk.report.writers.decision_json import encode_rules

        output.print_json(encode_rules(rules))
        return

    output.print_lines(list_rule_table(rules, output.get_terminal_width()))


def _decide(scenario: Scenario, service: GpuDeskService, options: argparse.Namespace) -> None:
    from gpudesk.cli.commands.decide_show import AdvisoryRequest, encode_advisory, list_advisory_text
    from gpudesk.domain.progress import run_to_end
    from gpudesk.report.labels import get_today, map_column_names

    searched = not scenario.accelerators
    if searched:
        scenario = service.shortlist(scenario)
    answer = service.answer(scenario)
    decision = service.decide(answer)
    flips = service.flips(answer) if decision.scope.answered else ()
    questions = tuple(run_to_end(service.find_questions_in_steps(answer)))
    names = map_column_names(answer)
    request = AdvisoryRequest(answer, decision, names, service, get_today())
    if options.json:
        from gpudesk.report.writers.decision_json import encode_decision

        document = encode_decision(decision, flips, names)
        output.print_json({**document, "next_questions": list(questions), **encode_advisory(options.show, request)})
        return

    # Report unavailable content before anything is written.
    advisory = list(list_advisory_text(options.show, request, output.get_terminal_width()))
    width, costs = output.get_terminal_width(), service.decider.get_decision_costs(answer)
    requests = _describe_load(answer) if decision.scope.answered and answer.has_load else ""
    lines = list_decision_lines(decision, flips, names, width, costs, requests=requests, with_rules=options.rules)
    if searched and decision.verdict is DecisionVerdict.NONE_FITS:
        output.print_lines(wrap_text(tr("Of the whole catalog, these come closest to your limits:"), width))
    output.print_lines((*lines, *_list_next_questions(questions, decision), *advisory))


def _describe_load(answer: Answer) -> str:
    from gpudesk.report.labels import describe_requests, format_load
    from gpudesk.report.sizing import describe_demand

    scenario, formatter = answer.scenario, Formatter()
    requests = describe_requests(answer.model.name, scenario.weights, scenario.workload, formatter)
    demand, load = scenario.demand, format_load(scenario.workload.load, formatter)
    return tr("For {requests}, {load}.", requests=requests, load=describe_demand(demand, formatter) if demand else load)


#: How many questions that can still change the answer are listed.
_NEXT: Final = 3


def _list_next_questions(questions: Sequence[str], decision: Decision) -> Iterator[str]:
    """Yield the questions whose answer can still change the recommendation, or a line that none can."""
    if not decision.scope.answered or decision.recommended is None:
        return
    yield ""
    yield output.make_bold(tr("Next questions"))
    if not questions:
        yield tr("  No other answer can change this recommendation.")
    for name in questions[:_NEXT]:
        yield from indent_hanging("  ", f"{name}: {get_question_text(name)}", output.get_terminal_width())


def _describe_wrong_answer(text: str) -> Message:
    return message("decide.answer", "{given} is not a valid answer; example: priority=cost", given=quote_input(text))
