"""Common data of a profile's sections: the question, the catalog, placements, estimates and prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from gpudesk.domain.answer import AcceleratorChoice, ComparisonColumn
from gpudesk.domain.cost import ResolvedCostInput
from gpudesk.domain.precision import Precision
from gpudesk.estimation.sizing.fit_matrix import count_model_parameters
from gpudesk.text.messages import Message, message
from gpudesk.text.units import MONTHS_PER_YEAR

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog
    from gpudesk.costing.scenario_costs import CostCalculator
    from gpudesk.domain.accelerator import Accelerator
    from gpudesk.domain.estimate import Estimate, EstimateRequest
    from gpudesk.domain.profile import ProfileQuestion
    from gpudesk.profile.placements import EstimateMemo, ModelPlacement, PlacementFinder
    from gpudesk.profile.settings import ProfileSettings
    from gpudesk.text.formatting import ClaimValue, IntervalEstimate

#: A year with a month, a quarter or a half: 2024-10-10, 2024-Q2, 2026-H2.
_DATE: Final = re.compile(r"(\d{4})(?:-(?:(\d{2})|Q([1-4])|H([12])))?")


def count_months(date: str | None) -> int | None:
    """Return the months from year 0 to a date; quarters, halves and years count from their middle.

    None for anything that is not a date.
    """
    match = _DATE.match(date or "")
    if match is None:
        return None
    year, month, quarter, half = match.groups()
    if month is not None:
        months = int(month)
    elif quarter is not None:
        months = 3 * int(quarter) - 1
    else:
        months = 6 * int(half) - 2 if half is not None else 7
    return int(year) * round(MONTHS_PER_YEAR) + months


@dataclass(slots=True)
class AcceleratorFacts:
    """An accelerator with its values by attribute, its purchase price in USD, and its category."""

    accelerator: Accelerator
    values: Mapping[str, ClaimValue]
    price: ResolvedCostInput
    category: str

    @property
    def price_usd(self) -> float | None:
        return None if self.price.spread is None else self.price.spread.likely

    def get_value(self, attribute: str) -> float | None:
        """Return a figure in the internal unit, that of "price" in USD; None if unknown."""
        if attribute == "price":
            return self.price_usd
        value = self.values.get(attribute)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def get_text(self, attribute: str) -> str | None:
        value = self.values.get(attribute)
        return None if value is None else str(value)

    @property
    def months(self) -> int | None:
        """The release date in months."""
        return count_months(self.get_text("release_date"))


@dataclass
class ProfileContext:
    """The accelerator of a profile with the data of all sections; `model` is that of counts and limits."""

    question: ProfileQuestion
    settings: ProfileSettings
    catalog: Catalog
    costing: CostCalculator
    accelerator: Accelerator
    finder: PlacementFinder
    memo: EstimateMemo
    placements: Mapping[str, ModelPlacement]
    model: str | None
    _facts: dict[str, AcceleratorFacts] = field(default_factory=dict)

    def facts_of(self, accelerator: Accelerator) -> AcceleratorFacts:
        facts = self._facts.get(accelerator.id)
        if facts is None:
            facts = AcceleratorFacts(
                accelerator,
                self.catalog.accelerator_values(accelerator.id),
                self.costing.resolve_purchase_price(accelerator, self.question.costs),
                self.settings.categorize(accelerator),
            )
            self._facts[accelerator.id] = facts
        return facts

    @property
    def facts(self) -> AcceleratorFacts:
        return self.facts_of(self.accelerator)

    @cached_property
    def others(self) -> tuple[AcceleratorFacts, ...]:
        """All other accelerators of the catalog."""
        return tuple(self.facts_of(each) for each in self.catalog.accelerators() if each.id != self.accelerator.id)

    @cached_property
    def _model_formats(self) -> tuple[Precision, Precision] | None:
        """Weights and KV cache of the profile's model: as requested if some engine runs them, else as placed."""
        deployment = None if self.model is None else self.placements[self.model].deployment
        if self.model is None or deployment is None:
            return None
        question = self.question
        if question.precision is not None:
            formats = question.precision, question.kv
            request = self.memo.make_request(self.accelerator.id, self.model, formats[0], None, kv=formats[1])
            if self.memo.fitting([request])[0] is not None:
                return formats
        return deployment.weights, Precision.FP16

    def make_model_request(self, accelerator: str, count: int | None) -> EstimateRequest | None:
        """Return the request for the profile's model under the load; None without a model."""
        if self.model is None or self._model_formats is None:
            return None
        weights, kv = self._model_formats
        return self.memo.make_request(accelerator, self.model, weights, count, kv=kv)

    @cached_property
    def model_count(self) -> int | None:
        """Accelerators for the profile's model; None leaves it to the estimate."""
        placement = None if self.model is None else self.placements[self.model]
        if placement is None or placement.deployment is None or self._model_formats is None:
            return None
        return placement.deployed_count if placement.deployment.weights is self._model_formats[0] else None

    def explain_no_model(self) -> Message:
        """Return why there is no request for the profile's model."""
        if self.model is not None:
            return self.placements[self.model].explain(self.finder.tokens)
        return message(
            "profile.no_model",
            "None of the {n} common models fits on one accelerator",
            n=len(self.settings.common_models),
        )

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """Total parameters of each model with a known number."""
        return count_model_parameters(self.catalog, self.catalog.models())

    def cost_per_million(self, estimate: Estimate) -> IntervalEstimate | None:
        """Return USD per million output tokens: rented if a rent is known, else owned; None without either."""
        accelerator = self.catalog.accelerator(estimate.request.accelerator)
        column = ComparisonColumn(AcceleratorChoice(accelerator.id), accelerator, {}, estimate, None)
        costs = self.costing.cost_column(column, self.question.costs)
        rented = costs.rented_usd_per_million_output
        return costs.owned_usd_per_million_output if rented is None else rented
