"""The settings behind an estimate that the command of its deployment repeats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpudesk.domain.estimates import Estimate
from gpudesk.domain.launch import LaunchSettings
from gpudesk.workbench.deployed import placement_of, tokens_of

if TYPE_CHECKING:
    from gpudesk.workbench.cases import SetupTable


def launch_settings(estimate: Estimate, table: SetupTable) -> LaunchSettings:
    """Return the settings that a deployment without pools was estimated with.

    The memory fraction is the serving engine's usual one; where that holds no request, the largest safe one.
    """
    setup, placed = placement_of(estimate, table)
    settings, budget, model = placed.settings, placed.budget, setup.frame.model
    usual = settings.usual_fraction
    holds = budget.usual_pool_bytes >= max(budget.cache.sequence_bytes(tokens_of(estimate)), 1)
    return LaunchSettings(
        max_batch=settings.max_batch,
        max_batched_tokens=settings.max_batched_tokens,
        attention_ranks=budget.attention_ranks,
        memory_fraction=usual if usual is not None and holds else settings.memory_fraction,
        hosts=math.ceil(estimate.plan.replica / setup.frame.accelerator.cards_per_host),
        domain_over_machines=setup.frame.accelerator.domain_over_machines,
        max_context=model.max_context,
        model=model.name,
    )
