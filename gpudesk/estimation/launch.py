"""From an estimate to the commands that start and benchmark its deployment.

One replica is one server. Options come from `data/launch.toml`; settings without an option get a note.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from gpudesk.domain.estimate import (
    Estimate,
    LaunchExtra,
    LaunchFile,
    LaunchOptions,
    LaunchPlan,
    LaunchSettings,
    LaunchSource,
    LoadKind,
    Workload,
)
from gpudesk.domain.model import MIXER_KINDS, Attention, Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import list_platforms
from gpudesk.estimation.operation import find_memory_plan
from gpudesk.files import read_toml
from gpudesk.input_records import parse_record
from gpudesk.text.messages import FormatName, Message, input_error, message, message_n

if TYPE_CHECKING:
    from gpudesk.domain.accelerator import System
    from gpudesk.estimation.search_space import SearchSpaceTable


#: Required for every engine: options of its server (a split option can replace tp) and of its benchmark.
_REQUIRED: Final = {
    "server": ("command", "model", "tp", "max_batched_tokens", "context"),
    "benchmark": ("command", "model", "input_tokens", "output_tokens"),
}
_TABLES: Final = ("server", "kv", "benchmark", "extras")


def read_launch_facts(path: Path) -> Mapping[str, tuple[LaunchOptions, ...]]:
    """Return the options by serving engine, newest version first; raises `InputError` that names file and place."""
    document = read_toml(path)
    return MappingProxyType({engine: _parse_versions(engine, entry, path) for engine, entry in document.items()})


def _parse_versions(engine: str, entry: dict[str, Any], path: Path) -> tuple[LaunchOptions, ...]:
    """Return every version; tables that a version omits are those of the version above it."""
    versions: list[LaunchOptions] = []
    tables: dict[str, Any] = {"kv": {}, "extras": []}
    for version_entry in entry["versions"]:
        tables |= {name: version_entry[name] for name in _TABLES if name in version_entry}
        versions.append(_parse_launch_facts(engine, entry, version_entry | tables, path))
    return tuple(versions)


def _parse_launch_facts(engine: str, entry: dict[str, Any], version_entry: dict[str, Any], path: Path) -> LaunchOptions:
    for table, names in _REQUIRED.items():
        table_entries = version_entry.get(table, {})
        missing = tuple(
            name for name in names if name not in table_entries and not (name == "tp" and "split" in table_entries)
        )
        if missing:
            where = f"{path}: {engine} {version_entry['version']}.{table}"
            raise input_error("launch.missing", "lacks {names}; restore the file", where, names=missing)
    server, benchmark = dict(version_entry["server"]), dict(version_entry["benchmark"])
    return LaunchOptions(
        serving_engine=engine,
        name=entry["name"],
        version=version_entry["version"],
        read=version_entry["read"],
        retrieved=version_entry["retrieved"],
        sources=tuple(LaunchSource(each["title"], each["url"]) for each in version_entry["sources"]),
        step_limits_of=entry["step_limits_of"],
        server_command=tuple(server.pop("command")),
        server=MappingProxyType(server),
        kv=MappingProxyType(dict(version_entry["kv"])),
        benchmark_command=tuple(benchmark.pop("command")),
        benchmark=MappingProxyType(benchmark),
        platforms=frozenset(entry["platforms"]),
        extras=tuple(parse_record(LaunchExtra, each, f"{path}: {engine}") for each in version_entry["extras"]),
        maintained_until=entry.get("maintained_until"),
    )


def choose_launch_facts(versions: tuple[LaunchOptions, ...], version: str | None) -> LaunchOptions:
    """Return the options of a version, by default the newest; raises `InputError` for an unknown one."""
    version_facts = next((each for each in versions if version in (None, each.version)), None)
    if version_facts is None:
        raise input_error(
            "launch.version",
            "{engine} {version} has no known options; known versions: {known}",
            "engine_version",
            engine=versions[0].name,
            version=version or "",
            known=tuple(each.version for each in versions),
        )
    return version_facts


def get_launch_settings(estimate: Estimate, table: SearchSpaceTable, systems: Sequence[System]) -> LaunchSettings:
    """Return the settings with which a deployment without pools was estimated.

    The memory fraction is the serving engine's default; if that holds no request, the largest safe one. A scale-up
    domain across machines is divided among them as in the smallest of the `systems`.
    """
    space, memory = find_memory_plan(estimate, table)
    settings, budget, model = memory.settings, memory.budget, space.configuration.model
    usual = settings.usual_fraction
    kinds = {type(group.mixer) for group in model.layers}
    accelerator, replica = space.configuration.accelerator, estimate.plan.replica
    host, over_machines = accelerator.cards_per_host, accelerator.domain_over_machines is not None
    machines = [each.accelerator_count // each.nodes for each in systems if over_machines and not each.is_rented]
    holds = budget.usual_pool_bytes >= max(budget.cache.sequence_bytes(estimate.request.workload.request_tokens), 1)
    return LaunchSettings(
        generation=accelerator.generation,
        platforms=list_platforms(accelerator),
        mixers=frozenset(name for name, kind in MIXER_KINDS.items() if kind in kinds),
        head_dims=_list_head_dims(model),
        max_batch=settings.max_batch,
        max_batched_tokens=settings.max_batched_tokens,
        attention_ranks=budget.attention_ranks,
        memory_fraction=usual if usual is not None and holds else settings.memory_fraction,
        hosts=math.ceil(replica / min(machines, default=host)),
        replica=replica,
        unknown_domain=None if machines else accelerator.domain_over_machines,
        max_context=model.max_context,
        model=model.name,
    )


def _list_head_dims(model: Model) -> frozenset[int]:
    """Return the head sizes of a model all of whose layers have full attention without sinks; empty for others."""
    mixers = [group.mixer for group in model.layers]
    attentions = [each for each in mixers if isinstance(each, Attention)]
    is_plain = len(attentions) == len(mixers) and not any(
        each.window or each.sinks or each.indexer or each.v_head_dim for each in attentions
    )
    return frozenset(each.head_dim for each in attentions if is_plain)


def _is_needed(extra: LaunchExtra, settings: LaunchSettings) -> bool:
    if settings.generation not in extra.generations or (extra.mixers and not extra.mixers & settings.mixers):
        return False
    return not extra.head_dims or (bool(settings.head_dims) and settings.head_dims <= extra.head_dims)


#: The variable for the checkpoint.
_MODEL: Final = '"$MODEL"'
_FILE: Final = "extra-options.yml"
_BREAK: Final = " \\\n  "
#: Minimum rounds of all requests in flight in a benchmark, and its seconds at a fixed rate.
_ROUNDS, _SECONDS, _LEAST_REQUESTS = 10, 120.0, 64
_WIDE: Final = (Precision.FP16, Precision.BF16)
#: Maximum length of a request over the mean, for varied lengths.
_VARIED_LENGTH: Final = 2
#: Tokens that a server admits beyond the longest request.
_SLACK_TOKENS: Final = 64
#: A free port through which the hosts of a deployment connect.
_RPC_PORT: Final = "13345"
#: An engine that spans hosts has one of these options.
_OVER_HOSTS: Final = ("rank", "ray", "launcher")
_Options = Iterator[tuple[str, ...]]


def make_launch_plan(
    estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings, *, reproduce: bool = False
) -> LaunchPlan:
    """Return the commands of an estimate that fits and has no pools.

    Prefix caching stays at the engine's default; to `reproduce` an estimate without prefix hits, it is switched off.
    Raises `InputError` on a platform whose options are not known.
    """
    if facts.platforms.isdisjoint(settings.platforms):
        raise input_error(
            "launch.platform",
            "No launch commands are known for {engine} on {platform}, which has different options",
            "serving_engine",
            engine=facts.name,
            platform=tuple(sorted(settings.platforms)),
        )
    _check_hosts(facts, settings)
    extras = tuple(each for each in facts.extras if _is_needed(each, settings))
    without_prefixes = reproduce and not estimate.request.workload.prefix_hit_rate
    file = _make_config_file(estimate, facts, settings, without_prefixes=without_prefixes)
    variables = [f"{each.name}={each.value}" for each in extras if not each.is_option]
    options = [*_flatten_options(_make_server_command(estimate, facts, settings))]
    options += [f"{each.name} {each.value}" for each in extras if each.is_option]
    for switch in _list_switches(facts, eager=estimate.request.workload.eager, without_prefixes=without_prefixes):
        (options if switch.startswith("--") else variables).append(switch)
    if file is not None:
        options.append(f"{facts.server['file']} {file.name}")
    model = _format_assignment(estimate, facts, settings)
    lines = [model, *_list_host_lines(facts, settings), *(f"export {each}" for each in variables)]
    command = (*_list_launcher_words(facts, settings), *facts.server_command)
    servers = tuple(
        _format_command(lines, command, [*command, *options, *_flatten_options(of_host)])
        for of_host in _list_host_options(estimate, facts, settings)
    )
    benchmark = [*facts.benchmark_command, *_flatten_options(_make_benchmark_command(estimate, facts, settings))]
    return LaunchPlan(
        estimate=estimate,
        facts=facts,
        servers=servers,
        benchmark=_format_command([model], facts.benchmark_command, benchmark),
        extras=extras,
        files=() if file is None else (file,),
        notes=tuple(_make_launch_notes(estimate, facts, settings, without_prefixes=without_prefixes)),
    )


def _list_switches(facts: LaunchOptions, *, eager: bool, without_prefixes: bool) -> Iterator[str]:
    """Yield the options and environment variables that disable captured graphs or the prefix cache."""
    for name, is_set in (("eager", eager), ("no_prefix_cache", without_prefixes)):
        if is_set and name in facts.server:
            yield facts.server[name]


def _check_hosts(facts: LaunchOptions, settings: LaunchSettings) -> None:
    """Refuse a replica over hosts if the engine does not support it, or it does not divide evenly.

    Raises `InputError`.
    """
    if settings.hosts == 1:
        return
    if facts.server.keys().isdisjoint(_OVER_HOSTS):
        raise input_error(
            "launch.one_host",
            "{engine} runs on one host; a replica of {count} accelerators spans {hosts}. Choose a smaller plan or "
            "another serving engine",
            "serving_engine",
            engine=facts.name,
            count=settings.replica,
            hosts=settings.hosts,
        )
    if settings.replica % settings.hosts:
        raise input_error(
            "launch.uneven_hosts",
            "A replica of {count} accelerators cannot be divided evenly among {hosts} hosts. Choose another plan",
            "tp",
            count=settings.replica,
            hosts=settings.hosts,
        )


def _list_host_lines(facts: LaunchOptions, settings: LaunchSettings) -> list[str]:
    """Return the line that sets the address of the first host, or of all, which only the user knows."""
    if settings.hosts == 1 or "ray" in facts.server:
        return []
    if "launcher" not in facts.server:
        return ["FIRST_HOST=address-of-host-1"]
    each = settings.replica // settings.hosts
    return ["HOST_LIST=" + ",".join(f"address-of-host-{host}:{each}" for host in range(1, settings.hosts + 1))]


def _list_launcher_words(facts: LaunchOptions, settings: LaunchSettings) -> tuple[str, ...]:
    """Return the launcher that starts one task per accelerator on all hosts; empty if the engine does so itself."""
    if settings.hosts == 1 or "launcher" not in facts.server:
        return ()
    return ("mpirun", f"-n {settings.replica}", '-H "$HOST_LIST"', facts.server["launcher"])


def _format_assignment(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> str:
    """Return the line that sets the checkpoint path, which only the user knows."""
    name = f"{settings.model} {str(estimate.request.weights).upper()}".replace(" ", "-")
    suffix = ".gguf" if "split" in facts.server else ""
    return f"MODEL=/path/to/{shlex.quote(name + suffix)}"


def _format_command(lines: list[str], command: tuple[str, ...], words: list[str]) -> str:
    """Return a command over several lines: the executable first, with the model if that is positional."""
    first = len(command) + words[len(command) :].index(_MODEL) + 1 if _MODEL in words else len(command)
    return "\n".join([*lines, _BREAK.join([" ".join(words[:first]), *words[first:]])])


def _flatten_options(options: _Options) -> list[str]:
    return [" ".join(part for part in option if part) for option in options]


def _make_server_command(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> _Options:
    names, work = facts.server, estimate.request.workload
    context = _compute_context(work, settings)
    yield names["model"], _MODEL
    yield from _list_plan_options(estimate, facts, settings)
    yield from _list_cache_options(estimate, facts, names)
    sharing = settings.attention_ranks if facts.step_limits_of == "replica" else 1
    chunk = settings.max_batched_tokens * sharing
    if "slots" in names:
        # The context is divided among as many slots, and their memory is allocated at the start.
        slots = _count_slots(estimate)
        yield names["slots"], str(slots)
        context *= slots
    if "max_batch" in names:
        yield names["max_batch"], str(max(settings.max_batch * sharing, _count_in_flight(estimate)))
    if "input_context" in names:
        # It refuses prompts longer than a prefill step.
        longest = context - work.output_tokens
        yield names["input_context"], str(longest)
        chunk = max(chunk, longest)
    yield names["max_batched_tokens"], str(chunk)
    yield names["context"], str(context)
    if "memory_fraction" in names:
        yield names["memory_fraction"], f"{settings.memory_fraction:g}"


def _count_slots(estimate: Estimate) -> int:
    """Return the requests that one replica runs at once under the load, as far as memory allows."""
    running = estimate.admitted or estimate.concurrency or 1
    slots = max(estimate.max_concurrency // estimate.plan.dp, 1)
    return min(max(math.ceil(running / estimate.plan.dp), 1), slots)


def _count_in_flight(estimate: Estimate) -> int:
    load = estimate.request.workload.load
    return math.ceil((load.concurrency or load.batch or 1) / estimate.plan.dp)


def _list_cache_options(estimate: Estimate, facts: LaunchOptions, names: Mapping[str, str]) -> _Options:
    kv = facts.kv.get(estimate.request.kv.value)
    if kv is not None:
        yield from ((names[each], kv) for each in ("kv", "kv_values") if each in names)


def _list_plan_options(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> _Options:
    names, plan = facts.server, estimate.plan
    if "split" in names:
        yield from _list_split_options(estimate, names)
        return
    attention_dp = plan.attention_dp and "attention_dp" in names
    if attention_dp and "ep" in names and _takes_attention_ranks(facts):
        # Attention is replicated over this many ranks, and experts are attention_dp over all of them.
        yield names["tp"], "1"
        yield names["attention_dp"], str(plan.tp)
    else:
        yield names["tp"], str(plan.tp)
        if attention_dp:
            yield names["attention_dp"], str(plan.tp)
            if "attention_dp_on" in names:
                yield (names["attention_dp_on"],)
    if plan.pp > 1:
        yield names["pp"], str(plan.pp)
    if plan.ep > 1:
        takes_number = facts.serving_engine != "vllm"
        yield (names["ep"], str(plan.ep)) if takes_number else (names["ep"],)
    if settings.hosts > 1 and "ray" in names:
        yield names["ray_attention_dp" if attention_dp else "ray"], "ray"


def _takes_attention_ranks(facts: LaunchOptions) -> bool:
    """Whether data-parallel attention is given as a number of ranks rather than a total divided among them."""
    return facts.step_limits_of == "rank"


def _list_split_options(estimate: Estimate, names: Mapping[str, str]) -> _Options:
    """Split by layers over the accelerators of a replica."""
    yield names["layers"], "999"
    yield names["split"], "layer" if estimate.plan.replica > 1 else "none"


def _list_host_options(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> Iterator[_Options]:
    """Yield the per-host options in addition to the common ones; once if there are none."""
    names, plan = facts.server, estimate.plan
    if settings.hosts == 1 or "rank" not in names:
        yield iter(())
        return
    for host in range(settings.hosts):
        if plan.attention_dp and "attention_dp_here" in names:
            yield iter(_list_attention_rank_options(names, plan.tp // settings.hosts, host))
        else:
            yield iter(_list_rank_options(names, settings.hosts, host))


def _list_rank_options(names: Mapping[str, str], hosts: int, host: int) -> list[tuple[str, ...]]:
    address = f'"$FIRST_HOST:{names["port"]}"' if "port" in names else '"$FIRST_HOST"'
    options: list[tuple[str, ...]] = [
        (names["hosts"], str(hosts)),
        (names["rank"], str(host)),
        (names["address"], address),
    ]
    return [*options, (names["other_hosts"],)] if host and "other_hosts" in names else options


def _list_attention_rank_options(names: Mapping[str, str], here: int, host: int) -> list[tuple[str, ...]]:
    options: list[tuple[str, ...]] = [
        (names["attention_dp_here"], str(here)),
        (names["attention_dp_address"], '"$FIRST_HOST"'),
        (names["attention_dp_port"], _RPC_PORT),
    ]
    return [*options, (names["attention_dp_start"], str(here * host)), (names["other_hosts"],)] if host else options


def _compute_context(work: Workload, settings: LaunchSettings) -> int:
    """Return the longest request: the mean one, or for varied lengths one of twice the mean.

    Retokenized prompts are a few tokens longer, and servers reserve one token.
    """
    tokens = work.request_tokens * (_VARIED_LENGTH if work.uneven else 1)
    tokens += _SLACK_TOKENS
    return tokens if settings.max_context is None else min(tokens, settings.max_context)


def _make_config_file(
    estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings, *, without_prefixes: bool
) -> LaunchFile | None:
    """Return the options that an engine reads only from a file.

    Its cache section replaces all cache options of the command, so the fraction is in both. Without chunked prefill a
    prompt longer than a step's tokens is refused.
    """
    if "file" not in facts.server:
        return None
    plan = estimate.plan
    cache = [f"  free_gpu_memory_fraction: {settings.memory_fraction:g}"]
    if (kv := facts.kv.get(estimate.request.kv.value)) is not None:
        cache.append(f"  dtype: {kv}")
    if without_prefixes:
        cache.append("  enable_block_reuse: false")
    lines = [f"enable_attention_dp: {'true' if plan.attention_dp else 'false'}"]
    if estimate.request.workload.eager:
        lines.append(facts.server["eager_in_file"])
    lines += ["enable_chunked_prefill: true", "kv_cache_config:", *cache]
    return LaunchFile(_FILE, "\n".join(lines) + "\n")


def _make_benchmark_command(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> _Options:
    names, work = facts.benchmark, estimate.request.workload
    if "backend" in names:
        yield names["backend"], "sglang" if facts.serving_engine == "sglang" else "openai"
    yield names["model"], _MODEL
    if "split" in names:
        yield from _list_split_options(estimate, names)
        yield from _list_cache_options(estimate, facts, names)
        yield names["max_batched_tokens"], str(settings.max_batched_tokens)
    if "dataset" in names:
        yield (names["dataset"],)
    yield names["input_tokens"], str(work.input_tokens)
    yield names["output_tokens"], str(work.output_tokens)
    if "batch" in names:
        yield names["batch"], str(_count_slots(estimate))
    if "attention_dp" in names:
        # For this client 1 means no attention_dp at all.
        yield names["attention_dp"], "1.0"
    if "requests" in names:
        yield from _list_load_options(estimate, facts)
    yield from _list_output_options(names)


def _list_output_options(names: Mapping[str, str]) -> _Options:
    if "ignore_eos" in names:
        yield (names["ignore_eos"],)
    if "figures" in names:
        yield names["figures"], "ttft,tpot,itl,e2el"
    if "percentiles" in names:
        yield names["percentiles"], "50,90,99"
    if "save" in names:
        yield (names["save"], "result.jsonl") if "attention_dp" in names else (names["save"],)


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
    """Return the requests/s of an estimate; 1 if it has no rate."""
    rate = estimate.output_tokens_per_s
    return 1.0 if rate is None else rate.value / estimate.request.workload.output_tokens


def _make_launch_notes(
    estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings, *, without_prefixes: bool
) -> Iterator[Message]:
    request, names = estimate.request, facts.server
    if facts.maintained_until is not None:
        yield message(
            "launch.maintenance",
            "{engine} has been in maintenance mode since {month}: its developers recommend vLLM or SGLang",
            engine=facts.name,
            month=facts.maintained_until,
        )
    yield message(
        "launch.checkpoint",
        "Replace MODEL with a GGUF file of {model} in {weights}"
        if "split" in names
        else "Replace MODEL with a checkpoint of {model} in {weights}: a folder or repository name",
        model=settings.model,
        weights=FormatName(request.weights),
    )
    yield from _make_plan_notes(estimate, facts, settings)
    work, most = request.workload, settings.max_context
    if most is not None and work.request_tokens > most:
        tokens = work.request_tokens
        yield message(
            "launch.beyond_context",
            "{tokens} tokens exceed the {most} token context of {model}, so the server rejects such requests",
            model=settings.model,
            tokens=tokens,
            most=most,
        )
    if request.kv not in _WIDE and request.kv.value not in facts.kv:
        yield message(
            "launch.kv",
            "{engine} has no KV cache option for {kv}; it uses the format of the checkpoint",
            kv=FormatName(request.kv),
            engine=facts.name,
        )
    if request.workload.uneven:
        yield message(
            "launch.varied",
            "Request lengths vary in the estimate, so the server allows twice the mean; the benchmark sends only "
            "mean lengths",
        )
    if request.workload.acceptance_length > 1.0:
        yield message(
            "launch.speculative", "Speculative decoding needs a draft model, which the command does not include"
        )
    yield from _make_prefix_notes(estimate, facts, without_prefixes=without_prefixes)
    yield from _make_client_notes(estimate, facts)


#: Notes of an estimate on the network between hosts.
_LINK_NOTES: Final = frozenset({"estimate.between_hosts", "estimate.tp_between_hosts"})


def _make_plan_notes(estimate: Estimate, facts: LaunchOptions, settings: LaunchSettings) -> Iterator[Message]:
    plan = estimate.plan
    if plan.dp > 1:
        yield message_n(
            "launch.replicas",
            "Start {count} servers on {each} accelerator each, with separate ports behind a load balancer; send the "
            "benchmark to the balancer",
            "Start {count} servers on {each} accelerators each, with separate ports behind a load balancer; send the "
            "benchmark to the balancer",
            "each",
            count=plan.dp,
            each=plan.replica,
        )
    if settings.hosts > 1:
        yield _make_hosts_note(facts, settings)
        if "launcher" not in facts.server:
            yield message(
                "launch.network",
                "If hosts have several networks, set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to the interface that "
                "connects them",
            )
    yield from (note for note in estimate.notes if note.id in _LINK_NOTES)
    if settings.unknown_domain is not None and plan.replica > 1:
        yield message(
            "launch.domain",
            "One scale-up network connects {domain} accelerators across several hosts: start each multi-host replica "
            "on all of its hosts",
            domain=settings.unknown_domain,
        )


def _make_prefix_notes(estimate: Estimate, facts: LaunchOptions, *, without_prefixes: bool) -> Iterator[Message]:
    if estimate.request.workload.prefix_hit_rate:
        yield message(
            "launch.prefixes",
            "The prefix cache is on, but random prompts share no prefixes: benchmark with your own prompts",
        )
    elif without_prefixes:
        yield message(
            "launch.without_prefixes",
            "The prefix cache is off to match the estimate, because repeated benchmarks send the same prompts. "
            "Enable it in production",
        )
    elif "requests" in facts.benchmark:
        yield message(
            "launch.with_prefixes",
            "The prefix cache is on: repeated benchmarks reuse cached prompts and report speeds that are too high",
        )


def _make_client_notes(estimate: Estimate, facts: LaunchOptions) -> Iterator[Message]:
    """Yield notes on times that a benchmark client without a network connection omits."""
    if "requests" in facts.benchmark:
        return
    if "batch" in facts.benchmark:
        yield message(
            "launch.measures_steps",
            "{client} measures the steps of a running server without its queue: run it on the same host",
            client=facts.benchmark_command[0],
        )
    elif _count_slots(estimate) > 1:
        yield message(
            "launch.measures_one",
            "{client} runs one request at a time without the server: it measures single-request speed, not the load",
            client=facts.benchmark_command[0],
        )


def _make_hosts_note(facts: LaunchOptions, settings: LaunchSettings) -> Message:
    if "ray" in facts.server:
        return message(
            "launch.hosts_ray",
            "One replica spans {hosts} hosts: first start a Ray cluster across them",
            hosts=settings.hosts,
        )
    if "rank" in facts.server:
        return message(
            "launch.hosts_each",
            "One replica spans {hosts} hosts: run each host's command, with FIRST_HOST as the address of host 1",
            hosts=settings.hosts,
        )
    return message(
        "launch.hosts_launcher",
        "One replica spans {hosts} hosts: run the command on host 1, with the address of each host in HOST_LIST. Under "
        "Slurm, replace mpirun and its options with srun --mpi=pmix",
        hosts=settings.hosts,
    )
