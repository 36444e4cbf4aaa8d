"""Small stand-ins: parts, a model, and an estimator whose figures are round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import orjson
import pytest

from gpudesk import paths
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import ConcurrencyCurve, FigureDifference, IntervalSeries, LimiterShares
from gpudesk.domain.claim import AttributeClaims, Claim, Dispute, Source, SourceKind
from gpudesk.domain.deployment_analysis import DerivationTerm
from gpudesk.domain.estimate import Estimate, EstimateBasis, EstimateRequest, Limiter, MemoryUse, ParallelPlan
from gpudesk.domain.estimate_json import write_estimate_json
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import SmallestDeployments
from gpudesk.engine.calibration import compute_lead_odds, make_ratio_interval
from gpudesk.estimation.line_answers import LineQuestion
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, message
from gpudesk.text.units import GIB

DATASHEET = Source(
    "maker-sheet", "Data sheet", "Maker", SourceKind.VENDOR_DATASHEET, "https://maker.example/sheet", "2025-03-01"
)
ARTICLE = Source("seed-000", "Which card?", "A magazine", SourceKind.PRESS, None, "2025-06")

_FIGURES = {"h200-sxm": 1000.0, "mi325x": 1250.0, "b200-hgx": 2000.0, "mi355x": 1040.0}


def attribute(
    thing: str, name: str, unit: str | None, value: float | str | None, *rivals: float | str, reason: str = ""
) -> AttributeClaims:
    claims = [Claim(value, unit, DATASHEET, SourceKind.VENDOR_DATASHEET, preferred=True)]
    claims += [Claim(rival, unit, ARTICLE, SourceKind.PRESS, verdict="another part's figure") for rival in rivals]
    return AttributeClaims(thing, name, unit, tuple(claims), reason or None)


def accelerator(name: str, vendor: str = "NVIDIA", memory_gib: int = 141, bandwidth: float = 4.8e12) -> Accelerator:
    return Accelerator(
        id=name,
        name=name.upper(),
        vendor=vendor,
        generation="hopper",
        announced=False,
        platform="CUDA",
        memory_bytes=memory_gib * GIB,
        memory_bandwidth=bandwidth,
        scale_up_bandwidth=9e11,
        scale_up_domain=8,
        tdp_w=700.0,
        form_factor="SXM",
        peak_dense=MappingProxyType({"bf16": 9.894e14, "fp8": 1.9789e15}),
    )


ACCELERATORS = {
    "h200-sxm": accelerator("h200-sxm"),
    "mi325x": accelerator("mi325x", "AMD", 256, 6.0e12),
    "b200-hgx": accelerator("b200-hgx", "NVIDIA", 180, 7.7e12),
    "mi355x": accelerator("mi355x", "AMD", 288, 8.0e12),
}

MODEL = Model(
    id="llama-3.1-70b",
    name="Llama 3.1 70B",
    organisation="Meta",
    hidden_size=8192,
    vocab_size=128_256,
    tied_embeddings=False,
    max_context=131_072,
    native_precision=Precision.BF16,
    layers=(),
)


class FakeCatalog:
    """Four accelerators, one model, one dispute."""

    revision = "0123456789abcdef" * 4
    data_date = "2026-11-20"

    def accelerator(self, name: str) -> Accelerator:
        try:
            return ACCELERATORS[name]
        except KeyError:
            raise InputError(
                message("field.word", "{given} is not one of {allowed}", given=name, allowed=tuple(ACCELERATORS))
            ) from None

    def model(self, name: str) -> Model:
        if name != MODEL.id:
            raise InputError(message("field.word", "{given} is not one of {allowed}", given=name, allowed=(MODEL.id,)))
        return MODEL

    def attributes(self, thing: str) -> tuple[AttributeClaims, ...]:
        if thing == MODEL.id:
            return (attribute(thing, "licence", None, "Llama 3.1 Community"),)
        part = self.accelerator(thing)
        rivals = (5.3e12,) if thing == "mi325x" else ()
        return (
            attribute(thing, "memory", "B", part.memory_bytes),
            attribute(
                thing, "memory_bandwidth", "B/s", part.memory_bandwidth, *rivals, reason="the maker's own figure"
            ),
            attribute(thing, "peak_dense_bf16", "FLOP/s", 9.894e14),
            attribute(thing, "tdp", "W", 700.0),
            attribute(thing, "architecture", None, "Hopper"),
        )

    def disputes(self, thing: str | None = None) -> tuple[Dispute, ...]:
        dispute = Dispute(
            id="D-001",
            claim_a="C000-014",
            claim_b="C000-070",
            subject="MI325X",
            attribute="memory_bandwidth",
            disagreement="5.3 TB/s in the text, 6 TB/s in its own questions",
            verdict="6.0 TB/s",
            reason="5.3 is the figure of the MI300X",
            things=("mi325x",),
            attributes=("memory_bandwidth",),
        )
        return (dispute,) if thing in (None, "mi325x") else ()


def around(value: float) -> IntervalEstimate:
    return IntervalEstimate(value, value * 0.9, value * 1.1)


def estimate(request: EstimateRequest) -> Estimate:
    """Return round figures; 405B-sized requests (more than a million tokens) do not fit."""
    part = ACCELERATORS.get(request.accelerator)
    if part is None:
        raise InputError(
            message(
                "field.word", "{given} is not one of {allowed}", given=request.accelerator, allowed=tuple(ACCELERATORS)
            )
        )
    count = request.count or 1
    use = MemoryUse(part.memory_bytes, 70 * GIB, 10 * GIB, GIB, 2 * GIB, part.memory_bytes - 83 * GIB, 2 * GIB)
    common = Estimate(
        request=request,
        fits=True,
        serving_engine=request.serving_engine or "vllm",
        plan=ParallelPlan(tp=count),
        count=count,
        memory=use,
        max_concurrency=120 * count,
        concurrency=request.workload.load.concurrency,
        admitted=request.workload.load.concurrency,
        limiter=Limiter.MEMORY_BANDWIDTH,
        basis=EstimateBasis.CALIBRATED,
        stable=True,
        notes=(message("estimate.engine_chosen", "Serving engine chosen: {engine}", engine="vLLM"),),
    )
    if request.workload.input_tokens > 100_000:
        reason = message(
            "estimate.request_does_not_fit",
            "One request of this length does not fit {count} × {accelerator}: {missing} too large for the "
            "{capacity} of one accelerator",
            accelerator=part.name,
            count=count,
            missing=(7.0 * GIB, "B"),
            weights=(70.0 * GIB, "B"),
            capacity=(float(part.memory_bytes), "B"),
        )
        return replace(common, fits=False, reason=reason, needs=4, max_concurrency=0, limiter=Limiter.CAPACITY)
    rate = _FIGURES[request.accelerator] * count
    return replace(
        common,
        output_tokens_per_s=around(rate),
        total_tokens_per_s=around(rate * 2),
        output_tokens_per_s_per_accelerator=around(rate / count),
        ttft_ms=around(1e6 / rate),
        tpot_ms=around(62_400 / rate),
        request_s=around(12.5),
    )


def _curve(estimate: Estimate) -> ConcurrencyCurve:
    points = (1, 2, 4, 8)
    rate = _FIGURES[estimate.request.accelerator]
    return ConcurrencyCurve(
        concurrency=points,
        output_tokens_per_s=IntervalSeries(*zip(*(around(rate * n / 8) for n in points), strict=True)),
        output_tokens_per_s_per_accelerator=IntervalSeries(*zip(*(around(rate * n / 8) for n in points), strict=True)),
        ttft_ms=IntervalSeries(*zip(*(around(100.0 * n) for n in points), strict=True)),
        tpot_ms=IntervalSeries(*zip(*(around(10.0 + n) for n in points), strict=True)),
        limiter=("memory bandwidth",) * 4,
        shares=LimiterShares((0.6,) * 4, (0.2,) * 4, (0.1,) * 4, (0.1,) * 4),
        max_concurrency=8,
    )


def _write_line(estimate: Estimate) -> bytes:
    return orjson.dumps(write_estimate_json(estimate, estimate.request.id), option=orjson.OPT_APPEND_NEWLINE)


#: Of the error of a ratio: 4% ahead is too close to call, 25% ahead likely leads.
_SCALE = 0.1


class FakeEstimator:
    """Round figures at once."""

    def estimate(self, request: EstimateRequest) -> Estimate:
        return estimate(request)

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        answers: list[Estimate | InputError] = []
        for request in requests:
            try:
                answers.append(estimate(request))
            except InputError as error:
                answers.append(error)
        return answers

    def answer_lines(self, questions: Sequence[LineQuestion]) -> list[bytes | InputError]:
        answers = self.estimate_many([question.make_request() for question in questions])
        return [answer if isinstance(answer, InputError) else _write_line(answer) for answer in answers]

    def curves(self, estimates: Sequence[Estimate]) -> tuple[ConcurrencyCurve, ...]:
        return tuple(_curve(estimate) for estimate in estimates)

    def needed(self, requests: Sequence[EstimateRequest]) -> tuple[tuple[SmallestDeployments, ...], ...]:
        return ((),) * len(requests)

    def differences(self, baseline: Estimate, other: Estimate) -> tuple[FigureDifference, ...]:
        one, two = baseline.request.accelerator, other.request.accelerator
        return tuple(
            _compare(figure, one, two, b.value / a.value)
            for figure, a, b in (
                ("output_tokens_per_s", baseline.output_tokens_per_s, other.output_tokens_per_s),
                ("ttft_ms", baseline.ttft_ms, other.ttft_ms),
                ("tpot_ms", baseline.tpot_ms, other.tpot_ms),
            )
            if a is not None and b is not None
        )

    def explain(self, estimate: Estimate, figure: str) -> DerivationTerm:
        if figure != "output_tokens_per_s":
            raise InputError(
                message(
                    "field.word", "{given} is not one of {allowed}", given=figure, allowed=("output_tokens_per_s",)
                ),
                "figure",
            )
        bandwidth = DerivationTerm("memory bandwidth", 4.8e12, "B/s", source="maker-sheet")
        step = DerivationTerm("step time", 0.025, "s", "bytes / bandwidth", inputs=(bandwidth,))
        rate = estimate.output_tokens_per_s
        return DerivationTerm(
            figure, None if rate is None else rate.value, "tok/s", "batch / step time", inputs=(step,)
        )


def _compare(figure: str, baseline: str, other: str, ratio: float) -> FigureDifference:
    better = ratio if figure == "output_tokens_per_s" else 1 / ratio
    interval, odds = make_ratio_interval(ratio, _SCALE), compute_lead_odds(better, _SCALE)
    return FigureDifference(figure, other, baseline, interval, odds)


def attributes_of(thing: str) -> Mapping[str, AttributeClaims]:
    return {attribute.name: attribute for attribute in FakeCatalog().attributes(thing)}


def replace_data_path(monkeypatch: pytest.MonkeyPatch, name: str, find: Callable[[], Path]) -> None:
    """Let the program find one file or folder of `data/` elsewhere, or not at all."""
    get_data_path = paths.get_data_path
    monkeypatch.setattr(
        paths, "get_data_path", lambda file_name: find() if file_name == name else get_data_path(file_name)
    )
