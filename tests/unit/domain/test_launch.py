"""From an estimate to the commands that start its deployment: golden ones, and what is said with them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudesk import paths
from gpudesk.domain.estimate import DisaggregationRequest, EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.launch import make_launch_plan, read_launch_facts
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_message

ENGINES = ("vllm", "sglang", "tensorrt-llm")
EVERY_ENGINE = (*ENGINES, "llama.cpp", "tgi")


def make_request(engine: str = "vllm", load: Load | None = None, **changes: object) -> EstimateRequest:
    """Return Llama 3.1 70B in FP8 on eight H200 under 64 requests alike, with changes."""
    fields: dict[str, Any] = {
        "accelerator": "h200-sxm",
        "model": "llama-3.1-70b",
        "weights": Precision.FP8,
        "count": 8,
        "tp": 8,
        "serving_engine": engine,
        "workload": Workload(1024, 256, load or Load(LoadKind.CONCURRENCY, concurrency=64), varied=False),
    }
    return EstimateRequest(**{**fields, **changes})


def plan_of(service: GpuDeskService, request: EstimateRequest) -> tuple[str, str, list[str]]:
    plan = service.launch(service.estimate(request))
    return plan.server, plan.benchmark, [format_message(note) for note in plan.notes]


def test_a_dense_model_on_one_host_by_vllm(service: GpuDeskService) -> None:
    server, benchmark, notes = plan_of(service, make_request(kv=Precision.FP8))
    assert server == (
        "MODEL=/path/to/Llama-3.1-70B-FP8\n"
        'vllm serve "$MODEL" \\\n'
        "  --tensor-parallel-size 8 \\\n"
        "  --kv-cache-dtype fp8 \\\n"
        "  --max-num-seqs 1024 \\\n"
        "  --max-num-batched-tokens 8192 \\\n"
        "  --max-model-len 1344 \\\n"
        "  --gpu-memory-utilization 0.92"
    )
    assert benchmark == (
        "MODEL=/path/to/Llama-3.1-70B-FP8\n"
        "vllm bench serve \\\n"
        '  --model "$MODEL" \\\n'
        "  --dataset-name random \\\n"
        "  --random-input-len 1024 \\\n"
        "  --random-output-len 256 \\\n"
        "  --num-prompts 640 \\\n"
        "  --max-concurrency 64 \\\n"
        "  --ignore-eos \\\n"
        "  --percentile-metrics ttft,tpot,itl,e2el \\\n"
        "  --metric-percentiles 50,90,99 \\\n"
        "  --save-result"
    )
    assert notes == [
        "Replace MODEL with a checkpoint of Llama 3.1 70B in FP8: a folder or repository name",
        "The prefix cache is on: repeated benchmarks reuse cached prompts and report speeds that are too high",
    ]


def test_attention_on_ranks_of_its_own(service: GpuDeskService) -> None:
    """To vLLM each is a rank, SGLang divides a whole among them, TensorRT-LLM is told by a file."""
    request = make_request(model="deepseek-v3", ep=8, dp=1, pp=1, attention_dp=True)
    estimate = service.estimate(request)
    assert estimate.plan.attention_dp
    vllm = service.launch(estimate, "vllm").server
    assert "--tensor-parallel-size 1 \\\n  --data-parallel-size 8 \\\n  --enable-expert-parallel" in vllm
    sglang = service.launch(estimate, "sglang").server
    assert "--tp-size 8 \\\n  --attn-dp-size 8 \\\n  --ep-size 8" in sglang
    older = service.launch(estimate, "sglang", "0.5.5").server
    assert "--tp-size 8 \\\n  --dp-size 8 \\\n  --enable-dp-attention \\\n  --ep-size 8" in older
    assert f"--chunked-prefill-size {8 * 8192}" in sglang
    trtllm = service.launch(estimate, "tensorrt-llm")
    assert "--tp_size 8 \\\n  --ep_size 8" in trtllm.server
    assert "--config extra-options.yml" in trtllm.server
    assert trtllm.files[0].name == "extra-options.yml"
    assert trtllm.files[0].text.splitlines()[0] == "enable_attention_dp: true"


@pytest.mark.parametrize("engine", ENGINES)
def test_replica_over_two_hosts_shows_its_layout(service: GpuDeskService, engine: str) -> None:
    request = make_request(engine, accelerator="h100-sxm", model="llama-3.1-405b", count=16, tp=8, pp=2)
    plan = service.launch(service.estimate(request))
    assert any("spans 2 hosts" in format_message(note) for note in plan.notes)
    options = {
        "vllm": ['--nnodes 2 \\\n  --node-rank {} \\\n  --master-addr "$FIRST_HOST"'],
        "sglang": ['--nnodes 2 \\\n  --node-rank {} \\\n  --dist-init-addr "$FIRST_HOST:50000"'],
        "tensorrt-llm": ['mpirun -n 16 -H "$HOST_LIST" trtllm-llmapi-launch trtllm-serve "$MODEL"', "--pp_size 2"],
    }
    where = "HOST_LIST=address-of-host-1:8,address-of-host-2:8" if engine == "tensorrt-llm" else "FIRST_HOST="
    assert all(where in command for command in plan.servers)
    assert len(plan.servers) == (1 if engine == "tensorrt-llm" else 2)
    for host, command in enumerate(plan.servers):
        assert all(option.format(host) in command for option in options[engine])
        assert ("--headless" in command) is (engine == "vllm" and host == 1)


def test_tensor_parallelism_over_hosts_is_named_with_the_rate(service: GpuDeskService) -> None:
    request = make_request(accelerator="h100-sxm", model="llama-3.1-405b", count=16, tp=16)
    estimate = service.estimate(request)
    named = "Tensor parallelism spans hosts, which communicate over the network at 50 GB/s per accelerator"
    for notes in (estimate.notes, service.launch(estimate).notes):
        assert [format_message(note) for note in notes].count(named) == 1
    inside = service.estimate(make_request(accelerator="h100-sxm", model="llama-3.1-405b", count=16, tp=8, pp=2))
    assert not any("Tensor parallelism" in format_message(note) for note in inside.notes)


def test_machines_of_a_rack_are_started_one_by_one(service: GpuDeskService) -> None:
    request = make_request(accelerator="gb200-nvl72", model="llama-3.1-405b", count=8, tp=8)
    plan = service.launch(service.estimate(request))
    assert len(plan.servers) == 2
    assert all("--nnodes 2" in command for command in plan.servers)
    assert not any("communicate over the network" in format_message(note) for note in plan.notes)


def test_a_replica_that_hosts_cannot_share_is_refused(service: GpuDeskService) -> None:
    estimate = service.estimate(make_request(accelerator="gb200-nvl72", model="llama-3.1-405b", count=6, tp=2, pp=3))
    settings = service.estimator.launch_settings(estimate, service.catalog.list_systems_with("gb200-nvl72"))
    facts = service.launch_facts["vllm"][0]
    with pytest.raises(InputError, match=r"launch\.uneven_hosts"):
        make_launch_plan(estimate, facts, replace(settings, hosts=4))
    with pytest.raises(InputError, match=r"launch\.one_host"):
        make_launch_plan(estimate, service.launch_facts["tgi"][0], replace(settings, hosts=2))


def test_an_older_vllm_spans_hosts_by_ray(service: GpuDeskService) -> None:
    request = make_request(accelerator="h100-sxm", model="llama-3.1-405b", count=16, tp=8, pp=2)
    plan = service.launch(service.estimate(request), version="0.10.1")
    assert plan.servers == (plan.server,)
    assert "--distributed-executor-backend ray" in plan.server


def test_attention_ranks_over_two_hosts_know_their_place(service: GpuDeskService) -> None:
    request = make_request(model="deepseek-v3", count=16, tp=16, dp=1, attention_dp=True)
    plan = service.launch(service.estimate(request))
    first, second = plan.servers
    for command in plan.servers:
        assert "--data-parallel-size 16" in command
        assert '--data-parallel-size-local 8 \\\n  --data-parallel-address "$FIRST_HOST"' in command
    assert "--headless" not in first
    assert second.endswith("--data-parallel-start-rank 8 \\\n  --headless")
    assert plan.server.startswith("# host 1 of 2\nMODEL=")
    older = service.launch(service.estimate(request), version="0.10.1").server
    assert "--data-parallel-backend ray" in older


def test_replicas_are_started_one_by_one(service: GpuDeskService) -> None:
    server, _, notes = plan_of(service, make_request(tp=2, dp=4))
    assert "--tensor-parallel-size 2" in server
    assert any(note.startswith("Start 4 servers on 2 accelerators each") for note in notes)


@pytest.mark.parametrize(
    ("load", "options"),
    [
        (Load(LoadKind.BATCH, batch=32), ("--num-prompts 32", "--max-concurrency 32")),
        (Load(LoadKind.SATURATE, requests=900), ("--num-prompts 900",)),
        (Load(LoadKind.REQUEST_RATE, request_rate=2.5), ("--num-prompts 300", "--request-rate 2.5")),
        (Load(LoadKind.CONCURRENCY, concurrency=3), ("--num-prompts 64", "--max-concurrency 3")),
    ],
)
def test_the_measurement_sends_the_load_of_the_estimate(
    service: GpuDeskService, load: Load, options: tuple[str, ...]
) -> None:
    _, benchmark, _ = plan_of(service, make_request(load=load))
    for option in options:
        assert option in benchmark
    assert ("--max-concurrency" in benchmark) == any("--max-concurrency" in each for each in options)


def test_under_latency_limits_the_rate_found_is_sent(service: GpuDeskService) -> None:
    load = Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=60.0)
    estimate = service.estimate(make_request(load=load))
    assert estimate.output_tokens_per_s is not None
    rate = estimate.output_tokens_per_s.value / 256
    assert f"--request-rate {rate:.4g}" in service.launch(estimate).benchmark


def test_assumptions_of_the_estimate_are_reported(service: GpuDeskService) -> None:
    work = Workload(
        1024,
        256,
        Load(LoadKind.CONCURRENCY, concurrency=64),
        varied=True,
        prefix_hit_rate=0.5,
        acceptance_length=2.0,
        eager=True,
    )
    server, _, notes = plan_of(service, make_request(workload=work))
    notes_text = " ".join(notes)
    assert "lengths vary" in notes_text
    assert "draft model" in notes_text
    assert "random prompts share no prefixes" in notes_text
    assert "--max-model-len 2624" in server
    assert "--enforce-eager" in server
    assert "prefix" not in server


def test_file_has_all_cache_settings_of_the_command(service: GpuDeskService) -> None:
    """What the file says of it replaces the command's options; without chunks long prompts are refused."""
    work = Workload(30_000, 500, Load(LoadKind.CONCURRENCY, concurrency=8))
    request = make_request("tensorrt-llm", workload=work, memory_fraction=0.7, kv=Precision.FP8)
    plan = service.launch(service.estimate(request))
    assert "--kv_cache_free_gpu_memory_fraction 0.7" in plan.server
    assert plan.files[0].text == (
        "enable_attention_dp: false\n"
        "enable_chunked_prefill: true\n"
        "kv_cache_config:\n"
        "  free_gpu_memory_fraction: 0.7\n"
        "  dtype: fp8\n"
    )
    reproduced = service.launch(service.estimate(request), reproduce=True)
    assert reproduced.files[0].text.endswith("  dtype: fp8\n  enable_block_reuse: false\n")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_longest_request_has_tokens_to_spare(service: GpuDeskService, engine: str) -> None:
    """Servers keep a token for themselves, and prompts are a little longer than asked for."""
    server, _, _ = plan_of(service, make_request(engine, load=Load(LoadKind.BATCH, batch=8)))
    option = {"vllm": "--max-model-len", "sglang": "--context-length", "tensorrt-llm": "--max_seq_len"}
    assert f"{option[engine]} {1024 + 256 + 64}" in server


def test_prompts_beyond_the_context_are_reported_as_refused(service: GpuDeskService) -> None:
    work = Workload(8000, 500, Load(LoadKind.CONCURRENCY, concurrency=8))
    server, _, notes = plan_of(service, make_request(model="yi-34b", workload=work))
    assert "--max-model-len 4096" in server
    assert "8,500 tokens exceed the 4,096 token context of Yi 34B, so the server rejects such requests" in notes


def test_a_network_over_several_machines_is_reported(service: GpuDeskService) -> None:
    estimate = service.estimate(make_request(accelerator="gh200-96gb", count=4, tp=4))
    assert len(service.launch(estimate).servers) == 4
    # Without a record of its systems, no one knows how many machines there are.
    unknown = service.estimator.launch_settings(estimate, ())
    notes = [
        format_message(note) for note in make_launch_plan(estimate, service.launch_facts["vllm"][0], unknown).notes
    ]
    assert any(note.startswith("One scale-up network connects 32 accelerators across several hosts") for note in notes)
    assert not any("scale-up network" in note for note in plan_of(service, make_request())[2])


def test_settings_of_the_user_are_repeated(service: GpuDeskService) -> None:
    request = make_request(memory_fraction=0.8, max_batch=96, max_batched_tokens=4096)
    server, _, _ = plan_of(service, request)
    for option in ("--gpu-memory-utilization 0.8", "--max-num-seqs 96", "--max-num-batched-tokens 4096"):
        assert option in server


def test_missing_command_has_a_reason(service: GpuDeskService) -> None:
    small = service.estimate(make_request(model="llama-3.1-405b", count=1, tp=1))
    assert not small.fits
    with pytest.raises(InputError):
        service.launch(small)
    with pytest.raises(InputError) as unknown:
        service.launch(service.estimate(make_request()), "no-engine")
    assert "no-engine" in format_message(unknown.value.problem)
    apart = service.estimate(replace(make_request(), tp=None, disaggregated=DisaggregationRequest()))
    with pytest.raises(InputError) as separate:
        service.launch(apart)
    assert "Prefill and decode pools are separate systems" in format_message(separate.value.problem)


@pytest.mark.parametrize(
    ("engine", "switch"),
    [
        ("vllm", "--no-enable-prefix-caching"),
        ("sglang", "--disable-radix-cache"),
        ("llama.cpp", "--no-cache-prompt"),
        ("tgi", "export PREFIX_CACHING=0"),
    ],
)
def test_prefixes_are_kept_except_to_reproduce_the_estimate(service: GpuDeskService, engine: str, switch: str) -> None:
    estimate = service.estimate(make_request(engine, model="llama-3.1-8b", weights=Precision.INT4, count=1, tp=1))
    assert switch not in service.launch(estimate).server
    reproduced = service.launch(estimate, reproduce=True)
    assert switch in reproduced.server
    assert any("is off to match the estimate" in format_message(note) for note in reproduced.notes)
    work = replace(estimate.request.workload, prefix_hit_rate=0.5)
    with_prefix = service.estimate(replace(estimate.request, workload=work))
    assert switch not in service.launch(with_prefix, reproduce=True).server


@pytest.mark.parametrize(("engine", "variable"), [("vllm", "VLLM_ROCM_USE_AITER"), ("sglang", "SGLANG_USE_AITER")])
@pytest.mark.parametrize("version", [0, 1])
def test_amd_parts_get_their_fast_kernels_and_the_reason(
    service: GpuDeskService, engine: str, variable: str, version: int
) -> None:
    older = service.launch_facts[engine][version].version
    plan = service.launch(service.estimate(make_request(engine, accelerator="mi300x")), version=older)
    assert f"\nexport {variable}=1\n" in plan.server
    (extra,) = (each for each in plan.extras if each.name == variable)
    assert "AITER" in extra.reason
    assert extra.source.startswith("https://")
    assert service.launch(service.estimate(make_request(engine))).extras == ()


def test_latent_attention_on_amd_parts_takes_blocks_of_one_token_in_older_versions(service: GpuDeskService) -> None:
    estimate = service.estimate(make_request(model="deepseek-v3", accelerator="mi300x", tp=None))
    assert "--block-size 1" in service.launch(estimate, version="0.10.1").server
    newest = service.launch(estimate).server
    assert "VLLM_ROCM_USE_AITER=1" in newest
    assert "--block-size" not in newest
    for other in (make_request(model="deepseek-v3", tp=None), make_request(accelerator="mi300x")):
        assert "--block-size" not in service.launch(service.estimate(other), version="0.10.1").server


@pytest.mark.parametrize(
    ("model", "accelerator", "is_set"),
    [
        ("llama-3.1-70b", "mi300x", True),
        ("llama-3.1-70b", "h200-sxm", False),
        # Sinks, linear and latent attention, windows: the backend refuses them, or was not tried with them.
        ("gpt-oss-120b", "mi300x", False),
        ("qwen3-next-80b-a3b", "mi300x", False),
        ("glm-4.7-flash", "mi300x", False),
        ("gemma-3-27b", "mi300x", False),
    ],
)
def test_full_attention_on_amd_parts_is_that_of_aiter(
    service: GpuDeskService, model: str, accelerator: str, is_set: bool
) -> None:
    weights = Precision.MXFP4 if model == "gpt-oss-120b" else Precision.BF16
    estimate = service.estimate(make_request(model=model, accelerator=accelerator, weights=weights, tp=None))
    assert ("--attention-backend ROCM_AITER_FA" in service.launch(estimate).server) is is_set
    assert "--attention-backend" not in service.launch(estimate, version="0.10.1").server


def test_graphs_are_switched_off_by_the_words_of_the_version(service: GpuDeskService) -> None:
    work = replace(make_request().workload, eager=True)
    estimate = service.estimate(make_request("sglang", workload=work))
    newest = service.launch(estimate).server
    assert "--cuda-graph-backend-decode disabled --cuda-graph-backend-prefill disabled" in newest
    assert "\nsglang serve " in newest
    older = service.launch(estimate, version="0.5.5").server
    assert "--disable-cuda-graph" in older
    assert "\npython -m sglang.launch_server " in older


@pytest.mark.parametrize("version", ["1.2", "1.0"])
def test_tensorrt_llm_disables_graphs_in_its_file(service: GpuDeskService, version: str) -> None:
    work = replace(make_request().workload, eager=True)
    plan = service.launch(service.estimate(make_request("tensorrt-llm", workload=work)), version=version)
    assert "\ncuda_graph_config: null\n" in plan.files[0].text
    plan = service.launch(service.estimate(make_request("tensorrt-llm")), version=version)
    assert "cuda_graph_config" not in plan.files[0].text


def test_llama_cpp_disables_graphs_by_a_variable(service: GpuDeskService) -> None:
    work = replace(make_request().workload, eager=True)
    request = make_request("llama.cpp", workload=work, weights=Precision.INT4, count=1, tp=1, model="llama-3.1-8b")
    assert "\nexport GGML_CUDA_DISABLE_GRAPHS=1\n" in service.launch(service.estimate(request)).server


def test_a_4_bit_cache_is_set_in_the_versions_of_tensorrt_llm_that_have_it(service: GpuDeskService) -> None:
    request = make_request("tensorrt-llm", accelerator="b200-hgx", kv=Precision.NVFP4)
    newest = service.launch(service.estimate(request))
    assert "  dtype: nvfp4\n" in newest.files[0].text
    older = service.launch(service.estimate(request), version="1.0")
    assert "dtype" not in older.files[0].text
    assert any("no KV cache option for NVFP4" in format_message(note) for note in older.notes)


@pytest.mark.parametrize(
    ("kv", "option"),
    [(Precision.INT8, "int8_per_token_head"), (Precision.INT4, "int4_per_token_head"), (Precision.NVFP4, "nvfp4")],
)
def test_every_cache_format_that_vllm_runs_is_set(service: GpuDeskService, kv: Precision, option: str) -> None:
    """Otherwise the cache has 16 bits, and holds half of what the estimate says, or less."""
    estimate = service.estimate(make_request(accelerator="b200-hgx", kv=kv))
    assert f"--kv-cache-dtype {option} " in service.launch(estimate).server
    assert "--kv-cache-dtype" not in service.launch(estimate, version="0.10.1").server


@pytest.mark.parametrize(("engine", "dataset"), [("sglang", "random-ids"), ("tensorrt-llm", "random --random-ids")])
def test_prompts_of_the_benchmark_need_no_download(service: GpuDeskService, engine: str, dataset: str) -> None:
    """Random prompts of these clients are otherwise cut from ShareGPT, which they download."""
    benchmark = plan_of(service, make_request(engine))[1]
    assert f"--dataset-name {dataset} \\\n" in benchmark


def test_slots_of_llama_cpp_share_its_context(service: GpuDeskService) -> None:
    load = Load(LoadKind.CONCURRENCY, concurrency=6)
    request = make_request(
        "llama.cpp", load, model="llama-3.1-8b", weights=Precision.INT4, kv=Precision.INT8, count=1, tp=1
    )
    plan = service.launch(service.estimate(request))
    for option in (
        "MODEL=/path/to/Llama-3.1-8B-INT4.gguf",
        "--split-mode none",
        "--parallel 6",
        f"--ctx-size {6 * 1344}",
        "--cache-type-k q8_0 \\\n  --cache-type-v q8_0",
    ):
        assert option in plan.server
    assert "llama-bench \\\n" in plan.benchmark
    assert any("not the load" in format_message(note) for note in plan.notes)
    stages = service.launch(service.estimate(replace(request, count=2, tp=1, pp=2)))
    assert "--split-mode layer" in stages.server


def test_tgi_is_said_to_be_in_maintenance_and_refuses_what_it_cannot(service: GpuDeskService) -> None:
    plan = service.launch(service.estimate(make_request("tgi", weights=Precision.FP16)))
    assert "--num-shard 8" in plan.server
    assert "in maintenance mode since 2025-12" in format_message(plan.notes[0])
    with pytest.raises(InputError) as stages:
        service.launch(service.estimate(make_request(tp=4, pp=2)), "tgi")
    assert "not support pipeline parallelism" in format_message(stages.value.problem)


@pytest.mark.parametrize(
    ("part", "engine", "platform"), [("tpu-v7-ironwood", "sglang", "JAX/XLA"), ("gaudi3", "vllm", "SynapseAI")]
)
def test_no_command_is_made_for_a_platform_whose_options_were_not_read(
    service: GpuDeskService, part: str, engine: str, platform: str
) -> None:
    request = make_request(engine, accelerator=part, model="llama-3.1-8b", weights=Precision.BF16, count=1, tp=1)
    with pytest.raises(InputError) as elsewhere:
        service.launch(service.estimate(request))
    assert platform in format_message(elsewhere.value.problem)


def test_unknown_engine_version_lists_the_known_ones(service: GpuDeskService) -> None:
    with pytest.raises(InputError) as unknown:
        service.launch(service.estimate(make_request()), version="1")
    assert "known versions: 0.33, 0.10.1" in format_message(unknown.value.problem)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_every_command_has_only_options_that_were_looked_up(service: GpuDeskService, engine: str) -> None:
    """And none is given twice."""
    request = make_request(engine, model="llama-3.1-8b", weights=Precision.INT4, count=1, tp=1)
    for facts in service.launch_facts[engine]:
        assert facts.sources
        assert facts.version
        plan = service.launch(service.estimate(request), version=facts.version)
        for text, known_options in ((plan.server, facts.server), (plan.benchmark, facts.benchmark)):
            words = [word for word in text.split() if word.startswith("--")]
            assert len(words) == len(set(words))
            assert set(words) <= {word for option in known_options.values() for word in option.split()}


def test_every_source_is_an_address(service: GpuDeskService) -> None:
    for versions in service.launch_facts.values():
        for facts in versions:
            assert all(source.url.startswith("https://") and source.title for source in facts.sources)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "launch.toml"
    with pytest.raises(InputError) as absent:
        read_launch_facts(path)
    assert absent.value.where == str(path)
    path.write_text("[vllm", encoding="utf-8")
    with pytest.raises(InputError):
        read_launch_facts(path)
    text = paths.get_data_path("launch.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('tp = "--tensor-parallel-size"\n', ""), encoding="utf-8")
    with pytest.raises(InputError) as lacking:
        read_launch_facts(path)
    assert "lacks tp" in format_message(lacking.value.problem)
    assert lacking.value.where == f"{path}: vllm 0.33.server"
