"""Builds the catalog from `data/`: validated whole, written beside its place, and put there at once."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL, Connection, create_engine, insert
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.pool import NullPool

from gpudesk.catalog.checks import check
from gpudesk.catalog.disk import to_disk
from gpudesk.catalog.engine_checks import engine_problems
from gpudesk.catalog.files import read_files
from gpudesk.catalog.freshness import inputs_digest
from gpudesk.catalog.problems import DataError
from gpudesk.catalog.revisions import Tables, revision
from gpudesk.catalog.rows import data_date, table_rows
from gpudesk.catalog.serving_engine_files import read_serving_engines
from gpudesk.catalog.store import APPLICATION_ID, SCHEMA_VERSION, CatalogBugError, CatalogFileError
from gpudesk.catalog.tables import CATALOG
from gpudesk.domain.messages import message
from gpudesk.domain.serving_engines import ServingEngine


def build_catalog(data_dir: Path, target: Path) -> str:
    """Build the catalog of `data_dir` at `target` and return its revision.

    A file that was there stays whole until the new one takes its place at once. Raises `DataError` with
    every problem of the data, and `CatalogFileError` where the file cannot be written.
    """
    inputs = inputs_digest(data_dir)
    tables = read_tables(data_dir)
    built = revision(tables)
    meta = {
        "revision": built,
        "data_date": data_date(tables),
        "schema_version": str(SCHEMA_VERSION),
        "inputs": inputs,
    }
    with _replacement(target) as fresh:
        _write(
            fresh, tables | {"meta": [{"key": key, "value": value} for key, value in sorted(meta.items())]}
        )
    return built


def read_tables(data_dir: Path) -> Tables:
    """Read and check the files and return the rows of all tables; raises `DataError` with every problem."""
    files, problems = read_files(data_dir)
    problems += check(files, frozenset(problem.file for problem in problems))
    engines: tuple[ServingEngine, ...] = ()
    try:
        engines = read_serving_engines(data_dir)
    except DataError as error:
        problems += error.problems
    if not problems:
        # The names in the rules are those of files that can be read.
        problems += engine_problems(engines, files)
    if problems:
        raise DataError(problems)
    return table_rows(files, engines)


@contextmanager
def _replacement(target: Path) -> Iterator[Path]:
    """Give a free name beside `target`; what is written there takes its place when all went well."""
    fresh = target.with_name(f"{target.name}.{secrets.token_hex(8)}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield fresh
        to_disk(fresh)
        fresh.replace(target)
        to_disk(target.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CatalogFileError(message("catalog.file.unwritable", reason=reason), target) from error
    except DBAPIError as error:
        raise CatalogFileError(message("catalog.file.unwritable", reason=str(error.orig)), target) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def _write(path: Path, tables: Tables) -> None:
    """Create the tables and fill them in one transaction, with every reference checked."""
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            # The file is nobody's yet: should this fail it is thrown away.
            for setting in ("foreign_keys = ON", "journal_mode = OFF", "synchronous = OFF"):
                connection.exec_driver_sql(f"PRAGMA {setting}")
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
            CATALOG.create_all(connection)
            _fill(connection, tables)
            connection.commit()
    except IntegrityError as error:
        raise CatalogBugError(f"rows that passed every check do not fit the tables: {error.orig}") from error
    finally:
        engine.dispose()


def _fill(connection: Connection, tables: Tables) -> None:
    """Insert all rows, parents before what refers to them."""
    for table in CATALOG.sorted_tables:
        rows = tables[table.name]
        if rows:
            connection.execute(insert(table), rows)
