"""`gpudesk catalog export`: a table of the catalog as a file for spreadsheets, programs and papers."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.faults import DONE, UsageError
from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.sheets.table_export import Form

#: Tables that can be written; `gpudesk.sheets.catalog_tables` makes them.
KINDS: Final = (
    "accelerators",
    "models",
    "diffusion-models",
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


def add_part(parts: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the part to `gpudesk catalog`."""
    said = tr("write a table with units, sources and dates: .csv, .xlsx, .json or .md")
    part = parts.add_parser("export", help=said, description=said)
    part.add_argument("kind", choices=KINDS, metavar=tr("KIND"), help=", ".join(KINDS))
    part.add_argument(
        "-o",
        "--output",
        metavar=tr("FILE"),
        required=True,
        help=tr("the file, its suffix names the form; - for standard output"),
    )
    part.add_argument("--format", choices=_FORMS, help=tr("the form, where no suffix names it"))
    part.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the table."""
    from gpudesk.sheets.catalog_tables import catalog_table
    from gpudesk.sheets.table_export import MACHINE_FORMS, write_table
    from gpudesk.workbench.files import write_atomically
    from gpudesk.workbench.workbench import Workbench

    form = _form(options)
    contents = io.BytesIO()
    with Workbench.open() as workbench:
        table = catalog_table(options.kind, workbench.catalog, for_programs=form in MACHINE_FORMS)
    write_table(table, form, contents)
    if options.output == _STANDARD_OUTPUT:
        sys.stdout.buffer.write(contents.getvalue())
        sys.stdout.buffer.flush()
    else:
        write_atomically(Path(options.output), contents.getvalue())
        output.say(tr("Written: {file}", file=options.output))
    return DONE


def _form(options: argparse.Namespace) -> Form:
    """Return the form that the option or the suffix names."""
    from gpudesk.sheets.table_export import Form

    if options.format is not None:
        return Form(f".{options.format}")
    if options.output == _STANDARD_OUTPUT:
        raise UsageError(tr("--format is missing; standard output has no suffix that names the form"))
    suffix = Path(options.output).suffix.lower()
    if suffix not in list(Form):
        raise InputError(message("table.format", suffix=suffix or "-", known=tuple(Form)), options.output)
    return Form(suffix)
