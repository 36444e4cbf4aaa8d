"""`gpudesk --self-test`: whether everything is in place and computes what it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.faults import AT_FAULT, DONE
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

#: Llama 3.1 70B in 16 bits: 70,553,706,496 parameters of 2 bytes.
_WEIGHTS_70B = 141_107_412_992
#: H200 reads those weights at 4.8 TB/s for each token, so one stream cannot be faster than this.
_CEILING_H200 = 34.3
_CEILING_MI325X = 42.9


#: Name of the program's font as PDF files write it.
_FONT = b"DeskSans"


class _FailedError(Exception):
    """A check came out wrong; the text says how."""


def run(*, as_json: bool = False) -> int:
    """Run all checks and show each with its outcome; none keeps another from running."""
    results = []
    for name, check in _CHECKS:
        try:
            found, failed = check(), False
        except Exception as error:  # noqa: BLE001 - whatever it is, the check failed and says so
            found, failed = _reason(error), True
        results.append({"check": tr(name), "ok": not failed, "found": found})
        if not as_json:
            verdict = tr("failed") if failed else tr("ok")
            output.say(f"{tr(name)}: {verdict}{f' ({found})' if found else ''}")
    if as_json:
        output.say_json({"checks": results})
    return DONE if all(result["ok"] for result in results) else AT_FAULT


def _reason(error: Exception) -> str:
    from gpudesk.domain.messages import InputError
    from gpudesk.sentences import problem

    if isinstance(error, InputError):
        return problem(error)
    return str(error) if isinstance(error, _FailedError) else f"{type(error).__name__}: {error}"


def _open() -> Workbench:
    from gpudesk.workbench.workbench import Workbench

    return Workbench.open()


def _resources() -> str:
    from gpudesk.workbench.templates import templates

    return tr("{n} templates", n=len(templates()))


def _catalog() -> str:
    from gpudesk.sentences import sentence

    with _open() as workbench:
        findings = workbench.verify()
        if findings:
            raise _FailedError(f"{findings[0].where}: {sentence(findings[0].problem)}")
        return tr("revision {revision}", revision=workbench.catalog.revision[:8])


def _calibration() -> str:
    with _open() as workbench:
        return tr("{n} constants", n=len(workbench.calibration.constants))


def _request(accelerator: str, model: str, **stated: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {
        "accelerator": accelerator,
        "model": model,
        "weights": "fp16",
        "input_tokens": 128,
        "output_tokens": 128,
        "load": {"batch": 1},
        "count": 1,
        **stated,
    }


def _memory() -> str:
    """The weights of a model whose size is published, on a part that holds them."""
    from gpudesk.workbench.requests import parse_request

    with _open() as workbench:
        small = workbench.estimate(parse_request(_request("h200-sxm", "llama-3.1-70b")))
        large = workbench.estimate(parse_request(_request("h200-sxm", "llama-3.1-405b")))
    if small.memory.weights_bytes != _WEIGHTS_70B:
        raise _FailedError(tr("70B takes {n} bytes", n=small.memory.weights_bytes))
    if not small.fits or large.fits:
        raise _FailedError(tr("70B must fit one H200 and 405B must not"))
    return ""


def _speed() -> str:
    """One stream cannot be faster than its weights are read."""
    from gpudesk.workbench.requests import parse_request

    with _open() as workbench:
        for accelerator, ceiling in (("h200-sxm", _CEILING_H200), ("mi325x", _CEILING_MI325X)):
            estimate = workbench.estimate(parse_request(_request(accelerator, "llama-3.1-70b")))
            rate = estimate.output_tokens_per_s
            if rate is None or not 0 < rate.low <= rate.value < ceiling:
                raise _FailedError(
                    tr("{accelerator}: no rate below {n} tok/s", accelerator=accelerator, n=ceiling)
                )
    return ""


def _sheet() -> str:
    """The sample comparison in every form."""
    from gpudesk.sheets.csv import sheet_csv
    from gpudesk.sheets.html import sheet_html
    from gpudesk.sheets.json import sheet_json
    from gpudesk.sheets.markdown import sheet_markdown
    from gpudesk.sheets.sections import machine_sheet, make_sheet
    from gpudesk.sheets.xlsx import sheet_xlsx
    from gpudesk.workbench.templates import SAMPLE, read_template

    with _open() as workbench:
        answer = workbench.answer(read_template(SAMPLE))
    sheet = make_sheet(answer)
    forms = (sheet_html(sheet), sheet_markdown(sheet), sheet_csv(machine_sheet(answer)), sheet_json(answer))
    if not all(answer.scenario.name in form for form in forms):
        raise _FailedError(tr("a sheet lacks its title"))
    if not sheet_xlsx(machine_sheet(answer)).startswith(b"PK"):
        raise _FailedError(tr("a sheet is no workbook"))
    return ""


def _paper() -> str:
    """The sample comparison as PDF, which draws with the program's own font, and its scenario read back."""
    from tempfile import TemporaryDirectory

    from gpudesk.desktop.printing.pdf import save_answer
    from gpudesk.workbench.templates import SAMPLE, read_template

    with TemporaryDirectory(prefix="gpudesk-") as folder, _open() as workbench:
        target = Path(folder) / "sheet.pdf"
        answer = workbench.answer(read_template(SAMPLE), with_curves=True)
        save_answer(answer, target, None, workbench.explain)
        if workbench.answer(workbench.read_scenario(target)).content_hash != answer.content_hash:
            raise _FailedError(tr("a sheet does not open as the comparison that it shows"))
        if _FONT not in target.read_bytes():
            raise _FailedError(tr("a sheet lacks the program's font"))
    return ""


_CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("Resources", _resources),
    ("Catalog", _catalog),
    ("Calibration", _calibration),
    ("Memory of known models", _memory),
    ("Speed within what memory bandwidth allows", _speed),
    ("Sheets", _sheet),
    ("Paper and font", _paper),
)
