"""`gpudesk catalog backups`, `restore`, `export`, `pack` and `signers`."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.options import add_facts_option, add_json_option, add_options, open_service
from gpudesk.cli.output import EXIT_DONE, UsageError
from gpudesk.domain.estimate_json import encode_fields
from gpudesk.text.messages import input_error
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.catalog.user_store.user_catalog import UserCatalog
    from gpudesk.domain.user_facts import Backup, TrustedSigner
    from gpudesk.report.writers.export_table import ExportFormat


def add_backup_commands(parts: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    """Add the subcommands `backups` and `restore` to `gpudesk catalog`."""
    help_text = tr("list backups of your values, newest first")
    part = parts.add_parser("backups", help=help_text, description=help_text)
    add_json_option(part)
    part.set_defaults(run=_list_backups)
    help_text = tr("restore a backup of your values; the current ones are backed up first")
    part = parts.add_parser("restore", help=help_text, description=help_text)
    part.add_argument(
        "backup", metavar=tr("BACKUP"), help=tr("backup number from `gpudesk catalog backups`, or a file")
    )
    part.set_defaults(run=_restore)


def _list_backups(options: argparse.Namespace) -> int:

    from gpudesk.service import GpuDeskService

    with GpuDeskService.open() as service:
        backups = service.user_catalog.backups()
    if options.json:
        fields = "file=path made=time before=reason facts bytes=size_bytes version problem"
        backup_values = (encode_fields(backup, fields) for backup in backups)
        output.print_json([{"number": number, **each} for number, each in enumerate(backup_values, start=1)])
    elif backups:
        head = ["#", tr("Values"), tr("Size"), tr("Version"), tr("Created"), tr("Reason")]
        rows = [_list_backup_cells(number, backup) for number, backup in enumerate(backups, start=1)]
        output.print_table(head, rows, right=(0, 1, 2, 3))
    else:
        output.print_line(
            tr("No backups yet. One is created before the first change of each day and before each large change.")
        )
    return EXIT_DONE


def _list_backup_cells(number: int, backup: Backup) -> list[str]:
    from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
    from gpudesk.text.messages import format_message

    formatter = Formatter()
    return [
        str(number),
        MISSING_VALUE_TEXT if backup.facts is None else formatter.count(backup.facts),
        formatter.memory(backup.size_bytes),
        str(backup.version),
        f"{backup.time.astimezone():%Y-%m-%d %H:%M:%S}",
        backup.reason.label if backup.problem is None else format_message(backup.problem),
    ]


def _restore(options: argparse.Namespace) -> int:

    from gpudesk.service import GpuDeskService

    with GpuDeskService.open() as service:
        user_catalog = service.user_catalog
        broken, before = user_catalog.problem, len(user_catalog.facts)
        user_catalog.restore(_choose_backup(user_catalog, options.backup))
        after = len(user_catalog.facts)
    output.print_line(trn("Restored. You now have {n} value.", "Restored. You now have {n} values.", after))
    if broken is not None:
        output.print_line(tr("The unusable file is kept in the same folder, with .broken in its name."))
    elif before:
        output.print_line(tr("Your previous values are backed up. Restore them with `gpudesk catalog restore 1`."))
    return EXIT_DONE


def _choose_backup(user_catalog: UserCatalog, text: str) -> Path:
    is_number = text.isascii() and text.isdigit()
    if not is_number and Path(text).exists():
        return Path(text)
    backups = user_catalog.backups()
    # Python limits the number of digits, and no list is that long.
    number = int(text) if is_number and len(text) < 4 else 0
    if not 0 < number <= len(backups):
        raise input_error(
            "own.backup.unknown",
            "unknown backup {number}; list backups with `gpudesk catalog backups`",
            "restore",
            number=text,
        )
    return backups[number - 1].path


#: Tables for export; `gpudesk.report.catalog_export` makes them.
EXPORTABLE_KINDS: Final = (
    "accelerators",
    "models",
    "diffusion-models",
    "systems",
    "diffusion-results",
    "prices",
    "claims",
    "statements",
    "disputes",
    "sources",
    "own",
)
_FORMS: Final = ("csv", "xlsx", "json", "md")
_STANDARD_OUTPUT: Final = "-"


def add_export_command(parts: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    """Add the subcommand to `gpudesk catalog`."""
    help_text = tr("export a table with units, sources and dates: .csv, .xlsx, .json or .md")
    part = parts.add_parser("export", help=help_text, description=help_text)
    part.add_argument("kind", choices=EXPORTABLE_KINDS, metavar=tr("KIND"), help=", ".join(EXPORTABLE_KINDS))
    text = tr("output file; its extension sets the format; - for standard output")
    add_options(part, ("-o --output", tr("FILE"), str, text), required=True)
    part.add_argument("--format", choices=_FORMS, help=tr("format, if the file name has no extension"))
    add_facts_option(part)
    part.set_defaults(run=run_export)


def run_export(options: argparse.Namespace) -> int:
    from gpudesk.files import write_atomically
    from gpudesk.report.catalog_export import build_catalog_table, write_table
    from gpudesk.report.writers.export_table import MACHINE_FORMATS

    form = _find_export_format(options)
    contents = io.BytesIO()
    with open_service(options) as service:
        table = build_catalog_table(options.kind, service.catalog, for_programs=form in MACHINE_FORMATS)
    write_table(table, form, contents)
    if options.output == _STANDARD_OUTPUT:
        sys.stdout.buffer.write(contents.getvalue())
        sys.stdout.buffer.flush()
    else:
        write_atomically(Path(options.output), contents.getvalue())
        output.print_line(tr("Wrote {file}", file=options.output))
    return EXIT_DONE


def _find_export_format(options: argparse.Namespace) -> ExportFormat:
    from gpudesk.report.writers.export_table import ExportFormat

    if options.format is not None:
        return ExportFormat(f".{options.format}")
    if options.output == _STANDARD_OUTPUT:
        raise UsageError(tr("--format is required for standard output"))
    suffix = Path(options.output).suffix.lower()
    if suffix not in list(ExportFormat):
        raise input_error(
            "table.format",
            "unknown table format {suffix}; use one of {known}",
            options.output,
            suffix=suffix or "-",
            known=tuple(ExportFormat),
        )
    return ExportFormat(suffix)


#: Subsets of the facts; see `gpudesk.documents.packs`.
PACK_PARTS: Final = ("all", "things", "figures", "prices")


def add_pack_command(parts: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    """Add the subcommand to `gpudesk catalog`."""
    help_text = tr("save your values and their sources as a value pack to share")
    part = parts.add_parser("pack", help=help_text, description=help_text)
    part.add_argument(
        "-o", "--output", metavar=tr("FILE"), required=True, help=tr("output file, {suffix}", suffix=output.PACK_SUFFIX)
    )
    part.add_argument("--name", metavar=tr("NAME"), help=tr("name of the pack (default: file name)"))
    part.add_argument("--part", choices=PACK_PARTS, default="all", help=tr("values to include (default: all)"))
    part.add_argument("--sign", metavar=tr("NAME"), help=tr("sign with your key, under this name"))
    part.set_defaults(run=run_pack)


def run_pack(options: argparse.Namespace) -> int:
    from gpudesk.documents.packs import write_pack
    from gpudesk.report.labels import get_today

    target = Path(options.output)
    if target.suffix.lower() != output.PACK_SUFFIX:
        raise UsageError(
            tr("--output: the file name of a value pack must end with {suffix}", suffix=output.PACK_SUFFIX)
        )
    with open_service(options) as service:
        steps = write_pack(
            service.user_catalog.facts,
            options.part,
            target.stem if options.name is None else options.name,
            target,
            date=get_today(),
            about=service.catalog.shipped_revision,
            signed_by=options.sign,
        )
        for _ in steps:
            pass
    output.print_line(tr("Wrote {file}", file=target))
    if options.sign:
        from gpudesk.documents.pack_file import format_fingerprint, load_signer

        output.print_line(
            tr("Key fingerprint: {fingerprint}", fingerprint=format_fingerprint(load_signer(options.sign).key))
        )
    return EXIT_DONE


def add_signers_command(parts: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    """Add the subcommand to `gpudesk catalog`."""
    help_text = tr("list trusted signers of value packs, or remove one")
    part = parts.add_parser("signers", help=help_text, description=help_text)
    part.add_argument("--distrust", metavar=tr("NUMBER"), help=tr("remove this signer from the trusted list"))
    add_json_option(part)
    part.set_defaults(run=run_signers)


def run_signers(options: argparse.Namespace) -> int:
    """List the trusted signers, after removing one if requested."""

    with open_service(options) as service:
        user_catalog = service.user_catalog
        if options.distrust is not None:
            user_catalog.distrust(_choose_signer(user_catalog, options.distrust).key)
        signers = user_catalog.signers()
    if options.json:
        output.print_json([_encode_signers(number, signer) for number, signer in enumerate(signers, start=1)])
    else:
        _print_signers(signers)
    return EXIT_DONE


def _choose_signer(user_catalog: UserCatalog, text: str) -> TrustedSigner:
    signers = user_catalog.signers()
    # Python limits the number of digits, and no list is that long.
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    if not 0 < number <= len(signers):
        raise input_error(
            "pack.signer_unknown",
            "unknown signer {number}; list signers with `gpudesk catalog signers`",
            "--distrust",
            number=text,
        )
    return signers[number - 1]


def _encode_signers(number: int, signer: TrustedSigner) -> dict[str, Any]:
    from gpudesk.documents.pack_file import format_fingerprint

    return {
        "number": number,
        "name": signer.name,
        "fingerprint": format_fingerprint(signer.key),
        "trusted_on": signer.trusted_on,
    }


def _print_signers(signers: tuple[TrustedSigner, ...]) -> None:

    if not signers:
        output.print_line(tr("No trusted signers yet. Trust the signer of a pack with `gpudesk import --trust`."))
        return
    head = ["#", tr("Name"), tr("Trusted since"), tr("Fingerprint")]
    cells = [_encode_signers(number, signer) for number, signer in enumerate(signers, start=1)]
    rows = [[str(each["number"]), each["name"], each["trusted_on"], each["fingerprint"]] for each in cells]
    output.print_table(head, rows, right=(0,))
