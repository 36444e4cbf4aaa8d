"""The plans beside a recommendation for what a scenario says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from gpudesk.domain.buying import BuyOrWait, WaitQuestion
from gpudesk.domain.decisions import Rule
from gpudesk.domain.messages import InputError
from gpudesk.domain.routing import Routing
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.deciding.answers import answers_of
from gpudesk.workbench.deciding.buy_or_wait import buy_or_wait
from gpudesk.workbench.deciding.next_parts import next_part_of
from gpudesk.workbench.deciding.plan_inputs import (
    NO_PART,
    PLAN_INPUTS,
    WHERE,
    request_mix,
    split_positions,
    wait_question,
)
from gpudesk.workbench.deciding.routing import routing

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

_T = TypeVar("_T")

#: Fields of questions that inputs of plans have other names for.
_NAMES: Final = {"slip_months": "slip_likely", "routing": "vendor_b"}
#: The generation that models may be tuned for, as the dialogue asks (D002-18).
_TUNED: Final = "cdna4"
_MIXING: Final = "mixing"


def waiting_plan(scenario: Scenario, position: int, today: str, workbench: Workbench) -> BuyOrWait:
    """Return whether to buy the part of a column now or to wait; raises `InputError` for wrong inputs."""
    _check_id(scenario, "next_part", workbench.catalog.accelerator)
    question = wait_question(scenario, today=today)
    tuned = _tuned_for_next(scenario, position, question, workbench)
    asked = wait_question(scenario, today=today, tuned_for_next=tuned)
    return _named(lambda: buy_or_wait(scenario, position, asked, workbench))


def routing_plan(scenario: Scenario, workbench: Workbench) -> Routing:
    """Return the plans for requests that two columns share; raises `InputError` for wrong inputs."""
    _check_id(scenario, "other_model", workbench.catalog.model)
    mix, rate = request_mix(scenario)
    pair = split_positions(scenario, lambda part: workbench.catalog.accelerator(part).vendor)
    return _named(lambda: routing(scenario, pair, mix, workbench, rate))


def rules_on_mixing(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules on two vendors side by side, and those that they contradict, the oldest first."""
    own = [rule for rule in rules if rule.theme == _MIXING]
    rivals = {each for rule in own for each in rule.against}
    found = [rule for rule in rules if rule in own or rule.id in rivals]
    return tuple(sorted(found, key=lambda rule: (rule.dated or "", rule.id)))


def _tuned_for_next(scenario: Scenario, position: int, question: WaitQuestion, workbench: Workbench) -> bool:
    """Whether models that are tuned for the next part's generation have to be served."""
    if answers_of(scenario)["tuned_for"].value != _TUNED:
        return False
    chosen = workbench.catalog.accelerator(scenario.accelerators[position].accelerator)
    following = _named(lambda: next_part_of(chosen, question, workbench.catalog))
    return following is not None and following.generation == _TUNED and chosen.generation != _TUNED


def _check_id(scenario: Scenario, name: str, look_up: Callable[[str], object]) -> None:
    """Refuse an input that names nothing in the catalog."""
    stated = scenario.decision.plans.get(name)
    if stated is None or stated in (NO_PART, PLAN_INPUTS[name].default):
        return
    try:
        look_up(str(stated))
    except InputError as error:
        raise InputError(error.problem, f"{WHERE}.{name}") from error


def _named(ask: Callable[[], _T]) -> _T:
    """Return an answer; what cannot be is told by the name of the input."""
    try:
        return ask()
    except InputError as error:
        name = _NAMES.get(error.where or "", error.where)
        if name in PLAN_INPUTS:
            raise InputError(error.problem, f"{WHERE}.{name}") from error
        raise
