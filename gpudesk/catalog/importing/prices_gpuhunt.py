"""Offers as gpuhunt lists them: one price a row, for a whole instance, on demand or spot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gpudesk.catalog.importing.price_rows import (
    ON_DEMAND,
    SPOT,
    Columns,
    OddRowError,
    Offer,
    provider_name,
    region_of_zone,
)

PUBLISHER: Final = "gpuhunt"
COLUMNS: Final = ("gpu_name", "gpu_count", "price")
_SPOT: Final = {
    "true": SPOT,
    "1": SPOT,
    "yes": SPOT,
    "false": ON_DEMAND,
    "0": ON_DEMAND,
    "no": ON_DEMAND,
    "": ON_DEMAND,
}


def offers(
    columns: Columns, row: Sequence[str], provider: str | None, date: str | None, _today: str
) -> Iterator[Offer]:
    """Yield the price of a row; a row without accelerator or price has none. Raises `OddRowError`."""
    name = columns.text(row, "gpuname")
    count = columns.number(row, "gpucount")
    usd = columns.number(row, "price")
    spot = columns.cell(row, "spot").lower()
    if spot not in _SPOT:
        raise OddRowError(spot)
    if name is None or count is None or usd is None:
        return
    given = columns.text(row, "provider")
    yield Offer(
        name=name,
        count=count,
        usd=usd,
        term=_SPOT[spot],
        provider=provider_name(given) if given else provider,
        region=region_of_zone(columns.text(row, "location")),
        instance=columns.text(row, "instancename"),
        date=date,
        memory_gb=columns.number(row, "gpumemory"),
    )
