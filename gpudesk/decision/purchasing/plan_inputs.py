"""The inputs of purchasing plans: their bounds and defaults.

Values of the user are kept in the document by name (`DecisionSettings.plans`); the months to the launch are an answer
of the dialogue. Errors name the place as `decision.plans.NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from gpudesk.domain.answer import Scenario, make_column_keys
from gpudesk.domain.cost import COST_INPUTS, WRONG_RANGE, UncertainValue
from gpudesk.domain.decision import AnswerValue
from gpudesk.domain.field_checks import FieldCheck, accept_text, accept_word, check_fields, make_unknown_field_error
from gpudesk.domain.precision import Precision
from gpudesk.domain.purchase import DEFAULT_SLIP_MONTHS, MAX_MONTHS, NEWEST_ACCELERATOR, DeferralQuestion
from gpudesk.domain.routing import DEFAULT_LONG_SHARE, RequestKind, RequestMix
from gpudesk.domain.sizing import NumberBounds
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, input_error

#: Place of the inputs in a document.
WHERE: Final = "decision.plans"
#: As a next accelerator: there is none to wait for.
NO_PART: Final = "none"
#: Default start of the service, in months: between the months at which rules of the documents decide.
ASSUMED_LAUNCH: Final = 9.0
_LAUNCH: Final = "months_to_launch"
_ENDS: Final = ("slip_low", "slip_likely", "slip_high")


@frozen_dataclass
class PlanInput:
    """One input: a number within `bounds`, one of `words`, or text without either.

    `default` applies if unset; None if it is derived.
    """

    bounds: NumberBounds | None = None
    whole: bool = False
    words: tuple[str, ...] = ()
    default: AnswerValue | None = None

    @property
    def check(self) -> FieldCheck:
        """Check a value, given with its place; raises `InputError`."""
        if self.words:
            return accept_word({each: each for each in self.words})
        if self.bounds is None:
            return accept_text()
        return self.bounds.make_check(whole=self.whole)


_MONTHS: Final = NumberBounds(0.0, MAX_MONTHS)
_TOKENS: Final = NumberBounds(1.0, 1e8)


#: All inputs by name.
PLAN_INPUTS: Final[Mapping[str, PlanInput]] = {
    "buy_part": PlanInput(),
    "next_part": PlanInput(default=NEWEST_ACCELERATOR),
    "months_to_next": PlanInput(_MONTHS),
    "slip_low": PlanInput(_MONTHS, default=DEFAULT_SLIP_MONTHS.low),
    "slip_likely": PlanInput(_MONTHS, default=DEFAULT_SLIP_MONTHS.likely),
    "slip_high": PlanInput(_MONTHS, default=DEFAULT_SLIP_MONTHS.high),
    "years": PlanInput(COST_INPUTS["years"].bounds),
    "usd_per_month": PlanInput(NumberBounds(0.0, 1e12)),
    "tokens_per_month": PlanInput(NumberBounds(0.0, 1e18, above=True)),
    "vendor_a": PlanInput(),
    "vendor_b": PlanInput(),
    "long_share": PlanInput(NumberBounds(0.0, 1.0), default=DEFAULT_LONG_SHARE),
    "long_input_tokens": PlanInput(_TOKENS, whole=True),
    "long_output_tokens": PlanInput(_TOKENS, whole=True),
    "requests_per_s": PlanInput(NumberBounds(0.0, 1e12, above=True)),
    "other_model": PlanInput(),
    "other_model_kind": PlanInput(words=tuple(kind.value for kind in RequestKind), default=RequestKind.LONG.value),
    "other_model_weights": PlanInput(words=tuple(each.value for each in Precision)),
    "competing_quote": PlanInput(words=("yes", "no")),
    "destination_name": PlanInput(),
    "storage_gb_s": PlanInput(NumberBounds(0.0, 1e6, above=True)),
}
_CHECKS: Final[Mapping[str, FieldCheck]] = {name: each.check for name, each in PLAN_INPUTS.items()}


def parse_plan(name: str, value: object) -> AnswerValue:
    """Return a value as that of an input; raises `InputError` for an unknown input and a wrong value."""
    if name not in PLAN_INPUTS:
        raise make_unknown_field_error(WHERE, name, PLAN_INPUTS)
    return cast("AnswerValue", _CHECKS[name](f"{WHERE}.{name}", value))


def parse_plans(where: str, values: object) -> dict[str, AnswerValue]:
    """Return the inputs of a document; empty ones are left out. Raises `InputError`."""
    plans = check_fields(where, values, _CHECKS)
    get_slip(plans)
    return plans


# Buying now or waiting


def make_wait_question(scenario: Scenario, *, today: str, tuned_for_next: bool = False) -> DeferralQuestion:
    """Return the question of a scenario on buying now or waiting; raises `InputError` if it is invalid.

    `today` is an ISO day.
    """
    plans = scenario.decision.plans
    following = _get_text(plans, "next_part")
    return DeferralQuestion(
        months_to_launch=get_launch_months(scenario)[0],
        next_part=None if following == NO_PART else following or NEWEST_ACCELERATOR,
        months_to_next=_get_exact_range(plans, "months_to_next"),
        slip_months=get_slip(plans),
        years=_get_number(plans, "years"),
        usd_per_month=_get_exact_range(plans, "usd_per_month"),
        tokens_per_month=_get_number(plans, "tokens_per_month"),
        tuned_for_next=tuned_for_next,
        today=today,
    )


def get_launch_months(scenario: Scenario) -> tuple[float, bool]:
    """Return the months to the launch, and whether the user answered them: else from the fleet, or a default."""
    launch_answer = scenario.decision.answers.get(_LAUNCH)
    if launch_answer is None and (months := scenario.fleet.months_to_live) is not None:
        return months, False
    if isinstance(launch_answer, str) or launch_answer is None:
        return ASSUMED_LAUNCH, False
    return float(launch_answer), True


def get_slip(plans: Mapping[str, AnswerValue]) -> UncertainValue | None:
    """Return the possible delay of the next accelerator in months; None without a statement.

    An unstated end has its default, as far as consistent with the other. Raises `InputError` for ends that are not in
    order.
    """
    low, likely, high = (_get_number(plans, name) for name in _ENDS)
    if low is None and likely is None and high is None:
        return None
    if likely is None:
        likely = max(DEFAULT_SLIP_MONTHS.likely, low or 0.0)
        likely = likely if high is None else min(likely, high)
    slip = UncertainValue(
        min(DEFAULT_SLIP_MONTHS.low, likely) if low is None else low,
        likely,
        max(DEFAULT_SLIP_MONTHS.high, likely) if high is None else high,
    )
    if not slip.in_order:
        raise InputError(WRONG_RANGE, f"{WHERE}.slip_likely")
    return slip


def find_bought_position(scenario: Scenario, recommended: str | None = None) -> int:
    """Return the column to buy: the stated one, else the recommended one, else the first.

    `recommended` is the key of a column. Columns that are no longer compared are skipped.
    """
    position = find_position(scenario, "buy_part")
    if position is not None:
        return position
    keys = make_column_keys(scenario.accelerators)
    return keys.index(recommended) if recommended in keys else 0


# Two accelerators


def make_request_mix(scenario: Scenario) -> tuple[RequestMix, float | None]:
    """Return the requests of a scenario, and the stated rate; raises `InputError`."""
    plans = scenario.decision.plans
    model, weights = _get_text(plans, "other_model"), _get_text(plans, "other_model_weights")
    share = _get_number(plans, "long_share")
    lengths = [_get_number(plans, name) for name in ("long_input_tokens", "long_output_tokens")]
    mix = RequestMix(
        long_share=DEFAULT_LONG_SHARE if share is None else share,
        long_input_tokens=None if lengths[0] is None else int(lengths[0]),
        long_output_tokens=None if lengths[1] is None else int(lengths[1]),
        model=model,
        model_kind=RequestKind(_get_text(plans, "other_model_kind") or RequestKind.LONG),
        weights=None if weights is None or model is None else Precision(weights),
    )
    return mix, _get_number(plans, "requests_per_s")


def find_split_positions(scenario: Scenario, vendor_of: Callable[[str], str]) -> tuple[int, int]:
    """Return the two columns that share the requests: the stated ones, else two of different vendors.

    `vendor_of` returns the vendor of an accelerator by its id. By default the first is the first column, and the second
    the first of another vendor, or else of another accelerator. Raises `InputError` without two accelerators.
    """
    parts = [choice.accelerator for choice in scenario.accelerators]
    if len(set(parts)) < len(("A", "B")):
        raise input_error(
            "plans.one_part",
            "only one accelerator is selected; add a second one to split requests",
            f"{WHERE}.vendor_b",
        )
    first, second = (find_position(scenario, name) for name in ("vendor_a", "vendor_b"))
    if first is None and second is not None:
        return _find_partner(parts, second, vendor_of), second
    first = first or 0
    return first, _find_partner(parts, first, vendor_of) if second is None else second


def _find_partner(parts: list[str], place: int, vendor_of: Callable[[str], str]) -> int:
    """Return the first column of another vendor, or else of another accelerator."""
    others = [number for number, part in enumerate(parts) if part != parts[place]]
    foreign = (number for number in others if vendor_of(parts[number]) != vendor_of(parts[place]))
    return next(foreign, others[0])


def find_position(scenario: Scenario, name: str) -> int | None:
    """Return the column of an input's key; None without one, and if it is not compared."""
    key = _get_text(scenario.decision.plans, name)
    keys = make_column_keys(scenario.accelerators)
    return keys.index(key) if key in keys else None


def find_removed_key(scenario: Scenario, name: str) -> str | None:
    """Return the column key of an input that is no longer compared; None otherwise."""
    key = _get_text(scenario.decision.plans, name)
    return None if key in make_column_keys(scenario.accelerators) else key


# Reading


def _get_text(plans: Mapping[str, AnswerValue], name: str) -> str | None:
    return str(parse_plan(name, plans[name])) if name in plans else None


def _get_number(plans: Mapping[str, AnswerValue], name: str) -> float | None:
    return float(parse_plan(name, plans[name])) if name in plans else None


def _get_exact_range(plans: Mapping[str, AnswerValue], name: str) -> UncertainValue | None:
    value = _get_number(plans, name)
    return None if value is None else UncertainValue.exactly(value)


def check_plan_id(scenario: Scenario, name: str, look_up: Callable[[str], object]) -> None:
    """Refuse an input whose id the catalog lacks."""
    user_value = scenario.decision.plans.get(name)
    if user_value is None or user_value in (NO_PART, PLAN_INPUTS[name].default):
        return
    try:
        look_up(str(user_value))
    except InputError as error:
        raise InputError(error.problem, f"{WHERE}.{name}") from error


#: Fields of questions whose plan inputs have other names.
_INPUT_NAMES: Final = {"slip_months": "slip_likely", "routing": "vendor_b"}


PlanAnswer = TypeVar("PlanAnswer")


def name_failed_input(ask: Callable[[], PlanAnswer]) -> PlanAnswer:
    """Return an answer; errors name the plan input."""
    try:
        return ask()
    except InputError as error:
        name = _INPUT_NAMES.get(error.where or "", error.where)
        if name in PLAN_INPUTS:
            raise InputError(error.problem, f"{WHERE}.{name}") from error
        raise
