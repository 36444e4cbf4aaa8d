"""The parser of all commands, with help and error messages in the language in force."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from gpudesk.cli.commands import catalog, compare, cost, decide, estimate, explain, fit, import_, sheet, size, sweep
from gpudesk.cli.output import UsageError
from gpudesk.text.translation import tr

#: What a command does with its parsed arguments; the result is the exit code.
Run = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`; abbreviations, which the next option could break, are off."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - whatever argparse takes
        settings.setdefault("allow_abbrev", False)
        super().__init__(add_help=False, **settings)
        self.add_argument("-h", "--help", action="help", help=tr("show this help"))

    def error(self, message: str) -> NoReturn:
        raise UsageError(tr("{problem}; see `{program} --help`", problem=message, program=self.prog))


def make_parser() -> Parser:
    parser = Parser(
        prog="gpudesk",
        description=tr(
            "Which accelerators can serve a model, how many, how fast, how sure is that, and on whose word. "
            "Without a command, or with scenario files, it opens the window."
        ),
    )
    parser.add_argument("--version", action="store_true", help=tr("show the version"))
    parser.add_argument(
        "--self-test", action="store_true", help=tr("check that everything is in place and computes right")
    )
    commands = parser.add_subparsers(dest="command", metavar=tr("COMMAND"), parser_class=Parser)
    for module in (estimate, compare, explain, fit, size, cost, decide, sheet, sweep, catalog, import_):
        module.add_parser(commands)
    return parser
