"""A model from a Hugging Face configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any, Final

from gpudesk.catalog.importing.fields import ConfigFields, clean_text, make_file_slug, make_file_source
from gpudesk.catalog.importing.huggingface.checkpoint import (
    SAME_COUNT,
    Checkpoint,
    compare_parameters,
    find_hints,
    find_stated_parameters,
    read_checkpoint,
)
from gpudesk.catalog.importing.huggingface.decoder import HIDDEN, LATE, DecoderFamily
from gpudesk.catalog.importing.huggingface.families import VARIANTS, read_architectures
from gpudesk.catalog.importing.huggingface.hybrid import HYBRID
from gpudesk.catalog.importing.huggingface.irregular import IRREGULAR
from gpudesk.catalog.importing.huggingface.latent import LATENT
from gpudesk.catalog.importing.huggingface.precision import StoredPrecision, read_stored_precision
from gpudesk.catalog.importing.huggingface.structure import ModelStructure, StructureReader, make_layer_tables
from gpudesk.catalog.importing.model_facts import check_model_definition, make_model_facts
from gpudesk.catalog.model_definition import parse_model
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.field_checks import make_type_error, parse_bounded_json
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.user_facts import UNKNOWN_MAKER, ImportProposal
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import Message, input_error, message, message_n

#: By `model_type`: architectures outside all families.
_READERS: Final[Mapping[str, StructureReader]] = {**VARIANTS, **IRREGULAR, **LATENT, **HYBRID}
#: Location of the text model in files of several modalities.
_TEXT_TABLES: Final = ("text_config", "llm_config", "language_config", "thinker_config")


def find_text_model(whole: Mapping[str, Any]) -> tuple[str, ConfigFields]:
    """Return the path of the text model's table and the table: the file itself if it is text only."""
    fields = ConfigFields(whole)
    for name in _TEXT_TABLES:
        inner = fields.table(name)
        if inner is not None:
            deeper = inner.table("text_config")
            return (f"{name}.text_config", deeper) if deeper is not None else (name, inner)
    return "", fields


def find_family(whole: Mapping[str, Any], text: ConfigFields) -> str | None:
    """Return the name of the architecture, or None if unknown."""
    outer = ConfigFields(whole)
    for fields in (text, outer):
        class_names = fields.raw("architectures")
        first = class_names[0] if isinstance(class_names, list) and class_names else None
        by_class = read_architectures().classes.get(first) if isinstance(first, str) else None
        for family in (_find_by_type(fields), by_class):
            if family is not None:
                return family
    return None


def _read_structure(architecture: str, text: ConfigFields) -> ModelStructure:
    family = read_architectures().families.get(architecture)
    return _READERS[architecture](text) if family is None else family.read(text)


#: Types of encoders, and of decoders that read from an encoder.
_ENCODERS: Final = frozenset(
    {
        *("bert", "roberta", "xlm-roberta", "distilbert", "albert", "electra", "deberta-v2", "modernbert", "mpnet"),
        *("t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "whisper", "m2m_100"),
    }
)


def _refuse_other_kinds(whole: Mapping[str, Any], text: ConfigFields) -> None:
    """Raise `InputError` for the configuration of anything but a decoder: its missing fields have no answer."""
    fields = ConfigFields(whole)
    if fields.has("peft_type"):
        raise input_error("import.hf.adapter", "describes an adapter (LoRA); import the config.json of its base model")
    if fields.has("_class_name", "_diffusers_version"):
        raise input_error(
            "import.hf.diffusion", "describes a part of a diffusion model; choose a language model instead"
        )
    if not fields.has("model_type", "architectures") and not text.has(*HIDDEN):
        raise input_error(
            "import.hf.no_model", "does not describe a model: model_type and hidden_size are missing; check the folder"
        )
    kind = str(fields.raw("model_type")).lower()
    if fields.raw("is_encoder_decoder") is True or kind in _ENCODERS:
        raise input_error(
            "import.hf.encoder",
            "describes a model with an encoder ({name}); GPU Desk estimates decoders such as Llama only",
            name=clean_text(kind, 60),
        )


def _find_by_type(fields: ConfigFields) -> str | None:
    model_type = fields.raw("model_type")
    if not isinstance(model_type, str):
        return None
    name = model_type.lower()
    name = read_architectures().aliases.get(name, name)
    return name if name in _READERS or name in read_architectures().families else None


#: Words in field names that change memory or time in ways unlike a plain decoder.
_HINTS: Final = (
    *(
        "layer_types",
        "block_type",
        "pattern",
        "_per_layer",
        "sliding",
        "window",
        "swa_",
        "global_",
        "attn_type",
        "index",
    ),
    *("mamba", "ssm", "state_size", "linear_", "conv", "rwkv", "recurrent", "delta", "compress", "lora_rank"),
    *("expert", "shared", "sparse", "altup", "laurel", "hc_mult", "_streams", "loop"),
)


def read_generic(f: ConfigFields) -> ModelStructure:
    """Read an unknown architecture as a plain decoder, asking for every doubtful field."""
    qk_norm = f.word("qk_norm")
    if qk_norm not in {"none", "head", "full"}:
        f.ask("qk_norm", "word", ("none", "head", "full"))
    bias = _ask_flag(f, "attention_bias", "use_bias", "qkv_bias", "bias")
    late = f.has("use_sliding_window", "max_window_layers")
    mixers = {
        "linear_num_value_heads": "delta_net",
        "mamba_n_heads": "mamba2",
        "mamba_num_heads": "mamba2",
        "conv_L_cache": "short_convolution",
    }
    family = DecoderFamily(
        qkv_bias=bias,
        output_bias=bias,
        qk_norm=qk_norm or "none",
        gated=_ask_flag(f, "gated_mlp"),
        pattern=LATE if late else 0,
        experts=True,
        linear=next((mixer for name, mixer in mixers.items() if f.has(name)), None),
        linear_pattern=f.read_whole_or(0, "full_attention_interval", low=0),
        asks=True,
    )
    return family.read(f)


def _ask_flag(f: ConfigFields, *names: str) -> bool:
    """Return a yes or no, asking for it if the file does not state it."""
    if not f.has(*names):
        f.ask(names[0], "yes_no")
    return f.yes(*names, default=False)


#: Counts the parameters of a model: the engine's function, which this package must not import.
ParameterCount = Callable[[Model], int]

CONFIG: Final = "config.json"
QUANTIZATION_FILE: Final = "hf_quant_config.json"

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
    siblings: Mapping[str, bytes],
    answers: Mapping[str, object] = MappingProxyType({}),
    *,
    name: str,
    today: str,
    parameters_of: ParameterCount | None = None,
    checkpoint: Checkpoint | None = None,
) -> ImportProposal:
    """Return the model of a config.json, or the missing fields.

    `siblings` holds other files of the folder by name (the index, the files of ModelOpt and generation, and
    `*.safetensors` at least to the end of the header). `answers` replace missing content, by the names of the
    proposal's missing fields: numbers, words, yes or no. `name` is that of the folder, or `organisation/model`. With
    `parameters_of` the parameters are counted and compared with those of the checkpoint. `checkpoint` is the result of
    `read_checkpoint` for repeated calls. Raises `InputError` with the path of the invalid field.
    """
    tensors = read_checkpoint(siblings) if checkpoint is None else checkpoint

    def propose(values: Mapping[str, object]) -> ImportProposal:
        whole = parse_bounded_json(config, CONFIG)
        prefix, text = find_text_model(whole)
        architecture = find_family(whole, text)
        if architecture is None:
            _refuse_other_kinds(whole, text)
            _fill_in(whole, prefix, find_hints(tensors))
        for path, answer in values.items():
            if isinstance(answer, list | dict | tuple) or answer is None:
                raise make_type_error(path, answer, "text_or_whole")
            *steps, last = path.split(".")
            table: Any = whole
            for step in steps:
                table = table.setdefault(step, {})
                if not isinstance(table, dict):
                    raise make_type_error(path, answer, "nothing")
            table[last] = answer
        _, text = find_text_model(whole)
        architectures = read_architectures()
        defaults: Mapping[str, Mapping[str, int]] = architectures.defaults if prefix else architectures.older_defaults
        text = text.with_defaults(defaults.get(architecture or "", MappingProxyType({})))
        reading = _ConfigReading(whole, text, architecture, tensors)
        return reading.make_proposal(
            siblings, name=name, today=today, answered=tuple(answers), parameters_of=parameters_of
        )

    proposal = propose(answers)
    return _complete_by_count(proposal, lambda values: propose({**answers, **values})) or proposal


#: How many readings of one file are compared with the parameter count of its checkpoint.
_MOST_READINGS: Final = 64


def _complete_by_count(
    proposal: ImportProposal, propose: Callable[[Mapping[str, object]], ImportProposal]
) -> ImportProposal | None:
    """Return the only reading with the checkpoint's number of parameters; None if none or several match.

    Only fields with few possible values are tried.
    """
    choices = [field.choices or ((False, True) if field.kind == "yes_no" else ()) for field in proposal.missing]
    if not choices or not 0 < math.prod(map(len, choices)) <= _MOST_READINGS:
        return None
    fitting = []
    for values in product(*choices):
        answers = {field.name: value for field, value in zip(proposal.missing, values, strict=True)}
        completed = propose(answers)
        if any(note.id == SAME_COUNT for note in completed.notes):
            fitting.append((completed, answers))
    if len(fitting) != 1:
        return None
    ((completed, answers),) = fitting
    count_note = message(
        "import.hf.by_count",
        "Not in the file; only these values give the checkpoint's parameter count: {names}",
        names=tuple(f"{name} {value}" for name, value in answers.items()),
    )
    return replace(completed, notes=(*completed.notes, count_note))


def _fill_in(whole: dict[str, Any], prefix: str, values: Mapping[str, object]) -> None:
    """Set values at missing paths of a table."""
    table: Any = whole
    for step in filter(None, prefix.split(".")):
        table = table[step]
    for name, value in values.items():
        if table.get(name) is None:
            table[name] = value


class _ConfigReading:
    """One configuration while it is read: its text model, its structure, its precision."""

    def __init__(
        self, whole: Mapping[str, Any], text: ConfigFields, architecture: str | None, checkpoint: Checkpoint
    ) -> None:
        self.whole = ConfigFields(whole, parent=text)
        self.text = text
        self.architecture = architecture
        self.checkpoint = checkpoint
        self.structure: ModelStructure = (
            read_generic(text) if architecture is None else _read_structure(architecture, text)
        )

    def make_proposal(
        self,
        siblings: Mapping[str, bytes],
        *,
        name: str,
        today: str,
        answered: tuple[str, ...],
        parameters_of: ParameterCount | None,
    ) -> ImportProposal:
        organisation, title = self._find_names(name)
        definition = self._make_definition(organisation, title)
        precision = self._read_precision(siblings)
        notes = [*self._describe_reading(answered), *self.structure.notes, *precision.notes]
        left_out = (*self.structure.left_out, *self._list_unread())
        if self.text.missing:
            missing = tuple(self.text.missing.values())
            return ImportProposal("model", title, (), tuple(notes), left_out, missing)
        definition |= precision.fields() | make_layer_tables(self.structure)
        model = parse_model(check_model_definition(definition).definition())
        claim_values: dict[str, ClaimValue] = {}
        layers = len(self.structure.layers)
        narrow = precision.native_precision not in _WIDE
        parameters = find_stated_parameters(self.checkpoint, layers, precision.native_precision, narrow=narrow)
        computed_count = None if parameters_of is None else parameters_of(model)
        if computed_count is not None:
            difference = compare_parameters(
                self.checkpoint, computed_count, layers, precision.native_precision, narrow=narrow
            )
            notes += [difference] if difference is not None else []
        if (total := parameters or computed_count) is not None:
            claim_values["total_parameters"] = total
        published = self.whole.word("_commit_date") or None
        source = make_file_source(f"{title}, {CONFIG}", organisation, SourceKind.CONFIG_COPY, date=published)
        # An unstated parameter count follows from the answers too.
        follows = ("total_parameters",) if answered and parameters is None else ()
        facts = make_model_facts(
            definition, source, today=today, claim_values=claim_values, answered=(*answered, *follows)
        )
        return ImportProposal("model", title, facts, tuple(notes), left_out)

    def _find_names(self, name: str) -> tuple[str, str]:
        name_text = clean_text(name) or clean_text(self.whole.word("_name_or_path")) or "model"
        # The cache of the hub names folders `models--organisation--model`.
        path = name_text.removeprefix("models--").replace("--", "/").replace("\\", "/").strip("/ ")
        *before, title = path.split("/") if path else [name_text]
        organisation = before[-1].strip() if len(before) == 1 else ""
        return organisation or UNKNOWN_MAKER, title.strip() or name_text

    def _make_definition(self, organisation: str, title: str) -> dict[str, Any]:
        text, structure = self.text, self.structure
        definition: dict[str, Any] = {
            "id": make_file_slug(title, _LONGEST_ID),
            "name": title,
            "organisation": organisation,
            "hidden_size": text.whole(*HIDDEN),
            "vocab_size": text.whole("vocab_size", "padded_vocab_size"),
            "tied_embeddings": self._is_tied(),
            "notes": [],
        }
        contexts = [fields.find_whole(name) for fields in (text, self.whole) for name in _CONTEXT]
        if known_contexts := [context for context in contexts if context is not None]:
            definition["max_context"] = max(known_contexts)
        if self.architecture is None:
            definition["generic_architecture"] = self._get_type_name()
            if unread := text.list_unread(_HINTS):
                definition["unread_fields"] = unread
        if structure.final_norms != 1:
            definition["final_norms"] = structure.final_norms
        return definition | dict(structure.sides)

    def _is_tied(self) -> bool:
        """Whether the LM head is the embedding: by the names of the tensors, the file, or its class."""
        by_names = self.checkpoint.is_tied()
        if by_names is not None:
            return by_names
        for fields in (self.text, self.whole):
            if fields.has("tie_word_embeddings"):
                return fields.yes("tie_word_embeddings", default=False)
        if self.architecture is None:
            self.text.ask("tie_word_embeddings", "yes_no")
        return self.structure.tied

    def _read_precision(self, siblings: Mapping[str, bytes]) -> StoredPrecision:
        table: Mapping[str, Any] | None = None
        if QUANTIZATION_FILE in siblings:
            quantization = parse_bounded_json(siblings[QUANTIZATION_FILE], QUANTIZATION_FILE)
            inner = quantization.get("quantization", quantization)
            if not isinstance(inner, Mapping):
                raise make_type_error(f"{QUANTIZATION_FILE}: quantization", inner, "object")
            table = inner
        return read_stored_precision(self.whole, self.text, table, self.structure)

    def _describe_reading(self, answered: tuple[str, ...]) -> list[Message]:
        notes = []
        if self.architecture is None:
            notes.append(
                message(
                    "import.hf.unknown",
                    "Unknown architecture {name}, read like Llama: check every dimension",
                    name=self._get_type_name(),
                )
            )
            if unread := self.text.list_unread(_HINTS):
                notes.append(message("import.hf.unread", "Unknown fields, ignored: {names}", names=unread))
        if answered:
            notes.append(
                message(
                    "import.hf.answered",
                    "Entered by you: {names}",
                    names=tuple(clean_text(path, 80) for path in answered[:20]),
                )
            )
        if self.text.assumed:
            assumed = tuple(f"{path} {value}" for path, value in self.text.assumed.items())
            notes.append(
                message("import.hf.class_defaults", "Not in the file, class defaults used: {names}", names=assumed)
            )
        return notes

    def _get_type_name(self) -> str:
        name = self.whole.raw("model_type")
        return (clean_text(name, 60) if isinstance(name, str) else "") or "?"

    def _list_unread(self) -> list[Message]:
        """Return notes on content of the file outside the text model."""
        unread = []
        if any(self.whole.has(name) for name in _OTHER_SENSES):
            unread.append(
                message("import.hf.other_senses", "Image or audio encoders are excluded: this is the text model")
            )
        for fields in (self.text, self.whole):
            drafts = fields.find_whole(*_DRAFT_LAYERS, low=0)
            if drafts:
                unread.append(
                    message_n(
                        "import.hf.draft_layers",
                        "One layer for draft tokens",
                        "{count} layers for draft tokens",
                        "count",
                        count=drafts,
                    )
                )
                break
        return unread
