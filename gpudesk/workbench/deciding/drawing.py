"""Draws of what is not known of a decision: the engine's errors, and the inputs of costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpudesk.advisor.drawn import DrawnFact
from gpudesk.advisor.scoring import Drawn
from gpudesk.domain.decisions import Facts
from gpudesk.economics.uncertainty import band_draws
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.unknowns import Basis, Drawing
from gpudesk.workbench.deciding.leading import in_draws
from gpudesk.workbench.deciding.part_facts import band_of

Draws = NDArray[np.float64]
#: Banded facts that grow with the speed of an accelerator, and those that fall with it.
_WITH_SPEED = ("tokens_per_s", "tokens_per_s_each", "interactivity", "tokens_per_s_kw")
_AGAINST_SPEED = ("ttft_ms", "tpot_ms", "watts_per_token_s")
#: Facts that say who leads -> the drawn fact, and whether more of it is better.
_LEADS = {
    "leads_throughput": ("tokens_per_s", True),
    "leads_throughput_each": ("tokens_per_s_each", True),
    "leads_tpot": ("tpot_ms", False),
    "leads_ttft": ("ttft_ms", False),
    "leads_density": ("tokens_per_s_kw", True),
    "leads_power": ("watts_per_token_s", False),
    "leads_cost": ("usd_per_million", False),
    "leads_owned_cost": ("owned_usd_per_million", False),
}


def drawn_parts(
    situations: Sequence[Situation],
    parts: Sequence[Facts],
    standing: Sequence[int],
    basis: Basis | None,
    drawing: Drawing,
) -> Drawn:
    """Return draws of the banded facts of all columns, and of who leads among the `standing` ones.

    `basis` is how tokens are paid for where their costs are compared; None where they are not. Latencies err
    against throughput: what makes an accelerator slower than estimated makes its tokens wait.
    """
    drawn = [_figures(found, part, basis, drawing) for found, part in zip(situations, parts, strict=True)]
    facts: list[dict[str, DrawnFact]] = [dict(each) for each in drawn]
    for name, (figure, higher) in _LEADS.items():
        values = {place: drawn[place][figure] for place in standing if figure in drawn[place]}
        for place, leads in in_draws(values, higher=higher).items():
            facts[place][name] = leads
    return Drawn(drawing.count, drawing.seed, tuple(facts))


def _figures(found: Situation, part: Facts, basis: Basis | None, drawing: Drawing) -> dict[str, Draws]:
    error = drawing.error(found)
    drawn: dict[str, Draws] = {}
    for names, sign in ((_WITH_SPEED, 1.0), (_AGAINST_SPEED, -1.0)):
        for name in names:
            band = band_of(part, name)
            if band is not None:
                drawn[name] = band_draws(band.low, band.value, band.high, sign * error)
    owned = drawing.costs(found, Basis(rented=False))
    if owned is not None:
        drawn["owned_usd_per_million"] = owned
    if basis is not None and (paid := drawing.costs(found, basis)) is not None:
        drawn["usd_per_million"] = paid
    return drawn
