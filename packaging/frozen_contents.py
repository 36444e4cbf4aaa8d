"""What a frozen program leaves out: modules, plugins of Qt, and libraries that belong to the system.

Plain data and rules without an import of what they speak of, so that they can be tested anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

#: Found by name at run time, or imported by compiled code: the search for imports does not see them.
HIDDEN_IMPORTS: Final = ("_cffi_backend", "nacl.bindings", "xlsxwriter", "orjson")

_NETWORK: Final = (
    "PySide6.QtNetwork",
    "_hashlib",  # brings OpenSSL; what is used of hashlib is there without
    "_ssl",
    "ftplib",
    "http",
    "imaplib",
    "nntplib",
    "poplib",
    "smtplib",
    "socketserver",
    "ssl",
    "telnetlib",
    "urllib.error",
    "urllib.request",
    "urllib.response",
    "urllib.robotparser",
    "webbrowser",
    "wsgiref",
    "xmlrpc",
)
_UNUSED: Final = (
    "asyncio",
    "bdb",
    "curses",
    "distutils",
    "doctest",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "numpy.distutils",
    "numpy.f2py",
    "pdb",
    "pip",
    "pkg_resources",
    "pydantic.mypy",
    "pydantic.v1",
    "pyqtgraph.canvas",
    "pyqtgraph.console",
    "pyqtgraph.dockarea",
    "pyqtgraph.examples",
    "pyqtgraph.flowchart",
    "pyqtgraph.jupyter",
    "pyqtgraph.opengl",
    "readline",
    "setuptools",
    "sqlalchemy.ext.asyncio",
    "sqlalchemy.testing",
    "test",
    "tkinter",
    "turtle",
    "venv",
)
#: Modules that stay out even where a library names them.
EXCLUDED_MODULES: Final = _NETWORK + _UNUSED

#: Plugins of Qt that are kept, as folder/part of the name. Every other one is left out.
_KEPT_PLUGINS: Final = re.compile(
    r"""
    iconengines/.*svgicon
    | imageformats/.*(gif|ico|icns|jpeg|svg)
    | platforms/.*(qxcb|qwayland|qoffscreen|qminimal\b|qwindows|qcocoa)
    | platforminputcontexts/
    | platformthemes/.*xdgdesktopportal
    | printsupport/
    | styles/
    | wayland-(decoration-client|graphics-integration-client|shell-integration)/
    | xcbglintegrations/
    """,
    re.VERBOSE,
)
_PLUGIN: Final = re.compile(r"PySide6/(?:Qt/)?plugins/(?P<plugin>.+)")
#: Qt's library for networks, as Linux, Windows and macOS call it.
_QT_NETWORK: Final = re.compile(r"(?:^|/)(?:lib)?Qt6?Network\.(so|dll|framework)\b")
#: Words of Qt's own dialogs in other languages than the program has.
_TRANSLATION: Final = re.compile(r"PySide6/(?:Qt/)?translations/")

#: Libraries that a Linux desktop has as a whole or not at all, and which break when half of them are carried
#: along: each serves a plugin that the program does without, or that finds them where the system has them.
_SYSTEMS_OWN: Final = re.compile(
    r"""
    lib(
        atk|avahi|blkid|cairo|com_err|cups|datrie|fribidi|gcrypt|gdk|gio|gmodule|gmp|gnutls|gobject|gpg-error
        |graphite2|gssapi|gthread|gtk|harfbuzz|hogweed|idn2|jpeg|k5crypto|keyutils|krb5|mount|nettle|p11-kit
        |pango|pixman|selinux|tasn1|thai|unistring|Qt6EglF
    )[-_.\d\w]*\.so
    """,
    re.VERBOSE,
)

Entry = tuple[str, str, str]


def kept(name: str) -> bool:
    """Whether a file, by its place in the frozen tree with either slash, belongs into it."""
    place = name.replace("\\", "/")
    plugin = _PLUGIN.search(place)
    if plugin is not None:
        return _KEPT_PLUGINS.match(plugin["plugin"]) is not None
    if _TRANSLATION.search(place) or _QT_NETWORK.search(place):
        return False
    return _SYSTEMS_OWN.fullmatch(place.rpartition("/")[2].partition(".so")[0] + ".so") is None


def trimmed(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries of a table of contents of PyInstaller that are kept."""
    return [entry for entry in entries if kept(entry[0])]
