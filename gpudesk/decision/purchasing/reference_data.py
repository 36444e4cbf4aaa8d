"""Reference data for a recommendation: export rules, software support, references, steps, signals, plans."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from gpudesk import paths
from gpudesk.decision.purchasing.export_control import check_export
from gpudesk.decision.services import PlanningServices
from gpudesk.domain.estimate import NOTHING_TO_EXPLAIN
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.purchase import DeferralAnalysis, NegotiationSheet, ProcurementStep
from gpudesk.domain.reference_data import (
    ExportCheck,
    ExportRuleSet,
    ReferenceDeployment,
    SignalStatus,
    SoftwareSupport,
    WatchSignal,
    find_references,
    make_watch_list,
)
from gpudesk.domain.routing import RoutingResult
from gpudesk.text.messages import Message, message

if TYPE_CHECKING:
    from gpudesk.domain.answer import Answer, Scenario
    from gpudesk.domain.decision import AnswerValue, Decision, FactValue
    from gpudesk.domain.deployment_analysis import WeightLoading
    from gpudesk.domain.estimate import Estimate

_WORKING: Final = message("plans.working", "Computing the plan")


_GIGA: Final = 1e9


class ReferenceData:
    """Reads each file on first use; all raise `InputError` or `MissingFileError` without it."""

    def __init__(self, service: PlanningServices) -> None:
        self._service = service

    # Records

    @cached_property
    def export_rules(self) -> ExportRuleSet:
        from gpudesk.decision.rules.data_files import read_export_rules

        return read_export_rules(paths.get_data_path("export_rules.toml"))

    @cached_property
    def support(self) -> SoftwareSupport:
        from gpudesk.decision.rules.data_files import read_support

        return read_support(paths.get_data_path("software_support"))

    @cached_property
    def references(self) -> tuple[ReferenceDeployment, ...]:
        from gpudesk.decision.rules.data_files import read_references

        return read_references(paths.get_data_path("references.toml"))

    @cached_property
    def steps(self) -> tuple[ProcurementStep, ...]:
        from gpudesk.decision.rules.data_files import read_steps

        return tuple(read_steps(paths.get_data_path("rules/steps.toml")))

    @cached_property
    def signals(self) -> tuple[WatchSignal, ...]:
        from gpudesk.decision.rules.data_files import read_signals

        return tuple(read_signals(paths.get_data_path("rules/signals.toml")))

    # Of one accelerator

    def export_check(self, accelerator: str, destination: str | None = None) -> ExportCheck:
        """Return the score of an accelerator with each rule; raises `InputError` for an unknown id."""
        return check_export(self._service.catalog.accelerator(accelerator), self.export_rules, destination)

    def export_facts(self, accelerator: str) -> dict[str, FactValue]:
        """Return the score, and whether it is below every figure of a rule in effect.

        An accelerator that reaches all figures of a line is not free. One that reaches some of them is undecided:
        densities are unknown.
        """
        check = self.export_check(accelerator)
        lines = [line for rule in check.rules if rule.rule.is_active and rule.rule.is_control for line in rule.lines]
        outcomes = [line.met for line in lines]
        free = (
            None
            if check.tpp is None or not outcomes
            else False
            if True in outcomes
            else None
            if None in outcomes
            else True
        )
        return {"export_score": check.tpp, "export_free": free}

    def count_named_references(self, accelerator: str) -> int:
        return sum(each.named for each in find_references(self.references, accelerator))

    # Comparisons

    def export_checks(self, scenario: Scenario) -> tuple[ExportCheck, ...]:
        """Return the export check of each compared accelerator, once, for the stated destination."""
        parts = dict.fromkeys(choice.accelerator for choice in scenario.accelerators)
        place = _get_plan_value(scenario, "destination_name")
        return tuple(self.export_check(part, None if place is None else str(place)) for part in parts)

    def loadings(self, answer: Answer) -> dict[str, WeightLoading | Message]:
        """Return by column key the loading time of the weights, or why it is unknown."""
        user_value = _get_plan_value(answer.scenario, "storage_gb_s")
        storage = None if user_value is None else float(user_value) * _GIGA
        results: dict[str, WeightLoading | Message] = {}
        for key, column in zip(answer.keys, answer.columns, strict=True):
            estimate = column.estimate
            if estimate is None:
                results[key] = column.problem or NOTHING_TO_EXPLAIN
            elif not estimate.fits:
                results[key] = estimate.reason or NOTHING_TO_EXPLAIN
            else:
                results[key] = self.loading(estimate, storage)
        return results

    # Deployments

    def loading(self, estimate: Estimate, storage_bytes_per_s: float | None = None) -> WeightLoading:
        """Return the loading time of a deployment's weights; raises `InputError` as documented there."""
        from gpudesk.decision.purchasing.weight_loading import compute_weight_loading

        return compute_weight_loading(estimate, self._service, storage_bytes_per_s)

    # Decisions

    def negotiation(self, scenario: Scenario, decision: Decision, today: str) -> NegotiationSheet:
        from gpudesk.decision.purchasing.procurement import make_negotiation_sheet

        plans = scenario.decision.plans
        quote = plans.get("competing_quote")
        facts: dict[str, FactValue] = {
            "fleet_size": decision.facts.get("fleet"),
            "competing_quote": quote == "yes" if quote in ("yes", "no") else None,
            "both_platforms": decision.facts.get("engine_everywhere"),
        }
        return make_negotiation_sheet(self.steps, facts, scenario.decision.done, today)

    def buy_or_wait(self, scenario: Scenario, position: int, today: str) -> DeferralAnalysis:
        """Return whether to buy the accelerator of a column now or to wait, by the scenario's inputs.

        `today` is an ISO day. Raises `InputError` that names the invalid plan input.
        """
        from gpudesk.decision.purchasing.deferral import plan_deferral

        return plan_deferral(scenario, position, today, self._service)

    def plan_deferral_in_steps(self, scenario: Scenario, position: int, today: str) -> ProgressSteps[DeferralAnalysis]:
        yield JobProgress(_WORKING)
        return self.buy_or_wait(scenario, position, today)

    def routing(self, scenario: Scenario) -> RoutingResult:
        """Return the plans for requests shared by two columns, by the scenario's inputs.

        Raises `InputError` that names the invalid plan input, and if there is only one accelerator.
        """
        from gpudesk.decision.purchasing.routing import plan_routing

        return plan_routing(scenario, self._service)

    def plan_routing_in_steps(self, scenario: Scenario) -> ProgressSteps[RoutingResult]:
        yield JobProgress(_WORKING)
        return self.routing(scenario)

    def watch_list(self) -> tuple[SignalStatus, ...]:
        """Return every signal with its current value, the user's notes before the record."""
        return make_watch_list(self.signals, self._service.user_catalog.watched)


def _get_plan_value(scenario: Scenario, name: str) -> AnswerValue | None:
    """Return a scenario's value of a plan input; raises `InputError` for an invalid one."""
    from gpudesk.decision.purchasing.plan_inputs import parse_plan

    user_value = scenario.decision.plans.get(name)
    return None if user_value is None else parse_plan(name, user_value)
