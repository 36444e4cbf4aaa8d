"""Standard output, files named by `-o`, errors in one line, and exit codes."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import shutil
import sys
import traceback
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk import __version__, paths
from gpudesk.files import describe_unknown_format
from gpudesk.text.messages import InputError, explain_system_error, input_error
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import Answer, SheetExtras
    from gpudesk.report.explanation.working import WorkingSource
    from gpudesk.report.profile_sections import ProfileTables


EXIT_DONE = 0
EXIT_AT_FAULT = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

#: In the log folder, next to the window's log, which is written while it is open.
_LOG_NAME = "faults.log"
#: A larger log is started again.
_LONGEST_LOG = 1 << 20


class UsageError(Exception):
    """An invalid command line; the text states the error and the remedy."""


#: Characters that a terminal interprets, for example in a file name; the program's own codes for bold are in the group.
_CONTROL: Final = re.compile("(\x1b\\[[01]m)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


#: What characters of the program's texts become in an encoding that lacks them, so that a minus sign stays one.
_REPLACEMENTS: Final = {
    **dict.fromkeys("−–—─\u2011", "-"),
    **dict.fromkeys("\u00a0\u202f\u2009", " "),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("’‘", "'"),
    **dict(zip("×÷·│•µäöüÄÖÜß", ["x", "/", "|", "|", "*", "u", "ae", "oe", "ue", "Ae", "Oe", "Ue", "ss"], strict=True)),
    **dict(zip("…±≈≤≥→←€✓½", ["...", "+/-", "~", "<=", ">=", "->", "<-", "EUR", "yes", "1/2"], strict=True)),
}
_ERRORS_NAME: Final = "gpudesk.replace"
_JSON_CONTROL: Final = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """Return a text with its control characters as escapes, safe for a terminal."""
    return _CONTROL.sub(lambda match: match[1] or match[0].encode("unicode_escape").decode(), text)


def report_error(text: str, command: str | None = None) -> None:
    name = f"gpudesk {command}" if command else "gpudesk"
    line = " ".join(text.split())
    print(f"{name}: {escape_controls(line)}", file=sys.stderr)


def log_unexpected(error: BaseException, arguments: Sequence[str]) -> str:
    """Write a report of a bug to the log and return the line that names the log."""
    try:
        where = str(_log(error, arguments))
    except OSError as fault:
        where = tr("not saved ({reason})", reason=explain_system_error(fault))
    return tr("internal error ({kind}); report: {path}", kind=type(error).__name__, path=where)


def show_error_window(text: str, error: BaseException) -> None:
    """Show in a dialog why no window opens, after a start by icon without a terminal.

    If that fails too, nothing more can be done.
    """
    # The process's original stream: its replacement is not a terminal either.
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        return
    with contextlib.suppress(Exception):
        from gpudesk.desktop.window.faults.dialog import show_startup_failure

        show_startup_failure(text, error)


def _log(error: BaseException, arguments: Sequence[str]) -> Path:
    """Append the report to the log in the user's folder, or in a temporary one if that fails."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    head = f"{now} gpudesk {__version__} python {sys.version.split()[0]} {list(arguments)}\n"
    text = head + "".join(traceback.format_exception(error)) + "\n"
    try:
        return _append(paths.ensure_logs_dir() / _LOG_NAME, text)
    except OSError:
        import tempfile

        # In a private folder: in the shared one, another user could have placed a link.
        return _append(Path(tempfile.mkdtemp(prefix="gpudesk-")) / _LOG_NAME, text)


def _append(path: Path, text: str) -> Path:
    """Append to a log that other users cannot read; a link in its place raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace") as log:
        if os.fstat(log.fileno()).st_size > _LONGEST_LOG:
            log.truncate(0)
        log.write(text)
    return path


#: Table width without a terminal.
_WIDTH: Final = 100
_NARROWEST: Final = 40

#: Suffixes of a scenario, a sheet and a pack of facts: files that a window opens. Below, all writable ones.
SCENARIO_SUFFIX: Final = ".gpudesk"
PDF_SUFFIX: Final = ".pdf"
PACK_SUFFIX: Final = ".gpudeskpack"
#: Formats to which profiles can be appended.
PROFILE_FORMATS: Final = (PDF_SUFFIX, ".html", ".md")
FORMATS: Final = (PDF_SUFFIX, ".html", ".md", ".csv", ".xlsx", ".json", SCENARIO_SUFFIX)


def print_line(text: str = "") -> None:
    print(escape_controls(text))


def print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print_line(line)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table in the width of the terminal; the columns `right` are right-aligned."""
    from gpudesk.report.writers.text import align_table

    print_lines(align_table(head, rows, get_terminal_width(), right=right, strong=make_bold))


def print_json(value: object) -> None:
    _print_json(value, indent=2)


def print_json_line(value: dict[str, Any]) -> None:
    _print_json(value, indent=None)


def _print_json(value: object, indent: int | None) -> None:
    # JSON is UTF-8: other encodings, such as that of a file on Windows, take what all have in common.
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(_escape_json(json.dumps(value, indent=indent, ensure_ascii=not is_unicode, allow_nan=False)))


def _escape_json(text: str) -> str:
    """Escape the control characters that JSON leaves as they are."""
    return _JSON_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def get_terminal_width() -> int:
    return max(_NARROWEST, shutil.get_terminal_size((_WIDTH, 24)).columns)


def make_bold(text: str) -> str:
    """Return the text in bold if the terminal supports it."""
    return f"\x1b[1m{text}\x1b[0m" if supports_styles() else text


def supports_styles() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("", "dumb"):
        return False
    return sys.stdout.isatty()


def prepare_streams() -> None:
    """Let standard output and error accept any character: unsupported ones become similar ones, or a question mark.

    A windowed executable on Windows has no streams, and a shell can close them: then output is discarded, and input is
    empty.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - a device
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors=_ERRORS_NAME)  # type: ignore[union-attr]


def _replace_unsupported(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_REPLACEMENTS.get(each, "?") for each in text), error.end


codecs.register_error(_ERRORS_NAME, _replace_unsupported)


def silence_output() -> None:
    """Discard all further output, when the reader has gone."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_sheet(
    answer: Answer,
    target: Path,
    paper: str | None = None,
    explain: WorkingSource | None = None,
    further: SheetExtras | None = None,
    profiles: Sequence[ProfileTables] = (),
) -> None:
    """Write the sheet of an answer in the format of the suffix; raises `InputError`.

    `paper` is the size for PDF, `a4` or `letter`; by default that of the user's country. With `explain` a PDF derives
    its headline figures, with `further` a sheet adds counts and their costs. Profiles follow in PDF, HTML and Markdown.
    The user's rule decides which values are stale.
    """
    from gpudesk.files import write_atomically

    check_format(target)
    if target.suffix.lower() == PDF_SUFFIX:
        from gpudesk.documents.settings_file import read_age_rule

        try:
            from gpudesk.desktop.ui.printing.pdf import save_answer_as_pdf
        except ImportError as error:
            raise _say_missing_library(error, target) from error
        save_answer_as_pdf(answer, target, paper, explain, read_age_rule(), further, profiles)
    else:
        write_atomically(target, _write_sheet(answer, target.suffix.lower(), further, profiles))


def _say_missing_library(error: ImportError, target: Path) -> InputError:
    return input_error(
        "pdf.no_qt",
        "cannot create PDF: a library is missing ({reason}); install it, or save as .html",
        str(target),
        reason=str(error),
    )


def write_profile_pdf(tables: ProfileTables, target: Path, paper: str | None, data_date: str) -> None:
    """Write the two pages of a profile; `data_date` is that of the catalog. Raises `InputError`."""
    try:
        from gpudesk.desktop.ui.printing.pdf import save_profile_as_pdf
    except ImportError as error:
        raise _say_missing_library(error, target) from error
    save_profile_as_pdf(tables, target, paper, data_date)


def check_format(target: Path) -> None:
    if target.suffix.lower() not in FORMATS:
        raise InputError(describe_unknown_format(target.suffix, FORMATS), str(target))


def _write_sheet(answer: Answer, suffix: str, further: SheetExtras | None, profiles: Sequence[ProfileTables]) -> bytes:
    if suffix == ".xlsx":
        from gpudesk.report.comparison.sheet import build_machine_sheet
        from gpudesk.report.writers.xlsx import write_sheet_xlsx

        return write_sheet_xlsx(build_machine_sheet(answer, further))
    return _write_sheet_text(answer, suffix, further, profiles).encode()


def _write_sheet_text(
    answer: Answer, suffix: str, further: SheetExtras | None, profiles: Sequence[ProfileTables]
) -> str:
    if suffix == ".json":
        from gpudesk.report.writers.json import write_sheet_json

        return write_sheet_json(answer, further)
    from gpudesk.documents.settings_file import read_age_rule
    from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
    from gpudesk.report.labels import get_today
    from gpudesk.report.profile_document import list_profile_blocks

    if suffix == ".csv":
        from gpudesk.report.writers.csv import write_sheet_csv

        return write_sheet_csv(build_machine_sheet(answer, further))
    sheet = build_sheet(answer, date=get_today(), rule=read_age_rule(), further=further)
    appendix = [block for tables in profiles for block in list_profile_blocks(tables, level=2)]
    if suffix == ".md":
        from gpudesk.report.writers.markdown import write_sheet_markdown

        return write_sheet_markdown(sheet, appendix)
    from gpudesk.report.writers.html import write_sheet_html

    return write_sheet_html(sheet, appendix)


def report_written_file(target: Path, *, as_json: bool, content_hash: str) -> None:
    if as_json:
        print_json({"file": str(target), "content_hash": content_hash})
    else:
        print_line(tr("Wrote {file}", file=target))
