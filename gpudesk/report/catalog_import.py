"""Previews of an import: new facts, prices, and the facts of a value pack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, PURCHASE_TERM, ClaimPreference, Source
from gpudesk.domain.registry import find_quantity
from gpudesk.domain.user_facts import (
    FactKey,
    FactPack,
    ImportedModelFigures,
    ImportedPriceFigures,
    ImportPreviewFigures,
    PackRow,
    PackTrust,
    UserAccelerator,
    UserClaim,
    UserFact,
    UserModel,
    UserPrice,
    UserSystem,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.catalog_lists import format_price_summary, label_term_of_data
from gpudesk.report.labels import (
    format_price_dates,
    format_tokens,
    label_attribute,
    label_attribute_alone,
    label_precision,
)
from gpudesk.report.writers.safe_text import join_to_one_line
from gpudesk.text.formatting import MISSING_VALUE_TEXT, ClaimValue, Formatter, Quantity, join_unit
from gpudesk.text.translation import tr

_BILLION: Final = 1e9
_MILLION: Final = 1e6


@frozen_dataclass
class ImportLine:
    """One figure: its name, its value with the unit, and a qualification."""

    label: str
    value: str
    note: str = ""


@frozen_dataclass
class ImportPriceLine:
    """The prices of one accelerator and term: the cells of a row below `price_head`."""

    cells: tuple[str, ...]


def list_price_heads() -> tuple[str, ...]:
    """Return the heads of the cells; the four figures start at the third."""
    return (tr("Accelerator"), tr("Term"), tr("Prices"), tr("Low"), tr("Median"), tr("High"), tr("Dates"))


def list_import_lines(figures: ImportPreviewFigures, formatter: Formatter) -> tuple[ImportLine, ...]:
    """Return the lines of a model, an accelerator or a system; prices have a separate table."""
    if figures.model is not None:
        return _list_model_lines(figures.model, formatter)
    return tuple(
        ImportLine(
            label_attribute(each.name) if each.name in PRICE_BOUND_ATTRIBUTES else label_attribute_alone(each.name),
            formatter.catalog_with_unit(each.value, find_quantity(each.name, each.unit)),
        )
        for each in figures.attributes
    )


def _list_model_lines(figures: ImportedModelFigures, formatter: Formatter) -> tuple[ImportLine, ...]:
    count = formatter.count
    lines = [
        ImportLine(tr("Parameters"), format_parameters(figures.parameters, formatter), count(figures.parameters)),
        ImportLine(
            tr("Active per token"),
            format_parameters(figures.active_parameters, formatter),
            tr("with LM head, without embedding"),
        ),
        ImportLine(tr("KV cache per token"), *_describe_cache(figures, formatter)),
        ImportLine(tr("Layers"), count(figures.layers)),
        ImportLine(tr("Hidden size"), count(figures.hidden_size)),
        ImportLine(tr("Vocabulary"), count(figures.vocab_size)),
        ImportLine(tr("Context limit"), _format_token_count(figures.max_context, formatter)),
        ImportLine(
            tr("Stored in"), MISSING_VALUE_TEXT if figures.precision is None else label_precision(figures.precision)
        ),
    ]
    if figures.state_bytes:
        state = formatter.memory(figures.state_bytes)
        lines.insert(3, ImportLine(tr("State per sequence"), state, tr("same at any length")))
    return tuple(lines)


def format_parameters(parameters: int, formatter: Formatter) -> str:
    """Return a number of parameters as `70.6 billion`, below a billion in millions."""
    if parameters >= _BILLION:
        return tr("{n} billion", n=formatter.number(parameters / _BILLION, 1))
    return tr("{n} million", n=formatter.number(parameters / _MILLION, 1))


def _describe_cache(figures: ImportedModelFigures, formatter: Formatter) -> tuple[str, str]:
    """Return the bytes per token in layers without a window, and the additional ones of layers with one."""
    at = tr("16 bits per value")
    if not figures.window:
        return formatter.memory(figures.kv_bytes_per_token), at
    windowed = tr(
        "plus {memory} up to {window}",
        memory=formatter.memory(figures.windowed_bytes_per_token),
        window=format_tokens(figures.window, formatter),
    )
    return formatter.memory(figures.kv_bytes_per_token), f"{at}; {windowed}"


def _format_token_count(tokens: int | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if tokens is None else format_tokens(tokens, formatter)


def list_price_lines(prices: tuple[ImportedPriceFigures, ...], formatter: Formatter) -> tuple[ImportPriceLine, ...]:
    return tuple(_build_price_line(each, formatter) for each in prices)


def _build_price_line(figures: ImportedPriceFigures, formatter: Formatter) -> ImportPriceLine:
    price_range = figures.range
    low, median, high = format_price_summary(price_range, formatter)
    count = formatter.count(price_range.count)
    return ImportPriceLine(
        (figures.name, label_term_of_data(price_range.term), count, low, median, high, format_price_dates(price_range))
    )


def label_proposal_kind(kind: str) -> str:
    words = {
        "model": tr("Model"),
        "accelerator": tr("Accelerator"),
        "system": tr("System"),
        "prices": tr("Prices"),
        "pack": tr("Value pack"),
    }
    return words[kind]


@frozen_dataclass
class PackLine:
    """One row of the preview: its subject, and the values of the pack, the user and the catalog.

    Missing values are empty. `standing` is how the first compares with the others.
    """

    key: FactKey
    label: str
    theirs: str
    yours: str
    shipped: str
    standing: str


def list_pack_lines(pack: FactPack, rows: Sequence[PackRow], formatter: Formatter) -> tuple[PackLine, ...]:
    """Return the rows of a preview in words, each text on one line."""
    sources = {fact.id: fact for fact in pack.facts if isinstance(fact, Source)}
    return tuple(_build_pack_line(row, sources, formatter) for row in rows)


def _build_pack_line(row: PackRow, sources: dict[str, Source], formatter: Formatter) -> PackLine:
    shipped = ""
    if row.shipped is not None:
        shipped = _add_pack_source(_format_pack_figure(row, row.shipped.value, formatter), row.shipped.source)
    return PackLine(
        key=row.key,
        label=join_to_one_line(_label_pack_fact(row)),
        theirs=join_to_one_line(
            _add_pack_source(_format_pack_value(row, row.fact, formatter), _format_pack_source(row.fact, sources))
        ),
        yours="" if row.yours is None else join_to_one_line(_format_pack_value(row, row.yours, formatter)),
        shipped=join_to_one_line(shipped),
        standing=row.standing.label,
    )


def _label_pack_fact(row: PackRow) -> str:
    fact = row.fact
    if isinstance(fact, UserClaim):
        return f"{row.name}: {label_attribute_alone(fact.attribute)}"
    if isinstance(fact, ClaimPreference):
        return tr("{subject}: {attribute}, chosen", subject=row.name, attribute=label_attribute_alone(fact.attribute))
    if isinstance(fact, UserPrice):
        return tr("{subject}: price", subject=row.name)
    if isinstance(fact, Source):
        return tr("Source {title}", title=fact.title)
    return f"{label_proposal_kind(fact.key[0])} {row.name}"


def _format_pack_value(row: PackRow, fact: UserFact, formatter: Formatter) -> str:
    if isinstance(fact, UserClaim | ClaimPreference):
        return _format_pack_figure(row, fact.value, formatter)
    if isinstance(fact, UserPrice):
        once = fact.term == PURCHASE_TERM
        amounts = dict.fromkeys(
            formatter.number(amount, 0 if once else 2)
            for amount in ((fact.usd,) if fact.usd is not None else (fact.usd_low, fact.usd_high))
            if amount is not None
        )
        unit = "USD" if once else "USD/h"
        words = (join_unit(" – ".join(amounts), unit, " "), fact.term, fact.provider, fact.region, fact.date)
        return ", ".join(word for word in words if word)
    if isinstance(fact, UserAccelerator):
        return ", ".join((fact.id, fact.vendor, tr("announced") if fact.announced else tr("shipping")))
    if isinstance(fact, UserModel):
        return f"{fact.id}, {fact.organisation}"
    if isinstance(fact, UserSystem):
        return ", ".join((fact.id, fact.vendor, label_term_of_data(fact.kind.value), fact.accelerator))
    return ", ".join(filter(None, (fact.publisher, fact.kind.label, fact.date, fact.url)))


def _format_pack_figure(row: PackRow, value: ClaimValue, formatter: Formatter) -> str:
    attribute = row.key[2]
    if isinstance(value, str | bool | tuple) or value is None:
        return formatter.catalog(value, Quantity.TEXT)
    return formatter.catalog_with_unit(value, find_quantity(attribute, row.unit))


def _format_pack_source(fact: UserFact, sources: dict[str, Source]) -> Source | None:
    return sources.get(fact.source) if isinstance(fact, UserClaim | UserPrice) else None


def _add_pack_source(publisher: str, source: Source | None) -> str:
    return publisher if source is None else tr("{figure} by {source}", figure=publisher, source=source.title)


def describe_signer(pack: FactPack, trust: PackTrust, fingerprint: str, known_as: str | None = None) -> str:
    """Return the author of a pack; `known_as` is the user's name for a trusted signer."""
    if pack.signature is None or trust is PackTrust.UNSIGNED:
        return tr("Not signed: its author is unknown. The file is complete and intact.")
    name = join_to_one_line(pack.signature.name)
    if trust is PackTrust.KNOWN:
        return tr("Signed by {name}, whose key you trust.", name=join_to_one_line(known_as or name))
    return tr(
        "Signed by {name}, whose key you do not trust yet. Compare the fingerprint with the signer: {fingerprint}.",
        name=name,
        fingerprint=fingerprint,
    )
