"""What an import would bring, in words: for the preview in the window and on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpudesk.domain.claims import PRICE_ENDS, PURCHASE
from gpudesk.domain.formatting import UNKNOWN, Formatter, quantity_of
from gpudesk.domain.imports import ImportFigures, ModelFigures, PriceFigures
from gpudesk.domain.price_ranges import PriceRange
from gpudesk.sheets.catalog_words import word
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.sheets.labels import attribute_label, precision_name
from gpudesk.text import tr

_BILLION: Final = 1e9
_MILLION: Final = 1e6


@dataclass(frozen=True, slots=True)
class ImportLine:
    """One figure: what it is, its value with the unit, and what makes it exact or limits it."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PriceLine:
    """The prices of one part by one term: the cells of a row under `price_head`."""

    cells: tuple[str, ...]


def price_head() -> tuple[str, ...]:
    """Return what stands over the cells; the four figures come from the third on."""
    return (tr("Part"), tr("Term"), tr("Prices"), tr("Low"), tr("Median"), tr("High"), tr("Dates"))


def import_lines(figures: ImportFigures, formatter: Formatter) -> tuple[ImportLine, ...]:
    """Return the lines of a model or an accelerator; prices have a table of their own."""
    if figures.model is not None:
        return _model(figures.model, formatter)
    return tuple(
        ImportLine(
            attribute_label(each.name) if each.name in PRICE_ENDS else label_alone(each.name),
            formatter.catalog_with_unit(each.value, quantity_of(each.name, each.unit), each.name),
        )
        for each in figures.attributes
    )


def _model(figures: ModelFigures, formatter: Formatter) -> tuple[ImportLine, ...]:
    count = formatter.count
    lines = [
        ImportLine(tr("Parameters"), billions(figures.parameters, formatter), count(figures.parameters)),
        ImportLine(
            tr("Active for a token"),
            billions(figures.active_parameters, formatter),
            tr("with the LM head, without the embedding"),
        ),
        ImportLine(tr("KV cache a token"), *_cache(figures, formatter)),
        ImportLine(tr("Layers"), count(figures.layers)),
        ImportLine(tr("Hidden size"), count(figures.hidden_size)),
        ImportLine(tr("Vocabulary"), count(figures.vocab_size)),
        ImportLine(tr("Longest context"), _tokens(figures.max_context, formatter)),
        ImportLine(
            tr("Stored in"), UNKNOWN if figures.precision is None else precision_name(figures.precision)
        ),
    ]
    if figures.state_bytes:
        state = formatter.memory(figures.state_bytes)
        lines.insert(3, ImportLine(tr("State of a sequence"), state, tr("whatever its length")))
    return tuple(lines)


def billions(parameters: int, formatter: Formatter) -> str:
    """Return a number of parameters as `70.6 billion`, below a billion in millions."""
    if parameters >= _BILLION:
        return tr("{n} billion", n=formatter.number(parameters / _BILLION, 1))
    return tr("{n} million", n=formatter.number(parameters / _MILLION, 1))


def _cache(figures: ModelFigures, formatter: Formatter) -> tuple[str, str]:
    """Return the bytes of a token in layers without a window, and what those with one add."""
    at = tr("at 16 bits a number")
    if not figures.window:
        return formatter.memory(figures.kv_bytes_per_token), at
    windowed = tr(
        "{memory} more up to {window} tokens",
        memory=formatter.memory(figures.windowed_bytes_per_token),
        window=formatter.count(figures.window),
    )
    return formatter.memory(figures.kv_bytes_per_token), f"{at}; {windowed}"


def _tokens(tokens: int | None, formatter: Formatter) -> str:
    return UNKNOWN if tokens is None else tr("{n} tokens", n=formatter.count(tokens))


def price_lines(prices: tuple[PriceFigures, ...], formatter: Formatter) -> tuple[PriceLine, ...]:
    """Return the ranges of prices by part and term, in US dollars."""
    return tuple(_price(each, formatter) for each in prices)


def _price(figures: PriceFigures, formatter: Formatter) -> PriceLine:
    found = figures.range
    decimals = 0 if found.term == PURCHASE else 2
    low, median, high = (
        formatter.number(amount, decimals) for amount in (found.low, found.median, found.high)
    )
    count = formatter.count(found.count)
    return PriceLine((figures.name, word(found.term), count, low, median, high, _dates(found)))


def _dates(found: PriceRange) -> str:
    if found.oldest is None or found.newest is None:
        return tr("undated")
    if found.oldest == found.newest:
        return found.oldest
    return f"{found.oldest} – {found.newest}"


def kind_word(kind: str) -> str:
    """Return what a proposal is called by its kind."""
    words = {
        "model": tr("Model"),
        "accelerator": tr("Accelerator"),
        "prices": tr("Prices"),
        "pack": tr("Catalog pack"),
    }
    return words[kind]
