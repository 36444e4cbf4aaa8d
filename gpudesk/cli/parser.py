"""The parser of all commands, with help and error messages in the language in force."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from gpudesk.cli.output import UsageError
from gpudesk.text.translation import tr

#: What a command does with its parsed arguments; the result is the exit code.
Run = Callable[[argparse.Namespace], int]
#: Commands in the order of the help -> the module that adds each.
_COMMANDS: Final = {
    "estimate": "gpudesk.cli.commands.estimate",
    "compare": "gpudesk.cli.commands.compare",
    "explain": "gpudesk.cli.commands.explain",
    "fit": "gpudesk.cli.commands.fit",
    "size": "gpudesk.cli.commands.size",
    "cost": "gpudesk.cli.commands.cost",
    "decide": "gpudesk.cli.commands.decide",
    "launch": "gpudesk.cli.commands.launch",
    "sheet": "gpudesk.cli.commands.sheet",
    "sweep": "gpudesk.cli.commands.sweep",
    "catalog": "gpudesk.cli.commands.catalog",
    "import": "gpudesk.cli.commands.import_",
    "help": "gpudesk.cli.commands.help",
}


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`; abbreviations, which the next option could break, are off."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - whatever argparse takes
        settings.setdefault("allow_abbrev", False)
        super().__init__(add_help=False, **settings)
        self.add_argument("-h", "--help", action="help", help=tr("show this help"))

    def error(self, message: str) -> NoReturn:
        raise UsageError(tr("{problem}; see `{program} --help`", problem=message, program=self.prog))


def make_parser(arguments: Sequence[str] = ()) -> Parser:
    """Return the parser of the command that the arguments begin with, else of all commands."""
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
    named = arguments[0] if arguments else ""
    for name in [named] if named in _COMMANDS else _COMMANDS:
        import_module(_COMMANDS[name]).add_parser(commands)
    return parser
