"""What a Linux desktop is told of the program: entry, types of files, description, manual page."""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest

from gpudesk.cli.parser import make_parser
from tests.packaging.linux_tree import LINUX, make_icons, make_tree

TYPES = {"application/vnd.gpudesk.scenario+json", "application/vnd.gpudesk.pack"}
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux desktops")

_ASK_QT = """
import sys
from PySide6.QtCore import QMimeDatabase
for path in sys.argv[1:]:
    print(QMimeDatabase().mimeTypeForFile(path).name())
"""


def tool(name: str) -> str:
    """Return a program of the system's; without it the test is skipped, and says so."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def check(*command: str) -> None:
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linux")
    tree, icons = make_tree(folder / "tree"), make_icons(folder / "icons")
    script = f'here="{LINUX}"; . "$here/common.sh"; read_tree "$1"; install_share "$2" "$3"'
    environment = {**os.environ, "PYTHON": sys.executable}
    subprocess.run(["sh", "-euc", script, "sh", tree, icons, folder / "share"], check=True, env=environment)
    return folder / "share"


def test_desktop_entry_is_valid(share: Path) -> None:
    check(tool("desktop-file-validate"), str(share / "applications/gpudesk.desktop"))


def test_desktop_entry_opens_the_types_of_files_that_are_registered(share: Path) -> None:
    entry = ConfigParser(interpolation=None)
    entry.read(share / "applications/gpudesk.desktop", encoding="utf-8")
    desktop_entry = entry["Desktop Entry"]
    assert set(desktop_entry["MimeType"].strip(";").split(";")) == TYPES
    # With several files, and as the window says who it is.
    assert (desktop_entry["Exec"], desktop_entry["StartupWMClass"]) == ("gpudesk %F", "gpudesk")
    assert {kind.attrib["type"] for kind in ET.parse(share / "mime/packages/gpudesk.xml").getroot()} == TYPES


@pytest.mark.parametrize("size", ["16x16", "48x48", "512x512", "scalable"])
def test_program_and_types_of_files_have_icons(share: Path, size: str) -> None:
    names = {path.stem for path in (share / "icons/hicolor" / size).rglob("*.*")}
    assert names == {"gpudesk"} | {name.replace("/", "-") for name in TYPES}


def test_description_is_valid(share: Path) -> None:
    file = str(share / "metainfo/io.github.gpudesk.GPUDesk.metainfo.xml")
    check(tool("appstreamcli"), "validate", "--no-net", "--pedantic", file)


def test_description_names_the_packed_version(share: Path) -> None:
    root = ET.parse(share / "metainfo/io.github.gpudesk.GPUDesk.metainfo.xml").getroot()
    newest = root.find("releases/release")
    assert newest is not None
    assert (newest.attrib["version"], newest.attrib["date"]) == ("1.2.0", "2026-11-22")
    assert {kind.text for kind in root.iter("mediatype")} == TYPES


def test_desktop_knows_files_by_name_and_without_it_by_content(share: Path, tmp_path: Path) -> None:
    shutil.copytree(share / "mime", tmp_path / "share" / "mime")
    check(tool("update-mime-database"), str(tmp_path / "share/mime"))
    template = LINUX.parents[1] / "resources/templates/70b-chat-on-four.gpudesk"
    shutil.copy(template, tmp_path / "nameless")
    (tmp_path / "other").write_text('{\n  "gpudesk_pack": 1,\n  "content": {}\n}\n', encoding="utf-8")
    (tmp_path / "empty.gpudeskpack").touch()
    environment = {**os.environ, "XDG_DATA_DIRS": str(tmp_path / "share"), "XDG_DATA_HOME": str(tmp_path / "nothing")}
    files = [str(template), *(str(tmp_path / name) for name in ("nameless", "other", "empty.gpudeskpack"))]
    completed = subprocess.run(
        [sys.executable, "-c", _ASK_QT, *files], env=environment, capture_output=True, text=True, check=True
    )
    scenario, pack = "application/vnd.gpudesk.scenario+json", "application/vnd.gpudesk.pack"
    assert completed.stdout.split() == [scenario, scenario, pack, pack]


def test_manual_page_is_well_formed(share: Path) -> None:
    page = share / "man/man1/gpudesk.1.gz"
    text = subprocess.run(["gzip", "-dc", page], capture_output=True, check=True).stdout
    lint = subprocess.run([tool("mandoc"), "-T", "lint", "-W", "warning"], input=text, capture_output=True, check=False)
    assert lint.stdout.decode() == ""


def parsers(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield name, below
                yield from parsers(below)


def test_man_page_describes_every_command_and_option(share: Path) -> None:
    page = gzip.decompress((share / "man/man1/gpudesk.1.gz").read_bytes()).decode()
    commands = dict(parsers(make_parser()))
    options = {
        option
        for parser in [make_parser(), *commands.values()]
        for action in parser._actions
        for option in action.option_strings
    }
    documented_options = {f"-{name}" for name in re.findall(r"Fl (-?[\w-]+)", page)}
    assert options - documented_options == set()
    assert documented_options - options == set()
    assert set(commands) - set(re.findall(r"Ss gpudesk (?:\w+ )?([\w-]+)", page)) == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["gpudesk", "esti"], "estimate"),
        (["gpudesk", "estimate", "--accelerators", "h200-s"], "h200-sxm"),
        (["gpudesk", "compare", "--template", "70b"], "70b-chat-on-four"),
        (["gpudesk", "decide", "--list-q"], "--list-questions"),
    ],
)
def test_bash_completes_commands_options_and_entries_of_the_catalog(
    share: Path, words: list[str], expected: str
) -> None:
    script = (
        'source "$1"; shift; function=$(complete -p gpudesk | sed "s/.*-F \\([^ ]*\\).*/\\1/"); COMP_WORDS=("$@"); '
        'COMP_CWORD=$(($# - 1)); $function gpudesk "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[@]}"'
    )
    file = share / "bash-completion/completions/gpudesk"
    run = subprocess.run(["bash", "-c", script, "bash", file, *words], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [expected]


def test_completion_is_there_for_zsh_and_fish(share: Path) -> None:
    assert (share / "zsh/vendor-completions/_gpudesk").read_text(encoding="utf-8").startswith("#compdef gpudesk")
    assert "h200-sxm" in (share / "fish/vendor_completions.d/gpudesk.fish").read_text(encoding="utf-8")
