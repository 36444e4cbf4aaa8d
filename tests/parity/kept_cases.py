"""Cases about the catalog and what the user keeps: lists, exports, imports, packs, refusals and help."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, Final

from tests.parity.case import (
    COMMANDS,
    CONFIGS,
    COSTS,
    DRAWS,
    EXPORTED,
    KINDS,
    MODELS,
    PARTS,
    TEMPLATES,
    Case,
    said_both_ways,
)

# Catalog

_THINGS: Final = ("flux1-dev", "wan2.1-14b", "vllm", "llama.cpp", "D-001", "70b-chat-on-four", "nothing-such")


def catalog_cases() -> Iterator[Case]:
    """Yield what is asked of the shipped catalog."""
    yield Case("catalog/list-all", (("catalog", "list"), ("catalog", "list", "--json")), quick=True)
    for kind in (*KINDS, "colors"):
        yield Case(f"catalog/list-{kind}", (("catalog", "list", kind), ("catalog", "list", kind, "--json")))
    for number, thing in enumerate((*PARTS, *MODELS, *_THINGS)):
        show = ("catalog", "show", thing)
        yield Case(f"catalog/show-{thing}", (show, (*show, "--json")), quick=number % 20 == 0)
    yield Case("catalog/verify", (("catalog", "verify"), ("catalog", "verify", "--json")), quick=True)
    for kind in EXPORTED:
        for suffix in ("csv", "xlsx", "json", "md"):
            step = ("catalog", "export", kind, "-o", f"{{work}}/table.{suffix}")
            yield Case(f"catalog/export-{kind}-{suffix}", (step,), quick=kind == "accelerators")
    yield Case("catalog/export-stdout", (("catalog", "export", "prices", "-o", "-", "--format", "csv"),))
    yield Case("catalog/export-wrong", (("catalog", "export", "prices", "-o", "{work}/x.doc"),))
    for part in ("signers", "backups"):
        yield Case(f"catalog/{part}-none", (("catalog", part), ("catalog", part, "--json")))


def list_cases() -> Iterator[Case]:
    """Yield lists of questions, rules and inputs, and answers of files."""
    yield from said_both_ways("decide", "questions", ("--list-questions",), quick=True)
    yield from said_both_ways("decide", "rules", ("--list-rules",), quick=True)
    options = ("--set", "priority=cost", "--set", "ttft_limit_ms=2000", "--weight", "D000-03=2")
    template = ("--template", TEMPLATES[1])
    yield from said_both_ways("decide", "questions-answered", ("--list-questions", *options, *template))
    yield from said_both_ways("decide", "rules-weighed", ("--list-rules", *options, *template))
    answers = {"answers.json": '{"priority": "speed", "team": "cuda", "tpot_limit_ms": 30}'}
    read = ("decide", *template, "--answers", "{work}/answers.json")
    yield Case("decide/answers-file", ((*read, "--json"), (*read, "--set", "team=rocm")), answers)
    yield Case("decide/answers-stdin", (("decide", *template, "--answers", "-"),), stdin='{"priority": "users"}')
    for number, wrong in enumerate(
        ('{"priority": "color"}', "[]", "{", '{"priority": 1}', '{"a": 1}', '{"team": "rocm", "team": "cuda"}')
    ):
        step = ("decide", *template, "--answers", "-")
        yield Case(f"decide/answers-wrong{number}", (step,), stdin=wrong)
    for number, costs in enumerate(COSTS):
        yield from said_both_ways("cost", f"inputs{number}", (*template, *costs, "--list-inputs"))


# Import

_LLAMA: Final = "hf/llama-2-70b.json"
_QUANTIZED: Final = {
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
_USER_PRICES: Final = (
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


def import_cases() -> Iterator[Case]:
    """Yield previews of imports."""
    for number, name in enumerate(CONFIGS):
        files: dict[str, str | bytes] = {f"{name}/config.json": f"@hf/{name}.json"}
        if name in _QUANTIZED:
            files[f"{name}/hf_quant_config.json"] = f"@hf/{name}.hf_quant_config.json"
        step = ("import", f"{{work}}/{name}", "--dry-run", "--date", "2026-11-01")
        yield Case(f"import/{name}", (step, (*step, "--json")), files, quick=number % 15 == 0)
    prices: dict[str, str | bytes] = {"offers.csv": _PRICES, "own.csv": _USER_PRICES}
    price_options = ("--provider", "Example", "--date", "2026-11")
    yield Case(
        "import/prices",
        (
            ("import", "{work}/offers.csv", "--dry-run"),
            ("import", "{work}/offers.csv", "--dry-run", *price_options, "--json"),
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

    metadata: list[tuple[str, int, Any]] = [
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
    out = b"GGUF" + struct.pack("<IQQ", 3, 2, len(metadata))
    for name, kind, value in metadata:
        out += string(name) + struct.pack("<I", kind)
        out += string(value) if kind == text else struct.pack("<I" if kind == whole else "<f", value)
    for name, offset in (("token_embd.weight", 0), ("output.weight", 32000 * 4096 * 2)):
        out += string(name) + struct.pack("<IQQIQ", 2, 4096, 32000, 1, offset)
    return out + b"\0" * 64


def list_user_cases() -> Iterator[Case]:
    """Yield walks through what the user keeps."""
    files: dict[str, str | bytes] = {"My-Llama/config.json": f"@{_LLAMA}", "own.csv": _USER_PRICES}
    load = ("--weights", "fp8", "--input-tokens", "1000", "--output-tokens", "500", "--concurrency", "32")
    options = ("--accelerators", "h200-sxm:8,mi325x:8", "--model", "mine", *load)
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
            ("compare", *options, "--json"),
            ("compare", *options, "-o", "{work}/carries.gpudesk"),
            ("sheet", *options, "-o", "{work}/sheet.md"),
            ("cost", *options, *DRAWS, "--json"),
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
            user_files={"catalog.sqlite": f"{version}.sqlite"},
        )
    yield Case(
        "own/carried",
        (
            ("import", "{work}/My-Llama", "--as", "mine"),
            ("compare", *options, "-o", "{work}/carries.gpudesk"),
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
    f"estimate {_GOOD} --concurrency 1 --accelerators a,b,c,d,e,f,g",
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
    "decide --template 405b-one-node --set priority=color",
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


def wrong_cases() -> Iterator[Case]:
    """Yield what is refused."""
    files: dict[str, str | bytes] = {
        "broken.gpudesk": '{"gpudesk": 1, "scenario": ',
        "newer.gpudesk": '{"gpudesk": 99, "scenario": {"version": 99}}',
        "odd.gpudesk": '{"gpudesk": 1, "scenario": {"version": 1, "color": 3, "model": 7}}',
        "text.txt": "hello",
    }
    for number, text in enumerate(_WRONG):
        command = text.split()[0] if text.split()[0].isalpha() else "wrong"
        yield Case(f"{command}/wrong{number:02}", (tuple(text.split()),), files, quick=number % 8 == 0)


def help_cases() -> Iterator[Case]:
    """Yield the help of every command."""
    for command in COMMANDS:
        yield Case(f"help/{command}", ((command, "--help"),), quick=command == "estimate")
    for part in ("list", "show", "verify", "export", "pack", "signers", "backups", "restore"):
        yield Case(f"help/catalog-{part}", (("catalog", part, "--help"),))
    yield Case("help/program", (("--help",), ("--version",)), quick=True)
