"""What is left out of the frozen program, by where it would lie on each system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))

from frozen_contents import EXCLUDED_MODULES, is_kept, trimmed


@pytest.mark.parametrize(
    "place",
    [
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforms/libqwayland.so",
        "PySide6/Qt/plugins/platforms/libqoffscreen.so",
        "PySide6\\plugins\\platforms\\qwindows.dll",
        "PySide6/Qt/plugins/platforms/libqcocoa.dylib",
        "PySide6\\plugins\\styles\\qmodernwindowsstyle.dll",
        "PySide6/Qt/plugins/printsupport/libcupsprintersupport.so",
        "PySide6/Qt/plugins/imageformats/libqsvg.so",
        "PySide6/Qt/lib/libQt6Gui.so.6",
        "libxcb-cursor.so.0",
        "libxkbcommon-x11.so.0",
        "libbz2.so.1.0",
        "libsqlite3.so.0",
        "libpython3.11.so.1.0",
        "numpy.libs/libscipy_openblas64_-32a4b2a6.so",
        "gpudesk/_bundled/catalog.sqlite",
        "numpy-2.4.6.dist-info/METADATA",
    ],
)
def test_required_files_are_kept(place: str) -> None:
    assert is_kept(place)


@pytest.mark.parametrize(
    "place",
    [
        "PySide6/Qt/plugins/tls/libqopensslbackend.so",
        "PySide6\\plugins\\tls\\qschannelbackend.dll",
        "PySide6/Qt/plugins/networkinformation/libqnetworkmanager.so",
        "PySide6/Qt/plugins/platforms/libqvnc.so",
        "PySide6/Qt/plugins/platforms/libqminimalegl.so",
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "PySide6/Qt/lib/libQt6Network.so.6",
        "PySide6\\Qt6Network.dll",
        "PySide6/Qt/lib/QtNetwork.framework/Versions/A/QtNetwork",
        "libQt6Network.so.6",
        "gpudesk-0.1.0.dist-info/direct_url.json",
        "numpy-2.4.6.dist-info/RECORD",
        "libcups.so.2",
        "libgnutls.so.30",
        "libpangocairo-1.0.so.0",
        "libgobject-2.0.so.0",
        "libglib-2.0.so.0",
        "libstdc++.so.6",
        "libX11.so.6",
        "libz.so.1",
    ],
)
def test_unneeded_and_system_files_are_removed(place: str) -> None:
    assert not is_kept(place)


def test_entries_keep_their_order_and_their_sources() -> None:
    kept_entry = ("libQt6Core.so.6", "/somewhere/libQt6Core.so.6", "BINARY")
    dropped = ("libcups.so.2", "/usr/lib/libcups.so.2", "BINARY")
    assert trimmed([kept_entry, dropped, kept_entry]) == [kept_entry, kept_entry]


def test_link_is_removed_with_its_target() -> None:
    """On macOS a link at the top is named without what tells its target."""
    frameworks = "PySide6/Qt/lib/{0}.framework/Versions/A/{0}"
    gone = ("QtNetwork", frameworks.format("QtNetwork"), "SYMLINK")
    stays = ("QtCore", frameworks.format("QtCore"), "SYMLINK")
    assert trimmed([gone, stays]) == [stays]


def test_frozen_program_excludes_network_modules() -> None:
    assert {"http", "ssl", "_ssl", "urllib.request", "PySide6.QtNetwork"} <= set(EXCLUDED_MODULES)
