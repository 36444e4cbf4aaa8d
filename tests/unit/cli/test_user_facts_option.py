"""Commands where the file of the user's facts cannot be used: they say so, and answer only when told to go on."""

import argparse
import os
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.user_store.user_file import UserFile
from gpudesk.cli import main as entry
from gpudesk.cli.parser import make_parser
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.user_facts import UserPrice
from tests.unit.catalog.user_samples import QUOTE, step

Capture = pytest.CaptureFixture[str]
COST = ["cost", "--template", "mi325x-or-h200-70b", "--json"]
RENT = UserPrice("own-rent", "h200-sxm", "on_demand", "own-quote", SourceKind.PRESS, 0.42, date="2026-11-01")


@pytest.fixture
def file() -> Path:
    path = paths.get_user_catalog_path()
    with UserFile.open(path) as file:
        file.apply(step(QUOTE, RENT))
    return path


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _newer(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[60:64] = struct.pack(">I", 99)
    path.write_bytes(content)


def _text(path: Path) -> None:
    path.write_text("id,name\n" * 100)


@pytest.mark.parametrize("spoil", [_cut, _newer, _text])
@pytest.mark.parametrize(
    "command", [COST, ["catalog", "list", "prices"], ["fit", "--model", "llama-3.1-70b", "--accelerators", "h200-sxm"]]
)
def test_unusable_file_fails_the_command_unless_ignored(
    file: Path, capsys: Capture, spoil: Callable[[Path], None], command: list[str]
) -> None:
    spoil(file)
    assert entry.main(command) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"gpudesk: {file}: ")
    assert "--without-user-facts" in captured.err
    assert entry.main([*command, "--without-user-facts"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out


@pytest.mark.parametrize(
    "command", [["catalog", "signers"], ["catalog", "pack", "-o", "mine.gpudeskpack"], ["import", "prices.csv"]]
)
def test_catalog_commands_fail_on_a_truncated_file(file: Path, capsys: Capture, command: list[str]) -> None:
    _cut(file)
    assert entry.main(command) == 1
    assert "is truncated" in capsys.readouterr().err
    assert entry.main([*command, "--without-user-facts"]) == 2


def test_row_that_is_left_out_is_named(file: Path, capsys: Capture) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE price SET kind = 'gossip'")
        connection.commit()
    assert entry.main(COST) == 0
    output = capsys.readouterr().err
    assert output.startswith(
        f"gpudesk: {file}: row 1 of the table price (own-rent) cannot be used: 'gossip' is no kind"
    )


def test_every_command_that_answers_has_the_option() -> None:
    (commands,) = (each for each in make_parser()._actions if isinstance(each, argparse._SubParsersAction))
    lacking = {name for name, parser in commands.choices.items() if "--without-user-facts" not in parser.format_help()}
    assert lacking == {"catalog", "help", "import"}, (
        "actions of catalog have it; import writes these facts; help reads none"
    )
