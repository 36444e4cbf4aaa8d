"""From an estimate to the command that starts its deployment, and the one that measures it.

One replica is one server. Options come from `data/launch.toml`; settings without an option get a note."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from gpudesk.domain.estimate import Estimate, LaunchFile, LaunchOptions, LaunchPlan, LaunchSettings, LaunchSource
from gpudesk.domain.precision import Precision
from gpudesk.domain.workload import LoadKind, Workload
from gpudesk.estimation.operation import find_memory_plan
from gpudesk.files import read_toml
from gpudesk.text.messages import Message, input_error, message

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpaceTable


#: What every engine must name, of its server and of its benchmark.
_SERVER: Final = ("command", "model", "tp", "pp", "max_batch", "max_batched_tokens", "context", "memory_fraction")
_BENCHMARK: Final = (
    "command",
    "model",
    "dataset",
    "input_tokens",
    "output_tokens",
    "requests",
    "concurrency",
    "request_rate",
)


def read_launch_facts(path: Path) -> Mapping[str, LaunchOptions]:
    """Return the options by serving engine; raises `InputError` that names file and place."""
    document = read_toml(path)
    return MappingProxyType({engine: _parse_launch_facts(engine, entry, path) for engine, entry in document.items()})


def _parse_launch_facts(engine: str, entry: dict[str, Any], path: Path) -> LaunchOptions:
    for table, names in (("server", _SERVER), ("benchmark", _BENCHMARK)):
        missing = tuple(name for name in names if name not in entry.get(table, {}))
        if missing:
            raise input_error(
                "launch.missing", "lacks {names}; restore the file", f"{path}: {engine}.{table}", names=missing
            )
    server, benchmark = dict(entry["server"]), dict(entry["benchmark"])
    return LaunchOptions(
        serving_engine=engine,
        name=entry["name"],
        version=entry["version"],
        retrieved=entry["retrieved"],
        sources=tuple(LaunchSource(each["title"], each["url"]) for each in entry["sources"]),
        step_limits_of=entry["step_limits_of"],
        server_command=tuple(server.pop("command")),
        server=MappingProxyType(server),
        kv=MappingProxyType(dict(entry["kv"])),
        benchmark_command=tuple(benchmark.pop("command")),
        benchmark=MappingProxyType(benchmark),
    )


def get_launch_settings(estimate: Estimate, table: SearchSpaceTable) -> LaunchSettings:
    """Return the settings that a deployment without pools was estimated with.

    The memory fraction is the serving engine's usual one; where that holds no request, the largest safe one.
    """
    space, memory = find_memory_plan(estimate, table)
    settings, budget, model = memory.settings, memory.budget, space.configuration.model
    usual = settings.usual_fraction
    holds = budget.usual_pool_bytes >= max(budget.cache.sequence_bytes(estimate.request.workload.request_tokens), 1)
    return LaunchSettings(
        max_batch=settings.max_batch,
        max_batched_tokens=settings.max_batched_tokens,
        attention_ranks=budget.attention_ranks,
        memory_fraction=usual if usual is not None and holds else settings.memory_fraction,
        hosts=math.ceil(estimate.plan.replica / space.configuration.accelerator.cards_per_host),
        domain_over_machines=space.configuration.accelerator.domain_over_machines,
        max_context=model.max_context,
        model=model.name,
    )


#: The variable that stands for the checkpoint.
_MODEL: Final = '"$MODEL"'
_FILE: Final = "extra-options.yml"
_BREAK: Final = " \\\n  "
#: Rounds of all requests in flight that a measurement takes at least, and the seconds of one at a rate.
_ROUNDS, _SECONDS, _LEAST_REQUESTS = 10, 120.0, 64
_WIDE: Final = (Precision.FP16, Precision.BF16)
#: How far beyond the mean a request of varied lengths may reach.
_VARIED_LENGTH: Final = 2
#: Tokens beyond the longest request that a server admits.
_SLACK_TOKENS: Final = 64
_Options = Iterator[tuple[str, ...]]


def make_launch_plan(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> LaunchPlan:
    """Return the commands of an estimate that fits and has no pools."""
    file = _make_config_file(estimate, facts, settings)
    server = [*facts.server_command, *_flatten_options(_make_server_command(estimate, facts, settings))]
    if file is not None:
        server.append(f"{facts.server['file']} {file.name}")
    return LaunchPlan(
        estimate=estimate,
        facts=facts,
        server=_format_command(_format_assignment(estimate, settings), facts.server_command, server),
        benchmark=_format_command(
            _format_assignment(estimate, settings),
            facts.benchmark_command,
            [*facts.benchmark_command, *_flatten_options(_make_benchmark_command(estimate, facts))],
        ),
        files=() if file is None else (file,),
        notes=tuple(_make_launch_notes(estimate, facts, settings)),
    )


def _format_assignment(estimate: Estimate, settings: LaunchSettings) -> str:
    """Return the line that names the checkpoint, a place that only the user knows."""
    name = f"{settings.model} {str(estimate.request.weights).upper()}".replace(" ", "-")
    return f"MODEL=/path/to/{shlex.quote(name)}"


def _format_command(assignment: str, command: tuple[str, ...], words: list[str]) -> str:
    """Return a command over several lines: what is run first, with its model where that is no option."""
    first = len(command) + words[len(command) :].index(_MODEL) + 1 if _MODEL in words else len(command)
    return f"{assignment}\n{_BREAK.join([' '.join(words[:first]), *words[first:]])}"


def _flatten_options(options: _Options) -> list[str]:
    return [" ".join(part for part in option if part) for option in options]


def _make_server_command(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> _Options:
    names, work = facts.server, estimate.request.workload
    yield names["model"], _MODEL
    yield from _list_plan_options(estimate, facts, settings)
    kv = facts.kv.get(estimate.request.kv.value)
    if kv is not None and "kv" in names:
        yield names["kv"], kv
    sharing = settings.attention_ranks if facts.step_limits_of == "replica" else 1
    yield names["max_batch"], str(settings.max_batch * sharing)
    yield names["max_batched_tokens"], str(settings.max_batched_tokens * sharing)
    yield names["context"], str(_compute_context(work, settings))
    yield names["memory_fraction"], f"{settings.memory_fraction:g}"
    if not work.prefix_hit_rate and "no_prefix_cache" in names:
        yield (names["no_prefix_cache"],)
    if work.eager and "eager" in names:
        yield (names["eager"],)


def _list_plan_options(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> _Options:
    names, plan = facts.server, estimate.plan
    beside = plan.attention_dp and "attention_dp" in names
    if beside and "attention_dp_on" not in names:
        # Attention is replicated over as many ranks, and experts are spread over them all.
        yield names["tp"], "1"
        yield names["attention_dp"], str(plan.tp)
    else:
        yield names["tp"], str(plan.tp)
        if beside:
            yield names["attention_dp"], str(plan.tp)
            yield (names["attention_dp_on"],)
    if plan.pp > 1:
        yield names["pp"], str(plan.pp)
    if plan.ep > 1:
        takes_number = "attention_dp_on" in names or "file" in names
        yield (names["ep"], str(plan.ep)) if takes_number else (names["ep"],)
    if settings.hosts > 1:
        yield from _list_host_options(facts, settings, beside=beside)


def _list_host_options(facts: LaunchOptions, settings: LaunchSettings, *, beside: bool) -> _Options:
    names = facts.server
    if "rank" in names:
        yield names["hosts"], str(settings.hosts)
        yield names["rank"], '"$RANK"'
        yield names["address"], '"$FIRST_HOST:50000"'
    elif facts.serving_engine == "vllm":
        yield names["hosts_attention_dp" if beside else "hosts"], "ray"


def _compute_context(work: Workload, settings: LaunchSettings) -> int:
    """Return the longest request: the mean one, or where lengths are spread one of twice that length.

    Prompts that are tokenised anew come out a few tokens longer, and servers keep one for themselves.
    """
    tokens = work.request_tokens * (_VARIED_LENGTH if work.uneven else 1)
    tokens += _SLACK_TOKENS
    return tokens if settings.max_context is None else min(tokens, settings.max_context)


def _make_config_file(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> LaunchFile | None:
    """Return the options that an engine takes from a file alone.

    What it says of the cache replaces all that the command says of it, so that the fraction is in both.
    Without chunks a prompt longer than a step's tokens is refused.
    """
    if "file" not in facts.server:
        return None
    plan, work = estimate.plan, estimate.request.workload
    cache = [f"  free_gpu_memory_fraction: {settings.memory_fraction:g}"]
    if (kv := facts.kv.get(estimate.request.kv.value)) is not None:
        cache.append(f"  dtype: {kv}")
    if not work.prefix_hit_rate:
        cache.append("  enable_block_reuse: false")
    lines = [f"enable_attention_dp: {'true' if plan.attention_dp else 'false'}"]
    lines += ["enable_chunked_prefill: true", "kv_cache_config:", *cache]
    return LaunchFile(_FILE, "\n".join(lines) + "\n")


def _make_benchmark_command(estimate: Estimate, facts: LaunchOptions) -> _Options:
    names, work = facts.benchmark, estimate.request.workload
    if "backend" in names:
        yield names["backend"], "sglang" if facts.serving_engine == "sglang" else "openai"
    yield names["model"], _MODEL
    yield names["dataset"], "random"
    yield names["input_tokens"], str(work.input_tokens)
    yield names["output_tokens"], str(work.output_tokens)
    if "spread" in names:
        # Of this client 1 is no spread at all.
        yield names["spread"], "1.0"
    yield from _list_load_options(estimate, facts)
    if "ignore_eos" in names:
        yield (names["ignore_eos"],)
    if "figures" in names:
        yield names["figures"], "ttft,tpot,itl,e2el"
    if "percentiles" in names:
        yield names["percentiles"], "50,90,99"
    if "save" in names:
        yield (names["save"], "result.jsonl") if "spread" in names else (names["save"],)


def _list_load_options(estimate: Estimate, facts: LaunchOptions) -> _Options:
    names, load = facts.benchmark, estimate.request.workload.load
    if load.kind in (LoadKind.REQUEST_RATE, LoadKind.LIMITS):
        rate = load.request_rate or _compute_request_rate(estimate)
        yield names["requests"], str(max(_LEAST_REQUESTS, math.ceil(rate * _SECONDS)))
        yield names["request_rate"], f"{rate:.4g}"
    elif load.kind is LoadKind.SATURATE:
        yield names["requests"], str(load.requests)
    elif load.kind is LoadKind.BATCH:
        yield names["requests"], str(load.batch)
        yield names["concurrency"], str(load.batch)
    else:
        in_flight = load.concurrency or 1
        yield names["requests"], str(load.requests or max(_LEAST_REQUESTS, in_flight * _ROUNDS))
        yield names["concurrency"], str(in_flight)


def _compute_request_rate(estimate: Estimate) -> float:
    """Return the requests/s of an estimate; 1 where it has no rate."""
    rate = estimate.output_tokens_per_s
    return 1.0 if rate is None else rate.value / estimate.request.workload.output_tokens


def _make_launch_notes(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> Iterator[Message]:
    request, plan, names = estimate.request, estimate.plan, facts.server
    yield message(
        "launch.checkpoint",
        "MODEL stands for a checkpoint of {model} in {weights}: a folder, or the name of a repository",
        model=settings.model,
        weights=str(request.weights).upper(),
    )
    if plan.dp > 1:
        yield message(
            "launch.replicas",
            "Start {count} of these, each on {each} accelerators and with a port of its own, behind a balancer; "
            "send the measurement to that",
            count=plan.dp,
            each=plan.replica,
        )
    if settings.hosts > 1:
        yield _make_hosts_note(facts, settings)
    if settings.domain_over_machines is not None and plan.replica > 1:
        yield message(
            "launch.domain",
            "One scale-up network joins {domain} of them over several machines: where a replica takes more than "
            "one machine, start it over all of these",
            domain=settings.domain_over_machines,
        )
    work, most = request.workload, settings.max_context
    if most is not None and work.request_tokens > most:
        tokens = work.request_tokens
        yield message(
            "launch.beyond_context",
            "{tokens} tokens are more than the {most} that {model} is made for: the server refuses such requests",
            model=settings.model,
            tokens=tokens,
            most=most,
        )
    if request.kv not in _WIDE and request.kv.value not in facts.kv:
        yield message(
            "launch.kv",
            "{engine} has no option there for a KV cache in {kv}; it takes what the checkpoint says",
            kv=str(request.kv).upper(),
            engine=facts.name,
        )
    if request.workload.uneven:
        yield message(
            "launch.varied",
            "Requests of the estimate vary in length, so the server admits twice the mean; the measurement sends "
            "them all with the mean lengths",
        )
    if request.workload.acceptance_length > 1.0:
        yield message("launch.speculative", "Speculative decoding needs a draft model, which the command does not name")
    if request.workload.prefix_hit_rate:
        yield message(
            "launch.prefixes", "Prefixes are kept, but random prompts share none: measure with prompts of your own"
        )
    if request.workload.eager and "eager" not in names:
        yield message("launch.eager", "{engine} has no option there to run without captured graphs", engine=facts.name)


def _make_hosts_note(facts: LaunchOptions, settings: LaunchSettings) -> Message:
    if facts.serving_engine == "vllm":
        return message(
            "launch.hosts_ray",
            "One replica spans {hosts} hosts: start a Ray cluster over them first",
            hosts=settings.hosts,
        )
    if "rank" in facts.server:
        return message(
            "launch.hosts_each",
            "One replica spans {hosts} hosts: run the command on each, with RANK from 0 to {last} and FIRST_HOST "
            "the name of the first",
            hosts=settings.hosts,
            last=settings.hosts - 1,
        )
    return message(
        "launch.hosts_launcher",
        "One replica spans {hosts} hosts: run {launcher} before the command, as one task for each accelerator",
        hosts=settings.hosts,
        launcher=facts.server["hosts"],
    )
