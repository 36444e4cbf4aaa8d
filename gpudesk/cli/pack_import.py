"""Catalog packs for `gpudesk import`: what one would change, and taking it in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudesk.cli.tables import hanging, wrapped
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.packs import Pack, PackRow
    from gpudesk.workbench.workbench import Workbench


def import_pack(
    path: Path, raw: bytes, workbench: Workbench, *, trust: bool, replace: bool, dry_run: bool
) -> dict[str, Any]:
    """Take in a pack, or with `dry_run` only look at it; return what came of it as JSON values.

    Facts that differ from the user's own stay out unless `replace` says otherwise. Raises `InputError` that
    names the file: for what is no whole pack, and for a signer who is unknown and not to be trusted.
    """
    from gpudesk.domain.packs import Standing, chosen_keys
    from gpudesk.sheets.dates import today
    from gpudesk.workbench.pack import newly_trusted, pack_edit, read_pack
    from gpudesk.workbench.pack_preview import preview

    try:
        pack = read_pack(raw)
        own = workbench.own
        new = None if dry_run else newly_trusted(pack, own.signers(), trust=trust, today=today())
        rows = preview(pack, workbench.catalog)
        chosen = chosen_keys(rows)
        if replace:
            chosen |= {row.key for row in rows if row.can_be_chosen and row.standing is Standing.DIFFERS}
        if chosen and not dry_run:
            own.do(pack_edit(pack, rows, chosen, workbench.catalog))
        if new is not None:
            own.trust(new)
    except InputError as error:
        raise InputError(error.problem, f"{path}: {error.where}" if error.where else str(path)) from error
    return _fields(
        path, pack, rows, taken=len(chosen), written=bool(chosen) and not dry_run, workbench=workbench
    )


def _fields(
    path: Path, pack: Pack, rows: Sequence[PackRow], *, taken: int, written: bool, workbench: Workbench
) -> dict[str, Any]:
    from gpudesk.sheets.pack_lines import pack_lines, signer_text
    from gpudesk.workbench.pack_signing import fingerprint

    signers = workbench.own.signers()
    trust, known = pack.trust(signers), pack.signer(signers)
    shown = "" if pack.signature is None else fingerprint(pack.signature.key)
    lines = pack_lines(pack, rows, Formatter())
    return {
        "file": str(path),
        "kind": "pack",
        "name": pack.name,
        "made": pack.made,
        "signer": None if pack.signature is None else pack.signature.name,
        "fingerprint": shown or None,
        "trust": trust.value,
        "who": signer_text(pack, trust, shown, None if known is None else known.name),
        "written": written,
        "chosen": taken,
        "facts": [
            {
                "fact": row.key[0],
                "about": line.label,
                "theirs": line.theirs,
                "yours": line.yours or None,
                "shipped": line.shipped or None,
                "standing": row.standing.value,
                "said": line.standing,
            }
            for row, line in zip(rows, lines, strict=True)
        ],
    }


def pack_text(found: dict[str, Any], width: int) -> Iterator[str]:
    """Yield for people what `import_pack` returned: one line of what came of it, and what it holds."""
    count = Formatter().count(found["chosen"])
    said = {"count": count, "name": found["name"], "file": found["file"]}
    if found["written"]:
        yield tr("Took {count} facts from the pack {name} ({file})", **said)
        return
    yield tr("Would take {count} facts from the pack {name} ({file})", **said)
    yield from wrapped(found["who"], width, indent="  ")
    for each in found["facts"]:
        if each["fact"] != "source":
            yield from hanging("  - ", _fact_text(each), width)


def _fact_text(fact: dict[str, Any]) -> str:
    """Return one fact of a pack: what it says, how that stands, what is here instead."""
    said = [f"{fact['about']}: {fact['theirs']} ({fact['said']})"]
    if fact["yours"]:
        said.append(tr("yours: {figure}", figure=fact["yours"]))
    if fact["shipped"]:
        said.append(tr("shipped: {figure}", figure=fact["shipped"]))
    return "; ".join(said)
