"""What stands beside a recommendation: records of the program's data, and plans for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from gpudesk import paths
from gpudesk.domain.buying import BuyOrWait
from gpudesk.domain.comparison import column_keys
from gpudesk.domain.export_control import ExportCheck, ExportRules, Measured
from gpudesk.domain.messages import Message, message
from gpudesk.domain.procurement import NegotiationSheet, ProcurementStep
from gpudesk.domain.progress import Progress, Steps
from gpudesk.domain.references import Reference, references_of
from gpudesk.domain.routing import Routing
from gpudesk.domain.software_support import SoftwareSupport
from gpudesk.domain.watching import Signal, Watched, watch_list
from gpudesk.workbench.deciding.export_check import export_check

if TYPE_CHECKING:
    from gpudesk.domain.answers import Answer
    from gpudesk.domain.decisions import Decision, Fact, Rule
    from gpudesk.domain.estimates import Estimate
    from gpudesk.domain.questions import AnswerValue
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.domain.weight_loading import WeightLoading
    from gpudesk.workbench.workbench import Workbench

_GIGA: Final = 1e9


class Beside:
    """Reads each file at its first question; all raise `InputError` or `MissingFileError` without it."""

    def __init__(self, workbench: Workbench) -> None:
        """Work with the facts of a workbench."""
        self._workbench = workbench

    # Records

    @cached_property
    def export_rules(self) -> ExportRules:
        """Dated rules on exports."""
        from gpudesk.workbench.deciding.export_file import read_export_rules

        return read_export_rules(paths.export_rules_path())

    @cached_property
    def support(self) -> SoftwareSupport:
        """What is said of software on platforms."""
        from gpudesk.workbench.deciding.support_file import read_support

        return read_support(paths.software_support_dir())

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Deployments that documents tell of."""
        from gpudesk.workbench.deciding.reference_file import read_references

        return read_references(paths.references_path())

    @cached_property
    def steps(self) -> tuple[ProcurementStep, ...]:
        """The steps of a purchase."""
        from gpudesk.workbench.deciding.steps_file import read_steps

        return tuple(read_steps(paths.steps_path()))

    @cached_property
    def signals(self) -> tuple[Signal, ...]:
        """What is to be watched."""
        from gpudesk.workbench.deciding.signals_file import read_signals

        return tuple(read_signals(paths.signals_path()))

    # Of one accelerator

    def export_check(self, accelerator: str, destination: str | None = None) -> ExportCheck:
        """Return the score of an accelerator beside each rule; raises `InputError` for an unknown id."""
        return export_check(self._workbench.catalog.accelerator(accelerator), self.export_rules, destination)

    def export_facts(self, accelerator: str) -> dict[str, Fact]:
        """Return the score, and whether it lies below every figure that a rule sets for it.

        What reaches one is not said to be controlled, but left open: densities are not known, and rules have
        exceptions.
        """
        check = self.export_check(accelerator)
        least = min(
            (
                limit.value
                for rule in self.export_rules.rules
                for line in rule.lines
                for limit in line.limits
                if limit.measured is Measured.TPP and limit.at_least
            ),
            default=None,
        )
        free = check.tpp is not None and least is not None and check.tpp < least
        return {"export_score": check.tpp, "export_free": True if free else None}

    def named_references(self, accelerator: str) -> int:
        """Count the deployments of an accelerator whose owner is named."""
        return sum(each.named for each in references_of(self.references, accelerator))

    # Of all that is compared

    def export_checks(self, scenario: Scenario) -> tuple[ExportCheck, ...]:
        """Return the check of each accelerator that is compared, once, for the destination that is said."""
        parts = dict.fromkeys(choice.accelerator for choice in scenario.accelerators)
        place = _plan(scenario, "destination_name")
        return tuple(self.export_check(part, None if place is None else str(place)) for part in parts)

    def loadings(self, answer: Answer) -> dict[str, WeightLoading | Message]:
        """Return by the key of each column how long its weights take to load, or why that is not known."""
        stated = _plan(answer.scenario, "storage_gb_s")
        storage = None if stated is None else float(stated) * _GIGA
        found: dict[str, WeightLoading | Message] = {}
        for key, column in zip(column_keys(answer.scenario.accelerators), answer.columns, strict=True):
            estimate = column.estimate
            if estimate is None:
                found[key] = column.problem or message("explain.does_not_fit")
            elif not estimate.fits:
                found[key] = estimate.reason or message("explain.does_not_fit")
            else:
                found[key] = self.loading(estimate, storage)
        return found

    # Of a deployment

    def loading(self, estimate: Estimate, storage_bytes_per_s: float | None = None) -> WeightLoading:
        """Return how long the weights of a deployment take to load; raises `InputError` as it says there."""
        from gpudesk.workbench.deciding.weight_loading import weight_loading

        return weight_loading(estimate, self._workbench, storage_bytes_per_s)

    # Of a decision

    def negotiation(self, scenario: Scenario, decision: Decision, today: str) -> NegotiationSheet:
        """Return the steps of a purchase, which of them apply, and what is done."""
        from gpudesk.workbench.deciding.negotiation import negotiation_sheet

        plans = scenario.decision.plans
        quote = plans.get("competing_quote")
        facts: dict[str, Fact] = {
            "fleet_size": decision.facts.get("fleet"),
            "competing_quote": quote == "yes" if quote in ("yes", "no") else None,
            "both_platforms": decision.facts.get("engine_everywhere"),
        }
        return negotiation_sheet(self.steps, facts, scenario.decision.done, today)

    def buy_or_wait(self, scenario: Scenario, position: int, today: str) -> BuyOrWait:
        """Return whether to buy the part of a column now or to wait, by what the scenario says of it.

        `today` is an ISO day. Raises `InputError` that names the input of plans which cannot be.
        """
        from gpudesk.workbench.deciding.asked_plans import waiting_plan

        return waiting_plan(scenario, position, today, self._workbench)

    def buy_or_wait_steps(self, scenario: Scenario, position: int, today: str) -> Steps[BuyOrWait]:
        """Do the same as a job."""
        yield Progress(message("plans.working"))
        return self.buy_or_wait(scenario, position, today)

    def routing(self, scenario: Scenario) -> Routing:
        """Return the plans for requests that two columns share, by what the scenario says of them.

        Raises `InputError` that names the input of plans which cannot be, and where there is one part only.
        """
        from gpudesk.workbench.deciding.asked_plans import routing_plan

        return routing_plan(scenario, self._workbench)

    def routing_steps(self, scenario: Scenario) -> Steps[Routing]:
        """Do the same as a job."""
        yield Progress(message("plans.working"))
        return self.routing(scenario)

    def rules_on_mixing(self) -> tuple[Rule, ...]:
        """Return what documents say of two vendors side by side, the oldest first."""
        from gpudesk.workbench.deciding.asked_plans import rules_on_mixing

        return rules_on_mixing(self._workbench.decider.rules)

    def watch_list(self) -> tuple[Watched, ...]:
        """Return every signal with what is known of it, the user's notes before the record."""
        return watch_list(self.signals, self._workbench.own.watched)


def _plan(scenario: Scenario, name: str) -> AnswerValue | None:
    """Return what a scenario says of an input of plans; raises `InputError` for what cannot be."""
    from gpudesk.workbench.deciding.plan_inputs import parse_plan

    stated = scenario.decision.plans.get(name)
    return None if stated is None else parse_plan(name, stated)
