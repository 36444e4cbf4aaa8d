"""Buying now or waiting in words that screen, paper and command line share.

`names` are what accelerators are called, by their ids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.buying import BuyOrWait, MonthOrigin, PricePoint, RuleSays, TokenOrigin, Verdict
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.messages import Message
from gpudesk.domain.ranges import Range
from gpudesk.sentences import sentence
from gpudesk.sheets.cost_words import draws_text
from gpudesk.sheets.money import Money
from gpudesk.text import tr, trn

#: Writes one end of a range.
Text = Callable[[float], str]

_SPACE: Final = "\N{NO-BREAK SPACE}"
#: Notes that say where the date of the next part comes from.
_DATED: Final = frozenset(
    {"buying.no_next", "buying.shipping", "buying.planned", "buying.overdue", "buying.no_date"}
)
#: Notes that set documents and arithmetic, or documents among themselves, against each other.
_AGAINST: Final = frozenset({"buying.computed_wait", "buying.computed_buy", "buying.rules_contradict"})

#: Notes that say where other inputs come from.
_ORIGINS_SAID: Final = frozenset(
    {"buying.rented_meanwhile", "buying.tokens_of_demand", "buying.tokens_of_deployment"}
)

_INPUTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "buy_part": "Part to buy now",
        "next_part": "Next part",
        "months_to_launch": "Launch in",
        "months_to_next": "Next part in",
        "slip_low": "Slip, at least",
        "slip_likely": "Slip, likely",
        "slip_high": "Slip, at most",
        "years": "Used for",
        "usd_per_month": "A month without it is worth",
        "tokens_per_month": "Output tokens of a month",
    }
)
_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "months_to_launch": "months",
        "months_to_next": "months",
        "slip_low": "months",
        "slip_likely": "months",
        "slip_high": "months",
        "years": "years",
        "usd_per_month": "USD/month",
        "tokens_per_month": "M tokens",
    }
)
_SLIP: Final = "not stated: up to two quarters, as a late tape-out costs by the scorecard of 2024-02"
_ORIGINS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "buy_part": "as recommended, else the baseline",
        "next_part": "the newest announced one, of the same vendor if there is one",
        "slip_low": _SLIP,
        "slip_likely": _SLIP,
        "slip_high": _SLIP,
        "years": "as in the inputs of costs",
    }
)
_VERDICTS: Final[Mapping[Verdict, str]] = MappingProxyType(
    {
        Verdict.BUY: "buy now",
        Verdict.WAIT: "wait",
        Verdict.EQUAL: "costs the same",
        Verdict.OPEN: "cannot be told",
    }
)


class RangeRow(NamedTuple):
    """A figure with its ends as texts; those of a number that is known are empty."""

    name: str
    low: str
    likely: str
    high: str
    unit: str


class PriceRow(NamedTuple):
    """What waiting saves at one price of the next part, and what that says."""

    price: str
    saved: str
    span: str
    verdict: str


# Inputs


def waiting_label(name: str) -> str:
    """Return what an input is called."""
    return tr(_INPUTS[name])


def waiting_unit(name: str, money: Money) -> str:
    """Return the unit that an input is shown in; empty for parts."""
    return money.unit(tr(_UNITS[name])) if name in _UNITS else ""


def waiting_origin(name: str, found: BuyOrWait, *, stated: bool, names: Mapping[str, str]) -> str:
    """Return where the value of an input comes from; `stated` is whether the user said it."""
    if name == "months_to_launch":
        return tr("said in the dialogue") if stated else tr("assumed, where documents leave it open")
    if stated:
        return tr("stated by you")
    if name in _ORIGINS:
        return tr(_ORIGINS[name])
    if name == "months_to_next":
        return " ".join(f"{sentence(note)}." for note in found.notes if note.id in _DATED)
    return _without_origin(found, names) if name == "usd_per_month" else _tokens_origin(found, names)


def _without_origin(found: BuyOrWait, names: Mapping[str, str]) -> str:
    monthly = found.monthly
    if monthly.without_origin is None or monthly.stopgap is None:
        return tr("not known: no accelerator compared has a rent")
    name = names[monthly.stopgap]
    if monthly.without_origin is MonthOrigin.RIVAL_RENT:
        return tr("what renting {name}, which is compared too, costs with its software", name=name)
    return tr("what renting {name} meanwhile costs with its software", name=name)


def _tokens_origin(found: BuyOrWait, names: Mapping[str, str]) -> str:
    if found.tokens_origin is TokenOrigin.DEMAND:
        return tr("the demand, on average")
    if found.tokens_origin is TokenOrigin.DEPLOYMENT:
        return tr("all that {name} works out in its hours of use", name=names[found.chosen])
    return tr("not known")


# Verdict


def waiting_title(found: BuyOrWait, names: Mapping[str, str]) -> str:
    """Return what to do, without a full stop."""
    chosen = names[found.chosen]
    following = None if found.next_part is None else names[found.next_part]
    if found.verdict is Verdict.BUY:
        return tr("Buy {name} now", name=chosen)
    if found.verdict is Verdict.WAIT:
        return tr("Wait for {name}", name=following) if following else tr("Do without {name}", name=chosen)
    other = tr("wait for {name}", name=following) if following else tr("do without")
    if found.verdict is Verdict.EQUAL:
        return tr("Buy {name} now or {other}: it costs the same", name=chosen, other=other)
    return tr("Buy {name} now or {other}: it cannot be told", name=chosen, other=other)


def verdict_text(verdict: Verdict | None) -> str:
    """Return a verdict in a few words; None is what documents leave open."""
    return tr("leave it open") if verdict is None else tr(_VERDICTS[verdict])


def document_text(found: BuyOrWait) -> str:
    """Return what documents say, with the rules that decide it."""
    strong = [rule for rule in found.rules if rule.strong and rule.verdict is not None]
    if found.document is None:
        if not strong:
            return tr("leave it open")
        return tr("contradict each other ({rules})", rules=_rules(strong))
    return tr("{verdict} ({rules})", verdict=verdict_text(found.document), rules=_rules(strong))


def _rules(rules: list[RuleSays]) -> str:
    return ", ".join(rule.rule for rule in rules)


def computed_text(found: BuyOrWait, formatter: Formatter) -> str:
    """Return what the arithmetic says, and in how many draws."""
    said = verdict_text(found.computed)
    if found.computed is Verdict.OPEN and found.likely is not Verdict.OPEN:
        said = tr("most likely {verdict}", verdict=verdict_text(found.likely))
    if found.sums is None:
        if found.computed is not Verdict.OPEN:
            return tr("{verdict}, whatever the next part costs", verdict=said)
        return tr("{verdict}, since a cost is not known", verdict=said)
    share = draws_text(found.sums.wait_share, formatter)
    return tr("{verdict}; waiting saves in {share} of draws", verdict=said, share=share)


def rule_text(said: RuleSays) -> str:
    """Return what one rule says to the question, as a sentence."""
    return f"{sentence(said.said)}."


def against_text(found: BuyOrWait) -> str:
    """Return where documents and arithmetic, or documents among themselves, contradict; empty where not."""
    return " ".join(f"{sentence(note)}." for note in found.notes if note.id in _AGAINST)


def waiting_notes(found: BuyOrWait, formatter: Formatter) -> list[str]:
    """Return what figures rest on and lack, but for what inputs and verdict say themselves."""
    told = _DATED | _AGAINST | _ORIGINS_SAID
    return [f"{sentence(note, formatter)}." for note in found.notes if note.id not in told]


def lacking_of(found: BuyOrWait, accelerator_name: str) -> frozenset[str]:
    """Return what costs of an accelerator lack: `price`, `power`, `rent`; it is named as in the catalog."""
    return frozenset(
        str(note.parameters["kind"]).removeprefix("lacks.")
        for note in found.notes
        if _lacks(note) and note.parameters["accelerator"] == accelerator_name
    )


def _lacks(note: Message) -> bool:
    return note.id == "deciding.lacks"


# Figures


def waiting_figures(
    found: BuyOrWait, names: Mapping[str, str], money: Money, formatter: Formatter
) -> list[RangeRow]:
    """Return all figures that are known, months and months' costs first, and what waiting comes to."""
    return [row for row in _figures(found, names, money, formatter) if row.likely != UNKNOWN]


def _figures(
    found: BuyOrWait, names: Mapping[str, str], money: Money, formatter: Formatter
) -> Iterator[RangeRow]:
    chosen, monthly, sums = names[found.chosen], found.monthly, found.sums
    following = "" if found.next_part is None else names[found.next_part]
    months, a_month = tr("months"), tr("{code}/month", code=money.code)
    if following:
        yield _months(tr("{name} can be had in", name=following), found.delivery_months, months, formatter)
    yield _months(tr("Months without either"), found.gap_months, months, formatter)
    yield _usd(tr("A month on {name}", name=chosen), monthly.buy_usd, a_month, money)
    if following:
        yield _usd(tr("A month on {name}", name=following), monthly.next_usd, a_month, money)
    yield _usd(tr("A month without either"), monthly.without_usd, a_month, money)
    if sums is not None:
        yield _usd(tr("Paid or lost before it is there"), sums.gap_usd, money.code, money)
        yield _usd(tr("Not spent on {name} meanwhile", name=chosen), sums.avoided_usd, money.code, money)
        yield _usd(tr("Cost of waiting"), sums.waiting_usd, money.code, money)
        yield _usd(tr("Gain in the months after"), sums.gain_usd, money.code, money)
        yield _usd(tr("Saved by waiting, in all"), sums.saved_usd, money.code, money)


def _months(name: str, spread: Range | None, unit: str, formatter: Formatter) -> RangeRow:
    return _row(name, spread, unit, lambda value: months_number(value, formatter))


def _usd(name: str, spread: Range | None, unit: str, money: Money) -> RangeRow:
    return _row(name, spread, unit, money.whole)


def _row(name: str, spread: Range | None, unit: str, text: Text) -> RangeRow:
    if spread is None:
        return RangeRow(name, "", UNKNOWN, "", unit)
    if spread.is_known:
        return RangeRow(name, "", text(spread.likely), "", unit)
    return RangeRow(name, text(spread.low), text(spread.likely), text(spread.high), unit)


def months_number(months: float, formatter: Formatter) -> str:
    """Return a number of months with one decimal."""
    return formatter.number(months, 1)


def months_text(months: float, formatter: Formatter) -> str:
    """Return a number of months with its unit."""
    rounded = round(months, 1)
    text = formatter.stated(rounded)
    return trn("{n} month", "{n} months", 1, n=text) if rounded == 1.0 else tr("{n} months", n=text)


# Where it turns


def waiting_turns(
    found: BuyOrWait, names: Mapping[str, str], money: Money, formatter: Formatter
) -> list[tuple[str, str]]:
    """Return what would turn the verdict, everything else as it most likely is: what, and at which value."""
    turns, rows = found.turns, list[tuple[str, str]]()
    following = "" if found.next_part is None else names[found.next_part]
    months = (
        (tr("Months without either, at most"), turns.gap_months),
        (tr("{name} is there in", name=following), turns.delivery_months),
        (tr("It slips by"), turns.slip_months),
        (tr("The launch is in"), turns.launch_months),
    )
    rows += [(name, months_text(value, formatter)) for name, value in months if value is not None]
    if turns.price_usd is not None:
        price = _span(turns.price_usd, money.whole, money.code)
        rows.append((tr("{name} costs, each", name=following), price))
    if turns.usd_per_million is not None:
        cost = _span(turns.usd_per_million, money.small, tr("{code}/M tokens", code=money.code))
        rows.append((tr("Its million output tokens cost"), cost))
    return rows


def _span(spread: Range, text: Text, unit: str) -> str:
    likely = _end(spread.likely, text)
    if spread.is_known:
        return f"{likely}{_SPACE}{unit}"
    return f"{likely} ({_end(spread.low, text)}{_SPACE}–{_SPACE}{_end(spread.high, text)}){_SPACE}{unit}"


def _end(value: float, text: Text) -> str:
    return text(value) if math.isfinite(value) else tr("no limit")


def price_rows(found: BuyOrWait, money: Money) -> list[PriceRow]:
    """Return what waiting saves at several prices of the next part."""
    return [_price_row(point, money) for point in found.prices]


def _price_row(point: PricePoint, money: Money) -> PriceRow:
    saved = point.saved_usd
    span = f"{money.whole(saved.low)}{_SPACE}–{_SPACE}{money.whole(saved.high)}"
    return PriceRow(
        money.whole(point.price_usd), money.whole(saved.likely), span, verdict_text(point.verdict)
    )


def slip_summary(found: BuyOrWait, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return from which slip on waiting costs more than it gains."""
    if found.sums is None or found.next_part is None:
        return ""
    name = names[found.next_part]
    turn = found.turns.slip_months
    if turn is not None:
        return tr(
            "Waiting pays up to a slip of {months} of {name}, and costs more than it gains beyond it.",
            months=months_text(turn, formatter),
            name=name,
        )
    if found.likely is Verdict.WAIT:
        return tr("Waiting for {name} pays however late it is.", name=name)
    return tr("Waiting for {name} costs more than it gains, even if it is not late.", name=name)
