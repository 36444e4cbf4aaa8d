"""`gpudesk catalog pack`: the user's facts with their sources as one file for others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from gpudesk.cli import output
from gpudesk.cli.faults import DONE, UsageError
from gpudesk.text import tr

#: Parts of the facts; `gpudesk.workbench.handing_on` says what belongs to each.
PARTS: Final = ("all", "things", "figures", "prices")


def add_part(parts: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the part to `gpudesk catalog`."""
    said = tr("write your own facts with their sources as a pack for others")
    part = parts.add_parser("pack", help=said, description=said)
    part.add_argument(
        "-o",
        "--output",
        metavar=tr("FILE"),
        required=True,
        help=tr("the file, {suffix}", suffix=output.PACK_SUFFIX),
    )
    part.add_argument(
        "--name", metavar=tr("NAME"), help=tr("what the pack is called; the file's name if omitted")
    )
    part.add_argument("--part", choices=PARTS, default="all", help=tr("which facts; all if omitted"))
    part.add_argument("--sign", metavar=tr("NAME"), help=tr("sign it with your key, under this name"))
    part.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the pack."""
    from gpudesk.sheets.dates import today
    from gpudesk.workbench.handing_on import write_pack
    from gpudesk.workbench.workbench import Workbench

    target = Path(options.output)
    if target.suffix.lower() != output.PACK_SUFFIX:
        raise UsageError(tr("--output: a pack ends with {suffix}", suffix=output.PACK_SUFFIX))
    with Workbench.open() as workbench:
        if workbench.own.problem is not None:
            raise workbench.own.problem
        steps = write_pack(
            workbench.own.facts,
            options.part,
            target.stem if options.name is None else options.name,
            target,
            made=today(),
            about=workbench.catalog.shipped_revision,
            signed_by=options.sign,
        )
        for _ in steps:
            pass
    output.say(tr("Written: {file}", file=target))
    if options.sign:
        from gpudesk.workbench.pack_signing import fingerprint, signer

        output.say(
            tr("Fingerprint of your key: {fingerprint}", fingerprint=fingerprint(signer(options.sign).key))
        )
    return DONE
