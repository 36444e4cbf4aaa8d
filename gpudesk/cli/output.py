"""What goes to standard output, and to files named by `-o`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.answers import Answer
    from gpudesk.domain.further import Further
    from gpudesk.sheets.working_text import Explain

#: Width of tables where no terminal says how wide it is.
_WIDTH: Final = 100
_NARROWEST: Final = 40

#: Suffixes of a scenario, a sheet and a pack of facts: what a window opens. Below, all that can be written.
SCENARIO_SUFFIX: Final = ".gpudesk"
PDF_SUFFIX: Final = ".pdf"
PACK_SUFFIX: Final = ".gpudeskpack"
FORMATS: Final = (PDF_SUFFIX, ".html", ".md", ".csv", ".xlsx", ".json", SCENARIO_SUFFIX)


def say(text: str = "") -> None:
    """Write a line for people."""
    print(text)


def say_json(value: object) -> None:
    """Write a JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def say_json_line(value: dict[str, Any]) -> None:
    """Write one line of JSON."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


def width() -> int:
    """Return how many characters fit a line."""
    return max(_NARROWEST, shutil.get_terminal_size((_WIDTH, 24)).columns)


def strong(text: str) -> str:
    """Return the text in bold where the terminal shows that."""
    return f"\x1b[1m{text}\x1b[0m" if styled() else text


def styled() -> bool:
    """Whether standard output is a terminal that shows bold and wants it."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("", "dumb"):
        return False
    return sys.stdout.isatty()


def prepare() -> None:
    """Let standard output and error take any character: what the encoding lacks becomes a question mark.

    A windowed executable on Windows has neither; what is said there goes nowhere.
    """
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - a device, no path


def silence() -> None:
    """Drop all further output; for when nobody reads it any more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_sheet(
    answer: Answer,
    target: Path,
    paper: str | None = None,
    explain: Explain | None = None,
    further: Further | None = None,
) -> None:
    """Write the sheet of an answer in the form that the suffix names; raises `InputError`.

    `paper` is the size for PDF, `a4` or `letter`; that of the user's country if none is given. With
    `explain` a PDF tells how its headline figures come about, with `further` a sheet says how many are
    needed and what that costs. What counts as stale is the user's rule.
    """
    from gpudesk.workbench.files import write_atomically

    check_format(target)
    if target.suffix.lower() == PDF_SUFFIX:
        _write_pdf(answer, target, paper, explain, further)
    else:
        write_atomically(target, _sheet(answer, target.suffix.lower(), further))


def _write_pdf(
    answer: Answer, target: Path, paper: str | None, explain: Explain | None, further: Further | None
) -> None:
    from gpudesk.workbench.settings_file import users_age_rule

    try:
        from gpudesk.desktop.printing.pdf import save_answer
    except ImportError as error:
        raise InputError(message("pdf.no_qt", reason=str(error)), str(target)) from error
    save_answer(answer, target, paper, explain, users_age_rule(), further)


def check_format(target: Path) -> None:
    """Refuse a suffix that names no form of the sheet."""
    if target.suffix.lower() not in FORMATS:
        raise InputError(message("sheet.format", suffix=target.suffix, known=FORMATS), str(target))


def _sheet(answer: Answer, suffix: str, further: Further | None) -> bytes:
    if suffix == ".xlsx":
        from gpudesk.sheets.sections import machine_sheet
        from gpudesk.sheets.xlsx import sheet_xlsx

        return sheet_xlsx(machine_sheet(answer, further))
    return _sheet_text(answer, suffix, further).encode()


def _sheet_text(answer: Answer, suffix: str, further: Further | None) -> str:
    if suffix == ".json":
        from gpudesk.sheets.json import sheet_json

        return sheet_json(answer, further)
    from gpudesk.sheets.dates import today
    from gpudesk.sheets.sections import machine_sheet, make_sheet
    from gpudesk.workbench.settings_file import users_age_rule

    if suffix == ".csv":
        from gpudesk.sheets.csv import sheet_csv

        return sheet_csv(machine_sheet(answer, further))
    sheet = make_sheet(answer, date=today(), rule=users_age_rule(), further=further)
    if suffix == ".md":
        from gpudesk.sheets.markdown import sheet_markdown

        return sheet_markdown(sheet)
    from gpudesk.sheets.html import sheet_html

    return sheet_html(sheet)


def written(target: Path, *, as_json: bool, content_hash: str) -> None:
    """Say which file was written."""
    if as_json:
        say_json({"file": str(target), "content_hash": content_hash})
    else:
        say(tr("Written: {file}", file=target))
