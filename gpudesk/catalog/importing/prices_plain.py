"""Offers as anybody can write them: a row a price, already of one accelerator and hour.

Columns: accelerator (an id or a name), usd_per_accelerator_hour, and as far as known term, provider, region,
instance, date, source, note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gpudesk.catalog.importing.file_sources import file_source
from gpudesk.catalog.importing.price_rows import ON_DEMAND, Columns, OddRowError, Offer, day, provider_name
from gpudesk.domain.claims import Kind

PUBLISHER: Final = "Price list"
COLUMNS: Final = ("accelerator", "usd_per_accelerator_hour")
_TERM: Final = re.compile(r"[a-z0-9][a-z0-9_]{0,39}")


def offers(
    columns: Columns, row: Sequence[str], provider: str | None, date: str | None, today: str
) -> Iterator[Offer]:
    """Yield the price of a row; raises `OddRowError`."""
    name, usd = columns.text(row, "accelerator"), columns.number(row, "usdperacceleratorhour")
    if name is None or usd is None:
        return
    term = re.sub(r"[\s-]+", "_", columns.cell(row, "term").lower()) or ON_DEMAND
    if not _TERM.fullmatch(term):
        raise OddRowError(term)
    given, title = columns.text(row, "provider"), columns.text(row, "source")
    stated = day(columns.cell(row, "date"), today)
    yield Offer(
        name=name,
        count=1,
        usd=usd,
        term=term,
        provider=provider_name(given) if given else provider,
        region=columns.text(row, "region"),
        instance=columns.text(row, "instance"),
        date=stated or date,
        note=columns.text(row, "note"),
        source=None if title is None else file_source(title, given or PUBLISHER, Kind.USER),
    )
