"""The rules on exports, read from their file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk.domain.export_control import (
    ExportRule,
    ExportRules,
    Limit,
    Measured,
    ReadIn,
    RefusedClaim,
    RuleLine,
)
from gpudesk.domain.messages import InputError, message
from gpudesk.workbench.deciding.toml_entries import Entry, read_entries, require_once

_MEASURED: Final = {each.value: each for each in Measured}
#: Units used inside in one of the file's.
_UNITS: Final = {Measured.TPP: 1.0, Measured.DENSITY: 1.0, Measured.MEMORY_BANDWIDTH: 1e9}
_TERA: Final = 1e12


def read_export_rules(path: Path) -> ExportRules:
    """Return the rules, the newest first; raises `InputError` that names file and place."""
    entry = read_entries(path)
    rules = [_rule(each) for each in entry.tables("rules")]
    refused = tuple(_refused(each) for each in entry.tables("refused"))
    found = ExportRules(entry.date("read"), tuple(sorted(rules, key=_day, reverse=True)), refused)
    entry.end()
    _check_together(found, str(path))
    return found


def _day(rule: ExportRule) -> str:
    return rule.in_force or rule.published


def _rule(entry: Entry) -> ExportRule:
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
        lines=tuple(_line(each) for each in entry.tables("lines")),
        covers=entry.texts("covers"),
        not_enforced_since=entry.optional_date("not_enforced_since"),
        superseded_by=entry.optional_text("superseded_by"),
        read_in=tuple(_read_in(each) for each in entry.tables("read_in")),
    )
    entry.end()
    if not rule.read_in:
        raise InputError(message("beside.unread", name=rule.name), entry.where)
    return rule


def _line(entry: Entry) -> RuleLine:
    line = RuleLine(
        entry.text("name"),
        tuple(_limit(each) for each in entry.tables("limits")),
        entry.optional_text("note"),
    )
    entry.end()
    if not line.limits:
        raise InputError(message("field.empty"), entry.place("limits"))
    return line


def _limit(entry: Entry) -> Limit:
    measured: Measured = entry.word("measured", _MEASURED)
    at_least = entry.has("at_least")
    value = entry.number("at_least" if at_least else "below")
    entry.end()
    return Limit(measured, value * _UNITS[measured], at_least)


def _read_in(entry: Entry) -> ReadIn:
    found = ReadIn(entry.text("title"), entry.text("url"), entry.optional_date("date"))
    entry.end()
    return found


def _refused(entry: Entry) -> RefusedClaim:
    claim = RefusedClaim(
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


def _check_together(found: ExportRules, where: str) -> None:
    """Refuse an id that comes twice, and one that nothing has."""
    require_once((rule.id for rule in found.rules), where)
    known = {rule.id for rule in found.rules}
    named = [rule.superseded_by for rule in found.rules if rule.superseded_by is not None]
    for each in (*named, *(claim.rule for claim in found.refused)):
        if each not in known:
            raise InputError(message("beside.no_rule", id=each), where)
