"""A model from the header of a GGUF file: its layers by the tensors, its parameters counted exactly.

The reader is our own. That of the package `gguf` makes several objects of every word of the vocabulary, 10 s
and 660 MB for that of Llama 3, which this passes over in half a second; and it refuses a header whose tensors
are not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpudesk.catalog.importing.file_sources import file_source, plain_text
from gpudesk.catalog.importing.gguf_files import read_files, stem
from gpudesk.catalog.importing.gguf_keys import ARCHITECTURES, LIKE, Keys
from gpudesk.catalog.importing.gguf_model import GgufModel
from gpudesk.catalog.importing.model_facts import model_facts
from gpudesk.domain.claims import Kind
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import MissingField, Proposal


def propose_gguf(path: Path, *, today: str, name: str | None = None) -> Proposal:
    """Return the model that a GGUF file holds; of a file in parts any part can be given.

    Raises `InputError` for what is no such file or no model that can be described.
    """
    return complete_gguf(path, {}, today=today, name=name)


def complete_gguf(
    path: Path, answers: Mapping[str, object], *, today: str, name: str | None = None
) -> Proposal:
    """Return the model of a file with what the user says for fields that were missing, by their names."""
    file = read_files(path)
    keys = Keys(file.header.keys, answers)
    _check_kind(keys, path)
    title = plain_text(name or keys.text("general.name") or stem(path)) or "GGUF"
    if keys.architecture not in ARCHITECTURES:
        return Proposal("model", title, (), missing=(_unknown(keys),))
    try:
        model = GgufModel(file, keys)
    except InputError:
        if keys.missing:
            return Proposal("model", title, (), missing=tuple(map(_asked, keys.missing)))
        raise
    if keys.missing:
        return Proposal("model", title, (), missing=tuple(map(_asked, keys.missing)))
    source = file_source(path.name, keys.text("general.quantized_by") or model.organisation, Kind.CONFIG_COPY)
    facts = model_facts(model.definition(title), source, today=today, stated=model.stated())
    return Proposal("model", title, facts, tuple(model.notes()), tuple(model.left_out()))


def _check_kind(keys: Keys, path: Path) -> None:
    """Refuse what is no language model: adapters, projectors, importance matrices."""
    kind = keys.text("general.type") or "model"
    if kind != "model" or keys.stated == "clip":
        raise InputError(message("import.gguf.no_model", what=kind), str(path))
    if keys.stated is None:
        raise InputError(message("import.gguf.no_architecture"), str(path))


def _unknown(keys: Keys) -> MissingField:
    return MissingField(
        LIKE,
        "word",
        message("import.gguf.unknown_architecture", architecture=keys.stated or ""),
        tuple(sorted(ARCHITECTURES)),
    )


def _asked(key: str) -> MissingField:
    return MissingField(key, "whole", message("import.gguf.missing_key", key=key))
