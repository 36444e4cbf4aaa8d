"""What every test gets: a user folder of its own, English, and a failure when the program logs a warning."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from gpudesk.text import translation

# The system's messages in English, whatever the tester's locale is: Qt takes the locale of the environment
# when it begins, and from then on the C library translates its messages as LANGUAGE wants them.
os.environ.pop("LC_ALL", None)
os.environ["LC_MESSAGES"] = "C"
os.environ["LC_CTYPE"] = "C.UTF-8"

# The same examples in every run, so that a change is judged by what it changes; HYPOTHESIS_PROFILE=explore
# draws new ones, and as many as the time allows.
settings.register_profile("steady", derandomize=True, deadline=None, database=None, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files of texts anew")


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is made for several tests, before any of them, from the tester's own files as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPUDESK_HOME", str(tmp_path_factory.mktemp("nobody")))
        yield


@pytest.fixture(autouse=True)
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Move all user files into the test's own folder and return where; nothing of the tester's is read."""
    home = tmp_path / "user"
    monkeypatch.setenv("GPUDESK_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin each test in English, whatever the tester's locale is."""
    monkeypatch.setenv("GPUDESK_LANGUAGE", "en")
    translation.set_language(None)
    yield
    translation.set_language("en")


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
    """Let tests with a window run in the program's own application."""
    from gpudesk.desktop.session.single_instance import DesktopApplication

    return DesktopApplication
