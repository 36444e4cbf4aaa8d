"""The scripts that make packages for Linux: what is inside, and that the same tree makes the same package."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packaging.linux_tree import LINUX, make_icons, make_tree, pack

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("dpkg-deb") is None, reason="needs dpkg-deb, as Debian has it"
)


@pytest.fixture(scope="module", autouse=True)
def _scripts_run_this_python() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("inputs")
    return make_tree(folder / "tree"), make_icons(folder / "icons")


def make_package(script: str, inputs: tuple[Path, Path], out: Path, *more: Path) -> Path:
    completed = pack(script, *inputs, *more, out)
    assert completed.returncode == 0, completed.stderr
    (file,) = out.iterdir()
    return file


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def deb(inputs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_package("make_deb.sh", inputs, tmp_path_factory.mktemp("deb"))


@pytest.fixture(scope="module")
def archive(inputs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_package("make_portable.sh", inputs, tmp_path_factory.mktemp("portable"))


def fields(deb: Path) -> dict[str, str]:
    completed = subprocess.run(["dpkg-deb", "--field", deb], capture_output=True, text=True, check=True).stdout
    lines = [line for line in completed.splitlines() if not line.startswith(" ")]
    return {name: value for name, _, value in (line.partition(": ") for line in lines)}


def test_debian_package_has_its_fields(deb: Path) -> None:
    deb_fields = fields(deb)
    assert deb.name == "gpudesk_1.2.0_amd64.deb"
    assert (deb_fields["Package"], deb_fields["Version"], deb_fields["Architecture"]) == ("gpudesk", "1.2.0", "amd64")
    assert deb_fields["Depends"].startswith("libc6 (>= 2.")
    assert "xdg-utils" in deb_fields["Recommends"]
    assert int(deb_fields["Installed-Size"]) > 30


def test_debian_package_has_no_scripts_and_no_configuration(deb: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--control", deb, tmp_path], check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"control", "md5sums"}


def test_debian_package_puts_files_of_root_where_they_belong(deb: Path) -> None:
    packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], capture_output=True, check=True).stdout
    file = deb.with_name("files.tar")
    file.write_bytes(packed)
    with tarfile.open(file) as tar:
        members = {member.name.removeprefix("./"): member for member in tar.getmembers()}
    file.unlink()
    assert members["usr/bin/gpudesk"].linkname == "../lib/gpudesk/gpudesk"
    assert members["usr/lib/gpudesk/gpudesk"].mode == 0o755
    assert {member.uid for member in members.values()} == {0}
    plain = [member for name, member in members.items() if member.isfile() and not name.endswith("/gpudesk")]
    assert {member.mode for member in plain if "usr/lib/gpudesk/gpudesk" not in member.name} == {0o644}
    for name in ("copyright", "changelog.gz", "THIRD_PARTY_NOTICES.txt.gz"):
        assert f"usr/share/doc/gpudesk/{name}" in members
    # At its place there, and nowhere else.
    assert "usr/lib/gpudesk/THIRD_PARTY_NOTICES.txt" not in members
    assert "usr/share/man/man1/gpudesk.1.gz" in members
    assert "usr/share/metainfo/io.github.gpudesk.GPUDesk.metainfo.xml" in members


def test_same_tree_makes_the_same_debian_package(deb: Path, inputs: tuple[Path, Path], tmp_path: Path) -> None:
    again = (Path(shutil.copytree(inputs[0], tmp_path / "tree", symlinks=True)), inputs[1])
    (again[0] / "gpudesk").touch()
    assert digest(make_package("make_deb.sh", again, tmp_path / "out")) == digest(deb)


def test_debian_package_without_a_list_of_parts_is_refused(tmp_path: Path) -> None:
    tree, icons = make_tree(tmp_path / "tree"), make_icons(tmp_path / "icons")
    (tree / "_internal/gpudesk/_bundled/parts.json").unlink()
    completed = pack("make_deb.sh", tree, icons, tmp_path / "out")
    assert completed.returncode == 1
    assert "has to say what it carries" in completed.stderr


@pytest.mark.parametrize("script", ["make_deb.sh", "make_portable.sh"])
def test_folder_without_a_frozen_program_is_refused_in_one_line(script: str, tmp_path: Path) -> None:
    icons = make_icons(tmp_path / "icons")
    completed = pack(script, tmp_path, icons, tmp_path / "out")
    assert completed.returncode == 1
    (line,) = completed.stderr.splitlines()
    assert "holds no frozen program" in line


def test_version_before_a_release_is_older_for_debian(inputs: tuple[Path, Path], tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", version="1.2.0rc1")
    file = make_package("make_deb.sh", (tree, inputs[1]), tmp_path / "out")
    assert file.name == "gpudesk_1.2.0~rc1_amd64.deb"


def test_portable_archive_has_one_folder_with_its_data(archive: Path) -> None:
    assert archive.name == "gpudesk-1.2.0-linux-x86_64.tar.xz"
    with tarfile.open(archive) as tar:
        members = {member.name: member for member in tar.getmembers()}
        readme = tar.extractfile("gpudesk-1.2.0/README.txt")
        assert readme is not None
        text = readme.read().decode()
    assert {name.partition("/")[0] for name in members} == {"gpudesk-1.2.0"}
    assert "gpudesk-1.2.0/gpudesk-data/README.txt" in members
    assert members["gpudesk-1.2.0/gpudesk"].mode == 0o755
    assert members["gpudesk-1.2.0/gpudesk.sh"].mode == 0o755
    assert {(member.uid, member.uname) for member in members.values()} == {(0, "")}
    assert "tar -xf gpudesk-1.2.0-linux-x86_64.tar.xz" in text
    assert "@" not in text


def test_portable_archive_has_nothing_that_a_stick_cannot_hold(archive: Path) -> None:
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    assert {member.name for member in members if not (member.isfile() or member.isdir())} == set()
    assert len({member.name.lower() for member in members}) == len(members)


@pytest.mark.parametrize("name", ["DATA.txt", "what?.txt"])
def test_name_that_a_stick_cannot_hold_is_refused(inputs: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    tree = Path(shutil.copytree(inputs[0], tmp_path / "tree", symlinks=True))
    (tree / "_internal" / name).touch()
    completed = pack("make_portable.sh", tree, inputs[1], tmp_path / "out")
    assert completed.returncode == 1
    assert name.lower() in completed.stderr.lower()


def test_same_tree_makes_the_same_portable_archive(archive: Path, inputs: tuple[Path, Path], tmp_path: Path) -> None:
    assert digest(make_package("make_portable.sh", inputs, tmp_path)) == digest(archive)


def test_appimage_is_a_runtime_with_the_files_behind_it(inputs: tuple[Path, Path], tmp_path: Path) -> None:
    if shutil.which("mksquashfs") is None:
        pytest.skip("mksquashfs is not installed")
    runtime = tmp_path / "runtime"
    head = bytearray(Path("/bin/true").read_bytes())
    head[8:11] = b"AI\x02"
    runtime.write_bytes(head)
    file = make_package("make_appimage.sh", inputs, tmp_path / "out", runtime)
    assert file.name == "GPU_Desk-1.2.0-x86_64.AppImage"
    root = tmp_path / "files"
    subprocess.run(["unsquashfs", "-q", "-n", "-o", str(len(head)), "-d", root, file], check=True, capture_output=True)
    assert (root / "AppRun").readlink() == Path("usr/lib/gpudesk/gpudesk")
    assert (root / "AppRun").exists()
    record = root / "usr/lib/gpudesk/_internal/gpudesk/_bundled/build.json"
    assert json.loads(record.read_text(encoding="utf-8"))["version"] == "1.2.0"
    assert {path.name for path in root.iterdir()} == {*("AppRun", "gpudesk.desktop", "gpudesk.png", ".DirIcon", "usr")}


def test_appimage_needs_a_runtime_of_its_kind(inputs: tuple[Path, Path], tmp_path: Path) -> None:
    completed = pack("make_appimage.sh", *inputs, Path("/bin/true"), tmp_path)
    assert completed.returncode == 1
    assert "no runtime of AppImages" in completed.stderr


@pytest.mark.parametrize("folder", [LINUX, LINUX / "portable"], ids=lambda path: path.name)
def test_scripts_are_clean(folder: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    scripts = sorted(map(str, folder.glob("*.sh")))
    completed = subprocess.run(
        ["shellcheck", "-x", *scripts], cwd=LINUX.parents[1], capture_output=True, text=True, check=False
    )
    assert completed.stdout == ""
