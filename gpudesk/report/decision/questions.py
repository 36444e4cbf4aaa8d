"""Questions of the guided decision, their options, and the effect of each option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from gpudesk.domain.answer import LeadVerdict, judge_odds
from gpudesk.domain.decision import (
    NO_LIMIT_ANSWER,
    QUESTIONS,
    UNKNOWN_ANSWER,
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionVerdict,
    QuestionAnswer,
    RuleStrength,
)
from gpudesk.report.labels import format_odds
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import LabeledEnum, tr, trn

_GROUPS: Final[Mapping[RuleStrength, str]] = {
    RuleStrength.HARD: "Required",
    RuleStrength.STRONG: "Most important",
    RuleStrength.MILD: "Details",
}
#: Question -> (title, reason).
_QUESTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "serving_engine": (
        "Which serving engine do you need?",
        "Accelerators that this serving engine does not support are ruled out.",
    ),
    "tuned_for": (
        "Is your code tied to one platform?",
        "Kernels tuned for one platform or generation must be rewritten for another.",
    ),
    "porting": ("Can you port your software?", "If not, only accelerators of your current platform remain."),
    "shape": (
        "Must the model fit on one accelerator?",
        "A model on one accelerator needs no traffic between accelerators.",
    ),
    "long_context": (
        "Is long context a core need?",
        "The KV cache grows with context and uses the memory that weights leave free.",
    ),
    "precision": (
        "Which number format do you need?",
        "FP4 needs hardware support; unquantized weights need more memory.",
    ),
    "ttft_limit_ms": (
        "What is your limit for time to first token?",
        "Accelerators whose whole 80% interval misses the limit are ruled out.",
    ),
    "tpot_limit_ms": (
        "What is your limit per output token?",
        "Reading speed: 50 ms per token is 20 tokens per second.",
    ),
    "service": ("Who waits for answers?", "Interactive use needs low latency; batch work needs throughput."),
    "site": ("Where will it run?", "Form factor and rack power limit the choice of accelerators."),
    "destination": (
        "Is the destination under export control?",
        "Compares performance with the current thresholds. This is not legal advice.",
    ),
    "priority": ("What matters most?", "All accelerators that meet your limits are ranked by this goal."),
    "work": ("What kind of work is it?", "Estimates cover LLM serving; other work has other bottlenecks."),
    "standing": (
        "Do you need reference deployments?",
        "Customers or management may require proof from named deployments.",
    ),
    "team": ("Who will operate it?", "The team does the porting, tuning and troubleshooting."),
    "tuning": ("How much tuning will you do?", "Less tuning favors the platform with wider software support."),
    "current_platform": (
        "Which platform do you run today?",
        "Switching platforms takes engineering time; staying does not.",
    ),
    "acquisition": ("Buy or rent?", "Buyers spread tuning cost over years; renting depends on available providers."),
    "monthly_hours": (
        "How many accelerator-hours do you rent per month?",
        "With enough hours, lower rent pays for porting.",
    ),
    "budget_usd": (
        "What is your up-front budget?",
        "What you pay at once: accelerators, servers, network, racks, spares and porting.",
    ),
    "adoption_months": (
        "How many months of infrastructure work can you fund?",
        "Sources report 3 to 12 months to adopt another platform.",
    ),
    "months_to_launch": ("When do you go live?", "Waiting helps only if the next accelerator is available by then."),
    "waiting": ("Would you wait for the next accelerator?", "Release dates slip, often by two quarters."),
    "vendor_policy": (
        "One vendor or two?",
        "Different accelerators in one pool slow each other down; separate pools avoid this.",
    ),
    "api_checked": ("Have you compared a hosted API?", "An API may be cheaper than hosting the model yourself."),
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


class OptionTexts(NamedTuple):
    """The texts of an option: its title, and its use."""

    title: str
    use: str


def label_question_group(strength: RuleStrength) -> str:
    return tr(_GROUPS[strength])


def get_question_text(name: str) -> str:
    return tr(_QUESTIONS[name][0])


def get_question_reason(name: str) -> str:
    return tr(_QUESTIONS[name][1])


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


_LED_BY_TWO = 2


class ColumnOutcome(LabeledEnum):
    """The outcome of an accelerator under an answer."""

    STAYS = "stays", "remains"
    UNDECIDED = "undecided", "undecided"
    REMOVED = "removed", "ruled out"


def find_column_outcome(standing: DecisionCandidate) -> ColumnOutcome:
    """Return the outcome of a column: removed by likely figures, undecided, or neither."""
    if standing.removed:
        return ColumnOutcome.REMOVED
    return ColumnOutcome.UNDECIDED if standing.open_rules else ColumnOutcome.STAYS


def describe_remaining(decision: Decision, names: Mapping[str, str]) -> str:
    fates = {each.key: find_column_outcome(each) for each in decision.candidates}
    remaining = [key for key, fate in fates.items() if fate is not ColumnOutcome.REMOVED]
    open_keys = [key for key in remaining if fates[key] is ColumnOutcome.UNDECIDED]
    if not remaining:
        return tr("None remain")
    count = (
        tr("All {n} remain", n=len(remaining)) if len(remaining) == len(fates) else tr("{n} remain", n=len(remaining))
    )
    if len(remaining) == 1:
        count = tr("1 remains")
    if not open_keys:
        return count
    return tr("{leaves}; {undecided}", leaves=count, undecided=_describe_undecided(open_keys, remaining, names))


def _describe_undecided(open_keys: list[str], remaining: list[str], names: Mapping[str, str]) -> str:
    if len(open_keys) == 1 and len(remaining) > 1:
        return tr("{name} undecided", name=names[open_keys[0]])
    if len(open_keys) < len(remaining):
        return trn("{n} undecided", "{n} undecided", len(open_keys))
    if len(remaining) == 1:
        return tr("undecided")
    return tr("both undecided") if len(remaining) == _LED_BY_TWO else tr("all undecided")


def describe_lead(decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the recommendation with its odds, for a close call also the next one; empty without any."""
    odds = {each.key: each.odds for each in decision.candidates}
    candidate = decision.recommended
    if candidate is None:
        return ""
    contest, first = decision.objective.name.label, names[candidate.key]
    n = format_odds(odds[candidate.key], formatter)
    if decision.verdict is DecisionVerdict.WINNER or decision.runner_up is None:
        if judge_odds(odds[candidate.key]) is LeadVerdict.LEADS:
            return tr("{contest}: {name} leads ({odds} odds)", contest=contest, name=first, odds=n)
        return tr("{contest}: {name} likely leads ({odds} odds)", contest=contest, name=first, odds=n)
    one, other = sorted((candidate.key, decision.runner_up), key=lambda key: -odds[key])
    n, m = (format_odds(odds[key], formatter) for key in (one, other))
    values = {"contest": contest, "one": names[one], "n": n, "other": names[other], "m": m}
    return tr("{contest}: {one} {n}, {other} {m} odds", **values)


def describe_option_effect(question: str, decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the effect of an answer, by the decision under it: remaining accelerators, or the leader, or both.

    Questions about requirements state what remains; the others the leader, and what remains if not all do.
    """
    leaves, leads = describe_remaining(decision, names), describe_lead(decision, names, formatter)
    if QUESTIONS[question].screen.strength is RuleStrength.HARD or not leads:
        return leaves
    if any(each.removed or each.open_rules for each in decision.candidates):
        return tr("{leaves}; {leads}", leaves=leaves, leads=lower_for_sentence(leads))
    return leads


def describe_option_briefly(question: str, decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the effect of an answer briefly: what remains, else the leader and its lead."""
    lead = decision.recommended
    some_in_doubt = any(each.removed or each.open_rules for each in decision.candidates)
    if lead is None or some_in_doubt or QUESTIONS[question].screen.strength is RuleStrength.HARD:
        return describe_remaining(decision, names)
    return tr("{name}, {odds} odds", name=names[lead.key], odds=format_odds(decision.robustness, formatter))


def describe_option_fully(decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the effect of an answer for screen readers: how many remain, who leads, and the outcome of each."""
    fates = ", ".join(f"{names[each.key]} {find_column_outcome(each).label}" for each in decision.candidates)
    parts = (describe_remaining(decision, names), describe_lead(decision, names, formatter), fates)
    return "; ".join(part for part in parts if part)


def format_short_answer(question: str, answered: QuestionAnswer, formatter: Formatter) -> str:
    """Return the current answer for a list: with its origin, unless the user gave it."""
    if answered.origin is AnswerOrigin.DEFAULT:
        return tr("not answered")
    text = format_answer(question, answered.value, formatter)
    if answered.origin is AnswerOrigin.SCENARIO:
        return tr("{answer}, from the scenario", answer=text)
    return text


def list_offered_values(question: str, in_force: AnswerValue) -> tuple[AnswerValue, ...]:
    """Return the suggestions, with the current number inserted in order if it is not one of them."""
    definition = QUESTIONS[question]
    if in_force in definition.offered or isinstance(in_force, str):
        return definition.offered
    return (*sorted((*definition.presets, in_force)), *definition.options)
