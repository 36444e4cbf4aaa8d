"""`gpudesk catalog`: lists, entries with all claims, and checks of the catalog."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.commands import catalog_user_data
from gpudesk.cli.options import finish_command, open_service
from gpudesk.cli.output import EXIT_AT_FAULT, EXIT_DONE
from gpudesk.domain.claim import (
    ApiPrice,
    AttributeClaims,
    CatalogEntry,
    CatalogEntryKind,
    Claim,
    ClaimPreference,
    ClaimStatus,
    MissingPrice,
    ProviderClass,
    is_figure,
)
from gpudesk.domain.estimate_json import encode_each, encode_fields, encode_value
from gpudesk.domain.registry import (
    ATTRIBUTES,
    SYSTEM_ATTRIBUTES,
    Attribute,
    ListColumn,
    find_quantity,
    list_listed_attributes,
)
from gpudesk.report.catalog_lists import label_list_head, label_term_of_data
from gpudesk.report.comparison.attribute_rows import format_claim_value
from gpudesk.report.explanation.claims import build_dispute_line, is_shipped_claim
from gpudesk.report.labels import label_dispute_topic, label_system
from gpudesk.report.writers.json import (
    encode_attribute,
    encode_dated_price,
    encode_dispute,
    encode_price,
    encode_source,
)
from gpudesk.report.writers.text import align_table, indent_hanging, measure_text, pad_text, wrap_text
from gpudesk.text.formatting import MISSING_VALUE_TEXT, ClaimValue, Formatter, Quantity, convert_to_display_unit
from gpudesk.text.messages import to_sentence
from gpudesk.text.translation import tr, translate_data, trn

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog
    from gpudesk.service import GpuDeskService


_THING_KINDS = {
    "accelerators": CatalogEntryKind.ACCELERATOR,
    "systems": CatalogEntryKind.SYSTEM,
    "reference-designs": CatalogEntryKind.REFERENCE_DESIGN,
    "models": CatalogEntryKind.MODEL,
    "diffusion-models": CatalogEntryKind.DIFFUSION_MODEL,
    "serving-engines": CatalogEntryKind.SERVING_ENGINE,
}

_ENTRY_FIELDS: Final = "id kind name maker own"
#: Head, rows, and the columns that are numbers.
_CatalogList = tuple[list[str], list[list[str]], tuple[int, ...]]


def encode_catalog_list(service: GpuDeskService, kind: str | None) -> Any:  # noqa: ANN401 - JSON
    """Return the entries of a kind, or all entries, as JSON values: amounts are numbers, unknown values null."""
    catalog = service.catalog
    if kind == "sources":
        return [encode_source(source) for source in catalog.sources()]
    if kind == "prices":
        return [encode_price(price) for price in catalog.prices()]
    if kind == "disputes":
        return [encode_dispute(dispute) for dispute in catalog.disputes()]
    if kind == "templates":
        from gpudesk.documents.scenario_file import list_templates

        return [{"id": template.id, "name": template.scenario.name} for template in list_templates()]
    thing_kind = _THING_KINDS[kind] if kind is not None else None
    return encode_each(catalog.things(thing_kind), _ENTRY_FIELDS)


def list_catalog_lines(service: GpuDeskService, kind: str | None, width: int) -> Iterator[str]:
    kinds = tuple(_THING_KINDS) if kind is None else (kind,)
    for number, name in enumerate(kinds):
        head, rows, right = _LISTS[name](service)
        if number:
            yield ""
        yield from align_table(head, rows, width, right=right, strong=output.make_bold)


def _list_accelerators(service: GpuDeskService) -> _CatalogList:
    listed = _list_terminal_columns(ATTRIBUTES)
    rows = []
    for part in service.catalog.accelerators():
        own = service.catalog.thing(part.id).own
        name = _mark_name(part.name, announced=part.announced, own=own)
        rows.append([part.id, *_list_cells(service, part.id, listed), part.vendor, name])
    return [tr("Id"), *_list_heads(listed), tr("Vendor"), tr("Name")], rows, _find_figures(listed, 1)


def _list_systems(service: GpuDeskService) -> _CatalogList:
    listed = _list_terminal_columns(SYSTEM_ATTRIBUTES)
    rows = [
        [
            system.id,
            label_term_of_data(system.kind.value),
            system.accelerator,
            *_list_cells(service, system.id, listed),
            _mark_name(label_system(system.name), own=system.own),
        ]
        for system in service.catalog.systems()
    ]
    head = [tr("Id"), tr("Kind"), tr("Accelerator"), *_list_heads(listed), tr("Name")]
    return head, rows, _find_figures(listed, 3)


_Columns = list[tuple[ListColumn, Attribute]]


def _list_terminal_columns(attributes: Mapping[str, Attribute]) -> _Columns:
    listed = [each for each in list_listed_attributes(attributes) if each[0].terminal is not None]
    return sorted(listed, key=lambda each: each[0].terminal or 0)


def _list_heads(columns: _Columns) -> list[str]:
    return [label_list_head(attribute, column) for column, attribute in columns]


def _list_cells(service: GpuDeskService, thing: str, columns: _Columns) -> list[str]:
    """Return the preferred values of an entry; a range by both ends."""
    values = {each.name: each.value for each in service.catalog.attributes(thing)}
    cells = []
    for column, attribute in columns:
        quantity = find_quantity(attribute.key, attribute.unit)
        ends = dict.fromkeys((values.get(attribute.key), values.get(attribute.upper_end or attribute.key)))
        cells.append(" – ".join(_format_listed(end, quantity, column.decimals) for end in ends))
    return cells


def _format_listed(value: ClaimValue, quantity: Quantity, decimals: int | None) -> str:
    if decimals is None or not is_figure(value):
        return Formatter().catalog(value, quantity)
    return Formatter().number(convert_to_display_unit(value, quantity), decimals)


def _find_figures(columns: _Columns, before: int) -> tuple[int, ...]:
    """Return the columns of figures in a list that has `before` other columns first."""
    return tuple(place for place, (_, attribute) in enumerate(columns, start=before) if attribute.unit is not None)


def _mark_name(name: str, *, own: bool, announced: bool = False) -> str:
    marks = [word for word, holds in ((tr("announced"), announced), (tr("yours"), own)) if holds]
    return f"{name} ({', '.join(marks)})" if marks else name


def _list_models(service: GpuDeskService) -> _CatalogList:
    head = [tr("Id"), tr("Layers"), tr("Context"), tr("Weights"), tr("Organization"), tr("Name")]
    rows = [
        [
            model.id,
            Formatter().count(model.layer_count) if model.dimensions_known else MISSING_VALUE_TEXT,
            Formatter().count(model.max_context),
            MISSING_VALUE_TEXT if model.native_precision is None else model.native_precision.upper(),
            model.organisation,
            _mark_name(model.name, own=service.catalog.thing(model.id).own),
        ]
        for model in service.catalog.models()
    ]
    return head, rows, (1, 2)


def _make_entry_lister(kind: CatalogEntryKind) -> Callable[[GpuDeskService], _CatalogList]:
    def listed(service: GpuDeskService) -> _CatalogList:
        things = service.catalog.things(kind)
        rows = [
            [thing.id, thing.maker or MISSING_VALUE_TEXT, _mark_name(thing.name, own=thing.own)] for thing in things
        ]
        return [tr("Id"), tr("Maker"), tr("Name")], rows, ()

    return listed


def _list_templates(_: GpuDeskService) -> _CatalogList:
    from gpudesk.documents.scenario_file import list_templates

    rows = [[template.id, translate_data(template.scenario.name)] for template in list_templates()]
    return [tr("Id"), tr("Name")], rows, ()


def _list_prices(service: GpuDeskService) -> _CatalogList:
    head = [tr("Accelerator"), tr("Term"), "USD", tr("Date"), tr("Kind"), tr("Provider"), tr("Kind of provider")]
    rows = [
        [
            price.accelerator or MISSING_VALUE_TEXT,
            price.term,
            _format_amount(price.usd, price.usd_low, price.usd_high),
            Formatter().date(price.date or MISSING_VALUE_TEXT),
            price.kind.label,
            _mark_name(price.provider or price.source.named_publisher or MISSING_VALUE_TEXT, own=price.own),
            MISSING_VALUE_TEXT if price.provider_class is ProviderClass.UNKNOWN else price.provider_class,
        ]
        for price in service.catalog.prices()
    ]
    return head, rows, (2,)


def _format_amount(usd: float | None, low: float | None, high: float | None) -> str:
    def format_cell(amount: float) -> str:
        return Formatter().number(amount, 0 if amount >= 1000 else 2)

    if usd is not None:
        return format_cell(usd)
    ends = [format_cell(end) for end in (low, high) if end is not None]
    return " – ".join(dict.fromkeys(ends)) or MISSING_VALUE_TEXT


def _list_sources(service: GpuDeskService) -> _CatalogList:
    rows = [
        [
            source.id,
            Formatter().date(source.date or MISSING_VALUE_TEXT),
            source.kind.label,
            ", ".join(filter(None, (source.title, source.named_publisher))),
        ]
        for source in service.catalog.sources()
    ]
    return [tr("Id"), tr("Date"), tr("Kind"), tr("Title")], rows, ()


def _list_disputes(service: GpuDeskService) -> _CatalogList:
    rows = [
        [
            dispute.id,
            dispute.subject,
            f"{to_sentence(dispute.disagreement)} {translate_data(dispute.verdict)}: {to_sentence(dispute.reason)}",
        ]
        for dispute in service.catalog.disputes()
    ]
    return [tr("Id"), tr("Subject"), tr("Dispute")], rows, ()


_LISTS: dict[str, Callable[[GpuDeskService], _CatalogList]] = {
    "accelerators": _list_accelerators,
    "systems": _list_systems,
    "reference-designs": _make_entry_lister(CatalogEntryKind.REFERENCE_DESIGN),
    "models": _list_models,
    "diffusion-models": _make_entry_lister(CatalogEntryKind.DIFFUSION_MODEL),
    "serving-engines": _make_entry_lister(CatalogEntryKind.SERVING_ENGINE),
    "templates": _list_templates,
    "prices": _list_prices,
    "sources": _list_sources,
    "disputes": _list_disputes,
}


#: How a claim compares with the preferred claim, which is the first entry.
_SIGNS: Final = {ClaimStatus.AGREES: "=", ClaimStatus.DIFFERS: "◇", ClaimStatus.REFUSED: "⊘"}


def encode_catalog_entry(service: GpuDeskService, thing_id: str) -> dict[str, Any]:
    """Return an entry as JSON values; raises `InputError` with the closest ids if it does not exist."""
    catalog = service.catalog
    thing = catalog.thing(thing_id)
    fields: dict[str, Any] = {
        **encode_fields(thing, _ENTRY_FIELDS),
        **_encode_other_fields(service, thing),
        "attributes": [encode_attribute(attribute) for attribute in catalog.attributes(thing_id)],
        "api_prices": [encode_dated_price(price) for price in catalog.api_prices(thing_id)],
        "missing_prices": [encode_dated_price(price) for price in catalog.missing_prices(thing_id)],
        "disputes": encode_value(catalog.disputes(thing_id)),
        "catalog": {"revision": catalog.revision, "date": catalog.data_date},
    }
    if thing.kind is CatalogEntryKind.SERVING_ENGINE:
        fields["settings"] = encode_value(catalog.serving_engine(thing_id))
    return fields


def _encode_other_fields(service: GpuDeskService, thing: CatalogEntry) -> dict[str, Any]:
    """Return an entry's fields besides its attributes; with them, an edited copy of an accelerator can be imported."""
    if thing.kind is CatalogEntryKind.SYSTEM:
        return encode_fields(service.catalog.system(thing.id), "system_kind=kind accelerator provider instance")
    if thing.kind is not CatalogEntryKind.ACCELERATOR:
        return {}
    return encode_fields(service.catalog.accelerator(thing.id), "generation announced")


def _describe_contents(catalog: Catalog, thing: CatalogEntry) -> str:
    """Return the contents of a system or a reference design, and who rents it out; empty for other entries."""
    if thing.kind is CatalogEntryKind.SYSTEM:
        system = catalog.system(thing.id)
        offer = " ".join(part for part in (system.provider, system.instance) if part)
        words = (label_term_of_data(system.kind.value), f"{system.accelerator_count} × {system.accelerator}", offer)
        return ", ".join(word for word in words if word)
    design = next((each for each in catalog.reference_designs() if each.id == thing.id), None)
    if design is None:
        return ""
    systems = design.accelerator_count // catalog.system(design.system).accelerator_count
    return f"{systems} × {design.system}"


def list_entry_lines(service: GpuDeskService, thing_id: str, width: int) -> Iterator[str]:
    """Yield an entry as text; raises `InputError` with the closest ids if it does not exist."""
    catalog = service.catalog
    thing = catalog.thing(thing_id)
    yield output.make_bold(f"{thing.name} ({thing.id})") + (f"  {tr('yours')}" if thing.own else "")
    contents = _describe_contents(catalog, thing)
    if contents:
        yield contents
    attributes = catalog.attributes(thing_id)
    names = max((measure_text(attribute.name) for attribute in attributes), default=0)
    for attribute in attributes:
        yield from _list_attribute_lines(attribute, names, width, all_user_values=thing.own)
    if thing.kind is CatalogEntryKind.SERVING_ENGINE:
        yield from _list_settings_lines(encode_value(catalog.serving_engine(thing_id)), width)
    for title, lines in (
        (tr("API prices, USD per million tokens"), _list_api_lines(catalog.api_prices(thing_id))),
        (tr("Prices that are not public"), _list_missing_price_lines(catalog.missing_prices(thing_id))),
    ):
        if lines:
            yield from ("", output.make_bold(title))
            for line in lines:
                yield from wrap_text(line, width, indent="  ")
    disputes = catalog.disputes(thing_id)
    if disputes:
        yield ""
        yield output.make_bold(tr("Disputes"))
        for dispute in disputes:
            text = f"{dispute.id} {label_dispute_topic(dispute)}: {to_sentence(dispute.disagreement)} "
            text += f"{build_dispute_line(dispute).judged} {to_sentence(dispute.reason)}"
            yield from wrap_text(text, width, indent="  ")


def _list_api_lines(prices: Sequence[ApiPrice]) -> list[str]:
    formatter = Formatter()
    return [
        tr(
            "{provider}: input {input}, output {output} ({date})",
            provider=price.provider,
            input=formatter.exact(price.usd_per_million_input),
            output=formatter.exact(price.usd_per_million_output),
            date=formatter.date(price.date),
        )
        for price in prices
    ]


def _list_missing_price_lines(prices: Sequence[MissingPrice]) -> list[str]:
    return [
        tr(
            "{missing}: {note} ({source}, {date})",
            missing=translate_data(price.missing),
            note=translate_data(price.note),
            source=price.source.title,
            date=Formatter().date(price.date),
        )
        for price in prices
    ]


def _list_attribute_lines(
    attribute: AttributeClaims, names: int, width: int, *, all_user_values: bool
) -> Iterator[str]:
    """Yield the preferred value with its source, then each rival with its verdict, then the reason.

    The user's figures are marked, unless all figures of the entry are `all_user_values`.
    """
    value = format_claim_value(attribute, attribute.value, Formatter())
    mark = "◇" if attribute.disputed else " "
    preferred = attribute.preferred
    source = "" if preferred is None else f"  [{_format_source(preferred, value, mark_user_value=not all_user_values)}]"
    indent = " " * (names + 4)
    yield from indent_hanging(f"{pad_text(attribute.name, names)} {mark} ", f"{value}{source}", width)
    for rival in attribute.rivals:
        rival_value = format_claim_value(attribute, rival.value, Formatter())
        text = f"{rival_value}  [{_format_source(rival, rival_value, mark_user_value=not all_user_values)}]"
        verdict = tr("preferred in the shipped catalog") if is_shipped_claim(attribute, rival) else None
        text = " ".join(part for part in (text, verdict or translate_data(attribute.verdict(rival) or "")) if part)
        yield from indent_hanging(f"{indent[:-2]}{_SIGNS[attribute.stance(rival)]} ", text, width)
    if attribute.preference is not None and not all_user_values:
        reasons = _list_user_reasons(attribute, attribute.preference)
    else:
        reasons = [translate_data(attribute.reason)] if attribute.reason and attribute.disputed else []
    for reason in reasons:
        yield from indent_hanging(indent, reason, width)


def _list_user_reasons(attribute: AttributeClaims, chosen: ClaimPreference) -> list[str]:
    date = Formatter().date(chosen.date)
    reasons = [tr("Your preference, {date}: {reason}", date=date, reason=to_sentence(chosen.reason))]
    if attribute.shipped is None:
        reasons.append(tr("The shipped catalog has no value for it."))
    elif attribute.shipped_reason:
        reasons.append(tr("Shipped catalog: {reason}", reason=to_sentence(attribute.shipped_reason)))
    return reasons


def _format_source(claim: Claim, value_text: str, *, mark_user_value: bool) -> str:
    """Return the source and kind of a claim, with the printed figure if it is displayed differently."""
    words = [claim.source.named_publisher, claim.source.title, claim.kind.label]
    words.append(Formatter().date(claim.source.date or ""))
    if claim.own and mark_user_value:
        words.insert(0, tr("your value"))
    if claim.published and claim.published != value_text.replace(",", ""):
        words.insert(0, tr("published as {figure}", figure=claim.published))
    return ", ".join(word for word in words if word)


def _list_settings_lines(settings: Mapping[str, Any], width: int) -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{name}:"
            for rule in value:
                yield from indent_hanging("  - ", _format_rule(rule), width)
        else:
            yield from wrap_text(f"{name}: {_format_short(value)}", width, indent="  ")


def _format_short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_format_short(item) for item in value)
    if isinstance(value, dict):
        return f"({_format_rule(value)})"
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _format_rule(rule: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_format_short(item)}" for key, item in rule.items() if item not in (None, []))


#: Kinds with lists.
KINDS = tuple(_LISTS)


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    description = tr("List, show, verify, export and share catalog entries.")
    parser = commands.add_parser("catalog", help=description, description=description)
    parts = parser.add_subparsers(dest="part", metavar=tr("ACTION"), required=True)
    help_text = tr("list entries of one kind, or all")
    part = parts.add_parser("list", help=help_text, description=help_text)
    part.add_argument("kind", nargs="?", choices=KINDS, metavar=tr("KIND"), help=", ".join(KINDS))
    finish_command(part, _list)
    help_text = tr("show an entry with all published values, units and sources")
    part = parts.add_parser("show", help=help_text, description=help_text)
    part.add_argument("id", metavar="ID", help=tr("entry id, from `gpudesk catalog list`"))
    finish_command(part, _show)
    help_text = tr("check that every value has a source and every reference exists")
    part = parts.add_parser("verify", help=help_text, description=help_text)
    finish_command(part, _verify)
    catalog_user_data.add_export_command(parts)
    catalog_user_data.add_pack_command(parts)
    catalog_user_data.add_signers_command(parts)
    catalog_user_data.add_backup_commands(parts)


def _list(options: argparse.Namespace) -> int:
    with open_service(options) as service:
        if options.json:
            output.print_json(encode_catalog_list(service, options.kind))
        else:
            output.print_lines(list_catalog_lines(service, options.kind, output.get_terminal_width()))
    return EXIT_DONE


def _show(options: argparse.Namespace) -> int:
    with open_service(options) as service:
        if options.json:
            output.print_json(encode_catalog_entry(service, options.id))
        else:
            output.print_lines(list_entry_lines(service, options.id, output.get_terminal_width()))
    return EXIT_DONE


def _verify(options: argparse.Namespace) -> int:
    from gpudesk.text.messages import format_message

    with open_service(options) as service:
        findings = service.verify()
        counts = count_entries(service)
        catalog = service.catalog
        if options.json:
            output.print_json(
                {
                    "revision": catalog.revision,
                    "date": catalog.data_date,
                    "counts": counts,
                    "findings": encode_each(findings, "where problem"),
                }
            )
        else:
            date = Formatter().date(catalog.data_date)
            output.print_line(tr("Catalog {revision}, {date}", revision=catalog.revision[:8], date=date))
            width = output.get_terminal_width()
            output.print_lines(wrap_text(_list_counts(counts), width))
            for finding in findings:
                output.print_lines(wrap_text(f"{finding.where}: {format_message(finding.problem)}", width))
            output.print_line(
                trn("{n} problem", "{n} problems", len(findings))
                if findings
                else tr("No problems: every value has a source and every reference exists.")
            )
    return EXIT_AT_FAULT if findings else EXIT_DONE


#: Names in JSON; texts translate them.
_COUNTED: Final = (
    "accelerators",
    "systems",
    "models",
    "diffusion models",
    "serving engines",
    "prices",
    "document statements",
    "disputes",
    "sources",
)


def count_entries(service: GpuDeskService) -> dict[str, int]:
    catalog = service.catalog
    entries: tuple[Sized, ...] = (
        catalog.accelerators(),
        catalog.systems(),
        catalog.models(),
        catalog.diffusion_models(),
        catalog.serving_engines(),
        catalog.prices(),
        catalog.seed_claims(),
        catalog.disputes(),
        catalog.sources(),
    )
    return dict(zip(_COUNTED, map(len, entries), strict=True))


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[kind]} {tr(kind)}" for kind in _COUNTED)
