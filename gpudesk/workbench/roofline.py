"""Rooflines: what the part offers, what of it is reached, and where prefill and decode stand.

Bytes and FLOPs are counted by the step functions of the engine, from the row that the deployment would have
if nothing were lost: its seconds times the bandwidth are bytes, times the peak of their class FLOPs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpudesk.domain.charts import Roof, Roofline, RooflinePoint
from gpudesk.engine.operating import lossless_row
from gpudesk.engine.rates import Rates
from gpudesk.engine.steps import ClassTimes, Rows, StepRow, decode_classes, prefill_classes, prefill_step
from gpudesk.engine.work import Offer
from gpudesk.workbench.candidates import Candidate
from gpudesk.workbench.deployed import Operation


@dataclass(frozen=True, slots=True)
class _Work:
    """What one accelerator reads and computes in one step, by operator class: bytes and FLOPs."""

    dense: tuple[float, float]
    experts: tuple[float, float]
    head: tuple[float, float]
    attention: tuple[float, float]

    @property
    def read_bytes(self) -> float:
        """Bytes of weights and cache."""
        return self.dense[0] + self.experts[0] + self.head[0] + self.attention[0]

    @property
    def flop(self) -> float:
        """FLOPs of all classes."""
        return self.dense[1] + self.experts[1] + self.head[1] + self.attention[1]


def roofline(candidate: Candidate, operation: Operation) -> Roofline:
    """Return the roofs over a deployment and its points; `operation` is that of this deployment alone."""
    offered, rates = candidate.offered, candidate.rates
    row = _counting_row(candidate)
    decode, prefill = _decode(row, offered, operation), _prefill(row, offered, operation)
    return Roofline(
        arithmetic=candidate.situation.arithmetic,
        peak_precision=offered.expert_peak.precision,
        paper=Roof(offered.bandwidth, offered.expert_peak.flops),
        effective=Roof(
            _effective_bandwidth(decode[0], offered, rates), _effective_flops(prefill[0], offered, rates)
        ),
        prefill=prefill[1],
        decode=decode[1],
    )


def _counting_row(candidate: Candidate) -> StepRow:
    """Return the lossless row, in which attention ranks count as they work on average, not as the busiest."""
    row = lossless_row(candidate.work, candidate.rates.expert_evenness)
    return replace(row, attention_ranks=1.0, head_flop=row.head_flop / row.attention_ranks)


def _work(classes: ClassTimes, offered: Offer) -> _Work:
    def of(times: tuple[np.ndarray, np.ndarray], peak: float) -> tuple[float, float]:
        read, arithmetic = times
        return float(read[0]) * offered.bandwidth, float(arithmetic[0]) * peak

    return _Work(
        dense=of(classes.dense, offered.dense_peak.flops),
        experts=of(classes.experts, offered.expert_peak.flops),
        head=of(classes.head, offered.attention_peak.flops),
        attention=of(classes.attention, offered.attention_peak.flops),
    )


def _decode(row: StepRow, offered: Offer, operation: Operation) -> tuple[_Work, RooflinePoint | None]:
    rows, requests = Rows(Rows.table([row])), operation.arrays.requests
    running = np.maximum(operation.results.running, 1.0)
    micro_batch = np.maximum(running / rows.stages, 1.0)
    work = _work(decode_classes(rows, micro_batch, requests.context), offered)
    if requests.output[0] <= 1.0 or operation.results.running[0] <= 0.0:
        return work, None
    # With fewer sequences than pipeline stages the others stand idle.
    busy = float(np.minimum(running / rows.stages, 1.0)[0])
    tokens = float((micro_batch * rows.verified_tokens)[0])
    seconds = float(operation.rounds.decode.total[0]) / busy
    return work, RooflinePoint(tokens, work.flop, work.read_bytes, seconds)


def _prefill(row: StepRow, offered: Offer, operation: Operation) -> tuple[_Work, RooflinePoint | None]:
    arrays, results = operation.arrays, operation.results
    prompt = np.maximum(arrays.requests.prompt, 1.0)
    chunk, step = prefill_step(arrays.rows, prompt, results.waiting, arrays.requests.cached)
    rows = Rows(Rows.table([row]))
    work = _work(prefill_classes(rows, prompt, chunk, chunk, arrays.requests.cached), offered)
    if results.running[0] <= 0.0:
        return work, None
    return work, RooflinePoint(float(chunk[0]), work.flop, work.read_bytes, float(step.total[0]))


def _effective_bandwidth(work: _Work, offered: Offer, rates: Rates) -> float:
    """Bytes/s: bytes of the step / sum over classes of bytes / (bandwidth x efficiency)."""
    seconds = (
        (work.dense[0] + work.head[0]) / rates.dense_read_efficiency
        + work.experts[0] / rates.expert_read_efficiency
        + work.attention[0] / rates.kv_read_efficiency
    ) / offered.bandwidth
    return float(work.read_bytes / (seconds * rates.stretch))


def _effective_flops(work: _Work, offered: Offer, rates: Rates) -> float:
    """FLOP/s: FLOPs of the step / sum over classes of FLOPs / (peak x efficiency)."""
    seconds = (
        work.dense[1] / (offered.dense_peak.flops * rates.dense_efficiency)
        + work.experts[1] / (offered.expert_peak.flops * rates.expert_efficiency)
        + work.head[1] / (offered.attention_peak.flops * rates.dense_efficiency)
        + work.attention[1] / (offered.attention_peak.flops * rates.attention_efficiency)
    )
    return float(work.flop / (seconds * rates.stretch))
