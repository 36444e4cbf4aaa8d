"""The answer as JSON for programs: figures in the units of their names, every value with its claims."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from gpudesk.domain.answers import Answer, BandedSeries, Column, Curve, Difference
from gpudesk.domain.claims import Attribute, Claim, Dispute, Price, Source
from gpudesk.domain.comparison import column_keys, leaders
from gpudesk.domain.estimates import Banded, Estimate, Pool, Pools
from gpudesk.domain.further import Further
from gpudesk.domain.sizing import HowMany
from gpudesk.domain.units import GIB
from gpudesk.domain.workloads import LoadKind
from gpudesk.sentences import sentence
from gpudesk.sheets.cost_json import cost_fields
from gpudesk.sheets.decision_json import decision_fields
from gpudesk.sheets.how_many_json import how_many_fields, plan_fields
from gpudesk.sheets.names import column_names
from gpudesk.sheets.sizing_json import sizing_fields

_FIGURES = (
    "output_tokens_per_s",
    "total_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "ttft_ms",
    "tpot_ms",
    "request_s",
    "batch_s",
)

_CURVE_FIGURES = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")


def sheet_json(answer: Answer, further: Further | None = None) -> str:
    """Return the file's contents."""
    return json.dumps(answer_fields(answer, further), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def answer_fields(answer: Answer, further: Further | None = None) -> dict[str, Any]:
    """Return an answer as JSON values, with how many are needed, what that costs and which to take."""
    how_many = None if further is None else further.how_many
    costs = None if further is None else further.costs
    keys = column_keys(answer.scenario.accelerators)
    names = dict(zip(keys, column_names(answer), strict=True))
    sources: dict[str, Source] = {}
    columns = [_column(key, column, sources) for key, column in zip(keys, answer.columns, strict=True)]
    return {
        "scenario": _scenario(answer),
        "accelerators": columns,
        "differences": [_difference(difference) for difference in answer.differences],
        "no_winner": {
            figure: [keys[position] for position in best]
            for figure in ("output_tokens_per_s", "ttft_ms", "tpot_ms")
            if len(best := leaders(answer, figure)) > 1
        },
        "unranked": [keys[position] for position in answer.unranked],
        "disputes": [dispute_fields(dispute) for dispute in answer.disputes],
        "sources": {name: source_fields(source) for name, source in sorted(sources.items())},
        "notes": [sentence(note) for note in answer.notes],
        "catalog": {"revision": answer.catalog_revision, "date": answer.data_date},
        "calibration": answer.calibration,
        "content_hash": answer.content_hash,
        **({} if how_many is None else how_many_fields(keys, how_many)),
        **_sizing(answer, how_many),
        **({} if costs is None else {"costs": cost_fields(costs)}),
        **_decision(further, names),
    }


def _sizing(answer: Answer, how_many: HowMany | None) -> dict[str, Any]:
    sizing = None if how_many is None else how_many.sizing
    return {} if sizing is None else {"sizing": sizing_fields(sizing, column_names(answer))}


def _decision(further: Further | None, names: Mapping[str, str]) -> dict[str, Any]:
    if further is None or further.decision is None:
        return {}
    return {"decision": decision_fields(further.decision, further.flips, names)}


def _scenario(answer: Answer) -> dict[str, Any]:
    scenario = answer.scenario
    work = scenario.workload
    load = {"kind": work.load.kind.value}
    for name in ("batch", "concurrency", "requests", "request_rate", "ttft_ms", "tpot_ms"):
        if (value := getattr(work.load, name)) is not None:
            load[name] = value
    if work.load.kind is LoadKind.LIMITS:
        load["limit"] = work.load.limit
    return {
        "name": scenario.name,
        "model": scenario.model,
        "weights": scenario.weights.value,
        "kv": scenario.kv.value,
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "lengths": "varied" if work.varied else "fixed",
        "load": load,
    }


def _column(key: str, column: Column, sources: dict[str, Source]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "key": key,
        "accelerator": column.accelerator.id,
        "name": column.accelerator.name,
        "problem": None if column.problem is None else sentence(column.problem),
        "estimate": None if column.estimate is None else _estimate(column.estimate),
        "attributes": [attribute_fields(attribute, sources) for attribute in column.attributes.values()],
    }
    if column.curve is not None:
        fields["curve"] = _curve(column.curve)
    return fields


def _estimate(estimate: Estimate) -> dict[str, Any]:
    use = estimate.memory
    return {
        "fits": estimate.fits,
        "reason": None if estimate.reason is None else sentence(estimate.reason),
        "needs": estimate.needs,
        "count": estimate.count,
        "serving_engine": estimate.serving_engine,
        "parallel": plan_fields(estimate.plan),
        "concurrency": estimate.concurrency,
        "admitted": estimate.admitted,
        "max_concurrency": estimate.max_concurrency,
        "limiter": None if estimate.limiter is None else estimate.limiter.value,
        "basis": estimate.basis.value,
        "stable": estimate.stable,
        **{figure: banded_fields(getattr(estimate, figure)) for figure in _FIGURES},
        "memory_gib": {
            "capacity": use.capacity_bytes / GIB,
            "weights": use.weights_bytes / GIB,
            "kv": use.kv_bytes / GIB,
            "activations": use.activations_bytes / GIB,
            "runtime": use.runtime_bytes / GIB,
            "free": use.free_bytes / GIB,
        },
        "notes": [sentence(note) for note in estimate.notes],
        "pools": None if estimate.pools is None else _pools(estimate.pools),
    }


def _pools(pools: Pools) -> dict[str, Any]:
    return {
        "prefill": _pool(pools.prefill),
        "decode": _pool(pools.decode),
        "transfer_ms": pools.transfer_ms,
        "transfer_gib": pools.transfer_bytes / GIB,
        "link": pools.link,
        "link_busy": pools.link_busy,
        "binding": "link" if pools.binding is None else pools.binding.value,
    }


def _pool(pool: Pool) -> dict[str, Any]:
    return {"count": pool.count, "parallel": plan_fields(pool.plan), "busy": pool.busy}


def banded_fields(figure: Banded | None) -> dict[str, float] | None:
    """Return a figure with its band."""
    return None if figure is None else {"value": figure.value, "low": figure.low, "high": figure.high}


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "concurrency": list(curve.concurrency),
        **{figure: _series(getattr(curve, figure)) for figure in _CURVE_FIGURES},
        "limiter": list(curve.limiter),
        "max_concurrency": curve.max_concurrency,
    }


def _series(series: BandedSeries) -> list[dict[str, float] | None]:
    """Return the figure at each point, null where it has no meaning."""
    return [None if math.isnan(figure.value) else banded_fields(figure) for figure in series]


def attribute_fields(attribute: Attribute, sources: dict[str, Source] | None = None) -> dict[str, Any]:
    """Return an attribute with all its claims; without `sources` each claim carries its source whole."""
    preferred = attribute.preferred
    return {
        "name": attribute.name,
        "value": _plain(attribute.value),
        "unit": attribute.unit,
        "source": None if preferred is None else _named(preferred.source, sources),
        "disputed": attribute.disputed,
        "reason": attribute.reason,
        "claim": None if preferred is None else _claim(preferred, sources),
        "rivals": [_claim(rival, sources) for rival in attribute.rivals],
        "preference": _preference(attribute),
    }


def _preference(attribute: Attribute) -> dict[str, Any] | None:
    """Return the user's choice among the claims, with what the shipped catalog takes; null without one."""
    chosen, shipped = attribute.preference, attribute.shipped
    if chosen is None:
        return None
    return {
        "date": chosen.date,
        "reason": chosen.reason,
        "shipped_value": None if shipped is None else _plain(shipped.value),
        "shipped_source": None if shipped is None else shipped.source.id,
        "shipped_reason": attribute.shipped_reason,
    }


def _claim(claim: Claim, sources: dict[str, Source] | None) -> dict[str, Any]:
    return {
        "value": _plain(claim.value),
        "unit": claim.unit,
        "published": claim.published,
        "source": _named(claim.source, sources),
        "kind": claim.kind.value,
        "conditions": claim.conditions,
        "retrieved": claim.retrieved,
        "note": claim.note,
        "verdict": claim.verdict,
        "own": claim.own,
        "statements": list(claim.statements),
    }


def _named(source: Source, sources: dict[str, Source] | None) -> str | dict[str, Any]:
    """Return the source's id and keep the source, or the whole source where none are kept."""
    if sources is None:
        return source_fields(source)
    sources[source.id] = source
    return source.id


def source_fields(source: Source) -> dict[str, Any]:
    """Return a source."""
    return {
        "id": source.id,
        "title": source.title,
        "publisher": source.publisher,
        "date": source.date,
        "kind": source.kind.value,
        "url": source.url,
        "trust": source.trust,
    }


def price_fields(price: Price) -> dict[str, Any]:
    """Return a price; amounts are US dollars per accelerator, one of them or the ends of a range."""
    return {
        "id": price.id,
        "accelerator": price.accelerator,
        "term": price.term,
        "usd": price.usd,
        "usd_low": price.usd_low,
        "usd_high": price.usd_high,
        "date": price.date,
        "kind": price.kind.value,
        "provider": price.provider,
        "region": price.region,
        "instance": price.instance,
        "accelerators_in_instance": price.accelerators_in_instance,
        "basis": price.basis,
        "note": price.note,
        "source": source_fields(price.source),
        "own": price.own,
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "figure": difference.figure,
        "baseline": difference.baseline,
        "accelerator": difference.accelerator,
        "ratio": banded_fields(difference.ratio),
        "winner": difference.winner,
    }


def dispute_fields(dispute: Dispute) -> dict[str, Any]:
    """Return a dispute."""
    return {
        "id": dispute.id,
        "thing": next(iter(dispute.things), None),
        "things": list(dispute.things),
        "attribute": next(iter(dispute.attributes), dispute.attribute),
        "subject": dispute.subject,
        "claims": [claim for claim in (dispute.claim_a, dispute.claim_b) if claim],
        "disagreement": dispute.disagreement,
        "verdict": dispute.verdict,
        "reason": dispute.reason,
    }
