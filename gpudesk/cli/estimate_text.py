"""One estimate as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpudesk.cli.tables import padded, text_width, wrapped
from gpudesk.domain.estimates import Banded, Estimate, Pool
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.plans import PlanChoice
from gpudesk.sentences import plan_name, sentence
from gpudesk.sheets.figures import grown_text
from gpudesk.sheets.labels import (
    FIGURE_UNITS,
    basis_label,
    engine_name,
    figure_label,
    limiter_label,
    precision_name,
)
from gpudesk.sheets.plan_lines import plan_reason
from gpudesk.text import tr, trn

_INDENT = "  "


def estimate_lines(
    estimate: Estimate,
    name: str,
    formatter: Formatter,
    width: int,
    strong: Callable[[str], str],
    plans: PlanChoice | None = None,
) -> Iterator[str]:
    """Yield the lines of an estimate for the accelerator `name`; with `plans` also why its plan was taken."""
    yield strong(f"{formatter.count(estimate.count)} × {name}")
    facts = [
        *_what(estimate, formatter),
        *_why(plans, formatter),
        *_figures(estimate, formatter),
        *_memory(estimate, formatter),
    ]
    labels = max(text_width(label) for label, _ in facts)
    for label, text in facts:
        first, *rest = wrapped(text, max(width - labels - 4, 20))
        yield f"{_INDENT}{padded(label, labels)}  {first}"
        yield from (f"{_INDENT}{' ' * labels}  {line}" for line in rest)
    for note in estimate.notes:
        if note.id == "pools.pool":
            continue  # said above
        yield from (_INDENT + line for line in wrapped(f"{sentence(note, formatter)}.", width - len(_INDENT)))


def _what(estimate: Estimate, formatter: Formatter) -> list[tuple[str, str]]:
    request = estimate.request
    facts = [
        (tr("Serving engine"), engine_name(estimate.serving_engine)),
        (tr("Weights, KV cache"), f"{precision_name(request.weights)}, {precision_name(request.kv)}"),
        *_plans(estimate, formatter),
    ]
    if estimate.fits:
        facts.append((tr("Fits"), _held(estimate, formatter)))
        return facts
    reason = "" if estimate.reason is None else sentence(estimate.reason, formatter)
    facts.append((tr("Does not fit"), reason))
    if estimate.needs is not None:
        facts.append((tr("Needs"), _accelerators(estimate.needs, formatter)))
    return facts


def _accelerators(count: int, formatter: Formatter) -> str:
    return trn("{n} accelerator", "{n} accelerators", count, n=formatter.count(count))


def _plans(estimate: Estimate, formatter: Formatter) -> list[tuple[str, str]]:
    """Return how the model is spread over the accelerators, or over those of each pool."""
    pools, plan = estimate.pools, estimate.plan
    if pools is not None:
        labels = (tr("Prefill pool"), pools.prefill), (tr("Decode pool"), pools.decode)
        return [(label, _pool(pool, formatter)) for label, pool in labels]
    degrees = f"TP {plan.tp}, PP {plan.pp}, EP {plan.ep}, DP {plan.dp}"
    if plan.attention_dp:
        degrees = f"{degrees}, {tr('attention DP')}"
    return [(tr("Deployment"), degrees)]


def pool_lines(estimate: Estimate, formatter: Formatter) -> list[str]:
    """Return what each pool of a disaggregated deployment is, a line each, or why there is none."""
    if estimate.pools is None:
        return [] if estimate.reason is None else [f"{sentence(estimate.reason, formatter)}."]
    return [f"{label} {said}" for label, said in _plans(estimate, formatter)]


def _pool(pool: Pool, formatter: Formatter) -> str:
    return tr(
        "{n}: {plan}, busy {share}",
        n=formatter.count(pool.count),
        plan=plan_name(pool.plan),
        share=formatter.per_cent(pool.busy),
    )


def _why(plans: PlanChoice | None, formatter: Formatter) -> list[tuple[str, str]]:
    """Return why the plan was taken, where there was a choice."""
    reason = None if plans is None else plan_reason(plans, formatter)
    return [] if reason is None else [(tr("Why this plan"), reason)]


def _held(estimate: Estimate, formatter: Formatter) -> str:
    most = trn(
        "up to {n} request in flight",
        "up to {n} requests in flight",
        estimate.max_concurrency,
        n=formatter.count(estimate.max_concurrency),
    )
    asked, admitted = estimate.concurrency, estimate.admitted
    if estimate.grows:
        return grown_text(estimate, formatter)
    if asked is not None and admitted is not None and admitted < asked:
        if admitted < estimate.max_concurrency:
            return tr(
                "runs {n} of {m} at once; memory holds {most}",
                n=formatter.count(admitted),
                m=formatter.count(asked),
                most=formatter.count(estimate.max_concurrency),
            )
        held = tr("holds {n} of {m}", n=formatter.count(admitted), m=formatter.count(asked))
        return f"{held}, {most}"
    return most


def _figures(estimate: Estimate, formatter: Formatter) -> list[tuple[str, str]]:
    facts = []
    for figure, unit in FIGURE_UNITS.items():
        if figure == "output_tokens_per_s_per_accelerator" and estimate.count == 1:
            continue
        value = getattr(estimate, figure)
        if isinstance(value, Banded):
            facts.append((figure_label(figure), formatter.banded(value, unit)))
    if estimate.stable is False:
        facts.append((tr("Stable"), tr("no: the queue grows without end")))
    if estimate.limiter is not None and estimate.fits:
        facts.append((tr("Limited by"), limiter_label(estimate.limiter)))
    facts.append((tr("Basis of the estimate"), basis_label(estimate.basis)))
    return facts


def _memory(estimate: Estimate, formatter: Formatter) -> list[tuple[str, str]]:
    """Return the parts of the memory; what does not fit leaves none free, and says itself what is short."""
    use = estimate.memory
    parts = [
        (tr("Capacity"), use.capacity_bytes),
        (tr("Weights"), use.weights_bytes),
        (tr("KV cache") if estimate.fits else tr("KV cache of one request"), use.kv_bytes),
        (tr("Activations"), use.activations_bytes),
        (tr("Runtime"), use.runtime_bytes),
    ]
    if estimate.fits:
        parts.append((tr("Free"), use.free_bytes))
    return [(label, formatter.memory(size)) for label, size in parts]
