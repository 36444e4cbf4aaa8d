"""Facts of a user for tests: whole steps that can be told apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from gpudesk.catalog.user_faults import USER_APPLICATION_ID
from gpudesk.catalog.user_migrations import MIGRATIONS, migrate
from gpudesk.catalog.user_rows import to_row
from gpudesk.catalog.user_tables import TABLE_OF
from gpudesk.domain.claims import Kind, Preference, Source
from gpudesk.domain.messages import message
from gpudesk.domain.own_facts import Edit, OwnAccelerator, OwnClaim, OwnFact, OwnModel, OwnPrice, fact_key

QUOTE = Source(
    "own-quote",
    "Angebot 4711 für Müller & Söhne",
    "Händler GmbH",
    Kind.PRESS,
    "https://example.com/4711",
    "2026-05-02",
)
TEST = Source("own-test", "Our own test", "not stated", Kind.MEASURED_INDEPENDENT, None, "2026-04")
CARD = OwnAccelerator("lab-card", "Lab card", "NVIDIA", "hopper", announced=True)
MODEL = OwnModel("house-model", "House model", "Our house", '{"layers":[]}')
BANDWIDTH = OwnClaim(
    "mi325x",
    "memory_bandwidth",
    5.3e12,
    "own-test",
    Kind.MEASURED_INDEPENDENT,
    "2026-05-03",
    "5.3 TB/s",
    "batch 1",
    "read twice",
)
FORMATS = OwnClaim("lab-card", "features", ("fp8", "fp4"), "own-quote", Kind.PRESS, "2026-05-03")
TIED = OwnClaim("house-model", "tied_embeddings", False, "own-test", Kind.USER, "2026-05-03")
CHOICE = Preference("mi325x", "memory_bandwidth", "own-test", 5.3e12, "We measured it", "2026-05-03")
PURCHASE = OwnPrice(
    "own-price-1",
    "h100-sxm",
    "purchase",
    "own-quote",
    Kind.PRESS,
    27500.0,
    25000.0,
    30000.0,
    "Händler GmbH",
    basis="each",
    date="2026-05-02",
)
RENT = OwnPrice(
    "own-price-2",
    "mi325x",
    "on_demand",
    "own-quote",
    Kind.PRESS,
    1.95,
    None,
    None,
    "TensorWave",
    "us-west",
    "8x",
    8,
    None,
    "2026-05-02",
    "per hour",
)
#: One of every kind and more; what the file of each older version among the test data holds.
ALL: tuple[OwnFact, ...] = (
    QUOTE, TEST, CARD, MODEL, BANDWIDTH, FORMATS, TIED, CHOICE, PURCHASE, RENT,
)  # fmt: skip


def step(*after: OwnFact, before: tuple[OwnFact, ...] = ()) -> Edit:
    """Return an edit that puts facts there."""
    return Edit(message("own.step.add", name="a test"), before=before, after=after)


def numbered(number: int, claims: int = 4) -> Edit:
    """Return a step of `claims` claims and as many prices that share a source with this number."""
    source = Source(f"own-{number}", f"Source {number}", "a test", Kind.USER)
    return step(
        source,
        *(
            OwnClaim("mi325x", f"attribute-{place}", number, source.id, Kind.USER, "2026-07-01")
            for place in range(claims)
        ),
        *(
            OwnPrice(f"own-{number}-{place}", "mi325x", "on_demand", source.id, Kind.USER, float(number))
            for place in range(claims)
        ),
    )


@contextmanager
def somebody_reading(path: Path) -> Iterator[None]:
    """Let another program read a file all the while: what is written then stays beside it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM source").fetchone()
        yield


def write_version(path: Path, version: int, *edits: Edit) -> None:
    """Make a file as the program of that version left it behind."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {USER_APPLICATION_ID}")
        migrate(connection, MIGRATIONS[:version])
        connection.execute("BEGIN")
        for edit in edits:
            for fact in edit.after:
                table = TABLE_OF[fact_key(fact)[0]]
                connection.execute(table.insert, to_row(table, fact))
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
