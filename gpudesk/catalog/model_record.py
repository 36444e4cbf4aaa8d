"""The schema of a model's definition, as in files and in the user's facts: fields, types, required keys."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from gpudesk.catalog.model_definition import MODEL_FIELDS
from gpudesk.domain.diffusion import DiffusionSoftware
from gpudesk.domain.model import FFN_KINDS, MIXER_KINDS, Model
from gpudesk.domain.precision import Precision

#: Ids of entries and sources.
SLUG: Final = "[a-z0-9]+(?:[.-][a-z0-9]+)*"
Slug = Annotated[str, Field(pattern=f"^{SLUG}$")]
Text = Annotated[str, Field(min_length=1)]
_LayerKindName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]

#: Tables of records that differ by their `kind`.
_WITH_KINDS: Final = frozenset({"mixers", "ffns"})
#: Index of a record's kind in a path: table, name, kind, field.
_KIND_AT: Final = 2
#: Longer inputs are shortened in problems.
_SHOWN: Final = 60
#: Counts that can be 0 in a model.
_MAY_BE_NONE: Final = frozenset({"final_norms"})


class FileRecord(BaseModel):
    """Base of all records of TOML files: strict types, no unknown keys, immutable."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def make_record_type(dimensions: type, kind: str | None = None) -> type[FileRecord]:
    """Make the schema of one dataclass; `kind` is the word that identifies it in a file."""
    hints = get_type_hints(dimensions)
    field_types: dict[str, Any] = {}
    if kind is not None:
        field_types["kind"] = (Literal[kind], ...)
    for field in fields(dimensions):
        default = ... if field.default is MISSING else field.default
        least = 0 if field.default == 0 and field.default is not False else 1
        field_types[field.name] = (_constrain_hint(hints[field.name], least), default)
    record_type: type[FileRecord] = create_model(f"{dimensions.__name__}Record", __base__=FileRecord, **field_types)
    return record_type


def _constrain_hint(hint: Any, least: int) -> Any:  # noqa: ANN401 - a type as typing gives it
    if hint is int:
        return Annotated[int, Field(ge=least)]
    if hint in (Precision, DiffusionSoftware):
        return Annotated[hint, Field(strict=False)]
    if isinstance(hint, type) and is_dataclass(hint):
        return make_record_type(hint)
    if get_origin(hint) is tuple and is_dataclass(get_args(hint)[0]):
        return list[_constrain_hint(get_args(hint)[0], least)]  # type: ignore[misc]
    if get_origin(hint) in (types.UnionType, Union):
        return reduce(or_, (_constrain_hint(part, least) for part in get_args(hint)))
    return hint


if TYPE_CHECKING:
    _MixerRecord = BaseModel
    _FfnRecord = BaseModel
else:
    _MixerRecord = Annotated[
        Union[tuple(make_record_type(mixer, kind) for kind, mixer in MIXER_KINDS.items())],  # noqa: UP007
        Field(discriminator="kind"),
    ]
    _FfnRecord = Annotated[
        Union[tuple(make_record_type(ffn, kind) for kind, ffn in FFN_KINDS.items())],  # noqa: UP007
        Field(discriminator="kind"),
    ]


class LayerRecord(FileRecord):
    """One `[[layers]]`: equal layers, by the names of their mixer and feed-forward block."""

    count: Annotated[int, Field(ge=1)]
    mixer: _LayerKindName | None = None
    ffn: _LayerKindName | None = None
    norms: Annotated[int, Field(ge=0)] = 2


class ModelRecord(FileRecord):
    """The structure of a model. The schema, `MODEL_RECORD`, adds the remaining fields of `Model`."""

    id: Slug
    name: Text
    organisation: Text
    notes: list[Text] = Field(default_factory=list)
    mixers: dict[_LayerKindName, _MixerRecord] = Field(default_factory=dict)
    ffns: dict[_LayerKindName, _FfnRecord] = Field(default_factory=dict)
    layers: list[LayerRecord] = Field(default_factory=list)

    def definition(self) -> dict[str, Any]:
        """Return the definition of the model, in plain JSON types, without default dimensions."""
        fields = self.model_dump(mode="json", include=set(MODEL_FIELDS), exclude_unset=True)
        kinds = self.model_dump(mode="json", include={"mixers", "ffns"}, exclude_unset=True)
        rest = self.model_dump(mode="json", include={"id", "name", "organisation", "notes", "layers"})
        return {"mixers": {}, "ffns": {}} | fields | kinds | rest


def list_model_fields() -> Mapping[str, Any]:
    """Return the schema of every field of the domain's model, for pydantic; unknown sizes can be left out."""
    hints = get_type_hints(Model)
    field_types: dict[str, Any] = {}
    for field in fields(Model):
        if field.name in MODEL_FIELDS:
            hint = _constrain_hint(hints[field.name], least=0 if field.name in _MAY_BE_NONE else 1)
            required = field.default is MISSING
            field_types[field.name] = (hint | None, None) if required else (hint, field.default)
    return field_types


MODEL_RECORD: type[ModelRecord] = create_model("ModelRecord", __base__=ModelRecord, **list_model_fields())

#: Fields of a definition about itself, which no source states as a dimension.
_REMARKS: Final = frozenset({"native_note", "generic_architecture", "unread_fields"})


def list_dimensions(model: ModelRecord) -> dict[str, Any]:
    """Return every dimension of the model by its path, in the order of the definition."""
    definition = model.definition()
    dimensions = {name: definition[name] for name in MODEL_FIELDS if name in definition and name not in _REMARKS}
    for part in ("mixers", "ffns"):
        for name, table in definition[part].items():
            dimensions |= dict(_iterate_leaves(f"{part}.{name}", table))
    return dimensions | _list_layer_dimensions(definition["layers"])


def _iterate_leaves(path: str, table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _iterate_leaves(f"{path}.{key}", value)
        elif value is not None:
            yield f"{path}.{key}", value


def _list_layer_dimensions(layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Number the groups of layers from 1; `layers.norms` is there if all have the same."""
    dimensions: dict[str, Any] = {}
    if not layers:
        return dimensions
    dimensions["layer_count"] = sum(group["count"] for group in layers)
    alike = len({group["norms"] for group in layers}) == 1
    if alike:
        dimensions["layers.norms"] = layers[0]["norms"]
    for number, group in enumerate(layers, start=1):
        words = ("count", "mixer", "ffn") if alike else ("count", "mixer", "ffn", "norms")
        dimensions |= {f"layers.{number}.{word}": group[word] for word in words if group[word] is not None}
    return dimensions


def list_validation_problems(error: ValidationError) -> Iterator[tuple[str, str]]:
    """Turn pydantic's errors into problems, each with the path of its field, counted from 1."""
    for item in error.errors(include_url=False, include_context=False):
        location = item["loc"]
        if len(location) > _KIND_AT and location[0] in _WITH_KINDS:
            # pydantic puts the kind after the name, but the file has none there.
            location = (*location[:_KIND_AT], *location[_KIND_AT + 1 :])
        path = ".".join(str(part + 1) if isinstance(part, int) else part for part in location)
        yield path, _shorten_message(item["type"], item["msg"], item["input"])


def _shorten_message(kind: str, text: str, value: object) -> str:
    """Return pydantic's message, shortened, with the rejected value if helpful."""
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is no key of this file"
    words = text.removeprefix("Value error, ").removeprefix("Input ")
    value_text = repr(value)
    if isinstance(value, dict):
        return words
    return f"{words}, given {value_text if len(value_text) <= _SHOWN else value_text[:_SHOWN] + '…'}"
