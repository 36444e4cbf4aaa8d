"""What macOS is told of the application, and what its scripts say on other systems."""

import importlib.metadata
import platform
import plistlib
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

from gpudesk.cli.output import SCENARIO_SUFFIX
from gpudesk.documents.pack_file import PACK_SUFFIX
from tests.packaging.scripts import load

MACOS = Path(__file__).parents[2] / "packaging" / "macos"


class Wheel(importlib.metadata.Distribution):
    """An installed package that has nothing but the tags of its wheel."""

    def __init__(self, *tags: str) -> None:
        self._tags = tags

    def read_text(self, filename: str) -> str | None:
        if filename != "WHEEL" or not self._tags:
            return None
        return "Wheel-Version: 1.0\n" + "".join(f"Tag: {tag}\n" for tag in self._tags)

    def locate_file(self, path: object) -> Path:
        raise NotImplementedError


@pytest.fixture
def info() -> ModuleType:
    return load(MACOS / "info_plist.py")


def test_property_list_has_the_keys_of_macos(info: ModuleType) -> None:
    property_list = plistlib.loads(plistlib.dumps(info.info_plist("1.2.0rc1", "14.0")))
    assert property_list["CFBundleIdentifier"] == "io.github.gpudesk.GPUDesk"
    # macOS takes numbers alone.
    assert property_list["CFBundleShortVersionString"] == property_list["CFBundleVersion"] == "1.2.0"
    assert property_list["LSMinimumSystemVersion"] == "14.0"
    assert property_list["NSHighResolutionCapable"] is True
    assert property_list["NSRequiresAquaSystemAppearance"] is False
    assert property_list["LSApplicationCategoryType"].startswith("public.app-category.")
    assert not [
        key for key in property_list if "Network" in key or "Transport" in key or key.endswith("UsageDescription")
    ]


def test_both_types_of_files_are_declared_and_opened(info: ModuleType) -> None:
    property_list = info.info_plist("1.2.0", "13.0")
    declared = {
        entry["UTTypeTagSpecification"]["public.filename-extension"][0]: entry
        for entry in property_list["UTExportedTypeDeclarations"]
    }
    assert {f".{suffix}" for suffix in declared} == {SCENARIO_SUFFIX, PACK_SUFFIX}
    media = [entry["UTTypeTagSpecification"]["public.mime-type"] for entry in declared.values()]
    assert media == [["application/vnd.gpudesk.scenario+json"], ["application/vnd.gpudesk.pack"]]
    opened = {entry["LSItemContentTypes"][0]: entry for entry in property_list["CFBundleDocumentTypes"]}
    for entry in declared.values():
        assert opened[entry["UTTypeIdentifier"]]["LSHandlerRank"] == "Owner"
        assert entry["UTTypeIconFile"] in info.DOCUMENT_ICONS
    # Sheets are opened where the user asks for it, and otherwise stay with the viewer of PDF files.
    assert opened["com.adobe.pdf"]["LSHandlerRank"] == "None"


def test_version_without_a_number_is_rejected(info: ModuleType) -> None:
    with pytest.raises(ValueError, match="does not begin with a number"):
        info.info_plist("unknown", "13.0")


@pytest.mark.parametrize(
    ("wheels", "oldest"),
    [
        ([], "13.0"),
        ([Wheel("cp311-cp311-macosx_11_0_arm64"), Wheel("py3-none-any"), Wheel()], "13.0"),
        ([Wheel("cp311-cp311-macosx_14_0_arm64"), Wheel("cp311-cp311-macosx_10_9_universal2")], "14.0"),
        ([Wheel("cp310-abi3-macosx_10_9_x86_64", "cp310-abi3-macosx_15_0_x86_64")], "13.0"),
    ],
    ids=["none", "older", "newer", "several"],
)
def test_oldest_system_is_the_one_that_every_wheel_runs_on(
    info: ModuleType, wheels: Iterable[Wheel], oldest: str
) -> None:
    assert info.minimum_system(wheels) == oldest


def test_entitlements_open_no_network() -> None:
    allowed = plistlib.loads((MACOS / "entitlements.plist").read_bytes())
    assert set(allowed) == {
        "com.apple.security.cs.allow-unsigned-executable-memory",
        "com.apple.security.cs.disable-library-validation",
    }


@pytest.mark.skipif(platform.system() == "Darwin", reason="it does its work there")
@pytest.mark.parametrize(
    "arguments",
    [("make_dmg.sh", "GPU Desk.app", "icons", "out"), ("dmg_test.sh", "gpudesk.dmg")],
    ids=lambda arguments: str(arguments[0]),
)
def test_scripts_for_macos_name_their_platform(arguments: tuple[str, ...]) -> None:
    script, *rest = arguments
    ended = subprocess.run([MACOS / script, *rest], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "only be" in ended.stderr
    assert "macOS" in ended.stderr
