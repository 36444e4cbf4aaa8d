"""What the scenario bar offers: models, formats, serving engines, kinds of load, accelerators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.desktop.widgets.options import Option
from gpudesk.desktop.widgets.steps import counts, decades
from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.formatting import Formatter, NumberStyle
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.scenarios import MOST_ACCELERATORS, Scenario
from gpudesk.domain.workloads import LoadKind
from gpudesk.sheets.labels import precision_name
from gpudesk.sheets.names import short_name
from gpudesk.text import tr, trn
from gpudesk.workbench.workbench import Workbench

#: The most tokens that a field takes: as many as a line of a batch file may ask for.
MOST_TOKENS: Final = 100_000_000
_MOST_IN_FLIGHT: Final = 4096
_MOST_QUEUED: Final = 65_536


def model_options(workbench: Workbench) -> list[Option]:
    """Return all models under their organisations; those without dimensions say why they cannot be chosen."""
    return [
        Option(
            key=model.id,
            text=model.name,
            notes=("" if model.max_context is None else _context(model.max_context),),
            reason="" if model.dimensions_known else tr("its dimensions are not published"),
            tag=tr("yours") if workbench.catalog.thing(model.id).own else "",
            group=model.organisation,
            words=model.id,
        )
        for model in sorted(workbench.catalog.models(), key=lambda model: model.organisation.casefold())
    ]


def _context(tokens: int) -> str:
    """Return a length of context as people say it: 128k."""
    return tr("{n}k context", n=round(tokens / 1024)) if tokens >= 1024 else tr("{n} context", n=tokens)


def precision_options() -> list[Option]:
    """Return the formats of weights, wide to narrow."""
    widths = {"16": tr("16 bits"), "8": tr("8 bits"), "6": tr("6 bits"), "4": tr("4 bits")}
    return [
        Option(precision.value, precision_name(precision), notes=(widths[_bits(precision)],))
        for precision in Precision
    ]


def _bytes(size: float) -> str:
    return trn("{n} byte", "{n} bytes", 1 if size == 1 else 2, n=f"{size:g}")


def kv_options() -> list[Option]:
    """Return the formats of the KV cache, wide to narrow."""
    return [
        Option(precision.value, precision_name(precision), notes=(_bytes(KV_BYTES[precision]),))
        for precision in KV_BYTES
    ]


def _bits(precision: Precision) -> str:
    return "".join(character for character in precision.value if character.isdigit())[:2]


def engine_options(workbench: Workbench) -> list[Option]:
    """Return the serving engines, first the choice to leave it to the program."""
    any_engine = Option("", tr("Any"), notes=(tr("the best supported for part and model"),))
    return [any_engine, *(Option(engine.id, engine.name) for engine in workbench.catalog.serving_engines())]


def accelerator_options(workbench: Workbench, scenario: Scenario, formatter: Formatter) -> list[Option]:
    """Return all accelerators under their vendors with memory and bandwidth beside them."""
    full = len(scenario.accelerators) >= MOST_ACCELERATORS
    reason = tr("a comparison has six accelerators at the most") if full else ""
    parts = workbench.catalog.accelerators()
    # Those of the user stand with the others of their vendor.
    vendors = {vendor: place for place, vendor in enumerate(dict.fromkeys(part.vendor for part in parts))}
    return [
        _accelerator_option(part, formatter, reason, own=workbench.catalog.thing(part.id).own)
        for part in sorted(parts, key=lambda part: vendors[part.vendor])
    ]


def _accelerator_option(part: Accelerator, formatter: Formatter, reason: str, *, own: bool) -> Option:
    tags = [tr("announced")] if part.announced else []
    tags += [tr("yours")] if own else []
    return Option(
        key=part.id,
        text=short_name(part.name),
        notes=(
            f"{formatter.gib(part.memory_bytes)} GiB",
            f"{formatter.number(part.memory_bandwidth / 1e12, 2)} TB/s",
        ),
        tag=", ".join(tags),
        reason=reason,
        group=part.vendor,
        words=f"{part.id} {part.name}",
    )


@dataclass(frozen=True, slots=True)
class LoadScale:
    """How one kind of load is set: the slider's steps and the field's limits."""

    steps: tuple[float, ...]
    number_format: NumberFormat


def load_options() -> list[Option]:
    """Return the kinds of load."""
    return [
        Option(LoadKind.CONCURRENCY.value, tr("Concurrency"), notes=(tr("requests in flight, closed loop"),)),
        Option(LoadKind.BATCH.value, tr("Batch"), notes=(tr("requests that start together"),)),
        Option(LoadKind.REQUEST_RATE.value, tr("Requests a second"), notes=(tr("open loop, with queueing"),)),
        Option(LoadKind.SATURATE.value, tr("Requests queued"), notes=(tr("all at once, to the last one"),)),
        Option(LoadKind.LIMITS.value, tr("TPOT limit, ms"), notes=(tr("most throughput within limits"),)),
    ]


def load_scale(kind: LoadKind, style: NumberStyle) -> LoadScale:
    """Return how a kind of load is set."""
    if kind is LoadKind.REQUEST_RATE:
        return LoadScale(decades(0.1, 1000.0), NumberFormat(0.001, 1e6, 3, style))
    if kind is LoadKind.LIMITS:
        return LoadScale(decades(5.0, 500.0), NumberFormat(0.1, 1e6, 1, style))
    if kind is LoadKind.SATURATE:
        return LoadScale(tuple(map(float, counts(1, _MOST_QUEUED))), NumberFormat(1, 1e9, 0, style))
    return LoadScale(tuple(map(float, counts(1, _MOST_IN_FLIGHT))), NumberFormat(1, 1e9, 0, style))
