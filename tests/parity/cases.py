"""The command lines whose results are compared between two states of the program, always the same ones.

Identities are written out here and not read from a catalog, so that both states are asked the same. In an
argument `{work}` stands for an empty folder, where files that a step writes are recorded, and `{data}` for
`tests/data`.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

PARTS: Final = tuple(
    """a100-80gb-sxm b200-hgx b300-hgx gaudi2 gaudi3 gb200-nvl72 gb300-nvl72 gh200-144gb gh200-96gb
    h100-nvl-94gb h100-pcie h100-sxm h200-nvl h200-sxm inferentia2 l4 l40s mi210 mi250x mi300a mi300x mi325x
    mi350x mi355x mi455x rtx-4090 rtx-5090 rtx-pro-6000-blackwell tpu-v5e tpu-v5p tpu-v6e tpu-v7-ironwood
    trainium2 vera-rubin-nvl72""".split()
)
#: What most comparisons are made of.
USUAL_PARTS: Final = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x", "b300-hgx", "mi350x")
MODELS: Final = tuple(
    """command-a-111b command-r-08-2024 deepseek-r1 deepseek-v2-lite deepseek-v2 deepseek-v3.1 deepseek-v3.2
    deepseek-v3 deepseek-v4-flash deepseek-v4-pro devstral-2-123b falcon-180b falcon-40b gemma-2-27b
    gemma-2-9b gemma-3-12b gemma-3-27b gemma-4-26b-a4b gemma-4-31b glm-4.5-air glm-4.5 glm-4.6 glm-4.7-flash
    glm-4.7 glm-5.1 glm-5.2 glm-5 gpt-j-6b gpt-oss-120b gpt-oss-20b jamba-v0.1 kimi-k2-thinking kimi-k2.5
    kimi-k2 kimi-k3 llama-2-13b llama-2-70b llama-2-7b llama-3.1-405b llama-3.1-70b llama-3.1-8b llama-3.3-70b
    llama-4-maverick llama-4-scout mimo-v2-flash minimax-m1 minimax-m2.5 minimax-m2.7 minimax-m2 minimax-m3
    mistral-7b-v0.1 mistral-7b-v0.3 mistral-large-2-123b mistral-nemo-12b mistral-small-3-24b mixtral-8x22b
    mixtral-8x7b nemotron-3-nano-30b-a3b nemotron-3-super-120b-a12b nemotron-3-ultra-550b-a55b nemotron-h-56b
    nemotron-super-49b phi-3-mini-4k phi-4 qwen2.5-14b qwen2.5-32b qwen2.5-72b qwen2.5-7b qwen3-14b
    qwen3-235b-a22b qwen3-30b-a3b qwen3-32b qwen3-8b qwen3-coder-480b-a35b qwen3-next-80b-a3b
    qwen3.5-122b-a10b qwen3.5-27b qwen3.5-35b-a3b qwen3.5-397b-a17b qwen3.6-35b-a3b qwen3.8-2.4t-a95b
    step-3.7-flash yi-34b""".split()
)
TEMPLATES: Final = (
    "70b-chat-on-four",
    "405b-one-node",
    "b200-or-mi355x",
    "h100-pair-or-mi300x-70b",
    "mi300x-or-h100-70b",
    "mi325x-or-h200-70b",
)
FIGURES: Final = (
    "output_tokens_per_s",
    "total_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "request_s",
    "batch_s",
    "ttft_ms",
    "tpot_ms",
    "max_concurrency",
    "memory",
    "plan",
)
SHOWN: Final = (
    "waiting",
    "vendors",
    "export",
    "negotiation",
    "software",
    "references",
    "loading",
    "watch",
)
SHEETS: Final = ("md", "html", "csv", "xlsx", "json", "gpudesk", "pdf")
ANSWERS: Final[dict[str, tuple[str, ...]]] = {
    "serving_engine": ("any", "vllm", "sglang", "tensorrt-llm", "tgi", "own"),
    "tuned_for": ("nothing", "cuda", "cdna4"),
    "porting": ("yes", "no"),
    "shape": ("free", "one", "several"),
    "long_context": ("no", "yes"),
    "precision": ("any", "fp4", "automatic", "unquantised"),
    "ttft_limit_ms": ("none", "1000", "2000", "5000"),
    "tpot_limit_ms": ("none", "20", "50", "100"),
    "service": ("interactive", "server", "offline"),
    "site": ("open", "rack", "oam", "hgx", "pcie", "amd"),
    "destination": ("free", "controlled", "unknown"),
    "priority": ("balanced", "cost", "speed", "users", "certainty"),
    "work": ("serving", "multimodal", "media", "fine_tuning", "training"),
    "standing": ("none", "reference", "frontier"),
    "team": ("rocm", "can_learn", "cuda", "small", "unknown"),
    "tuning": ("full", "untuned", "tuned", "own_code", "unknown"),
    "current_platform": ("CUDA", "ROCm", "other", "none"),
    "acquisition": ("undecided", "own", "rent"),
    "monthly_hours": ("unknown", "500", "10000"),
    "budget_usd": ("none", "50000", "250000", "1000000"),
    "adoption_months": ("unknown", "0", "3", "12"),
    "months_to_launch": ("unknown", "0", "3", "9"),
    "waiting": ("no", "unpriced", "priced"),
    "vendor_policy": ("any", "one", "two_pools", "shared_pool"),
    "api_checked": ("yes", "no", "unknown"),
}
_COSTS: Final = (
    (),
    ("--rent-term", "reserved"),
    ("--rent-term", "spot", "--set", "energy_usd_per_kwh=0.1"),
    ("--set", "utilisation=0.2:0.4:0.8", "--set", "years=5"),
    ("--around", "0.2"),
    ("--reported-discounts",),
    ("--currency", "EUR=0.9@2026-03-01"),
    ("--runs-on", "ROCm", "--set", "fleet=64"),
    ("--set", "api_input_usd_per_million=0.5", "--set", "api_output_usd_per_million=1.5"),
    ("--set", "grid_g_per_kwh=350", "--seed", "7"),
)
_SCENARIOS: Final = 216
_DRAWS: Final = ("--draws", "2000")
#: Every scenario of which this divides the number is asked in a quick recording.
_QUICK: Final = 6

Arguments = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Command lines that follow each other with the same user's folder, which is empty before the first.

    `files` are written into the folder for work beforehand: a text as it stands, bytes, or `@NAME` for a
    copy of a file of `tests/data`. `kept` are such copies in the user's folder.
    """

    name: str
    steps: tuple[Arguments, ...]
    files: dict[str, str | bytes] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    stdin: str = ""
    quick: bool = False

    @property
    def command(self) -> str:
        """What the case is a case of."""
        return self.name.partition("/")[0]


def all_cases() -> list[Case]:
    """Return all cases, no two of one name."""
    made = [
        *_scenario_cases(),
        *_figure_cases(),
        *_template_cases(),
        *_fit_cases(),
        *_sweep_cases(),
        *_batch_cases(),
        *_catalog_cases(),
        *_list_cases(),
        *_import_cases(),
        *_own_cases(),
        *_wrong_cases(),
        *_help_cases(),
    ]
    names = [case.name for case in made]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"names of cases that occur twice: {sorted(twice)}")
    return made


# Scenarios


def _scenario_cases() -> Iterator[Case]:
    draw = random.Random(1)
    for number in range(_SCENARIOS):
        what = _deployment(number, draw)
        quick = number % _QUICK == 0
        name = f"s{number:03}"
        yield from _asked_of(number, name, (*what, *_load(number, draw)), quick=quick)
        if number % 3 == 0:
            yield from _said_both_ways("size", name, (*what, *_demand(number, draw)), quick=quick)
        costs = _COSTS[number // 5 % len(_COSTS)]
        answers = _answers(draw)
        if number % 5 == 1:
            load = ("--concurrency", str(draw.choice((8, 32, 128))))
            yield Case(f"cost/{name}-json", (("cost", *what, *load, *_DRAWS, *costs, "--json"),))
            yield Case(f"cost/{name}-text", (("cost", *what, *load, *_DRAWS, *costs),))
        if number % 11 == 2:
            told = ("--json",) if number % 2 else ()
            shown = ("--show", SHOWN[number // 11 % len(SHOWN)]) if number % 2 else ()
            load = ("--concurrency", str(draw.choice((4, 64, 256))))
            yield Case(f"decide/{name}", (("decide", *what, *load, *answers, *shown, *told),))


def _asked_of(number: int, name: str, what: Arguments, *, quick: bool) -> Iterator[Case]:
    yield from _said_both_ways("estimate", name, what, quick=quick)
    yield from _said_both_ways("compare", name, what, quick=quick)
    figure = FIGURES[number % len(FIGURES)]
    yield Case(f"explain/{name}-json", (("explain", figure, *what, "--json"),), quick=quick)
    if number % 2:
        other = FIGURES[(number // 2 + 5) % len(FIGURES)]
        yield Case(f"explain/{name}-text", (("explain", other, *what),))
    if number % 3 == 1:
        suffix = SHEETS[number // 3 % len(SHEETS)]
        yield Case(f"sheet/{name}-{suffix}", (("sheet", *what, "-o", f"{{work}}/sheet.{suffix}"),))


def _said_both_ways(command: str, name: str, what: Arguments, *, quick: bool = False) -> Iterator[Case]:
    yield Case(f"{command}/{name}-json", ((command, *what, "--json"),), quick=quick)
    yield Case(f"{command}/{name}-text", ((command, *what),), quick=quick)


def _deployment(number: int, draw: random.Random) -> Arguments:
    """Return what is compared, on how many accelerators, and how it is deployed."""
    several = draw.choice((1, 2, 2, 3, 4, 6 if number % 12 == 0 else 2))
    parts = draw.sample(USUAL_PARTS if number % 3 else PARTS, several)
    counts = draw.choice(((None,), (8,), (8,), (1, 2, 4, 8), (4,), (16,), (72,)))
    chosen = [
        part if count is None else f"{part}:{count}" for part in parts for count in [draw.choice(counts)]
    ]
    stated = ["--accelerators", ",".join(chosen), "--model", MODELS[number * 7 % len(MODELS)]]
    weights = draw.choice((None, None, "fp8", "fp8", "bf16", "int4", "mxfp4", "nvfp4", "int8", "fp16"))
    kv = draw.choice((None, None, "fp8", "fp8", "bf16"))
    stated += _option("--weights", weights) + _option("--kv", kv)
    stated += ["--input-tokens", str(draw.choice((64, 512, 1000, 2048, 4000, 16_000, 100_000)))]
    stated += ["--output-tokens", str(draw.choice((1, 64, 200, 500, 1000, 4000)))]
    return (*stated, *_plan(number, draw), *_details(number, draw))


def _plan(number: int, draw: random.Random) -> Sequence[str]:
    plans: tuple[tuple[str, ...], ...] = (
        ("--tp", "8"),
        ("--tp", "4", "--dp", "2"),
        ("--tp", "2"),
        ("--pp", "2"),
        ("--ep", "8", "--attention-dp"),
        ("--tp", "8", "--ep", "8"),
        ("--no-attention-dp",),
        ("--dp", "4"),
        ("--disaggregated",),
        ("--pools", "prefill=4:tp4,decode=4:tp2"),
        ("--pools", "prefill=8,decode=8:tp8"),
    )
    return draw.choice(plans) if number % 3 == 0 else ()


def _details(number: int, draw: random.Random) -> Sequence[str]:
    stated: list[str] = []
    if number % 4 == 0:
        stated += ["--serving-engine", draw.choice(("vllm", "sglang", "tensorrt-llm", "tgi", "llama.cpp"))]
    details: tuple[tuple[str, ...], ...] = (
        ("--date", "2025-01"),
        ("--date", "2024-03"),
        ("--memory-fraction", "0.8"),
        ("--max-batch", "32"),
        ("--max-batched-tokens", "2048"),
        ("--lengths", "fixed"),
        ("--lengths", "varied"),
        ("--server",),
        ("--no-server",),
        ("--eager",),
        ("--prefix-hit-rate", "0.5"),
        ("--acceptance-length", "2.5"),
    )
    for _ in range(draw.choice((0, 0, 1, 1, 2))):
        stated += draw.choice(details)
    return stated


def _load(number: int, draw: random.Random) -> Arguments:
    loads = (
        ("--concurrency", str(draw.choice((1, 4, 16, 64, 256, 1024)))),
        ("--concurrency", "32", "--requests", str(draw.choice((32, 100, 1000)))),
        ("--batch-size", str(draw.choice((1, 8, 64, 256)))),
        ("--saturate", str(draw.choice((100, 1000, 5000)))),
        ("--request-rate", str(draw.choice((0.2, 1, 4, 20)))),
        ("--ttft-ms", str(draw.choice((500, 2000, 8000))), "--tpot-ms", str(draw.choice((15, 40, 100)))),
        ("--ttft-ms", "3000", "--tpot-ms", "50", "--limit", "mean"),
    )
    return loads[number % len(loads)]


def _demand(number: int, draw: random.Random) -> Arguments:
    demands = (
        ("--users", str(draw.choice((10, 1000, 20_000)))),
        ("--request-rate", str(draw.choice((0.5, 10, 200)))),
        ("--tokens-per-day", str(draw.choice((1_000_000, 500_000_000)))),
        ("--users", "500", "--requests-per-user-hour", "30", "--peak-factor", "3", "--spare", "2"),
        ("--request-rate", "5", "--ttft-ms", "2000", "--tpot-ms", "50", "--utilisation", "0.6"),
    )
    return demands[number // 3 % len(demands)]


def _answers(draw: random.Random) -> Arguments:
    stated: list[str] = []
    for question in draw.sample(sorted(ANSWERS), draw.choice((0, 2, 4, 8))):
        stated += ["--set", f"{question}={draw.choice(ANSWERS[question])}"]
    return tuple(stated)


def _option(name: str, value: str | None) -> list[str]:
    return [] if value is None else [name, value]


# Single commands in full

_FULL: Final = (
    "--accelerators h200-sxm:8,mi325x:8 --model llama-3.1-70b --weights fp8 --kv fp8 --input-tokens 2000 "
    "--output-tokens 500 --concurrency 64",
    "--accelerators b200-hgx:8,mi355x:8 --model deepseek-v3 --input-tokens 4000 --output-tokens 1000 "
    "--request-rate 2",
    "--accelerators h100-sxm:1,l40s:1,mi300x:1 --model qwen3-8b --weights bf16 --input-tokens 512 "
    "--output-tokens 128 --batch-size 16",
    "--accelerators gb200-nvl72:72 --model kimi-k2 --input-tokens 8000 --output-tokens 1000 --saturate 2000",
    "--accelerators h200-sxm:16,mi325x:16 --model gpt-oss-120b --input-tokens 4000 --output-tokens 500 "
    "--concurrency 128 --pools prefill=8:tp4,decode=8:tp8",
    "--accelerators h100-sxm:4,mi300x:4 --model mixtral-8x22b --weights fp8 --input-tokens 1000 "
    "--output-tokens 300 --ttft-ms 2000 --tpot-ms 40",
    "--accelerators h100-sxm:2 --model llama-3.1-70b --weights bf16 --input-tokens 30000 --output-tokens 2000 "
    "--concurrency 400 --lengths varied",
)


#: Of as many of these the derivations are recorded as text too.
_FULL_TEXTS: Final = 3


def _figure_cases() -> Iterator[Case]:
    """Yield the derivation of every figure of a few scenarios."""
    for number, text in enumerate(_FULL):
        for figure in FIGURES:
            what = ("explain", figure, *text.split())
            yield Case(f"explain/full{number}-{figure}-json", ((*what, "--json"),), quick=number == 0)
            if number < _FULL_TEXTS:
                yield Case(f"explain/full{number}-{figure}-text", (what,))
    yield Case("explain/examples", (("explain", "examples"),))
    yield Case("explain/examples-json", (("explain", "examples", "--json"),))
    for number in ("W000-01", "W001-05", "W000-04", "W999-01"):
        yield Case(f"explain/{number}", (("explain", number), ("explain", number, "--json")))


def _template_cases() -> Iterator[Case]:
    for template in TEMPLATES:
        what = ("--template", template)
        quick = template == TEMPLATES[0]
        yield from _said_both_ways("estimate", template, what)
        yield from _said_both_ways("compare", template, what)
        yield from _said_both_ways("size", template, (*what, "--users", "2000"))
        yield from _said_both_ways("cost", template, (*what, *_DRAWS), quick=quick)
        yield from _said_both_ways("decide", template, what, quick=quick)
        for suffix in SHEETS:
            yield Case(
                f"sheet/{template}-{suffix}",
                (("sheet", *what, "-o", f"{{work}}/sheet.{suffix}"),),
                quick=quick,
            )
        yield Case(f"cost/{template}-xlsx", (("cost", *what, *_DRAWS, "-o", "{work}/flow.xlsx"),), quick=quick)
    what = ("--template", TEMPLATES[0])
    for shown in SHOWN:
        yield Case(f"decide/show-{shown}-json", (("decide", *what, "--show", shown, "--json"),))
    every = [part for shown in SHOWN for part in ("--show", shown)]
    yield Case("decide/show-all-text", (("decide", *what, *every),))
    yield Case("sheet/letter-pdf", (("sheet", *what, "--paper", "letter", "-o", "{work}/sheet.pdf"),))
    announced = ("--accelerators", "h200-sxm:8,mi455x:8,vera-rubin-nvl72:72", "--rank-announced")
    for suffix in ("md", "pdf"):
        step = ("sheet", *what, *announced, "-o", f"{{work}}/sheet.{suffix}")
        yield Case(f"sheet/announced-{suffix}", (step,))
    yield Case("compare/announced-json", (("compare", *what, *announced, "--json"),))
    saved = ("compare", *what, "--title", "Kept & <again>", "-o", "{work}/kept.gpudesk")
    again = ("--scenario", "{work}/kept.gpudesk")
    yield Case(
        "compare/scenario-file",
        (
            saved,
            ("compare", *again),
            ("estimate", *again, "--concurrency", "8", "--json"),
            ("fit", *again, "--json"),
            ("sheet", *again, "-o", "{work}/sheet.html", "--json"),
        ),
        quick=True,
    )


def _fit_cases() -> Iterator[Case]:
    yield from _said_both_ways("fit", "h100-all", ("--accelerators", "h100-sxm", "--models", "all"), quick=True)
    yield from _said_both_ways("fit", "all-70b", ("--accelerators", "all", "--model", "llama-3.1-70b"))
    yield Case("fit/everything-json", (("fit", "--json"),))
    narrow = ("--accelerators", "mi300x,l4,rtx-4090", "--models", "qwen3-32b,gpt-oss-20b,deepseek-v3")
    wishes = (
        ("--weights", "fp8", "--kv", "fp8", "--context", "32768"),
        ("--input-tokens", "3000", "--output-tokens", "500", "--concurrency", "64"),
        ("--serving-engine", "vllm", "--memory-fraction", "0.7"),
        ("--weights", "int4"),
        ("--reading", "decimal"),
        ("--reading", "binary"),
        ("--reading", "decimal-reserved"),
        ("--reading", "binary-reserved"),
        ("--reading", "octal"),
    )
    for number, wish in enumerate(wishes):
        yield from _said_both_ways("fit", f"narrow{number}", (*narrow, *wish))


def _sweep_cases() -> Iterator[Case]:
    wide = ("--accelerators", "h200-sxm,mi325x,l4", "--models", "llama-3.1-70b,gpt-oss-120b")
    lengths = ("--input-tokens", "1024,8192", "--output-tokens", "256")
    grids = {
        "closed": (*wide, "--weights", "fp8,mxfp4", *lengths, "--tp", "1..8*2", "--concurrency", "1..256*4"),
        "static": (*wide, "--weights", "fp8", "--kv", "fp8,fp16", *lengths, "--batch", "1,8,64"),
        "chosen": (*wide, "--weights", "fp8", *lengths, "--concurrency", "16", "--serving-engine", "vllm"),
        "wrong": (*wide, "--weights", "fp9", *lengths, "--concurrency", "16"),
        "no-load": (*wide, "--weights", "fp8", *lengths),
        "details": (*wide, "--weights", "fp8", *lengths, "--concurrency", "4", "--eager", "--date", "2025-01"),
    }
    for name, grid in grids.items():
        for suffix in ("csv", "npz"):
            step = ("sweep", *grid, "-o", f"{{work}}/sweep.{suffix}")
            yield Case(f"sweep/{name}-{suffix}", (step, (*step, "--json")), quick=name == "closed")


def _batch_cases() -> Iterator[Case]:
    draw = random.Random(3)
    alike = [
        _line(number, draw, "h200-sxm", "llama-3.1-70b") | {"load": {"concurrency": 1 + number}}
        for number in range(60)
    ]
    different = [
        _line(number, draw, draw.choice(PARTS), draw.choice(MODELS))
        | {"weights": draw.choice(("bf16", "fp8", "int4"))}
        for number in range(240)
    ]
    loads: tuple[dict[str, Any], ...] = (
        {"batch": 8},
        {"saturate": True, "requests": 500},
        {"request_rate": 2.5},
        {"ttft_ms": 2000, "tpot_ms": 50},
        {"concurrency": 16, "requests": 200},
        {"ttft_ms": 2000, "tpot_ms": 50, "limit": "mean"},
    )
    for number, line in enumerate(different):
        if number % 3 == 0:
            line["load"] = loads[number // 3 % len(loads)]
    pools = [_line(n, draw, "mi325x", "deepseek-v3") | {"count": 16, "disaggregated": {}} for n in range(6)]
    wrong = (
        '{"id": 1}\n{not json}\n[]\n""\n{"id": 2, "accelerator": "h200"}\n\n'
        + json.dumps(_line(3, draw, "h200-sxm", "llama-3.1-70b") | {"load": {}})
        + "\n"
        + json.dumps(_line(4, draw, "h200-sxm", "llama-3.1-70b") | {"tp": 3})
        + "\n"
        + json.dumps(_line(5, draw, "h200-sxm", "llama-3.1-70b") | {"colour": "red", "tp": "8"})
        + "\n"
    )
    for name, lines in (("alike", _lines(alike)), ("different", _lines(different)), ("pools", _lines(pools))):
        yield Case(f"batch/{name}", (("estimate", "--batch", "-"),), stdin=lines, quick=True)
    yield Case("batch/wrong", (("estimate", "--batch", "-"),), stdin=wrong, quick=True)
    yield Case("batch/file", (("estimate", "--batch", "{work}/asked.jsonl"),), {"asked.jsonl": _lines(alike[:5])})
    yield Case("batch/missing", (("estimate", "--batch", "{work}/none.jsonl"),))


def _line(number: int, draw: random.Random, part: str, model: str) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": number,
        "accelerator": part,
        "count": 8,
        "model": model,
        "weights": "fp8",
        "kv": "fp8",
        "input_tokens": draw.randint(100, 8000),
        "output_tokens": draw.randint(100, 2000),
        "load": {"concurrency": draw.randint(1, 512)},
    }
    if number % 2:
        line |= {"serving_engine": "vllm", "tp": 8, "pp": 1, "ep": 1, "dp": 1, "attention_dp": False}
    return line


def _lines(asked: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in asked)


# Catalog

_KINDS: Final = (
    "accelerators",
    "models",
    "diffusion-models",
    "serving-engines",
    "templates",
    "prices",
    "sources",
    "disputes",
)
_EXPORTED: Final = (
    "accelerators",
    "models",
    "diffusion-models",
    "diffusion-results",
    "prices",
    "claims",
    "statements",
    "disputes",
    "sources",
    "own",
)
_THINGS: Final = ("flux1-dev", "wan2.1-14b", "vllm", "llama.cpp", "D-001", "70b-chat-on-four", "nothing-such")


def _catalog_cases() -> Iterator[Case]:
    yield Case("catalog/list-all", (("catalog", "list"), ("catalog", "list", "--json")), quick=True)
    for kind in (*_KINDS, "colours"):
        yield Case(f"catalog/list-{kind}", (("catalog", "list", kind), ("catalog", "list", kind, "--json")))
    for number, thing in enumerate((*PARTS, *MODELS, *_THINGS)):
        show = ("catalog", "show", thing)
        yield Case(f"catalog/show-{thing}", (show, (*show, "--json")), quick=number % 20 == 0)
    yield Case("catalog/verify", (("catalog", "verify"), ("catalog", "verify", "--json")), quick=True)
    for kind in _EXPORTED:
        for suffix in ("csv", "xlsx", "json", "md"):
            step = ("catalog", "export", kind, "-o", f"{{work}}/table.{suffix}")
            yield Case(f"catalog/export-{kind}-{suffix}", (step,), quick=kind == "accelerators")
    yield Case("catalog/export-stdout", (("catalog", "export", "prices", "-o", "-", "--format", "csv"),))
    yield Case("catalog/export-wrong", (("catalog", "export", "prices", "-o", "{work}/x.doc"),))
    for part in ("signers", "backups"):
        yield Case(f"catalog/{part}-none", (("catalog", part), ("catalog", part, "--json")))


def _list_cases() -> Iterator[Case]:
    yield from _said_both_ways("decide", "questions", ("--list-questions",), quick=True)
    yield from _said_both_ways("decide", "rules", ("--list-rules",), quick=True)
    stated = ("--set", "priority=cost", "--set", "ttft_limit_ms=2000", "--weight", "D000-03=2")
    template = ("--template", TEMPLATES[1])
    yield from _said_both_ways("decide", "questions-answered", ("--list-questions", *stated, *template))
    yield from _said_both_ways("decide", "rules-weighed", ("--list-rules", *stated, *template))
    answers = {"answers.json": '{"priority": "speed", "team": "cuda", "tpot_limit_ms": 30}'}
    read = ("decide", *template, "--answers", "{work}/answers.json")
    yield Case("decide/answers-file", ((*read, "--json"), (*read, "--set", "team=rocm")), answers)
    yield Case("decide/answers-stdin", (("decide", *template, "--answers", "-"),), stdin='{"priority": "users"}')
    for number, wrong in enumerate(
        ('{"priority": "colour"}', "[]", "{", '{"priority": 1}', '{"a": 1}', '{"team": "rocm", "team": "cuda"}')
    ):
        step = ("decide", *template, "--answers", "-")
        yield Case(f"decide/answers-wrong{number}", (step,), stdin=wrong)
    for number, costs in enumerate(_COSTS):
        yield from _said_both_ways("cost", f"inputs{number}", (*template, *costs, "--list-inputs"))


# Import

_LLAMA: Final = "hf/llama-2-70b.json"
_CONFIGS: Final = tuple(
    """baichuan2-13b command-r-plus deepseek-v3.2 deepseek-v4-flash-nvfp4 deepseek-v4-pro dots.llm1
    ernie-4.5-21b-a3b exaone-4.0-32b falcon-7b gemma-2-9b gemma-3-27b gemma-3n-e4b gemma-4-31b-nvfp4
    glm-4.5-air glm-5.1-nvfp4 gpt-oss-120b granite-4.0-h-tiny hunyuan-a13b internlm2.5-7b jamba-v0.1 kimi-k2.5
    kimi-linear-48b-a3b llama-3.1-70b-fp8 llama-4-scout mimo-v2-flash minimax-m1 mistral-small-3.1-24b
    mixtral-8x7b nemotron-3-nano-30b-a3b-nvfp4 nemotron-h-56b nemotron-super-49b olmo-2-7b phi-3.5-moe
    qwen2-57b-a14b qwen2.5-7b-awq qwen3-235b-a22b-fp8 qwen3-next-80b-a3b qwen3-vl-2b qwen3.5-122b-a10b
    seed-oss-36b smollm3-3b starcoder2-15b step-3.7-flash yi-34b""".split()
)
_QUANTISED: Final = {
    "deepseek-v4-flash-nvfp4",
    "gemma-4-31b-nvfp4",
    "glm-5.1-nvfp4",
    "llama-3.1-70b-fp8",
    "nemotron-3-nano-30b-a3b-nvfp4",
}
_PRICES: Final = (
    "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n"
    "ex.8x,MI325X,8,17.60,9.00,eu-1\nex.8x,H200,8,30,,eu-1\nex.4x,Nothing,4,3,,eu-1\n"
)
_OWN_PRICES: Final = (
    "accelerator,usd_per_accelerator_hour,provider,date\nh200-sxm,2.5,Ours,2026-01-02\nh200-sxm,9,Ours,2026-01-03\n"
)
_ACCELERATOR: Final = json.dumps(
    {
        "id": "parity-one",
        "name": "Parity One",
        "vendor": "Parity",
        "memory_capacity": {"value": 192, "unit": "GB"},
        "memory_bandwidth": {"value": 6, "unit": "TB/s"},
    }
)


def _import_cases() -> Iterator[Case]:
    for number, name in enumerate(_CONFIGS):
        files: dict[str, str | bytes] = {f"{name}/config.json": f"@hf/{name}.json"}
        if name in _QUANTISED:
            files[f"{name}/hf_quant_config.json"] = f"@hf/{name}.hf_quant_config.json"
        step = ("import", f"{{work}}/{name}", "--dry-run", "--date", "2026-11-01")
        yield Case(f"import/{name}", (step, (*step, "--json")), files, quick=number % 15 == 0)
    prices: dict[str, str | bytes] = {"offers.csv": _PRICES, "own.csv": _OWN_PRICES}
    told = ("--provider", "Example", "--date", "2026-11")
    yield Case(
        "import/prices",
        (
            ("import", "{work}/offers.csv", "--dry-run"),
            ("import", "{work}/offers.csv", "--dry-run", *told, "--json"),
            ("import", "{work}/own.csv", "--dry-run", "--json"),
        ),
        prices,
    )
    accelerator: dict[str, str | bytes] = {"one.json": _ACCELERATOR, "two.json": '{"accelerator": {}}'}
    yield Case(
        "import/accelerator",
        tuple(("import", f"{{work}}/{name}", "--dry-run", *end) for name in accelerator for end in ((), ("--json",))),
        accelerator,
    )
    gguf: dict[str, str | bytes] = {"model.gguf": _gguf(), "cut.gguf": _gguf()[:90]}
    yield Case(
        "import/gguf",
        tuple(
            ("import", f"{{work}}/{name}", "--dry-run", *end)
            for name in gguf
            for end in ((), ("--json",), ("--as", "mine", "--name", "Mine", "--organisation", "Us"))
        ),
        gguf,
    )
    wrong: dict[str, str | bytes] = {
        "broken.json": '{"model_type": "llama",',
        "list.json": "[]",
        "empty.csv": "",
        "other.csv": "a,b\n1,2\n",
        "bytes.json": b"\xff\xfe\x00",
        "no.gpudeskpack": "{}",
        "text.txt": "hello",
    }
    yield Case("import/wrong", tuple(("import", f"{{work}}/{name}") for name in (*wrong, "none.json")), wrong)


def _gguf() -> bytes:
    """Return a small GGUF file of a dense model: what it says of itself, and its tensors without numbers."""
    text, whole, real = 8, 4, 6

    def string(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    said: list[tuple[str, int, Any]] = [
        ("general.architecture", text, "llama"),
        ("general.name", text, "Parity 7B"),
        ("general.file_type", whole, 1),
        ("llama.block_count", whole, 32),
        ("llama.context_length", whole, 8192),
        ("llama.embedding_length", whole, 4096),
        ("llama.feed_forward_length", whole, 11008),
        ("llama.attention.head_count", whole, 32),
        ("llama.attention.head_count_kv", whole, 8),
        ("llama.rope.freq_base", real, 10000.0),
        ("llama.vocab_size", whole, 32000),
    ]
    out = b"GGUF" + struct.pack("<IQQ", 3, 2, len(said))
    for name, kind, value in said:
        out += string(name) + struct.pack("<I", kind)
        out += string(value) if kind == text else struct.pack("<I" if kind == whole else "<f", value)
    for name, offset in (("token_embd.weight", 0), ("output.weight", 32000 * 4096 * 2)):
        out += string(name) + struct.pack("<IQQIQ", 2, 4096, 32000, 1, offset)
    return out + b"\0" * 64


def _own_cases() -> Iterator[Case]:
    """Yield walks through what the user keeps."""
    files: dict[str, str | bytes] = {"My-Llama/config.json": f"@{_LLAMA}", "own.csv": _OWN_PRICES}
    load = ("--weights", "fp8", "--input-tokens", "1000", "--output-tokens", "500", "--concurrency", "32")
    asked = ("--accelerators", "h200-sxm:8,mi325x:8", "--model", "mine", *load)
    exports = tuple(("catalog", "export", "own", "-o", f"{{work}}/own.{suffix}") for suffix in ("csv", "json", "md"))
    yield Case(
        "own/model",
        (
            ("import", "{work}/My-Llama", "--as", "mine", "--name", "Mine"),
            ("import", "{work}/My-Llama", "--as", "mine"),
            ("import", "{work}/own.csv", "--json"),
            ("catalog", "show", "mine"),
            ("catalog", "show", "mine", "--json"),
            ("catalog", "list", "models", "--json"),
            ("catalog", "list", "prices"),
            ("compare", *asked, "--json"),
            ("compare", *asked, "-o", "{work}/carries.gpudesk"),
            ("sheet", *asked, "-o", "{work}/sheet.md"),
            ("cost", *asked, *_DRAWS, "--json"),
            *exports,
            ("catalog", "pack", "-o", "{work}/all.gpudeskpack"),
            ("catalog", "pack", "-o", "{work}/prices.gpudeskpack", "--part", "prices", "--name", "Prices"),
            ("catalog", "backups"),
            ("catalog", "restore", "1"),
            ("catalog", "list", "models"),
            ("import", "{work}/all.gpudeskpack", "--dry-run"),
            ("import", "{work}/all.gpudeskpack", "--json"),
            ("catalog", "verify"),
        ),
        files,
        quick=True,
    )
    for version in ("user-v1", "user-v2"):
        yield Case(
            f"own/{version}",
            (
                ("catalog", "list", "accelerators"),
                ("catalog", "verify"),
                *exports,
                ("catalog", "pack", "-o", "{work}/all.gpudeskpack"),
                ("catalog", "backups"),
            ),
            kept={"catalog.sqlite": f"{version}.sqlite"},
        )
    yield Case(
        "own/carried",
        (
            ("import", "{work}/My-Llama", "--as", "mine"),
            ("compare", *asked, "-o", "{work}/carries.gpudesk"),
            ("catalog", "restore", "9"),
            ("estimate", "--scenario", "{work}/carries.gpudesk", "--json"),
        ),
        files,
    )


# What is refused

_GOOD: Final = "--accelerators h200-sxm:8 --model llama-3.1-70b --weights fp8 --input-tokens 100 --output-tokens 100"
_WRONG: Final = (
    "nothing",
    "estimate",
    "estimate --json",
    "compare --accelerators h200-sxm",
    f"estimate {_GOOD}",
    f"estimate {_GOOD} --concurrency 0",
    f"estimate {_GOOD} --concurrency many",
    f"estimate {_GOOD} --concurrency 8 --batch-size 8",
    f"estimate {_GOOD} --concurrency 8 --tp 3",
    f"estimate {_GOOD} --concurrency 8 --tp 16",
    f"estimate {_GOOD} --concurrency 8 --tp 4 --pp 4",
    f"estimate {_GOOD} --concurrency 8 --kv fp3",
    f"estimate {_GOOD} --concurrency 8 --weights fp9",
    f"estimate {_GOOD} --concurrency 8 --date 2026",
    f"estimate {_GOOD} --concurrency 8 --memory-fraction 2",
    f"estimate {_GOOD} --concurrency 8 --lengths long",
    f"estimate {_GOOD} --concurrency 8 --prefix-hit-rate nan",
    f"estimate {_GOOD} --concurrency 8 --acceptance-length 0.5",
    f"estimate {_GOOD} --concurrency 8 --serving-engine none",
    f"estimate {_GOOD} --concurrency 8 --pools prefill=8",
    f"estimate {_GOOD} --concurrency 8 --pools prefill=8,prefill=8",
    f"estimate {_GOOD} --concurrency 8 --pools other=8:tp4",
    f"estimate {_GOOD} --concurrency 8 --pools prefill=4,decode=4 --no-disaggregated",
    f"estimate {_GOOD} --ttft-ms 100",
    f"estimate {_GOOD} --ttft-ms 0.001 --tpot-ms 0.001",
    f"estimate {_GOOD} --request-rate 1000000",
    f"estimate {_GOOD} --saturate -1",
    f"estimate {_GOOD} --concurrency 8 --accelerators h200:8",
    f"estimate {_GOOD} --concurrency 8 --accelerators h200-sxm:x",
    f"estimate {_GOOD} --concurrency 8 --accelerators ,",
    f"estimate {_GOOD} --concurrency 8 --model llama",
    f"estimate {_GOOD} --concurrency 8 --model llama-3.1-405b --accelerators l4:1",
    f"estimate {_GOOD} --concurrency 8 --input-tokens 99999999",
    "estimate --accelerators a,b,c,d,e,f,g --model llama-3.1-70b --input-tokens 1 --output-tokens 1 --concurrency 1",
    "estimate --template nothing",
    "estimate --template 405b-one-node --scenario x.gpudesk",
    "estimate --scenario {work}/none.gpudesk",
    "estimate --scenario {work}/broken.gpudesk",
    "estimate --scenario {work}/newer.gpudesk",
    "estimate --scenario {work}/odd.gpudesk",
    f"explain nothing {_GOOD} --concurrency 8",
    f"explain batch_s {_GOOD} --concurrency 8",
    "size --template 405b-one-node",
    "size --template 405b-one-node --users 0",
    "size --template 405b-one-node --users 10 --request-rate 1",
    "size --template 405b-one-node --users 10 --utilisation 2",
    "size --template 405b-one-node --users 100 --tpot-ms 0.01 --ttft-ms 1",
    "cost --template 405b-one-node --set nothing=1",
    "cost --template 405b-one-node --set years",
    "cost --template 405b-one-node --set l4.price_usd=1",
    "cost --template 405b-one-node --set pue=2:1:3",
    "cost --template 405b-one-node --rent-term daily",
    "cost --template 405b-one-node --currency EUR",
    "cost --template 405b-one-node --draws 0",
    "cost --template 405b-one-node --around 3",
    "cost --template 405b-one-node -o {work}/flow.pdf",
    "decide --template 405b-one-node --set nothing=1",
    "decide --template 405b-one-node --set priority=colour",
    "decide --template 405b-one-node --weight D000=1",
    "decide --template 405b-one-node --weight D000-03=high",
    "decide --template 405b-one-node --show nothing",
    "sheet --template 405b-one-node",
    "sheet --template 405b-one-node -o {work}/sheet.doc",
    "sheet --template 405b-one-node -o {work}/none/sheet.md",
    "sheet --template 405b-one-node -o {work}/sheet.pdf --paper a5",
    "fit --context 0",
    "fit --context 100 --input-tokens 10",
    "fit --models nothing",
    "fit --accelerators h200-sxm:8 --models phi-4",
    "sweep --accelerators h200-sxm",
    "catalog",
    "catalog nothing",
    "catalog restore 1",
    "catalog restore {work}/broken.gpudesk",
    "catalog signers --distrust 1",
    "catalog pack -o {work}/x.zip",
    "catalog pack -o {work}/x.gpudeskpack",
    "import",
    "{work}/text.txt",
)


def _wrong_cases() -> Iterator[Case]:
    files: dict[str, str | bytes] = {
        "broken.gpudesk": '{"gpudesk": 1, "scenario": ',
        "newer.gpudesk": '{"gpudesk": 99, "scenario": {"version": 99}}',
        "odd.gpudesk": '{"gpudesk": 1, "scenario": {"version": 1, "colour": 3, "model": 7}}',
        "text.txt": "hello",
    }
    for number, text in enumerate(_WRONG):
        command = text.split()[0] if text.split()[0].isalpha() else "wrong"
        yield Case(f"{command}/wrong{number:02}", (tuple(text.split()),), files, quick=number % 8 == 0)


def _help_cases() -> Iterator[Case]:
    for command in "estimate compare explain fit size cost decide sheet sweep catalog import".split():
        yield Case(f"help/{command}", ((command, "--help"),), quick=command == "estimate")
    for part in "list show verify export pack signers backups restore".split():
        yield Case(f"help/catalog-{part}", (("catalog", part, "--help"),))
    yield Case("help/program", (("--help",), ("--version",)), quick=True)
