"""Prices from CSV lists: gpuhunt, SkyPilot and a plain list."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from gpudesk.catalog.importing.fields import clean_text, make_file_source
from gpudesk.catalog.importing.price_names import AcceleratorNames, NamedAccelerator, NameMismatch, read_price_names
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.field_checks import NOT_UTF8
from gpudesk.domain.user_facts import MOST_FACTS, ImportProposal, UserFact, UserPrice
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, input_error, message, message_n, quote_input

ON_DEMAND: Final = "on_demand"
SPOT: Final = "spot"

#: Hourly rents of one accelerator in US dollars; amounts outside are mistakes.
_LEAST_USD: Final = 0.001
_MOST_USD: Final = 1000.0
_MOST_ACCELERATORS: Final = 1024
_DOLLARS: Final = frozenset({"USD", "US$", "$"})
_LONGEST_CELL: Final = 200
_LONGEST_QUOTED: Final = 40
_MOST_NAMED: Final = 8
_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?|\.[0-9]{1,20}")
_DATE: Final = re.compile(r"20[0-9]{2}-[01][0-9]-[0-3][0-9]")
_DATE_IN_NAME: Final = re.compile(r"(?<![0-9])(20[0-9]{2})[-_.]?([01][0-9])[-_.]?([0-3][0-9])(?![0-9])")
_ZONES: Final = (re.compile(r"([a-z]+-[a-z]+[0-9]{1,2})-[a-z]"), re.compile(r"([a-z]{2}(?:-[a-z]+)+-[0-9])[a-z]"))


class InvalidRowError(ValueError):
    """A row with an invalid cell for its column; the argument is the cell."""


class PriceColumns:
    """The columns of a list by name, in any order, case and separators."""

    def __init__(self, header: Sequence[str], separator: str = ",") -> None:
        """Take the first row; with semicolons as separators a comma in a number is the decimal sign."""
        self._decimal_comma = separator == ";"
        self._places: dict[str, int] = {}
        for place, name in enumerate(header):
            self._places.setdefault(normalize_column(name), place)

    def has(self, *names: str) -> bool:
        return all(normalize_column(name) in self._places for name in names)

    def cell(self, row: Sequence[str], name: str) -> str:
        """Return a cell without surrounding spaces, empty if missing; `name` as by `column`."""
        place = self._places.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""

    def number(self, row: Sequence[str], name: str) -> float | None:
        """Return a number above zero; None for an empty cell or 0. Raises `InvalidRowError` for anything else."""
        cell = self.cell(row, name)
        if self._decimal_comma:
            cell = cell.replace(",", ".")
        if not cell:
            return None
        if not _NUMBER.fullmatch(cell):
            raise InvalidRowError(cell)
        return float(cell) or None

    def check_currency(self, row: Sequence[str]) -> None:
        """Raise `InvalidRowError` for a currency other than US dollars."""
        currency = self.cell(row, "currency")
        if currency and currency.upper() not in _DOLLARS:
            raise InvalidRowError(currency)

    def text(self, row: Sequence[str], name: str) -> str | None:
        """Return a cell as text, None if it is empty; raises `InvalidRowError` for unprintable text."""
        cell = self.cell(row, name)
        if len(cell) > _LONGEST_CELL or not cell.isprintable():
            raise InvalidRowError(cell)
        return cell or None


def normalize_column(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


@frozen_dataclass
class RentalOffer:
    """One price of one row: `usd` is for `count` accelerators and one hour."""

    name: str
    count: float
    usd: float
    term: str
    provider: str | None
    region: str | None
    instance: str | None
    date: str | None
    memory_gb: float | None = None
    note: str | None = None
    source: Source | None = None


def check_day(cell: str, today: str) -> str | None:
    """Return a day that is not in the future, None if the cell is empty; raises `InvalidRowError` for anything else."""
    if not cell:
        return None
    try:
        if not _DATE.fullmatch(cell) or date.fromisoformat(cell).isoformat() > today:
            raise InvalidRowError(cell)
    except ValueError:
        raise InvalidRowError(cell) from None
    return cell


def find_day_in_name(name: str, today: str) -> str | None:
    """Return the day in the name of a file, None without one or if it is in the future."""
    for match in _DATE_IN_NAME.finditer(name):
        try:
            day = date(*map(int, match.groups())).isoformat()
        except ValueError:
            continue
        if day <= today:
            return day
    return None


def find_provider_name(name: str) -> str:
    """Return a provider's own name; an unknown name stays unchanged."""
    return read_price_names().providers.get(name.lower(), name)


def find_provider_in_name(name: str) -> str | None:
    """Return the provider in the path or name of a file."""
    words = re.split(r"[^a-z]+", name.lower())
    if words[:2] in (["do", "vms"], ["do", "csv"]):
        # Its folder in SkyPilot's catalog; elsewhere an ordinary word.
        words = ["digitalocean"]
    providers = read_price_names().providers
    return next((providers[word] for word in words if word in providers), None)


def find_region(location: str | None) -> str | None:
    """Return the region of a zone; any other location is returned unchanged."""
    for pattern in _ZONES:
        if location and (match := pattern.fullmatch(location)):
            return match[1]
    return location


class PriceCollector:
    """Collects offers as prices, each once, and counts omissions."""

    def __init__(self, source: Source, names: AcceleratorNames, kind: SourceKind) -> None:
        self._source = source
        self._names = names
        self._kind = kind
        self._sources: dict[str, Source] = {source.id: source}
        self._prices: dict[str, UserPrice] = {}
        self._lacking: dict[NameMismatch, Counter[str]] = {lack: Counter() for lack in NameMismatch}
        self._amounts: dict[tuple[object, ...], float] = {}
        self._repeated = 0
        self._contradicting = 0
        self._invalid = 0
        #: The first invalid cell and its row, counted from 1 with the header.
        self._first_invalid = ("", 0)
        self.without_accelerator = 0
        self.without_price = 0

    def leave_out(self, cell: str, row_number: int) -> None:
        """Count a row that has an invalid cell."""
        if not self._invalid:
            self._first_invalid = (_make_printable(cell[:_LONGEST_QUOTED]), row_number)
        self._invalid += 1

    def take(self, offer: RentalOffer) -> None:
        """Take an offer; raises `InvalidRowError` for an unrealistic rent."""
        match = self._names.find(offer.name, offer.memory_gb, offer.instance or "")
        if isinstance(match, NameMismatch):
            self._lacking[match][offer.name[:_LONGEST_CELL]] += 1
            return
        price = self._make_price(match, offer)
        if price.id in self._prices:
            self._repeated += 1
            return
        if price.provider and price.date and self._amounts.setdefault(price.offer, price.usd or 0.0) != price.usd:
            self._contradicting += 1
            return
        if len(self._prices) >= MOST_FACTS:
            raise input_error(
                "import.prices.too_many",
                "has more than {most} prices for catalog accelerators; import only the ones you need",
                most=MOST_FACTS,
            )
        self._prices[price.id] = price
        source = offer.source or self._source
        self._sources.setdefault(source.id, source)

    def _make_price(self, match: NamedAccelerator, offer: RentalOffer) -> UserPrice:
        # A slice of chips is one offer by its name, or several by its count.
        count = match.chips if match.chips is not None and offer.count == 1 else offer.count
        usd = offer.usd / count
        if not (_LEAST_USD <= usd <= _MOST_USD and count <= _MOST_ACCELERATORS):
            raise InvalidRowError(f"{usd:.6g}")
        usd, source = round(usd, 6), (offer.source or self._source).id
        of = (offer.provider, offer.region, offer.instance, offer.date, offer.note)
        words = repr((source, match.part, offer.term, usd, count, *of)).encode("utf-8", "surrogatepass")
        return UserPrice(
            id=f"own-{match.part}-{hashlib.sha256(words).hexdigest()[:12]}",
            accelerator=match.part,
            term=offer.term,
            source=source,
            kind=self._kind,
            usd=usd,
            provider=offer.provider,
            region=offer.region,
            instance=offer.instance,
            accelerators_in_instance=int(count) if count == int(count) else None,
            date=offer.date,
            note=offer.note,
        )

    @property
    def count(self) -> int:
        return len(self._prices)

    def facts(self) -> tuple[UserFact, ...]:
        source_ids = {price.source for price in self._prices.values()}
        return (*(source for key, source in self._sources.items() if key in source_ids), *self._prices.values())

    def notes(self) -> Iterator[Message]:
        """Yield notes on the imported prices."""
        if self._repeated:
            yield message_n(
                "import.prices.repeated",
                "{count} row repeats a price for the same instance, region and day",
                "{count} rows repeat a price for the same instance, region and day, such as those of several zones",
                "count",
                count=self._repeated,
            )
        if self._prices and all(price.date is None for price in self._prices.values()):
            yield message("import.prices.undated", "The file has no dates, so the prices stay undated")
        if any(price.accelerator == "h200-sxm" for price in self._prices.values()):
            yield message("import.prices.h200", "H200 means the SXM module unless the list specifies NVL")

    def nothing(self) -> Message:
        """Return why the list has no usable price."""
        names = (
            self._lacking[NameMismatch.UNKNOWN]
            + self._lacking[NameMismatch.OTHER_PART]
            + self._lacking[NameMismatch.AMBIGUOUS]
        )
        if names:
            return message(
                "import.prices.no_part",
                "has no price for any catalog accelerator, judging by name ({names})",
                names=_count_names(names),
            )
        if self._invalid:
            cell, row = self._first_invalid
            return message(
                "import.prices.only_odd",
                "has no valid row; {cell} in row {row} is invalid: write prices as 3.10 and dates as 2026-12-31",
                cell=quote_input(cell),
                row=row,
            )
        return message("import.prices.none", "has no row with an accelerator and a price")

    def left_out(self) -> Iterator[Message]:
        """Yield the omissions, with the number of rows."""
        unknown = self._lacking[NameMismatch.UNKNOWN]
        if unknown:
            yield message_n(
                "import.prices.unknown",
                "{count} row with an accelerator outside the catalog: {names}",
                "{count} rows with accelerators outside the catalog: {names}",
                "count",
                count=unknown.total(),
                names=_count_names(unknown),
            )
        ambiguous = self._lacking[NameMismatch.AMBIGUOUS]
        if ambiguous:
            yield message_n(
                "import.prices.ambiguous",
                "{count} row with an ambiguous accelerator name, unresolved by memory or instance: {names}",
                "{count} rows with an ambiguous accelerator name, unresolved by memory or instance: {names}",
                "count",
                count=ambiguous.total(),
                names=_count_names(ambiguous),
            )
        other = self._lacking[NameMismatch.OTHER_PART]
        if other:
            yield message_n(
                "import.prices.other_part",
                "{count} row with a variant outside the catalog, by memory or form factor: {names}",
                "{count} rows with a variant outside the catalog, by memory or form factor: {names}",
                "count",
                count=other.total(),
                names=_count_names(other),
            )
        if self._contradicting:
            yield message_n(
                "import.prices.contradicting",
                "{count} row with a second price of one provider, accelerator, term, instance, region and date",
                "{count} rows with a second price of one provider, accelerator, term, instance, region and date",
                "count",
                count=self._contradicting,
            )
        if self.without_price:
            yield message_n(
                "import.prices.no_price",
                "{count} row without a price",
                "{count} rows without a price",
                "count",
                count=self.without_price,
            )
        if self.without_accelerator:
            yield message_n(
                "import.prices.no_accelerator",
                "{count} row without an accelerator",
                "{count} rows without an accelerator",
                "count",
                count=self.without_accelerator,
            )
        if self._invalid:
            cell, row = self._first_invalid
            yield message_n(
                "import.prices.odd",
                "{count} row with an invalid cell, {cell} in row {row}; prices are realistic plain US dollars, and "
                "dates are past and written as 2026-12-31",
                "{count} rows with an invalid cell, the first {cell} in row {row}; prices are realistic plain US "
                "dollars, and dates are past and written as 2026-12-31",
                "count",
                count=self._invalid,
                cell=quote_input(cell),
                row=row,
            )


def _count_names(counts: Mapping[str, int]) -> tuple[str, ...]:
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    name_counts = tuple(f"{_make_printable(name)} × {count:,}" for name, count in ordered[:_MOST_NAMED])
    return (*name_counts, "…") if len(ordered) > _MOST_NAMED else name_counts


def _make_printable(name: str) -> str:
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)


GPUHUNT_PUBLISHER: Final = "gpuhunt"
GPUHUNT_COLUMNS: Final = ("gpu_name", "gpu_count", "price")
_SPOT: Final = {
    "true": SPOT,
    "1": SPOT,
    "yes": SPOT,
    "false": ON_DEMAND,
    "0": ON_DEMAND,
    "no": ON_DEMAND,
    "": ON_DEMAND,
}


def read_gpuhunt_row(
    columns: PriceColumns, row: Sequence[str], provider: str | None, date: str | None, _today: str
) -> Iterator[RentalOffer]:
    """Yield the price of a row; a row without accelerator or price has none. Raises `InvalidRowError`."""
    name = columns.text(row, "gpuname")
    count = columns.number(row, "gpucount")
    usd = columns.number(row, "price")
    spot = columns.cell(row, "spot").lower()
    if spot not in _SPOT:
        raise InvalidRowError(spot)
    if name is None or count is None or usd is None:
        return
    provider_name = columns.text(row, "provider")
    yield RentalOffer(
        name=name,
        count=count,
        usd=usd,
        term=_SPOT[spot],
        provider=find_provider_name(provider_name) if provider_name else provider,
        region=find_region(columns.text(row, "location")),
        instance=columns.text(row, "instancename"),
        date=date,
        memory_gb=columns.number(row, "gpumemory"),
    )


PLAIN_PUBLISHER: Final = "Price list"
PLAIN_COLUMNS: Final = ("accelerator", "usd_per_accelerator_hour")
_TERM: Final = re.compile(r"[a-z0-9][a-z0-9_]{0,39}")


def read_plain_row(
    columns: PriceColumns, row: Sequence[str], provider: str | None, date: str | None, today: str
) -> Iterator[RentalOffer]:
    """Yield the price of a row; raises `InvalidRowError`."""
    name, usd = columns.text(row, "accelerator"), columns.number(row, "usdperacceleratorhour")
    if name is None or usd is None:
        return
    term = re.sub(r"[\s-]+", "_", columns.cell(row, "term").lower()) or ON_DEMAND
    if not _TERM.fullmatch(term):
        raise InvalidRowError(term)
    provider_name, title = columns.text(row, "provider"), columns.text(row, "source")
    row_date = check_day(columns.cell(row, "date"), today)
    yield RentalOffer(
        name=name,
        count=1,
        usd=usd,
        term=term,
        provider=find_provider_name(provider_name) if provider_name else provider,
        region=columns.text(row, "region"),
        instance=columns.text(row, "instance"),
        date=row_date or date,
        note=columns.text(row, "note"),
        source=None if title is None else make_file_source(title, provider_name or PLAIN_PUBLISHER, SourceKind.USER),
    )


SKYPILOT_PUBLISHER: Final = "SkyPilot"
SKYPILOT_COLUMNS: Final = ("AcceleratorName", "AcceleratorCount", "Price")
#: The size in the description of the accelerator, which some providers give in MiB and others in GiB.
_SIZE: Final = re.compile(r"'SizeInMiB': ([0-9]{1,7})(?:\.[0-9]+)?\b")
_LEAST_MIB: Final = 2048
_LONGEST_DESCRIPTION: Final = 2000


def read_skypilot_row(
    columns: PriceColumns, row: Sequence[str], provider: str | None, date: str | None, _today: str
) -> Iterator[RentalOffer]:
    """Yield the prices of a row, on demand and spot; raises `InvalidRowError`."""
    name = columns.text(row, "acceleratorname")
    count = columns.number(row, "acceleratorcount")
    prices = [(term, columns.number(row, cell)) for term, cell in ((ON_DEMAND, "price"), (SPOT, "spotprice"))]
    if name is None or count is None:
        return
    region, instance = columns.text(row, "region"), columns.text(row, "instancetype")
    memory = _find_memory_gb(columns.cell(row, "gpuinfo"))
    for term, usd in prices:
        if usd is not None:
            yield RentalOffer(name, count, usd, term, provider, region, instance, date, memory)


def _find_memory_gb(description: str) -> float | None:
    match = _SIZE.search(description[:_LONGEST_DESCRIPTION])
    if match is None:
        return None
    size = float(match[1])
    return (size / 1024 if size >= _LEAST_MIB else size) or None


#: Rows between two reports, few enough to keep a window responsive.
_STEP: Final = 200
#: The lists of the largest clouds have a third of that. A row takes 20 µs.
_MOST_ROWS: Final = 250_000
_LONGEST_ROW: Final = 1_000_000
_TOO_MANY_ROWS: Final = message("import.prices.many", "has more than {most} rows, the limit", most=_MOST_ROWS)
_LONGEST_HEADER: Final = 10_000
_SEPARATORS: Final = ",;\t"

_RowReader = Callable[[PriceColumns, Sequence[str], str | None, str | None, str], Iterator[RentalOffer]]
#: The columns that identify a list, its maker, the kind of its figures, and its reader.
_ListFormat = tuple[tuple[str, ...], str, SourceKind, _RowReader]
_LIST_FORMATS: Final[tuple[_ListFormat, ...]] = (
    (GPUHUNT_COLUMNS, GPUHUNT_PUBLISHER, SourceKind.INDEPENDENT, read_gpuhunt_row),
    (SKYPILOT_COLUMNS, SKYPILOT_PUBLISHER, SourceKind.INDEPENDENT, read_skypilot_row),
    (PLAIN_COLUMNS, PLAIN_PUBLISHER, SourceKind.USER, read_plain_row),
)


def propose_prices(
    data: bytes,
    *,
    name: str,
    today: str,
    provider: str | None = None,
    date: str | None = None,
    parts: Mapping[str, str] | None = None,
) -> Generator[tuple[int, int], None, ImportProposal]:
    """Read a list of prices; yield how many rows of how many are done, return the proposal.

    `name` is that of the file, which often has provider and day; the file's own date is not one of prices, so a list
    without a date is undated. `parts` are ids and names of all accelerators of the catalog. Raises `InputError` if the
    file is not such a list.
    """
    total = data.count(b"\n")
    if total > _MOST_ROWS:
        raise InputError(_TOO_MANY_ROWS)
    rows, columns, list_format = _open_list(data)
    _, publisher, kind, offers = list_format
    provider = provider or find_provider_in_name(name)
    date = date or find_day_in_name(name, today)
    source = make_file_source(name, publisher, kind, date=date)
    prices = PriceCollector(source, AcceleratorNames(parts), kind)
    for row_number, row in enumerate(rows, start=2):
        if row_number % _STEP == 0:
            yield row_number, max(total, row_number)
        try:
            _take_row(prices, columns, row, lambda row: offers(columns, row, provider, date, today))
        except InvalidRowError as error:
            prices.leave_out(str(error), row_number)
    if not prices.count:
        raise InputError(prices.nothing())
    return ImportProposal("prices", clean_text(name), prices.facts(), tuple(prices.notes()), tuple(prices.left_out()))


def _take_row(
    prices: PriceCollector,
    columns: PriceColumns,
    row: Sequence[str],
    offers: Callable[[Sequence[str]], Iterator[RentalOffer]],
) -> None:
    """Collect the prices of a row; raises `InvalidRowError`."""
    if not any(row):
        return
    columns.check_currency(row)
    row_offers = list(offers(row))
    for offer in row_offers:
        prices.take(offer)
    if not row_offers:
        has_name = any(columns.cell(row, each) for each in ("gpuname", "acceleratorname", "accelerator"))
        prices.without_price += has_name
        prices.without_accelerator += not has_name


def _open_list(data: bytes) -> tuple[Iterator[list[str]], PriceColumns, _ListFormat]:
    begin = data[:_LONGEST_HEADER].removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    header = next(iter(begin.splitlines()), "")
    for separator in _SEPARATORS:
        columns = PriceColumns(next(csv.reader([header], delimiter=separator), []), separator)
        list_format = next((each for each in _LIST_FORMATS if columns.has(*each[0])), None)
        if list_format is not None:
            lines = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
            # Strictly: otherwise an open quotation mark swallows all rows behind it.
            rows = csv.reader(_iterate_lines(lines), delimiter=separator, strict=True)
            return _iterate_rows(rows), columns, list_format
    raise input_error(
        "import.prices.columns",
        "has no known price columns; supported columns: {columns}",
        columns=tuple(_describe_columns()),
    )


def _iterate_lines(lines: io.TextIOWrapper) -> Iterator[str]:
    number = 0
    while line := lines.readline(_LONGEST_ROW):
        number += 1
        if len(line) == _LONGEST_ROW:
            raise input_error(
                "import.prices.long_row",
                "has more than {most} characters in row {row}; check the file",
                row=number,
                most=_LONGEST_ROW,
            )
        yield line


def _iterate_rows(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the rows below the header as long as they are text."""
    number = 1
    try:
        next(rows)
        for number, row in enumerate(rows, start=2):
            if number > _MOST_ROWS:
                raise InputError(_TOO_MANY_ROWS)
            yield row
    except UnicodeDecodeError:
        raise InputError(NOT_UTF8) from None
    except csv.Error:
        raise input_error(
            "import.prices.damaged",
            "cannot be read from row {row}; a quotation mark there is not closed",
            row=number + 1,
        ) from None


def _describe_columns() -> Iterator[str]:
    for columns_needed, publisher, *_ in _LIST_FORMATS:
        yield f"{' + '.join(columns_needed)} ({publisher})"
