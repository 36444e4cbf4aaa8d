"""What Windows is told of the program, and what the installer's script is made of."""

import ast
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import ModuleType

import pytest

from tests.packaging.scripts import load

ROOT = Path(__file__).parents[2]
WINDOWS = ROOT / "packaging" / "windows"


@pytest.fixture
def version_info() -> ModuleType:
    return load(WINDOWS / "version_info.py")


@pytest.fixture
def installer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(WINDOWS))
    return load(WINDOWS / "make_installer.py")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    bundle = folder / "_internal" / "gpudesk" / "_bundled"
    bundle.mkdir(parents=True)
    (bundle / "build.json").write_text('{"version": "1.2.0rc1"}')
    (folder / "_internal" / "a module.pyd").write_bytes(b"0123456789")
    for name in ("gpudesk.exe", "gpudesk-gui.exe"):
        shutil.copyfile(sys.executable, folder / name)
    return folder


# The version resource


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.1.0", (0, 1, 0, 0)), ("1.10.2.3", (1, 10, 2, 3)), ("2.0rc1", (2, 0, 0, 0)), ("3.1.dev4", (3, 1, 0, 0))],
)
def test_windows_compares_versions_by_four_numbers(
    version_info: ModuleType, version: str, numbers: tuple[int, ...]
) -> None:
    assert version_info.four_numbers(version) == numbers


def test_version_without_a_number_is_rejected(version_info: ModuleType) -> None:
    with pytest.raises(ValueError, match="does not begin with a number"):
        version_info.four_numbers("unknown")


def test_version_resource_has_the_fields_of_windows(version_info: ModuleType) -> None:
    text = version_info.version_info("1.2.0rc1", "gpudesk-gui.exe")
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    strings = {
        ast.literal_eval(call.args[0]): ast.literal_eval(call.args[1])
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "StringStruct"
    }
    assert strings["FileVersion"] == strings["ProductVersion"] == "1.2.0rc1"
    assert strings["OriginalFilename"] == "gpudesk-gui.exe"
    assert strings["InternalName"] == "gpudesk-gui"
    assert strings["ProductName"] == strings["FileDescription"] == "GPU Desk"
    (fixed,) = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "FixedFileInfo"]
    numbers = {key.arg: ast.literal_eval(key.value) for key in fixed.keywords}
    assert numbers["filevers"] == numbers["prodvers"] == (1, 2, 0, 0)


def test_manifest_asks_for_no_rights_and_for_sharp_windows() -> None:
    root = ET.parse(WINDOWS / "gpudesk.manifest").getroot()
    elements = {element.tag.partition("}")[2]: element for element in root.iter()}
    assert elements["requestedExecutionLevel"].get("level") == "asInvoker"
    assert elements["dpiAwareness"].text == "PerMonitorV2, PerMonitor"
    assert elements["longPathAware"].text == "true"
    assert elements["activeCodePage"].text == "UTF-8"


# The installer


def test_installer_carries_every_file_and_removes_each_again(installer: ModuleType, tree: Path) -> None:
    files = installer.files_of(tree)
    assert set(files) == {
        PurePosixPath("gpudesk.exe"),
        PurePosixPath("gpudesk-gui.exe"),
        PurePosixPath("_internal/a module.pyd"),
        PurePosixPath("_internal/gpudesk/_bundled/build.json"),
    }
    installing = installer.installing(tree, files)
    assert 'SetOutPath "$INSTDIR\\_internal\\gpudesk\\_bundled"\n' in installing
    assert installing.count("File ") == len(files)
    removing = installer.removing(files).splitlines()
    assert 'Delete "$INSTDIR\\_internal\\a module.pyd"' in removing
    # Folders after the files, the inner ones first, and never with what else lies in them.
    assert removing[-3:] == [
        'RMDir "$INSTDIR\\_internal\\gpudesk\\_bundled"',
        'RMDir "$INSTDIR\\_internal\\gpudesk"',
        'RMDir "$INSTDIR\\_internal"',
    ]


def test_name_with_a_dollar_sign_is_no_variable(installer: ModuleType) -> None:
    assert installer.removing([PurePosixPath("a$b.txt")]) == 'Delete "$INSTDIR\\a$$b.txt"\n'


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda tree: (tree / "link").symlink_to("gpudesk.exe"), "links"),
        (lambda tree: (tree / ("x" * 171)).touch(), "more than 170 characters"),
        (lambda tree: (tree / "a:b").touch(), "characters that Windows does not take"),
        (lambda tree: [(tree / name).touch() for name in ("Read", "READ")], "differ in capitals alone"),
    ],
    ids=["link", "long", "colon", "capitals"],
)
def test_version_that_windows_cannot_store_is_refused(
    installer: ModuleType, tree: Path, make: Callable[[Path], object], fault: str
) -> None:
    make(tree)
    with pytest.raises(SystemExit, match=fault):
        installer.files_of(tree)


def test_tree_of_another_system_is_refused(installer: ModuleType, tree: Path) -> None:
    assert installer.version_of(tree) == "1.2.0rc1"
    (tree / "gpudesk-gui.exe").unlink()
    with pytest.raises(SystemExit, match=r"no gpudesk-gui\.exe: it is not a tree that was frozen on Windows"):
        installer.version_of(tree)


def test_terms_are_those_of_the_program_and_of_the_works_in_it(installer: ModuleType, tree: Path) -> None:
    assert "Apache License" in installer.terms(tree)
    assert "PySide6" in installer.terms(tree)
    (tree / "THIRD_PARTY_NOTICES.md").write_text("Works in this very tree")
    assert installer.terms(tree).endswith("Works in this very tree")


def test_unpublishable_installer_is_marked_in_its_name(installer: ModuleType) -> None:
    assert installer.installer_name("0.1.0", staged=False) == "gpudesk-0.1.0-windows-x86_64-setup.exe"
    assert "not-for-release" in installer.installer_name("0.1.0", staged=True)


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is missing: install nsis")
def test_script_compiles_without_a_warning(tree: Path, tmp_path: Path) -> None:
    icons = tmp_path / "icons"
    icons.mkdir()
    # A picture of one point, which is transparent.
    bitmap = struct.pack("<IiiHHIIiiII", 40, 1, 2, 1, 32, 0, 0, 0, 0, 0, 0) + bytes(8)
    icon = struct.pack("<HHHBBBBHHII", 0, 1, 1, 1, 1, 0, 0, 1, 32, len(bitmap), 22) + bitmap
    for name in ("gpudesk", "gpudesk-scenario", "gpudesk-pack"):
        (icons / f"{name}.ico").write_bytes(icon)
    command: list[str | Path] = [sys.executable, WINDOWS / "make_installer.py", tree, icons, tmp_path / "out"]
    ended = subprocess.run([*command, "--staged"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (installer,) = (tmp_path / "out").iterdir()
    assert installer.name == "gpudesk-1.2.0rc1-windows-x86_64-setup-staged-not-for-release.exe"


def test_staged_tree_has_the_names_of_windows() -> None:
    stage = load(WINDOWS / "stage_tree.py")
    named = {
        "_internal/_cffi_backend.cpython-311-x86_64-linux-gnu.so": "_internal/_cffi_backend.pyd",
        "_internal/PySide6/QtCore.abi3.so": "_internal/PySide6/QtCore.pyd",
        "_internal/libQt6Core.so.6": "_internal/Qt6Core.dll",
        "_internal/gpudesk/_bundled/catalog.sqlite": "_internal/gpudesk/_bundled/catalog.sqlite",
    }
    assert {name: str(stage.windows_name(Path(name))) for name in named} == named
    assert stage.windows_name(Path("gpudesk")) is None
