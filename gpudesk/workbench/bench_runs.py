"""From published runs to what the fit takes: each is asked of the program as any question is.

Serving engine, kernels, plans, memory and admission are those that an estimate of the run would have, so that
what is fitted and judged is the program that answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.measurements import MeasuredRun
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.models import Model
from gpudesk.engine.constants import Calibration
from gpudesk.engine.work import has_experts
from gpudesk.evidence.bench import BenchCandidate, BenchRun
from gpudesk.workbench.candidates import situation_of
from gpudesk.workbench.cases import SetupTable
from gpudesk.workbench.estimating import Facts
from gpudesk.workbench.setups import Frame

#: Mean contexts (tokens) at which runs are sliced in reports, and their names.
_CONTEXTS = ((1024, "to 1k"), (4096, "to 4k"), (16384, "to 16k"))


@dataclass(frozen=True, slots=True)
class RefusedRun:
    """A run that the program would not answer, and why."""

    run: MeasuredRun
    reason: Message


def bench_runs(
    runs: Iterable[MeasuredRun], facts: Facts, calibration: Calibration
) -> tuple[list[BenchRun], list[RefusedRun]]:
    """Return the runs with every plan that they may have been run with, and those that cannot be asked."""
    table = SetupTable(facts, calibration)
    made: list[BenchRun] = []
    refused: list[RefusedRun] = []
    for run in runs:
        try:
            made.append(_bench_run(run, table))
        except InputError as error:
            refused.append(RefusedRun(run, error.problem))
    return made, refused


def _bench_run(run: MeasuredRun, table: SetupTable) -> BenchRun:
    request = run.request
    setup = table.setup(request)
    tokens = request.workload.input_tokens + request.workload.output_tokens
    fitting = [
        BenchCandidate(situation_of(request, setup.frame, placed), placed.budget, placed.capacity(tokens))
        for placed in table.placements(request, setup, setup.counts[0])
        if placed.budget.max_sequences(tokens) >= 1
    ]
    if not fitting:
        raise InputError(message("calibration.run_does_not_fit", run=run.id))
    return BenchRun(
        id=run.id,
        model=setup.frame.model,
        workload=request.workload,
        figures=run.figures,
        traits=_traits(run, setup.frame, fitting),
        candidates=tuple(fitting),
    )


def _traits(run: MeasuredRun, frame: Frame, fitting: list[BenchCandidate]) -> dict[str, str]:
    """Return what a run can be left out or sliced by."""
    request, part = run.request, frame.accelerator
    plans = {candidate.situation.plan for candidate in fitting}
    tensor = {plan.tp for plan in plans}
    return {
        "series": run.series,
        "source": run.source,
        "model": frame.model.id,
        "family": model_family(frame.model),
        "accelerator": part.id,
        "generation": part.generation,
        "vendor": part.vendor,
        "load": str(request.workload.load.kind),
        "engine": frame.engine.family,
        "version": f"{frame.engine.id} {run.engine_version or request.date or ''}".strip(),
        "weights": str(frame.weights),
        "experts": "mixture of experts" if has_experts(frame.model) else "dense",
        "tp": str(tensor.pop()) if len(tensor) == 1 else "not stated",
        "context": _context(request),
        "date": request.date or "",
    }


def _context(request: EstimateRequest) -> str:
    held = request.workload.input_tokens + request.workload.output_tokens / 2
    return next((name for most, name in _CONTEXTS if held <= most), "longer")


def model_family(model: Model) -> str:
    """Return the family of a model by its id: the name before a version, with the major one of Llama."""
    words = model.id.split("-")
    if words[0] == "gpt":
        return "-".join(words[:2])
    return f"llama-{words[1][0]}" if words[0] == "llama" else words[0]
