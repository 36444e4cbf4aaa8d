"""Prices from a CSV file, whichever of the known lists it is; columns are read by their names."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Final

from gpudesk.catalog.importing import prices_gpuhunt, prices_plain, prices_skypilot
from gpudesk.catalog.importing.file_sources import file_source, plain_text
from gpudesk.catalog.importing.price_names import PartNames
from gpudesk.catalog.importing.price_rows import (
    Columns,
    OddRowError,
    Offer,
    Prices,
    day_of_name,
    provider_of_name,
)
from gpudesk.domain.claims import Kind
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Proposal

#: Rows between two reports, short enough that a window beside it moves on.
_STEP: Final = 200
_MOST_ROWS: Final = 1_000_000
_LONGEST_HEADER: Final = 10_000
_SEPARATORS: Final = ",;\t"

_Reader = Callable[[Columns, Sequence[str], str | None, str | None, str], Iterator[Offer]]
#: The columns by which a list is known, who makes it, what its figures are, and what reads a row.
_List = tuple[tuple[str, ...], str, Kind, _Reader]
_LISTS: Final[tuple[_List, ...]] = (
    (prices_gpuhunt.COLUMNS, prices_gpuhunt.PUBLISHER, Kind.INDEPENDENT, prices_gpuhunt.offers),
    (prices_skypilot.COLUMNS, prices_skypilot.PUBLISHER, Kind.INDEPENDENT, prices_skypilot.offers),
    (prices_plain.COLUMNS, prices_plain.PUBLISHER, Kind.USER, prices_plain.offers),
)


def propose_prices(
    data: bytes,
    *,
    name: str,
    today: str,
    provider: str | None = None,
    date: str | None = None,
    parts: Mapping[str, str] | None = None,
) -> Generator[tuple[int, int], None, Proposal]:
    """Read a list of prices; yield how many rows of how many are done, return what they would bring.

    `name` is that of the file, which often says provider and day; a day of the file itself is not one of
    prices, so that a list without is undated. `parts` are ids and names of all accelerators of the catalog.
    Raises `InputError` where the file is no such list.
    """
    rows, columns, known = _opened(data)
    _, publisher, kind, offers = known
    provider = provider or provider_of_name(name)
    date = date or day_of_name(name, today)
    source = file_source(name, publisher, kind, date=date)
    prices = Prices(source, PartNames(parts), kind)
    total = data.count(b"\n")
    for done, row in enumerate(rows, start=1):
        if done % _STEP == 0:
            yield done, max(total, done)
        _take(prices, columns, row, lambda row: offers(columns, row, provider, date, today))
    if not prices.count:
        raise InputError(prices.nothing())
    return Proposal(
        "prices", plain_text(name), prices.facts(), tuple(prices.notes()), tuple(prices.left_out())
    )


def _take(
    prices: Prices, columns: Columns, row: Sequence[str], offers: Callable[[Sequence[str]], Iterator[Offer]]
) -> None:
    """Take the offers of a row, or count why there are none."""
    if not any(row):
        return
    try:
        found = list(offers(row))
        for offer in found:
            prices.take(offer)
    except OddRowError:
        prices.odd += 1
        return
    if not found:
        named = any(columns.cell(row, each) for each in ("gpuname", "acceleratorname", "accelerator"))
        prices.without_price += named
        prices.without_accelerator += not named


def _opened(data: bytes) -> tuple[Iterator[list[str]], Columns, _List]:
    """Return the rows below the header, the columns, and which list it is."""
    begin = data[:_LONGEST_HEADER].removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    header = next(iter(begin.splitlines()), "")
    for separator in _SEPARATORS:
        columns = Columns(next(csv.reader([header], delimiter=separator), []), separator)
        known = next((each for each in _LISTS if columns.has(*each[0])), None)
        if known is not None:
            lines = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
            rows = csv.reader(lines, delimiter=separator)
            return _checked(rows), columns, known
    raise InputError(message("import.prices.columns", columns=tuple(_shown_columns())))


def _checked(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the rows below the header as long as they are rows of text."""
    number = 1
    try:
        next(rows)
        for number, row in enumerate(rows, start=2):
            if number > _MOST_ROWS:
                raise InputError(message("import.prices.many", most=_MOST_ROWS))
            yield row
    except UnicodeDecodeError:
        raise InputError(message("import.not_text")) from None
    except csv.Error:
        raise InputError(message("import.prices.damaged", row=number + 1)) from None


def _shown_columns() -> Iterator[str]:
    """Yield the columns by which each list is known."""
    for wanted, publisher, *_ in _LISTS:
        yield f"{' + '.join(wanted)} ({publisher})"
