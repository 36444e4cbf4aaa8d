"""The shape of the files in data/models/, made from the fields of the domain's own dataclasses.

A dimension added to `gpudesk.domain.models` is thereby a key of the files at once, with its type and default.
"""

from __future__ import annotations

import types
from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, create_model

from gpudesk.catalog.definitions import MODEL_FIELDS
from gpudesk.catalog.schemas import ClaimRecord, FileRecord, Slug, Text
from gpudesk.domain.models import FFN_KINDS, MIXER_KINDS, Indexer, Model
from gpudesk.domain.precision import Precision

PrecisionWord = Annotated[Precision, Field(strict=False)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Count = Annotated[int, Field(ge=1)]


def _record(dimensions: type, kind: str | None = None) -> type[FileRecord]:
    """Make the schema of one dataclass; `kind` is the word that tells it from the others in a file."""
    hints = get_type_hints(dimensions)
    wanted: dict[str, Any] = {}
    if kind is not None:
        wanted["kind"] = (Literal[kind], ...)
    for field in fields(dimensions):
        default = ... if field.default is MISSING else field.default
        least = 0 if field.default == 0 and field.default is not False else 1
        wanted[field.name] = (_checked(hints[field.name], least), default)
    made: type[FileRecord] = create_model(f"{dimensions.__name__}Record", __base__=FileRecord, **wanted)
    return made


def _checked(hint: Any, least: int) -> Any:  # noqa: ANN401 - a type as typing gives it
    """Bound whole numbers from below and put records in the place of dataclasses, inside unions too."""
    if hint is int:
        return Annotated[int, Field(ge=least)]
    if hint is Indexer:
        return _INDEXER
    if hint is Precision:
        return PrecisionWord
    if get_origin(hint) in (types.UnionType, Union):
        return reduce(or_, (_checked(part, least) for part in get_args(hint)))
    return hint


_INDEXER = _record(Indexer)

if TYPE_CHECKING:
    MixerRecord = BaseModel
    FfnRecord = BaseModel
else:
    MixerRecord = Annotated[
        Union[tuple(_record(made, kind) for kind, made in MIXER_KINDS.items())],  # noqa: UP007
        Field(discriminator="kind"),
    ]
    FfnRecord = Annotated[
        Union[tuple(_record(made, kind) for kind, made in FFN_KINDS.items())],  # noqa: UP007
        Field(discriminator="kind"),
    ]


class LayerRecord(FileRecord):
    """One `[[layers]]`: layers that are alike, by the names of their mixer and feed-forward block."""

    count: Count
    mixer: Name | None = None
    ffn: Name | None = None
    norms: Annotated[int, Field(ge=0)] = 2


class ModelClaimRecord(ClaimRecord):
    """One `[[claims]]`: about an attribute of the model or about one dimension, named by its path."""

    attribute: Text
    reason: Text | None = None


class ModelFile(FileRecord):
    """A file of data/models/: its structure. `MODEL_FILE` adds the fields that `Model` has of its own."""

    id: Slug
    name: Text
    organisation: Text
    dimensions_source: Slug | None = None
    notes: list[Text] = Field(default_factory=list)
    mixers: dict[Name, MixerRecord] = Field(default_factory=dict)
    ffns: dict[Name, FfnRecord] = Field(default_factory=dict)
    layers: list[LayerRecord] = Field(default_factory=list)
    claims: list[ModelClaimRecord] = Field(default_factory=list)

    def definition(self) -> dict[str, Any]:
        """Return what makes up the model, in plain JSON types, without the defaults of dimensions."""
        stated = self.model_dump(mode="json", include=set(MODEL_FIELDS), exclude_unset=True)
        kinds = self.model_dump(mode="json", include={"mixers", "ffns"}, exclude_unset=True)
        rest = self.model_dump(mode="json", include={"id", "name", "organisation", "notes", "layers"})
        return {"mixers": {}, "ffns": {}} | stated | kinds | rest


def _model_fields() -> dict[str, Any]:
    """Give the schema every field of the domain's model; sizes may be unknown there, that is left out."""
    hints = get_type_hints(Model)
    wanted: dict[str, Any] = {}
    for field in fields(Model):
        if field.name in MODEL_FIELDS:
            hint = _checked(hints[field.name], least=1)
            required = field.default is MISSING
            wanted[field.name] = (hint | None, None) if required else (hint, field.default)
    return wanted


MODEL_FILE: type[ModelFile] = create_model("ModelFile", __base__=ModelFile, **_model_fields())
