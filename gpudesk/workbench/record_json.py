"""Published figures near to one of an estimate as the list of JSON objects that `explain` writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gpudesk.domain.records import Record


def record_fields(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return an object for each record, the nearest first; `error` is predicted over measured, less 1."""
    return [_record(record) for record in records]


def _record(record: Record) -> dict[str, Any]:
    run, work, source = record.request, record.request.workload, record.source
    return {
        "row": record.row,
        "figure": record.figure,
        "measured": record.measured,
        "predicted": record.predicted,
        "error": record.ratio - 1,
        "inside_band": record.inside_band,
        "distance": record.distance,
        "near": record.near,
        "as_asked": record.as_asked,
        "differs": [str(condition) for condition in record.differs],
        "assumed": [str(condition) for condition in record.assumed],
        "accelerator": run.accelerator,
        "count": run.count,
        "model": run.model,
        "weights": str(run.weights),
        "kv": str(run.kv),
        "serving_engine": run.serving_engine,
        "engine_version": record.engine_version,
        "date": run.date,
        "tp": run.tp,
        "pp": run.pp,
        "ep": run.ep,
        "dp": run.dp,
        "attention_dp": run.attention_dp,
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "load": {name: value for name, value in _load(record) if value is not None},
        "source": {
            "id": source.id,
            "title": source.title,
            "publisher": source.publisher,
            "kind": str(source.kind),
            "url": source.url,
            "date": source.date,
        },
    }


def _load(record: Record) -> Iterable[tuple[str, Any]]:
    load = record.request.workload.load
    yield "kind", str(load.kind)
    for name in ("batch", "concurrency", "requests", "request_rate", "ttft_ms", "tpot_ms"):
        yield name, getattr(load, name)
