"""Buy now or wait, and the watch list, in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.purchase import (
    DeferralAnalysis,
    DeferralVerdict,
    GapCostOrigin,
    NextPricePoint,
    RuleOpinion,
    TokenDemandOrigin,
)
from gpudesk.domain.reference_data import SignalStatus, ThresholdDirection, WatchSignal, WatchValue
from gpudesk.report.costs import MoneyFormatter, format_draw_share
from gpudesk.report.labels import format_date, format_months
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, join_unit
from gpudesk.text.messages import format_message, lower_for_sentence
from gpudesk.text.translation import LabeledEnum, tr, translate_data

#: Writes one end of a range.
ValueFormatter = Callable[[float], str]

_SPACE: Final = "\N{NO-BREAK SPACE}"
#: Notes on the origin of the next accelerator's date.
_DATED: Final = frozenset({"buying.no_next", "buying.shipping", "buying.planned", "buying.overdue", "buying.no_date"})
#: Notes on contradictions between documents and arithmetic, or among documents.
_AGAINST: Final = frozenset({"buying.computed_wait", "buying.computed_buy", "buying.rules_contradict"})

#: Notes on the origin of other inputs.
_INPUTS_WITH_ORIGIN: Final = frozenset(
    {"buying.rented_meanwhile", "buying.tokens_of_demand", "buying.tokens_of_deployment"}
)

_INPUTS: Final[Mapping[str, str]] = {
    "buy_part": "Buy now",
    "next_part": "Next accelerator",
    "months_to_launch": "Launch in",
    "months_to_next": "Next available in",
    "slip_low": "Slip, min",
    "slip_likely": "Slip, likely",
    "slip_high": "Slip, max",
    "years": "Service life",
    "usd_per_month": "Cost of delay per month",
    "tokens_per_month": "Output tokens per month",
}
_UNITS: Final[Mapping[str, str]] = {
    "months_to_launch": "months",
    "months_to_next": "months",
    "slip_low": "months",
    "slip_likely": "months",
    "slip_high": "months",
    "years": "years",
    "usd_per_month": "USD/month",
    "tokens_per_month": "M tokens",
}
_SLIP: Final = "default: up to two quarters, the cost of a late tape-out (AMD stack scorecard, 2024-02)"
_ORIGINS: Final[Mapping[str, str]] = {
    "buy_part": "the recommended accelerator, or the baseline",
    "next_part": "the newest announced accelerator, same vendor first",
    "slip_low": _SLIP,
    "slip_likely": _SLIP,
    "slip_high": _SLIP,
    "years": "from the cost inputs",
}


class RangeFigureRow(NamedTuple):
    """A figure with its ends as texts; empty for a certain number."""

    name: str
    low: str
    likely: str
    high: str
    unit: str


class FuturePriceRow(NamedTuple):
    """The saving by waiting at one price of the next accelerator, and the verdict."""

    price: str
    saved: str
    span: str
    verdict: str


# Inputs


def label_deferral_input(name: str) -> str:
    return tr(_INPUTS[name])


def get_deferral_unit(name: str, money: MoneyFormatter) -> str:
    """Return the displayed unit of an input; empty for accelerators."""
    return money.unit(tr(_UNITS[name])) if name in _UNITS else ""


def describe_deferral_origin(
    name: str, analysis: DeferralAnalysis, *, is_user_value: bool, names: Mapping[str, str]
) -> str:
    """Return the origin of an input's value; `is_user_value` is whether the user entered it."""
    if name == "months_to_launch":
        return tr("your answer") if is_user_value else tr("default")
    if is_user_value:
        return tr("entered by you")
    if name in _ORIGINS:
        return tr(_ORIGINS[name])
    if name == "months_to_next":
        return " ".join(f"{format_message(note)}." for note in analysis.notes if note.id in _DATED)
    return (
        _describe_gap_cost_origin(analysis, names)
        if name == "usd_per_month"
        else _describe_tokens_origin(analysis, names)
    )


def _describe_gap_cost_origin(analysis: DeferralAnalysis, names: Mapping[str, str]) -> str:
    monthly = analysis.monthly
    if monthly.without_origin is None or monthly.gap_rental is None:
        return tr("unknown: no compared accelerator has a rental price")
    name = names[monthly.gap_rental]
    if monthly.without_origin is GapCostOrigin.RIVAL_RENT:
        return tr("rent of {name} (also compared), including software", name=name)
    return tr("rent of {name} in the meantime, including software", name=name)


def _describe_tokens_origin(analysis: DeferralAnalysis, names: Mapping[str, str]) -> str:
    if analysis.tokens_origin is TokenDemandOrigin.DEMAND:
        return tr("average demand")
    if analysis.tokens_origin is TokenDemandOrigin.DEPLOYMENT:
        return tr("full output of {name} during its hours of use", name=names[analysis.chosen])
    return tr("unknown")


# Verdict


def format_deferral_verdict(analysis: DeferralAnalysis, names: Mapping[str, str]) -> str:
    chosen = names[analysis.chosen]
    following = None if analysis.next_part is None else names[analysis.next_part]
    if analysis.verdict is DeferralVerdict.BUY:
        return tr("Buy {name} now", name=chosen)
    if analysis.verdict is DeferralVerdict.WAIT:
        return tr("Wait for {name}", name=following) if following else tr("Do without {name}", name=chosen)
    if analysis.verdict is DeferralVerdict.EQUAL:
        verdict = tr("Same cost")
    else:
        verdict = tr("Undecided") if analysis.sums is None else tr("Too close to call")
    if following is None:
        return tr("{verdict}: buy {name} now, or do without it", verdict=verdict, name=chosen)
    return tr("{verdict}: buy {name} now, or wait for {other}", verdict=verdict, name=chosen, other=following)


def label_deferral_verdict(verdict: DeferralVerdict | None) -> str:
    """Return a verdict in a few words; None is left open by documents."""
    return tr("undecided") if verdict is None else verdict.label


def describe_document_verdict(analysis: DeferralAnalysis) -> str:
    strong = [rule for rule in analysis.rules if rule.strong and rule.verdict is not None]
    if analysis.document is None:
        if not strong:
            return tr("undecided")
        return tr("contradictory ({rules})", rules=_join_rules(strong))
    return tr("{verdict} ({rules})", verdict=label_deferral_verdict(analysis.document), rules=_join_rules(strong))


def _join_rules(rules: list[RuleOpinion]) -> str:
    return ", ".join(rule.rule for rule in rules)


def describe_computed_verdict(analysis: DeferralAnalysis, formatter: Formatter) -> str:
    verdict = label_deferral_verdict(analysis.computed)
    if analysis.computed is DeferralVerdict.OPEN and analysis.likely is not DeferralVerdict.OPEN:
        verdict = tr("most likely {verdict}", verdict=label_deferral_verdict(analysis.likely))
    if analysis.sums is None:
        if analysis.computed is not DeferralVerdict.OPEN:
            return tr("{verdict}, at any price of the next accelerator", verdict=verdict)
        return tr("{verdict}: a cost is unknown", verdict=verdict)
    share = format_draw_share(analysis.sums.wait_share, formatter)
    return tr("{verdict}; waiting saves money in {share} of simulations", verdict=verdict, share=share)


def describe_deferral_rule(opinion: RuleOpinion) -> str:
    return f"{format_message(opinion.text)}."


def describe_contradiction(analysis: DeferralAnalysis) -> str:
    """Return the contradictions between documents and arithmetic, or among documents; empty without any."""
    return " ".join(f"{format_message(note)}." for note in analysis.notes if note.id in _AGAINST)


def list_deferral_notes(analysis: DeferralAnalysis, formatter: Formatter) -> list[str]:
    """Return the assumptions and omissions of figures, except those shown with inputs and verdict."""
    covered_ids = _DATED | _AGAINST | _INPUTS_WITH_ORIGIN
    return [f"{format_message(note, formatter)}." for note in analysis.notes if note.id not in covered_ids]


def find_lacking_costs(analysis: DeferralAnalysis, accelerator_name: str) -> frozenset[str]:
    """Return the missing cost inputs of an accelerator: `price`, `power`, `rent`; named as in the catalog."""
    return frozenset(
        str(note.parameters["kind"]).removeprefix("lacks.")
        for note in analysis.notes
        if (note.id == "deciding.lacks") and note.parameters["accelerator"] == accelerator_name
    )


# Figures


def list_deferral_figures(
    analysis: DeferralAnalysis, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> list[RangeFigureRow]:
    """Return all known figures: months and monthly costs first, then the balance of waiting."""
    return [row for row in _list_known_figures(analysis, names, money, formatter) if row.likely != MISSING_VALUE_TEXT]


def _list_known_figures(
    analysis: DeferralAnalysis, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> Iterator[RangeFigureRow]:
    chosen, monthly, sums = names[analysis.chosen], analysis.monthly, analysis.sums
    following = "" if analysis.next_part is None else names[analysis.next_part]
    months, a_month = tr("months"), tr("{code}/month", code=money.code)
    if following:
        yield _scale_months(tr("{name} available in", name=following), analysis.delivery_months, months, formatter)
    yield _scale_months(tr("Delay after launch"), analysis.gap_months, months, formatter)
    yield _scale_usd(tr("Monthly cost on {name}", name=chosen), monthly.buy_usd, a_month, money)
    if following:
        yield _scale_usd(tr("Monthly cost on {name}", name=following), monthly.next_usd, a_month, money)
    yield _scale_usd(tr("Cost of delay per month"), monthly.without_usd, a_month, money)
    if sums is not None:
        yield _scale_usd(tr("Cost of the delay"), sums.gap_usd, money.code, money)
        yield _scale_usd(tr("Saved on {name} meanwhile", name=chosen), sums.avoided_usd, money.code, money)
        yield _scale_usd(tr("Cost of waiting"), sums.waiting_usd, money.code, money)
        yield _scale_usd(tr("Savings afterwards"), sums.gain_usd, money.code, money)
        yield _scale_usd(tr("Total saved by waiting"), sums.saved_usd, money.code, money)


def _scale_months(name: str, spread: UncertainValue | None, unit: str, formatter: Formatter) -> RangeFigureRow:
    return _build_figure_row(name, spread, unit, lambda value: formatter.number(value, 1))


def _scale_usd(name: str, spread: UncertainValue | None, unit: str, money: MoneyFormatter) -> RangeFigureRow:
    return _build_figure_row(name, spread, unit, money.rounded)


def _build_figure_row(name: str, spread: UncertainValue | None, unit: str, text: ValueFormatter) -> RangeFigureRow:
    if spread is None:
        return RangeFigureRow(name, "", MISSING_VALUE_TEXT, "", unit)
    if spread.is_known:
        return RangeFigureRow(name, "", text(spread.likely), "", unit)
    return RangeFigureRow(name, text(spread.low), text(spread.likely), text(spread.high), unit)


# Break-even values


def list_deferral_flips(
    analysis: DeferralAnalysis, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> list[tuple[str, str]]:
    """Return the values at which the verdict changes, everything else at its likely value."""
    turns, rows = analysis.turns, list[tuple[str, str]]()
    following = "" if analysis.next_part is None else names[analysis.next_part]
    months = (
        (tr("Delay after launch, at most"), turns.gap_months),
        (tr("{name} available in", name=following), turns.delivery_months),
        (tr("Release slips by"), turns.slip_months),
        (tr("Launch in"), turns.launch_months),
    )
    rows += [(name, format_months(value, formatter)) for name, value in months if value is not None]
    if turns.price_usd is not None:
        price = _format_range(turns.price_usd, money.rounded, money.code)
        rows.append((tr("Price per {name}", name=following), price))
    if turns.usd_per_million is not None:
        cost = _format_range(turns.usd_per_million, money.small, tr("{code}/M tokens", code=money.code))
        rows.append((tr("Cost per million output tokens"), cost))
    return rows


def _format_range(spread: UncertainValue, text: ValueFormatter, unit: str) -> str:
    likely = _format_end(spread.likely, text)
    if spread.is_known:
        return join_unit(likely, unit)
    return join_unit(
        f"{likely} ({_format_end(spread.low, text)}{_SPACE}–{_SPACE}{_format_end(spread.high, text)})", unit
    )


def _format_end(value: float, text: ValueFormatter) -> str:
    return text(value) if math.isfinite(value) else tr("no limit")


def list_future_price_rows(analysis: DeferralAnalysis, money: MoneyFormatter) -> list[FuturePriceRow]:
    return [_make_price_row(point, money) for point in analysis.prices]


def _make_price_row(point: NextPricePoint, money: MoneyFormatter) -> FuturePriceRow:
    saved = point.saved_usd
    span = f"{money.whole(saved.low)}{_SPACE}–{_SPACE}{money.whole(saved.high)}"
    return FuturePriceRow(
        money.whole(point.price_usd), money.whole(saved.likely), span, label_deferral_verdict(point.verdict)
    )


def describe_release_slip(analysis: DeferralAnalysis, names: Mapping[str, str], formatter: Formatter) -> str:
    if analysis.sums is None or analysis.next_part is None:
        return ""
    name = names[analysis.next_part]
    turn = analysis.turns.slip_months
    if turn is not None:
        return tr(
            "Waiting for {name} pays off if it slips by at most {months}.",
            months=format_months(turn, formatter),
            name=name,
        )
    if analysis.likely is DeferralVerdict.WAIT:
        return tr("Waiting for {name} pays off at any delay.", name=name)
    return tr("Waiting for {name} costs more than it saves, even if {name} is on time.", name=name)


class SignalState(LabeledEnum):
    """The state of a signal."""

    PASSED = "passed", "passed"
    NOT = "not passed", "not passed"
    UNKNOWN = "not known", "unknown"


def find_signal_state(watched: SignalStatus) -> SignalState:
    if watched.passed is None:
        return SignalState.UNKNOWN
    return SignalState.PASSED if watched.passed else SignalState.NOT


def format_threshold(signal: WatchSignal, formatter: Formatter) -> str:
    """Return the threshold of a signal, `below 12%`."""
    limit = signal.threshold
    if limit is None:
        return tr("yes")
    value = join_unit(formatter.exact(limit.value), limit.unit)
    return (
        tr("below {value}", value=value)
        if limit.direction is ThresholdDirection.BELOW
        else tr("above {value}", value=value)
    )


def format_signal_value(signal: WatchSignal, value: WatchValue | None, formatter: Formatter) -> str:
    """Return a value of a signal with its unit."""
    if value is None:
        return MISSING_VALUE_TEXT
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    text = formatter.exact(float(value))
    return text if signal.threshold is None else join_unit(text, signal.threshold.unit)


def describe_known_value(watched: SignalStatus, source: str, formatter: Formatter) -> str:
    """Return the current value with its date and source: the user's source, or `source`."""
    signal_value, source = watched.note or watched.known, translate_data(source)
    if signal_value is None:
        return tr("no value")
    value = format_signal_value(watched.signal, signal_value.value, formatter)
    if watched.note is not None:
        return tr(
            "{value}, {date} (yours: {source})",
            value=value,
            date=format_date(signal_value.date),
            source=watched.note.source,
        )
    return tr(
        "{value}, {date} ({source})", value=value, date=format_date(signal_value.date), source=translate_data(source)
    )


def describe_recorded_value(watched: SignalStatus, source: str, formatter: Formatter) -> str:
    """Return the recorded value that the user's note replaces; empty without a note."""
    recorded = watched.known
    if watched.note is None or recorded is None:
        return ""
    value = format_signal_value(watched.signal, recorded.value, formatter)
    return tr(
        "catalog: {value}, {date} ({source})",
        value=value,
        date=format_date(recorded.date),
        source=translate_data(source),
    )


def describe_signal_note(watched: SignalStatus) -> str:
    if watched.note is not None:
        return watched.note.note or ""
    return "" if watched.known is None else translate_data(watched.known.about)


def describe_signal_distance(watched: SignalStatus, formatter: Formatter) -> str:
    """Return the distance of a signal to its threshold; empty once past it, and without a number."""
    if watched.missing is None or watched.passed or watched.signal.threshold is None:
        return ""
    missing = join_unit(formatter.exact(round(watched.missing, 9)), watched.signal.threshold.unit)
    return tr("{missing} to go", missing=missing)


def describe_signal_effect(watched: SignalStatus) -> str:
    """Return the consequences of a signal now, and after passing."""
    signal = watched.signal
    if watched.passed:
        return translate_data(signal.if_passed)
    change = tr("If passed: {change}", change=lower_for_sentence(translate_data(signal.if_passed)))
    return change if watched.passed is None else f"{translate_data(signal.if_not)} {change}"


def describe_idle_note(watched: SignalStatus) -> str:
    """Return that a note of the user has no effect; empty if it has."""
    note = watched.idle
    if note is None:
        return ""
    return tr("Your note of {date} is ignored, because it no longer matches this signal.", date=format_date(note.date))


def describe_signal(watched: SignalStatus, source: str, formatter: Formatter) -> str:
    value_text = describe_known_value(watched, source, formatter)
    parts = (
        tr("{title}: {state}", title=translate_data(watched.signal.title), state=find_signal_state(watched).label),
        tr("threshold {threshold}", threshold=format_threshold(watched.signal, formatter)),
        value_text,
        describe_signal_distance(watched, formatter),
    )
    return tr(
        "{facts}. {changes}", facts="; ".join(part for part in parts if part), changes=describe_signal_effect(watched)
    )
