"""What a case is, and what cases name: identities of the catalog, figures, questions and files.

In an argument `{work}` stands for an empty folder, where files that a step writes are recorded, and `{data}`
for `tests/data`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

Arguments = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Command lines that follow each other with the same user's folder, which is empty before the first.

    `files` are written into the folder for work beforehand: a text as it stands, bytes, or `@NAME` for a
    copy of a file of `tests/data`. `user_files` are such copies in the user's folder.
    """

    name: str
    steps: tuple[Arguments, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    user_files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    quick: bool = False

    @property
    def command(self) -> str:
        """What the case is a case of."""
        return self.name.partition("/")[0]


def said_both_ways(command: str, name: str, what: Arguments, *, quick: bool = False) -> Iterator[Case]:
    """Yield a command line with and without `--json`."""
    yield Case(f"{command}/{name}-json", ((command, *what, "--json"),), quick=quick)
    yield Case(f"{command}/{name}-text", ((command, *what),), quick=quick)


#: What makes the draws of costs few and quick.
DRAWS: Final = ("--draws", "2000")
COSTS: Final = (
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

PARTS: Final = tuple(
    """a100-80gb-sxm b200-hgx b300-hgx gaudi2 gaudi3 gb200-nvl72 gb300-nvl72 gh200-144gb gh200-96gb
    h100-nvl-94gb h100-pcie h100-sxm h200-nvl h200-sxm inferentia2 l4 l40s mi210 mi250x mi300a mi300x mi325x
    mi350x mi355x mi455x rtx-4090 rtx-5090 rtx-pro-6000-blackwell tpu-v5e tpu-v5p tpu-v6e tpu-v7-ironwood
    trainium2 vera-rubin-nvl72""".split()  # noqa: SIM905
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
    step-3.7-flash yi-34b""".split()  # noqa: SIM905
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
SHOWN: Final = ("waiting", "vendors", "export", "negotiation", "software", "references", "loading", "watch")
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
    "destination": ("free", "controlled", "china", "unknown"),
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
KINDS: Final = (
    "accelerators",
    "models",
    "diffusion-models",
    "serving-engines",
    "templates",
    "prices",
    "sources",
    "disputes",
)
EXPORTED: Final = (
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
CONFIGS: Final = tuple(
    """baichuan2-13b command-r-plus deepseek-v3.2 deepseek-v4-flash-nvfp4 deepseek-v4-pro dots.llm1
    ernie-4.5-21b-a3b exaone-4.0-32b falcon-7b gemma-2-9b gemma-3-27b gemma-3n-e4b gemma-4-31b-nvfp4
    glm-4.5-air glm-5.1-nvfp4 gpt-oss-120b granite-4.0-h-tiny hunyuan-a13b internlm2.5-7b jamba-v0.1 kimi-k2.5
    kimi-linear-48b-a3b llama-3.1-70b-fp8 llama-4-scout mimo-v2-flash minimax-m1 mistral-small-3.1-24b
    mixtral-8x7b nemotron-3-nano-30b-a3b-nvfp4 nemotron-h-56b nemotron-super-49b olmo-2-7b phi-3.5-moe
    qwen2-57b-a14b qwen2.5-7b-awq qwen3-235b-a22b-fp8 qwen3-next-80b-a3b qwen3-vl-2b qwen3.5-122b-a10b
    seed-oss-36b smollm3-3b starcoder2-15b step-3.7-flash yi-34b""".split()  # noqa: SIM905
)
COMMANDS: Final = (
    "estimate",
    "compare",
    "explain",
    "fit",
    "size",
    "cost",
    "decide",
    "sheet",
    "sweep",
    "catalog",
    "import",
)
