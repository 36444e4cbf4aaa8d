"""What a tree is found to need of the system, and the links that the loader follows in it."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.packaging.scripts import load

SCRIPT = Path(__file__).parents[2] / "packaging" / "linux" / "needs.py"


@pytest.fixture(scope="module")
def needs() -> ModuleType:
    return load(SCRIPT)


class Frozen:
    """A tree of files that only say they are libraries, with what objdump would say of them."""

    def __init__(self, needs: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.needs = needs
        self.folder = folder.resolve()
        self._said: dict[Path, object] = {}
        monkeypatch.setattr(needs, "read", self._said.__getitem__)

    def add(self, place: str, *needed: str, folders: tuple[str, ...] = (), glibc: tuple[int, ...] = (2, 17)) -> None:
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x7fELF")
        self._said[path] = self.needs.Library(path, needed, folders, glibc)

    def link(self, place: str, target: str) -> None:
        (self.folder / place).symlink_to(target)

    def depends(self) -> dict[str, list[str]]:
        text = self.needs.depends(self.needs.Tree(self.folder))
        return {line.partition(": ")[0]: line.partition(": ")[2].split(", ") for line in text.splitlines()}


@pytest.fixture
def frozen(needs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Frozen:
    monkeypatch.setattr(needs, "package_of", lambda name: f"package-of-{name.partition('.')[0]}")
    tree = Frozen(needs, tmp_path, monkeypatch)
    tree.add("gpudesk", "libmain.so.1")
    return tree


def test_only_libraries_outside_the_tree_become_dependencies(frozen: Frozen) -> None:
    frozen.add("_internal/module.cpython-311-x86_64-linux-gnu.so", "libinside.so.1", "libout.so.2")
    frozen.add("_internal/libinside.so.1", "libdeep.so.3")
    expected = ["package-of-libdeep", "package-of-libmain", "package-of-libout"]
    assert frozen.depends()["Depends"] == expected


def test_needs_of_optional_plugins_are_recommended(frozen: Frozen) -> None:
    plugins = "_internal/PySide6/Qt/plugins"
    frozen.add(f"{plugins}/platforms/libqxcb.so", "libdraws.so.1")
    frozen.add(f"{plugins}/platforms/libqwayland.so", "libclient.so.6", folders=("$ORIGIN/../../lib",))
    frozen.add("_internal/PySide6/Qt/lib/libclient.so.6", "libwayland.so.0", "libdraws.so.1")
    fields = frozen.depends()
    assert "package-of-libdraws" in fields["Depends"]
    assert "package-of-libwayland" not in fields["Depends"]
    assert "package-of-libwayland" in fields["Recommends"]
    assert "package-of-libdraws" not in fields["Recommends"]


def test_the_newest_c_library_that_any_file_asks_for_is_required(
    frozen: Frozen, needs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "package_of", lambda _name: "libc6")
    frozen.add("_internal/one.abi3.so", glibc=(2, 9))
    frozen.add("_internal/two.abi3.so", glibc=(2, 34))
    assert frozen.depends()["Depends"] == ["libc6 (>= 2.34)"]


def test_a_package_that_was_renamed_is_asked_for_by_either_name(
    frozen: Frozen, needs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "package_of", lambda _name: "libglib2.0-0")
    assert frozen.depends()["Depends"] == ["libglib2.0-0t64 | libglib2.0-0"]


def test_library_without_a_package_fails_with_its_name_and_user(
    frozen: Frozen, needs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> str:
        raise LookupError(name)

    monkeypatch.setattr(needs, "package_of", unknown)
    with pytest.raises(SystemExit, match=r"libmain\.so\.1, for gpudesk, is of no package"):
        frozen.depends()


def test_data_of_a_library_that_is_carried_along_come_from_the_system(frozen: Frozen) -> None:
    frozen.add("_internal/libmain.so.1", "libfontconfig.so.1")
    frozen.add("_internal/libfontconfig.so.1")
    assert frozen.depends()["Depends"] == ["fontconfig-config"]


def test_only_links_without_which_a_library_is_not_found_are_followed(frozen: Frozen, needs: ModuleType) -> None:
    """A module finds its library next to itself; the start finds its own through a link alone."""
    frozen.add("_internal/numpy.libs/libblas.so")
    frozen.add("_internal/numpy/umath.cpython-311-x.so", "libblas.so", folders=("$ORIGIN/../numpy.libs",))
    frozen.link("_internal/libblas.so", "numpy.libs/libblas.so")
    frozen.add("_internal/inner/libmain.so.1")
    frozen.link("_internal/libmain.so.1", "inner/libmain.so.1")
    assert needs.links(needs.Tree(frozen.folder)) == "_internal/libmain.so.1\t_internal/inner/libmain.so.1"
