"""`gpudesk import`: facts from files into the user's own: models, accelerators, prices, packs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpudesk.cli import output
from gpudesk.cli.faults import DONE, UsageError
from gpudesk.cli.options import add_json
from gpudesk.cli.steps import through
from gpudesk.text import tr, trn

if TYPE_CHECKING:
    from gpudesk.domain.own_facts import Proposal
    from gpudesk.workbench.importing import Import
    from gpudesk.workbench.workbench import Workbench

_T = TypeVar("_T")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    parser = commands.add_parser(
        "import",
        help=tr("Bring models, accelerators, prices and packs from files into your own facts."),
        description=tr(
            "Bring facts from files into your own: the config.json of a model, with the files beside it, or "
            "its folder; a GGUF file; an accelerator as JSON; prices as CSV; a catalog pack, of which "
            "everything comes that differs from nothing of yours. All of it is written in one step, or, "
            "where anything is at fault, nothing."
        ),
    )
    parser.add_argument("files", nargs="+", metavar=tr("FILE"), help=tr("the files or folders"))
    parser.add_argument("--as", dest="id", metavar="ID", help=tr("the id of the model or accelerator"))
    parser.add_argument("--name", metavar=tr("NAME"), help=tr("what it is called"))
    parser.add_argument(
        "--organisation", metavar=tr("NAME"), help=tr("who made the model, where its files do not say")
    )
    parser.add_argument(
        "--answer",
        action="append",
        type=_answer,
        default=[],
        metavar=tr("FIELD=VALUE"),
        help=tr("what a file does not state; may be given several times"),
    )
    parser.add_argument("--provider", metavar=tr("NAME"), help=tr("the provider of prices that name none"))
    parser.add_argument(
        "--date", metavar="YYYY-MM-DD", help=tr("the day of prices that have none; a month or year will do")
    )
    parser.add_argument(
        "--trust", action="store_true", help=tr("trust the signer of a pack from now on, if it is not known")
    )
    parser.add_argument("--dry-run", action="store_true", help=tr("show what would come, and write nothing"))
    add_json(parser)
    parser.set_defaults(run=run)


def _answer(given: str) -> tuple[str, str]:
    field, sign, value = given.partition("=")
    if not sign or not field.strip():
        raise argparse.ArgumentTypeError(tr("{given} is not FIELD=VALUE", given=repr(given[:60])))
    return field.strip(), value.strip()


def run(options: argparse.Namespace) -> int:
    """Read all files, then write all or nothing."""
    from gpudesk.cli.import_pack import run_pack
    from gpudesk.sheets.dates import today
    from gpudesk.workbench.importing import propose
    from gpudesk.workbench.taking_in import step_of, write
    from gpudesk.workbench.workbench import Workbench

    paths = [Path(name) for name in options.files]
    with Workbench.open() as workbench:
        catalog, own = workbench.catalog, workbench.own
        found = through(propose(paths, catalog, today=today()))
        if len(found) > 1 and (options.id or options.name or options.organisation):
            raise UsageError(
                tr("--as, --name and --organisation are for one file; these are {n}", n=len(found))
            )
        if any(each.pack is not None for each in found):
            if len(found) > 1:
                raise UsageError(tr("a pack is imported by itself; these are {n} files", n=len(found)))
            return run_pack(found[0], options, workbench)
        proposals = [_wanted(each, options, workbench) for each in found]
        if options.dry_run:
            step_of(catalog, proposals)
        else:
            own.adopt(*through(write(workbench, proposals)))
        _say(found, proposals, workbench, options)
    return DONE


def _wanted(found: Import, options: argparse.Namespace, workbench: Workbench) -> Proposal:
    from gpudesk.workbench.taking_in import Wishes, answered, revised

    wishes = Wishes(
        id=options.id or "",
        name=options.name or "",
        organisation=options.organisation or "",
        provider=options.provider or "",
        date=options.date or "",
    )
    proposal = answered(found, dict(options.answer))
    return through(revised(found, proposal, wishes, workbench.catalog))


# What is said


def _say(
    found: Sequence[Import], proposals: Sequence[Proposal], workbench: Workbench, options: argparse.Namespace
) -> None:
    written = not options.dry_run
    if options.json:
        imported = [_fields(each, made, workbench) for each, made in zip(found, proposals, strict=True)]
        output.say_json({"written": written, "imported": imported})
        return
    for each, made in zip(found, proposals, strict=True):
        output.say(_line(each, made, written=written))
        if options.dry_run:
            for line in _preview(made, workbench):
                output.say(f"  {line}")


def _line(found: Import, proposal: Proposal, *, written: bool) -> str:
    """Return what came of one file in one line."""
    from gpudesk.domain.formatting import Formatter
    from gpudesk.sheets.import_lines import kind_word
    from gpudesk.workbench.proposals import subject_of

    subject = subject_of(proposal)
    kind = kind_word(proposal.kind).lower()
    if subject is not None:
        said = {"kind": kind, "id": subject.id, "name": subject.name, "file": found.path}
        if written:
            return tr("Added {kind} {id} ({name}) from {file}", **said)
        return tr("Would add {kind} {id} ({name}) from {file}", **said)
    prices = _prices(proposal)
    texts = {"count": Formatter().count(prices), "file": found.path}
    if written:
        return trn("Added {count} price from {file}", "Added {count} prices from {file}", prices, **texts)
    return trn("Would add {count} price from {file}", "Would add {count} prices from {file}", prices, **texts)


def _prices(proposal: Proposal) -> int:
    from gpudesk.domain.own_facts import OwnPrice

    return sum(isinstance(fact, OwnPrice) for fact in proposal.facts)


def _preview(proposal: Proposal, workbench: Workbench) -> list[str]:
    """Return the lines of a preview: figures, what was taken for granted, what is left out."""
    from gpudesk.cli.tables import padded, table, text_width
    from gpudesk.domain.formatting import Formatter
    from gpudesk.sentences import sentence
    from gpudesk.sheets.import_lines import import_lines, price_head, price_lines
    from gpudesk.workbench.import_figures import import_figures

    figures = import_figures(proposal, workbench.catalog)
    lines = import_lines(figures, Formatter())
    wide = max((text_width(line.label) for line in lines), default=0)
    said = [
        f"{padded(line.label, wide)}  {line.value}" + (f"  ({line.note})" if line.note else "")
        for line in lines
    ]
    if figures.prices:
        rows = [line.cells for line in price_lines(figures.prices, Formatter())]
        said += table(price_head(), rows, output.width() - 2, right=(2, 3, 4, 5), strong=output.strong)
    said += [tr("Note: {note}", note=sentence(note)) for note in proposal.notes]
    said += [tr("Left out: {note}", note=sentence(note)) for note in proposal.left_out]
    return said


def _fields(found: Import, proposal: Proposal, workbench: Workbench) -> Mapping[str, object]:
    """Return what came of one file as JSON values."""
    from dataclasses import asdict

    from gpudesk.sentences import sentence
    from gpudesk.sheets.json import attribute_fields
    from gpudesk.workbench.import_figures import import_figures
    from gpudesk.workbench.proposals import subject_of

    figures = import_figures(proposal, workbench.catalog)
    subject = subject_of(proposal)
    fields: dict[str, object] = {
        "file": str(found.path),
        "kind": proposal.kind,
        "id": None if subject is None else subject.id,
        "name": proposal.name if subject is None else subject.name,
        "facts": len(proposal.facts),
        "notes": [sentence(note) for note in proposal.notes],
        "left_out": [sentence(note) for note in proposal.left_out],
    }
    if figures.model is not None:
        fields["model"] = asdict(figures.model)
    elif figures.attributes:
        fields["attributes"] = [attribute_fields(each) for each in figures.attributes]
    else:
        fields["prices"] = [{"name": each.name, **asdict(each.range)} for each in figures.prices]
    return fields
