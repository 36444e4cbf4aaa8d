"""Names, numbers and Markdown tables of the accuracy report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from accuracy_report.measures import ErrorMeasure, MissedBars
from gpudesk.domain.estimate import LoadKind
from gpudesk.text.messages import capitalize_first

#: A cell without a value.
NONE: Final = "—"

#: The trait that each fold leaves out.
FOLD_NAMES: Final[Mapping[str, str]] = {
    "series": "publisher",
    "model": "model",
    "family": "model family",
    "accelerator": "accelerator",
    "generation": "generation",
    "vendor": "vendor",
    "version": "serving-engine version",
}
#: Traits of the slices, in the order of the page.
SLICES: Final[Mapping[str, str]] = {
    "experts": "kind of model",
    "weights": "weights",
    "tp": "tensor parallel",
    "context": "mean context",
    "load": "load",
    "accelerator": "accelerator",
    "series": "publisher",
}
_LOADS: Final[Mapping[str, str]] = {
    LoadKind.BATCH: "static batch",
    LoadKind.CONCURRENCY: "closed loop",
    LoadKind.SATURATE: "all queued at once",
    LoadKind.REQUEST_RATE: "open loop",
    LoadKind.LIMITS: "latency limits",
}
_FIGURES: Final[Mapping[str, str]] = {"output_tokens_per_s": "throughput", "tpot_ms": "TPOT", "ttft_ms": "TTFT"}


@dataclass(frozen=True, slots=True)
class ReportNames:
    """Names of accelerators, models, publishers and serving engines by id."""

    accelerators: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    publishers: Mapping[str, str] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)

    def trait(self, trait: str, value: str) -> str:
        if trait == "accelerator":
            return self.accelerators.get(value, value)
        if trait == "model":
            return self.models.get(value, value)
        if trait == "engine":
            return self.engines.get(value, value)
        if trait == "load":
            return _LOADS.get(value, value)
        if trait == "context" and value != "longer":
            return f"{value} tokens"
        if trait == "context":
            return "more than 16k tokens"
        return value or "not stated"


def name_figure(figure: str) -> str:
    return _FIGURES[figure]


def format_count(number: int, one: str, more: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def format_share(value: float) -> str:
    """Return a share as a percentage: a decimal below 100%."""
    return f"{100 * value:,.1f}%" if value < 0.9995 else f"{100 * value:,.0f}%"


def format_whole_share(value: float) -> str:
    return f"{100 * value:.0f}%"


def format_factor(value: float) -> str:
    return f"×{value:.2f}"


def mark_bold(text: str, marked: bool) -> str:
    return f"**{text}**" if marked else text


def make_markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1) -> list[str]:
    """Return the lines of a Markdown table; columns after the first `text_columns` hold numbers."""
    rule = [":--" if place < text_columns else "--:" for place in range(len(head))]
    lines = [head, rule, *rows]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines] + [""]


def join_words(parts: Sequence[str], last: str = "and") -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def make_sentence(text: str) -> str:
    return f"{capitalize_first(text).rstrip('.')}."


MEASURED_HEAD: Final = ("figures", "median", "p90", "bias", "in interval", "high/low")


def format_measure_cells(measure: ErrorMeasure, missed: MissedBars) -> tuple[str, ...]:
    """Return the cells under `MEASURED_HEAD`; values that miss a bar are bold."""
    return (
        f"{measure.rows:,}",
        mark_bold(format_share(measure.median), missed.median),
        mark_bold(format_share(measure.p90), missed.p90),
        format_factor(measure.bias),
        mark_bold(format_share(measure.coverage), missed.coverage),
        mark_bold(f"{measure.width:.2f}", missed.width),
    )
