"""Saves the negotiation sheet as Markdown or HTML, by the suffix of the file that the user names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from gpudesk import paths
from gpudesk.desktop.pages.decide.buying_view import BuyingView
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.settings import Settings
from gpudesk.domain.messages import InputError
from gpudesk.sentences import problem
from gpudesk.text import tr

_FOLDER: Final = "decide.folder"
_USUAL: Final = ".html"


def save_negotiation(view: DecideView, settings: Settings) -> None:
    """Ask for a file and write the sheet of a view that has it, or say what stood in the way."""
    if not isinstance(view, BuyingView):
        return
    folder = Path(settings.get(_FOLDER, str(paths.home_dir())))
    kinds = tr("Web page (*.html);;Markdown (*.md)")
    chosen, _ = QFileDialog.getSaveFileName(
        view, tr("Save the negotiation sheet"), str(folder / f"negotiation{_USUAL}"), kinds
    )
    if chosen:
        target = Path(chosen)
        write_negotiation(view, target if target.suffix else target.with_suffix(_USUAL), settings)


def write_negotiation(view: BuyingView, target: Path, settings: Settings) -> None:
    """Write the sheet on what the view shows, and say so there or what stood in the way."""
    from gpudesk.sheets.dates import today
    from gpudesk.sheets.negotiation_sheet import NegotiationPaper, negotiation_file
    from gpudesk.workbench.files import write_atomically

    found, formatter = view.found, view.desk.formatter
    if found is None:
        return
    scenario, workbench = found.answer.scenario, view.desk.workbench
    sheet = workbench.beside.negotiation(scenario, found.decision, today())
    documents = dict.fromkeys(line.step.source for line in sheet.lines)
    paper = NegotiationPaper(
        title=scenario.name,
        decision=found.decision,
        names=found.names,
        sheet=sheet,
        checks=workbench.beside.export_checks(scenario),
        rules=workbench.beside.export_rules,
        sources={each: workbench.catalog.source(each) for each in documents},
        made_on=today(),
        revision=found.answer.catalog_revision[:8],
        formatter=formatter,
    )
    try:
        write_atomically(target, negotiation_file(paper, target.suffix))
    except InputError as error:
        view.steps.say(problem(error, formatter), wrong=True)
        return
    settings.put(_FOLDER, str(target.absolute().parent))
    view.steps.say(tr("Saved: {file}", file=str(target)))


def connect_saving(view: DecideView, settings: Settings) -> None:
    """Let the button of a view that has the sheet save it."""
    if isinstance(view, BuyingView):
        view.save_wanted.connect(lambda: save_negotiation(view, settings))
