"""A sized demand as JSON values."""

from __future__ import annotations

from typing import Any

from gpudesk.domain.demand import Candidate, Sizing
from gpudesk.domain.formatting import Formatter
from gpudesk.sentences import sentence
from gpudesk.sheets.how_many_json import plan_fields
from gpudesk.sheets.sizing_words import sizing_sentence


def sizing_fields(sizing: Sizing, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the candidates, and the peak that they carry; `names` are what the accelerators are called."""
    return {
        "requests_per_s": sizing.requests_per_s,
        "output_tokens_per_s": sizing.output_tokens_per_s,
        "candidates": [
            _candidate(sizing, each, name) for each, name in zip(sizing.candidates, names, strict=True)
        ],
    }


def _candidate(sizing: Sizing, candidate: Candidate, name: str) -> dict[str, Any]:
    answered = candidate.count is not None
    estimate, bound, rate = candidate.estimate, candidate.bound, candidate.output_tokens_per_s
    return {
        "accelerator": candidate.accelerator,
        "replicas": candidate.replicas if answered else None,
        "parallel": plan_fields(candidate.plan) if answered else None,
        "spare": candidate.spare if answered else None,
        "count": candidate.count,
        "nodes": candidate.nodes if answered else None,
        "concurrency_per_replica": candidate.concurrency_per_replica if answered else None,
        "concurrency": candidate.concurrency if answered else None,
        "factors": [
            {"name": factor.name, "value": factor.value, "unit": factor.unit} for factor in candidate.factors
        ],
        "output_tokens_per_s": None if rate is None else rate._asdict(),
        "power_kw": candidate.power_kw,
        "serving_engine": None if estimate is None else estimate.serving_engine,
        "bound": None
        if bound is None
        else {
            "floor": bound.floor,
            "ratio": bound.ratio,
            "reasons": [sentence(reason) for reason in bound.reasons],
        },
        "reason": None if candidate.reason is None else sentence(candidate.reason),
        "notes": [sentence(note) for note in candidate.notes],
        "sentence": sizing_sentence(sizing, candidate, name, Formatter()),
    }
