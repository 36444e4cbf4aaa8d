"""Diffusion models: networks that make pictures or video, and the times that others report for them."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.claims import Kind, Source


@dataclass(frozen=True, slots=True)
class DiffusionResult:
    """A reported time: `part` as it was printed, `accelerator` where that names exactly one of the catalog.

    `value` to `value_high` (None: a single figure) in `unit` as printed, on `count` parts; a source that
    gives no figure has a word there and no unit. `estimated` tells a figure that was computed or guessed
    from one that was measured.
    """

    part: str
    accelerator: str | None
    count: int
    setting: str
    value: float | str
    value_high: float | None
    unit: str | None
    estimated: bool
    source: Source
    kind: Kind
    retrieved: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class DiffusionModel:
    """A diffusion model and what is reported of its speed; its figures are attributes in the catalog."""

    id: str
    name: str
    medium: str
    results: tuple[DiffusionResult, ...]
