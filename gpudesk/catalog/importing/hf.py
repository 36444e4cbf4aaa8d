"""A model from its Hugging Face configuration and what lies beside it: its dimensions, or what is missing.

Nothing is written and nothing outside is asked. Sizes are bounded before they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gpudesk.catalog.definitions import model_of
from gpudesk.catalog.importing.file_sources import file_source, plain_text, slug
from gpudesk.catalog.importing.hf_checkpoint import (
    INDEX,
    Checkpoint,
    compared,
    hints,
    read_checkpoint,
    text_parameters,
)
from gpudesk.catalog.importing.hf_families import class_defaults, family, read_structure, text_model
from gpudesk.catalog.importing.hf_fields import Fields, wrong_type
from gpudesk.catalog.importing.hf_precision import Stored, stored
from gpudesk.catalog.importing.hf_structure import Structure, layer_parts
from gpudesk.catalog.importing.json_bytes import json_object
from gpudesk.catalog.importing.model_facts import checked_model, model_facts
from gpudesk.domain.claims import ClaimValue, Kind
from gpudesk.domain.messages import Message, message
from gpudesk.domain.models import Model
from gpudesk.domain.own_facts import NOBODY, Proposal
from gpudesk.domain.precision import Precision

#: Counts the parameters of a model: the engine's count, which this package does not know.
ParameterCount = Callable[[Model], int]

CONFIG: Final = "config.json"
QUANTISATION: Final = "hf_quant_config.json"
GENERATION: Final = "generation_config.json"
#: Files beside a configuration that are read where they are there; of `*.safetensors` the headers are.
BESIDE: Final = (QUANTISATION, GENERATION, INDEX)

_CONTEXT: Final = (
    "max_position_embeddings",
    "model_max_length",
    "max_sequence_length",
    "seq_length",
    "n_positions",
    "max_seq_len",
)
_DRAFT_LAYERS: Final = (
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
    "num_mtp_modules",
    "num_mtp_layers",
    "mtp_num_layers",
)
_OTHER_SENSES: Final = ("vision_config", "audio_config", "visual", "vision_tower", "speech_config")
_LONGEST_ID: Final = 60
_WIDE: Final = frozenset({Precision.BF16, Precision.FP16})


def propose_model(
    config: bytes,
    beside: Mapping[str, bytes],
    *,
    name: str,
    today: str,
    parameters_of: ParameterCount | None = None,
) -> Proposal:
    """Return the model of a config.json, or which fields are missing.

    `beside` holds other files of the folder by name (`BESIDE`, and `*.safetensors` from their beginning to
    the end of the header at least). `name` is that of the folder, or `organisation/model`. With
    `parameters_of` the parameters are counted and held against those of the checkpoint. Raises `InputError`
    with the path of the field that cannot be.
    """
    return complete_model(config, beside, {}, name=name, today=today, parameters_of=parameters_of)


def complete_model(
    config: bytes,
    beside: Mapping[str, bytes],
    answers: Mapping[str, object],
    *,
    name: str,
    today: str,
    parameters_of: ParameterCount | None = None,
    checkpoint: Checkpoint | None = None,
) -> Proposal:
    """Return the model of a config.json with the user's answers in the place of what it does not tell.

    `answers` are by the names of the proposal's missing fields: numbers, words, yes or no. `checkpoint` is
    what `read_checkpoint` made of the files beside it, for who asks more than once.
    """
    whole = json_object(config, CONFIG)
    if checkpoint is None:
        checkpoint = read_checkpoint(beside)
    prefix, text = text_model(whole)
    architecture = family(whole, text)
    if architecture is None:
        _lay(whole, prefix, hints(checkpoint), over=False)
    for path, answer in answers.items():
        _answer(whole, path, answer)
    _, text = text_model(whole)
    text = text.with_defaults(class_defaults(architecture, inside=bool(prefix)))
    return _Reading(whole, text, architecture, checkpoint).proposal(
        beside, name=name, today=today, answered=tuple(answers), parameters_of=parameters_of
    )


def _lay(whole: dict[str, Any], prefix: str, values: Mapping[str, object], *, over: bool) -> None:
    """Put values into the table at a path, over what is there or only where nothing is."""
    table: Any = whole
    for step in filter(None, prefix.split(".")):
        table = table[step]
    for name, value in values.items():
        if over or table.get(name) is None:
            table[name] = value


def _answer(whole: dict[str, Any], path: str, answer: object) -> None:
    """Put an answer where the field would be."""
    if isinstance(answer, list | dict | tuple) or answer is None:
        raise wrong_type(path, answer, "text_or_whole")
    *steps, last = path.split(".")
    table: Any = whole
    for step in steps:
        table = table.setdefault(step, {})
        if not isinstance(table, dict):
            raise wrong_type(path, answer, "nothing")
    table[last] = answer


class _Reading:
    """One configuration as it is read: its text model, its structure, its precision."""

    def __init__(
        self, whole: Mapping[str, Any], text: Fields, architecture: str | None, checkpoint: Checkpoint
    ) -> None:
        """Read the structure; what is missing gathers in the fields."""
        self.whole = Fields(whole, parent=text)
        self.text = text
        self.architecture = architecture
        self.checkpoint = checkpoint
        self.structure: Structure = read_structure(architecture, text)

    def proposal(
        self,
        beside: Mapping[str, bytes],
        *,
        name: str,
        today: str,
        answered: tuple[str, ...],
        parameters_of: ParameterCount | None,
    ) -> Proposal:
        """Return what the file would bring."""
        organisation, title = self._named(name)
        definition = self._definition(organisation, title)
        precision = self._stored(beside)
        notes = [*self._read_as(answered), *self.structure.notes, *precision.notes]
        left_out = (*self.structure.left_out, *self._not_read())
        if self.text.missing:
            missing = tuple(self.text.missing.values())
            return Proposal("model", title, (), tuple(notes), left_out, missing)
        definition |= precision.fields() | layer_parts(self.structure)
        model = model_of(checked_model(definition).definition())
        stated: dict[str, ClaimValue] = {}
        layers = len(self.structure.layers)
        found = text_parameters(self.checkpoint, layers, precision.native_precision)
        counted = None if parameters_of is None else parameters_of(model)
        if counted is not None:
            narrow = precision.native_precision not in _WIDE
            told = compared(self.checkpoint, counted, layers, precision.native_precision, narrow=narrow)
            notes += [told] if told is not None else []
        if (total := found or counted) is not None:
            stated["total_parameters"] = total
        published = self.whole.word("_commit_date") or None
        source = file_source(f"{title}, {CONFIG}", organisation, Kind.CONFIG_COPY, date=published)
        facts = model_facts(definition, source, today=today, stated=stated)
        return Proposal("model", title, facts, tuple(notes), left_out)

    def _named(self, name: str) -> tuple[str, str]:
        """Return who made the model, and its name, from the name of the folder or inside the file."""
        given = plain_text(name) or plain_text(self.whole.word("_name_or_path")) or "model"
        # The cache of the hub names folders `models--organisation--model`.
        path = given.removeprefix("models--").replace("--", "/").replace("\\", "/").strip("/ ")
        *before, title = path.split("/") if path else [given]
        organisation = before[-1].strip() if len(before) == 1 else ""
        return organisation or NOBODY, title.strip() or given

    def _definition(self, organisation: str, title: str) -> dict[str, Any]:
        """Return what is of the model as a whole."""
        text, structure = self.text, self.structure
        definition: dict[str, Any] = {
            "id": slug(title, _LONGEST_ID),
            "name": title,
            "organisation": organisation,
            "hidden_size": text.whole("hidden_size", "n_embed", "n_embd", "d_model", "dim"),
            "vocab_size": text.whole("vocab_size", "padded_vocab_size"),
            "tied_embeddings": self._tied(),
            "notes": [],
        }
        contexts = [fields.maybe(name) for fields in (text, self.whole) for name in _CONTEXT]
        if known := [context for context in contexts if context is not None]:
            definition["max_context"] = max(known)
        if structure.final_norms != 1:
            definition["final_norms"] = structure.final_norms
        return definition | dict(structure.sides)

    def _tied(self) -> bool:
        """Whether the LM head is the embedding: by the names of the tensors, the file, or its class."""
        by_names = self.checkpoint.ties()
        if by_names is not None:
            return by_names
        for fields in (self.text, self.whole):
            if fields.has("tie_word_embeddings"):
                return fields.yes("tie_word_embeddings", default=False)
        if self.architecture is None:
            self.text.ask("tie_word_embeddings", "yes_no")
        return self.structure.tied

    def _stored(self, beside: Mapping[str, bytes]) -> Stored:
        table: Mapping[str, Any] | None = None
        if QUANTISATION in beside:
            told = json_object(beside[QUANTISATION], QUANTISATION)
            inner = told.get("quantization", told)
            if not isinstance(inner, Mapping):
                raise wrong_type(f"{QUANTISATION}: quantization", inner, "object")
            table = inner
        return stored(self.whole, self.text, table, self.structure)

    def _read_as(self, answered: tuple[str, ...]) -> list[Message]:
        """Say how the file was read."""
        name = self.whole.raw("model_type")
        shown = plain_text(name, 60) if isinstance(name, str) else "?"
        notes = []
        if self.architecture is None:
            notes.append(message("import.hf.unknown", name=shown or "?"))
        if answered:
            notes.append(
                message("import.hf.answered", names=tuple(plain_text(path, 80) for path in answered[:20]))
            )
        if self.text.assumed:
            told = tuple(f"{path} {value}" for path, value in self.text.assumed.items())
            notes.append(message("import.hf.class_defaults", names=told))
        return notes

    def _not_read(self) -> list[Message]:
        """Say what else the file has that is no part of the text model."""
        found = []
        if any(self.whole.has(name) for name in _OTHER_SENSES):
            found.append(message("import.hf.other_senses"))
        for fields in (self.text, self.whole):
            drafts = fields.maybe(*_DRAFT_LAYERS, low=0)
            if drafts:
                found.append(message("import.hf.draft_layers", count=drafts))
                break
        return found
