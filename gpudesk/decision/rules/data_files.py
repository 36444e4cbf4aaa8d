"""The data files of decisions: rules, purchase steps, signals, software support, references, export rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from gpudesk.decision.rules.conditions import ConditionError, parse_condition
from gpudesk.domain.accelerator import SOFTWARE_PLATFORMS
from gpudesk.domain.decision import QUESTIONS, DecisionRule, RuleCase, RuleStrength
from gpudesk.domain.field_checks import (
    EMPTY_FIELD,
    MISSING_FIELD,
    accept_boolean,
    accept_month,
    accept_number,
    accept_text,
    accept_whole,
    accept_word,
    make_type_error,
    make_unknown_field_error,
)
from gpudesk.domain.purchase import (
    PROCUREMENT_FACTS,
    ProcurementCheckpoint,
    ProcurementFigure,
    ProcurementStep,
    ProcurementStrength,
)
from gpudesk.domain.reference_data import (
    ExportLimit,
    ExportMetric,
    ExportRule,
    ExportRuleLine,
    ExportRuleReference,
    ExportRuleSet,
    ReferenceDeployment,
    RefutedStatement,
    SoftwareSupport,
    SupportEntry,
    SupportLevel,
)
from gpudesk.domain.watch_list import KnownSignalValue, SignalThreshold, ThresholdDirection, WatchSignal
from gpudesk.files import read_toml
from gpudesk.text.messages import InputError, Message, message

_LONGEST: Final = 4000
_MOST: Final = 1e18


class DataFileEntry:
    """One table of a file. What is not asked for is refused by `end`, so that no slip of the pen is lost."""

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, dict):
            raise make_type_error(where, values, "object")
        self.where = where
        self._values: dict[str, Any] = values
        self._asked: set[str] = set()

    def place(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where[-1:] != ":" else f"{self.where} {name}"

    def has(self, name: str) -> bool:
        self._asked.add(name)
        return name in self._values

    def text(self, name: str) -> str:
        found: str = accept_text(_LONGEST)(self.place(name), self._must(name))
        return found

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if self.has(name) else None

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(accept_text(_LONGEST)(place, each) for place, each in self._list(name))

    def number(self, name: str) -> float:
        found: float = accept_number(-_MOST, _MOST)(self.place(name), self._must(name))
        return found

    def optional_number(self, name: str) -> float | None:
        return self.number(name) if self.has(name) else None

    def whole(self, name: str) -> int:
        found: int = accept_whole(1, 10**12)(self.place(name), self._must(name))
        return found

    def optional_whole(self, name: str) -> int | None:
        """Return a whole number above 0, None where there is none."""
        return self.whole(name) if self.has(name) else None

    def flag(self, name: str) -> bool:
        return accept_boolean(self.place(name), self._must(name))

    def number_or_flag(self, name: str) -> float | bool:
        return self.flag(name) if isinstance(self._must(name), bool) else self.number(name)

    def date(self, name: str) -> str:
        value = self._must(name)
        accept_month(self.place(name), value)
        return str(value)

    def optional_date(self, name: str) -> str | None:
        """Return an ISO month or day, None where there is none."""
        return self.date(name) if self.has(name) else None

    def word(self, name: str, words: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the word stands for
        return accept_word(words)(self.place(name), self._must(name))

    def tables(self, name: str) -> tuple[DataFileEntry, ...]:
        return tuple(DataFileEntry(each, place) for place, each in self._list(name))

    def optional_table(self, name: str) -> DataFileEntry | None:
        return DataFileEntry(self._values[name], self.place(name)) if self.has(name) else None

    def end(self) -> None:
        for name in self._values:
            if name not in self._asked:
                raise make_unknown_field_error(self.where.rstrip(":"), name, sorted(self._asked))

    def _must(self, name: str) -> object:
        if not self.has(name):
            raise InputError(MISSING_FIELD, self.place(name))
        return self._values[name]

    def _list(self, name: str) -> list[tuple[str, object]]:
        if not self.has(name):
            return []
        values = self._values[name]
        if not isinstance(values, list):
            raise make_type_error(self.place(name), values, "list")
        return [(f"{self.place(name)}[{position}]", each) for position, each in enumerate(values)]


def read_data_file(path: Path) -> DataFileEntry:
    """Return the fields of a file; raises `InputError` where it cannot be read."""
    return DataFileEntry(read_toml(path), f"{path}:")


def check_unique_ids(ids: Iterable[str], where: str) -> None:
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise InputError(message("beside.twice", "has {id} twice; keep one", id=each), where)
        seen.add(each)


_SUFFIX: Final = "*.toml"
_RULES: Final = "rules"
_CASES: Final = frozenset({"when", "requires", "favours", "checks", "advice", "theme", "title"})


def read_rules(folder: Path) -> tuple[DecisionRule, ...]:
    """Return the rules of all files of a folder, by file and in its order.

    Files without a table of rules are others'. Raises `InputError` that names file and rule for one that
    cannot be read, for a condition that is none, and for an id that comes twice.
    """
    rules: dict[str, DecisionRule] = {}
    for path in sorted(folder.glob(_SUFFIX)):
        for rule in _read_rule_file(path):
            if rule.id in rules:
                raise InputError(
                    message("rules.twice", "rule {rule} is there twice; restore the file", rule=rule.id), str(path)
                )
            rules[rule.id] = rule
    if not rules:
        raise InputError(message("rules.none", "holds no rules; restore the files"), str(folder))
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
            raise InputError(
                message("rules.condition", "has a condition that cannot be read: {reason}", reason=str(error)), where
            ) from error
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(_describe_wrong_rule(str(error)), where) from error


def _parse_rule(entry: dict[str, Any], document: dict[str, Any], where: str) -> DecisionRule:
    for name in (asks := tuple(entry.get("asks", ()))):
        if name not in QUESTIONS:
            raise InputError(message("rules.question", "asks {name}, which is no question", name=name), where)
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
    )


def _parse_case(entry: dict[str, str]) -> RuleCase:
    if unknown := entry.keys() - _CASES:
        raise ValueError(", ".join(sorted(unknown)))
    case = RuleCase(**entry)
    for text in (case.when, case.requires, case.favours, case.checks):
        if text is not None:
            parse_condition(text)
    return case


_STRENGTHS: Final = {each.value: each for each in ProcurementStrength}


def read_steps(path: Path) -> tuple[ProcurementStep, ...]:
    """Return the steps in their order; raises `InputError` that names file and place.

    A condition may name the facts of `STEP_FACTS` and no others.
    """
    document = read_data_file(path)
    source, dated = document.text("source"), document.date("dated")
    steps = tuple(_parse_step(entry, source, dated) for entry in document.tables("steps"))
    document.end()
    check_unique_ids((each for step in steps for each in _list_step_ids(step)), str(path))
    return steps


def _parse_step(entry: DataFileEntry, source: str, dated: str) -> ProcurementStep:
    step = ProcurementStep(
        id=entry.text("id"),
        source=source,
        dated=dated,
        strength=entry.word("strength", _STRENGTHS),
        title=entry.text("title"),
        ask=entry.text("ask"),
        why=entry.text("why"),
        when=_parse_step_condition(entry),
        otherwise=entry.optional_text("otherwise"),
        until=entry.optional_date("until"),
        figures=tuple(_parse_step_figure(each) for each in entry.tables("figures")),
        points=tuple(_parse_check_point(each) for each in entry.tables("points")),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    return step


def _list_step_ids(step: ProcurementStep) -> tuple[str, ...]:
    return (step.id, *(point.id for point in step.points))


def _parse_step_condition(entry: DataFileEntry) -> str | None:
    text = entry.optional_text("when")
    if text is None:
        return None
    try:
        names = parse_condition(text).names
    except ConditionError as error:
        raise InputError(
            message("beside.condition", "has a condition that cannot be read: {reason}", reason=str(error)),
            entry.place("when"),
        ) from error
    for name in sorted(names):
        if name not in PROCUREMENT_FACTS:
            raise make_unknown_field_error(entry.place("when"), name, PROCUREMENT_FACTS)
    return text


def _parse_step_figure(entry: DataFileEntry) -> ProcurementFigure:
    figure = ProcurementFigure(
        label=entry.text("label"),
        value=entry.number("value"),
        unit=entry.text("unit"),
        high=entry.optional_number("high"),
        dated=entry.optional_text("dated"),
        accelerators=entry.texts("accelerators"),
        anecdotal=entry.flag("anecdotal") if entry.has("anecdotal") else False,
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
        worked=entry.texts("worked"),
    )
    entry.end()
    return figure


def _parse_check_point(entry: DataFileEntry) -> ProcurementCheckpoint:
    point = ProcurementCheckpoint(entry.text("id"), entry.text("text"))
    entry.end()
    return point


_DIRECTIONS: Final = {each.value: each for each in ThresholdDirection}


def read_signals(path: Path) -> tuple[WatchSignal, ...]:
    """Return the signals in their order; raises `InputError` that names file and place."""
    document = read_data_file(path)
    source, dated = document.text("source"), document.date("dated")
    signals = tuple(_parse_signal(entry, source, dated) for entry in document.tables("signals"))
    document.end()
    check_unique_ids((signal.id for signal in signals), str(path))
    return signals


def _parse_signal(entry: DataFileEntry, source: str, dated: str) -> WatchSignal:
    threshold = entry.optional_table("threshold")
    known = [_parse_known(each) for each in entry.tables("known")]
    signal = WatchSignal(
        id=entry.text("id"),
        source=source,
        dated=dated,
        title=entry.text("title"),
        look_for=entry.text("look_for"),
        if_passed=entry.text("if_passed"),
        if_not=entry.text("if_not"),
        threshold=None if threshold is None else _parse_threshold(threshold),
        known=tuple(sorted(known, key=lambda each: each.date, reverse=True)),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    if not all(signal.takes(each.value) for each in signal.known):
        raise InputError(
            message("beside.form", "has a value that is not of the form of {signal}", signal=signal.title),
            entry.place("known"),
        )
    return signal


def _parse_threshold(entry: DataFileEntry) -> SignalThreshold:
    threshold = SignalThreshold(entry.number("value"), entry.text("unit"), entry.word("direction", _DIRECTIONS))
    entry.end()
    return threshold


def _parse_known(entry: DataFileEntry) -> KnownSignalValue:
    known = KnownSignalValue(
        value=entry.number_or_flag("value"),
        date=entry.date("date"),
        source=entry.text("source"),
        about=entry.text("about"),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    return known


_LEVELS: Final = {each.value: each for each in SupportLevel}
_PLATFORMS: Final = {each: each for each in SOFTWARE_PLATFORMS}


def read_support(folder: Path) -> SoftwareSupport:
    """Return all entries, by file; raises `InputError` that names file and place."""
    entries: list[SupportEntry] = []
    found: list[str] = []
    for path in sorted(folder.glob("*.toml")):
        of_file = tuple(_read_support_file(read_data_file(path)))
        entries += of_file
        found += dict.fromkeys(entry.software for entry in of_file)
    if not entries:
        raise InputError(message("beside.no_files", "has no data files; restore the folder"), str(folder))
    check_unique_ids(found, str(folder))
    return SoftwareSupport(tuple(entries))


def _read_support_file(document: DataFileEntry) -> Iterator[SupportEntry]:
    software, name = document.text("software"), document.text("name")
    for entry in document.tables("entries"):
        yield SupportEntry(
            software=software,
            name=name,
            platform=entry.word("platform", _PLATFORMS),
            level=entry.word("level", _LEVELS),
            scope=entry.text("scope"),
            source=entry.text("source"),
            date=entry.optional_date("date"),
            statements=entry.texts("statements"),
            disputes=entry.texts("disputes"),
        )
        entry.end()
    document.end()


def read_references(path: Path) -> tuple[ReferenceDeployment, ...]:
    """Return the references, the newest first; raises `InputError` that names file and place."""
    document = read_data_file(path)
    found = [_parse_reference(entry) for entry in document.tables("references")]
    document.end()
    check_unique_ids((each.id for each in found), str(path))
    return tuple(sorted(found, key=lambda each: each.date or "", reverse=True))


def _parse_reference(entry: DataFileEntry) -> ReferenceDeployment:
    reference = ReferenceDeployment(
        id=entry.text("id"),
        who=entry.text("who"),
        named=entry.flag("named"),
        what=entry.text("what"),
        basis=entry.text("basis"),
        source=entry.text("source"),
        platform=entry.word("platform", _PLATFORMS) if entry.has("platform") else None,
        accelerators=entry.texts("accelerators"),
        count=entry.optional_whole("count"),
        date=entry.optional_date("date"),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    return reference


_MEASURED: Final = {each.value: each for each in ExportMetric}
#: Units used inside in one of the file's.
_UNITS: Final = {ExportMetric.TPP: 1.0, ExportMetric.DENSITY: 1.0, ExportMetric.MEMORY_BANDWIDTH: 1e9}
_TERA: Final = 1e12


def read_export_rules(path: Path) -> ExportRuleSet:
    """Return the rules, the newest first; raises `InputError` that names file and place."""
    entry = read_data_file(path)
    rules = [_parse_export_rule(each) for each in entry.tables("rules")]
    refused = tuple(_parse_refused_claim(each) for each in entry.tables("refused"))
    found = ExportRuleSet(entry.date("read"), tuple(sorted(rules, key=_get_rule_day, reverse=True)), refused)
    entry.end()
    _check_rule_ids(found, str(path))
    return found


def _get_rule_day(rule: ExportRule) -> str:
    return rule.in_force or rule.published


def _parse_export_rule(entry: DataFileEntry) -> ExportRule:
    rule = ExportRule(
        id=entry.text("id"),
        name=entry.text("name"),
        publisher=entry.text("publisher"),
        title=entry.text("title"),
        published=entry.date("published"),
        counts=entry.text("counts"),
        note=entry.text("note"),
        in_force=entry.optional_date("in_force"),
        reference=entry.optional_text("reference"),
        url=entry.optional_text("url"),
        lines=tuple(_parse_rule_line(each) for each in entry.tables("lines")),
        covers=entry.texts("covers"),
        not_enforced_since=entry.optional_date("not_enforced_since"),
        superseded_by=entry.optional_text("superseded_by"),
        read_in=tuple(_parse_read_in(each) for each in entry.tables("read_in")),
    )
    entry.end()
    if not rule.read_in:
        raise InputError(
            message("beside.unread", "does not say where {name} was read; name the place", name=rule.name), entry.where
        )
    return rule


def _parse_rule_line(entry: DataFileEntry) -> ExportRuleLine:
    line = ExportRuleLine(
        entry.text("name"), tuple(_parse_limit(each) for each in entry.tables("limits")), entry.optional_text("note")
    )
    entry.end()
    if not line.limits:
        raise InputError(EMPTY_FIELD, entry.place("limits"))
    return line


def _parse_limit(entry: DataFileEntry) -> ExportLimit:
    measured: ExportMetric = entry.word("measured", _MEASURED)
    at_least = entry.has("at_least")
    value = entry.number("at_least" if at_least else "below")
    entry.end()
    return ExportLimit(measured, value * _UNITS[measured], at_least)


def _parse_read_in(entry: DataFileEntry) -> ExportRuleReference:
    found = ExportRuleReference(entry.text("title"), entry.text("url"), entry.optional_date("date"))
    entry.end()
    return found


def _parse_refused_claim(entry: DataFileEntry) -> RefutedStatement:
    claim = RefutedStatement(
        statement=entry.text("statement"),
        dispute=entry.text("dispute"),
        accelerators=entry.texts("accelerators"),
        rule=entry.text("rule"),
        peak=entry.number("peak_tflops") * _TERA,
        bits=entry.whole("bits"),
        limit=entry.number("limit"),
        worked=entry.optional_text("worked"),
    )
    entry.end()
    return claim


def _check_rule_ids(found: ExportRuleSet, where: str) -> None:
    """Refuse an id that comes twice, and one that nothing has."""
    check_unique_ids((rule.id for rule in found.rules), where)
    known = {rule.id for rule in found.rules}
    named = [rule.superseded_by for rule in found.rules if rule.superseded_by is not None]
    for each in (*named, *(claim.rule for claim in found.refused)):
        if each not in known:
            raise InputError(message("beside.no_rule", "names {id}, which it does not have", id=each), where)


def _describe_wrong_rule(reason: str) -> Message:
    return message("rules.entry", "is no rule: {reason}; restore the file", reason=reason)
