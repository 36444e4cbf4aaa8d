"""What a proposal comes to, in figures: for the preview that stands before anything is written."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.claims import Attribute
from gpudesk.domain.price_ranges import PriceRange


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """A model as it would be: parameters, and the bytes that a token takes in a KV cache at 16 bits.

    `windowed_bytes_per_token` is what layers with a window hold, up to `window` tokens; `state_bytes` what a
    sequence holds whatever its length.
    """

    layers: int
    hidden_size: int
    vocab_size: int
    max_context: int | None
    parameters: int
    active_parameters: int
    kv_bytes_per_token: float
    windowed_bytes_per_token: float
    window: int | None
    state_bytes: int
    precision: str | None


@dataclass(frozen=True, slots=True)
class PriceFigures:
    """The prices of one part by one term, and what the part is called."""

    name: str
    range: PriceRange


@dataclass(frozen=True, slots=True)
class ImportFigures:
    """What a proposal holds: one of the three, by its kind. An accelerator shows its attributes."""

    model: ModelFigures | None = None
    attributes: tuple[Attribute, ...] = ()
    prices: tuple[PriceFigures, ...] = ()
