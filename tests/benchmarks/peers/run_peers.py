"""Ask other estimators for the figures of every measured run that is used, and keep what they answer.

`make peers` installs them in environments of their own under `build/peers/` and calls this program, which
writes two files that the accuracy report reads, so that no report needs the peers themselves:

- `data/accuracy/peers.csv`: run, peer, its version, setting, figure, value; without a value the reason why
  none exists. The names and units of the figures are those of the measured runs.
- `data/accuracy/peers-speed.csv`: how many runs each peer answered, under all its settings, and the processor
  time that it took on this machine, next to this program on the same runs.

The reasons: no data for the `accelerator`, the `serving engine` or the `kernels` of the format; a `model`, a
`format`, a `plan` or a `load` that the peer does not know; no room in its `memory` account; nothing within
the `limits`; a `figure` that it does not give for such a run.

What a run leaves open (the plan) each estimator chooses by its own highest throughput among the same plans.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpudesk
from gpudesk import paths
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, ParallelPlan
from gpudesk.domain.model import Attention, DenseFfn, Model, MoeFfn
from gpudesk.engine.step_work import find_link
from gpudesk.estimation.estimator import Estimator
from gpudesk.evidence.measured_runs import MeasuredRun, read_measured_runs
from gpudesk.service import GpuDeskService

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENTS = ROOT / "build" / "peers"
ANSWERS = ROOT / "data" / "accuracy" / "peers.csv"
SPEED = ROOT / "data" / "accuracy" / "peers-speed.csv"

#: One direction of one accelerator between hosts in bytes/s; hardly any run spans hosts.
_NODE_BANDWIDTH = 50e9
#: Tensor-parallel degrees that are tried where a run does not state one.
_DEGREES = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Peer:
    """An estimator: its environment, the module that asks it, and what that takes."""

    environment: str
    module: str
    arguments: tuple[str, ...] = ()


PEERS = (
    Peer("aiconfigurator", "ask_aiconfigurator", (str(ENVIRONMENTS / "networks"),)),
    Peer("llm-analysis", "ask_llm_analysis"),
)


def described(run: MeasuredRun, part: Accelerator, model: Model) -> dict[str, Any]:
    request = run.request
    work = request.workload
    return {
        "run": run.id,
        "accelerator": part.id,
        "model": model.id,
        "weights": str(request.weights),
        "kv": str(request.kv),
        "serving_engine": request.serving_engine,
        "plans": [_plan(plan, part) for plan in plans(request, model)],
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "load": _load(work.load),
        "memory_fraction": request.memory_fraction,
        "max_batch": request.max_batch,
        "network": network(model),
        "part": {
            "memory_bytes": part.memory_bytes,
            "memory_bandwidth": part.memory_bandwidth,
            "peaks": dict(part.peak_dense),
        },
    }


def plans(request: EstimateRequest, model: Model) -> list[ParallelPlan]:
    """Return the plans that a run leaves open; one where it states all degrees."""
    pp = request.pp or 1
    experts = max((group.ffn.experts for group in model.layers if isinstance(group.ffn, MoeFfn)), default=0)
    degrees = []
    for tp in (request.tp,) if request.tp else _DEGREES:
        if request.count is not None and request.count % (tp * pp):
            continue
        dp = request.dp or (request.count or tp * pp) // (tp * pp)
        for ep, attention_dp in _spreads(request, tp, experts):
            degrees.append(ParallelPlan(tp, pp, ep, dp, attention_dp))
    return degrees


def _spreads(request: EstimateRequest, tp: int, experts: int) -> Iterator[tuple[int, bool]]:
    """Yield the expert degrees and whether attention runs data-parallel, as far as a run leaves them open.

    Attention runs data-parallel over spread experts unless the run states otherwise.
    """
    if not experts or tp == 1:
        yield request.ep or 1, bool(request.attention_dp)
        return
    for ep in (request.ep,) if request.ep else (1, tp):
        for attention_dp in (False, True) if request.attention_dp is None else (request.attention_dp,):
            unusual = attention_dp and ep == 1 and request.attention_dp is None
            if not unusual and experts % ep == 0:
                yield ep, attention_dp


def _plan(plan: ParallelPlan, part: Accelerator) -> dict[str, Any]:
    return {
        "tp": plan.tp,
        "pp": plan.pp,
        "ep": plan.ep,
        "dp": plan.dp,
        "attention_dp": plan.attention_dp,
        "link_bandwidth": find_link(part, max(plan.tp, plan.ep), _NODE_BANDWIDTH).bandwidth,
    }


def _load(load: Load) -> dict[str, Any]:
    return {
        "kind": str(load.kind),
        "amount": load.batch or load.concurrency or load.request_rate,
        "requests": load.requests,
        "ttft_ms": load.ttft_ms,
        "tpot_ms": load.tpot_ms,
    }


def network(model: Model) -> dict[str, Any] | None:
    """Return the sizes of a network whose layers are alike, with ordinary attention; None for others."""
    shapes = set()
    for group in model.layers:
        mixer, ffn = group.mixer, group.ffn
        if not isinstance(mixer, Attention) or not isinstance(ffn, DenseFfn | MoeFfn):
            return None
        routed = (ffn.experts, ffn.experts_per_token) if isinstance(ffn, MoeFfn) else (0, 0)
        shared = isinstance(ffn, MoeFfn) and ffn.shared_intermediate_size > 0
        heads = (mixer.heads, mixer.kv_heads, mixer.head_dim)
        shapes.add((heads, routed, shared, ffn.intermediate_size, ffn.gated))
    if len(shapes) != 1:
        return None
    heads, routed, shared, width, gated = shapes.pop()
    return {
        "layers": model.layer_count,
        "heads": heads[0],
        "kv_heads": heads[1],
        "head_dim": heads[2],
        "hidden_size": model.hidden_size,
        "vocab_size": model.vocab_size,
        "max_context": model.max_context,
        "ffn_width": width,
        "gated": gated,
        "experts": routed[0],
        "experts_per_token": routed[1],
        "shared_experts": shared,
    }


def ask_peer(peer: Peer, lines: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    python = ENVIRONMENTS / peer.environment / "bin" / "python"
    if not python.exists():
        sys.exit(f"{python} is missing: `make peers` installs it")
    completed = subprocess.run(
        [str(python), "-m", f"tests.benchmarks.peers.{peer.module}", *peer.arguments],
        input="\n".join(lines),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    *answers, totals = (json.loads(line) for line in completed.stdout.splitlines())
    return answers, totals


def answer_rows(runs: Sequence[MeasuredRun], answers: Iterable[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    measured = {run.id: tuple(run.figures) for run in runs}
    for answer in answers:
        figures = answer.get("figures", {})
        for figure in measured[answer["run"]]:
            value = f"{figures[figure]:.4g}" if figure in figures else ""
            reason = "" if value else answer.get("reason", "figure")
            yield answer["run"], answer["peer"], answer["version"], answer["setting"], figure, value, reason


def own_totals(bench: GpuDeskService, requests: Sequence[EstimateRequest]) -> Iterator[dict[str, Any]]:
    """Yield how long this program takes for the same runs, one by one and in one call.

    Each way begins again with facts and constants loaded, as the peers do.
    """
    for how, most in (("one by one", 1), ("in one call", len(requests))):
        estimator = Estimator(bench.catalog, bench.calibration)
        estimator.estimate(requests[0])
        start_time = time.process_time()
        answers = [
            answer
            for start in range(0, len(requests), most)
            for answer in estimator.estimate_many(requests[start : start + most])
        ]
        seconds = time.process_time() - start_time
        answered = sum(isinstance(answer, Estimate) and answer.fits for answer in answers)
        yield {"peer": "gpudesk", "version": gpudesk.__version__, "how": how, "runs": answered, "seconds": seconds}


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def main() -> None:
    """Ask every peer about every used run; write both files."""
    runs = read_measured_runs(paths.get_data_path("measurements")).used
    with GpuDeskService.open() as bench:
        catalog = bench.catalog
        lines = [
            json.dumps(described(run, catalog.accelerator(run.request.accelerator), catalog.model(run.request.model)))
            for run in runs
        ]
        totals = list(own_totals(bench, [run.request for run in runs]))
    rows: list[tuple[str, ...]] = []
    for peer in PEERS:
        answers, total = ask_peer(peer, lines)
        rows += answer_rows(runs, answers)
        totals.append(total)
        sys.stdout.write(f"{total['peer']} {total['version']} answered {total['runs']} of {len(runs)} runs\n")
    _write(ANSWERS, ("run", "peer", "version", "setting", "figure", "value", "reason"), rows)
    speeds = (
        (t["peer"], t["version"], t["how"], t["runs"], f"{t['seconds']:.2f}", f"{t['runs'] / t['seconds']:.3g}")
        for t in totals
    )
    _write(SPEED, ("peer", "version", "how", "runs", "seconds", "runs_per_s"), speeds)


if __name__ == "__main__":
    main()
