"""What an answered scenario costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import column_keys
from gpudesk.domain.cost_inputs import CostSettings
from gpudesk.domain.costs import BreakEven, CostAnswer, CostDraws, Influence
from gpudesk.domain.estimates import Banded
from gpudesk.domain.price_ranges import PriceRange
from gpudesk.domain.progress import Steps, finished
from gpudesk.domain.ranges import Range
from gpudesk.domain.scenarios import Scenario
from gpudesk.economics.tokens import api_usd_per_million_output
from gpudesk.workbench.costing.assumptions import Assumptions
from gpudesk.workbench.costing.breaks import against_api, own_rent, port, ties, what_it_takes
from gpudesk.workbench.costing.columns import Situation, cost_column, situation
from gpudesk.workbench.costing.inputs import resolve
from gpudesk.workbench.costing.unknowns import Basis, draw_steps, influences
from gpudesk.workbench.price_summary import price_summary

if TYPE_CHECKING:
    from gpudesk.catalog.queries import Catalog

DRAWS: Final = 100_000
SEED: Final = 1
_THROUGHPUT: Final = "output_tokens_per_s"
_API: Final = ("api_input_usd_per_million", "api_output_usd_per_million")


class Costs:
    """Works out costs over a catalog's prices; keeps the ranges of these."""

    def __init__(self, catalog: Catalog, assumptions: Assumptions) -> None:
        """Take the facts; both stay as they are."""
        self._catalog = catalog
        self.assumptions = assumptions
        #: The last answer with what its costs are worked out from, which is asked for several times.
        self._last: tuple[Answer, tuple[Situation, ...]] | None = None

    @cached_property
    def _prices(self) -> Mapping[str, Mapping[str, PriceRange]]:
        found: dict[str, dict[str, PriceRange]] = {}
        for each in price_summary(self._catalog.prices()):
            found.setdefault(each.accelerator, {})[each.term] = each
        return found

    def situations(self, answer: Answer) -> tuple[Situation, ...]:
        """Return for each accelerator what its costs are worked out from."""
        # Jobs ask for other answers meanwhile: what is returned is that of this one.
        last = self._last
        if last is None or last[0] is not answer:
            self._last = last = answer, self._situations(answer)
        return last[1]

    def _situations(self, answer: Answer) -> tuple[Situation, ...]:
        settings = answer.scenario.costs
        return tuple(
            situation(
                key,
                column,
                resolve(
                    column.accelerator,
                    settings,
                    self.assumptions,
                    self._prices.get(column.accelerator.id, {}),
                    self._title,
                ),
            )
            for key, column in zip(column_keys(answer.scenario.accelerators), answer.columns, strict=True)
        )

    def _title(self, source: str) -> str:
        return self._catalog.source(source).title

    def costs(self, answer: Answer, *, brief: bool = False) -> CostAnswer:
        """Return the costs of all, and where they are equal: to each other, or if `brief` to rents alone."""
        found = self.situations(answer)
        term = answer.scenario.costs.rent_term
        columns = tuple(
            cost_column(each, column, self._prices.get(each.accelerator, {}), term)
            for each, column in zip(found, answer.columns, strict=True)
        )
        breaks: list[BreakEven] = []
        for each, column in zip(found, columns, strict=True):
            breaks += own_rent(each, column)
            if each is not found[0] and not brief:
                breaks += ties(each, found[0])
                breaks += port(each, found[0])
        api = _api(found)
        if api is not None:
            for each, column in zip(found, columns, strict=True):
                breaks += against_api(each, column, api.value)
        return CostAnswer(columns, tuple(breaks), api, _utilisation(found), _api_missing(found))

    def with_reported(self, settings: CostSettings, scenario: Scenario) -> CostSettings:
        """Return settings with the discounts that unnamed buyers report, where none is stated."""
        if "discount" in settings.inputs:
            return settings
        for choice in scenario.accelerators:
            if "discount" in settings.of_part(choice.accelerator):
                continue
            vendor = self._catalog.accelerator(choice.accelerator).vendor
            if (reported := self.assumptions.discounts.get(vendor)) is not None:
                settings = settings.with_input("discount", reported.spread, choice.accelerator)
        return settings

    def influences(self, answer: Answer, position: int, *, rented: bool = False) -> tuple[Influence, ...]:
        """Return what moves the cost of one accelerator, the most first."""
        return influences(self.situations(answer)[position], Basis(rented))

    def break_evens(self, answer: Answer, position: int, rival: int) -> tuple[BreakEven, ...]:
        """Return what it would take for owning one accelerator to cost as much a token as another."""
        found = self.situations(answer)
        own, other = found[position], found[rival]
        return (*ties(own, other), *port(own, other))

    def what_it_takes(self, answer: Answer, name: str, position: int, rival: int) -> float | None:
        """Return the value of an input at which owning one accelerator costs as much a token as another."""
        found = self.situations(answer)
        return what_it_takes(name, found[position], found[rival])

    def draws(
        self, answer: Answer, *, rented: bool = False, count: int = DRAWS, seed: int = SEED
    ) -> CostDraws:
        """Return the costs of many draws of all inputs that are not known, the engine's error among them."""
        return finished(self.draw_steps(answer, rented=rented, count=count, seed=seed))

    def draw_steps(
        self, answer: Answer, *, rented: bool = False, count: int = DRAWS, seed: int = SEED
    ) -> Steps[CostDraws]:
        """Do the same as a job."""
        return draw_steps(self.situations(answer), Basis(rented), count, seed, common_error(answer))


def common_error(answer: Answer) -> float:
    """Return the share of the variance of throughput's error that accelerators have in common.

    The band of a ratio is as wide as what the two errors do not share: of two errors with variance v each
    and the share c in common, the ratio has the variance 2 v (1 - c).
    """
    bands = [
        estimate.output_tokens_per_s
        for column in answer.columns
        if (estimate := column.estimate) is not None and estimate.output_tokens_per_s is not None
    ]
    ratios = [each.ratio for each in answer.differences if each.figure == _THROUGHPUT]
    if not bands or not ratios:
        return 0.0
    own = sum(math.log(each.high / each.low) ** 2 for each in bands) / len(bands)
    apart = sum(math.log(each.high / each.low) ** 2 for each in ratios) / len(ratios)
    return 0.0 if own <= 0.0 else min(max(1.0 - apart / (2.0 * own), 0.0), 1.0)


def _api(found: tuple[Situation, ...]) -> Banded | None:
    """Return what an API charges for a million output tokens with their prompts, and between what."""
    for each in found:
        asked, made = (each.inputs[name].spread for name in _API)
        if asked is not None and made is not None and each.deployment is not None:
            work = each.deployment
            at = [
                float(api_usd_per_million_output(given, got, work.input_tokens, work.output_tokens))
                for given, got in zip(
                    (asked.low, asked.likely, asked.high), (made.low, made.likely, made.high), strict=True
                )
            ]
            return Banded(at[1], at[0], at[2])
    return None


def _api_missing(found: tuple[Situation, ...]) -> tuple[str, ...]:
    """Return which price of an API is not stated, where the other one is."""
    lacking = tuple(name for name in _API if found and found[0].inputs[name].spread is None)
    return lacking if len(lacking) == 1 else ()


def _utilisation(found: tuple[Situation, ...]) -> Range:
    spread = found[0].inputs["utilisation"].spread if found else None
    return spread if spread is not None else Range.exactly(1.0)
