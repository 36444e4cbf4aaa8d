"""Answers, catalog facts and export tables as JSON: figures in the units of their names, values with claims."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gpudesk.domain.answer import Answer, ComparisonColumn, LeadVerdict, SheetExtras, find_leaders
from gpudesk.domain.claim import ApiPrice, AttributeClaims, Claim, Dispute, MissingPrice, PriceRecord, Source
from gpudesk.domain.estimate import Estimate, LoadKind
from gpudesk.domain.estimate_json import encode_each, encode_fields, encode_value, write_estimate_json
from gpudesk.domain.registry import FIGURES, list_curve_figures, list_headline_figures
from gpudesk.report.comparison.verdicts import describe_comparison
from gpudesk.report.labels import list_column_names
from gpudesk.report.writers.decision_json import encode_decision
from gpudesk.report.writers.export_table import ExportTable, drop_not_finite
from gpudesk.report.writers.json_values import encode_costs, encode_counts, encode_fleets, encode_sizing
from gpudesk.report.writers.safe_text import drop_surrogates
from gpudesk.text.formatting import Formatter

_ESTIMATE_KEYS = (
    "fits",
    "reason",
    "needs",
    "count",
    "serving_engine",
    "parallel",
    "concurrency",
    "admitted",
    "max_concurrency",
    "limiter",
    "basis",
    "stable",
)


def write_sheet_json(answer: Answer, further: SheetExtras | None = None) -> str:
    return json.dumps(encode_answer(answer, further), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def encode_answer(answer: Answer, further: SheetExtras | None = None) -> dict[str, Any]:
    """Return an answer as JSON values, with counts, their costs and the recommendation."""
    extras = SheetExtras() if further is None else further
    keys = answer.keys
    names = list_column_names(answer)
    sources: dict[str, Source] = {}
    encoded = {
        "scenario": _encode_scenario(answer),
        "accelerators": [
            _encode_column(key, column, sources) for key, column in zip(keys, answer.columns, strict=True)
        ],
        "differences": encode_each(answer.differences, "figure baseline accelerator ratio odds winner"),
        "no_winner": {
            figure: [keys[position] for position in best]
            for figure in list_headline_figures()
            if len(best := find_leaders(answer, figure, LeadVerdict.LIKELY_LEADS)) > 1
        },
        "unranked": [keys[position] for position in answer.unranked],
        "disputes": [encode_dispute(dispute) for dispute in answer.disputes],
        "sources": {name: encode_source(source) for name, source in sorted(sources.items())},
        "notes": encode_value(answer.notes),
        "catalog": {"revision": answer.catalog_revision, "date": answer.data_date},
        **encode_fields(answer, "calibration content_hash"),
    }
    if extras.how_many is not None:
        encoded |= encode_counts(keys, extras.how_many)
        if extras.how_many.sizing is not None:
            encoded["sizing"] = encode_sizing(extras.how_many.sizing, names)
    if extras.costs is not None:
        encoded["costs"] = encode_costs(extras.costs)
    if extras.fleet is not None:
        encoded["fleet"] = encode_fleets(extras.fleet)
    if extras.leading is not None:
        encoded["verdict"] = " ".join(describe_comparison(answer, extras.leading, Formatter()))
    if extras.decision is not None:
        encoded["decision"] = encode_decision(extras.decision, extras.flips, dict(zip(keys, names, strict=True)))
    return encoded


def _encode_scenario(answer: Answer) -> dict[str, Any]:
    scenario = answer.scenario
    if not answer.has_load:
        return {**encode_fields(scenario, "name model"), "load": None}
    work = scenario.workload
    load = {"kind": work.load.kind.value, **work.load.list_stated_fields()}
    if work.load.kind is LoadKind.LIMITS:
        load["limit"] = work.load.limit
    return {
        **encode_fields(scenario, "name model weights kv"),
        **encode_fields(work, "input_tokens output_tokens"),
        "lengths": "varied" if work.varied else "fixed",
        "load": load,
    }


def _encode_column(key: str, column: ComparisonColumn, sources: dict[str, Source]) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "key": key,
        **encode_fields(column.accelerator, "accelerator=id name"),
        "problem": encode_value(column.problem),
        "estimate": None if column.estimate is None else _encode_estimate(column.estimate),
        "attributes": [encode_attribute(attribute, sources) for attribute in column.attributes.values()],
    }
    curve = column.curve
    if curve is not None:
        encoded["curve"] = {
            "concurrency": list(curve.concurrency),
            **{figure: list(map(encode_value, getattr(curve, figure))) for figure in list_curve_figures()},
            **encode_fields(curve, "limiter max_concurrency"),
        }
    return encoded


def _encode_estimate(estimate: Estimate) -> dict[str, Any]:
    """Return the content of a line of `estimate --batch`, in the order of this file; `needs` and `reason` always."""
    values = write_estimate_json(estimate)
    return {name: values.get(name) for name in (*_ESTIMATE_KEYS, *FIGURES, "memory_gib", "notes", "pools")}


def encode_attribute(attribute: AttributeClaims, sources: dict[str, Source] | None = None) -> dict[str, Any]:
    """Return an attribute with all its claims; without `sources` each claim includes its full source."""
    preferred = attribute.preferred
    return {
        **encode_fields(attribute, "name value unit"),
        "source": None if preferred is None else _name_source(preferred.source, sources),
        **encode_fields(attribute, "disputed reason"),
        "claim": None if preferred is None else _encode_claim(preferred, sources),
        "rivals": [_encode_claim(rival, sources) for rival in attribute.rivals],
        "preference": _encode_preference(attribute),
    }


def _encode_preference(attribute: AttributeClaims) -> dict[str, Any] | None:
    """Return the user's choice among the claims, with the shipped one; null without a choice."""
    chosen, shipped = attribute.preference, attribute.shipped
    if chosen is None:
        return None
    return {
        **encode_fields(chosen, "date reason"),
        "shipped_value": None if shipped is None else encode_value(shipped.value),
        "shipped_source": None if shipped is None else shipped.source.id,
        "shipped_reason": attribute.shipped_reason,
    }


def _encode_claim(claim: Claim, sources: dict[str, Source] | None) -> dict[str, Any]:
    return {
        **encode_fields(claim, "value unit published"),
        "source": _name_source(claim.source, sources),
        **encode_fields(claim, "kind conditions retrieved note verdict own statements"),
    }


def _name_source(source: Source, sources: dict[str, Source] | None) -> str | dict[str, Any]:
    """Return the source's id and store the source, or the full source without a store."""
    if sources is None:
        return encode_source(source)
    sources[source.id] = source
    return source.id


def encode_source(source: Source) -> dict[str, Any]:
    return encode_fields(source, "id title publisher date kind url trust")


def encode_price(price: PriceRecord) -> dict[str, Any]:
    """Return a price; amounts are US dollars per accelerator, single or a range."""
    return {
        **encode_fields(
            price,
            "id accelerator term usd usd_low usd_high date kind provider provider_class region instance "
            "accelerators_in_instance basis note",
        ),
        "source": encode_source(price.source),
        "own": price.own,
    }


def encode_dated_price(price: ApiPrice | MissingPrice) -> dict[str, Any]:
    """Return the price of a hosted model, or which prices of an accelerator are not public."""
    return {**encode_value(price), "source": encode_source(price.source)}


def encode_dispute(dispute: Dispute) -> dict[str, Any]:
    return {
        "id": dispute.id,
        "thing": next(iter(dispute.things), None),
        "things": list(dispute.things),
        "attribute": next(iter(dispute.attributes), dispute.attribute),
        "subject": dispute.subject,
        "claims": [claim for claim in (dispute.claim_a, dispute.claim_b) if claim],
        **encode_fields(dispute, "disagreement verdict reason"),
    }


def write_table_json(table: ExportTable) -> bytes:
    """Return the file's contents, one line per row, column, source and note."""
    keys = [column.key for column in table.head]
    sections: dict[str, list[Any]] = {
        "columns": encode_each(table.head, "key name unit about"),
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
    # Written item by item, because only unindented lines are written fast.
    return drop_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True))
