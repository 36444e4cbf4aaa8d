"""The reference of the command line from its parser: a page of the manual, and the man page.

`command_reference.py` prints the man page. Groups of options shared by several commands are described once.
"""
# ruff: noqa: SLF001 - argparse has no public way to walk a parser

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gpudesk.cli.parser import make_parser

ROOT: Final = Path(__file__).resolve().parents[1]
MANUAL_PAGE: Final = ROOT / "resources/manual/command-line.md"
_FRAME: Final = ROOT / "packaging/linux/gpudesk.1.in"
_INTRODUCTION: Final = """# Command line

Every answer of the window is also a command.
Without a command, or with files, `gpudesk` opens the window.
Add `--json` to get JSON for other programs.

## Exit status {#exit-status}

| status | meaning |
| --- | --- |
| 0 | done |
| 1 | input or data is at fault; one line on standard error names the fault and the fix |
| 2 | the command line is not valid |
"""
_COMPLETION: Final = """
## Shell completion {#completion}

The Linux packages install completion for bash, zsh and fish.
It completes commands, options, accelerators, models and templates.
"""


class OptionLine(NamedTuple):
    """An option or a positional argument: its syntax, and its description."""

    flags: tuple[str, ...]
    value: str
    meaning: str

    @property
    def text(self) -> str:
        return ", ".join(f"{flag} {self.value}".strip() for flag in self.flags) or self.value


class OptionGroup(NamedTuple):
    """Options below one title; the title is empty for those of a single command."""

    title: str
    options: tuple[OptionLine, ...]


class Command(NamedTuple):
    """A command by its words."""

    name: str
    description: str
    groups: tuple[OptionGroup, ...]


def list_commands(parser: argparse.ArgumentParser | None = None) -> Iterator[Command]:
    """Yield all commands in the order of the help, each followed by its subcommands."""
    parser = parser or make_parser()
    name = parser.prog.partition(" ")[2]
    below: list[argparse.ArgumentParser] = []
    groups: list[OptionGroup] = []
    for group in parser._action_groups:
        title = "" if group.title in ("options", "positional arguments") else str(group.title)
        lines = tuple(_read_option(action) for action in group._group_actions if _is_told(action))
        if lines:
            groups.append(OptionGroup(title, lines))
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                below += dict.fromkeys(action.choices.values())
    yield Command(name, (parser.description or "").strip(), tuple(groups))
    for each in below:
        yield from list_commands(each)


def _is_told(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS and not isinstance(
        action, argparse._HelpAction | argparse._SubParsersAction
    )


def _read_option(action: argparse.Action) -> OptionLine:
    value = ""
    if action.nargs != 0:
        metavar = action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper()
        value = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    return OptionLine(tuple(action.option_strings), value, (action.help or "").replace("%%", "%"))


def find_shared_groups(commands: Sequence[Command]) -> list[OptionGroup]:
    """Return the titled groups that several commands share exactly."""
    counts = Counter(group for command in commands for group in command.groups if group.title)
    return [group for group, count in counts.items() if count > 1]


def make_manual_page() -> str:
    """Return the page of the manual."""
    main, *commands = list_commands()
    shared = find_shared_groups(commands)
    lines = [_INTRODUCTION]
    for command in commands:
        lines += [f"## gpudesk {command.name} {{#{command.name.replace(' ', '-')}}}", "", command.description, ""]
        own = [group for group in command.groups if group not in shared]
        lines += _list_option_table([option for group in own for option in group.options])
        links = [f"[{_name(group)}](#{_anchor(group)})" for group in shared if group in command.groups]
        if links:
            lines += [f"Also: {', '.join(links)}.", ""]
    for group in shared:
        lines += [f"## Options: {_name(group)} {{#{_anchor(group)}}}", "", *_list_option_table(group.options)]
    lines += ["## Other options {#other}", "", *_list_option_table([o for g in main.groups for o in g.options])]
    return "\n".join(lines).rstrip() + "\n" + _COMPLETION


def _name(group: OptionGroup) -> str:
    return re.split(r"[,(]", group.title)[0].strip()


def _anchor(group: OptionGroup) -> str:
    return "options-" + re.sub(r"\W+", "-", _name(group))


def _list_option_table(options: Sequence[OptionLine]) -> list[str]:
    if not options:
        return []
    cells = [(f"`{option.text}`", option.meaning) for option in options]
    rows = [" | ".join(text.replace("|", "\\|") for text in row) for row in cells]
    return ["| option | meaning |", "| --- | --- |", *(f"| {row} |" for row in rows), ""]


def make_man_page() -> str:
    """Return the man page: the frame with the commands and options put in."""
    main, *commands = list_commands()
    shared = find_shared_groups(commands)
    lines: list[str] = []
    for command in commands:
        lines += [f".Ss gpudesk {_escape(command.name)}", _escape(command.description)]
        own = [option for group in command.groups if group not in shared for option in group.options]
        lines += [".Pp", *_list_man_options(own)] if own else []
        names = [_name(group) for group in shared if group in command.groups]
        if names:
            lines += [".Pp", f"Also the options of: {', '.join(names)}."]
    common: list[str] = []
    for group in shared:
        common += [f".Ss {_escape(_name(group).capitalize())}", *_list_man_options(group.options)]
    frame = _FRAME.read_text(encoding="utf-8")
    options = _list_man_options(
        [OptionLine(("-h", "--help"), "", "show the help of a command"), *main.groups[0].options]
    )
    for mark, text in (("@OPTIONS@", options), ("@COMMANDS@", lines), ("@COMMON@", common)):
        frame = frame.replace(mark, "\n".join(text))
    return frame


def _list_man_options(options: Sequence[OptionLine]) -> list[str]:
    if not options:
        return []
    lines = [".Bl -tag -width Ds -compact"]
    for option in options:
        value = f" Ar {_escape_argument(option.value)}" if option.value else ""
        flags = " , ".join(f"Fl {flag.removeprefix('-')}{value}" for flag in option.flags)
        lines += [f".It {flags}" if flags else f".It Ar {_escape_argument(option.value)}"]
        if option.meaning:
            lines.append(_escape(option.meaning))
    return [*lines, ".El"]


def _escape(text: str) -> str:
    """Return text without roff requests, each sentence on a line as roff expects."""
    escaped = re.sub(r"(?<=[.!?]) +(?=[A-Z])", "\n", text.replace("\\", "\\e"))
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _escape_argument(text: str) -> str:
    """Return an argument of a macro as one word: bars and commas would be macros or delimiters."""
    return '"' + _escape(text).replace('"', '""') + '"'


if __name__ == "__main__":
    sys.stdout.write(make_man_page())
