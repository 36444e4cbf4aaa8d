"""The frozen program in a machine without a network, and every socket that it opens there and elsewhere."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.e2e import offline
from tests.e2e.offline import Walk

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs namespaces and strace of Linux"),
]


@cache
def walk_of(frozen: Path, *, with_network: bool) -> Walk:
    around = () if with_network else offline.without_network()
    with TemporaryDirectory() as folder:
        return offline.walk([str(frozen / "gpudesk")], Path(folder), around=around)


def test_everything_works_without_a_network(frozen: Path) -> None:
    offline.check_that_all_worked(walk_of(frozen, with_network=False))


@pytest.mark.parametrize("with_network", [False, True], ids=["without", "with"])
def test_only_desktop_services_are_contacted(frozen: Path, with_network: bool) -> None:
    offline.check_sockets(walk_of(frozen, with_network=with_network))


@pytest.mark.parametrize("with_network", [False, True], ids=["without", "with"])
def test_no_warning_is_logged(frozen: Path, with_network: bool) -> None:
    assert " INFO " in walk_of(frozen, with_network=with_network).log
    assert walk_of(frozen, with_network=with_network).complaints() == []


def test_watch_reports_every_socket_call(frozen: Path) -> None:
    offline.check_that_all_was_seen(walk_of(frozen, with_network=True))


@pytest.mark.parametrize("command", offline.COMMANDS)
def test_a_command_line_opens_no_socket(frozen: Path, command: str, tmp_path: Path) -> None:
    assert offline.calls_of([str(frozen / "gpudesk")], command, tmp_path) == []
