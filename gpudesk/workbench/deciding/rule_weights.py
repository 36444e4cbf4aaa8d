"""The rules in the order in which they are applied, with the weights in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpudesk.advisor.judging import in_order, weight_of
from gpudesk.domain.decisions import Rule


def rules_in_force(rules: Sequence[Rule], weights: Mapping[str, float]) -> tuple[tuple[Rule, float], ...]:
    """Return each rule with what it adds where it favours, under weights that the user gave."""
    return tuple((rule, weight_of(rule, weights)) for rule in in_order(rules))
