"""Questions of the guided decision, their options, and the effect of each option."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.decision import (
    NO_LIMIT_ANSWER,
    QUESTIONS,
    UNKNOWN_ANSWER,
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionVerdict,
    DialogueScreen,
    QuestionAnswer,
    RuleStrength,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn

_SCREENS: Final[Mapping[DialogueScreen, str]] = MappingProxyType(
    {
        DialogueScreen.SOFTWARE: "Software that stays",
        DialogueScreen.MEMORY: "Memory and formats",
        DialogueScreen.LATENCY: "How fast it answers",
        DialogueScreen.SITE: "Where it runs",
        DialogueScreen.GOAL: "What decides",
        DialogueScreen.TEAM: "The team",
        DialogueScreen.MONEY: "Own or rent",
        DialogueScreen.TIMING: "When it starts",
        DialogueScreen.VENDORS: "Vendors",
    }
)
_GROUPS: Final[Mapping[RuleStrength, str]] = MappingProxyType(
    {RuleStrength.HARD: "Must hold", RuleStrength.STRONG: "Matters most", RuleStrength.MILD: "Fine points"}
)
#: Question -> (title, why it is asked).
_QUESTIONS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "serving_engine": (
            "Which serving engine must it run on?",
            "An engine that stays rules out accelerators that it does not run on.",
        ),
        "tuned_for": (
            "Is code of your own tied to one platform?",
            "Kernels made for one platform, or for one generation, are written again for another.",
        ),
        "porting": (
            "May software move to another platform?",
            "Without a port, only accelerators of the platform at hand are left.",
        ),
        "shape": (
            "Must one accelerator hold the model?",
            "Held by one, nothing is exchanged; many models side by side want many accelerators.",
        ),
        "long_context": (
            "Is long context a core need?",
            "What weights leave of the memory holds the KV cache, and that grows with the context.",
        ),
        "precision": (
            "Which number formats are set?",
            "FP4 runs only where there is arithmetic for it; weights that stay as they are take more memory.",
        ),
        "ttft_limit_ms": (
            "How long may a user wait for the first token?",
            "A limit removes accelerators whose whole band misses it under the scenario's load.",
        ),
        "tpot_limit_ms": (
            "How long may each further token take?",
            "What a user reads at: 50 ms a token are 20 tokens a second.",
        ),
        "service": (
            "Who waits for the answers?",
            "A user at the keyboard, users behind a limit, or nobody: each favors another figure.",
        ),
        "site": (
            "Where will it run?",
            "Modules fit the servers that they were made for, and racks end at their power.",
        ),
        "destination": (
            "Is the destination under export control?",
            "Performance is held to the thresholds of the rule in force; nothing here is legal advice.",
        ),
        "priority": (
            "What do you want the most of?",
            "The answer is the score: every deployment that keeps the limits is ranked by it.",
        ),
        "work": (
            "What kind of work is it?",
            "Figures here are those of serving language models; other work leans on other things.",
        ),
        "standing": (
            "Does somebody want to see that others do it?",
            "A named deployment, or a service at the frontier, asks for a longer record.",
        ),
        "team": ("Who will run it?", "Porting, tuning and faults fall on the team."),
        "tuning": ("How much tuning will you do?", "What must work as it is delivered leans on the wider software."),
        "current_platform": ("What does your software run on today?", "Moving costs engineers; staying costs nothing."),
        "acquisition": ("Own or rent?", "Owners spread tuning over years; renting depends on who offers the part."),
        "monthly_hours": (
            "How many accelerator hours a month do you rent?",
            "Lower rents pay for a port from some number of hours on.",
        ),
        "budget_usd": (
            "What may the accelerators cost to buy?",
            "The whole deployment's accelerators, discounts taken off.",
        ),
        "adoption_months": (
            "How many months of infrastructure work are funded?",
            "Taking up another platform takes 3 to 12 months by what documents say.",
        ),
        "months_to_launch": (
            "In how many months does it start?",
            "Waiting makes sense only for what can be had by then.",
        ),
        "waiting": ("Would you wait for the next part?", "Dates slip; a slip of two quarters is common."),
        "vendor_policy": (
            "One vendor or two?",
            "Unlike accelerators in one pool hold each other up; two pools with routing do not.",
        ),
        "api_checked": (
            "Have you checked a hosted API instead?",
            "It is the earlier question: an API may be cheaper than hosting it yourself.",
        ),
    }
)
#: Question -> option -> (title, use).
_OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = MappingProxyType(
    {
        "serving_engine": {
            "any": ("Any", "Whatever serves this model"),
            "vllm": ("vLLM", "Runs on either platform"),
            "sglang": ("SGLang", "Runs on either platform"),
            "tensorrt-llm": ("TensorRT-LLM", "Already in use; CUDA alone"),
            "tgi": ("TGI", "With the guarantees of its makers"),
            "own": ("Our own", "Serving code of your own"),
        },
        "tuned_for": {
            "nothing": ("No", "Frameworks only"),
            "cuda": ("CUDA kernels", "Written or tuned by yourselves"),
            "cdna4": ("CDNA 4 kernels", "Models tuned for that generation"),
        },
        "porting": {"yes": ("Yes", "Moving is allowed"), "no": ("No", "It stays on its platform")},
        "shape": {
            "free": ("No", "One or several, as it fits"),
            "one": ("Yes", "Weights, KV cache and reserve on one"),
            "several": ("Many models", "Side by side rather than one large one"),
        },
        "long_context": {"no": ("No", "Contexts as in the scenario"), "yes": ("Yes", "100,000 tokens and more matter")},
        "precision": {
            "any": ("As in the scenario", "No format is required"),
            "fp4": ("FP4 in production", "Four-bit arithmetic is required"),
            "automatic": ("Chosen automatically", "FP8 and FP4 without settings by hand"),
            "unquantised": ("Unquantised", "16 bits stay 16 bits"),
        },
        "service": {
            "interactive": ("A user at the keyboard", "Each token is read as it comes"),
            "server": ("Users behind a limit", "Many requests, answers in time"),
            "offline": ("Nobody", "Batch work overnight"),
        },
        "site": {
            "open": ("Anywhere", "Servers are bought or rented with it"),
            "rack": ("Few racks", "Space or power of racks is the limit"),
            "oam": ("OAM servers", "They are there already"),
            "hgx": ("SXM servers", "They are there already"),
            "pcie": ("PCIe slots", "In servers that are there"),
            "amd": ("An AMD site", "Servers and tools of AMD"),
        },
        "destination": {
            "free": ("No", "Nothing is to be checked"),
            "controlled": ("Yes", "Check the rule for each part"),
            UNKNOWN_ANSWER: ("I do not know", "Asks for nothing and says so"),
        },
        "priority": {
            "balanced": ("Balanced", "Cost of a token where prices are known"),
            "cost": ("Cost", "The lowest cost of a token"),
            "speed": ("Throughput", "The most tokens/s per accelerator"),
            "latency": ("Latency", "The quickest answer at this load"),
            "users": ("Users at once", "Long requests side by side"),
            "certainty": ("Certainty", "The shortest time to production"),
        },
        "work": {
            "serving": ("Serving text", "Chat, code, agents, search"),
            "multimodal": ("Multimodal", "Text with images or sound"),
            "media": ("Images or video", "Diffusion models"),
            "embeddings": ("Embeddings", "Vectors for search and ranking"),
            "fine_tuning": ("Fine-tuning", "Outside this program"),
            "training": ("Training", "Outside this program"),
        },
        "standing": {
            NO_LIMIT_ANSWER: ("No", "Your own test is enough"),
            "reference": ("A reference", "Somebody known who does it"),
            "frontier": ("At the frontier", "The largest models, at the largest scale"),
        },
        "team": {
            "rocm": ("Skilled in ROCm", "They work with it today"),
            "can_learn": ("Can learn ROCm", "There is time and will"),
            "cuda": ("CUDA only", "And it stays so"),
            "small": ("Small or new", "Little time for faults"),
            UNKNOWN_ANSWER: ("I do not know", "Asks for nothing and says so"),
        },
        "tuning": {
            "full": ("Every framework", "Nothing may be missing"),
            "untuned": ("None", "It must work as delivered"),
            "tuned": ("As is usual", "Flags and formats are tried"),
            "own_code": ("Code of our own", "Serving code, or work on ROCm"),
            UNKNOWN_ANSWER: ("I do not know", "Asks for nothing and says so"),
        },
        "current_platform": {
            "CUDA": ("CUDA", "NVIDIA parts in production"),
            "ROCm": ("ROCm", "AMD parts in production"),
            "other": ("Another", "TPU, Neuron or Gaudi"),
            NO_LIMIT_ANSWER: ("Nothing yet", "No port is needed"),
            UNKNOWN_ANSWER: ("I do not know", "No cost of porting is counted"),
        },
        "acquisition": {
            "undecided": ("Undecided", "Both are worked out"),
            "own": ("Own", "Bought, run for years"),
            "rent": ("Rent", "By the hour"),
        },
        "monthly_hours": {UNKNOWN_ANSWER: ("I do not know", "Asks for nothing and says so")},
        "budget_usd": {NO_LIMIT_ANSWER: ("No limit", "Price removes nothing")},
        "adoption_months": {UNKNOWN_ANSWER: ("I do not know", "Asks for nothing and says so")},
        "ttft_limit_ms": {NO_LIMIT_ANSWER: ("No limit", "Batch work, or nobody waits")},
        "tpot_limit_ms": {NO_LIMIT_ANSWER: ("No limit", "Nobody reads along")},
        "months_to_launch": {UNKNOWN_ANSWER: ("I do not know", "Asks for nothing and says so")},
        "waiting": {
            "no": ("No", "What can be had today"),
            "unpriced": ("Yes", "A slip is not priced yet"),
            "priced": ("Yes, slip priced", "Two quarters late is paid for"),
        },
        "vendor_policy": {
            "any": ("Any", "Whatever comes out"),
            "one": ("One vendor", "One platform for all"),
            "two_pools": ("Two pools", "Routed by model and context"),
            "shared_pool": ("One mixed pool", "Both behind one queue"),
        },
        "api_checked": {
            "yes": ("Yes", "Hosting pays"),
            "no": ("No", "Not yet"),
            UNKNOWN_ANSWER: ("I do not know", "Asks for nothing and says so"),
        },
    }
)
#: What a number that is offered is good for.
_USES: Final[Mapping[tuple[str, float], str]] = MappingProxyType(
    {
        ("ttft_limit_ms", 1000.0): "Chat that feels immediate",
        ("ttft_limit_ms", 2000.0): "Usual for chat and coding help",
        ("ttft_limit_ms", 5000.0): "Reports, agents with a user waiting",
        ("tpot_limit_ms", 20.0): "Faster than anybody reads",
        ("tpot_limit_ms", 50.0): "Comfortable reading",
        ("tpot_limit_ms", 100.0): "Slow reading",
        ("monthly_hours", 500.0): "Below one accelerator all month",
        ("monthly_hours", 1_000.0): "Where a document draws the line",
        ("monthly_hours", 10_000.0): "About fourteen accelerators all month",
        ("monthly_hours", 1_000_000.0): "A fleet of well over a thousand",
        ("adoption_months", 0.0): "No time for it",
        ("adoption_months", 3.0): "A quarter",
        ("adoption_months", 6.0): "Half a year",
        ("adoption_months", 12.0): "A year",
        ("months_to_launch", 0.0): "The load is live now",
        ("months_to_launch", 3.0): "Within a quarter",
        ("months_to_launch", 9.0): "Where documents are silent",
        ("months_to_launch", 12.0): "A year or more",
        ("budget_usd", 50_000.0): "One or two accelerators",
        ("budget_usd", 250_000.0): "One machine",
        ("budget_usd", 1_000_000.0): "A few machines",
    }
)


class OptionTexts(NamedTuple):
    """What an option says: its title, and what it is good for."""

    title: str
    use: str


def label_screen(screen: DialogueScreen) -> str:
    return tr(_SCREENS[screen])


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
    """Return a number that answers a question, with its unit."""
    unit = QUESTIONS[name].unit
    if unit == "ms" and value >= 1000.0:
        return tr("{number} s", number=formatter.stated(value / 1000.0))
    text = formatter.stated(value)
    if unit == "USD":
        return tr("{number} USD", number=text)
    if unit == "h/month":
        return tr("{number} h a month", number=text)
    if unit == "months":
        return tr("{number} month", number=text) if value == 1.0 else tr("{number} months", number=text)
    return tr("{number} ms", number=text)


def format_answer(name: str, value: AnswerValue, formatter: Formatter) -> str:
    return get_option_texts(name, value, formatter).title


_LED_BY_TWO = 2


class ColumnOutcome(StrEnum):
    """What becomes of an accelerator under an answer."""

    STAYS = "stays"
    UNDECIDED = "undecided"
    REMOVED = "removed"


def find_column_outcome(standing: DecisionCandidate) -> ColumnOutcome:
    """Return what becomes of a column: removed by likely figures, in doubt, or neither."""
    if standing.removed:
        return ColumnOutcome.REMOVED
    return ColumnOutcome.UNDECIDED if standing.open_rules else ColumnOutcome.STAYS


def label_column_outcome(fate: ColumnOutcome) -> str:
    return {
        ColumnOutcome.STAYS: tr("stays"),
        ColumnOutcome.UNDECIDED: tr("undecided"),
        ColumnOutcome.REMOVED: tr("removed"),
    }[fate]


def describe_remaining(decision: Decision, names: Mapping[str, str]) -> str:
    fates = {each.key: find_column_outcome(each) for each in decision.candidates}
    left = [key for key, fate in fates.items() if fate is not ColumnOutcome.REMOVED]
    open_keys = [key for key in left if fates[key] is ColumnOutcome.UNDECIDED]
    if not left:
        return tr("None remains")
    count = tr("All {n} remain", n=len(left)) if len(left) == len(fates) else tr("{n} remain", n=len(left))
    if len(left) == 1:
        count = tr("It remains") if len(fates) == 1 else tr("1 remains")
    if not open_keys:
        return count
    return tr("{leaves}, {undecided}", leaves=count, undecided=_undecided(open_keys, left, names))


def _undecided(open_keys: list[str], left: list[str], names: Mapping[str, str]) -> str:
    if len(open_keys) == 1 and len(left) > 1:
        return tr("{name} undecided", name=names[open_keys[0]])
    if len(open_keys) < len(left):
        return trn("{n} undecided", "{n} undecided", len(open_keys))
    if len(left) == 1:
        return tr("undecided")
    return tr("both undecided") if len(left) == _LED_BY_TWO else tr("all undecided")


def describe_lead(decision: Decision, names: Mapping[str, str]) -> str:
    """Return what is recommended with its odds, of a close call the next one too; empty without any."""
    odds = {each.key: each.odds for each in decision.candidates}
    found = decision.recommended
    if found is None:
        return ""
    first, n = names[found.key], _to_per_cent(odds[found.key])
    if decision.verdict is DecisionVerdict.WINNER or decision.runner_up is None:
        return tr("{name} leads, {n}% odds", name=first, n=n)
    other = decision.runner_up
    return tr("{one} {n}%, {other} {m}%", one=first, n=n, other=names[other], m=_to_per_cent(odds[other]))


def describe_option_effect(question: str, decision: Decision, names: Mapping[str, str]) -> str:
    """Return what an answer does, by the decision under it: what it leaves, or who leads, or both.

    Questions of what must hold say what is left; the others who leads, and what is left where not all is.
    """
    leaves, leads = describe_remaining(decision, names), describe_lead(decision, names)
    if QUESTIONS[question].screen.strength is RuleStrength.HARD or not leads:
        return leaves
    if any(each.removed or each.open_rules for each in decision.candidates):
        return tr("{leaves}; {leads}", leaves=leaves, leads=leads)
    return leads


def describe_option_briefly(question: str, decision: Decision, names: Mapping[str, str]) -> str:
    """Return what an answer does where there is little room: what it leaves, else who leads by how much."""
    lead = decision.recommended
    some_in_doubt = any(each.removed or each.open_rules for each in decision.candidates)
    if lead is None or some_in_doubt or QUESTIONS[question].screen.strength is RuleStrength.HARD:
        return describe_remaining(decision, names)
    return tr("{name} {n}%", name=names[lead.key], n=_to_per_cent(decision.robustness))


def describe_option_fully(decision: Decision, names: Mapping[str, str]) -> str:
    """Return what an answer does as one reads it out: what it leaves, who leads, and what becomes of each."""
    fates = ", ".join(
        f"{names[each.key]} {label_column_outcome(find_column_outcome(each))}" for each in decision.candidates
    )
    said = (describe_remaining(decision, names), describe_lead(decision, names), fates)
    return "; ".join(part for part in said if part)


def describe_answer_origin(answered: QuestionAnswer) -> str:
    return {
        AnswerOrigin.YOURS: tr("yours"),
        AnswerOrigin.SCENARIO: tr("from the scenario"),
        AnswerOrigin.DEFAULT: tr("default"),
    }[answered.origin]


def format_short_answer(question: str, answered: QuestionAnswer, formatter: Formatter) -> str:
    """Return the answer in force for a list: whose it is too, unless the user gave it."""
    if answered.origin is AnswerOrigin.DEFAULT:
        return tr("not answered")
    text = format_answer(question, answered.value, formatter)
    if answered.origin is AnswerOrigin.SCENARIO:
        return tr("{answer}, from the scenario", answer=text)
    return text


def list_offered_values(question: str, in_force: AnswerValue) -> tuple[AnswerValue, ...]:
    """Return what is offered, a number in force that is none of it at its place among the numbers."""
    asked = QUESTIONS[question]
    if in_force in asked.offered or isinstance(in_force, str):
        return asked.offered
    return (*sorted((*asked.presets, in_force)), *asked.options)


def _to_per_cent(share: float) -> int:
    return round(share * 100.0)
