"""The command lines whose results are compared between two states of the program, always the same ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tests.parity.case import (
    ANSWERS,
    COSTS,
    DRAWS,
    FIGURES,
    MODELS,
    PARTS,
    SHEETS,
    SHOWN,
    TEMPLATES,
    USUAL_PARTS,
    Arguments,
    Case,
    said_both_ways,
)
from tests.parity.kept_cases import catalog_cases, help_cases, import_cases, list_cases, list_user_cases, wrong_cases

_SCENARIOS: Final = 216
#: Every scenario of which this divides the number is asked in a quick recording.
_QUICK: Final = 6


def all_cases() -> list[Case]:
    """Return all cases, no two of one name."""
    cases = [
        *_scenario_cases(),
        *_figure_cases(),
        *_template_cases(),
        *_fit_cases(),
        *_sweep_cases(),
        *_batch_cases(),
        *catalog_cases(),
        *list_cases(),
        *import_cases(),
        *list_user_cases(),
        *wrong_cases(),
        *help_cases(),
    ]
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"names of cases that occur twice: {sorted(twice)}")
    return cases


# Scenarios


def _scenario_cases() -> Iterator[Case]:
    draw = random.Random(1)
    for number in range(_SCENARIOS):
        what = _deployment(number, draw)
        quick = number % _QUICK == 0
        name = f"s{number:03}"
        yield from _asked_of(number, name, (*what, *_load(number, draw)), quick=quick)
        if number % 3 == 0:
            yield from said_both_ways("size", name, (*what, *_demand(number, draw)), quick=quick)
        costs = COSTS[number // 5 % len(COSTS)]
        answers = _answers(draw)
        if number % 5 == 1:
            load = ("--concurrency", str(draw.choice((8, 32, 128))))
            yield Case(f"cost/{name}-json", (("cost", *what, *load, *DRAWS, *costs, "--json"),))
            yield Case(f"cost/{name}-text", (("cost", *what, *load, *DRAWS, *costs),))
        if number % 11 == 2:
            json_option = ("--json",) if number % 2 else ()
            topic_options = ("--show", SHOWN[number // 11 % len(SHOWN)]) if number % 2 else ()
            load = ("--concurrency", str(draw.choice((4, 64, 256))))
            yield Case(f"decide/{name}", (("decide", *what, *load, *answers, *topic_options, *json_option),))


def _asked_of(number: int, name: str, what: Arguments, *, quick: bool) -> Iterator[Case]:
    yield from said_both_ways("estimate", name, what, quick=quick)
    yield from said_both_ways("compare", name, what, quick=quick)
    figure = FIGURES[number % len(FIGURES)]
    yield Case(f"explain/{name}-json", (("explain", figure, *what, "--json"),), quick=quick)
    if number % 2:
        other = FIGURES[(number // 2 + 5) % len(FIGURES)]
        yield Case(f"explain/{name}-text", (("explain", other, *what),))
    if number % 3 == 1:
        suffix = SHEETS[number // 3 % len(SHEETS)]
        yield Case(f"sheet/{name}-{suffix}", (("sheet", *what, "-o", f"{{work}}/sheet.{suffix}"),))


def _deployment(number: int, draw: random.Random) -> Arguments:
    """Return what is compared, on how many accelerators, and how it is deployed."""
    several = draw.choice((1, 2, 2, 3, 4, 6 if number % 12 == 0 else 2))
    parts = draw.sample(USUAL_PARTS if number % 3 else PARTS, several)
    counts = draw.choice(((None,), (8,), (8,), (1, 2, 4, 8), (4,), (16,), (72,)))
    accelerators = [part if count is None else f"{part}:{count}" for part in parts for count in [draw.choice(counts)]]
    options = ["--accelerators", ",".join(accelerators), "--model", MODELS[number * 7 % len(MODELS)]]
    weights = draw.choice((None, None, "fp8", "fp8", "bf16", "int4", "mxfp4", "nvfp4", "int8", "fp16"))
    kv = draw.choice((None, None, "fp8", "fp8", "bf16"))
    options += _option("--weights", weights) + _option("--kv", kv)
    options += ["--input-tokens", str(draw.choice((64, 512, 1000, 2048, 4000, 16_000, 100_000)))]
    options += ["--output-tokens", str(draw.choice((1, 64, 200, 500, 1000, 4000)))]
    return (*options, *_plan(number, draw), *_details(number, draw))


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
    options: list[str] = []
    if number % 4 == 0:
        options += ["--serving-engine", draw.choice(("vllm", "sglang", "tensorrt-llm", "tgi", "llama.cpp"))]
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
        options += draw.choice(details)
    return options


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
    options: list[str] = []
    for question in draw.sample(sorted(ANSWERS), draw.choice((0, 2, 4, 8))):
        options += ["--set", f"{question}={draw.choice(ANSWERS[question])}"]
    return tuple(options)


def _option(name: str, value: str | None) -> list[str]:
    return [] if value is None else [name, value]


# Single commands in full

_FULL: Final = (
    "h200-sxm:8,mi325x:8 --model llama-3.1-70b --weights fp8 --kv fp8 --concurrency 64",
    "b200-hgx:8,mi355x:8 --model deepseek-v3 --request-rate 2",
    "h100-sxm:1,l40s:1,mi300x:1 --model qwen3-8b --weights bf16 --batch-size 16",
    "gb200-nvl72:72 --model kimi-k2 --saturate 2000",
    "h200-sxm:16,mi325x:16 --model gpt-oss-120b --concurrency 128 --pools prefill=8:tp4,decode=8:tp8",
    "h100-sxm:4,mi300x:4 --model mixtral-8x22b --weights fp8 --ttft-ms 2000 --tpot-ms 40",
    "h100-sxm:2 --model llama-3.1-70b --weights bf16 --concurrency 400 --lengths varied",
)
_FULL_LENGTHS: Final = ((2000, 500), (4000, 1000), (512, 128), (8000, 1000), (4000, 500), (1000, 300), (30_000, 2000))
#: Of as many of these the derivations are recorded as text too.
_FULL_TEXTS: Final = 3


def _figure_cases() -> Iterator[Case]:
    """Yield the derivation of every figure of a few scenarios."""
    for number, text in enumerate(_FULL):
        for figure in FIGURES:
            lengths = [str(tokens) for tokens in _FULL_LENGTHS[number]]
            ends = ("--input-tokens", lengths[0], "--output-tokens", lengths[1])
            what = ("explain", figure, "--accelerators", *text.split(), *ends)
            yield Case(f"explain/full{number}-{figure}-json", ((*what, "--json"),), quick=number == 0)
            if number < _FULL_TEXTS:
                yield Case(f"explain/full{number}-{figure}-text", (what,))
    yield Case("explain/examples", (("explain", "examples"),))
    yield Case("explain/examples-json", (("explain", "examples", "--json"),))
    for example in ("W000-01", "W001-05", "W000-04", "W999-01"):
        yield Case(f"explain/{example}", (("explain", example), ("explain", example, "--json")))


def _template_cases() -> Iterator[Case]:
    for template in TEMPLATES:
        what = ("--template", template)
        quick = template == TEMPLATES[0]
        yield from said_both_ways("estimate", template, what)
        yield from said_both_ways("compare", template, what)
        yield from said_both_ways("size", template, (*what, "--users", "2000"))
        yield from said_both_ways("cost", template, (*what, *DRAWS), quick=quick)
        yield from said_both_ways("decide", template, what, quick=quick)
        for suffix in SHEETS:
            yield Case(f"sheet/{template}-{suffix}", (("sheet", *what, "-o", f"{{work}}/sheet.{suffix}"),), quick=quick)
        yield Case(f"cost/{template}-xlsx", (("cost", *what, *DRAWS, "-o", "{work}/flow.xlsx"),), quick=quick)
    what = ("--template", TEMPLATES[0])
    for topic in SHOWN:
        yield Case(f"decide/show-{topic}-json", (("decide", *what, "--show", topic, "--json"),))
    every = [part for topic in SHOWN for part in ("--show", topic)]
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
    yield from said_both_ways("fit", "h100-all", ("--accelerators", "h100-sxm", "--models", "all"), quick=True)
    yield from said_both_ways("fit", "all-70b", ("--accelerators", "all", "--model", "llama-3.1-70b"))
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
        yield from said_both_ways("fit", f"narrow{number}", (*narrow, *wish))


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
        _line(number, draw, "h200-sxm", "llama-3.1-70b") | {"load": {"concurrency": 1 + number}} for number in range(60)
    ]
    different = [
        _line(number, draw, draw.choice(PARTS), draw.choice(MODELS)) | {"weights": draw.choice(("bf16", "fp8", "int4"))}
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
        + json.dumps(_line(5, draw, "h200-sxm", "llama-3.1-70b") | {"color": "red", "tp": "8"})
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


def _lines(requests: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in requests)
