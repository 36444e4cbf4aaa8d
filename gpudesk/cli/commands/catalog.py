"""`gpudesk catalog`: what is known, on whose word, and whether the catalog is whole."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.commands import catalog_backups, catalog_export, catalog_pack, catalog_signers
from gpudesk.cli.faults import AT_FAULT, DONE
from gpudesk.cli.options import add_json
from gpudesk.text import tr, trn

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

#: Kinds that can be listed.
KINDS = (
    "accelerators",
    "models",
    "diffusion-models",
    "serving-engines",
    "templates",
    "prices",
    "sources",
    "disputes",
)


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command and its parts to the parser."""
    description = tr("Look into the catalog: list its entries, show one with all claims, verify it.")
    parser = commands.add_parser("catalog", help=description, description=description)
    parts = parser.add_subparsers(dest="part", metavar=tr("PART"), required=True)
    said = tr("list the entries of a kind, or of all kinds")
    part = parts.add_parser("list", help=said, description=said)
    part.add_argument("kind", nargs="?", choices=KINDS, metavar=tr("KIND"), help=", ".join(KINDS))
    add_json(part)
    part.set_defaults(run=_list)
    said = tr("show an entry: every attribute with value, unit, source and rival claims")
    part = parts.add_parser("show", help=said, description=said)
    part.add_argument("id", metavar="ID", help=tr("the entry's id, as `catalog list` names it"))
    add_json(part)
    part.set_defaults(run=_show)
    said = tr("check that every value has a source and nothing dangles")
    part = parts.add_parser("verify", help=said, description=said)
    add_json(part)
    part.set_defaults(run=_verify)
    catalog_export.add_part(parts)
    catalog_pack.add_part(parts)
    catalog_signers.add_part(parts)
    catalog_backups.add_parts(parts)


def _list(options: argparse.Namespace) -> int:
    from gpudesk.cli.catalog_list import list_fields, list_lines
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        if options.json:
            output.say_json(list_fields(workbench, options.kind))
        else:
            for line in list_lines(workbench, options.kind, output.width(), output.strong):
                output.say(line)
    return DONE


def _show(options: argparse.Namespace) -> int:
    from gpudesk.cli.catalog_show import show_fields, show_lines
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        if options.json:
            output.say_json(show_fields(workbench, options.id))
        else:
            for line in show_lines(workbench, options.id, output.width(), output.strong):
                output.say(line)
    return DONE


def _verify(options: argparse.Namespace) -> int:
    from gpudesk.sentences import sentence
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        findings = workbench.verify()
        counts = counted(workbench)
        catalog = workbench.catalog
        if options.json:
            output.say_json(
                {
                    "revision": catalog.revision,
                    "date": catalog.data_date,
                    "counts": counts,
                    "findings": [
                        {"where": finding.where, "problem": sentence(finding.problem)} for finding in findings
                    ],
                }
            )
        else:
            output.say(
                tr("Catalog {revision} of {date}", revision=catalog.revision[:8], date=catalog.data_date)
            )
            output.say(", ".join(f"{number} {kind}" for kind, number in counts.items()))
            for finding in findings:
                output.say(f"{finding.where}: {sentence(finding.problem)}")
            output.say(
                trn("{n} fault", "{n} faults", len(findings))
                if findings
                else tr("Every attribute has a source, every claim resolves, nothing dangles.")
            )
    return AT_FAULT if findings else DONE


def counted(workbench: Workbench) -> dict[str, int]:
    """Return how many entries of each kind there are."""
    catalog = workbench.catalog
    statements, disputes = catalog.seed_claims(), catalog.disputes()
    return {
        tr("accelerators"): len(catalog.accelerators()),
        tr("models"): len(catalog.models()),
        tr("diffusion models"): len(catalog.diffusion_models()),
        tr("serving engines"): len(catalog.serving_engines()),
        tr("prices"): len(catalog.prices()),
        tr("statements of source documents"): len(statements),
        tr("statements about an entry"): sum(bool(statement.things) for statement in statements),
        tr("statements about an attribute"): sum(bool(statement.attributes) for statement in statements),
        tr("disputes"): len(disputes),
        tr("disputes about an entry"): sum(bool(dispute.things) for dispute in disputes),
        tr("sources"): len(catalog.sources()),
    }
