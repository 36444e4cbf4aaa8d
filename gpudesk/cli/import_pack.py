"""A catalog pack on the command line: what it would change, and taking it in."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gpudesk.cli import output
from gpudesk.cli.faults import DONE
from gpudesk.cli.steps import through
from gpudesk.cli.tables import table
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.packs import Trust, chosen_keys
from gpudesk.sheets.dates import today
from gpudesk.sheets.pack_lines import pack_lines, signer_text
from gpudesk.text import tr, trn

if TYPE_CHECKING:
    from gpudesk.domain.own_facts import Key
    from gpudesk.domain.packs import Pack
    from gpudesk.workbench.importing import Import
    from gpudesk.workbench.workbench import Workbench


def run_pack(found: Import, options: argparse.Namespace, workbench: Workbench) -> int:
    """Take in what differs from nothing of the user's; raises `InputError` for an unknown signer."""
    from gpudesk.workbench.pack import pack_edit

    if found.pack is None:
        raise ValueError("only packs are taken here")
    chosen = chosen_keys(found.rows)
    if not options.dry_run:
        _take(found, found.pack, chosen, workbench, trust=options.trust)
    elif chosen:
        pack_edit(found.pack, found.rows, chosen, workbench.catalog)
    if options.json:
        written = bool(chosen) and not options.dry_run
        output.say_json(_fields(found, found.pack, workbench, written=written))
    elif options.dry_run:
        _preview(found, found.pack, workbench)
    else:
        output.say(_outcome(found, found.pack, len(chosen)))
    return DONE


def _take(found: Import, pack: Pack, chosen: frozenset[Key], workbench: Workbench, *, trust: bool) -> None:
    """Write what is chosen; of a pack that brings nothing new only the trust in its signer is kept."""
    from gpudesk.workbench.pack import newly_trusted
    from gpudesk.workbench.taking_in import take_pack

    own = workbench.own
    try:
        signer = newly_trusted(pack, own.signers(), trust=trust, today=today())
    except InputError as error:
        raise InputError(error.problem, str(found.path)) from error
    if chosen:
        own.adopt(*through(take_pack(workbench, found, chosen, signer)))
    elif signer is not None:
        own.trust(signer)


def _outcome(found: Import, pack: Pack, count: int) -> str:
    if not count:
        return tr(
            "Nothing added from {file}: you have all of {name} already, or state something else in its place",
            name=pack.name,
            file=found.path,
        )
    return trn(
        "Added {n} fact of {name} from {file}",
        "Added {n} facts of {name} from {file}",
        count,
        name=pack.name,
        file=found.path,
    )


def _preview(found: Import, pack: Pack, workbench: Workbench) -> None:
    chosen = chosen_keys(found.rows)
    output.say(
        trn(
            "Would add {n} of {total} fact of {name} from {file}",
            "Would add {n} of {total} facts of {name} from {file}",
            len(found.rows),
            n=len(chosen),
            total=len(found.rows),
            name=pack.name,
            file=found.path,
        )
    )
    output.say(_signer(pack, workbench))
    rows = [
        ("+" if line.key in chosen else "", line.label, line.theirs, line.yours, line.shipped, line.standing)
        for line in pack_lines(pack, found.rows, Formatter())
    ]
    head = ("", tr("Fact"), tr("In the pack"), tr("Yours"), tr("Shipped"), tr("Standing"))
    for line in table(head, rows, output.width(), strong=output.strong):
        output.say(line)


def _signer(pack: Pack, workbench: Workbench) -> str:
    from gpudesk.workbench.pack_signing import fingerprint

    signers = workbench.own.signers()
    known = pack.signer(signers)
    print_of = "" if pack.signature is None else fingerprint(pack.signature.key)
    return signer_text(pack, pack.trust(signers), print_of, None if known is None else known.name)


def _fields(found: Import, pack: Pack, workbench: Workbench, *, written: bool) -> dict[str, object]:
    chosen = chosen_keys(found.rows)
    signed = pack.signature is not None
    return {
        "written": written,
        "pack": {
            "file": str(found.path),
            "name": pack.name,
            "made": pack.made,
            "sha256": pack.digest,
            "signer": None if pack.signature is None else pack.signature.name,
            "trusted": signed and pack.trust(workbench.own.signers()) is Trust.KNOWN,
            "rows": [
                {
                    "key": list(row.key),
                    "standing": row.standing.value,
                    "chosen": row.key in chosen,
                    "fact": line.label,
                    "theirs": line.theirs,
                    "yours": line.yours or None,
                    "shipped": line.shipped or None,
                }
                for row, line in zip(found.rows, pack_lines(pack, found.rows, Formatter()), strict=True)
            ],
        },
    }
