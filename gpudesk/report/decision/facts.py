"""Names, values and units of the facts that decisions rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.decision import NO_LIMIT, QUESTIONS, FactValue
from gpudesk.report.decision.questions import format_answer, format_answer_number
from gpudesk.report.labels import label_limiter, label_serving_engine
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, join_unit
from gpudesk.text.sentences import lower_first
from gpudesk.text.translation import tr, trn

_SPACE: Final = "\N{NO-BREAK SPACE}"


class _FactKind(StrEnum):
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
    SECONDS = "s"
    MONTHS = "months"
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


class _FactLabel(NamedTuple):
    """What a fact is called, and what it is."""

    name: str
    kind: _FactKind = _FactKind.YES_NO


_FACTS: Final[Mapping[str, _FactLabel]] = MappingProxyType(
    {
        # Of accelerators
        "platform": _FactLabel("Software platform", _FactKind.TEXT),
        "vendor": _FactLabel("Vendor", _FactKind.TEXT),
        "generation": _FactLabel("Architecture", _FactKind.GENERATION),
        "form": _FactLabel("Form", _FactKind.FORM),
        "form_factor": _FactLabel("Form factor", _FactKind.TEXT),
        "available": _FactLabel("Release", _FactKind.TEXT),
        "announced": _FactLabel("Announced only"),
        "discontinued": _FactLabel("No longer made"),
        "memory_gib": _FactLabel("Memory", _FactKind.GIB),
        "memory_gb": _FactLabel("Memory", _FactKind.GB),
        "bandwidth_tbs": _FactLabel("Memory bandwidth per accelerator", _FactKind.TBS),
        "link_gbs": _FactLabel("Scale-up link, both ways", _FactKind.GBS),
        "host_link_gbs": _FactLabel("PCIe, both ways", _FactKind.GBS),
        "peak_pflops": _FactLabel("16-bit compute, dense, each", _FactKind.PFLOPS),
        "fp4_pflops": _FactLabel("FP4 compute, dense", _FactKind.PFLOPS),
        "native_fp4": _FactLabel("Computes in FP4"),
        "engine_count": _FactLabel("Serving engines that run on it", _FactKind.COUNT),
        "model_engine_count": _FactLabel("Serving engines that run this model", _FactKind.COUNT),
        "engines": _FactLabel("Serving engines", _FactKind.ENGINES),
        "runs_engine": _FactLabel("The serving engine runs on it"),
        "widest_software": _FactLabel("Its platform runs the most serving engines"),
        "needs_port": _FactLabel("Needs a port"),
        "runs_on_record": _FactLabel("Published measurements behind its figures", _FactKind.COUNT),
        "references": _FactLabel("Named deployments on record", _FactKind.COUNT),
        "models_held": _FactLabel("Models of the catalog that one holds", _FactKind.COUNT),
        "export_score": _FactLabel("Total processing performance (TOPS × bits)", _FactKind.COUNT),
        "export_free": _FactLabel("Below the thresholds of export control"),
        # Of deployments
        "fits": _FactLabel("The deployment fits"),
        "holds_load": _FactLabel("Carries the load"),
        "fits_alone": _FactLabel("Fits on one"),
        "needs_alone_gb": _FactLabel("Needed on one", _FactKind.GB),
        "alone_weights_gb": _FactLabel("Weights on one", _FactKind.GB),
        "kv_one_gb": _FactLabel("KV cache of one request", _FactKind.GB),
        "kv_room_gb": _FactLabel("Room for KV cache", _FactKind.GB),
        "headroom_gb": _FactLabel("Memory left over, each", _FactKind.GB),
        "count": _FactLabel("Fewest accelerators", _FactKind.COUNT),
        "deployed": _FactLabel("Accelerators", _FactKind.COUNT),
        "hosts": _FactLabel("Hosts", _FactKind.COUNT),
        "in_flight": _FactLabel("Requests in flight", _FactKind.COUNT),
        "max_concurrency": _FactLabel("Max concurrency", _FactKind.COUNT),
        "tokens_per_s": _FactLabel("Output throughput", _FactKind.RATE),
        "tokens_per_s_each": _FactLabel("Output throughput per accelerator", _FactKind.RATE),
        "interactivity": _FactLabel("Output speed per request", _FactKind.RATE),
        "ttft_ms": _FactLabel("Time to first token", _FactKind.MS),
        "tpot_ms": _FactLabel("Time per output token", _FactKind.MS),
        "request_s": _FactLabel("Time for a whole answer", _FactKind.SECONDS),
        "requests_each": _FactLabel("Requests in flight per accelerator", _FactKind.COUNT),
        "basis": _FactLabel("Basis of its figures", _FactKind.TEXT),
        "months_to_production": _FactLabel("Time to production", _FactKind.MONTHS),
        "limiter": _FactLabel("Limited first by", _FactKind.LIMITER),
        "decode_share": _FactLabel("Share of decode in a request's time", _FactKind.SHARE),
        "host_traffic_gbs": _FactLabel("Tokens between host and accelerator", _FactKind.GBS),
        "price_usd": _FactLabel("Purchase price", _FactKind.USD),
        "spend_usd": _FactLabel("Purchase price of the deployment", _FactKind.USD),
        "rent_usd_h": _FactLabel("Rent", _FactKind.USD_PER_HOUR),
        "rent_providers": _FactLabel("Providers who rent it out", _FactKind.COUNT),
        "usd_per_million": _FactLabel("Cost per million output tokens", _FactKind.USD_PER_MILLION),
        "owned_usd_per_million": _FactLabel("Cost per million output tokens, owned", _FactKind.USD_PER_MILLION),
        "rented_usd_per_million": _FactLabel("Cost per million output tokens, rented", _FactKind.USD_PER_MILLION),
        "software_usd": _FactLabel("Port and upkeep of software", _FactKind.USD),
        "payback_hours": _FactLabel("Rented hours from which a port pays", _FactKind.HOURS),
        "pays_back": _FactLabel("Pays back at your hours"),
        "tokens_per_s_kw": _FactLabel("Output throughput per kW", _FactKind.RATE_PER_KW),
        "watts_per_token_s": _FactLabel("Energy per output token", _FactKind.JOULES),
        # Beside the others
        "leads_memory": _FactLabel("Has the most memory"),
        "leads_bandwidth": _FactLabel("Has the most memory bandwidth"),
        "leads_compute": _FactLabel("Has the most 16-bit compute"),
        "leads_link": _FactLabel("Has the fastest scale-up link"),
        "leads_host_link": _FactLabel("Has the fastest link to its host"),
        "leads_kv_room": _FactLabel("Has the most room for KV cache"),
        "leads_concurrency": _FactLabel("Holds the most requests in flight"),
        "leads_coverage": _FactLabel("Holds the most models of the catalog"),
        "leads_model_engines": _FactLabel("Has the most serving engines for this model"),
        "leads_count": _FactLabel("Takes the fewest accelerators"),
        "leads_spend": _FactLabel("Costs the least to buy"),
        "leads_density": _FactLabel("Has the most throughput for each kW"),
        "leads_power": _FactLabel("Takes the least energy for a token"),
        "leads_throughput": _FactLabel("Has the most throughput"),
        "leads_throughput_each": _FactLabel("Has the most throughput for each accelerator"),
        "leads_ttft": _FactLabel("Gives the first token soonest"),
        "leads_tpot": _FactLabel("Gives further tokens fastest"),
        "leads_cost": _FactLabel("Has the cheapest tokens"),
        "leads_owned_cost": _FactLabel("Has the cheapest tokens when owned"),
        # Of the scenario
        "has_model": _FactLabel("A model is chosen"),
        "model_id": _FactLabel("Model", _FactKind.TEXT),
        "generic_architecture": _FactLabel("Unknown architecture, computed as a plain decoder", _FactKind.TEXT),
        "model_moe": _FactLabel("The model has experts"),
        "standard_model": _FactLabel("The model is dense, with plain attention"),
        "params_b": _FactLabel("Parameters", _FactKind.BILLION),
        "context_tokens": _FactLabel("Longest request", _FactKind.TOKENS),
        "model_context": _FactLabel("Context that the model reads", _FactKind.TOKENS),
        "weights_gb": _FactLabel("Weights", _FactKind.GB),
        "needs_gb": _FactLabel("Weights and one request", _FactKind.GB),
        "kv_needed_gb": _FactLabel("KV cache of all in flight", _FactKind.GB),
        "kv_some_short": _FactLabel("Some have too little room for the KV cache"),
        "least_memory_gb": _FactLabel("Least memory compared", _FactKind.GB),
        "all_fit_alone": _FactLabel("The model fits on one of each"),
        "some_fit_alone": _FactLabel("The model fits on one of some"),
        "fewest_count": _FactLabel("Fewest accelerators of any", _FactKind.COUNT),
        "most_count": _FactLabel("Most accelerators of any", _FactKind.COUNT),
        "most_hosts": _FactLabel("Most hosts of any", _FactKind.COUNT),
        "coverage_most": _FactLabel("Most models that one holds", _FactKind.COUNT),
        "coverage_least": _FactLabel("Fewest models that one holds", _FactKind.COUNT),
        "bound_by": _FactLabel("Limit of most deployments", _FactKind.LIMITER),
        "host_traffic_most_gbs": _FactLabel("Most traffic between host and accelerator", _FactKind.GBS),
        "years": _FactLabel("Time in use", _FactKind.YEARS),
        "fleet": _FactLabel("Accelerators that share software", _FactKind.COUNT),
        "some_need_port": _FactLabel("Some accelerator needs a port"),
        "some_announced": _FactLabel("Some accelerator is announced only"),
        "engine_everywhere": _FactLabel("The serving engine runs on all"),
        "unsure": _FactLabel("No clear winner"),
    }
)
#: What answers are called where a whole question does not fit.
_ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "serving_engine": "Serving engine",
        "tuned_for": "Platform-specific code",
        "porting": "Software may move",
        "shape": "Must fit on one",
        "long_context": "Long context is a core need",
        "precision": "Number format",
        "ttft_limit_ms": "TTFT limit",
        "tpot_limit_ms": "TPOT limit",
        "service": "Service",
        "site": "Site",
        "destination": "Destination under export control",
        "priority": "What matters most",
        "work": "Kind of work",
        "standing": "References required",
        "team": "Team",
        "tuning": "Tuning",
        "current_platform": "Software runs today on",
        "acquisition": "Own or rent",
        "monthly_hours": "Rented accelerator hours",
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
        _FactKind.GB,
        _FactKind.GIB,
        _FactKind.TBS,
        _FactKind.GBS,
        _FactKind.PFLOPS,
        _FactKind.RATE,
        _FactKind.RATE_PER_KW,
        _FactKind.JOULES,
        _FactKind.MS,
        _FactKind.USD,
        _FactKind.USD_PER_HOUR,
        _FactKind.USD_PER_MILLION,
        _FactKind.HOURS,
        _FactKind.TOKENS,
    }
)
#: Below this a link's traffic is as good as none.
_LEAST_GBS: Final = 0.01


def label_fact(name: str) -> str:
    """Return what a fact is called; an answer by what its question is about."""
    return tr(_FACTS[name].name if name in _FACTS else _ANSWERS[name])


def format_fact(name: str, fact: FactValue, formatter: Formatter) -> str:
    """Return a fact with its band and its unit, or in a word; a dash where it is not known."""
    if fact is None:
        return MISSING_VALUE_TEXT
    if name in QUESTIONS:
        return _answer(name, fact, formatter)
    kind = _FACTS[name].kind
    if isinstance(fact, bool):
        return tr("yes") if fact else tr("no")
    if isinstance(fact, str):
        return _word(kind, fact)
    if isinstance(fact, IntervalEstimate):
        return formatter.banded(fact, _unit(kind))
    if math.isinf(fact):
        return tr("never") if kind is _FactKind.HOURS else tr("no limit")
    return _number(kind, fact, formatter)


def get_fact_unit(name: str) -> str | None:
    """Return the unit that the figures of a fact are in; None for words, counts and answers."""
    if name not in _FACTS:
        return None
    kind = _FACTS[name].kind
    return kind.value if kind in _MEASURED else None


def format_fact_figure(name: str, fact: FactValue, formatter: Formatter) -> str:
    """Return a fact without its unit, of a band the likely value: for tables that have the unit elsewhere."""
    likely = float(f"{fact.value:.3g}") if isinstance(fact, IntervalEstimate) else fact
    if get_fact_unit(name) == _FactKind.MS and isinstance(likely, int | float):
        return formatter.estimate(likely)
    text = format_fact(name, likely, formatter)
    unit = get_fact_unit(name)
    return text if unit is None else text.removesuffix(join_unit("", unit))


def lower_for_sentence(name: str) -> str:
    """Return a name as it stands inside a sentence; one that begins like a name of its own stays."""
    first = name.split(" ", 1)[0]
    if first == "I" or any(each.isupper() or each.isdigit() for each in first[1:]):
        return name
    return lower_first(name)


def _answer(name: str, fact: FactValue, formatter: Formatter) -> str:
    if isinstance(fact, str):
        return format_answer(name, fact, formatter)
    if isinstance(fact, IntervalEstimate):
        return formatter.banded(fact, QUESTIONS[name].unit)
    if fact is None:
        return MISSING_VALUE_TEXT
    return tr("no limit") if fact == NO_LIMIT else format_answer_number(name, float(fact), formatter)


def _word(kind: _FactKind, fact: str) -> str:
    if kind is _FactKind.ENGINES:
        return ", ".join(label_serving_engine(each) for each in fact.split(", "))
    if kind is _FactKind.LIMITER:
        return label_limiter(fact)
    if kind is _FactKind.GENERATION:
        return _GENERATIONS.get(fact, fact)
    if kind is _FactKind.FORM:
        return _FORMS.get(fact, tr("another"))
    return fact


def _unit(kind: _FactKind) -> str | None:
    return kind.value if kind in _MEASURED else None


def _number(kind: _FactKind, fact: float, formatter: Formatter) -> str:
    if kind is _FactKind.YEARS:
        return trn("{n} year", "{n} years", round(fact), n=formatter.stated(fact))
    if kind is _FactKind.SHARE:
        return formatter.per_cent(fact)
    if kind is _FactKind.BILLION:
        return f"{formatter.stated(float(f'{fact:.4g}'))}B"
    if kind in (_FactKind.MS, _FactKind.SECONDS):
        text, shown = formatter.value_and_unit(fact, kind.value)
        return join_unit(text, shown or kind.value)
    unit = _unit(kind)
    text = _digits(kind, fact, formatter)
    return join_unit(text, unit) if unit else text


def _digits(kind: _FactKind, fact: float, formatter: Formatter) -> str:
    if kind in (_FactKind.COUNT, _FactKind.TOKENS, _FactKind.USD):
        return formatter.stated(fact) if abs(fact) < 1.0 else formatter.number(fact)
    if kind is _FactKind.USD_PER_HOUR:
        return formatter.number(fact, 2)
    if kind in (_FactKind.GIB, _FactKind.TBS, _FactKind.PFLOPS):
        return formatter.stated(float(f"{fact:.4g}"))
    if kind is _FactKind.GBS:
        if 0.0 < fact < _LEAST_GBS:
            return tr("under {number}", number=formatter.stated(_LEAST_GBS))
        return formatter.stated(float(f"{fact:.4g}"))
    return formatter.estimate(fact)
