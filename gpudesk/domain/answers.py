"""Answers: all results for one scenario on one catalog revision, frozen; what every output shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.claims import Attribute, Dispute
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.messages import Message
from gpudesk.domain.models import Model
from gpudesk.domain.scenarios import AcceleratorChoice, Scenario


@dataclass(frozen=True, slots=True)
class Term:
    """One node of a derivation: a quantity, the formula that gives it, and the terms that enter.

    `formula` is written with the names of its inputs; `unit` is the unit used inside; `source` names the
    claim, constant or setting that a leaf comes from.
    """

    name: str
    value: float | str | None
    unit: str | None = None
    formula: str | None = None
    source: str | None = None
    inputs: tuple[Term, ...] = ()
    note: Message | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Figures of one deployment against concurrency; the points end where memory ends."""

    concurrency: tuple[int, ...]
    output_tokens_per_s: tuple[Banded, ...]
    ttft_ms: tuple[Banded, ...]
    tpot_ms: tuple[Banded, ...]
    limiter: tuple[str, ...]
    max_concurrency: int


@dataclass(frozen=True, slots=True)
class Column:
    """One accelerator of the comparison: its facts, and its estimate or the reason why there is none."""

    choice: AcceleratorChoice
    accelerator: Accelerator
    attributes: Mapping[str, Attribute]
    estimate: Estimate | None
    curve: Curve | None
    problem: Message | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of a column against the baseline: their ratio with its own band.

    `winner` is None where the band of the ratio holds 1, which is said as "no winner".
    """

    figure: str
    accelerator: str
    baseline: str
    ratio: Banded
    winner: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """All results for `scenario` on the catalog of `catalog_revision`.

    `content_hash` covers the answer and the catalog revision, without date, locale or layout.
    """

    scenario: Scenario
    catalog_revision: str
    data_date: str
    calibration: str
    model: Model
    model_attributes: Mapping[str, Attribute]
    columns: tuple[Column, ...]
    differences: tuple[Difference, ...]
    disputes: tuple[Dispute, ...]
    notes: tuple[Message, ...]
    content_hash: str
