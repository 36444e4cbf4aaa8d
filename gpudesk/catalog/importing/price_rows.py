"""Rows of price lists on their way to prices: cells read with care, offers collected, the rest counted.

Nothing in a cell is believed: a number is a number in plain digits and in a range that rents have, a text is
one line of what prints. A row that is not so is counted and left.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from gpudesk.catalog.importing.price_names import Lack, Named, PartNames
from gpudesk.domain.claims import Kind, Source
from gpudesk.domain.messages import Message, message
from gpudesk.domain.own_facts import OwnFact, OwnPrice

ON_DEMAND: Final = "on_demand"
SPOT: Final = "spot"

#: Rents of one accelerator by the hour, in US dollars, outside of which a figure is a slip.
_LEAST_USD: Final = 0.001
_MOST_USD: Final = 1000.0
_MOST_ACCELERATORS: Final = 1024
_LONGEST_CELL: Final = 200
_MOST_NAMED: Final = 8
_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,15})?(?:[eE][+-]?[0-9]{1,2})?|\.[0-9]{1,15}")
_DATE: Final = re.compile(r"20[0-9]{2}-[01][0-9]-[0-3][0-9]")
_DATE_IN_NAME: Final = re.compile(r"(?<![0-9])(20[0-9]{2})[-_.]?([01][0-9])[-_.]?([0-3][0-9])(?![0-9])")
_ZONES: Final = (
    re.compile(r"([a-z]+-[a-z]+[0-9]{1,2})-[a-z]"),
    re.compile(r"([a-z]{2}(?:-[a-z]+)+-[0-9])[a-z]"),
)

_PROVIDERS: Final = {
    "aws": "AWS",
    "azure": "Azure",
    "cloudrift": "CloudRift",
    "crusoe": "Crusoe",
    "cudo": "Cudo Compute",
    "cudocompute": "Cudo Compute",
    "datacrunch": "Verda (DataCrunch)",
    "digitalocean": "DigitalOcean",
    "fluidstack": "FluidStack",
    "gcp": "Google Cloud",
    "hotaisle": "Hot Aisle",
    "hyperbolic": "Hyperbolic",
    "hyperstack": "Hyperstack",
    "ibm": "IBM Cloud",
    "jarvislabs": "JarvisLabs",
    "koyeb": "Koyeb",
    "lambda": "Lambda",
    "lambdalabs": "Lambda",
    "lium": "Lium",
    "mithril": "Mithril",
    "nebius": "Nebius",
    "oci": "Oracle Cloud (OCI)",
    "ovhcloud": "OVHcloud",
    "paperspace": "Paperspace",
    "primeintellect": "Prime Intellect",
    "runpod": "RunPod",
    "scaleway": "Scaleway",
    "seeweb": "Seeweb",
    "shadeform": "Shadeform",
    "tensordock": "TensorDock",
    "tensorwave": "TensorWave",
    "vast": "Vast.ai",
    "vastai": "Vast.ai",
    "verda": "Verda (DataCrunch)",
    "vultr": "Vultr",
}


class OddRowError(ValueError):
    """A row with a cell that cannot be what its column says."""


class Columns:
    """The columns of a list by name, whatever their order, case and separators."""

    def __init__(self, header: Sequence[str], separator: str = ",") -> None:
        """Take the first row; between semicolons a comma in a number is the decimal sign."""
        self._decimal_comma = separator == ";"
        self._places: dict[str, int] = {}
        for place, name in enumerate(header):
            self._places.setdefault(column(name), place)

    def has(self, *names: str) -> bool:
        """Whether all of these are there."""
        return all(column(name) in self._places for name in names)

    def cell(self, row: Sequence[str], name: str) -> str:
        """Return a cell without the space around it, empty where there is none; `name` as by `column`."""
        place = self._places.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""

    def number(self, row: Sequence[str], name: str) -> float | None:
        """Return a number above zero; None for an empty cell or 0. Raises `OddRowError` for anything else."""
        cell = self.cell(row, name)
        if self._decimal_comma:
            cell = cell.replace(",", ".")
        if not cell:
            return None
        if not _NUMBER.fullmatch(cell):
            raise OddRowError(cell)
        return float(cell) or None

    def text(self, row: Sequence[str], name: str) -> str | None:
        """Return a cell as text, None where it is empty; raises `OddRowError` for what does not print."""
        cell = self.cell(row, name)
        if len(cell) > _LONGEST_CELL or not cell.isprintable():
            raise OddRowError(cell)
        return cell or None


def column(name: str) -> str:
    """Return the name of a column without case and separators."""
    return re.sub(r"[\s_-]+", "", name).lower()


@dataclass(frozen=True, slots=True)
class Offer:
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


def day(cell: str, today: str) -> str | None:
    """Return a day that has come, None where the cell is empty; raises `OddRowError` for anything else."""
    if not cell:
        return None
    try:
        if not _DATE.fullmatch(cell) or date.fromisoformat(cell).isoformat() > today:
            raise OddRowError(cell)
    except ValueError:
        raise OddRowError(cell) from None
    return cell


def day_of_name(name: str, today: str) -> str | None:
    """Return the day in the name of a file, None where there is none that has come."""
    for match in _DATE_IN_NAME.finditer(name):
        try:
            found = date(*map(int, match.groups())).isoformat()
        except ValueError:
            continue
        if found <= today:
            return found
    return None


def provider_name(given: str) -> str:
    """Return what a provider calls itself; a name that is not known stays as it is."""
    return _PROVIDERS.get(given.lower(), given)


def provider_of_name(name: str) -> str | None:
    """Return the provider that the path or name of a file gives away."""
    words = re.split(r"[^a-z]+", name.lower())
    if words[:2] in (["do", "vms"], ["do", "csv"]):
        # Its folder in SkyPilot's catalog; elsewhere a word of the language.
        return _PROVIDERS["digitalocean"]
    return next((_PROVIDERS[word] for word in words if word in _PROVIDERS), None)


def region_of_zone(location: str | None) -> str | None:
    """Return the region that a zone lies in; another location stays as it is."""
    for pattern in _ZONES:
        if location and (match := pattern.fullmatch(location)):
            return match[1]
    return location


class Prices:
    """Collects offers as prices, each once, and counts what is left out."""

    def __init__(self, source: Source, names: PartNames, kind: Kind) -> None:
        """Collect prices of one list."""
        self._source = source
        self._names = names
        self._kind = kind
        self._sources: dict[str, Source] = {source.id: source}
        self._prices: dict[str, OwnPrice] = {}
        self._lacking: dict[Lack, Counter[str]] = {lack: Counter() for lack in Lack}
        self._repeated = 0
        self.odd = 0
        self.without_accelerator = 0
        self.without_price = 0

    def take(self, offer: Offer) -> None:
        """Take an offer; raises `OddRowError` for an amount that no accelerator is let for."""
        found = self._names.find(offer.name, offer.memory_gb, offer.instance or "")
        if isinstance(found, Lack):
            self._lacking[found][offer.name[:_LONGEST_CELL]] += 1
            return
        price = self._price(found, offer)
        if price.id in self._prices:
            self._repeated += 1
            return
        self._prices[price.id] = price
        source = offer.source or self._source
        self._sources.setdefault(source.id, source)

    def _price(self, found: Named, offer: Offer) -> OwnPrice:
        # A slice of chips is one offer by its name, or so many by its count.
        count = found.chips if found.chips is not None and offer.count == 1 else offer.count
        usd = offer.usd / count
        if not (_LEAST_USD <= usd <= _MOST_USD and count <= _MOST_ACCELERATORS):
            raise OddRowError(offer.name)
        usd, source = round(usd, 6), (offer.source or self._source).id
        of = (offer.provider, offer.region, offer.instance, offer.date, offer.note)
        words = repr((source, found.part, offer.term, usd, count, *of)).encode("utf-8", "surrogatepass")
        return OwnPrice(
            id=f"own-{found.part}-{hashlib.sha256(words).hexdigest()[:12]}",
            accelerator=found.part,
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
        """How many prices there are."""
        return len(self._prices)

    def facts(self) -> tuple[OwnFact, ...]:
        """Return the sources that are named, and the prices."""
        named = {price.source for price in self._prices.values()}
        return (*(source for key, source in self._sources.items() if key in named), *self._prices.values())

    def notes(self) -> Iterator[Message]:
        """Yield what the user should know of the prices that are taken."""
        if self._repeated:
            yield message("import.prices.repeated", count=self._repeated)
        if self._prices and all(price.date is None for price in self._prices.values()):
            yield message("import.prices.undated")
        if any(price.accelerator == "h200-sxm" for price in self._prices.values()):
            yield message("import.prices.h200")

    def nothing(self) -> Message:
        """Say why there is no price at all."""
        names = self._lacking[Lack.UNKNOWN] + self._lacking[Lack.OTHER_PART] + self._lacking[Lack.AMBIGUOUS]
        if names:
            return message("import.prices.no_part", names=_named(names))
        return message("import.prices.none")

    def left_out(self) -> Iterator[Message]:
        """Yield what is not taken, with how many rows that is."""
        unknown = self._lacking[Lack.UNKNOWN]
        if unknown:
            yield message("import.prices.unknown", count=unknown.total(), names=_named(unknown))
        ambiguous = self._lacking[Lack.AMBIGUOUS]
        if ambiguous:
            yield message("import.prices.ambiguous", count=ambiguous.total(), names=_named(ambiguous))
        other = self._lacking[Lack.OTHER_PART]
        if other:
            yield message("import.prices.other_part", count=other.total(), names=_named(other))
        if self.without_price:
            yield message("import.prices.no_price", count=self.without_price)
        if self.without_accelerator:
            yield message("import.prices.no_accelerator", count=self.without_accelerator)
        if self.odd:
            yield message("import.prices.odd", count=self.odd)


def _named(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the most frequent names with their numbers of rows."""
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = tuple(f"{_shown(name)} × {count:,}" for name, count in ordered[:_MOST_NAMED])
    return (*named, "…") if len(ordered) > _MOST_NAMED else named


def _shown(name: str) -> str:
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)
