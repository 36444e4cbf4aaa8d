"""What is not in the frozen program: anything that speaks to other machines.

The modules `socket`, `selectors` and `multiprocessing` stay: pyqtgraph and `importlib.metadata`, which
pydantic needs, load them as they begin. That nothing is done with them, test_offline.py shows.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

from tests.frozen.conftest import BUILDERS_PYTHON

_LIST = """
import json, sys
from PyInstaller.archive.readers import CArchiveReader
program = CArchiveReader(sys.argv[1])
archives = [program.open_embedded_archive(name) for name in program.toc if name.endswith(".pyz")]
print(json.dumps(sorted(name for archive in archives for name in archive.toc)))
"""

_LANGUAGES_OWN = (
    *("_asyncio", "_hashlib", "_ssl", "asyncio", "ftplib", "http", "imaplib", "logging.config"),
    *("logging.handlers", "nntplib", "poplib", "smtpd", "smtplib", "socketserver", "ssl", "telnetlib"),
    *("urllib.error", "urllib.request", "urllib.response", "urllib.robotparser", "webbrowser", "wsgiref"),
    "xmlrpc",
)
_OTHERS = (
    *("aiohttp", "httpx", "requests", "tornado", "urllib3", "websockets"),
    *("PySide6.QtNetwork", "PySide6.QtNetworkAuth", "PySide6.QtWebSockets"),
)
_MODULES = frozenset((*_LANGUAGES_OWN, *_OTHERS))
#: Libraries by how their files begin, on every system.
_LIBRARIES = re.compile(
    r"(lib)?(Qt6?(Network|WebSockets|WebEngine|HttpServer)|ssl|crypto|curl|gnutls|nghttp|ssh2?[-.]|krb5|gssapi"
    r"|soup|proxy)",
    re.IGNORECASE,
)
_PLUGINS = ("tls", "networkinformation", "networkaccess", "bearer", "webview")


@cache
def modules(frozen: Path) -> frozenset[str]:
    if not BUILDERS_PYTHON.exists():
        pytest.fail(f"{BUILDERS_PYTHON} is missing; run `make freeze`")
    program = frozen / ("gpudesk.exe" if sys.platform == "win32" else "gpudesk")
    listed = subprocess.run([BUILDERS_PYTHON, "-c", _LIST, program], capture_output=True, encoding="utf-8", check=False)
    assert listed.returncode == 0, listed.stderr
    names = set(json.loads(listed.stdout))
    for archive in (frozen / "_internal").rglob("base_library.zip"):
        with zipfile.ZipFile(archive) as library:
            files = [Path(name) for name in library.namelist()]
        names |= {".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files}
    compiled = [path for path in (frozen / "_internal").rglob("*") if path.suffix in {".so", ".pyd"}]
    return frozenset(names | {_module(path, frozen / "_internal") for path in compiled})


def _module(path: Path, root: Path) -> str:
    """Return what a compiled module is imported as; the standard library's lie in a folder of their own."""
    inside = path.relative_to(root)
    folders = () if "lib-dynload" in inside.parts or inside.parent.name == "DLLs" else inside.parent.parts
    return ".".join((*folders, path.name.partition(".")[0]))


def in_banned(name: str) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:count]) in _MODULES for count in range(1, len(parts) + 1))


def test_no_module_has_network_access(frozen: Path) -> None:
    module_names = modules(frozen)
    assert {"gpudesk.cli.main", "PySide6.QtCore", "_json", "os"} <= module_names, "the list is not whole"
    assert sorted(filter(in_banned, module_names)) == []


@pytest.mark.parametrize(
    ("name", "banned"), [("http.client", True), ("ssl", True), ("html.parser", False), ("gpudesk.http", False)]
)
def test_network_modules_are_recognized_by_name(name: str, banned: bool) -> None:
    assert in_banned(name) is banned


def test_no_library_has_network_access(frozen: Path) -> None:
    names = {str(path.relative_to(frozen)): path for path in frozen.rglob("*") if not path.is_dir()}
    assert any("Qt6Core" in name or "QtCore" in name for name in names)
    assert [name for name, path in names.items() if _LIBRARIES.match(path.name)] == []


def test_no_qt_plugin_has_network_access(frozen: Path) -> None:
    folders = [path for path in frozen.rglob("plugins/*") if path.is_dir()]
    assert "platforms" in {path.name for path in folders}
    assert [path for path in folders if path.name in _PLUGINS] == []


@pytest.mark.skipif(shutil.which("readelf") is None, reason="reads what libraries of Linux need")
def test_no_library_needs_a_network_library(frozen: Path) -> None:
    """A plugin that needs one would bring it along from the system, or not load at all."""
    needed = {}
    for path in frozen.rglob("*"):
        if path.is_file() and not path.is_symlink() and _is_program_code(path):
            completed = subprocess.run(["readelf", "-dW", path], capture_output=True, encoding="utf-8", check=True)
            needed[str(path.relative_to(frozen))] = re.findall(r"\(NEEDED\).*\[(.+)\]", completed.stdout)
    assert "libc.so.6" in needed["gpudesk"], "the list is not whole"
    assert {name: bad for name, all_ in needed.items() if (bad := list(filter(_LIBRARIES.match, all_)))} == {}


def _is_program_code(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
