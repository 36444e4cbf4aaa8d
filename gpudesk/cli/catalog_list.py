"""Lists of the catalog: as tables and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from gpudesk.cli.tables import table
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity
from gpudesk.domain.things import ThingKind
from gpudesk.sheets.json import dispute_fields, price_fields, source_fields
from gpudesk.sheets.labels import kind_label
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

_THING_KINDS = {
    "accelerators": ThingKind.ACCELERATOR,
    "models": ThingKind.MODEL,
    "diffusion-models": ThingKind.DIFFUSION_MODEL,
    "serving-engines": ThingKind.SERVING_ENGINE,
}
_FORMATTER = Formatter()

#: Head, rows, and which columns are numbers.
_List = tuple[list[str], list[list[str]], tuple[int, ...]]


def list_fields(workbench: Workbench, kind: str | None) -> Any:  # noqa: ANN401 - JSON
    """Return the entries of a kind, or all things, as JSON values: amounts are numbers, the unknown null."""
    catalog = workbench.catalog
    if kind == "sources":
        return [source_fields(source) for source in catalog.sources()]
    if kind == "prices":
        return [price_fields(price) for price in catalog.prices()]
    if kind == "disputes":
        return [dispute_fields(dispute) for dispute in catalog.disputes()]
    if kind == "templates":
        from gpudesk.workbench.templates import templates

        return [{"id": template.id, "name": template.scenario.name} for template in templates()]
    wanted = _THING_KINDS[kind] if kind is not None else None
    return [
        {
            "id": thing.id,
            "kind": thing.kind.value,
            "name": thing.name,
            "maker": thing.maker,
            "own": thing.own,
        }
        for thing in catalog.things(wanted)
    ]


def list_lines(
    workbench: Workbench, kind: str | None, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield the entries of a kind as a table, or of all things kind by kind."""
    kinds = tuple(_THING_KINDS) if kind is None else (kind,)
    for number, name in enumerate(kinds):
        head, rows, right = _LISTS[name](workbench)
        if number:
            yield ""
        yield from table(head, rows, width, right=right, strong=strong)


def _accelerators(workbench: Workbench) -> _List:
    head = [tr("Id"), "GiB", "TB/s", "BF16", "FP8", "W", tr("Vendor"), tr("Name")]
    rows = []
    for part in workbench.catalog.accelerators():
        own = workbench.catalog.thing(part.id).own
        name = _marked(part.name, announced=part.announced, own=own)
        rows.append(
            [
                part.id,
                _FORMATTER.gib(part.memory_bytes),
                _FORMATTER.catalog(part.memory_bandwidth, Quantity.MEMORY_BANDWIDTH),
                _FORMATTER.catalog(part.peak_dense.get("bf16"), Quantity.ARITHMETIC),
                _FORMATTER.catalog(part.peak_dense.get("fp8"), Quantity.ARITHMETIC),
                _FORMATTER.catalog(part.tdp_w, Quantity.POWER),
                part.vendor,
                name,
            ]
        )
    return head, rows, (1, 2, 3, 4, 5)


def _marked(name: str, *, own: bool, announced: bool = False) -> str:
    """Return a name with what is special about it."""
    marks = [word for word, holds in ((tr("announced"), announced), (tr("yours"), own)) if holds]
    return f"{name} ({', '.join(marks)})" if marks else name


def _models(workbench: Workbench) -> _List:
    head = [tr("Id"), tr("Layers"), tr("Context"), tr("Stored in"), tr("Organisation"), tr("Name")]
    rows = [
        [
            model.id,
            _FORMATTER.count(model.layer_count) if model.dimensions_known else UNKNOWN,
            _FORMATTER.count(model.max_context),
            UNKNOWN if model.native_precision is None else model.native_precision.upper(),
            model.organisation,
            _marked(model.name, own=workbench.catalog.thing(model.id).own),
        ]
        for model in workbench.catalog.models()
    ]
    return head, rows, (1, 2)


def _things(kind: ThingKind) -> Callable[[Workbench], _List]:
    def listed(workbench: Workbench) -> _List:
        things = workbench.catalog.things(kind)
        rows = [[thing.id, thing.maker or UNKNOWN, _marked(thing.name, own=thing.own)] for thing in things]
        return [tr("Id"), tr("Maker"), tr("Name")], rows, ()

    return listed


def _templates(_: Workbench) -> _List:
    from gpudesk.workbench.templates import templates

    rows = [[template.id, template.scenario.name] for template in templates()]
    return [tr("Id"), tr("Name")], rows, ()


def _prices(workbench: Workbench) -> _List:
    head = [tr("Accelerator"), tr("Term"), "USD", tr("Date"), tr("Kind"), tr("Provider")]
    rows = [
        [
            price.accelerator or UNKNOWN,
            price.term,
            _amount(price.usd, price.usd_low, price.usd_high),
            price.date or UNKNOWN,
            kind_label(price.kind),
            _marked(price.provider or price.source.publisher, own=price.own),
        ]
        for price in workbench.catalog.prices()
    ]
    return head, rows, (2,)


def _amount(usd: float | None, low: float | None, high: float | None) -> str:
    def written(amount: float) -> str:
        return _FORMATTER.number(amount, 0 if amount >= 1000 else 2)

    if usd is not None:
        return written(usd)
    ends = [written(end) for end in (low, high) if end is not None]
    return " – ".join(dict.fromkeys(ends)) or UNKNOWN


def _sources(workbench: Workbench) -> _List:
    rows = [
        [source.id, source.date or UNKNOWN, kind_label(source.kind), f"{source.title}, {source.publisher}"]
        for source in workbench.catalog.sources()
    ]
    return [tr("Id"), tr("Date"), tr("Kind"), tr("Title")], rows, ()


def _disputes(workbench: Workbench) -> _List:
    rows = [
        [dispute.id, dispute.subject, f"{dispute.disagreement}. {dispute.verdict}: {dispute.reason}"]
        for dispute in workbench.catalog.disputes()
    ]
    return [tr("Id"), tr("Subject"), tr("Dispute")], rows, ()


_LISTS: dict[str, Callable[[Workbench], _List]] = {
    "accelerators": _accelerators,
    "models": _models,
    "diffusion-models": _things(ThingKind.DIFFUSION_MODEL),
    "serving-engines": _things(ThingKind.SERVING_ENGINE),
    "templates": _templates,
    "prices": _prices,
    "sources": _sources,
    "disputes": _disputes,
}
