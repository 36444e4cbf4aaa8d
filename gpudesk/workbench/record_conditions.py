"""Conditions of questions and of published runs: as the search compares them, and which of them differ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.models import Model
from gpudesk.domain.precision import FORMATS, KV_BYTES, Precision, concrete
from gpudesk.domain.records import Condition
from gpudesk.domain.workloads import Load, LoadKind, Workload
from gpudesk.engine.tensors import active_parameter_count, parameter_count
from gpudesk.engine.work import has_experts, has_latent_cache
from gpudesk.evidence.nearest import Conditions
from gpudesk.workbench.bench_runs import model_family
from gpudesk.workbench.setups import months

#: Sequences that stand for what runs at once of a longer queue: memory decides, and is not compared.
RUN_OF_A_QUEUE = 256
#: Where nobody asked for a date, software differs that is this many months older than the newest.
OLD_MONTHS = 12


def asked_request(estimate: Estimate, vendor: str, newest_month: str) -> EstimateRequest:
    """Return the question with what the program chose: serving engine, count, plan, formats, date."""
    request, plan = estimate.request, estimate.plan
    return replace(
        request,
        serving_engine=estimate.serving_engine,
        count=estimate.count,
        weights=_sixteen(concrete(request.weights, vendor)),
        kv=_sixteen(concrete(request.kv, vendor)),
        tp=plan.tp,
        pp=plan.pp,
        ep=plan.ep,
        dp=plan.dp,
        attention_dp=plan.attention_dp,
        date=request.date or newest_month,
    )


def _sixteen(precision: Precision) -> Precision:
    """Take the two formats of 16 bits as one: they are equally fast."""
    return Precision.FP16 if precision is Precision.BF16 else precision


def conditions(request: EstimateRequest, part: Accelerator, model: Model, family: str) -> Conditions:
    """Return what is compared of a question or run that names count and date; `family` of its engine."""
    work, count = request.workload, float(request.count or 1)
    weights = _sixteen(concrete(request.weights, part.vendor))
    total, active, architecture = _traits(model)
    dp = request.dp or 1
    return Conditions(
        accelerator=part.id,
        generation=part.generation,
        vendor=part.vendor,
        model=model.id,
        family=model_family(model),
        experts=architecture[0],
        latent=architecture[1],
        serving_engine=family,
        weights=weights,
        load=work.load.kind,
        memory_bandwidth=part.memory_bandwidth,
        total_parameters=total,
        active_parameters=active,
        weights_bits=float(FORMATS[weights].bits),
        kv_bits=KV_BYTES[concrete(request.kv, part.vendor)] * 8,
        input_tokens=float(work.input_tokens),
        output_tokens=float(work.output_tokens),
        count=count,
        month=float(months(request.date or "")),
        in_flight=_in_flight(work.load, dp),
        queued=(work.load.requests or 1) / dp if work.load.kind is LoadKind.SATURATE else None,
        request_rate=None if work.load.request_rate is None else work.load.request_rate / count,
        ttft_limit_ms=work.load.ttft_ms,
        tpot_limit_ms=work.load.tpot_ms,
        tp=request.tp,
        pp=request.pp,
        attention_dp=_switch(request.attention_dp, architecture),
        expert_parallel=_switch(None if request.ep is None else request.ep > 1, architecture),
        prefix_hit_rate=work.prefix_hit_rate,
        acceptance_length=work.acceptance_length,
        varied=work.varied,
        server=work.behind_server,
        eager=work.eager,
        disaggregated=request.disaggregated is not None,
    )


@lru_cache(maxsize=256)
def _traits(model: Model) -> tuple[float, float, tuple[str, str]]:
    """Return parameters in all and for one token, and whether there are experts and latents."""
    kinds = ("experts" if has_experts(model) else "dense", "latent" if has_latent_cache(model) else "heads")
    return float(max(1, parameter_count(model))), float(max(1, active_parameter_count(model))), kinds


def _switch(stated: bool | None, architecture: tuple[str, str]) -> float | None:
    """Return a switch that only experts have: where it is not stated, dense models have it off."""
    return False if stated is None and architecture[0] == "dense" else stated


def _in_flight(load: Load, dp: int) -> float | None:
    """Return the sequences that a replica runs at once, as far as the load says."""
    if load.kind is LoadKind.SATURATE:
        return min((load.requests or 1) / dp, RUN_OF_A_QUEUE)
    asked = load.batch or load.concurrency
    return None if asked is None else asked / dp


# What differs


#: Settings that differ only where the question itself gives them.
_SETTINGS = (Condition.MEMORY_FRACTION, Condition.MAX_BATCH, Condition.MAX_BATCHED_TOKENS)


def differences(
    asked: EstimateRequest, original: EstimateRequest, run: EstimateRequest
) -> tuple[Condition, ...]:
    """Return the conditions of a run that are not as asked, in the order in which they are told.

    `asked` has what the program chose, `original` what was left open. What one side leaves open does not
    differ, except that software a year older than the newest is not what anybody expects.
    """
    found = {
        Condition.ACCELERATOR: asked.accelerator != run.accelerator,
        Condition.COUNT: asked.count != run.count,
        Condition.MODEL: asked.model != run.model,
        Condition.WEIGHTS: asked.weights != _sixteen(run.weights),
        Condition.KV: asked.kv != _sixteen(run.kv),
        Condition.SERVING_ENGINE: run.serving_engine not in (None, asked.serving_engine),
        Condition.PLAN: _plan_differs(asked, run),
        Condition.POOLS: asked.disaggregated is not None,
        Condition.DATE: _date_differs(asked, original, run),
        **_work_differences(asked.workload, run.workload),
    }
    for setting in _SETTINGS:
        wanted, had = getattr(original, setting), getattr(run, setting)
        found[setting] = None not in (wanted, had) and wanted != had
    return tuple(condition for condition in Condition if found[condition])


#: Columns of the measurements and the condition that each is part of.
_OF_COLUMN = {
    "accelerator": Condition.ACCELERATOR,
    "count": Condition.COUNT,
    "model": Condition.MODEL,
    "weights": Condition.WEIGHTS,
    "kv": Condition.KV,
    "serving_engine": Condition.SERVING_ENGINE,
    "input_tokens": Condition.LENGTHS,
    "output_tokens": Condition.LENGTHS,
    "load": Condition.LOAD,
    "amount": Condition.LOAD,
    "requests": Condition.LOAD,
    "tp": Condition.PLAN,
    "pp": Condition.PLAN,
    "ep": Condition.PLAN,
    "dp": Condition.PLAN,
    "attention_dp": Condition.PLAN,
    "date": Condition.DATE,
    "server": Condition.SERVER,
    "lengths": Condition.SPREAD,
    "eager": Condition.EAGER,
    "prefix_hit_rate": Condition.PREFIX,
    "memory_fraction": Condition.MEMORY_FRACTION,
    "max_batch": Condition.MAX_BATCH,
    "max_batched_tokens": Condition.MAX_BATCHED_TOKENS,
}


def assumptions(columns: Collection[str]) -> tuple[Condition, ...]:
    """Return the conditions that were filled by judgement, by the columns of which that is said."""
    found = {_OF_COLUMN[column] for column in columns if column in _OF_COLUMN}
    return tuple(condition for condition in Condition if condition in found)


def _work_differences(asked: Workload, run: Workload) -> dict[Condition, bool]:
    lengths, had = ((each.input_tokens, each.output_tokens) for each in (asked, run))
    return {
        Condition.LENGTHS: lengths != had,
        Condition.LOAD: _load_differs(asked.load, run.load),
        Condition.SERVER: asked.behind_server != run.behind_server,
        Condition.SPREAD: asked.varied != run.varied,
        Condition.EAGER: asked.eager != run.eager,
        Condition.PREFIX: asked.prefix_hit_rate != run.prefix_hit_rate,
        Condition.SPECULATION: asked.acceptance_length != run.acceptance_length,
    }


def _load_differs(asked: Load, run: Load) -> bool:
    """Whether loads differ; a closed loop without an end is like one that some requests go through."""
    if asked.kind is LoadKind.CONCURRENCY and asked.requests is None:
        run = replace(run, requests=None)
    return asked != run


def _plan_differs(asked: EstimateRequest, run: EstimateRequest) -> bool:
    """Whether a degree that the publication states is another one; the number of replicas follows."""
    pairs = ((getattr(asked, name), getattr(run, name)) for name in ("tp", "pp", "ep", "attention_dp"))
    return any(had is not None and wanted != had for wanted, had in pairs)


def _date_differs(asked: EstimateRequest, original: EstimateRequest, run: EstimateRequest) -> bool:
    apart = months(asked.date or "") - months(run.date or "")
    return apart >= OLD_MONTHS if original.date is None else apart != 0
