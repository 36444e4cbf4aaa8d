"""Names of attributes, figures, kinds, columns and loads, and ages of facts."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import date, datetime
from typing import Final

from gpudesk.domain.answer import Answer, LeadVerdict, judge_odds
from gpudesk.domain.claim import Dispute, PriceSummary
from gpudesk.domain.decision import DecisionCandidate
from gpudesk.domain.estimate import Estimate, Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.model import Model, describe_generic_model
from gpudesk.domain.registry import Attribute, find_attribute_definition, find_figure
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, translate_unit
from gpudesk.text.messages import capitalize_first, format_message
from gpudesk.text.translation import tr, translate_data, trn

#: Attributes of models.
_MODEL_ATTRIBUTES: Final = {
    "licence": "License",
    "total_parameters": "Parameters",
    "active_parameters": "Active parameters",
}

#: Names of the dimensions of models, by the last word of their path.
_DIMENSIONS: Final = {
    "hidden_size": "Hidden size",
    "vocab_size": "Vocabulary",
    "tied_embeddings": "Tied embeddings",
    "max_context": "Context limit",
    "native_precision": "Published precision",
    "quantised_tensors": "Quantized tensors",
    "fp8_block": "FP8 scale block",
    "layer_count": "Layers",
    "heads": "Attention heads",
    "kv_heads": "KV heads",
    "head_dim": "Head size",
    "intermediate_size": "Feed-forward size",
    "experts": "Experts",
    "experts_per_token": "Experts per token",
    "kv_lora_rank": "KV latent rank",
    "window": "Attention window",
    "reuses_cache": "Reuses an earlier KV cache",
    "layer_input_size": "Per-layer input size",
    "layer_input_vocab_size": "Per-layer input vocabulary",
    "altup_streams": "AltUp streams",
    "laurel_rank": "LAuReL rank",
    "kind": "Kind",
    "shared_intermediate_size": "Shared expert size",
    "parallel_dense_intermediate_size": "Parallel dense size",
    "bias": "Bias",
    "gated": "Gated",
    "latent_norm": "Latent norm",
    "latent_size": "Latent size",
    "router_bias": "Router bias",
    "shared_gate": "Shared expert gate",
    "final_norms": "Final norms",
    "ffn": "Feed-forward network",
    "mixer": "Mixer",
    "norms": "Norms",
    "count": "Layers",
    "top_k": "Indexed tokens",
    "q_lora_rank": "Query latent rank",
    "qk_nope_head_dim": "Head size without RoPE",
    "qk_rope_head_dim": "Head size with RoPE",
    "v_head_dim": "Value head size",
    "qk_norm": "QK norm",
    "qkv_bias": "QKV bias",
    "output_bias": "Output bias",
    "output_gate": "Output gate",
    "full_rank_gate": "Full-rank gate",
    "window_kind": "Window kind",
    "shared_kv_projection": "Shared KV projection",
    "sinks": "Attention sinks",
    "compress_ratio": "KV compression ratio",
    "o_groups": "Output groups",
    "o_lora_rank": "Output latent rank",
    "conv_kernel": "Convolution size",
    "key_head_dim": "Key head size",
    "key_heads": "Key heads",
    "value_head_dim": "Value head size",
    "value_heads": "Value heads",
    "dt_rank": "Time step rank",
    "groups": "Groups",
    "inner_norms": "Inner norms",
    "inner_size": "Inner size",
    "state_size": "State size",
    "reused": "Reuses an earlier index",
    "block": "Index block",
    "pool": "Tokens per index key",
    "native_group_size": "Group size of the weights",
    "native_other_precision": "Format of other tensors",
    "recommended_hardware": "Recommended hardware",
    "residual_streams": "Residual streams",
    "vram_low": "Memory needed, from",
    "vram_high": "Memory needed, up to",
    "default_resolution": "Default resolution",
    "default_steps": "Default steps",
    "denoiser_weights": "Denoiser weights",
}


_ENGINES: Final = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "llama.cpp": "llama.cpp",
    "tgi": "TGI",
}

_LEADS: Final = {
    LeadVerdict.LEADS: "{name} leads: {odds}",
    LeadVerdict.LIKELY_LEADS: "{name} likely leads: {odds}",
    LeadVerdict.LEANS: "leans toward {name}: {odds}",
    LeadVerdict.TOO_CLOSE: "too close to call: {name} {odds}",
}
#: Odds below this, or as near to certainty, are shown as under 1% or over 99%.
_SMALLEST_SHOWN_ODDS: Final = 0.005
#: Smaller distances are shown as none.
_NO_DISTANCE: Final = 0.005

#: Short titles of documents with rules and statements, and their publishers if known.
_DOCUMENTS: Final = {
    "seed-000": "MI325X vs H200",
    "seed-001": "MI300X vs H100, dreaming.press",
    "seed-002": "AMD stack scorecard",
    "seed-003": "B200 vs MI355X, Hostrunway",
    "seed-004": "MI325X product page",
}

#: The change before which a backup was made.


def translate_title(title: str) -> str:
    """Return the title of a source: a name, which stays as it is, except the catalog's own."""
    return tr(_DERIVED_TITLE) if title == _DERIVED_TITLE else title


_DERIVED_TITLE: Final = "Derived from other values of this catalog"


def label_attribute(name: str) -> str:
    """Return the name of an attribute in a group; a dimension of a model has its path."""
    attribute = find_attribute_definition(name)
    if attribute is not None:
        return _fill_label(attribute.label, attribute)
    return tr(_MODEL_ATTRIBUTES[name]) if name in _MODEL_ATTRIBUTES else name


def label_attribute_alone(name: str) -> str:
    """Return the name of an entry's attribute outside a table."""
    attribute = find_attribute_definition(name)
    if attribute is not None:
        return _fill_label(attribute.full_label or attribute.label, attribute)
    last = name.rpartition(".")[2]
    if last in _DIMENSIONS:
        return tr(_DIMENSIONS[last])
    if name in _MODEL_ATTRIBUTES:
        return tr(_MODEL_ATTRIBUTES[name])
    return capitalize_first(last.replace("_", " "))


def label_dispute_topic(dispute: Dispute) -> str:
    """Return the label of the disputed attribute, else of the dispute's own topic."""
    if dispute.attributes:
        return label_attribute_alone(dispute.attributes[0])
    return translate_data(dispute.attribute)


def describe_refusal(dispute: Dispute) -> str:
    """Return the refutation of a statement without an opposing one; empty otherwise."""
    if dispute.claim_b == "ARITHMETIC":
        return tr("Ruled out by arithmetic")
    return tr("Ruled out by public records") if dispute.claim_b == "PUBLIC-RECORD" else ""


def label_attribute_briefly(attribute: Attribute) -> str:
    """Return the label below a heading that already says dense."""
    return label_precision(attribute.precision) if attribute.precision else label_attribute(attribute.key)


def explain_attribute(attribute: Attribute) -> str:
    """Return the meaning of an attribute with a short head; empty if the head is enough."""
    return _fill_label(attribute.explanation, attribute) if attribute.explanation else ""


def _fill_label(label: str, attribute: Attribute) -> str:
    return tr(label, precision=label_precision(attribute.precision)) if attribute.precision else tr(label)


def label_figure(name: str) -> str:
    figure = find_figure(name)
    if figure is None:
        raise KeyError(name)
    return tr(figure.label)


def get_figure_unit(name: str) -> str | None:
    """Return the displayed unit of a figure; None for plain counts and non-figures."""
    figure = find_figure(name)
    return None if figure is None or figure.unit is None else translate_unit(figure.unit)


#: Rental and purchase terms, and provider classes.
PRICE_WORDS: Final = {
    "on_demand": "on-demand",
    "spot": "spot",
    "reserved": "reserved",
    "reserved_1y": "1 year reserved",
    "reserved_3y": "3 years reserved",
    "capacity_block": "capacity block",
    "purchase": "purchase",
    "specialized": "specialized cloud",
    "hyperscaler": "hyperscaler",
    "marketplace": "marketplace",
    "market": "market average",
    "unknown": "unclassified provider",
}


def label_price_word(word: str) -> str:
    return tr(PRICE_WORDS[word])


def format_price_dates(summary: PriceSummary) -> str:
    if summary.oldest is None or summary.newest is None:
        return tr("undated")
    if summary.oldest == summary.newest:
        return summary.oldest
    return f"{summary.oldest} – {summary.newest}"


def label_document(source: str) -> str:
    """Return the short title of a source document by its id; another source keeps its id."""
    return tr(_DOCUMENTS[source]) if source in _DOCUMENTS else source


def label_estimate_basis(estimate: Estimate) -> str:
    basis = estimate.basis.label
    return tr("{basis}, your model", basis=basis) if estimate.user_model else basis


def list_model_warnings(model: Model, formatter: Formatter) -> tuple[str, ...]:
    """Return the warnings, without a full stop, for every result of a model."""
    generic = describe_generic_model(model)
    return () if generic is None else (format_message(generic, formatter),)


def label_serving_engine(engine: str) -> str:
    return _ENGINES.get(engine, engine)


def label_precision(precision: str) -> str:
    """Return a number format as people write it: FP8, MXFP4, FP64 matrix."""
    name, _, units = precision.partition("_")
    return f"{name.upper()} {units}".rstrip()


def format_throughput_title(*, closed_loop: bool) -> str:
    """Return the title of throughput curves, which are closed loops regardless of the scenario."""
    unit = get_figure_unit("output_tokens_per_s")
    if closed_loop:
        return f"{label_figure('output_tokens_per_s')}, {unit}"
    return tr("{figure} (closed loop), {unit}", figure=label_figure("output_tokens_per_s"), unit=unit)


#: Series, memory, remarks and second names in an accelerator's name.
_LEFT_OUT: Final = re.compile(r"\bInstinct\b|\bGeForce\b|\([^)]*\)|\b\d+ ?GB\b| / .*")

#: The suffix of a duplicate column's key, and the count in its name.
_AGAIN: Final = re.compile(r"#(\d+)$")
_COUNT: Final = re.compile(r" × \d+(?=$| \()")


def shorten_name(name: str) -> str:
    """Return an accelerator's name without its series, its memory, a second name and bracketed text."""
    return " ".join(_LEFT_OUT.sub("", name).split()) or name


def list_accelerator_names(answer: Answer) -> tuple[str, ...]:
    """Return the short name of each column's accelerator; full names for duplicates."""
    full = [column.accelerator.name for column in answer.columns]
    short = [shorten_name(name) for name in full]
    # Two accelerators must not have the same name.
    return tuple(brief if _unique(brief, short, full) else name for brief, name in zip(short, full, strict=True))


def _unique(brief: str, short: list[str], full: list[str]) -> bool:
    return len({name for other, name in zip(short, full, strict=True) if other == brief}) == 1


def list_column_names(answer: Answer) -> tuple[str, ...]:
    """Return the names of columns: accelerators, with the count for duplicates."""
    keys = answer.keys
    return tuple(
        _AGAIN.sub(r" (\1)", key.replace(column.choice.accelerator, name, 1).replace(":", " × "))
        for key, name, column in zip(keys, list_accelerator_names(answer), answer.columns, strict=True)
    )


def map_column_names(answer: Answer) -> dict[str, str]:
    """Return the name of each column by its key."""
    return dict(zip(answer.keys, list_column_names(answer), strict=True))


def list_counted_names(answer: Answer, candidates: Iterable[DecisionCandidate], formatter: Formatter) -> list[str]:
    """Return the deployments of the columns, `1 × H100 SXM`, that a decision is about with another count."""
    columns = dict(zip(answer.keys, zip(answer.columns, list_column_names(answer), strict=True), strict=True))
    return [
        tr("{n} × {name}", n=formatter.count(column.estimate.count), name=drop_count(name))
        for each in candidates
        for column, name in (columns[each.key],)
        if column.estimate is not None and each.count not in (None, column.estimate.count)
    ]


def drop_count(name: str) -> str:
    """Return the name of a column without the count that tells duplicates apart, for texts that begin with it."""
    return _COUNT.sub("", name)


def join_names(names: list[str]) -> str:
    """Return names as a list in words: `A`, `A and B`, `A, B and C`."""
    if len(names) < 2:
        return "".join(names)
    return tr("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def join_alternatives(names: list[str]) -> str:
    """Return alternatives as a list in words: `A`, `A or B`, `A, B or C`."""
    if len(names) < 2:
        return "".join(names)
    return tr("{names} or {last}", names=", ".join(names[:-1]), last=names[-1])


def format_odds(odds: float, formatter: Formatter) -> str:
    """Return odds in whole percent, never as certain or impossible: figures are estimates."""
    if odds < _SMALLEST_SHOWN_ODDS:
        return tr("under {least}", least=formatter.per_cent(0.01))
    if odds > 1.0 - _SMALLEST_SHOWN_ODDS:
        return tr("over {most}", most=formatter.per_cent(0.99))
    return formatter.per_cent(odds)


def describe_lead(name: str, odds: float, formatter: Formatter, *, brief: bool) -> str:
    """Return the verdict on a likely leader, with its odds of being the best of all compared."""
    text = "{odds} odds" if brief else "{odds} odds of being best"
    return tr(_LEADS[judge_odds(odds)], name=name, odds=tr(text, odds=format_odds(odds, formatter)))


def describe_distance(ratio: float, formatter: Formatter) -> str:
    """Return how far a figure is above or below another, `35% lower`; `ratio` is the figure over the other."""
    distance = format_distance(ratio, formatter)
    return tr("{distance} lower", distance=distance) if ratio < 1 else tr("{distance} higher", distance=distance)


def format_distance(ratio: float, formatter: Formatter) -> str:
    """Return the distance of two figures, in percent."""
    share = abs(ratio - 1)
    return tr("less than 1%") if share < _NO_DISTANCE else formatter.per_cent(share)


def format_tokens(tokens: int, formatter: Formatter) -> str:
    return trn("{n} token", "{n} tokens", tokens, n=formatter.count(tokens))


def describe_requests(model: str, weights: str, workload: Workload, formatter: Formatter) -> str:
    """Return what is asked of a deployment: the model with its weights, and the lengths of requests."""
    return tr(
        "{model} in {weights}, {input} input and {output} output tokens",
        model=model,
        weights=label_precision(weights),
        input=formatter.count(workload.input_tokens),
        output=formatter.count(workload.output_tokens),
    )


def format_degrees(plan: ParallelPlan, formatter: Formatter) -> str:
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    degree_texts = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    return ", ".join([*degree_texts, tr("attention DP")] if plan.attention_dp else degree_texts)


def format_load(load: Load, formatter: Formatter) -> str:
    if load.kind is LoadKind.BATCH:
        return tr("batch of {n}", n=formatter.count(load.batch))
    if load.kind is LoadKind.CONCURRENCY:
        clients = tr("{n} in flight", n=formatter.count(load.concurrency))
        if load.requests is None:
            return clients
        return tr("{clients}, {n} in total", clients=clients, n=formatter.count(load.requests))
    if load.kind is LoadKind.SATURATE:
        return tr("{n} queued at once", n=formatter.count(load.requests))
    if load.kind is LoadKind.REQUEST_RATE:
        # The peak of a demand has many digits.
        return tr("{n} requests/s", n=formatter.exact(float(f"{load.request_rate or 0.0:.5g}")))
    return tr(
        "TTFT {ttft} ms, TPOT {tpot} ms ({limit})",
        ttft=formatter.exact(load.ttft_ms),
        tpot=formatter.exact(load.tpot_ms),
        limit=tr("mean") if load.limit == "mean" else tr("p99"),
    )


def format_years(years: float, formatter: Formatter) -> str:
    return trn("{n} year", "{n} years", years, n=formatter.exact(years))


def format_months(months: float, formatter: Formatter) -> str:
    """Return a number of months with at most one decimal."""
    rounded = round(months, 1)
    return trn("{n} month", "{n} months", rounded, n=formatter.exact(rounded))


def label_date(iso_date: str | None) -> str:
    return Formatter().date(iso_date or tr("no date"))


_MONTH: Final = 30.44
_YEAR: Final = 365.25


_LAST_MONTHS: Final = {"Q1": "03", "Q2": "06", "Q3": "09", "Q4": "12", "H1": "06", "H2": "12"}


def find_end_of_date(iso_date: str | None) -> date | None:
    """Return the last day of a year, a half, a quarter, a month or a day in ISO form; None for anything else."""
    parts = [_LAST_MONTHS.get(part, part) for part in (iso_date or "").split("-")]
    try:
        numbers = [int(part) for part in parts]
        if len(numbers) == 1:
            return date(numbers[0], 12, 31)
        if len(numbers) == 2:
            year, month = numbers
            return date(year, month, monthrange(year, month)[1])
        year, month, day = numbers
        return date(year, month, day)
    except ValueError:
        return None


def label_system(name: str) -> str:
    """Return the name of a system with the words in it translated that do not belong to the product."""
    words = {
        "air-cooled": tr("air-cooled"),
        "liquid-cooled": tr("liquid-cooled"),
        "both racks": tr("both racks"),
        "Self-built workstation": tr("Self-built workstation"),
    }
    pieces = [words.get(piece, piece) for piece in name.split(", ")]
    if count := re.fullmatch(r"(\d+) accelerators", pieces[-1]):
        pieces[-1] = trn("{n} accelerator", "{n} accelerators", int(count[1]))
    return ", ".join(pieces)


def count_days_since(iso_date: str | None, today: str) -> int | None:
    """Return the days since the end of a date, 0 if it has not ended; None if unknown."""
    ended, now = find_end_of_date(iso_date), find_end_of_date(today)
    return None if ended is None or now is None else max(0, (now - ended).days)


def is_stale_date(iso_date: str | None, today: str, days: int) -> bool:
    """Return whether a date ended more than this many days ago; an unknown date is not stale."""
    age = count_days_since(iso_date, today)
    return age is not None and age > days


def format_age(days: int | None) -> str:
    if days is None:
        return MISSING_VALUE_TEXT
    if days < 60:
        return trn("{n} day", "{n} days", days)
    if days < 730:
        return trn("{n} month", "{n} months", round(days / _MONTH))
    return trn("{n} year", "{n} years", int(days / _YEAR))


def format_date(day: str | None) -> str:
    return Formatter().date(day or tr("undated"))


def get_today() -> str:
    return datetime.now().astimezone().date().isoformat()
