"""How long the user's file keeps a person waiting, with as many facts as a large company has."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gpudesk.catalog.user_store.user_file import UserFile
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.user_facts import FactEdit, UserClaim, UserFact, UserPrice
from gpudesk.text.messages import message

NUMBER = 10_000
#: Seconds from a closed file to its facts.
OPENING = 0.15
#: Seconds that one change may take.
ONE = 0.02
#: Seconds that a list of prices may take.
MANY = 1.0

_SOURCES = tuple(Source(f"own-{each}", f"List {each}", "A provider", SourceKind.PRESS) for each in range(50))
_PRICES = tuple(
    UserPrice(
        f"own-price-{each}",
        "mi325x",
        "on_demand",
        f"own-{each % 50}",
        SourceKind.PRESS,
        1.5 + each / 1000,
        provider="A provider",
        region="us-east-1",
        instance="8x",
        accelerators_in_instance=8,
        date="2026-07-01",
    )
    for each in range(NUMBER)
)
_CLAIMS = tuple(
    UserClaim(
        f"part-{each % 300}",
        f"attribute_{each}",
        5.3e12 + each,
        f"own-{each % 50}",
        SourceKind.USER,
        "2026-07-01",
        "5.3 TB/s",
        None,
        "as the list says",
    )
    for each in range(NUMBER)
)


def _put(*facts: UserFact) -> FactEdit:
    return FactEdit(message("own.step.add", "Add {name}", name="a list"), after=facts)


def _median(benchmark: BenchmarkFixture) -> float:
    """Return the seconds of the middle round."""
    assert benchmark.stats is not None
    return float(benchmark.stats.stats.median)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.sqlite"
    with UserFile.open(path) as file:
        file.apply(_put(*_SOURCES, *_PRICES, *_CLAIMS))
    return path


def test_opening_a_large_file(benchmark: BenchmarkFixture, path: Path) -> None:
    def open_whole() -> int:
        with UserFile.open(path) as file:
            return len(file.facts)

    assert benchmark(open_whole) == 2 * NUMBER + len(_SOURCES)
    assert _median(benchmark) <= OPENING


def test_one_change_in_a_large_file(benchmark: BenchmarkFixture, path: Path) -> None:
    price = _PRICES[7]
    states = itertools.cycle((price, replace(price, usd=9.0)))
    former = next(states)
    with UserFile.open(path) as file:

        def change() -> None:
            nonlocal former
            after = next(states)
            file.apply(
                FactEdit(
                    message("own.step.price", "Price of {thing}", thing="MI325X"), before=(former,), after=(after,)
                )
            )
            former = after

        benchmark(change)
    assert _median(benchmark) <= ONE


def test_list_of_prices_in_one_step(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    edit = _put(*_SOURCES, *_PRICES)
    other = Source("own-other", "Another list", "A provider", SourceKind.PRESS)
    with UserFile.open(tmp_path / "catalog.sqlite") as file:
        # With a fact in the file, each large step makes a backup before it.
        file.apply(_put(other))

        def bring_in() -> None:
            file.apply(edit)

        def take_away() -> None:
            if len(file.facts) > 1:
                file.apply(edit.invert())

        benchmark.pedantic(bring_in, setup=take_away, rounds=5)  # type: ignore[no-untyped-call]
    assert _median(benchmark) <= MANY
