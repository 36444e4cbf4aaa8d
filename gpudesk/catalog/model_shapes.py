"""Whether a model's dimensions can belong together, so that a slip in a file does not become an estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from gpudesk.domain.models import (
    Attention,
    Compressed,
    Ffn,
    GatedDeltaNet,
    LayerGroup,
    Mamba2,
    Mixer,
    Model,
    MoeFfn,
    reuses_cache,
)


class Relation(StrEnum):
    """How one dimension must stand to another."""

    MULTIPLE = "multiple"
    AT_MOST = "at_most"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class ShapeFault:
    """Two dimensions of one layer group (counted from 1) that break `relation`.

    KEPT is about one alone: whether any layer of the same shape keeps the cache that the group reuses.
    """

    group: int
    dimension: str
    value: int
    relation: Relation
    other: str
    other_value: int

    def __str__(self) -> str:
        """Say it for the author of the file."""
        if self.relation is Relation.KEPT:
            return f"{self.dimension}, but no layer of its shape keeps a cache"
        words = "a multiple of" if self.relation is Relation.MULTIPLE else "at most"
        return f"{self.dimension} {self.value} is not {words} {self.other} {self.other_value}"


_Rule = tuple[str, int, Relation, str, int]


def shape_faults(model: Model) -> Iterator[ShapeFault]:
    """Yield every pair of dimensions that cannot belong together."""
    kept = {_cached(group.mixer) for group in model.layers if not reuses_cache(group.mixer)}
    for number, group in enumerate(model.layers, start=1):
        if reuses_cache(group.mixer) and _cached(group.mixer) not in kept:
            yield ShapeFault(number, "reuses_cache", 1, Relation.KEPT, "", 0)
        for name, value, relation, other, other_value in _rules(group):
            holds = value % other_value == 0 if relation is Relation.MULTIPLE else value <= other_value
            if not holds:
                yield ShapeFault(number, name, value, relation, other, other_value)


def _cached(mixer: Mixer | None) -> tuple[int | None, ...] | None:
    """Return what a cache that another layer reads must have alike."""
    if not isinstance(mixer, Attention):
        return None
    return mixer.kv_heads, mixer.head_dim, mixer.value_dim, mixer.window


def _rules(group: LayerGroup) -> Iterator[_Rule]:
    if group.mixer is not None:
        yield from _mixer_rules(group.mixer)
    if group.ffn is not None:
        yield from _ffn_rules(group.ffn)


def _mixer_rules(mixer: Mixer) -> Iterator[_Rule]:
    """Heads share KV heads, value heads share key heads, and heads come in whole groups."""
    match mixer:
        case Attention():
            yield "heads", mixer.heads, Relation.MULTIPLE, "kv_heads", mixer.kv_heads
        case Compressed():
            yield "heads", mixer.heads, Relation.MULTIPLE, "o_groups", mixer.o_groups
        case GatedDeltaNet():
            yield "value_heads", mixer.value_heads, Relation.MULTIPLE, "key_heads", mixer.key_heads
        case Mamba2():
            yield "heads", mixer.heads, Relation.MULTIPLE, "groups", mixer.groups
        case _:
            pass


def _ffn_rules(ffn: Ffn) -> Iterator[_Rule]:
    if isinstance(ffn, MoeFfn):
        yield "experts_per_token", ffn.experts_per_token, Relation.AT_MOST, "experts", ffn.experts
