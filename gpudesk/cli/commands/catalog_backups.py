"""`gpudesk catalog backups` and `restore`: earlier states of the user's own facts, and going back to one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.faults import DONE
from gpudesk.cli.options import add_json
from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr, trn

if TYPE_CHECKING:
    from gpudesk.domain.backups import Backup
    from gpudesk.workbench.own_catalog import OwnCatalog


def add_parts(parts: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add both parts to `gpudesk catalog`."""
    said = tr("list the backups of your own facts, the newest first")
    part = parts.add_parser("backups", help=said, description=said)
    add_json(part)
    part.set_defaults(run=_backups)
    said = tr("go back to a backup of your own facts; the present ones are backed up first")
    part = parts.add_parser("restore", help=said, description=said)
    part.add_argument(
        "backup", metavar=tr("BACKUP"), help=tr("its number, as `catalog backups` lists it, or a file")
    )
    part.set_defaults(run=_restore)


def _backups(options: argparse.Namespace) -> int:
    from gpudesk.cli.tables import table
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        backups = workbench.own.backups()
    if options.json:
        output.say_json([_fields(number, backup) for number, backup in enumerate(backups, start=1)])
    elif backups:
        head = ["#", tr("Facts"), tr("Size"), tr("Version"), tr("Made"), tr("Before")]
        rows = [_cells(number, backup) for number, backup in enumerate(backups, start=1)]
        for line in table(head, rows, output.width(), right=(0, 1, 2, 3), strong=output.strong):
            output.say(line)
    else:
        output.say(
            tr("None yet. One is made before the first change of a day, and before each large change.")
        )
    return DONE


def _fields(number: int, backup: Backup) -> dict[str, Any]:
    from gpudesk.sentences import sentence

    return {
        "number": number,
        "file": str(backup.path),
        "made": backup.made.isoformat(),
        "before": backup.reason.value,
        "facts": backup.facts,
        "bytes": backup.size_bytes,
        "version": backup.version,
        "problem": None if backup.problem is None else sentence(backup.problem),
    }


def _cells(number: int, backup: Backup) -> list[str]:
    from gpudesk.domain.formatting import UNKNOWN, Formatter
    from gpudesk.sentences import sentence
    from gpudesk.sheets.labels import backup_reason_label

    formatter = Formatter()
    return [
        str(number),
        UNKNOWN if backup.facts is None else formatter.count(backup.facts),
        formatter.memory(backup.size_bytes),
        str(backup.version),
        _made(backup),
        backup_reason_label(backup.reason) if backup.problem is None else sentence(backup.problem),
    ]


def _made(backup: Backup) -> str:
    return f"{backup.made.astimezone():%Y-%m-%d %H:%M:%S}"


def _restore(options: argparse.Namespace) -> int:
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        own = workbench.own
        broken, before = own.problem, len(own.facts)
        own.restore(_chosen(own, options.backup))
        after = len(own.facts)
    output.say(trn("Restored: you have {n} fact now.", "Restored: you have {n} facts now.", after))
    if broken is not None:
        output.say(tr("The file that could not be used is kept beside it, with .broken in its name."))
    elif before:
        output.say(tr("What was there before is a backup now: `gpudesk catalog restore 1` brings it back."))
    return DONE


def _chosen(own: OwnCatalog, given: str) -> Path:
    """Return the backup that a number or the name of a file means."""
    if not (given.isascii() and given.isdigit()):
        return Path(given)
    backups = own.backups()
    # The number of digits that Python reads is bounded, and no list is that long.
    number = int(given) if len(given) < 4 else 0
    if not 0 < number <= len(backups):
        raise InputError(message("own.backup.unknown", number=given), "restore")
    return backups[number - 1].path
