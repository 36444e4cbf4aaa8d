"""Where printers are asked for: a service of this machine, or the one that someone has named."""

import socket
import sys
from pathlib import Path

import pytest

from gpudesk.desktop.ui.printing import preview
from gpudesk.desktop.ui.printing.preview import is_print_service_there

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux prints by CUPS so")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Look for sockets and settings in a folder of the test's own, which may have neither."""
    found = {"socket": tmp_path / "cups.sock", "settings": tmp_path / "client.conf"}
    monkeypatch.setattr(preview, "_SOCKETS", (found["socket"],))
    monkeypatch.setattr(preview, "_SETTINGS", (found["settings"],))
    monkeypatch.delenv("CUPS_SERVER", raising=False)
    return found


def test_where_nothing_is_there_nothing_is_asked() -> None:
    assert not is_print_service_there()


def test_a_service_that_listens_in_a_file_is_asked(files: dict[str, Path]) -> None:
    files["socket"].write_text("no socket")
    assert not is_print_service_there()
    files["socket"].unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(files["socket"]))
        assert is_print_service_there()


@pytest.mark.parametrize(
    ("written", "there"),
    [
        ("# ServerName printers.example\n", False),
        ("Encryption Required\n", False),
        ("ServerName\n", False),
        ("Encryption Required\n  servername printers.example\n", True),
    ],
)
def test_a_service_that_somebody_has_named_is_asked(files: dict[str, Path], written: str, there: bool) -> None:
    files["settings"].write_text(written)
    assert is_print_service_there() is there


def test_a_service_that_the_environment_names_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPS_SERVER", "printers.example")
    assert is_print_service_there()
