"""What every test gets: a user folder of its own, English, and a failure when the program logs a warning."""

import gc
import itertools
import logging
import os
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from gpudesk.text import translation

# Where nothing may be written next to the sources, what is compiled is kept in build/: rewriting all assertions again
# takes as long as a thousand tests, and each start of the program compiles several hundred modules.
if sys.dont_write_bytecode:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(Path(__file__).parents[1] / "build" / "bytecode")
    sys.dont_write_bytecode = False

# The system's messages in English, independent of the tester's locale: Qt takes the locale of the environment
# when it begins, and from then on the C library translates its messages as LANGUAGE wants them.
os.environ.pop("LC_ALL", None)
os.environ["LC_MESSAGES"] = "C"
os.environ["LC_CTYPE"] = "C.UTF-8"

# The same examples in every run, so that a change is judged by what it changes; `make soak` draws new ones, and more.
settings.register_profile("steady", derandomize=True, deadline=None, database=None, max_examples=10)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

DATA = Path(__file__).parents[1] / "data"

_numbers = itertools.count()

# Looking for garbage takes up to a third of the time of tests that allocate much: nearly all that it walks over, the
# modules and thousands of tests, stays to the end.
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files of texts anew")


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 10)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Collect garbage once: pytest does so five times at the end, and would walk over all that tests share."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder of all users' folders; what is made for several tests, before any of them, goes there too."""
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("homes")
        patch.setenv("GPUDESK_HOME", str(path / "nobody"))
        yield path


@pytest.fixture(autouse=True)
def user_home(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Move all user files into a folder of the test's own and return where; nothing of the tester's is read.

    The folder is not made: most tests need none, and `tmp_path` would make one for each, among thousands.
    """
    home = homes / f"user{next(_numbers)}"
    monkeypatch.setenv("GPUDESK_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GPUDESK_LANGUAGE", "en")
    translation.set_language(None)
    yield
    translation.set_language("en")


@pytest.fixture(scope="session", autouse=True)
def _equal_facts_are_one_object() -> Iterator[None]:
    """Let all services that tests open share what equals: caches of the engine look it up by identity then.

    A lookup by an equal accelerator of another catalog compares all fields, thousands of times a decision.
    """
    from gpudesk.catalog import overlay, shipped

    shared = lru_cache(maxsize=None)(lambda fact: fact)
    assemble, merge, read_engines = shipped.make_accelerator, overlay.merge_model, shipped.read_serving_engines
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpudesk.catalog.read.make_accelerator", lambda *facts: shared(assemble(*facts)))
        patch.setattr(overlay, "merge_model", lambda *facts: shared(merge(*facts)))
        patch.setattr(
            shipped, "read_serving_engines", lambda store: {id_: shared(e) for id_, e in read_engines(store).items()}
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def _shipped_files_are_read_once() -> Iterator[None]:
    """Let all services that tests open share constants, measured runs and rules, which no test changes in place.

    Each window that a test opens would read 3,000 runs again, a quarter of a second of its start.
    """
    from gpudesk import paths
    from gpudesk.costing import inputs
    from gpudesk.decision.rules import data_files
    from gpudesk.estimation import published_runs
    from gpudesk.evidence import calibration_file

    files = (
        paths.find_held_out_path(),
        paths.get_data_path("calibration.json"),
        paths.get_data_path("cost_assumptions.toml"),
    )
    shipped_files = (paths.get_data_path("measurements"), paths.get_data_path("rules"), *files)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (calibration_file, "read_calibration"),
            (inputs, "read_cost_assumptions"),
            (published_runs, "read_measured_runs"),
            (published_runs, "read_held_out"),
            (data_files, "read_rules"),
        ):
            patch.setattr(module, name, _remember_shipped(getattr(module, name), shipped_files))
        yield


def _remember_shipped(read: Callable[..., Any], shipped_files: tuple[Path | None, ...]) -> Callable[..., Any]:
    remember = lru_cache(maxsize=None)(read)
    return lambda path, *more: (remember if path in shipped_files else read)(path, *more)


@pytest.fixture(scope="session", autouse=True)
def _shipped_facts_are_opened_once(_shipped_files_are_read_once: None) -> Iterator[None]:
    """Let all services on the shipped facts alone share the catalog and what is computed from nothing else.

    Each would put 3,000 runs in order for its first estimate, and search the deployments of a model again. A service
    over facts of the user has its own.
    """
    from catalog_build.writer import ensure_built
    from gpudesk import paths
    from gpudesk.catalog.database import CatalogDatabase
    from gpudesk.catalog.read import Catalog
    from gpudesk.decision.purchasing.reference_data import ReferenceData
    from gpudesk.service import GpuDeskService

    path = paths.get_built_catalog_path()
    ensure_built(DATA, path)
    open_file, close_file = Catalog.open, CatalogDatabase.close
    with Catalog.open(path) as shipped_catalog, pytest.MonkeyPatch.context() as patch:
        store = shipped_catalog.shipped.store
        patch.setattr(
            Catalog,
            "open",
            staticmethod(lambda opened_path: shipped_catalog if opened_path == path else open_file(opened_path)),
        )
        patch.setattr(CatalogDatabase, "close", lambda database: None if database is store else close_file(database))
        for name in ("estimator", "records", "fit", "mlperf"):
            patch.setattr(GpuDeskService, name, _share(vars(GpuDeskService)[name].func, name, shipped_catalog))
        for name in ("answer", "decide"):
            patch.setattr(GpuDeskService, name, _remember_result(vars(GpuDeskService)[name], shipped_catalog))
        for name in ("find_flips_in_steps", "find_questions_in_steps", "build_profile_in_steps"):
            patch.setattr(GpuDeskService, name, _remember_steps(vars(GpuDeskService)[name], shipped_catalog))
        for name in ("plan_deferral_in_steps", "plan_routing_in_steps"):
            patch.setattr(ReferenceData, name, _remember_steps(vars(ReferenceData)[name], shipped_catalog))
        yield


def _share(make: Callable[..., Any], name: str, catalog: object) -> cached_property[Any]:
    """Return a property that is made once for all services on a catalog, and for each on another."""
    objects_by_key: dict[tuple[object, ...], object] = {}

    def give(service: Any) -> object:  # noqa: ANN401
        if service.catalog is not catalog:
            return make(service)
        key = _list_files(service)
        if key not in objects_by_key:
            objects_by_key[key] = make(service)
        return objects_by_key[key]

    shared = cached_property(give)
    shared.__set_name__(type, name)
    return shared


def _list_files(service: Any) -> tuple[object, ...]:  # noqa: ANN401
    """Return what says which files a service reads; a test that wants others replaces it."""
    from gpudesk import paths

    return service._calibration_file, paths.get_data_path, paths.find_held_out_path


def _make_key(service: Any, *arguments: object) -> tuple[object, ...]:  # noqa: ANN401
    """Return all that a result depends on. What was asked counts by its text, which therefore has to be whole."""
    text = repr(arguments)
    assert " at 0x" not in text, "an address can be that of something else later"
    return *_list_files(service), service.rank_announced, text


def _remember_result(ask: Callable[..., Any], catalog: object) -> Callable[..., Any]:
    """Return a method of the service that answers a question about a catalog once for all services on it."""
    results: dict[tuple[object, ...], Any] = {}

    def give(service: Any, *arguments: object, **named: object) -> object:  # noqa: ANN401
        if service.catalog is not catalog:
            return ask(service, *arguments, **named)
        key = _make_key(service, arguments, named)
        if key not in results:
            results[key] = ask(service, *arguments, **named)
        return results[key]

    return give


def _remember_steps(search: Callable[..., Any], catalog: object) -> Callable[..., Any]:
    """Return a method whose job computes a result once, as `_remember_result`; later jobs take the same steps idly."""
    results: dict[tuple[object, ...], tuple[list[Any], Any]] = {}

    def give(owner: Any, *arguments: object) -> Generator[Any, None, Any]:  # noqa: ANN401
        service = getattr(owner, "_service", owner)
        if service.catalog is not catalog:
            return (yield from search(owner, *arguments))
        key = _make_key(service, arguments)
        if key not in results:
            step_list = []
            steps = search(owner, *arguments)
            while True:
                try:
                    step_list.append(next(steps))
                except StopIteration as end:
                    results[key] = step_list, end.value
                    return end.value
                yield step_list[-1]
        step_list, result = results[key]
        yield from step_list
        return result

    return give


class _WarningCollector(logging.Handler):
    """Keeps every record of level WARNING and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def no_logged_warnings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which a warning is logged, unless it is marked `logs_warnings`."""
    collector = _WarningCollector()
    root = logging.getLogger()
    root.addHandler(collector)
    yield
    root.removeHandler(collector)
    if collector.messages and request.node.get_closest_marker("logs_warnings") is None:
        pytest.fail("logged: " + "; ".join(collector.messages), pytrace=False)


@pytest.fixture(scope="session")
def qapp_cls() -> type:
    from gpudesk.desktop.session.single_instance import DesktopApplication

    return DesktopApplication
