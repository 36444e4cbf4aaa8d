"""What macOS has to know of the application: its name, its documents, the oldest system that it runs on.

The spec file makes the application of what it has collected, with the icons of the documents among its data:

    datas=[…, *((str(ICONS / name), ".") for name in DOCUMENT_ICONS)]     # on macOS alone
    BUNDLE(
        collected,
        name="GPU Desk.app",
        icon=str(ICONS / "gpudesk.icns"),
        bundle_identifier=IDENTIFIER,
        info_plist=info_plist(gpudesk.__version__, minimum_system()),
    )

The executable is a windowed one there (`console=False`); it writes to a terminal all the same.
With `codesign_identity` and `entitlements_file` it and all that is collected are signed.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable
from typing import Any

IDENTIFIER = "io.github.gpudesk.GPUDesk"
SCENARIO_TYPE = f"{IDENTIFIER}.scenario"
PACK_TYPE = f"{IDENTIFIER}.pack"
_SCENARIO_ICON = "gpudesk-scenario.icns"
_PACK_ICON = "gpudesk-pack.icns"
DOCUMENT_ICONS = (_SCENARIO_ICON, _PACK_ICON)

#: The minimum of this version of Qt.
_OLDEST = (13, 0)


def info_plist(version: str, minimum: str) -> dict[str, Any]:
    """Return the content of Info.plist.

    It requests no network access and no other permission.
    """
    numbers = re.match(r"\d+(?:\.\d+){0,2}", version)
    if numbers is None:
        raise ValueError(f"the version {version!r} does not begin with a number")
    return {
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleName": "GPU Desk",
        "CFBundleDisplayName": "GPU Desk",
        "CFBundleShortVersionString": numbers[0],
        "CFBundleVersion": numbers[0],
        "CFBundleDevelopmentRegion": "en",
        "CFBundleDocumentTypes": [
            _documents("GPU Desk scenario", SCENARIO_TYPE, _SCENARIO_ICON, "Editor", "Owner"),
            _documents("GPU Desk catalog pack", PACK_TYPE, _PACK_ICON, "Viewer", "Owner"),
            # A comparison sheet contains its scenario. Other PDF files stay with their viewer.
            _documents("PDF sheet", "com.adobe.pdf", None, "Viewer", "None"),
        ],
        "UTExportedTypeDeclarations": [
            _type(
                SCENARIO_TYPE,
                "GPU Desk scenario",
                _SCENARIO_ICON,
                ["public.json"],
                "gpudesk",
                "application/vnd.gpudesk.scenario+json",
            ),
            _type(
                PACK_TYPE,
                "GPU Desk catalog pack",
                _PACK_ICON,
                ["public.json"],
                "gpudeskpack",
                "application/vnd.gpudesk.pack",
            ),
        ],
        "LSApplicationCategoryType": "public.app-category.developer-tools",
        "LSMinimumSystemVersion": minimum,
        "NSHighResolutionCapable": True,
        "NSHumanReadableCopyright": "Licensed under the Apache License, Version 2.0",
        # Dark if the system is dark.
        "NSRequiresAquaSystemAppearance": False,
        "NSSupportsAutomaticGraphicsSwitching": True,
    }


def minimum_system(distributions: Iterable[importlib.metadata.Distribution] | None = None) -> str:
    """Return the oldest macOS supported by every installed package, by the tags of their wheels.

    On a new system pip chooses wheels for it, so the answer depends on the freezing machine.
    """
    versions = [_OLDEST]
    for distribution in importlib.metadata.distributions() if distributions is None else distributions:
        wheel = distribution.read_text("WHEEL") or ""
        tags = re.findall(r"^Tag: .*-macosx_(\d+)_(\d+)_\w+$", wheel, re.MULTILINE)
        if tags:
            # A wheel for several systems runs on the oldest of them.
            versions.append(min((int(major), int(minor)) for major, minor in tags))
    return ".".join(map(str, max(versions)))


def _documents(name: str, content_type: str, icon: str | None, role: str, rank: str) -> dict[str, Any]:
    """Return one kind of document that the application opens."""
    entry: dict[str, Any] = {
        "CFBundleTypeName": name,
        "CFBundleTypeRole": role,
        "LSHandlerRank": rank,
        "LSItemContentTypes": [content_type],
    }
    if icon is not None:
        entry["CFBundleTypeIconFile"] = icon
    return entry


def _type(
    identifier: str, name: str, icon: str, conforms_to: list[str], suffix: str, media_type: str
) -> dict[str, Any]:
    """Return the declaration of one type of file that is the application's own."""
    return {
        "UTTypeIdentifier": identifier,
        "UTTypeDescription": name,
        "UTTypeIconFile": icon,
        "UTTypeConformsTo": conforms_to,
        "UTTypeTagSpecification": {"public.filename-extension": [suffix], "public.mime-type": [media_type]},
    }
