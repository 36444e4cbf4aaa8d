"""What limits a figure and what would make a deployment fit, in words."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.charts import PREFILL, Share, StepShares
from gpudesk.domain.estimates import Estimate, Limiter
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.sizing import Remedy, RemedyKind
from gpudesk.sentences import sentence
from gpudesk.sheets.explanation import Limits, RemedyLine, ShareLine
from gpudesk.sheets.labels import limiter_label, precision_name
from gpudesk.sheets.names import short_name
from gpudesk.text import tr, trn

#: A smaller share than this would be shown as nothing.
_LEAST: Final = 0.005

#: Figures of time and what their shares divide; all others are limited by what the whole run spends.
_OF_TOKEN: Final = "tpot_ms"
_OF_PROMPT: Final = "ttft_ms"
_WITHOUT: Final = frozenset({"memory", "max_concurrency"})

_ORDER: Final = MappingProxyType({limiter.value: place for place, limiter in enumerate(Limiter)})


def limits_of(
    name: str, estimate: Estimate, shares: StepShares | None, formatter: Formatter
) -> Limits | None:
    """Return how the time behind a figure divides; None where no time is behind it."""
    if shares is None or not estimate.fits or name in _WITHOUT:
        return None
    of, parts = tr("time of a round"), shares.run
    if name == _OF_TOKEN and shares.token is not None:
        of, parts = tr("time of one token"), shares.token
    elif name == _OF_PROMPT:
        of, parts = tr("time of a prompt"), shares.prefill
    remark = None
    if estimate.limiter is Limiter.CAPACITY and name != _OF_PROMPT:
        remark = _full(estimate, formatter)
    return Limits(of, _lines(parts, formatter), remark)


def _full(estimate: Estimate, formatter: Formatter) -> str:
    """Say how many run where others wait, and whether it is memory that they wait for."""
    running = formatter.count(estimate.admitted)
    if (estimate.admitted or 0) < estimate.max_concurrency:
        most = formatter.count(estimate.max_concurrency)
        return tr("{n} run at once, where memory would hold {most}", n=running, most=most)
    return tr("Memory is full: it admits {n} at once", n=running)


def _lines(parts: Iterable[Share], formatter: Formatter) -> tuple[ShareLine, ...]:
    kept = sorted(
        (part for part in parts if part.share >= _LEAST),
        key=lambda part: (-part.share, _ORDER.get(part.name, len(_ORDER))),
    )
    return tuple(ShareLine(_label(part.name), part.share, formatter.per_cent(part.share)) for part in kept)


def _label(name: str) -> str:
    label = tr("prefill mixed in") if name == PREFILL else limiter_label(name)
    return label[:1].upper() + label[1:]


def remedy_lines(
    remedies: tuple[Remedy, ...], estimate: Estimate, part: Accelerator, formatter: Formatter
) -> tuple[RemedyLine, ...]:
    """Return the ways that were tried to make a deployment hold what it is asked to."""
    name = short_name(part.name)
    return tuple(_remedy(remedy, estimate, name, formatter) for remedy in remedies)


def _remedy(remedy: Remedy, estimate: Estimate, name: str, formatter: Formatter) -> RemedyLine:
    label, action = _wording(remedy, estimate, name, formatter)
    detail = _detail(remedy, formatter)
    return RemedyLine(
        label=label,
        verdict=tr("yes") if remedy.works else tr("no"),
        detail=detail,
        remedy=remedy,
        action=action if remedy.works else None,
    )


def _wording(remedy: Remedy, estimate: Estimate, name: str, formatter: Formatter) -> tuple[str, str]:
    """Return what is changed, and the action that changes it."""
    if remedy.kind is RemedyKind.COUNT and isinstance(remedy.value, int):
        many = f"{formatter.count(remedy.value)} × {name}"
        return many, tr("Use {deployment}", deployment=many)
    if remedy.kind is RemedyKind.CONCURRENCY and isinstance(remedy.value, int):
        count = formatter.count(remedy.value)
        load = estimate.request.workload.load
        asked = formatter.count(load.concurrency or load.batch or estimate.concurrency)
        fewer = trn(
            "{n} request instead of {asked}", "{n} requests instead of {asked}", remedy.value, asked=asked
        )
        return fewer, tr("Use {n} in flight", n=count)
    here = f"{formatter.count(estimate.count)} × {name}"
    if remedy.kind is RemedyKind.FRACTION and isinstance(remedy.value, float):
        share = formatter.per_cent(remedy.value)
        return (
            tr("Memory fraction of {share} on {deployment}", share=share, deployment=here),
            tr("Use a memory fraction of {share}", share=share),
        )
    narrow = precision_name(str(remedy.value))
    if remedy.kind is RemedyKind.KV:
        return (
            tr("{precision} KV cache on {deployment}", precision=narrow, deployment=here),
            tr("Use an {precision} KV cache", precision=narrow),
        )
    return (
        tr("{precision} weights on {deployment}", precision=narrow, deployment=here),
        tr("Use {precision} weights", precision=narrow),
    )


def _detail(remedy: Remedy, formatter: Formatter) -> str:
    if not remedy.works:
        return "" if remedy.reason is None else sentence(remedy.reason, formatter)
    estimate = remedy.estimate
    if estimate is None:
        return ""
    plan = estimate.plan
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    named = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    held = tr("up to {n} in flight", n=formatter.count(estimate.max_concurrency))
    if remedy.kind is RemedyKind.CONCURRENCY:
        held = tr("nothing waits")
    return ", ".join((*named, held))
