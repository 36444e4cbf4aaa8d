"""`gpudesk catalog signers`: whose packs are taken without a question, and taking that back."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.faults import DONE
from gpudesk.cli.options import add_json
from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.signers import Signer
    from gpudesk.workbench.own_catalog import OwnCatalog


def add_part(parts: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the part to `gpudesk catalog`."""
    said = tr("list the signers of packs whom you trust, or trust one of them no longer")
    part = parts.add_parser("signers", help=said, description=said)
    part.add_argument("--distrust", metavar=tr("NUMBER"), help=tr("trust this one of the list no longer"))
    add_json(part)
    part.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the signers who are trusted, after one was left out where that is asked for."""
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        own = workbench.own
        if own.problem is not None:
            raise own.problem
        if options.distrust is not None:
            own.distrust(_chosen(own, options.distrust).key)
        signers = own.signers()
    if options.json:
        output.say_json([_fields(number, signer) for number, signer in enumerate(signers, start=1)])
    else:
        _say(signers)
    return DONE


def _chosen(own: OwnCatalog, given: str) -> Signer:
    """Return the signer of a number in the list."""
    signers = own.signers()
    # The number of digits that Python reads is bounded, and no list is that long.
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0
    if not 0 < number <= len(signers):
        raise InputError(message("pack.signer_unknown", number=given), "--distrust")
    return signers[number - 1]


def _fields(number: int, signer: Signer) -> dict[str, Any]:
    from gpudesk.workbench.pack_signing import fingerprint

    return {
        "number": number,
        "name": signer.name,
        "fingerprint": fingerprint(signer.key),
        "trusted_on": signer.trusted_on,
    }


def _say(signers: tuple[Signer, ...]) -> None:
    from gpudesk.cli.tables import table

    if not signers:
        output.say(tr("You trust nobody yet. `gpudesk import --trust` trusts the signer of a pack."))
        return
    head = ["#", tr("Name"), tr("Trusted since"), tr("Fingerprint")]
    cells = [_fields(number, signer) for number, signer in enumerate(signers, start=1)]
    rows = [[str(each["number"]), each["name"], each["trusted_on"], each["fingerprint"]] for each in cells]
    for line in table(head, rows, output.width(), right=(0,), strong=output.strong):
        output.say(line)
