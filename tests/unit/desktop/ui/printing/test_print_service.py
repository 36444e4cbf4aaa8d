"""Detection of a print service: on this machine, or as configured."""

import socket
import sys
from pathlib import Path

import pytest

from gpudesk.desktop.ui.printing import paper
from gpudesk.desktop.ui.printing.paper import is_print_service_there

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="CUPS is detected on Linux only")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Let sockets and settings be searched in a folder of the test, which has neither."""
    paths = {"socket": tmp_path / "cups.sock", "settings": tmp_path / "client.conf"}
    monkeypatch.setattr(paper, "_SOCKETS", (paths["socket"],))
    monkeypatch.setattr(paper, "_SETTINGS", (paths["settings"],))
    monkeypatch.delenv("CUPS_SERVER", raising=False)
    return paths


def test_no_service_by_default() -> None:
    assert not is_print_service_there()


def test_service_is_detected_by_its_socket(files: dict[str, Path]) -> None:
    files["socket"].write_text("no socket")
    assert not is_print_service_there()
    files["socket"].unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(files["socket"]))
        assert is_print_service_there()


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ("# ServerName printers.example\n", False),
        ("Encryption Required\n", False),
        ("ServerName\n", False),
        ("Encryption Required\n  servername printers.example\n", True),
    ],
)
def test_service_is_detected_in_the_settings(files: dict[str, Path], contents: str, expected: bool) -> None:
    files["settings"].write_text(contents)
    assert is_print_service_there() is expected


def test_service_is_detected_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPS_SERVER", "printers.example")
    assert is_print_service_there()
