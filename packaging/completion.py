"""Write the completion of the command line for bash, zsh and fish: `completion.py SHARE_FOLDER`.

Accelerators, models and templates are completed from the shipped catalog; of a list, the first one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import shtab

from gpudesk.cli.parser import make_parser
from gpudesk.documents.scenario_file import list_template_ids
from gpudesk.service import GpuDeskService

#: Shell -> the file below /usr/share with a package's completion.
FILES: Final = {
    "bash": "bash-completion/completions/gpudesk",
    "zsh": "zsh/vendor-completions/_gpudesk",
    "fish": "fish/vendor_completions.d/gpudesk.fish",
}


def main(share: Path) -> None:
    parser = _make_parser()
    for shell, name in FILES.items():
        file = share / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shtab.complete(parser, shell), encoding="utf-8")


def _make_parser() -> argparse.ArgumentParser:
    """Return the parser with the known values of options."""
    with GpuDeskService.open(with_user_facts=False) as service:
        names = {
            "accelerators": [each.id for each in service.catalog.accelerators()],
            "model": [each.id for each in service.catalog.models()],
            "template": list(list_template_ids()),
        }
    parser = make_parser()
    for action in _list_actions(parser):
        if action.dest in names:
            action.choices = names[action.dest]
        elif "FILE" in str(action.metavar):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


def _list_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to walk a parser
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in dict.fromkeys(action.choices.values()):
                yield from _list_actions(below)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
