"""The facts that decisions rest on, in words: what each is called, and its value with its unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.decisions import Fact
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.questions import NO_LIMIT, QUESTIONS
from gpudesk.sheets.labels import engine_name, limiter_label
from gpudesk.sheets.question_words import answer_text, number_text
from gpudesk.text import tr, trn

_SPACE: Final = "\N{NO-BREAK SPACE}"


class _Kind(StrEnum):
    """What a fact is, which decides its unit and digits."""

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
    SHARE = "%"
    USD = "USD"
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
    TEXT = "text"


class _Words(NamedTuple):
    """What a fact is called, and what it is."""

    name: str
    kind: _Kind = _Kind.YES_NO


_FACTS: Final[Mapping[str, _Words]] = MappingProxyType(
    {
        # Of accelerators
        "platform": _Words("Software platform", _Kind.TEXT),
        "vendor": _Words("Vendor", _Kind.TEXT),
        "generation": _Words("Architecture", _Kind.GENERATION),
        "form": _Words("Form", _Kind.FORM),
        "form_factor": _Words("Form factor", _Kind.TEXT),
        "available": _Words("Release", _Kind.TEXT),
        "announced": _Words("Announced only"),
        "memory_gib": _Words("Memory", _Kind.GIB),
        "memory_gb": _Words("Memory", _Kind.GB),
        "bandwidth_tbs": _Words("Memory bandwidth, each", _Kind.TBS),
        "link_gbs": _Words("Scale-up link, both ways", _Kind.GBS),
        "host_link_gbs": _Words("PCIe, both ways", _Kind.GBS),
        "peak_pflops": _Words("16-bit compute, dense, each", _Kind.PFLOPS),
        "fp4_pflops": _Words("FP4 compute, dense", _Kind.PFLOPS),
        "native_fp4": _Words("Computes in FP4"),
        "engine_count": _Words("Serving engines that run on it", _Kind.COUNT),
        "model_engine_count": _Words("Serving engines that run this model", _Kind.COUNT),
        "engines": _Words("Serving engines", _Kind.ENGINES),
        "runs_engine": _Words("The serving engine runs on it"),
        "widest_software": _Words("Its platform runs the most serving engines"),
        "needs_port": _Words("Needs a port"),
        "runs_on_record": _Words("Published measurements behind its figures", _Kind.COUNT),
        "references": _Words("Named deployments on record", _Kind.COUNT),
        "models_held": _Words("Models of the catalog that one holds", _Kind.COUNT),
        "export_score": _Words("Total processing performance (TOPS × bits)", _Kind.COUNT),
        "export_free": _Words("Below the thresholds of export control"),
        # Of deployments
        "fits": _Words("The deployment fits"),
        "holds_load": _Words("Carries the load"),
        "fits_alone": _Words("Fits on one"),
        "needs_alone_gb": _Words("Needed on one", _Kind.GB),
        "alone_weights_gb": _Words("Weights on one", _Kind.GB),
        "kv_one_gb": _Words("KV cache of one request", _Kind.GB),
        "kv_room_gb": _Words("Room for KV cache", _Kind.GB),
        "headroom_gb": _Words("Memory left over, each", _Kind.GB),
        "count": _Words("Fewest accelerators", _Kind.COUNT),
        "deployed": _Words("Accelerators", _Kind.COUNT),
        "hosts": _Words("Hosts", _Kind.COUNT),
        "max_concurrency": _Words("Most requests in flight", _Kind.COUNT),
        "tokens_per_s": _Words("Output throughput", _Kind.RATE),
        "tokens_per_s_each": _Words("Output throughput, each", _Kind.RATE),
        "interactivity": _Words("Output to each request", _Kind.RATE),
        "ttft_ms": _Words("Time to first token", _Kind.MS),
        "tpot_ms": _Words("Time per output token", _Kind.MS),
        "limiter": _Words("Limited first by", _Kind.LIMITER),
        "decode_share": _Words("Share of decode in a request's time", _Kind.SHARE),
        "host_traffic_gbs": _Words("Tokens between host and accelerator", _Kind.GBS),
        "price_usd": _Words("Purchase price", _Kind.USD),
        "spend_usd": _Words("Accelerators of the deployment to buy", _Kind.USD),
        "rent_usd_h": _Words("Rent", _Kind.USD_PER_HOUR),
        "rent_providers": _Words("Providers who rent it out", _Kind.COUNT),
        "usd_per_million": _Words("Cost of output tokens", _Kind.USD_PER_MILLION),
        "owned_usd_per_million": _Words("Cost of output tokens, owned", _Kind.USD_PER_MILLION),
        "rented_usd_per_million": _Words("Cost of output tokens, rented", _Kind.USD_PER_MILLION),
        "software_usd": _Words("Port and upkeep of software", _Kind.USD),
        "payback_hours": _Words("Rented hours from which a port pays", _Kind.HOURS),
        "pays_back": _Words("Pays back at your hours"),
        "tokens_per_s_kw": _Words("Output throughput for each kW", _Kind.RATE_PER_KW),
        "watts_per_token_s": _Words("Energy of a token", _Kind.JOULES),
        # Beside the others
        "leads_memory": _Words("Has the most memory"),
        "leads_bandwidth": _Words("Has the most memory bandwidth"),
        "leads_compute": _Words("Has the most 16-bit compute"),
        "leads_link": _Words("Has the fastest scale-up link"),
        "leads_host_link": _Words("Has the fastest link to its host"),
        "leads_kv_room": _Words("Has the most room for KV cache"),
        "leads_concurrency": _Words("Holds the most requests in flight"),
        "leads_coverage": _Words("Holds the most models of the catalog"),
        "leads_model_engines": _Words("Has the most serving engines for this model"),
        "leads_count": _Words("Takes the fewest accelerators"),
        "leads_spend": _Words("Costs the least to buy"),
        "leads_density": _Words("Has the most throughput for each kW"),
        "leads_power": _Words("Takes the least energy for a token"),
        "leads_throughput": _Words("Has the most throughput"),
        "leads_throughput_each": _Words("Has the most throughput for each accelerator"),
        "leads_ttft": _Words("Gives the first token soonest"),
        "leads_tpot": _Words("Gives further tokens fastest"),
        "leads_cost": _Words("Has the cheapest tokens"),
        "leads_owned_cost": _Words("Has the cheapest tokens when owned"),
        # Of the scenario
        "has_model": _Words("A model is chosen"),
        "model_id": _Words("Model", _Kind.TEXT),
        "model_moe": _Words("The model has experts"),
        "standard_model": _Words("The model is dense, with plain attention"),
        "params_b": _Words("Parameters", _Kind.BILLION),
        "context_tokens": _Words("Longest request", _Kind.TOKENS),
        "model_context": _Words("Context that the model reads", _Kind.TOKENS),
        "weights_gb": _Words("Weights", _Kind.GB),
        "needs_gb": _Words("Weights and one request", _Kind.GB),
        "kv_needed_gb": _Words("KV cache of all in flight", _Kind.GB),
        "kv_some_short": _Words("Some have too little room for the KV cache"),
        "least_memory_gb": _Words("Least memory compared", _Kind.GB),
        "all_fit_alone": _Words("The model fits on one of each"),
        "some_fit_alone": _Words("The model fits on one of some"),
        "fewest_count": _Words("Fewest accelerators of any", _Kind.COUNT),
        "most_count": _Words("Most accelerators of any", _Kind.COUNT),
        "most_hosts": _Words("Most hosts of any", _Kind.COUNT),
        "coverage_most": _Words("Most models that one holds", _Kind.COUNT),
        "coverage_least": _Words("Fewest models that one holds", _Kind.COUNT),
        "bound_by": _Words("Limit of most deployments", _Kind.LIMITER),
        "host_traffic_most_gbs": _Words("Most traffic between host and accelerator", _Kind.GBS),
        "years": _Words("Time in use", _Kind.YEARS),
        "fleet": _Words("Accelerators that share software", _Kind.COUNT),
        "some_need_port": _Words("Some accelerator needs a port"),
        "some_announced": _Words("Some accelerator is announced only"),
        "engine_everywhere": _Words("The serving engine runs on all"),
        "unsure": _Words("No clear winner"),
    }
)
#: What answers are called where a whole question does not fit.
_ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "serving_engine": "Serving engine that is set",
        "tuned_for": "Code tied to a platform",
        "porting": "Software may move",
        "shape": "One must hold the model",
        "long_context": "Long context is a core need",
        "precision": "Number formats that are set",
        "ttft_limit_ms": "Limit for the first token",
        "tpot_limit_ms": "Limit for each further token",
        "service": "Who waits",
        "site": "Where it runs",
        "destination": "Destination under export control",
        "priority": "What decides",
        "work": "Kind of work",
        "standing": "Record that is asked for",
        "team": "Team",
        "tuning": "Tuning",
        "current_platform": "Software runs today on",
        "acquisition": "Own or rent",
        "monthly_hours": "Accelerator hours rented",
        "budget_usd": "Budget for accelerators",
        "adoption_months": "Infrastructure work funded",
        "months_to_launch": "Time to launch",
        "waiting": "Wait for the next part",
        "vendor_policy": "Vendors",
        "api_checked": "Hosted API checked",
    }
)
_GENERATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
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
        "tpu-v5": "TPU v5",
        "tpu-v6": "TPU v6",
        "tpu-v7": "TPU v7",
    }
)
_FORMS: Final[Mapping[str, str]] = MappingProxyType({"oam": "OAM", "sxm": "SXM", "pcie": "PCIe"})
#: Kinds whose figures have their unit behind them.
_MEASURED: Final = frozenset(
    {
        _Kind.GB,
        _Kind.GIB,
        _Kind.TBS,
        _Kind.GBS,
        _Kind.PFLOPS,
        _Kind.RATE,
        _Kind.RATE_PER_KW,
        _Kind.JOULES,
        _Kind.MS,
        _Kind.USD,
        _Kind.USD_PER_HOUR,
        _Kind.USD_PER_MILLION,
        _Kind.HOURS,
        _Kind.TOKENS,
    }
)
#: Below this a link's traffic is as good as none.
_LEAST_GBS: Final = 0.01


def fact_name(name: str) -> str:
    """Return what a fact is called; an answer by what its question is about."""
    return tr(_FACTS[name].name if name in _FACTS else _ANSWERS[name])


def fact_text(name: str, fact: Fact, formatter: Formatter) -> str:
    """Return a fact with its band and its unit, or in a word; a dash where it is not known."""
    if fact is None:
        return UNKNOWN
    if name in QUESTIONS:
        return _answer(name, fact, formatter)
    kind = _FACTS[name].kind
    if isinstance(fact, bool):
        return tr("yes") if fact else tr("no")
    if isinstance(fact, str):
        return _word(kind, fact)
    if isinstance(fact, Banded):
        return formatter.banded(fact, _unit(kind))
    if math.isinf(fact):
        return tr("never") if kind is _Kind.HOURS else tr("no limit")
    return _number(kind, fact, formatter)


def fact_unit(name: str) -> str | None:
    """Return the unit that the figures of a fact are in; None for words, counts and answers."""
    if name not in _FACTS:
        return None
    kind = _FACTS[name].kind
    return kind.value if kind in _MEASURED else None


def fact_figure(name: str, fact: Fact, formatter: Formatter) -> str:
    """Return a fact without its unit, of a band the likely value: for tables that have the unit elsewhere."""
    likely = float(f"{fact.value:.3g}") if isinstance(fact, Banded) else fact
    text = fact_text(name, likely, formatter)
    unit = fact_unit(name)
    return text if unit is None else text.removesuffix(f"{_SPACE}{unit}")


def in_sentence(name: str) -> str:
    """Return a name as it stands inside a sentence; one that begins like a name of its own stays."""
    first = name.split(" ", 1)[0]
    if first == "I" or any(each.isupper() or each.isdigit() for each in first[1:]):
        return name
    return name[:1].lower() + name[1:]


def _answer(name: str, fact: Fact, formatter: Formatter) -> str:
    if isinstance(fact, str):
        return answer_text(name, fact, formatter)
    if isinstance(fact, Banded):
        return formatter.banded(fact, QUESTIONS[name].unit)
    if fact is None:
        return UNKNOWN
    return tr("no limit") if fact == NO_LIMIT else number_text(name, float(fact), formatter)


def _word(kind: _Kind, fact: str) -> str:
    if kind is _Kind.ENGINES:
        return ", ".join(engine_name(each) for each in fact.split(", "))
    if kind is _Kind.LIMITER:
        return limiter_label(fact)
    if kind is _Kind.GENERATION:
        return _GENERATIONS.get(fact, fact)
    if kind is _Kind.FORM:
        return _FORMS.get(fact, tr("another"))
    return fact


def _unit(kind: _Kind) -> str | None:
    return kind.value if kind in _MEASURED else None


def _number(kind: _Kind, fact: float, formatter: Formatter) -> str:
    if kind is _Kind.YEARS:
        return trn("{n} year", "{n} years", round(fact), n=formatter.stated(fact))
    if kind is _Kind.SHARE:
        return formatter.per_cent(fact)
    if kind is _Kind.BILLION:
        return f"{formatter.stated(float(f'{fact:.4g}'))}B"
    unit = _unit(kind)
    text = _digits(kind, fact, formatter)
    return f"{text}{_SPACE}{unit}" if unit else text


def _digits(kind: _Kind, fact: float, formatter: Formatter) -> str:
    if kind in (_Kind.COUNT, _Kind.TOKENS, _Kind.USD):
        return formatter.stated(fact) if abs(fact) < 1.0 else formatter.number(fact)
    if kind is _Kind.USD_PER_HOUR:
        return formatter.number(fact, 2)
    if kind in (_Kind.GIB, _Kind.TBS, _Kind.PFLOPS):
        return formatter.stated(float(f"{fact:.4g}"))
    if kind is _Kind.GBS:
        if 0.0 < fact < _LEAST_GBS:
            return tr("under {number}", number=formatter.stated(_LEAST_GBS))
        return formatter.stated(float(f"{fact:.4g}"))
    return formatter.estimate(fact)
