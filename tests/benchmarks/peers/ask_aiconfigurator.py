"""Ask aiconfigurator for the figures of measured runs; runs in an environment that has it.

Lines of JSON come in, one for each run, as `run_peers.py` writes them; lines of JSON go out, one for each run
and setting. The tool answers from kernels that were measured, for one version of each serving engine.
What a run leaves open is chosen as the tool itself does, by the highest throughput.

- A static batch is asked with its mode `static`.
- A closed loop is asked at its batch size, with the prefill budget that gives the highest throughput. Where
  that batch does not fit its memory account, the largest that does, without a TTFT, as it knows no queue.
- Requests that are all queued at once, and latency limits, go through its search over batch sizes, with its
  own cap of 512 and again with the largest batch that it tries, 1,024; neither passes a stated batch size.
  Limits are taken for means, and give a throughput alone: the latencies at the point that it chooses are not a
  prediction of a given one.
- It does not answer the question of an open loop at a given deployment.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aiconfigurator.sdk.backends.factory import get_backend
from aiconfigurator.sdk.config import ModelConfig, RuntimeConfig
from aiconfigurator.sdk.config_builders import build_model_config
from aiconfigurator.sdk.errors import InsufficientMemoryError, KVCacheCapacityError, NoFeasibleConfigError
from aiconfigurator.sdk.inference_session import InferenceSession
from aiconfigurator.sdk.models import get_model, resolve_context_fmha_by_data, resolve_nvfp4_for_system
from aiconfigurator.sdk.perf_database import PerfDatabase, get_database_view, get_latest_database_version
from aiconfigurator.sdk.sweep import sweep_agg
from pandas import DataFrame

from tests.benchmarks.peers.aiconfigurator_names import ARCHITECTURES, BACKENDS, CHECKPOINTS, KERNELS, NETWORKS, SYSTEMS
from tests.benchmarks.peers.answering import Figures, Run, UnansweredError, answer_lines

PEER = "aiconfigurator"

#: The tool's own cap on the batch size, and the largest size that its search tries.
CAPS = {"": 512, "batch-1024": 1024}
#: Prefill tokens of a step are tried in whole prompts up to here, as by the tool's search.
_MOST_CONTEXT_TOKENS = 8192


@dataclass(frozen=True)
class Choice:
    """One way to run a network: checkpoint or folder, kernels for matrices and experts."""

    path: str
    gemm: str | None
    moe: str | None


@dataclass
class Best:
    """The result of one run under one setting."""

    per_accelerator: float
    figures: Figures


class Asker:
    """Answers runs one after another, keeping the databases that were loaded."""

    def __init__(self, folder: Path) -> None:
        """Write configurations of networks that the tool does not carry into `folder`."""
        self._folder = folder

    def answers(self, run: Run) -> dict[str, Figures]:
        """Return the figures of the fastest plan and kernels by setting; raises `UnansweredError`."""
        system = SYSTEMS.get(run["accelerator"])
        if system is None:
            raise UnansweredError("accelerator")
        backend = BACKENDS.get(run["serving_engine"])
        if backend is None:
            raise UnansweredError("serving engine")
        if run["load"]["kind"] == "request_rate":
            raise UnansweredError("load")
        choices = list(self._choices(run))
        best_by_load: dict[str, Best] = {}
        reasons: list[str] = []
        for plan in run["plans"]:
            try:
                best_of_choice = self._first(choices, run, system, backend, plan)
            except UnansweredError as error:
                reasons.append(str(error))
                continue
            for setting, best in best_of_choice.items():
                if setting not in best_by_load or best.per_accelerator > best_by_load[setting].per_accelerator:
                    best_by_load[setting] = best
        if not best_by_load:
            raise UnansweredError(reasons[0])
        return {setting: best.figures for setting, best in best_by_load.items()}

    def _choices(self, run: Run) -> Iterator[Choice]:
        model, weights = run["model"], run["weights"]
        checkpoint = CHECKPOINTS.get((model, weights))
        if checkpoint is not None:
            yield Choice(checkpoint, None, None)
            return
        path = NETWORKS.get(model)
        if path is None and model in ARCHITECTURES:
            path = self._write_model(run)
        if path is None:
            raise UnansweredError("model")
        if weights not in KERNELS:
            raise UnansweredError("format")
        for gemm, moe in KERNELS[weights]:
            yield Choice(path, gemm, moe)

    def _write_model(self, run: Run) -> str:
        network = run["network"]
        folder = self._folder / run["model"]
        folder.mkdir(parents=True, exist_ok=True)
        fields = {
            "architectures": [ARCHITECTURES[run["model"]]],
            "num_hidden_layers": network["layers"],
            "num_attention_heads": network["heads"],
            "num_key_value_heads": network["kv_heads"],
            "head_dim": network["head_dim"],
            "hidden_size": network["hidden_size"],
            "intermediate_size": network["ffn_width"],
            "vocab_size": network["vocab_size"],
            "max_position_embeddings": network["max_context"] or 32768,
            "torch_dtype": "bfloat16",
        }
        if network["experts"]:
            fields |= {"num_local_experts": network["experts"], "num_experts_per_tok": network["experts_per_token"]}
        (folder / "config.json").write_text(json.dumps(fields), encoding="utf-8")
        return str(folder)

    def _first(
        self, choices: list[Choice], run: Run, system: str, backend: str, plan: dict[str, Any]
    ) -> dict[str, Best]:
        """Answer with the first kernels that the database has; raises `UnansweredError` if it has none."""
        reason = "kernels"
        for choice in choices:
            try:
                return self._ask(choice, run, system, backend, plan)
            except (InsufficientMemoryError, KVCacheCapacityError):
                reason = "memory"
            except NoFeasibleConfigError:
                reason = "limits"
            except UnansweredError as error:
                reason = str(error)
            except Exception as error:  # noqa: BLE001 - the tool raises many kinds for kernels it did not measure
                sys.stderr.write(f"{run['run']}: {type(error).__name__}: {str(error)[:160]}\n")
        raise UnansweredError(reason)

    def _ask(self, choice: Choice, run: Run, system: str, backend: str, plan: dict[str, Any]) -> dict[str, Best]:
        ranks = plan["tp"]
        attention_dp = ranks if plan["attention_dp"] else 1
        spread = (ranks // attention_dp, plan["pp"], attention_dp, ranks // plan["ep"], plan["ep"])
        config = build_model_config(
            *spread,
            gemm_quant_mode=choice.gemm,
            moe_quant_mode=choice.moe,
            kvcache_quant_mode="fp8" if run["kv"].startswith("fp8") else "bfloat16",
        )
        database = _database(system, backend)
        resolve_context_fmha_by_data(config, choice.path, database, backend, is_context_role=True)
        resolve_nvfp4_for_system(config, system, choice.path, backend_name=backend)
        replicas, groups = plan["dp"], attention_dp * plan["pp"]
        load = run["load"]
        if load["kind"] in ("saturate", "limits"):
            frame = self._search(choice, run, config, spread, backend, database)
            return _best_rows(frame, run, replicas, groups)
        session = InferenceSession(get_model(choice.path, config, backend), database, get_backend(backend))
        batch = math.ceil(load["amount"] / replicas / groups)
        if load["kind"] == "batch":
            best = self._static(session, run, batch, replicas)
        else:
            best = self._closed(session, run, batch, replicas)
        return dict.fromkeys(CAPS, best)

    def _search(
        self,
        choice: Choice,
        run: Run,
        config: ModelConfig,
        spread: tuple[int, ...],
        backend: str,
        database: PerfDatabase,
    ) -> DataFrame:
        load = run["load"]
        runtime = RuntimeConfig(
            isl=run["input_tokens"],
            osl=run["output_tokens"],
            ttft=load.get("ttft_ms") or math.inf,
            tpot=load.get("tpot_ms") or math.inf,
        )
        return sweep_agg(
            model_path=choice.path,
            runtime_config=runtime,
            database=database,
            backend_name=backend,
            model_config=config,
            parallel_config_list=[(*spread, 1)],
            top_k=0,
            max_batch_size=max(CAPS.values()),
            free_gpu_memory_fraction=_fraction(run, backend),
        )

    def _static(self, session: InferenceSession, run: Run, batch: int, replicas: int) -> Best:
        runtime = RuntimeConfig(batch_size=batch, isl=run["input_tokens"], osl=run["output_tokens"])
        result = session.run_static(runtime_config=runtime, mode="static").get_result_dict()
        return _figures(run, result, replicas, ("tpot", "ttft"))

    def _closed(self, session: InferenceSession, run: Run, batch: int, replicas: int) -> Best:
        best = self._at(session, run, batch)
        if best is not None:
            return _figures(run, best, replicas, ("tpot", "ttft"))
        fitting, too_many = 0, batch
        best_within = None
        while too_many - fitting > 1:
            middle = (fitting + too_many) // 2
            best_of_choice = self._at(session, run, middle)
            if best_of_choice is None:
                too_many = middle
            else:
                fitting, best_within = middle, best_of_choice
        if best_within is None:
            raise UnansweredError("memory")
        return _figures(run, best_within, replicas, ("tpot",))

    def _at(self, session: InferenceSession, run: Run, batch: int) -> dict[str, Any] | None:
        """Return the fastest of all prefill budgets at a batch size; None if it does not fit."""
        prompt, best = run["input_tokens"], None
        prompts = 1
        while prompts == 1 or (prompts * prompt <= _MOST_CONTEXT_TOKENS and batch - prompts >= 1):
            runtime = RuntimeConfig(batch_size=batch, isl=prompt, osl=run["output_tokens"])
            summary = session.run_agg(runtime, ctx_tokens=prompts * prompt)
            if summary.check_oom() or summary.check_kv_cache_oom():
                break
            result = summary.get_result_dict()
            if best is None or result["tokens/s"] > best["tokens/s"]:
                best = result
            prompts *= 2
        return best


@cache
def _database(system: str, backend: str) -> PerfDatabase:
    release = get_latest_database_version(system=system, backend=backend)
    if release is None:
        raise UnansweredError("accelerator")
    database = get_database_view(
        system, backend, release, allow_missing_data=False, database_mode="SILICON", transfer_policy=None
    )
    if database is None:
        raise UnansweredError("accelerator")
    return database


def load_databases(runs: Sequence[Run]) -> None:
    """Load the databases that the runs need, which takes a second or two each."""
    for part, engine in {(run["accelerator"], run["serving_engine"]) for run in runs}:
        if part in SYSTEMS and engine in BACKENDS:
            _database(SYSTEMS[part], BACKENDS[engine])


def _fraction(run: Run, backend: str) -> float | None:
    """Return the stated share of free memory for the KV cache; only TensorRT-LLM counts it so."""
    user_fraction = run["memory_fraction"]
    return float(user_fraction) if user_fraction is not None and backend == "trtllm" else None


def _figures(run: Run, row: Mapping[str, float], replicas: int, latencies: Sequence[str]) -> Best:
    figures = {"output_tokens_per_s": float(row["tokens/s"]) * replicas}
    for name in latencies:
        if name != "tpot" or run["output_tokens"] > 1:
            figures[f"{name}_ms"] = float(row[name])
    return Best(float(row["tokens/s/gpu"]), figures)


def _best_rows(frame: DataFrame, run: Run, replicas: int, groups: int) -> dict[str, Best]:
    """Return the fastest point of a search under each cap; no batch holds more than there are requests."""
    load = run["load"]
    share = math.inf
    if load["kind"] == "saturate":
        share = max(1, math.ceil(load["requests"] / replicas / groups))
    most = min(share, run["max_batch"] or math.inf)
    rows_by_load = {}
    for setting, cap in CAPS.items():
        rows = frame[frame["bs"] <= min(cap, most)]
        if len(rows):
            row = rows.loc[rows["tokens/s/gpu"].idxmax()]
            rows_by_load[setting] = _figures(run, row, replicas, _latencies(load, row["bs"] >= share))
    if not rows_by_load:
        raise UnansweredError("memory")
    return rows_by_load


def _latencies(load: Run, at_once: bool) -> tuple[str, ...]:
    if load["kind"] == "limits":
        return ()
    return ("tpot", "ttft") if at_once else ("tpot",)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    answer_lines(PEER, tuple(CAPS), Asker(Path(sys.argv[1])).answers, prepare=load_databases)
