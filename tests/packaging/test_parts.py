"""What the list of a frozen program's parts finds, in small trees laid out as each system has them."""

import sys
from importlib.metadata import files
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging" / "inventory"))

import frozen_tree
import license_texts
from frozen_tree import FrozenTree, TreeError
from known_parts import known_parts
from parts import Inventory, inventory, write

from gpudesk import paths
from gpudesk.third_party import PROGRAM, ThirdPartyWork, list_third_party, make_license_text

FRAME = {"pyimod01_archive": "m", "pyi_rth_inspect": "s", "entry": "s", "PYZ.pyz": "z"}


class Archive:
    """Stands for what PyInstaller appends to a program."""

    modules: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.toc = {name: (0, 0, 0, 0, kind) for name, kind in FRAME.items()}

    def open_embedded_archive(self, name: str) -> SimpleNamespace:
        assert name == "PYZ.pyz"
        return SimpleNamespace(toc=dict.fromkeys(self.modules))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs = {"gpudesk", "gpudesk.exe"}
    monkeypatch.setattr(frozen_tree, "_archive_of", lambda path: Archive() if path.name in programs else None)
    monkeypatch.setattr(Archive, "modules", ("gpudesk", "gpudesk.paths", "json.decoder"))
    folder = tmp_path / "tree"
    lay(folder, "gpudesk", "_internal/base_library.zip", "_internal/gpudesk/_bundled/catalog.sqlite")
    for asset in ("fonts", "icons"):
        lay(folder, f"_internal/gpudesk/_bundled/resources/{asset}/LICENSE")
    return folder


def lay(folder: Path, *places: str) -> None:
    for place in places:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(place, encoding="utf-8")


def lay_package(folder: Path, name: str) -> None:
    suffixes = (".so", ".dist-info/METADATA")
    paths = [file.as_posix() for file in files(name) or [] if file.as_posix().endswith(suffixes)]
    lay(folder, *(f"_internal/{place}" for place in paths if "numpy.libs" not in place))


def listed(root: Path, platform: str = "linux") -> dict[str, ThirdPartyWork]:
    """Return the parts by name, of a tree without faults."""
    parts_inventory = inventory(FrozenTree(root), platform)
    assert parts_inventory.problems == []
    return {part.name: part for part in parts_inventory.parts}


def problems(root: Path) -> list[str]:
    return inventory(FrozenTree(root), "linux").problems


def test_minimal_list_has_program_python_and_bootloader(root: Path) -> None:
    parts = listed(root)
    assert next(iter(parts)) == PROGRAM
    assert {"CPython", "PyInstaller bootloader", "Inter", "Lucide", "dtoa"} <= parts.keys()
    assert "Qt" not in parts
    assert parts["dtoa"].within == "CPython"


def test_packages_come_with_their_modules_or_files_but_not_with_records_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Archive, "modules", ("gpudesk", "typing_extensions"))
    lay_package(root, "numpy")
    lay(root, "_internal/" + next(f.as_posix() for f in files("pycparser") or [] if f.name == "METADATA"))
    parts = listed(root)
    assert {"numpy", "typing_extensions"} <= parts.keys()
    assert "pycparser" not in parts
    assert parts["numpy"].texts[0].startswith("licenses/")


def test_libraries_inside_packages_and_inside_these_are_named(root: Path) -> None:
    lay_package(root, "numpy")
    library = "numpy.libs/libscipy_openblas64_-0123.so"
    lay(root, f"_internal/{library}", "_internal/numpy.libs/libquadmath-96973f99.so.0.0.0")
    parts = listed(root)
    assert (parts["OpenBLAS"].within, parts["LAPACK"].within) == ("numpy", "OpenBLAS")
    assert parts["libquadmath"].license == "LGPL-2.1-or-later"
    assert "GNU Fortran runtime library" not in parts


def test_rust_components_are_listed_from_the_packages_sbom(root: Path) -> None:
    lay_package(root, "orjson")
    parts = listed(root)
    assert parts["xxhash-rust"].within == "orjson"
    assert parts["xxhash-rust"].texts == ("licenses/BSL-1.0.txt",)
    # It only built the package.
    assert "cc" not in parts


def test_qt_entry_names_its_license_replacement_and_source(root: Path) -> None:
    lay(root, "_internal/PySide6/Qt/lib/libQt6Core.so.6", "_internal/PySide6/Qt/lib/libicuuc.so.73")
    parts = listed(root)
    note = parts["Qt"].note
    assert parts["Qt"].license == "LGPL-3.0-only"
    assert "may be replaced" in note
    assert f"/{parts['Qt'].version}/" in note
    assert {"licenses/LGPL-3.0-only.txt", "licenses/GPL-3.0-only.txt"} == set(parts["Qt"].texts)
    assert parts["ICU"].version == "73"
    assert {"HarfBuzz", "FreeType", "PCRE2", "libpng", "zlib"} <= parts.keys()
    assert "libjpeg-turbo" not in parts


def test_a_tree_of_windows_needs_no_packages_of_a_system(root: Path) -> None:
    (root / "gpudesk").rename(root / "gpudesk.exe")
    lay(
        root,
        *("_internal/python311.dll", "_internal/_socket.pyd", "_internal/_bz2.pyd", "_internal/sqlite3.dll"),
        *("_internal/VCRUNTIME140.dll", "_internal/libcrypto-3.dll", "_internal/libffi-8.dll"),
        *("_internal/PySide6/Qt6Core.dll", "_internal/PySide6/plugins/platforms/qwindows.dll"),
        *("_internal/PySide6/MSVCP140.dll", "_internal/api-ms-win-crt-heap-l1-1-0.dll"),
    )
    parts = listed(root, "win32")
    assert {"OpenSSL", "SQLite", "libffi", "bzip2", "Qt", "Wintab interface"} <= parts.keys()
    assert "Microsoft Visual C++ and Universal C runtime" in parts
    assert "Wayland protocols" not in parts


def test_components_of_a_macos_bundle_are_listed(tmp_path: Path, root: Path) -> None:
    application = tmp_path / "GPU Desk.app"
    contents = application / "Contents"
    contents.mkdir(parents=True)
    (root / "_internal").rename(contents / "Resources")
    lay(contents, "MacOS/gpudesk", "Info.plist", "Frameworks/Python", "Frameworks/lib-dynload/math.so")
    lay(contents, "Frameworks/PySide6/Qt/lib/QtCore.framework/Versions/A/QtCore")
    (contents / "Frameworks" / "gpudesk").symlink_to("../Resources/gpudesk")
    parts = listed(application, "darwin")
    assert {PROGRAM, "CPython", "Qt", "Cocoa platform plugin", "PyInstaller bootloader"} <= parts.keys()


def test_library_without_an_owner_is_a_problem(root: Path) -> None:
    lay(root, "_internal/libmystery.so.1", "notes.txt")
    assert problems(root) == ["libmystery.so.1 is nobody's", "notes.txt is nobody's"]


def test_module_without_an_owner_is_a_problem(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Archive, "modules", ("gpudesk", "mystery.inner"))
    assert problems(root) == ["the module mystery.inner is nobody's"]


def test_terms_that_would_cover_the_whole_program_are_a_problem() -> None:
    parts_inventory = Inventory()
    for name, terms in (("readline", "GPL-3.0-or-later"), ("zstd", "BSD-3-Clause OR GPL-2.0-only")):
        parts_inventory.add(ThirdPartyWork(name, "1.0", terms), ())
    parts_inventory.add(ThirdPartyWork("none", "2.0"), ())
    assert parts_inventory.problems == [
        "readline 1.0 is under GPL-3.0-or-later, which would cover the whole program",
        "none 2.0 states no license that can be told",
    ]


def test_a_link_that_leads_out_of_the_tree_is_refused(root: Path, tmp_path: Path) -> None:
    lay(tmp_path, "elsewhere.so")
    (root / "_internal" / "libout.so").symlink_to(tmp_path / "elsewhere.so")
    with pytest.raises(TreeError, match=r"libout\.so leads to .*elsewhere\.so"):
        inventory(FrozenTree(root))


def test_a_folder_without_the_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="no frozen GPU Desk"):
        inventory(FrozenTree(tmp_path))


@pytest.mark.skipif(not Path("/var/lib/dpkg/info").is_dir(), reason="a system of dpkg")
def test_a_library_of_the_system_is_known_by_its_content(root: Path) -> None:
    (system,) = list(Path("/usr/lib").glob("*/libz.so.1"))[:1] or list(Path("/lib").glob("*/libz.so.1"))[:1]
    (root / "_internal" / "libz.so.1").write_bytes(system.read_bytes())
    parts = listed(root)["zlib"]
    assert parts.purl.startswith("pkg:deb/")
    assert "Taken unchanged from" in parts.note
    assert "source of exactly this version: https://" in parts.note
    (root / "_internal" / "libz.so.1").write_bytes(b"another")
    assert problems(root) == ["libz.so.1 is nobody's"]


def test_program_lists_the_components_in_its_bundle(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(root, "_internal/PySide6/Qt/lib/libQt6Core.so.6")
    tree = FrozenTree(root)
    parts_inventory = inventory(tree, "linux")
    write(tree, parts_inventory)
    monkeypatch.setattr(paths, "find_parts_path", lambda: tree.bundle / "parts.json")
    parts_by_name = {part.name: part for part in list_third_party()}
    assert list(parts_by_name.values()) == parts_inventory.parts
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in make_license_text(parts_by_name["Qt"])
    notices = (root / "THIRD_PARTY_NOTICES.txt").read_text("utf-8")
    assert all(f"\n{part.work}" in notices for part in parts_inventory.parts[1:])
    assert notices.count("0. Additional Definitions.") == 1


def test_listing_a_listed_tree_again_changes_nothing(root: Path) -> None:
    def read_lists() -> dict[str, bytes]:
        tree = FrozenTree(root)
        write(tree, inventory(tree, "linux"))
        return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    first = read_lists()
    lay(root, "_internal/gpudesk/_bundled/licenses/of-a-former-version.txt")
    assert read_lists() == first


def test_every_known_work_has_its_texts() -> None:
    """But for those whose texts lie in the system, in a package or in the tree."""
    for known_part in known_parts():
        elsewhere = known_part.debian and not known_part.files and not known_part.part.within
        if not (elsewhere or known_part.text_in):
            assert all(text.content for text in known_part.license_texts(Path())), known_part.part.name


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("MIT", ["MIT"]),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", ["MIT", "Apache-2.0", "Unicode-3.0"]),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", ["GPL-3.0-only", "GCC-exception-3.1"]),
        ("Apache-2.0 WITH LLVM-exception OR MIT", ["MIT"]),
    ],
)
def test_an_expression_asks_for_its_texts(expression: str, names: list[str]) -> None:
    assert [text.name for text in license_texts.texts_for(expression)] == [f"{name}.txt" for name in names]


def test_license_without_a_text_is_reported() -> None:
    with pytest.raises(license_texts.NoTextError, match="no text of Beerware"):
        license_texts.texts_for("MIT AND Beerware")


@pytest.mark.parametrize(
    ("expression", "covers"),
    [
        ("GPL-2.0-only", True),
        ("MIT AND AGPL-3.0-or-later", True),
        ("LGPL-2.1-or-later", False),
        ("GPL-2.0-only OR MIT", False),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", False),
    ],
)
def test_terms_that_cover_the_whole_program_are_recognized(expression: str, covers: bool) -> None:
    assert license_texts.covers_the_whole(expression) is covers
