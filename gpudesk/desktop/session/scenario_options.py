"""Options of each field of a scenario: models, formats, serving engines, kinds of load, accelerators."""

from __future__ import annotations

from typing import Final

from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat, make_count_steps, make_decade_steps
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import MAX_ACCELERATORS, Scenario
from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import label_precision, shorten_name
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter, NumberStyle
from gpudesk.text.translation import tr, trn

#: Maximum tokens in a field, as in a line of a batch file.
MOST_TOKENS: Final = 100_000_000
_MOST_IN_FLIGHT: Final = 4096
_MOST_QUEUED: Final = 65_536


def list_model_options(service: GpuDeskService) -> list[ChoiceOption]:
    """Return all models grouped by organization; those without dimensions have a reason against them."""
    return [
        ChoiceOption(
            key=model.id,
            text=model.name,
            notes=("" if model.max_context is None else _format_context(model.max_context),),
            reason="" if model.dimensions_known else tr("dimensions not published"),
            tag=tr("yours") if service.catalog.thing(model.id).own else "",
            group=model.organisation,
            words=model.id,
        )
        for model in sorted(service.catalog.models(), key=lambda model: model.organisation.casefold())
    ]


def _format_context(tokens: int) -> str:
    """Return a context length in short: 128k, 1M."""
    if tokens >= 1024**2:
        return tr("{n}M context", n=round(tokens / 1024**2))
    return tr("{n}k context", n=round(tokens / 1024)) if tokens >= 1024 else tr("{n} context", n=tokens)


def list_precision_options() -> list[ChoiceOption]:
    widths = {"16": tr("16-bit"), "8": tr("8-bit"), "6": tr("6-bit"), "4": tr("4-bit")}
    return [
        ChoiceOption(precision.value, label_precision(precision), notes=(widths[_format_bits(precision)],))
        for precision in Precision
    ]


def _format_bytes(size: float) -> str:
    return trn("{n} byte", "{n} bytes", 1 if size == 1 else 2, n=f"{size:g}")


def list_kv_options() -> list[ChoiceOption]:
    return [
        ChoiceOption(precision.value, label_precision(precision), notes=(_format_bytes(KV_BYTES[precision]),))
        for precision in KV_BYTES
    ]


def _format_bits(precision: Precision) -> str:
    return "".join(character for character in precision.value if character.isdigit())[:2]


def list_engine_options(service: GpuDeskService) -> list[ChoiceOption]:
    """Return the serving engines, first the program's choice."""
    any_engine = ChoiceOption("", tr("Any"), notes=(tr("best supported engine"),))
    return [any_engine, *(ChoiceOption(engine.id, engine.name) for engine in service.catalog.serving_engines())]


def list_accelerator_options(service: GpuDeskService, scenario: Scenario, formatter: Formatter) -> list[ChoiceOption]:
    full = len(scenario.accelerators) >= MAX_ACCELERATORS
    reason = tr("at most six accelerators per comparison") if full else ""
    parts = service.catalog.accelerators()
    # The user's are among those of their vendor.
    vendors = {vendor: place for place, vendor in enumerate(dict.fromkeys(part.vendor for part in parts))}
    return [
        _make_accelerator_option(part, formatter, reason, own=service.catalog.thing(part.id).own)
        for part in sorted(parts, key=lambda part: vendors[part.vendor])
    ]


def _make_accelerator_option(part: Accelerator, formatter: Formatter, reason: str, *, own: bool) -> ChoiceOption:
    tags = [tr("announced")] if part.announced else []
    tags += [tr("yours")] if own else []
    return ChoiceOption(
        key=part.id,
        text=shorten_name(part.name),
        notes=(f"{formatter.gib(part.memory_bytes)} GiB", f"{formatter.number(part.memory_bandwidth / 1e12, 2)} TB/s"),
        tag=", ".join(tags),
        reason=reason,
        group=part.vendor,
        words=f"{part.id} {part.name}",
    )


@frozen_dataclass
class LoadScale:
    """The setting of one kind of load: the slider's steps and the field's limits."""

    steps: tuple[float, ...]
    number_format: NumberFormat


def list_load_options() -> list[ChoiceOption]:
    return [
        ChoiceOption(LoadKind.CONCURRENCY.value, tr("Concurrency"), notes=(tr("requests in flight, closed loop"),)),
        ChoiceOption(LoadKind.BATCH.value, tr("Batch"), notes=(tr("requests started together"),)),
        ChoiceOption(LoadKind.REQUEST_RATE.value, tr("Requests per second"), notes=(tr("open loop, with queueing"),)),
        ChoiceOption(
            LoadKind.SATURATE.value, tr("Requests queued"), notes=(tr("all at once, until the last one ends"),)
        ),
        ChoiceOption(LoadKind.LIMITS.value, tr("TPOT limit, ms"), notes=(tr("max throughput within limits"),)),
    ]


def make_load_scale(kind: LoadKind, style: NumberStyle) -> LoadScale:
    if kind is LoadKind.REQUEST_RATE:
        return LoadScale(make_decade_steps(0.1, 1000.0), NumberFormat(0.001, 1e6, 3, style))
    if kind is LoadKind.LIMITS:
        return LoadScale(make_decade_steps(5.0, 500.0), NumberFormat(0.1, 1e6, 1, style))
    if kind is LoadKind.SATURATE:
        return LoadScale(tuple(map(float, make_count_steps(1, _MOST_QUEUED))), NumberFormat(1, 1e9, 0, style))
    return LoadScale(tuple(map(float, make_count_steps(1, _MOST_IN_FLIGHT))), NumberFormat(1, 1e9, 0, style))
