"""Messages: what computing packages return to be said to the user, in the language and number style of the reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn

#: What a parameter of a message can be; quantities travel with their unit as (value, unit).
MessageParameter = str | int | float | tuple[float, str] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A statement to the user: an English sentence that is translated, and the parameters that fill its placeholders.

    `id` names what is stated, whatever the wording, so that code can tell messages apart. Where the sentence
    counts something, `counted` names the parameter with the number, and `singular` is the sentence for one.
    """

    id: str
    sentence: str
    parameters: Mapping[str, MessageParameter] = field(default_factory=lambda: MappingProxyType({}))
    singular: str | None = None
    counted: str | None = None


def message(message_id: str, sentence: str, /, **parameters: MessageParameter) -> Message:
    """Make a `Message`; keyword arguments are its parameters."""
    return Message(message_id, sentence, MappingProxyType(parameters))


def message_n(message_id: str, singular: str, plural: str, counted: str, /, **parameters: MessageParameter) -> Message:
    """Make a `Message` that counts: `counted` names the parameter that decides between singular and plural."""
    return Message(message_id, plural, MappingProxyType(parameters), singular, counted)


class InputError(Exception):
    """Input that cannot be used: what is wrong, where it was given, and what to do.

    `where` names the place as the user wrote it (a field, an option, a file with its line).
    """

    def __init__(self, problem: Message, where: str | None = None) -> None:
        super().__init__(problem.id)
        self.problem = problem
        self.where = where


def input_error(
    message_id: str, sentence: str, where: str | None = None, /, **parameters: MessageParameter
) -> InputError:
    """Make an `InputError` whose problem is told nowhere else."""
    return InputError(message(message_id, sentence, **parameters), where)


_ENGLISH: Final = Formatter()

#: Words that messages name by key, so that they are translated.
MESSAGE_WORDS: Final = MappingProxyType(
    {
        "boolean": "true or false",
        "whole": "a whole number",
        "number": "a number",
        "text": "text",
        "text_or_whole": "text or a whole number",
        "boolean_or_object": "true, false or an object",
        "list": "a list",
        "object": "an object",
        "nothing": "nothing",
        "accelerator": "accelerator",
        "model": "model",
        "diffusion_model": "diffusion model",
        "serving_engine": "serving engine",
        "thing": "entry of the catalog",
        "source": "source",
        "total": "all memory",
        "free": "the memory that is left free",
        "static": "the memory that is free before the weights are loaded",
        "Prefill": "Prefill",
        "Decode": "Decode",
        "prefill": "prefill",
        "decode": "decode",
        "scale-up": "the scale-up link",
        "pcie": "PCIe",
        "node": "the network",
        "attention_dp": "attention DP",
        "part.reads": "reading memory",
        "part.arithmetic": "arithmetic",
        "part.collectives": "communication",
        "part.overhead": "overhead",
        "export.tpp": "Total processing performance",
        "export.density": "Performance density",
        "export.memory_bandwidth": "Memory bandwidth",
        "support.none": "not supported",
        "support.community": "by the community",
        "support.lags": "behind",
        "support.works": "works",
        "support.validated": "validated",
        "support.first-class": "first-class",
        "support.full": "full",
        "lacks.price": "purchase price",
        "lacks.power": "power",
        "lacks.rent": "rent",
        "hidden_size": "How wide a token is between the layers",
        "num_hidden_layers": "How many layers there are",
        "vocab_size": "How many tokens the vocabulary has",
        "num_attention_heads": "How many query heads a layer has",
        "num_key_value_heads": "How many key and value heads a layer has",
        "head_dim": "How wide a head is",
        "intermediate_size": "How wide the feed-forward block is",
        "moe_intermediate_size": "How wide an expert is",
        "num_experts": "How many experts a layer has",
        "num_experts_per_tok": "How many experts a token takes",
        "tie_word_embeddings": "Whether the LM head is the embedding table",
        "attention_bias": "Whether the projections of attention have biases",
        "qk_norm": "Whether queries and keys are normalised: in no way, a head at a time, or all heads together",
        "gated_mlp": "Whether the feed-forward block has a gate, that is three matrices instead of two",
        "other_size": "A size that this architecture has",
    }
)

_WORD_PARAMETERS: Final = frozenset({"found", "wanted", "of", "kind", "part", "pool", "binding", "other", "link"})
#: Parameters that are shares of 1, shown in per cent.
_SHARE_PARAMETERS: Final = frozenset({"share", "fraction", "usual", "ahead", "behind", "now", "before"})
#: Parameters that are the degrees of a parallel plan.
_PLAN_PARAMETERS: Final = frozenset({"plan"})


def format_message(message: Message, formatter: Formatter = _ENGLISH) -> str:
    """Return the sentence of a message in the language in force."""
    shown = {name: _format_parameter(name, value, formatter) for name, value in message.parameters.items()}
    if message.singular is None or message.counted is None:
        return tr(message.sentence, **shown)
    number = message.parameters[message.counted]
    if not isinstance(number, int):
        raise TypeError(f"{message.id} counts {number!r}, which is no whole number")
    return trn(message.singular, message.sentence, number, **shown)


def translate_word(key: str) -> str:
    """Return a word of `WORDS` in the language in force."""
    return tr(MESSAGE_WORDS[key])


def join_messages(reasons: Iterable[Message], formatter: Formatter = _ENGLISH) -> str:
    return "; ".join(format_message(reason, formatter) for reason in reasons)


def join_degrees(degrees: tuple[str, ...]) -> str:
    return " + ".join(translate_word(each) if each in MESSAGE_WORDS else each for each in degrees)


def format_input_error(error: InputError, formatter: Formatter = _ENGLISH) -> str:
    """Return where and what is wrong with an input, and what to do, in one line."""
    said = format_message(error.problem, formatter)
    return f"{error.where}: {said}" if error.where else said


def _format_parameter(name: str, value: MessageParameter, formatter: Formatter) -> str:
    if isinstance(value, str):
        return translate_word(value) if name in _WORD_PARAMETERS else value
    if isinstance(value, int):
        return formatter.number(value)
    if isinstance(value, float):
        return formatter.per_cent(value) if name in _SHARE_PARAMETERS else formatter.estimate(value)
    if len(value) == 2 and not isinstance(value[0], str):
        return formatter.quantity(value[0], str(value[1]))
    if name in _PLAN_PARAMETERS:
        return join_degrees(tuple(str(each) for each in value))
    return ", ".join(str(item) for item in value)
