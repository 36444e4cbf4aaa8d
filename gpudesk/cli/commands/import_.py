"""`gpudesk import`: models, accelerators, prices and packs from files into the user's catalog."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpudesk.cli import output
from gpudesk.cli.options import add_flags, add_json_option, add_options, open_service
from gpudesk.cli.output import EXIT_DONE, UsageError
from gpudesk.domain.estimate_json import encode_fields, encode_value
from gpudesk.domain.user_facts import PackTrust, UserPrice, get_chosen_keys
from gpudesk.report.catalog_import import describe_signer, list_pack_lines
from gpudesk.report.labels import get_today
from gpudesk.report.writers.text import align_table
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, lower_for_sentence, quote_input
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.documents.imports import FileImport
    from gpudesk.domain.user_facts import FactPack, ImportProposal, UserFacts
    from gpudesk.service import GpuDeskService


_T = TypeVar("_T")


def exhaust_steps(steps: Generator[object, None, _T]) -> _T:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: _T = end.value
            return result


def import_pack(file_import: FileImport, options: argparse.Namespace, service: GpuDeskService) -> int:
    """Import what is new or undisputed; raises `InputError` for an unknown signer."""
    from gpudesk.documents.packs import make_pack_edit

    if file_import.pack is None:
        raise ValueError("only packs are taken here")
    chosen = get_chosen_keys(file_import.rows)
    if not options.dry_run:
        # If a pack has nothing new, only the trust in its signer is stored.
        from gpudesk.documents.imports import apply_pack
        from gpudesk.documents.packs import find_new_signer

        user_catalog = service.user_catalog
        try:
            signer = find_new_signer(file_import.pack, user_catalog.signers(), trust=options.trust, today=get_today())
        except InputError as error:
            raise InputError(error.problem, str(file_import.path)) from error
        if chosen:
            user_catalog.adopt(*exhaust_steps(apply_pack(service, file_import, chosen, signer)))
        elif signer is not None:
            user_catalog.trust(signer)
    elif chosen:
        make_pack_edit(file_import.pack, file_import.rows, chosen, service.catalog)
    if options.json:
        is_saved = bool(chosen) and not options.dry_run
        output.print_json(_encode_pack_import(file_import, file_import.pack, service, is_saved=is_saved))
    elif options.dry_run:
        _list_pack_preview(file_import, file_import.pack, service)
    else:
        output.print_line(_report_pack_outcome(file_import, file_import.pack, len(chosen)))
    return EXIT_DONE


def _report_pack_outcome(file_import: FileImport, pack: FactPack, count: int) -> str:
    if not count:
        return tr(
            "Nothing to import from {file}: you already have all values of {name}, or your values differ",
            name=pack.name,
            file=file_import.path,
        )
    return trn(
        "Imported {n} value of {name} from {file}",
        "Imported {n} values of {name} from {file}",
        count,
        name=pack.name,
        file=file_import.path,
    )


def _list_pack_preview(file_import: FileImport, pack: FactPack, service: GpuDeskService) -> None:
    chosen = get_chosen_keys(file_import.rows)
    output.print_line(
        trn(
            "Would import {n} of {total} value of {name} from {file}",
            "Would import {n} of {total} values of {name} from {file}",
            len(file_import.rows),
            n=len(chosen),
            total=len(file_import.rows),
            name=pack.name,
            file=file_import.path,
        )
    )
    output.print_line(_describe_pack_signer(pack, service))
    rows = [
        ("+" if line.key in chosen else "", line.label, line.theirs, line.yours, line.shipped, line.standing)
        for line in list_pack_lines(pack, file_import.rows, Formatter())
    ]
    head = ("", tr("Value"), tr("In pack"), tr("Yours"), tr("Shipped"), tr("Status"))
    output.print_table(head, rows)


def _describe_pack_signer(pack: FactPack, service: GpuDeskService) -> str:
    from gpudesk.documents.pack_file import format_fingerprint

    signers = service.user_catalog.signers()
    trusted_signer = pack.signer(signers)
    print_of = "" if pack.signature is None else format_fingerprint(pack.signature.key)
    return describe_signer(pack, pack.trust(signers), print_of, None if trusted_signer is None else trusted_signer.name)


def _encode_pack_import(
    file_import: FileImport, pack: FactPack, service: GpuDeskService, *, is_saved: bool
) -> dict[str, object]:
    chosen = get_chosen_keys(file_import.rows)
    signed = pack.signature is not None
    return {
        "written": is_saved,
        "pack": {
            "file": str(file_import.path),
            "name": pack.name,
            "made": pack.date,
            "sha256": pack.digest,
            "signer": None if pack.signature is None else pack.signature.name,
            "trusted": signed and pack.trust(service.user_catalog.signers()) is PackTrust.KNOWN,
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
                for row, line in zip(
                    file_import.rows, list_pack_lines(pack, file_import.rows, Formatter()), strict=True
                )
            ],
        },
    }


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    parser = commands.add_parser(
        "import",
        help=tr("Import models, accelerators, prices and value packs from files."),
        description=tr(
            "Import a model folder, config.json, GGUF file, accelerator or system (JSON), prices (CSV), or value pack "
            "to your catalog. If any file has an error, nothing is imported. Packs never replace your values."
        ),
    )
    parser.add_argument("files", nargs="+", metavar=tr("FILE"), help=tr("files or folders to import"))
    add_options(parser, ("--as", "ID", str, tr("id of the model or accelerator")), dest="id")
    publisher = tr("organization that published the model, if its files do not name it")
    add_options(
        parser,
        ("--name", tr("NAME"), str, tr("name of the model or accelerator")),
        ("--organization --organisation", tr("NAME"), str, publisher),
    )
    value = tr("value that the file does not contain; repeatable")
    add_options(parser, ("--answer", tr("FIELD=VALUE"), _answer, value), action="append", default=[])
    add_options(
        parser,
        ("--provider", tr("NAME"), str, tr("provider, for prices without one")),
        ("--date", "YYYY-MM-DD", str, tr("date, for prices without one: YYYY, YYYY-MM or YYYY-MM-DD")),
    )
    add_flags(
        parser,
        ("--trust", tr("trust the signer of the pack, or accept an unsigned pack")),
        ("--dry-run", tr("preview the import without changes")),
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def _answer(text: str) -> tuple[str, str]:
    field, sign, value = text.partition("=")
    if not sign or not field.strip():
        raise argparse.ArgumentTypeError(
            tr("{given} is not FIELD=VALUE; example: memory_gb=192", given=quote_input(text[:60]))
        )
    return field.strip(), value.strip()


def run(options: argparse.Namespace) -> int:
    """Read all files, then write all or nothing."""
    from gpudesk.documents.imports import count_new_facts, make_import_step, propose_imports, write_proposals
    from gpudesk.report.labels import get_today

    paths = [Path(name) for name in options.files]
    with open_service(options) as service:
        catalog, user_catalog = service.catalog, service.user_catalog
        file_imports = exhaust_steps(propose_imports(paths, catalog, today=get_today()))
        if len(file_imports) > 1 and (options.id or options.name or options.organization):
            raise UsageError(
                tr("--as, --name and --organization work with one file only; you gave {n}", n=len(file_imports))
            )
        if any(each.pack is not None for each in file_imports):
            if len(file_imports) > 1:
                raise UsageError(tr("import a value pack alone; you gave {n} files", n=len(file_imports)))
            return import_pack(file_imports[0], options, service)
        proposals = [_revise(each, options, service) for each in file_imports]
        user_facts = user_catalog.facts
        new = [count_new_facts(proposal, user_facts) for proposal in proposals]
        if any(new) and options.dry_run:
            make_import_step(catalog, proposals)
        elif any(new):
            user_catalog.adopt(*exhaust_steps(write_proposals(service, proposals)))
        _print_imports(file_imports, proposals, user_facts, service, options)
    return EXIT_DONE


def _revise(file_import: FileImport, options: argparse.Namespace, service: GpuDeskService) -> ImportProposal:
    from gpudesk.documents.imports import ImportOverrides, apply_answers, revise_proposal

    wishes = ImportOverrides(
        id=options.id or "",
        name=options.name or "",
        organisation=options.organization or "",
        provider=options.provider or "",
        date=options.date or "",
    )
    proposal = apply_answers(file_import, dict(options.answer))
    return exhaust_steps(revise_proposal(file_import, proposal, wishes, service.catalog))


# Output


def _print_imports(
    file_imports: Sequence[FileImport],
    proposals: Sequence[ImportProposal],
    user_facts: UserFacts,
    service: GpuDeskService,
    options: argparse.Namespace,
) -> None:
    from gpudesk.documents.imports import count_new_facts

    new = [count_new_facts(proposal, user_facts) for proposal in proposals]
    if options.json:
        imported = [
            _encode_import(each, import_proposal, service)
            for each, import_proposal in zip(file_imports, proposals, strict=True)
        ]
        output.print_json({"written": any(new) and not options.dry_run, "imported": imported})
        return
    for each, import_proposal, count in zip(file_imports, proposals, new, strict=True):
        if not count:
            output.print_line(tr("Nothing to import from {file}: it is already in your catalog", file=each.path))
        else:
            output.print_line(_describe_import(each, import_proposal, user_facts, is_saved=not options.dry_run))
        lines = _list_import_preview(import_proposal, service) if options.dry_run else _list_left_out(import_proposal)
        for line in lines:
            output.print_line(f"  {line}")


def _describe_import(
    file_import: FileImport, proposal: ImportProposal, user_facts: UserFacts, *, is_saved: bool
) -> str:
    from gpudesk.catalog.importing.proposals import get_subject
    from gpudesk.report.catalog_import import label_proposal_kind
    from gpudesk.text.formatting import Formatter

    subject = get_subject(proposal)
    kind = lower_for_sentence(label_proposal_kind(proposal.kind))
    if subject is not None:
        fields = {"kind": kind, "id": subject.id, "name": subject.name, "file": file_import.path}
        if is_saved:
            return tr("Imported {kind} {id} ({name}) from {file}", **fields)
        return tr("Would import {kind} {id} ({name}) from {file}", **fields)
    prices = [fact for fact in proposal.facts if isinstance(fact, UserPrice)]
    new = sum(user_facts.get(*fact.key) != fact for fact in prices)
    texts = {"count": Formatter().count(new), "file": file_import.path}
    if is_saved:
        said_of_new = trn("Imported {count} price from {file}", "Imported {count} prices from {file}", new, **texts)
    else:
        said_of_new = trn(
            "Would import {count} price from {file}", "Would import {count} prices from {file}", new, **texts
        )
    if new == len(prices):
        return said_of_new
    duplicates = len(prices) - new
    return said_of_new + trn(
        "; you had {n} already", "; you had {n} already", duplicates, n=Formatter().count(duplicates)
    )


def _list_left_out(proposal: ImportProposal) -> list[str]:
    from gpudesk.text.messages import format_message

    return [tr("Skipped: {note}", note=format_message(note)) for note in proposal.left_out]


def _list_import_preview(proposal: ImportProposal, service: GpuDeskService) -> list[str]:
    """Return the lines of a preview: figures, assumptions, omissions."""
    from gpudesk.documents.imports import compute_import_figures
    from gpudesk.report.catalog_import import list_import_lines, list_price_heads, list_price_lines
    from gpudesk.report.writers.text import measure_text, pad_text
    from gpudesk.text.formatting import Formatter
    from gpudesk.text.messages import format_message

    figures = compute_import_figures(proposal, service.catalog)
    lines = list_import_lines(figures, Formatter())
    wide = max((measure_text(line.label) for line in lines), default=0)
    preview = [
        f"{pad_text(line.label, wide)}  {line.value}" + (f"  ({line.note})" if line.note else "") for line in lines
    ]
    if figures.prices:
        rows = [line.cells for line in list_price_lines(figures.prices, Formatter())]
        preview += align_table(
            list_price_heads(), rows, output.get_terminal_width() - 2, right=(2, 3, 4, 5), strong=output.make_bold
        )
    preview += [tr("Note: {note}", note=format_message(note)) for note in proposal.notes]
    return preview + _list_left_out(proposal)


def _encode_import(file_import: FileImport, proposal: ImportProposal, service: GpuDeskService) -> Mapping[str, object]:
    from gpudesk.catalog.importing.proposals import get_subject
    from gpudesk.documents.imports import compute_import_figures
    from gpudesk.report.writers.json import encode_attribute

    figures = compute_import_figures(proposal, service.catalog)
    subject = get_subject(proposal)
    fields: dict[str, object] = {
        "file": str(file_import.path),
        "kind": proposal.kind,
        "id": None if subject is None else subject.id,
        "name": proposal.name if subject is None else subject.name,
        "facts": len(proposal.facts),
        **encode_fields(proposal, "notes left_out"),
    }
    if figures.model is not None:
        fields["model"] = encode_value(figures.model)
    elif figures.attributes:
        fields["attributes"] = [encode_attribute(each) for each in figures.attributes]
    else:
        fields["prices"] = [{"name": each.name, **encode_value(each.range)} for each in figures.prices]
    return fields
