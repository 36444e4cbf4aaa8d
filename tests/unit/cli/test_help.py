"""The help of every command is worded as the golden file says."""

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudesk.cli import main as entry
from gpudesk.cli.parser import EXAMPLES, make_parser

GOLDEN = Path(__file__).parent / "golden" / "help.txt"


def list_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its commands, at any depth."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in dict.fromkeys(action.choices.values()):
                yield from list_parsers(each)


def test_help_is_that_of_the_golden_file(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """`--update-golden` writes the file again."""
    monkeypatch.setenv("COLUMNS", "100")
    text = "\n".join(parser.format_help() for parser in list_parsers(make_parser()))
    if request.config.getoption("--update-golden"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(EXAMPLES.keys() - {"import"}))
def test_examples_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(EXAMPLES[command])
    assert name == "gpudesk"
    assert (entry.main(arguments), arguments[0]) == (0, command)
    capsys.readouterr()
