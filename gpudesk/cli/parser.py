"""The parser of all commands, with help and error messages in the current language."""

# ruff: noqa: SLF001 - argparse has no public way to walk a parser

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from gpudesk.cli.output import UsageError
from gpudesk.text.messages import quote_input
from gpudesk.text.translation import tr

#: A function that runs a command with its parsed arguments and returns the exit code.
Run = Callable[[argparse.Namespace], int]
#: Commands in the order of the help -> the module that adds each.
_COMMANDS: Final = {
    "estimate": "gpudesk.cli.commands.estimate",
    "compare": "gpudesk.cli.commands.compare",
    "explain": "gpudesk.cli.commands.explain",
    "fit": "gpudesk.cli.commands.fit",
    "profile": "gpudesk.cli.commands.profile",
    "size": "gpudesk.cli.commands.size",
    "cost": "gpudesk.cli.commands.cost",
    "fleet": "gpudesk.cli.commands.fleet",
    "decide": "gpudesk.cli.commands.decide",
    "launch": "gpudesk.cli.commands.launch",
    "sheet": "gpudesk.cli.commands.sheet",
    "sweep": "gpudesk.cli.commands.sweep",
    "catalog": "gpudesk.cli.commands.catalog",
    "import": "gpudesk.cli.commands.import_",
    "help": "gpudesk.cli.commands.help",
}
#: The end of the help of each command.
EXAMPLES: Final = {
    "estimate": "gpudesk estimate --template 405b-one-node --concurrency 32",
    "compare": "gpudesk compare --template 70b-chat-on-four -o comparison.html",
    "explain": "gpudesk explain tpot_ms --template 405b-one-node",
    "fit": "gpudesk fit --accelerators h200-sxm,mi325x --models llama-3.1-70b",
    "profile": "gpudesk profile mi325x --mode speed",
    "size": "gpudesk size --template 70b-chat-on-four --users 2000",
    "cost": "gpudesk cost --template 70b-chat-on-four --set energy_usd_per_kwh=0.1",
    "fleet": "gpudesk fleet --template 70b-chat-on-four --users 2000 --curve office",
    "decide": "gpudesk decide --template 70b-chat-on-four --set priority=cost",
    "launch": "gpudesk launch --template 405b-one-node",
    "sheet": "gpudesk sheet --template 70b-chat-on-four -o sheet.pdf",
    "sweep": "gpudesk sweep --accelerators all --models llama-3.1-8b --weights fp8 --input-tokens 1024 "
    "--output-tokens 512 --concurrency 1..256*2 -o sweep.csv",
    "catalog": "gpudesk catalog show h200-sxm",
    "import": "gpudesk import prices.csv --dry-run",
    "help": "gpudesk help glossary",
}


#: How many names an error lists if none is similar.
_MOST_NAMED: Final = 16
#: Texts of argparse that users see, which it translates and fills in itself.
_TEXTS_OF_ARGPARSE: Final = (
    "usage: ",
    "options",
    "positional arguments",
    "argument %(argument_name)s: %(message)s",
    "expected at least one argument",
    "expected one argument",
    "ignored explicit argument %r",
    "not allowed with argument %s",
    "one of the arguments %s is required",
    "the following arguments are required: %s",
)


def _translate_text_of_argparse(text: str) -> str:
    return tr(text) if text in _TEXTS_OF_ARGPARSE else text


# argparse uses this name of gettext for its own texts, in the domain of the system.
vars(argparse)["_"] = _translate_text_of_argparse


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError`; abbreviations are off, because a new option could break them."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - any argument of argparse
        settings.setdefault("allow_abbrev", False)
        super().__init__(add_help=False, **settings)
        self.add_argument("-h", "--help", action="help", help=tr("show this help and exit"))

    def error(self, message: str) -> NoReturn:
        raise UsageError(tr("{problem}; for help, run `{program} --help`", problem=message, program=self.prog))

    def parse_args(self, args: Any = None, namespace: Any = None) -> argparse.Namespace:  # type: ignore[override] # noqa: ANN401
        """Return the options; an unknown one is refused by its command, with the closest known option."""
        options: argparse.Namespace
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            name, command = unknown[0].partition("=")[0], self._find_command(options)
            known = command._option_string_actions
            longer = [each for each in known if name.startswith("--") and each.startswith(name)]
            near = longer or difflib.get_close_matches(name, known, n=1, cutoff=_SIMILAR)
            command.error(_add_suggestion(tr("unknown argument {given}", given=quote_input(name)), near))
        return options

    def _find_command(self, options: argparse.Namespace) -> Parser:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                command = (action.choices or {}).get(getattr(options, action.dest, ""))
                return self if command is None else command._find_command(options)
        return self

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse has it
        """Refuse a value that is not among the choices, with the closest of them."""
        if action.choices is not None and value not in action.choices:
            problem, choices = tr("unknown value {given}", given=quote_input(str(value))), list(action.choices)
            near = difflib.get_close_matches(str(value), choices, n=1)
            if not near and len(choices) <= _MOST_NAMED:
                problem = tr("{problem}; use one of {known}", problem=problem, known=", ".join(choices))
            raise argparse.ArgumentError(action, _add_suggestion(problem, near))


#: Similarity of an option to a misspelled one, from 0 to 1; both begin with dashes, so unlike ones reach 0.6.
_SIMILAR: Final = 0.75


def _add_suggestion(problem: str, near: Sequence[str]) -> str:
    return tr("{problem} (did you mean {near}?)", problem=problem, near=near[0]) if near else problem


def make_parser(arguments: Sequence[str] = ()) -> Parser:
    """Return the parser of the command at the beginning of the arguments, else of all commands."""
    parser = Parser(
        prog="gpudesk",
        description=tr(
            "Compare accelerators for LLM inference: fit, count, speed, cost and sources. Without a "
            "command, or with scenario files, the window opens."
        ),
    )
    parser.add_argument("--version", action="store_true", help=tr("show the version and exit"))
    parser.add_argument("--self-test", action="store_true", help=tr("check the installation and its results"))
    commands = parser.add_subparsers(dest="command", metavar=tr("COMMAND"), parser_class=Parser)
    command = arguments[0] if arguments else ""
    for name in [command] if command in _COMMANDS else _COMMANDS:
        import_module(_COMMANDS[name]).add_parser(commands)
        parser_of_command = commands.choices[name]
        example = tr("Example: {command}", command=EXAMPLES[name])
        parser_of_command.epilog = " ".join(filter(None, (parser_of_command.epilog, example)))
    return parser
