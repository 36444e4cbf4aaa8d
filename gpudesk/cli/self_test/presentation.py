"""Checks of drawing, the window, sheets in all formats, and PDF files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from gpudesk import paths
from gpudesk.cli.self_test.report import (
    CheckFailedError,
    CheckFinding,
    fail_on_faults,
    join_limited,
    open_shipped_catalog,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import tr, trn

_OBJECT: Final = re.compile(rb"(?:^|\n)(\d+) 0 obj\b(.*?)endobj", re.DOTALL)
_STREAM: Final = re.compile(rb"stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_PAGE: Final = re.compile(rb"/Type\s*/Page\b")
_EMBEDDED: Final = re.compile(rb"/FontName\s*/[A-Z]{6}\+([\w-]+).*?/FontFile\d?\s+(\d+) 0 R", re.DOTALL)
_SIDES: Final = re.compile(rb"/Width\s+(\d+).*?/Height\s+(\d+)", re.DOTALL)
_TO_UNICODE: Final = re.compile(rb"/ToUnicode\s+(\d+) 0 R")
_NAMED_FONT: Final = re.compile(rb"/(F\d+)\s+(\d+) 0 R")
_RANGE: Final = re.compile(rb"<([0-9A-Fa-f]{4})>\s*<[0-9A-Fa-f]{4}>\s*\[(.*?)\]", re.DOTALL)
_CODE: Final = re.compile(rb"<([0-9A-Fa-f]+)>")
_LETTERS: Final = re.compile(rb"/(F\d+)\s+\S+\s+Tf|<([0-9A-Fa-f]+)>\s*Tj")

_Table = dict[int, str]


@frozen_dataclass
class PdfContents:
    """Pages, embedded fonts, sizes of pictures, and the text without spaces."""

    pages: int
    fonts: frozenset[str]
    pictures: tuple[tuple[int, int], ...]
    text: str


def read_pdf(raw: bytes) -> PdfContents:
    objects = {int(match[1]): match[2] for match in _OBJECT.finditer(raw)}
    heads = {number: _STREAM.sub(b"", body) for number, body in objects.items()}
    return PdfContents(
        pages=sum(_PAGE.search(head) is not None for head in heads.values()),
        fonts=frozenset(_list_fonts(objects, heads)),
        pictures=tuple(_list_pictures(heads)),
        text="".join(_decode_text(objects, heads).split()),
    )


def _list_fonts(objects: dict[int, bytes], heads: dict[int, bytes]) -> Iterator[str]:
    for head in heads.values():
        match = _EMBEDDED.search(head)
        if match is not None and _decompress(objects.get(int(match[2]), b"")):
            yield match[1].decode()


def _list_pictures(heads: dict[int, bytes]) -> Iterator[tuple[int, int]]:
    for head in heads.values():
        sides = _SIDES.search(head) if b"/Image" in head else None
        if sides is not None:
            yield int(sides[1]), int(sides[2])


def _decode_text(objects: dict[int, bytes], heads: dict[int, bytes]) -> str:
    tables = dict(_list_glyph_tables(objects, heads))
    letters = []
    for number, body in objects.items():
        if b"/Image" in heads[number] or b"/FontFile" in heads[number]:
            continue
        table: _Table = {}
        for match in _LETTERS.finditer(_decompress(body)):
            if match[1] is not None:
                table = tables.get(match[1], {})
            else:
                codes = range(0, len(match[2]), 4)
                letters += [table.get(int(match[2][at : at + 4], 16), "") for at in codes]
    return "".join(letters)


def _list_glyph_tables(objects: dict[int, bytes], heads: dict[int, bytes]) -> Iterator[tuple[bytes, _Table]]:
    """Yield for each font name in the pages its table from glyphs to characters."""
    for head in heads.values():
        for match in _NAMED_FONT.finditer(head):
            table = _TO_UNICODE.search(heads.get(int(match[2]), b""))
            if table is not None:
                yield match[1], _read_glyphs(_decompress(objects.get(int(table[1]), b"")))


def _read_glyphs(table: bytes) -> _Table:
    glyphs: _Table = {}
    for match in _RANGE.finditer(table):
        first = int(match[1], 16)
        for place, code in enumerate(_CODE.findall(match[2])):
            glyphs[first + place] = bytes.fromhex(code.decode()).decode("utf-16-be", "replace")
    return glyphs


def _decompress(body: bytes) -> bytes:
    match = _STREAM.search(body)
    if match is None:
        return b""
    try:
        return zlib.decompress(match[1]) if b"/FlateDecode" in body[: match.start()] else match[1]
    except zlib.error:
        return b""


#: Prefix of the names of Wayland's libraries.
_WAYLANDS = "libwayland-"


def start_offscreen_qt() -> str | None:
    """Start Qt without a screen, before any other use; return why that is impossible, or None."""
    try:
        from gpudesk.desktop.window.self_check import begin_check
    except ImportError as error:
        return tr("Qt cannot be loaded ({reason})", reason=error)
    except OSError as error:
        # If a library is missing, another may need its folder.
        return tr("the program cannot be loaded ({reason})", reason=error)
    try:
        return begin_check()
    except paths.MissingFileError as error:
        return str(error)


def _need_qt() -> None:
    problem = start_offscreen_qt()
    if problem is not None:
        raise CheckFailedError(problem)


def check_icons() -> CheckFinding:
    _need_qt()
    from gpudesk.desktop.window.self_check import check_icons

    count, faults = check_icons()
    fail_on_faults(faults)
    return CheckFinding(trn("{n} icon loaded", "{n} icons loaded", count))


def check_fonts() -> CheckFinding:
    """Text is set in the program's own font."""
    _need_qt()
    from gpudesk.desktop.window.self_check import check_fonts

    fail_on_faults(check_fonts())
    return CheckFinding(tr("three weights, equal digit widths, all glyphs"))


def check_window() -> CheckFinding:
    _need_qt()
    from gpudesk.desktop.window.self_check import check_window
    from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE

    with open_shipped_catalog() as service:
        page_count, faults = check_window(service, SAMPLE_TEMPLATE)
    fail_on_faults(faults)
    return CheckFinding(trn("{n} page shown", "{n} pages shown", len(page_count)))


def check_display() -> CheckFinding:
    """The libraries for drawing on a real screen can be loaded; one of several ways is enough."""
    _need_qt()
    from gpudesk.desktop.window.self_check import check_display

    usable, faults = check_display()
    if not usable:
        fail_on_faults(faults)
    fonts_text = ", ".join(usable)
    if not faults:
        return CheckFinding(fonts_text)
    # Wayland's libraries are the system's, and a system without Wayland is fine.
    doubt = not all(_WAYLANDS in fault for fault in faults)
    return CheckFinding(
        tr("{usable}; unusable: {faults}", usable=fonts_text, faults=join_limited(faults, "; ")), doubt=doubt
    )


#: The weights of the program's font, as named in PDF files.
_FONTS: Final = frozenset({"DeskSans-Regular", "DeskSans-Medium", "DeskSans-SemiBold"})
#: Pixels of the shorter side above which a picture is more than an icon.
_LARGE: Final = 200


def check_sheets() -> CheckFinding:
    """The sample comparison in every format except paper."""
    from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_template
    from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
    from gpudesk.report.writers.csv import write_sheet_csv
    from gpudesk.report.writers.html import write_sheet_html
    from gpudesk.report.writers.json import write_sheet_json
    from gpudesk.report.writers.markdown import write_sheet_markdown
    from gpudesk.report.writers.xlsx import write_sheet_xlsx

    with open_shipped_catalog() as service:
        answer = service.answer(read_template(SAMPLE_TEMPLATE))
    sheet = build_sheet(answer)
    forms = (
        write_sheet_html(sheet),
        write_sheet_markdown(sheet),
        write_sheet_csv(build_machine_sheet(answer)),
        write_sheet_json(answer),
    )
    if not all(answer.scenario.name in form for form in forms):
        raise CheckFailedError(tr("the test sheet has no title"))
    if not write_sheet_xlsx(build_machine_sheet(answer)).startswith(b"PK"):
        raise CheckFailedError(tr("the test sheet is not a valid workbook"))
    return CheckFinding("HTML, Markdown, CSV, JSON, XLSX")


def check_paper() -> CheckFinding:
    """The sample comparison as PDF: its scenario is readable, its text is found, and its font is embedded."""
    from gpudesk.desktop.ui.printing.pdf import save_answer_as_pdf
    from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_template

    with TemporaryDirectory(prefix="gpudesk-") as folder, open_shipped_catalog() as service:
        target = Path(folder) / "sheet.pdf"
        answer = service.answer(read_template(SAMPLE_TEMPLATE), with_curves=True)
        further = service.make_sheet_extras(answer)
        save_answer_as_pdf(answer, target, None, service.explain, further=further)
        if service.answer(service.read_scenario(target)).content_hash != answer.content_hash:
            raise CheckFailedError(tr("the test sheet does not reopen as its comparison"))
        contents = read_pdf(target.read_bytes())
    faults = []
    if contents.pages == 0:
        faults.append(tr("the test sheet has no pages"))
    if answer.scenario.name.replace(" ", "") not in contents.text:
        faults.append(tr("the title of the test sheet is not searchable text"))
    # A language with another script adds a system font.
    lacking = sorted(_FONTS - contents.fonts)
    if lacking:
        faults.append(tr("the program font is not embedded in the test sheet: {names}", names=join_limited(lacking)))
    if any(min(sides) >= _LARGE for sides in contents.pictures):
        faults.append(tr("the test sheet is an image instead of vector graphics"))
    fail_on_faults(faults)
    return CheckFinding(
        trn("{n} page, vector graphics, embedded font", "{n} pages, vector graphics, embedded font", contents.pages)
    )
