"""The inputs of the plans that stand beside a recommendation: what each may be, and what holds without it.

What a user says of them is kept in the document by name (`DecisionSettings.plans`); the months to the launch
are an answer of the dialogue. Whatever is wrong is told as `decision.plans.NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, cast

from gpudesk.domain.buying import MOST_MONTHS, NEWEST, USUAL_SLIP, WaitQuestion
from gpudesk.domain.comparison import column_keys
from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.demand import Bounds
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.precision import Precision
from gpudesk.domain.questions import AnswerValue
from gpudesk.domain.ranges import Range
from gpudesk.domain.routing import USUAL_LONG_SHARE, RequestKind, RequestMix
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.fields import Check, number, text, unknown_field, whole, word

#: Where inputs stand in a document.
WHERE: Final = "decision.plans"
#: As a next part: there is none to wait for.
NO_PART: Final = "none"
#: Taken where nobody said when the service starts: between the months that documents' rules decide.
ASSUMED_LAUNCH: Final = 9.0
_LAUNCH: Final = "months_to_launch"
_ENDS: Final = ("slip_low", "slip_likely", "slip_high")


class Plan(StrEnum):
    """What an input belongs to."""

    WAITING = "waiting"
    ROUTING = "routing"
    PURCHASE = "purchase"


class InputFrom(StrEnum):
    """Where the value of an input comes from as long as the user does not say it among those of plans."""

    DIALOGUE = "dialogue"
    RECOMMENDED = "recommended"
    COLUMNS = "columns"
    CATALOG = "catalog"
    DOCUMENT = "document"
    COSTS = "costs"
    SCENARIO = "scenario"
    WORKED_OUT = "worked out"
    ASSUMED = "assumed"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class PlanInput:
    """One input: a number within `bounds` in `unit`, one of `words`, or an id where there is neither.

    `default` holds where it is not said; None where it is found as `comes_from` says. `unit` is None for ids,
    shares of 1 and plain numbers.
    """

    name: str
    plan: Plan
    comes_from: InputFrom
    bounds: Bounds | None = None
    unit: str | None = None
    whole: bool = False
    words: tuple[str, ...] = ()
    default: AnswerValue | None = None

    @property
    def check(self) -> Check:
        """What takes place and value as they were given and returns the value; raises `InputError`."""
        if self.words:
            return word({each: each for each in self.words})
        if self.bounds is None:
            return text()
        low, high, above = self.bounds
        return whole(int(low), int(high)) if self.whole else number(low, high, above=above)


_MONTHS: Final = Bounds(0.0, MOST_MONTHS)
_TOKENS: Final = Bounds(1.0, 1e8)


def _waiting(
    name: str,
    comes_from: InputFrom,
    bounds: Bounds | None = None,
    unit: str | None = None,
    default: AnswerValue | None = None,
) -> PlanInput:
    return PlanInput(name, Plan.WAITING, comes_from, bounds, unit, default=default)


_ALL: Final = (
    _waiting("buy_part", InputFrom.RECOMMENDED),
    _waiting("next_part", InputFrom.CATALOG, default=NEWEST),
    _waiting("months_to_next", InputFrom.CATALOG, _MONTHS, "months"),
    _waiting("slip_low", InputFrom.DOCUMENT, _MONTHS, "months", USUAL_SLIP.low),
    _waiting("slip_likely", InputFrom.DOCUMENT, _MONTHS, "months", USUAL_SLIP.likely),
    _waiting("slip_high", InputFrom.DOCUMENT, _MONTHS, "months", USUAL_SLIP.high),
    _waiting("years", InputFrom.COSTS, INPUTS["years"].bounds, "years"),
    _waiting("usd_per_month", InputFrom.WORKED_OUT, Bounds(0.0, 1e12), "USD/month"),
    _waiting("tokens_per_month", InputFrom.WORKED_OUT, Bounds(0.0, 1e18, above=True), "tokens/month"),
    PlanInput("vendor_a", Plan.ROUTING, InputFrom.COLUMNS),
    PlanInput("vendor_b", Plan.ROUTING, InputFrom.COLUMNS),
    PlanInput("long_share", Plan.ROUTING, InputFrom.ASSUMED, Bounds(0.0, 1.0), default=USUAL_LONG_SHARE),
    PlanInput("long_input_tokens", Plan.ROUTING, InputFrom.WORKED_OUT, _TOKENS, "tokens", whole=True),
    PlanInput("long_output_tokens", Plan.ROUTING, InputFrom.SCENARIO, _TOKENS, "tokens", whole=True),
    PlanInput(
        "requests_per_s", Plan.ROUTING, InputFrom.SCENARIO, Bounds(0.0, 1e12, above=True), "requests/s"
    ),
    PlanInput("other_model", Plan.ROUTING, InputFrom.SCENARIO),
    PlanInput(
        "other_model_kind",
        Plan.ROUTING,
        InputFrom.ASSUMED,
        words=tuple(kind.value for kind in RequestKind),
        default=RequestKind.LONG.value,
    ),
    PlanInput(
        "other_model_weights",
        Plan.ROUTING,
        InputFrom.SCENARIO,
        words=tuple(each.value for each in Precision),
    ),
    PlanInput("competing_quote", Plan.PURCHASE, InputFrom.NOWHERE, words=("yes", "no")),
    PlanInput("destination_name", Plan.PURCHASE, InputFrom.NOWHERE),
    PlanInput("storage_gb_s", Plan.PURCHASE, InputFrom.NOWHERE, Bounds(0.0, 1e6, above=True), "GB/s"),
)
#: All inputs by name, in the order of forms.
PLAN_INPUTS: Final[Mapping[str, PlanInput]] = MappingProxyType({each.name: each for each in _ALL})
_CHECKS: Final[Mapping[str, Check]] = {name: each.check for name, each in PLAN_INPUTS.items()}


def parse_plan(name: str, value: object) -> AnswerValue:
    """Return a value as that of an input; raises `InputError` for an unknown input and a wrong value."""
    if name not in PLAN_INPUTS:
        raise unknown_field(WHERE, name, PLAN_INPUTS)
    return cast("AnswerValue", _CHECKS[name](f"{WHERE}.{name}", value))


def parse_plans(stated: Mapping[str, object]) -> dict[str, AnswerValue]:
    """Return what a document says of inputs; what says nothing is left out. Raises `InputError`."""
    found = {name: parse_plan(name, value) for name, value in stated.items() if value is not None}
    slip_of(found)
    return found


# Buying now or waiting


def wait_question(scenario: Scenario, *, today: str, tuned_for_next: bool = False) -> WaitQuestion:
    """Return what a scenario asks of buying now or waiting; raises `InputError` for what cannot be.

    `today` is an ISO day.
    """
    plans = scenario.decision.plans
    following = _text(plans, "next_part")
    return WaitQuestion(
        months_to_launch=launch_of(scenario)[0],
        next_part=None if following == NO_PART else following or NEWEST,
        months_to_next=_exactly(plans, "months_to_next"),
        slip_months=slip_of(plans),
        years=_number(plans, "years"),
        usd_per_month=_exactly(plans, "usd_per_month"),
        tokens_per_month=_number(plans, "tokens_per_month"),
        tuned_for_next=tuned_for_next,
        today=today,
    )


def launch_of(scenario: Scenario) -> tuple[float, InputFrom]:
    """Return the months to the launch, and whether they are said in the dialogue or assumed."""
    said = scenario.decision.answers.get(_LAUNCH)
    if isinstance(said, str) or said is None:
        return ASSUMED_LAUNCH, InputFrom.ASSUMED
    return float(said), InputFrom.DIALOGUE


def slip_of(plans: Mapping[str, AnswerValue]) -> Range | None:
    """Return by how many months the next part may be late; None where nothing is said of it.

    Of what is not said the usual slip holds, as far as it goes with the rest. Raises `InputError` for ends
    that are not in order.
    """
    low, likely, high = (_number(plans, name) for name in _ENDS)
    if low is None and likely is None and high is None:
        return None
    if likely is None:
        likely = max(USUAL_SLIP.likely, low or 0.0)
        likely = likely if high is None else min(likely, high)
    found = Range(
        min(USUAL_SLIP.low, likely) if low is None else low,
        likely,
        max(USUAL_SLIP.high, likely) if high is None else high,
    )
    if not found.in_order:
        raise InputError(message("costs.range"), f"{WHERE}.slip_likely")
    return found


def bought_position(scenario: Scenario, recommended: str | None = None) -> int:
    """Return the column whose part would be bought: the one said, else the recommended one, else the first.

    `recommended` is the key of a column. Columns that are not compared any more are passed over.
    """
    named = position_of(scenario, "buy_part")
    if named is not None:
        return named
    keys = column_keys(scenario.accelerators)
    return keys.index(recommended) if recommended in keys else 0


# Two parts


def request_mix(scenario: Scenario) -> tuple[RequestMix, float | None]:
    """Return the requests of a scenario, and how many a second are stated; raises `InputError`."""
    plans = scenario.decision.plans
    model, weights = _text(plans, "other_model"), _text(plans, "other_model_weights")
    share = _number(plans, "long_share")
    lengths = [_number(plans, name) for name in ("long_input_tokens", "long_output_tokens")]
    mix = RequestMix(
        long_share=USUAL_LONG_SHARE if share is None else share,
        long_input_tokens=None if lengths[0] is None else int(lengths[0]),
        long_output_tokens=None if lengths[1] is None else int(lengths[1]),
        model=model,
        model_kind=RequestKind(_text(plans, "other_model_kind") or RequestKind.LONG),
        weights=None if weights is None or model is None else Precision(weights),
    )
    return mix, _number(plans, "requests_per_s")


def split_positions(scenario: Scenario, vendor_of: Callable[[str], str]) -> tuple[int, int]:
    """Return the two columns whose parts share the requests: those said, else two of different vendors.

    `vendor_of` returns the vendor of an accelerator by its id. The first of both is the first column that the
    other one leaves, and the second the first of another vendor, or else of another part. Raises `InputError`
    where there are no two parts.
    """
    parts = [choice.accelerator for choice in scenario.accelerators]
    if len(set(parts)) < len(("A", "B")):
        raise InputError(message("plans.one_part"), f"{WHERE}.vendor_b")
    first, second = (position_of(scenario, name) for name in ("vendor_a", "vendor_b"))
    if first is None and second is not None:
        return _beside(parts, second, vendor_of), second
    first = first or 0
    return first, _beside(parts, first, vendor_of) if second is None else second


def _beside(parts: list[str], place: int, vendor_of: Callable[[str], str]) -> int:
    """Return the first column of another vendor than one, or else of another part."""
    others = [number for number, part in enumerate(parts) if part != parts[place]]
    foreign = (number for number in others if vendor_of(parts[number]) != vendor_of(parts[place]))
    return next(foreign, others[0])


def position_of(scenario: Scenario, name: str) -> int | None:
    """Return the column that an input names by its key; None without one, and where it is not compared."""
    key = _text(scenario.decision.plans, name)
    keys = column_keys(scenario.accelerators)
    return keys.index(key) if key in keys else None


def gone(scenario: Scenario, name: str) -> str | None:
    """Return the key of the column that an input names although it is not compared; None where it is."""
    key = _text(scenario.decision.plans, name)
    return None if key in column_keys(scenario.accelerators) else key


# Reading them


def _text(plans: Mapping[str, AnswerValue], name: str) -> str | None:
    return str(parse_plan(name, plans[name])) if name in plans else None


def _number(plans: Mapping[str, AnswerValue], name: str) -> float | None:
    return float(parse_plan(name, plans[name])) if name in plans else None


def _exactly(plans: Mapping[str, AnswerValue], name: str) -> Range | None:
    value = _number(plans, name)
    return None if value is None else Range.exactly(value)
