"""Versions of libraries inside others, read from the freezing environment."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Final


def probed(name: str, places: Iterable[str]) -> str:
    """Return a version by the name of its probe; empty if unknown.

    PLACES are the files of the frozen program, since some have the version in their name.
    """
    if name == "icu":
        matches = (re.search(r"libicuuc\.(?:so\.)?(\d+)", place) for place in places)
        return next((match[1] for match in matches if match), "")
    try:
        return _PROBES[name]()
    except (ImportError, AttributeError, LookupError, PackageNotFoundError):
        return ""


def _expat() -> str:
    import pyexpat

    return pyexpat.EXPAT_VERSION.removeprefix("expat_")


def _libmpdec() -> str:
    import decimal

    return str(decimal.__libmpdec_version__)


def _openblas() -> str:
    import numpy as np

    return str(np.show_config(mode="dicts")["Build Dependencies"]["blas"]["version"])


def _openssl() -> str:
    import ssl

    return ssl.OPENSSL_VERSION.split()[1]


def _sqlite() -> str:
    import sqlite3

    return sqlite3.sqlite_version


def _zlib() -> str:
    import zlib

    return zlib.ZLIB_RUNTIME_VERSION


_PROBES: Final[dict[str, Callable[[], str]]] = {
    "expat": _expat,
    "libmpdec": _libmpdec,
    "openblas": _openblas,
    "openssl": _openssl,
    "pyinstaller": lambda: version("pyinstaller"),
    "python": platform.python_version,
    # The bindings are released with the Qt that they contain, under its version.
    "qt": lambda: version("PySide6_Essentials"),
    "sqlite": _sqlite,
    "zlib": _zlib,
}
