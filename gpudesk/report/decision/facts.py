"""Names, values and units of the facts behind decisions, and of the answers to questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from gpudesk.domain.accelerator import EVERYWHERE
from gpudesk.domain.decision import NO_LIMIT, NO_LIMIT_ANSWER, QUESTIONS, UNKNOWN_ANSWER, AnswerValue, FactValue
from gpudesk.domain.estimate import Limiter
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.labels import format_months, format_years, label_serving_engine
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, join_unit, translate_unit
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import tr, translate_data, trn


class _FactKind(StrEnum):
    """The kind of a fact, which decides its unit and digits."""

    YES_NO = "yes or no"
    COUNT = "count"
    GB = "GB"
    GIB = "GiB"
    TBS = "TB/s"
    GBS = "GB/s"
    PFLOPS = "PFLOPS"
    RATE = "tok/s"
    RATE_PER_KW = "tok/s per kW"
    JOULES = "J/token"
    MS = "ms"
    SECONDS = "s"
    MONTHS = "months"
    KW = "kW"
    SHARE = "%"
    USD = "USD"
    #: Estimated, with three significant digits; stated prices have all.
    ESTIMATED_USD = "estimated USD"
    USD_PER_HOUR = "USD/h"
    USD_PER_MILLION = "USD/M tokens"
    HOURS = "h/month"
    YEARS = "years"
    TOKENS = "tokens"
    BILLION = "B"
    ENGINES = "engines"
    LIMITER = "limiter"
    GENERATION = "generation"
    FORM = "form"
    REGION = "region"
    TEXT = "text"


class _FactLabel(NamedTuple):
    """The name and kind of a fact."""

    name: str
    kind: _FactKind = _FactKind.YES_NO


_FACTS: Final[Mapping[str, _FactLabel]] = {
    # Of accelerators
    "platform": _FactLabel("Software platform", _FactKind.TEXT),
    "vendor": _FactLabel("Vendor", _FactKind.TEXT),
    "generation": _FactLabel("Architecture", _FactKind.GENERATION),
    "form": _FactLabel("Form", _FactKind.FORM),
    "form_factor": _FactLabel("Form factor", _FactKind.TEXT),
    "available": _FactLabel("Release", _FactKind.TEXT),
    "announced": _FactLabel("Announced only"),
    "discontinued": _FactLabel("Discontinued"),
    "sold": _FactLabel("Sold, not only rented"),
    "license_limit": _FactLabel("License excludes data centers"),
    "sales_region": _FactLabel("Sales region", _FactKind.REGION),
    "memory_gib": _FactLabel("Memory", _FactKind.GIB),
    "memory_gb": _FactLabel("Memory", _FactKind.GB),
    "bandwidth_tbs": _FactLabel("Bandwidth per accelerator", _FactKind.TBS),
    "link_gbs": _FactLabel("Scale-up link, both ways", _FactKind.GBS),
    "host_link_gbs": _FactLabel("PCIe, both ways", _FactKind.GBS),
    "peak_pflops": _FactLabel("16-bit compute, dense", _FactKind.PFLOPS),
    "fp4_pflops": _FactLabel("FP4 compute, dense", _FactKind.PFLOPS),
    "native_fp4": _FactLabel("Native FP4"),
    "engine_count": _FactLabel("Serving engines supported", _FactKind.COUNT),
    "model_engine_count": _FactLabel("Engines for this model", _FactKind.COUNT),
    "engines": _FactLabel("Serving engines", _FactKind.ENGINES),
    "runs_engine": _FactLabel("Serving engine supported"),
    "widest_software": _FactLabel("Widest software support"),
    "needs_port": _FactLabel("Needs porting"),
    "runs_on_record": _FactLabel("Published measurements used", _FactKind.COUNT),
    "references": _FactLabel("Named reference deployments", _FactKind.COUNT),
    "models_held": _FactLabel("Catalog models that fit on one", _FactKind.COUNT),
    "export_score": _FactLabel("Processing performance (TPP)", _FactKind.COUNT),
    "export_free": _FactLabel("Below export thresholds"),
    # Of deployments
    "fits": _FactLabel("The deployment fits"),
    "holds_load": _FactLabel("Carries the load"),
    "fits_alone": _FactLabel("Fits on one"),
    "needs_alone_gb": _FactLabel("Memory needed on one", _FactKind.GB),
    "alone_weights_gb": _FactLabel("Weights on one accelerator", _FactKind.GB),
    "full_tuning_gb": _FactLabel("Full fine-tuning", _FactKind.GB),
    "lora_gb": _FactLabel("LoRA", _FactKind.GB),
    "qlora_gb": _FactLabel("QLoRA", _FactKind.GB),
    "kv_one_gb": _FactLabel("KV cache of one request", _FactKind.GB),
    "kv_room_gb": _FactLabel("Memory left for KV cache", _FactKind.GB),
    "headroom_gb": _FactLabel("Spare memory per accelerator", _FactKind.GB),
    "count": _FactLabel("Accelerators, min", _FactKind.COUNT),
    "deployed": _FactLabel("Accelerators", _FactKind.COUNT),
    "hosts": _FactLabel("Hosts", _FactKind.COUNT),
    "in_flight": _FactLabel("Requests in flight", _FactKind.COUNT),
    "max_concurrency": _FactLabel("Max concurrency", _FactKind.COUNT),
    "tokens_per_s": _FactLabel("Output throughput", _FactKind.RATE),
    "tokens_per_s_each": _FactLabel("Output throughput per accelerator", _FactKind.RATE),
    "interactivity": _FactLabel("Output speed per request", _FactKind.RATE),
    "ttft_ms": _FactLabel("Time to first token", _FactKind.MS),
    "tpot_ms": _FactLabel("Time per output token", _FactKind.MS),
    "likely_tpot_ms": _FactLabel("Time per output token", _FactKind.MS),
    "reading_tpot_ms": _FactLabel("Reading speed", _FactKind.MS),
    "request_s": _FactLabel("Request latency", _FactKind.SECONDS),
    "requests_each": _FactLabel("Requests per accelerator", _FactKind.COUNT),
    "basis": _FactLabel("Estimation method", _FactKind.TEXT),
    "assumed_delivery_months": _FactLabel("Delivery of similar systems", _FactKind.MONTHS),
    "months_to_production": _FactLabel("Time to production", _FactKind.MONTHS),
    "limiter": _FactLabel("Limited first by", _FactKind.LIMITER),
    "decode_share": _FactLabel("Decode share of request time", _FactKind.SHARE),
    "host_traffic_gbs": _FactLabel("Token traffic to host", _FactKind.GBS),
    "price_usd": _FactLabel("Purchase price", _FactKind.USD),
    "spend_usd": _FactLabel("Up-front cost with network", _FactKind.ESTIMATED_USD),
    "rent_usd_h": _FactLabel("Rental price per accelerator", _FactKind.USD_PER_HOUR),
    "old_release": _FactLabel("Released years ago", _FactKind.TEXT),
    "old_price": _FactLabel("Old purchase price", _FactKind.TEXT),
    "old_rent": _FactLabel("Old rental price", _FactKind.TEXT),
    "used_price": _FactLabel("Price of used accelerators"),
    "rent_providers": _FactLabel("Rental providers", _FactKind.COUNT),
    "usd_per_million": _FactLabel("Cost per million output tokens", _FactKind.USD_PER_MILLION),
    "owned_usd_per_million": _FactLabel("Cost per million output tokens, owned", _FactKind.USD_PER_MILLION),
    "rented_usd_per_million": _FactLabel("Cost per million output tokens, rented", _FactKind.USD_PER_MILLION),
    "software_usd": _FactLabel("Porting and software upkeep", _FactKind.ESTIMATED_USD),
    "payback_hours": _FactLabel("Hours to pay back porting", _FactKind.HOURS),
    "pays_back": _FactLabel("Pays back at your usage"),
    "tokens_per_s_kw": _FactLabel("Output throughput per kW", _FactKind.RATE_PER_KW),
    "watts_per_token_s": _FactLabel("Energy per output token", _FactKind.JOULES),
    "air_cooled": _FactLabel("Runs with air cooling"),
    "system_kw": _FactLabel("Power per system", _FactKind.KW),
    "delivery_months": _FactLabel("Delivery time", _FactKind.MONTHS),
    # Relative to others
    "leads_memory": _FactLabel("Most memory"),
    "leads_bandwidth": _FactLabel("Highest memory bandwidth"),
    "leads_compute": _FactLabel("Highest 16-bit compute"),
    "leads_link": _FactLabel("Fastest scale-up link"),
    "leads_host_link": _FactLabel("Fastest host link"),
    "leads_kv_room": _FactLabel("Most memory for KV cache"),
    "leads_concurrency": _FactLabel("Highest concurrency"),
    "leads_coverage": _FactLabel("Fits the most catalog models"),
    "leads_model_engines": _FactLabel("Most engines for this model"),
    "leads_count": _FactLabel("Fewest accelerators"),
    "leads_spend": _FactLabel("Cheapest to buy"),
    "leads_density": _FactLabel("Highest throughput per kW"),
    "leads_power": _FactLabel("Least energy per token"),
    "leads_throughput": _FactLabel("Highest throughput"),
    "leads_throughput_each": _FactLabel("Best per-accelerator throughput"),
    "leads_ttft": _FactLabel("Shortest time to first token"),
    "leads_tpot": _FactLabel("Shortest time per output token"),
    "leads_cost": _FactLabel("Lowest cost per token"),
    "leads_owned_cost": _FactLabel("Lowest cost per token, owned"),
    # Of the scenario
    "has_model": _FactLabel("Model chosen"),
    "model_id": _FactLabel("Model", _FactKind.TEXT),
    "generic_architecture": _FactLabel("Unknown architecture", _FactKind.TEXT),
    "model_moe": _FactLabel("Mixture of experts"),
    "standard_model": _FactLabel("Dense, standard attention"),
    "params_b": _FactLabel("Parameters", _FactKind.BILLION),
    "context_tokens": _FactLabel("Longest request", _FactKind.TOKENS),
    "model_context": _FactLabel("Context limit of the model", _FactKind.TOKENS),
    "weights_gb": _FactLabel("Weights", _FactKind.GB),
    "needs_gb": _FactLabel("Weights and one request", _FactKind.GB),
    "kv_needed_gb": _FactLabel("KV cache at this load", _FactKind.GB),
    "kv_some_short": _FactLabel("KV cache short on some"),
    "least_memory_gb": _FactLabel("Smallest memory", _FactKind.GB),
    "all_fit_alone": _FactLabel("Fits on one of every type"),
    "some_fit_alone": _FactLabel("Fits on one of some types"),
    "fewest_count": _FactLabel("Accelerators, min of all", _FactKind.COUNT),
    "most_count": _FactLabel("Accelerators, max of all", _FactKind.COUNT),
    "most_hosts": _FactLabel("Hosts, max of all", _FactKind.COUNT),
    "coverage_most": _FactLabel("Models on one, max of all", _FactKind.COUNT),
    "coverage_least": _FactLabel("Models on one, min of all", _FactKind.COUNT),
    "bound_by": _FactLabel("Most common limiter", _FactKind.LIMITER),
    "host_traffic_most_gbs": _FactLabel("Token traffic to host, max", _FactKind.GBS),
    "spare_replicas": _FactLabel("Spare replicas", _FactKind.COUNT),
    "years": _FactLabel("Time in use", _FactKind.YEARS),
    "fleet": _FactLabel("Accelerators sharing software", _FactKind.COUNT),
    "air_only": _FactLabel("Site with air cooling only"),
    "kw_per_rack": _FactLabel("Power per rack", _FactKind.KW),
    "some_need_port": _FactLabel("Some need porting"),
    "some_announced": _FactLabel("Some are only announced"),
    "engine_everywhere": _FactLabel("Serving engine runs on all"),
    "unsure": _FactLabel("Too close to call"),
}
#: Short names of answers, where the whole question does not fit.
_ANSWERS: Final[Mapping[str, str]] = {
    "serving_engine": "Serving engine",
    "tuned_for": "Platform-specific code",
    "porting": "Porting allowed",
    "shape": "Must fit on one",
    "long_context": "Long context needed",
    "precision": "Number format",
    "ttft_limit_ms": "TTFT limit",
    "tpot_limit_ms": "TPOT limit",
    "service": "Service",
    "site": "Site",
    "destination": "Export-controlled destination",
    "priority": "What matters most",
    "work": "Kind of work",
    "standing": "References required",
    "team": "Team",
    "tuning": "Tuning",
    "current_platform": "Current platform",
    "acquisition": "Buy or rent",
    "monthly_hours": "Rented accelerator-hours",
    "budget_usd": "Up-front budget",
    "adoption_months": "Funded infrastructure work",
    "months_to_launch": "Time to launch",
    "waiting": "Wait for next accelerator",
    "vendor_policy": "Vendors",
    "api_checked": "Hosted API checked",
}
#: Question -> option -> (title, use).
_OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "serving_engine": {
        "any": ("Any", "Any engine that serves the model"),
        "vllm": ("vLLM", "Runs on CUDA and ROCm"),
        "sglang": ("SGLang", "Runs on CUDA and ROCm"),
        "tensorrt-llm": ("TensorRT-LLM", "CUDA only"),
        "tgi": ("TGI", "Supported by Hugging Face"),
        "own": ("In-house", "Your own serving code"),
    },
    "tuned_for": {
        "nothing": ("No", "Standard frameworks only"),
        "cuda": ("CUDA kernels", "Written or tuned by your team"),
        "cdna4": ("CDNA 4 kernels", "Models tuned for this generation"),
    },
    "porting": {"yes": ("Yes", "Porting is possible"), "no": ("No", "Stay on the current platform")},
    "shape": {
        "free": ("No", "One or several accelerators"),
        "one": ("Yes", "Weights, KV cache and reserve fit on one"),
        "several": ("Many models", "Many small models, not one large model"),
    },
    "long_context": {"no": ("No", "Context length from the scenario"), "yes": ("Yes", "100,000 tokens or more")},
    "precision": {
        "any": ("From the scenario", "No format is required"),
        "fp4": ("FP4 in production", "Requires 4-bit compute"),
        "automatic": ("Automatic", "FP8 and FP4 without manual setup"),
        "unquantised": ("Unquantized", "Keep 16-bit weights"),
    },
    "service": {
        "interactive": ("Interactive user", "Reads tokens as they stream"),
        "server": ("Users with a latency limit", "Many requests, each within the limit"),
        "offline": ("Nobody", "Batch work, for example overnight"),
    },
    "site": {
        "open": ("Anywhere", "Servers are bought or rented too"),
        "office": ("Office or edge", "Not in a data center"),
        "rack": ("Limited rack space", "Rack space or power is the limit"),
        "oam": ("OAM servers", "Existing servers"),
        "hgx": ("SXM servers", "Existing servers"),
        "pcie": ("PCIe slots", "Existing servers"),
        "amd": ("AMD site", "AMD servers and tools"),
    },
    "destination": {
        "free": ("No", "Nothing to check"),
        "controlled": ("Yes", "Check each accelerator"),
        "china": ("China", "Includes accelerators made for China"),
        UNKNOWN_ANSWER: ("I don't know", "Leave this out"),
    },
    "priority": {
        "balanced": ("Balanced", "Cost per token where prices are known"),
        "cost": ("Cost", "Lowest cost per token"),
        "speed": ("Throughput", "Most tokens/s per accelerator"),
        "latency": ("Latency", "Fastest answers at this load"),
        "users": ("Concurrency", "Most requests in flight"),
        "certainty": ("Certainty", "Shortest time to production"),
    },
    "work": {
        "serving": ("Serving text", "Chat, code, agents, search"),
        "multimodal": ("Multimodal", "Text with images or audio"),
        "media": ("Images or video", "Diffusion models"),
        "embeddings": ("Embeddings", "Vectors for search and ranking"),
        "fine_tuning": ("Fine-tuning", "Not covered"),
        "training": ("Training", "Not covered"),
    },
    "standing": {
        NO_LIMIT_ANSWER: ("No", "Your own tests are enough"),
        "reference": ("Named reference", "A known company already runs this"),
        "frontier": ("Frontier scale", "Largest models at the largest scale"),
    },
    "team": {
        "rocm": ("Skilled in ROCm", "Works with ROCm today"),
        "can_learn": ("Can learn ROCm", "Has time and interest"),
        "cuda": ("CUDA only", "No plan to change"),
        "small": ("Small or new", "Little time for troubleshooting"),
        UNKNOWN_ANSWER: ("I don't know", "Leave this out"),
    },
    "tuning": {
        "full": ("Every framework", "All frameworks must work"),
        "untuned": ("None", "Must work out of the box"),
        "tuned": ("Typical tuning", "Try flags and number formats"),
        "own_code": ("Custom code", "Own serving code or ROCm work"),
        UNKNOWN_ANSWER: ("I don't know", "Leave this out"),
    },
    "current_platform": {
        "CUDA": ("CUDA", "NVIDIA in production"),
        "ROCm": ("ROCm", "AMD in production"),
        "other": ("Other", "TPU, Neuron or Gaudi"),
        NO_LIMIT_ANSWER: ("Nothing yet", "No porting needed"),
        UNKNOWN_ANSWER: ("I don't know", "Excludes porting cost"),
    },
    "acquisition": {
        "undecided": ("Undecided", "Compare both"),
        "own": ("Buy", "Run for years"),
        "rent": ("Rent", "Pay by the hour"),
    },
    "monthly_hours": {UNKNOWN_ANSWER: ("I don't know", "Leave this out")},
    "budget_usd": {NO_LIMIT_ANSWER: ("No limit", "Price rules nothing out")},
    "adoption_months": {UNKNOWN_ANSWER: ("I don't know", "Leave this out")},
    "ttft_limit_ms": {NO_LIMIT_ANSWER: ("No limit", "Batch work")},
    "tpot_limit_ms": {NO_LIMIT_ANSWER: ("No limit", "No one reads the stream")},
    "months_to_launch": {UNKNOWN_ANSWER: ("I don't know", "Leave this out")},
    "waiting": {
        "no": ("No", "Available accelerators only"),
        "unpriced": ("Yes", "Ignore the cost of a delay"),
        "priced": ("Yes, with delay cost", "Include a two-quarter delay"),
    },
    "vendor_policy": {
        "any": ("Any", "Best result wins"),
        "one": ("One vendor", "One platform for everything"),
        "two_pools": ("Two pools", "Routed by model and context"),
        "shared_pool": ("One mixed pool", "Both share one queue"),
    },
    "api_checked": {
        "yes": ("Yes", "Self-hosting is cheaper"),
        "no": ("No", "Not yet"),
        UNKNOWN_ANSWER: ("I don't know", "Leave this out"),
    },
}
#: Uses of the suggested numbers.
_USES: Final[Mapping[tuple[str, float], str]] = {
    ("ttft_limit_ms", 1000.0): "Chat that feels immediate",
    ("ttft_limit_ms", 2000.0): "Typical for chat and coding",
    ("ttft_limit_ms", 5000.0): "Reports and agents",
    ("tpot_limit_ms", 20.0): "Faster than reading speed",
    ("tpot_limit_ms", 50.0): "Comfortable reading",
    ("tpot_limit_ms", 100.0): "Slow reading",
    ("monthly_hours", 500.0): "Less than one accelerator full-time",
    ("monthly_hours", 1_000.0): "Threshold from a source",
    ("monthly_hours", 10_000.0): "About 14 accelerators full-time",
    ("monthly_hours", 1_000_000.0): "More than 1,000 accelerators",
    ("adoption_months", 0.0): "None funded",
    ("adoption_months", 3.0): "One quarter",
    ("adoption_months", 6.0): "Half a year",
    ("adoption_months", 12.0): "A year",
    ("months_to_launch", 0.0): "Already live",
    ("months_to_launch", 3.0): "Within one quarter",
    ("months_to_launch", 9.0): "Next planning cycle",
    ("months_to_launch", 12.0): "A year or more",
    ("budget_usd", 50_000.0): "One accelerator in a server",
    ("budget_usd", 250_000.0): "One server",
    ("budget_usd", 1_000_000.0): "A few servers",
}
_GENERATIONS: Final[Mapping[str, str]] = {
    "volta": "Volta",
    "turing": "Turing",
    "ada": "Ada",
    "ampere": "Ampere",
    "hopper": "Hopper",
    "blackwell": "Blackwell",
    "blackwell-rtx": "Blackwell RTX",
    "blackwell-ultra": "Blackwell Ultra",
    "rubin": "Rubin",
    "cdna2": "CDNA 2",
    "cdna3": "CDNA 3",
    "cdna4": "CDNA 4",
    "cdna5": "CDNA 5",
    "gaudi2": "Gaudi 2",
    "gaudi3": "Gaudi 3",
    "neuron-v2": "Neuron v2",
    "neuron-v3": "Neuron v3",
    "neuron-v4": "Neuron v4",
    "tpu-v5": "TPU v5",
    "tpu-v6": "TPU v6",
    "tpu-v7": "TPU v7",
}
_FORMS: Final[Mapping[str, str]] = {"oam": "OAM", "sxm": "SXM", "pcie": "PCIe"}
#: Kinds with a unit after their figures.
_MEASURED: Final = frozenset(
    {
        _FactKind.GB,
        _FactKind.GIB,
        _FactKind.TBS,
        _FactKind.GBS,
        _FactKind.PFLOPS,
        _FactKind.RATE,
        _FactKind.RATE_PER_KW,
        _FactKind.JOULES,
        _FactKind.KW,
        _FactKind.MS,
        _FactKind.USD,
        _FactKind.ESTIMATED_USD,
        _FactKind.USD_PER_HOUR,
        _FactKind.USD_PER_MILLION,
        _FactKind.HOURS,
        _FactKind.TOKENS,
    }
)
#: Amounts of money with the text after their currency. Labels of costs name the million tokens.
_MONEY: Final = {
    _FactKind.USD: "",
    _FactKind.ESTIMATED_USD: "",
    _FactKind.USD_PER_HOUR: "/h",
    _FactKind.USD_PER_MILLION: "",
}
#: Below this a link's traffic is negligible.
_LEAST_GBS: Final = 0.01


class OptionTexts(NamedTuple):
    """The texts of an option: its title, and its use."""

    title: str
    use: str


def label_fact(name: str) -> str:
    """Return the name of a fact; an answer's by the subject of its question."""
    return tr(_FACTS[name].name if name in _FACTS else _ANSWERS[name])


def format_fact(name: str, fact: FactValue, formatter: Formatter) -> str:
    """Return a fact with its interval and unit, or as a word; a dash if unknown."""
    if fact is None:
        return MISSING_VALUE_TEXT
    if name in QUESTIONS:
        return _answer(name, fact, formatter)
    kind = _FACTS[name].kind
    if isinstance(fact, bool):
        return tr("yes") if fact else tr("no")
    if isinstance(fact, str):
        return _format_word(kind, fact)
    if isinstance(fact, IntervalEstimate):
        if kind is _FactKind.USD_PER_MILLION:
            likely = formatter.money(formatter.small_amount(fact.value), "USD")
            return f"{likely} ({MoneyFormatter(formatter).band(fact)})"
        text = formatter.estimate_with_interval(fact, _find_unit(kind))
        return tr("{n} months", n=text) if kind is _FactKind.MONTHS else text
    if math.isinf(fact):
        return tr("never") if kind is _FactKind.HOURS else tr("no limit")
    return _format_number(kind, fact, formatter)


def format_fact_in_sentence(name: str, fact: FactValue, formatter: Formatter) -> str:
    """Return a fact as `format_fact` does, for use inside a sentence: names keep their capital."""
    text = format_fact(name, fact, formatter)
    is_name = name in _FACTS and _FACTS[name].kind in (_FactKind.TEXT, _FactKind.REGION) and isinstance(fact, str)
    return text if is_name else lower_for_sentence(text)


def get_fact_unit(name: str) -> str | None:
    """Return the unit of a fact's figures; None for words, counts and answers."""
    if name not in _FACTS:
        return None
    kind = _FACTS[name].kind
    return translate_unit(kind.value) if kind in _MEASURED else None


def format_fact_figure(name: str, fact: FactValue, formatter: Formatter) -> str:
    """Return a fact without its unit, an interval's likely value: for tables with a separate unit."""
    likely = float(f"{fact.value:.3g}") if isinstance(fact, IntervalEstimate) else fact
    if get_fact_unit(name) == _FactKind.MS and isinstance(likely, int | float):
        return formatter.estimate(likely)
    unit = get_fact_unit(name)
    if name in _FACTS and _FACTS[name].kind in _MONEY and isinstance(likely, int | float):
        return _format_digits(_FACTS[name].kind, likely, formatter)
    text = format_fact(name, likely, formatter)
    return text if unit is None else text.removesuffix(join_unit("", unit))


def _answer(name: str, fact: FactValue, formatter: Formatter) -> str:
    if isinstance(fact, str):
        return format_answer(name, fact, formatter)
    if isinstance(fact, IntervalEstimate):
        return formatter.estimate_with_interval(fact, QUESTIONS[name].unit)
    if fact is None:
        return MISSING_VALUE_TEXT
    return tr("no limit") if fact == NO_LIMIT else format_answer_number(name, float(fact), formatter)


def _format_word(kind: _FactKind, fact: str) -> str:
    if kind is _FactKind.ENGINES:
        return ", ".join(label_serving_engine(each) for each in fact.split(", "))
    if kind is _FactKind.LIMITER:
        return Limiter(fact).label
    if kind is _FactKind.GENERATION:
        return _GENERATIONS.get(fact, fact)
    if kind is _FactKind.FORM:
        return _FORMS.get(fact, tr("other"))
    if kind is _FactKind.REGION:
        return tr("everywhere") if fact == EVERYWHERE else translate_data(fact)
    return fact


def _find_unit(kind: _FactKind) -> str | None:
    return kind.value.removeprefix("estimated ") if kind in _MEASURED else None


def _format_number(kind: _FactKind, fact: float, formatter: Formatter) -> str:
    if kind in _MONEY:
        return formatter.money(_format_digits(kind, fact, formatter), "USD") + _MONEY[kind]
    if kind is _FactKind.YEARS:
        return format_years(fact, formatter)
    if kind is _FactKind.MONTHS:
        return format_months(fact, formatter)
    if kind is _FactKind.SHARE:
        return formatter.per_cent(fact)
    if kind is _FactKind.BILLION:
        return f"{formatter.exact(float(f'{fact:.4g}'))}B"
    if kind in (_FactKind.MS, _FactKind.SECONDS):
        text, unit_text = formatter.value_and_unit(fact, kind.value)
        return join_unit(text, unit_text or kind.value)
    unit = _find_unit(kind)
    text = _format_digits(kind, fact, formatter)
    return join_unit(text, unit) if unit else text


def _format_digits(kind: _FactKind, fact: float, formatter: Formatter) -> str:
    if kind is _FactKind.COUNT and fact % 1.0:
        # A share of a whole deployment, such as its requests per accelerator.
        return formatter.estimate(fact)
    if kind in (_FactKind.COUNT, _FactKind.TOKENS, _FactKind.USD):
        return formatter.exact(fact) if abs(fact) < 1.0 else formatter.number(fact)
    if kind in (_FactKind.USD_PER_HOUR, _FactKind.USD_PER_MILLION):
        return formatter.small_amount(fact)
    if kind is _FactKind.TBS and fact >= 1.0:
        # As in the table of specifications.
        return formatter.number(fact, 1)
    if kind in (_FactKind.GIB, _FactKind.TBS, _FactKind.PFLOPS):
        return formatter.exact(float(f"{fact:.4g}"))
    if kind is _FactKind.GBS:
        if 0.0 < fact < _LEAST_GBS:
            return tr("under {number}", number=formatter.exact(_LEAST_GBS))
        return formatter.exact(float(f"{fact:.4g}"))
    return formatter.estimate(fact)


def get_option_texts(name: str, value: AnswerValue, formatter: Formatter) -> OptionTexts:
    if isinstance(value, str):
        title, use = _OPTIONS[name][value]
        return OptionTexts(tr(title), tr(use))
    use = _USES.get((name, value), "")
    return OptionTexts(format_answer_number(name, value, formatter), tr(use) if use else "")


def format_answer_number(name: str, value: float, formatter: Formatter) -> str:
    """Return a numeric answer to a question, with its unit."""
    unit = QUESTIONS[name].unit
    if unit == "ms" and value >= 1000.0:
        return tr("{number} s", number=formatter.exact(value / 1000.0))
    text = formatter.exact(value)
    if unit == "USD":
        return formatter.money(text, "USD")
    if unit == "h/month":
        return tr("{number} h/month", number=text)
    if unit == "months":
        return trn("{n} month", "{n} months", value, n=text)
    return tr("{number} ms", number=text)


def format_answer(name: str, value: AnswerValue, formatter: Formatter) -> str:
    return get_option_texts(name, value, formatter).title
