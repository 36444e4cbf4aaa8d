"""Whether the sample comparison can be handed over: as text, as a workbook, and on paper."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from gpudesk.cli.commands.self_test.found import FailedError, Found, fail_for, listed, opened
from gpudesk.text import tr, trn

#: The weights of the program's font, as PDF files write them.
_FONTS: Final = frozenset({"DeskSans-Regular", "DeskSans-Medium", "DeskSans-SemiBold"})
#: Pixels on the shorter side from which a picture would be more than a mark.
_LARGE: Final = 200


def check_sheets() -> Found:
    """The sample comparison in every form but on paper."""
    from gpudesk.sheets.csv import sheet_csv
    from gpudesk.sheets.html import sheet_html
    from gpudesk.sheets.json import sheet_json
    from gpudesk.sheets.markdown import sheet_markdown
    from gpudesk.sheets.sections import machine_sheet, make_sheet
    from gpudesk.sheets.xlsx import sheet_xlsx
    from gpudesk.workbench.templates import SAMPLE, read_template

    with opened() as workbench:
        answer = workbench.answer(read_template(SAMPLE))
    sheet = make_sheet(answer)
    forms = (sheet_html(sheet), sheet_markdown(sheet), sheet_csv(machine_sheet(answer)), sheet_json(answer))
    if not all(answer.scenario.name in form for form in forms):
        raise FailedError(tr("a sheet lacks its title"))
    if not sheet_xlsx(machine_sheet(answer)).startswith(b"PK"):
        raise FailedError(tr("a sheet is no workbook"))
    return Found("HTML, Markdown, CSV, JSON, XLSX")


def check_paper() -> Found:
    """The sample comparison as PDF: its scenario is read back, its text found, and its font is inside."""
    from gpudesk.cli.commands.self_test.pdf_look import look_at
    from gpudesk.desktop.printing.pdf import save_answer
    from gpudesk.workbench.templates import SAMPLE, read_template

    with TemporaryDirectory(prefix="gpudesk-") as folder, opened() as workbench:
        target = Path(folder) / "sheet.pdf"
        answer = workbench.answer(read_template(SAMPLE), with_curves=True)
        further = workbench.further(answer)
        save_answer(answer, target, None, workbench.explain, further=further)
        if workbench.answer(workbench.read_scenario(target)).content_hash != answer.content_hash:
            raise FailedError(tr("a sheet does not open as the comparison that it shows"))
        seen = look_at(target.read_bytes())
    faults = []
    if seen.pages == 0:
        faults.append(tr("a sheet has no pages"))
    if answer.scenario.name.replace(" ", "") not in seen.text:
        faults.append(tr("the title of a sheet cannot be found as text"))
    # A language of other letters brings a font of the system's beside them.
    lacking = sorted(_FONTS - seen.fonts)
    if lacking:
        faults.append(tr("the program's font is not inside a sheet: {names}", names=listed(lacking)))
    if any(min(sides) >= _LARGE for sides in seen.pictures):
        faults.append(tr("a sheet is a picture, and not lines and letters"))
    fail_for(faults)
    return Found(trn("{n} page, vector, font inside", "{n} pages, vector, font inside", seen.pages))
