"""What a frozen program leaves out: modules, Qt plugins, and system libraries.

Plain data and rules without imports of their subjects, so that they can be tested anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

#: Found by name at run time, or imported by compiled code: invisible to import analysis.
HIDDEN_IMPORTS: Final = ("_cffi_backend", "nacl.bindings", "xlsxwriter", "orjson")

_NETWORK: Final = (
    "PySide6.QtNetwork",
    "_asyncio",
    "_hashlib",  # brings OpenSSL; hashlib works without it for the hashes used
    "_ssl",
    "ftplib",
    "http",
    "imaplib",
    "logging.config",
    "logging.handlers",
    "nntplib",
    "poplib",
    "smtpd",
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
    "test",
    "tkinter",
    "turtle",
    "venv",
)
#: Modules left out even if a library names them.
EXCLUDED_MODULES: Final = _NETWORK + _UNUSED

#: Included plugins of Qt, as folder/part of the name. All others are left out.
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
#: Qt's network library on Linux, Windows and macOS.
_QT_NETWORK: Final = re.compile(r"(?:^|/)(?:lib)?Qt6?Network\.(so|dll|framework)\b")
#: Pip's notes about the build machine.
_MACHINES_NOTES: Final = re.compile(r"\.dist-info/(?:direct_url\.json|INSTALLER|RECORD|REQUESTED)$")
#: Translations of Qt's own dialogs into languages that the program lacks.
_TRANSLATION: Final = re.compile(r"PySide6/(?:Qt/)?translations/")

#: Libraries of every Linux desktop, matched to its drivers, fonts and services: an older copy would conflict with them
#: and miss the system's updates.
_DESKTOPS = """
    X11 X11-xcb Xau Xdmcp Xext Xrender brotlicommon brotlidec bsd cap dbus-1 expat fontconfig freetype gcc_s
    glib-2 lz4 md pcre2-8 png16 stdc++ systemd uuid z zstd
"""
#: Libraries of omitted plugins, or that the program does not need: printing uses the system's library.
_OF_PLUGINS = """
    Qt6EglFSDeviceIntegration Qt6EglFsKmsSupport atk-1 avahi-client avahi-common blkid cairo cairo-gobject
    com_err cups datrie fribidi gcrypt gdk-3 gdk_pixbuf-2 gio-2 gmodule-2 gmp gnutls gobject-2 gpg-error
    graphite2 gssapi_krb5 gthread-2 gtk-3 harfbuzz hogweed idn2 jpeg k5crypto keyutils krb5 krb5support mount
    nettle p11-kit pango-1 pangocairo-1 pangoft2-1 pixman-1 selinux tasn1 thai tiff unistring webp
"""
_LEFT_TO_THE_SYSTEM: Final = frozenset(_DESKTOPS.split()) | frozenset(_OF_PLUGINS.split())
#: The name between `lib` and the number; a first 0 belongs to it in libgio-2.0.so.0.
_LIBRARY: Final = re.compile(r"(?:.*/)?lib(?P<name>[^/]+?)(?:\.0)?\.so(?:\.[.\d]+)?")

Entry = tuple[str, str, str]


def is_kept(name: str) -> bool:
    """Whether a file, by its path in the frozen tree with either slash, is included."""
    place = name.replace("\\", "/")
    plugin = _PLUGIN.search(place)
    if plugin is not None:
        return _KEPT_PLUGINS.match(plugin["plugin"]) is not None
    if any(pattern.search(place) for pattern in (_TRANSLATION, _QT_NETWORK, _MACHINES_NOTES)):
        return False
    library = _LIBRARY.fullmatch(place)
    return library is None or library["name"] not in _LEFT_TO_THE_SYSTEM


def trimmed(entries: Iterable[Entry]) -> list[Entry]:
    """Return the included entries of a PyInstaller table of contents, without dangling links."""
    return [
        (name, source, kind)
        for name, source, kind in entries
        if is_kept(name) and (kind != "SYMLINK" or is_kept(source))
    ]
