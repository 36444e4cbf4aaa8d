"""What a column of a decision is deployed as, what that delivers with its band, and what it costs."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.decisions import Decision
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.fact_words import fact_name, fact_text
from gpudesk.sheets.needed_words import degrees_text
from gpudesk.text import tr, trn

#: Facts of a column that a recommendation names, as far as they are known.
_DELIVERED: Final = (
    "tokens_per_s",
    "ttft_ms",
    "tpot_ms",
    "max_concurrency",
    "owned_usd_per_million",
    "rented_usd_per_million",
    "rent_usd_h",
    "spend_usd",
)


def deployment_text(decision: Decision, formatter: Formatter) -> str | None:
    """Return how the leading column is deployed, `8 accelerators, TP 8`; None where none is."""
    found = decision.recommended
    if found is None:
        return None
    count = trn("{n} accelerator", "{n} accelerators", found.count, n=formatter.count(found.count))
    degrees = degrees_text(found.plan, formatter)
    return tr("{count}, {plan}", count=count, plan=degrees) if degrees else count


def delivered(decision: Decision, key: str, formatter: Formatter) -> tuple[tuple[str, str], ...]:
    """Return what a column delivers and costs: each a label and a figure with its band and unit."""
    facts = decision.parts[decision.columns.index(key)]
    known = [name for name in _DELIVERED if facts.get(name) is not None]
    return tuple((fact_name(name), fact_text(name, facts[name], formatter)) for name in known)
