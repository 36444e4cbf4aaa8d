"""Things: what the catalog has an entry for, whatever its kind. Ids are unique over all kinds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ThingKind(StrEnum):
    """The kinds of things that can be looked up by id."""

    ACCELERATOR = "accelerator"
    MODEL = "model"
    DIFFUSION_MODEL = "diffusion_model"
    SERVING_ENGINE = "serving_engine"


@dataclass(frozen=True, slots=True)
class Thing:
    """One entry for a list: `maker` is the vendor or organisation, None where it has none.

    `own` is an entry that the user made.
    """

    id: str
    kind: ThingKind
    name: str
    maker: str | None = None
    own: bool = False
