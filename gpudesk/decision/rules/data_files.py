"""The data files of decisions: rules, purchase steps, signals, software support, references, export rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

from gpudesk.decision.rules.conditions import ConditionError, parse_condition
from gpudesk.domain.accelerator import SOFTWARE_PLATFORMS
from gpudesk.domain.decision import QUESTIONS, DecisionRule, RuleCase, RuleStrength
from gpudesk.domain.field_checks import (
    EMPTY_FIELD,
    FieldCheck,
    accept_month,
    accept_text,
    accept_whole,
    accept_word,
    make_unknown_field_error,
)
from gpudesk.domain.purchase import PROCUREMENT_FACTS, ProcurementStep
from gpudesk.domain.reference_data import (
    ExportLimit,
    ExportMetric,
    ExportRule,
    ExportRuleLine,
    ExportRuleSet,
    KnownSignalValue,
    ReferenceDeployment,
    SoftwareSupport,
    SupportEntry,
    WatchSignal,
)
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import parse_record
from gpudesk.text.messages import InputError, Message, input_error, message

_T = TypeVar("_T")


def _accept_date(where: str, value: object) -> str:
    """Accept an ISO month or day, keeping the day."""
    accept_month(where, value)
    return str(value)


def _accept_step_condition(where: str, value: object) -> str:
    text: str = accept_text(4000)(where, value)
    try:
        names = parse_condition(text).names
    except ConditionError as error:
        raise input_error("beside.condition", "has an invalid condition: {reason}", where, reason=str(error)) from error
    for name in sorted(names):
        if name not in PROCUREMENT_FACTS:
            raise make_unknown_field_error(where, name, PROCUREMENT_FACTS)
    return text


#: By the names of fields in all files.
_CHECKS: Final[Mapping[str, FieldCheck]] = {
    **dict.fromkeys(("until", "date", "read", "published", "in_force", "not_enforced_since"), _accept_date),
    "platform": accept_word({each: each for each in SOFTWARE_PLATFORMS}),
    **dict.fromkeys(("count", "bits"), accept_whole(1, 10**12)),
}


def _read_file(
    kind: type[_T], path: Path, document: Mapping[str, Any], checks: Mapping[str, FieldCheck] = _CHECKS
) -> _T:
    return parse_record(kind, document, f"{path}:", checks)


def _share_fields(document: Mapping[str, Any], tables: str, shared: tuple[str, ...]) -> dict[str, Any]:
    """Return a document with its common fields copied into each table."""
    shared_values = {name: document[name] for name in shared if name in document}
    entries = document.get(tables)
    if not isinstance(entries, list):
        return dict(document)
    return {**document, tables: [{**shared_values, **each} if isinstance(each, dict) else each for each in entries]}


def check_unique_ids(ids: Iterable[str], where: str) -> None:
    known_ids: set[str] = set()
    for each in ids:
        if each in known_ids:
            raise input_error("beside.twice", "contains {id} twice; remove one", where, id=each)
        known_ids.add(each)


_SUFFIX: Final = "*.toml"
_RULES: Final = "rules"
_CASES: Final = frozenset({"when", "requires", "favours", "checks", "advice", "theme", "title"})


def read_rules(folder: Path) -> tuple[DecisionRule, ...]:
    """Return the rules of all files of a folder, by file and in its order.

    Files without a table of rules are skipped. Raises `InputError` that names file and rule for an unreadable rule, an
    invalid condition, and a duplicate id.
    """
    rules: dict[str, DecisionRule] = {}
    for path in sorted(folder.glob(_SUFFIX)):
        for rule in _read_rule_file(path):
            if rule.id in rules:
                raise input_error(
                    "rules.twice", "rule {rule} is defined twice; restore the file", str(path), rule=rule.id
                )
            rules[rule.id] = rule
    if not rules:
        raise input_error("rules.none", "contains no rules; restore the files", str(folder))
    return tuple(rules.values())


def _read_rule_file(path: Path) -> Iterator[DecisionRule]:
    document = read_toml(path)
    entries = document.get(_RULES, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(_describe_wrong_rule(_RULES), str(path))
    for position, entry in enumerate(entries):
        where = f"{path}: {entry.get('id', position)}"
        try:
            yield _parse_rule(entry, document, where)
        except ConditionError as error:
            raise input_error(
                "rules.condition", "has an invalid condition: {reason}", where, reason=str(error)
            ) from error
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(_describe_wrong_rule(str(error)), where) from error


def _parse_rule(entry: dict[str, Any], document: dict[str, Any], where: str) -> DecisionRule:
    for name in (asks := tuple(entry.get("asks", ()))):
        if name not in QUESTIONS:
            raise input_error("rules.question", "asks {name}, which is not a question", where, name=name)
    return DecisionRule(
        id=entry["id"],
        source=document.get("source"),
        dated=document["dated"],
        pair=tuple(document["pair"]),
        strength=RuleStrength(entry["strength"]),
        theme=entry["theme"],
        title=entry["title"],
        why=entry["why"],
        cases=tuple(_parse_case(case) for case in entry["cases"]),
        asks=asks,
        shows=entry.get("shows"),
        disputes=tuple(entry.get("disputes", ())),
        printed=entry.get("printed"),
        corrected=entry.get("corrected"),
        unfounded=entry.get("unfounded"),
        weight=entry.get("weight"),
        against=tuple(entry.get("against", ())),
        is_followed=entry.get("followed", False),
    )


def _parse_case(entry: dict[str, str]) -> RuleCase:
    if unknown := entry.keys() - _CASES:
        raise ValueError(", ".join(sorted(unknown)))
    case = RuleCase(**entry)
    for text in (case.when, case.requires, case.favours, case.checks):
        if text is not None:
            parse_condition(text)
    return case


@frozen_dataclass
class _StepsFile:
    source: str
    dated: str
    steps: tuple[ProcurementStep, ...] = ()


def read_steps(path: Path) -> tuple[ProcurementStep, ...]:
    """Return the steps in order; raises `InputError` that names file and place.

    A condition can name only the facts of `STEP_FACTS`.
    """
    document = _share_fields(read_toml(path), "steps", ("source", "dated"))
    steps = _read_file(_StepsFile, path, document, {**_CHECKS, "when": _accept_step_condition}).steps
    _accept_date(f"{path}: dated", document["dated"])
    check_unique_ids((each for step in steps for each in (step.id, *(point.id for point in step.points))), str(path))
    return steps


@frozen_dataclass
class _SignalsFile:
    source: str
    dated: str
    signals: tuple[WatchSignal, ...] = ()


def _convert_to_float(signal_value: KnownSignalValue) -> KnownSignalValue:
    """Return a value on record with a number as a float, however it is written."""
    return (
        signal_value if isinstance(signal_value.value, bool) else replace(signal_value, value=float(signal_value.value))
    )


def read_signals(path: Path) -> tuple[WatchSignal, ...]:
    """Return the signals in order; raises `InputError` that names file and place."""
    document = _share_fields(read_toml(path), "signals", ("source", "dated"))
    signals = _read_file(_SignalsFile, path, document, {**_CHECKS, "dated": _accept_date}).signals
    check_unique_ids((signal.id for signal in signals), str(path))
    for number, signal in enumerate(signals):
        if not all(signal.takes(each.value) for each in signal.known):
            raise input_error(
                "beside.form",
                "has a value in the wrong format for {signal}",
                f"{path}: signals[{number}].known",
                signal=signal.title,
            )
    return tuple(
        replace(
            signal, known=tuple(sorted(map(_convert_to_float, signal.known), key=lambda each: each.date, reverse=True))
        )
        for signal in signals
    )


@frozen_dataclass
class _SupportFile:
    software: str
    name: str
    entries: tuple[SupportEntry, ...] = ()


def read_support(folder: Path) -> SoftwareSupport:
    """Return all entries, by file; raises `InputError` that names file and place."""
    documents = [
        _read_file(_SupportFile, path, _share_fields(read_toml(path), "entries", ("software", "name")))
        for path in sorted(folder.glob(_SUFFIX))
    ]
    entries = tuple(entry for document in documents for entry in document.entries)
    if not entries:
        raise input_error("beside.no_files", "contains no data files; restore the folder", str(folder))
    check_unique_ids((document.software for document in documents if document.entries), str(folder))
    return SoftwareSupport(entries)


@frozen_dataclass
class _ReferencesFile:
    references: tuple[ReferenceDeployment, ...] = ()


def read_references(path: Path) -> tuple[ReferenceDeployment, ...]:
    """Return the references, the newest first; raises `InputError` that names file and place."""
    references = _read_file(_ReferencesFile, path, read_toml(path)).references
    check_unique_ids((each.id for each in references), str(path))
    return tuple(sorted(references, key=lambda each: each.date or "", reverse=True))


#: Internal units in one of the file's.
_UNITS: Final = {ExportMetric.TPP: 1.0, ExportMetric.DENSITY: 1.0, ExportMetric.MEMORY_BANDWIDTH: 1e9}
_TERA: Final = 1e12


def read_export_rules(path: Path) -> ExportRuleSet:
    """Return the rules, the newest first; raises `InputError` that names file and place."""
    document = read_toml(path)
    for line in _list_tables(_list_tables(document, "rules"), "lines"):
        line.setdefault("limits", [])
    for limit in _list_tables(_list_tables(_list_tables(document, "rules"), "lines"), "limits"):
        # A limit is either reached or not.
        limit["at_least"], bound = "at_least" in limit, limit.pop("at_least", None)
        limit["value"] = limit.pop("below", None) if bound is None else bound
    for refused in _list_tables(document, "refused"):
        refused["peak"] = refused.pop("peak_tflops", None)
    rule_set = _read_file(ExportRuleSet, path, document)
    for number, rule in enumerate(rule_set.rules):
        _check_export_rule(rule, f"{path}: rules[{number}]")
    rules = sorted(map(_convert_limits, rule_set.rules), key=lambda rule: rule.in_force or rule.published, reverse=True)
    refused_statements = tuple(replace(each, peak=each.peak * _TERA) for each in rule_set.refused)
    rule_set = replace(rule_set, rules=tuple(rules), refused=refused_statements)
    _check_rule_ids(rule_set, str(path))
    return rule_set


def _list_tables(document: Mapping[str, Any] | list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the tables of a name in a table, or in each of several."""
    outer = document if isinstance(document, list) else [document]
    lists = (each.get(name) for each in outer)
    return [table for tables in lists if isinstance(tables, list) for table in tables if isinstance(table, dict)]


def _check_export_rule(rule: ExportRule, where: str) -> None:
    for number, line in enumerate(rule.lines):
        if not line.limits:
            raise InputError(EMPTY_FIELD, f"{where}.lines[{number}].limits")
    if not rule.read_in:
        raise input_error("beside.unread", "needs the source of {name}", where, name=rule.name)


def _convert_limits(rule: ExportRule) -> ExportRule:
    """Return a rule with its limits in internal units."""

    def convert(line: ExportRuleLine) -> ExportRuleLine:
        limits = (ExportLimit(each.measured, each.value * _UNITS[each.measured], each.at_least) for each in line.limits)
        return replace(line, limits=tuple(limits))

    return replace(rule, lines=tuple(map(convert, rule.lines)))


def _check_rule_ids(rule_set: ExportRuleSet, where: str) -> None:
    """Refuse duplicate ids and references to unknown ids."""
    check_unique_ids((rule.id for rule in rule_set.rules), where)
    rule_ids = {rule.id for rule in rule_set.rules}
    successors = [rule.superseded_by for rule in rule_set.rules if rule.superseded_by is not None]
    for each in (*successors, *(claim.rule for claim in rule_set.refused)):
        if each not in rule_ids:
            raise input_error("beside.no_rule", "uses {id}, which it does not define", where, id=each)


def _describe_wrong_rule(reason: str) -> Message:
    return message("rules.entry", "is not a valid rule: {reason}; restore the file", reason=reason)
