"""What stands beside a recommendation: records of the program's data, and plans for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gpudesk import paths
from gpudesk.domain.export_control import ExportCheck, ExportRules, Measured
from gpudesk.domain.procurement import NegotiationSheet, ProcurementStep
from gpudesk.domain.references import Reference, references_of
from gpudesk.domain.software_support import SoftwareSupport
from gpudesk.domain.watching import Signal, Watched, watch_list
from gpudesk.workbench.deciding.export_check import export_check

if TYPE_CHECKING:
    from gpudesk.domain.decisions import Decision, Fact
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.workbench.workbench import Workbench


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

    def watch_list(self) -> tuple[Watched, ...]:
        """Return every signal with what is known of it, the user's notes before the record."""
        return watch_list(self.signals, self._workbench.own.watched)
