"""Offers as the catalog of SkyPilot lists them: a row an instance and zone, with up to two prices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gpudesk.catalog.importing.price_rows import ON_DEMAND, SPOT, Columns, Offer

PUBLISHER: Final = "SkyPilot"
COLUMNS: Final = ("AcceleratorName", "AcceleratorCount", "Price")
#: The size in the description of the accelerator, which some providers give in MiB and others in GiB.
_SIZE: Final = re.compile(r"'SizeInMiB': ([0-9]{1,7})(?:\.[0-9]+)?\b")
_LEAST_MIB: Final = 2048
_LONGEST_DESCRIPTION: Final = 2000


def offers(
    columns: Columns, row: Sequence[str], provider: str | None, date: str | None, _today: str
) -> Iterator[Offer]:
    """Yield the prices of a row, on demand and spot; raises `OddRowError`."""
    name = columns.text(row, "acceleratorname")
    count = columns.number(row, "acceleratorcount")
    prices = [(term, columns.number(row, cell)) for term, cell in ((ON_DEMAND, "price"), (SPOT, "spotprice"))]
    if name is None or count is None:
        return
    region, instance = columns.text(row, "region"), columns.text(row, "instancetype")
    memory = _memory_gb(columns.cell(row, "gpuinfo"))
    for term, usd in prices:
        if usd is not None:
            yield Offer(name, count, usd, term, provider, region, instance, date, memory)


def _memory_gb(description: str) -> float | None:
    """Return the memory of one accelerator as its label has it."""
    match = _SIZE.search(description[:_LONGEST_DESCRIPTION])
    if match is None:
        return None
    size = float(match[1])
    return (size / 1024 if size >= _LEAST_MIB else size) or None
