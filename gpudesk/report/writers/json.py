"""Answers, catalog facts and export tables as JSON: figures in the units of their names, values with claims."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from gpudesk.domain.answer import (
    Answer,
    ComparisonColumn,
    ConcurrencyCurve,
    FigureDifference,
    IntervalSeries,
    SheetExtras,
    find_leaders,
    make_column_keys,
)
from gpudesk.domain.claim import AttributeClaims, Claim, Dispute, PriceRecord, Source
from gpudesk.domain.estimate import AcceleratorPool, DisaggregatedPools, Estimate
from gpudesk.domain.registry import FIGURES, list_headline_figures
from gpudesk.domain.sizing import AcceleratorNeeds
from gpudesk.domain.workload import LoadKind
from gpudesk.report.labels import list_column_names
from gpudesk.report.writers.decision_json import encode_decision
from gpudesk.report.writers.export_table import ExportTable, drop_not_finite
from gpudesk.report.writers.safe_text import drop_surrogates
from gpudesk.report.writers.sizing_json import encode_costs, encode_counts, encode_plan, encode_sizing
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import format_message
from gpudesk.text.units import GIB

_CURVE_FIGURES = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")


def write_sheet_json(answer: Answer, further: SheetExtras | None = None) -> str:
    return json.dumps(encode_answer(answer, further), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def encode_answer(answer: Answer, further: SheetExtras | None = None) -> dict[str, Any]:
    how_many = None if further is None else further.how_many
    costs = None if further is None else further.costs
    keys = make_column_keys(answer.scenario.accelerators)
    names = dict(zip(keys, list_column_names(answer), strict=True))
    sources: dict[str, Source] = {}
    columns = [_encode_column(key, column, sources) for key, column in zip(keys, answer.columns, strict=True)]
    return {
        "scenario": _encode_scenario(answer),
        "accelerators": columns,
        "differences": [_encode_difference(difference) for difference in answer.differences],
        "no_winner": {
            figure: [keys[position] for position in best]
            for figure in list_headline_figures()
            if len(best := find_leaders(answer, figure)) > 1
        },
        "unranked": [keys[position] for position in answer.unranked],
        "disputes": [encode_dispute(dispute) for dispute in answer.disputes],
        "sources": {name: encode_source(source) for name, source in sorted(sources.items())},
        "notes": [format_message(note) for note in answer.notes],
        "catalog": {"revision": answer.catalog_revision, "date": answer.data_date},
        "calibration": answer.calibration,
        "content_hash": answer.content_hash,
        **({} if how_many is None else encode_counts(keys, how_many)),
        **_encode_sizing_of_answer(answer, how_many),
        **({} if costs is None else {"costs": encode_costs(costs)}),
        **_encode_decision_of_answer(further, names),
    }


def _encode_sizing_of_answer(answer: Answer, how_many: AcceleratorNeeds | None) -> dict[str, Any]:
    sizing = None if how_many is None else how_many.sizing
    return {} if sizing is None else {"sizing": encode_sizing(sizing, list_column_names(answer))}


def _encode_decision_of_answer(further: SheetExtras | None, names: Mapping[str, str]) -> dict[str, Any]:
    if further is None or further.decision is None:
        return {}
    return {"decision": encode_decision(further.decision, further.flips, names)}


def _encode_scenario(answer: Answer) -> dict[str, Any]:
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


def _encode_column(key: str, column: ComparisonColumn, sources: dict[str, Source]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "key": key,
        "accelerator": column.accelerator.id,
        "name": column.accelerator.name,
        "problem": None if column.problem is None else format_message(column.problem),
        "estimate": None if column.estimate is None else _encode_estimate(column.estimate),
        "attributes": [encode_attribute(attribute, sources) for attribute in column.attributes.values()],
    }
    if column.curve is not None:
        fields["curve"] = _encode_curve(column.curve)
    return fields


def _encode_estimate(estimate: Estimate) -> dict[str, Any]:
    use = estimate.memory
    return {
        "fits": estimate.fits,
        "reason": None if estimate.reason is None else format_message(estimate.reason),
        "needs": estimate.needs,
        "count": estimate.count,
        "serving_engine": estimate.serving_engine,
        "parallel": encode_plan(estimate.plan),
        "concurrency": estimate.concurrency,
        "admitted": estimate.admitted,
        "max_concurrency": estimate.max_concurrency,
        "limiter": None if estimate.limiter is None else estimate.limiter.value,
        "basis": estimate.basis.value,
        "stable": estimate.stable,
        **{figure: encode_interval(getattr(estimate, figure)) for figure in FIGURES},
        "memory_gib": {
            "capacity": use.capacity_bytes / GIB,
            "weights": use.weights_bytes / GIB,
            "kv": use.kv_bytes / GIB,
            "activations": use.activations_bytes / GIB,
            "runtime": use.runtime_bytes / GIB,
            "free": use.free_bytes / GIB,
        },
        "notes": [format_message(note) for note in estimate.notes],
        "pools": None if estimate.pools is None else _encode_pools(estimate.pools),
    }


def _encode_pools(pools: DisaggregatedPools) -> dict[str, Any]:
    return {
        "prefill": _encode_pool(pools.prefill),
        "decode": _encode_pool(pools.decode),
        "transfer_ms": pools.transfer_ms,
        "transfer_gib": pools.transfer_bytes / GIB,
        "link": pools.link,
        "link_busy": pools.link_busy,
        "binding": "link" if pools.binding is None else pools.binding.value,
    }


def _encode_pool(pool: AcceleratorPool) -> dict[str, Any]:
    return {"count": pool.count, "parallel": encode_plan(pool.plan), "busy": pool.busy}


def encode_interval(figure: IntervalEstimate | None) -> dict[str, float] | None:
    return None if figure is None else {"value": figure.value, "low": figure.low, "high": figure.high}


def _encode_curve(curve: ConcurrencyCurve) -> dict[str, Any]:
    return {
        "concurrency": list(curve.concurrency),
        **{figure: _encode_series(getattr(curve, figure)) for figure in _CURVE_FIGURES},
        "limiter": list(curve.limiter),
        "max_concurrency": curve.max_concurrency,
    }


def _encode_series(series: IntervalSeries) -> list[dict[str, float] | None]:
    """Return the figure at each point, null where it has no meaning."""
    return [None if math.isnan(figure.value) else encode_interval(figure) for figure in series]


def encode_attribute(attribute: AttributeClaims, sources: dict[str, Source] | None = None) -> dict[str, Any]:
    """Return an attribute with all its claims; without `sources` each claim carries its source whole."""
    preferred = attribute.preferred
    return {
        "name": attribute.name,
        "value": _as_plain_value(attribute.value),
        "unit": attribute.unit,
        "source": None if preferred is None else _name_source(preferred.source, sources),
        "disputed": attribute.disputed,
        "reason": attribute.reason,
        "claim": None if preferred is None else _encode_claim(preferred, sources),
        "rivals": [_encode_claim(rival, sources) for rival in attribute.rivals],
        "preference": _encode_preference(attribute),
    }


def _encode_preference(attribute: AttributeClaims) -> dict[str, Any] | None:
    """Return the user's choice among the claims, with what the shipped catalog takes; null without one."""
    chosen, shipped = attribute.preference, attribute.shipped
    if chosen is None:
        return None
    return {
        "date": chosen.date,
        "reason": chosen.reason,
        "shipped_value": None if shipped is None else _as_plain_value(shipped.value),
        "shipped_source": None if shipped is None else shipped.source.id,
        "shipped_reason": attribute.shipped_reason,
    }


def _encode_claim(claim: Claim, sources: dict[str, Source] | None) -> dict[str, Any]:
    return {
        "value": _as_plain_value(claim.value),
        "unit": claim.unit,
        "published": claim.published,
        "source": _name_source(claim.source, sources),
        "kind": claim.kind.value,
        "conditions": claim.conditions,
        "retrieved": claim.retrieved,
        "note": claim.note,
        "verdict": claim.verdict,
        "own": claim.own,
        "statements": list(claim.statements),
    }


def _name_source(source: Source, sources: dict[str, Source] | None) -> str | dict[str, Any]:
    """Return the source's id and keep the source, or the whole source where none are kept."""
    if sources is None:
        return encode_source(source)
    sources[source.id] = source
    return source.id


def encode_source(source: Source) -> dict[str, Any]:
    return {
        "id": source.id,
        "title": source.title,
        "publisher": source.publisher,
        "date": source.date,
        "kind": source.kind.value,
        "url": source.url,
        "trust": source.trust,
    }


def encode_price(price: PriceRecord) -> dict[str, Any]:
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
        "source": encode_source(price.source),
        "own": price.own,
    }


def _as_plain_value(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _encode_difference(difference: FigureDifference) -> dict[str, Any]:
    return {
        "figure": difference.figure,
        "baseline": difference.baseline,
        "accelerator": difference.accelerator,
        "ratio": encode_interval(difference.ratio),
        "winner": difference.winner,
    }


def encode_dispute(dispute: Dispute) -> dict[str, Any]:
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


def write_table_json(table: ExportTable) -> bytes:
    """Return the file's contents, a line for each row, column, source and note."""
    keys = [column.key for column in table.head]
    sections: dict[str, list[Any]] = {
        "columns": [
            {"key": column.key, "name": column.name, "unit": column.unit, "about": column.about}
            for column in table.head
        ],
        "notes": list(table.notes),
        "rows": [dict(zip(keys, map(drop_not_finite, row), strict=True)) for row in table.rows],
        "sources": [encode_source(source) for source in table.sources],
    }
    lines = ",\n".join(f'"{name}": {_write_json_items(items)}' for name, items in sections.items())
    return f'{{\n{lines},\n"title": {_write_json_line(table.title)}\n}}\n'.encode()


def _write_json_items(items: Iterable[Any]) -> str:
    lines = ",\n".join(map(_write_json_line, items))
    return f"[\n{lines}\n]" if lines else "[]"


def _write_json_line(value: object) -> str:
    # Written item by item, since only lines without indents are written fast.
    return drop_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True))
