"""Facts of a user for tests: whole steps that differ from each other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from gpudesk.catalog.user_store.faults import USER_APPLICATION_ID
from gpudesk.catalog.user_store.migrations import USER_STEPS, migrate
from gpudesk.catalog.user_store.rows import TABLE_BY_NAME, encode_row
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import FactEdit, UserAccelerator, UserClaim, UserFact, UserModel, UserPrice, get_fact_key
from gpudesk.text.messages import message

QUOTE = Source(
    "own-quote",
    "Angebot 4711 für Müller & Söhne",
    "Händler GmbH",
    SourceKind.PRESS,
    "https://example.com/4711",
    "2026-05-02",
)
TEST = Source("own-test", "Our own test", "not stated", SourceKind.MEASURED_INDEPENDENT, None, "2026-04")
CARD = UserAccelerator("lab-card", "Lab card", "NVIDIA", "hopper", announced=True)
MODEL = UserModel("house-model", "House model", "Our house", '{"layers":[]}')
BANDWIDTH = UserClaim(
    "mi325x",
    "memory_bandwidth",
    5.3e12,
    "own-test",
    SourceKind.MEASURED_INDEPENDENT,
    "2026-05-03",
    "5.3 TB/s",
    "batch 1",
    "read twice",
)
FORMATS = UserClaim("lab-card", "features", ("fp8", "fp4"), "own-quote", SourceKind.PRESS, "2026-05-03")
TIED = UserClaim("house-model", "tied_embeddings", False, "own-test", SourceKind.USER, "2026-05-03")
CHOICE = ClaimPreference("mi325x", "memory_bandwidth", "own-test", 5.3e12, "We measured it", "2026-05-03")
PURCHASE = UserPrice(
    "own-price-1",
    "h100-sxm",
    "purchase",
    "own-quote",
    SourceKind.PRESS,
    27500.0,
    25000.0,
    30000.0,
    "Händler GmbH",
    basis="each",
    date="2026-05-02",
)
RENT = UserPrice(
    "own-price-2",
    "mi325x",
    "on_demand",
    "own-quote",
    SourceKind.PRESS,
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
ALL: tuple[UserFact, ...] = (
    QUOTE, TEST, CARD, MODEL, BANDWIDTH, FORMATS, TIED, CHOICE, PURCHASE, RENT,
)  # fmt: skip


def step(*after: UserFact, before: tuple[UserFact, ...] = ()) -> FactEdit:
    return FactEdit(message("own.step.add", "Add {name}", name="a test"), before=before, after=after)


def numbered(number: int, claims: int = 4) -> FactEdit:
    """Return a step of `claims` claims and as many prices that share a source with this number."""
    source = Source(f"own-{number}", f"Source {number}", "a test", SourceKind.USER)
    return step(
        source,
        *(
            UserClaim("mi325x", f"attribute-{place}", number, source.id, SourceKind.USER, "2026-07-01")
            for place in range(claims)
        ),
        *(
            UserPrice(f"own-{number}-{place}", "mi325x", "on_demand", source.id, SourceKind.USER, float(number))
            for place in range(claims)
        ),
    )


@contextmanager
def hold_read_lock(path: Path) -> Iterator[None]:
    """Let another program read a file all the while: what is written then stays next to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM source").fetchone()
        yield


def write_version(path: Path, version: int, *edits: FactEdit) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {USER_APPLICATION_ID}")
        migrate(connection, USER_STEPS[:version])
        connection.execute("BEGIN")
        for edit in edits:
            for fact in edit.after:
                table = TABLE_BY_NAME[get_fact_key(fact)[0]]
                connection.execute(table.insert, encode_row(table, fact))
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
