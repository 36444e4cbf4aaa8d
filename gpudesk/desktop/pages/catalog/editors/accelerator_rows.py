"""The figures of an accelerator as rows in sections, and what its generation means for estimates."""

from __future__ import annotations

from typing import Final

from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, DateRow, TextRow, WordsRow
from gpudesk.desktop.pages.catalog.editors.number_row import Limits, NumberRow
from gpudesk.desktop.pages.catalog.editors.peak_rows import PeakRow
from gpudesk.desktop.pages.catalog.editors.rows import FormRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.claims import PRICE_ENDS
from gpudesk.domain.messages import InputError
from gpudesk.paths import MissingFileError
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.text import tr, trn
from gpudesk.workbench.own_entry import EntryKind, part_entry
from gpudesk.workbench.own_parts import generations
from gpudesk.workbench.workbench import Workbench

#: Stands for a generation that the catalog has no other accelerator of.
NONE_OF_THESE: Final = "+"

_MEMORY: Final = (
    "memory",
    "memory_bandwidth",
    "memory_type",
    "memory_stacks",
    "memory_label",
    "last_level_cache",
)
_PEAKS: Final = (
    "bf16",
    "fp16",
    "fp8",
    "fp4",
    "int8",
    "int4",
    "fp6",
    "tf32",
    "fp32",
    "fp64",
    "fp64_matrix",
)
_LINKS: Final = (
    "scale_up_bandwidth",
    "scale_up_domain",
    "interconnect",
    "pcie_generation",
    "pcie_bandwidth",
)
_POWER: Final = ("tdp", "form_factor")
_SOFTWARE: Final = ("software_platform", "supported_precisions")
_MORE: Final = ("architecture", "process_node", "release_date")
_REQUIRED: Final = frozenset({"memory", "memory_bandwidth", "software_platform"})
_WHOLE: Final = frozenset({"memory_stacks", "scale_up_domain"})
_LABELS: Final = {"price_low": "Price", "price_high": "Price up to"}


def figure_rows(theme: Theme, desk: Desk) -> list[tuple[str, list[FormRow]]]:
    """Return the titles of the sections, each with its rows."""
    style = desk.formatter.style

    def rows(names: tuple[str, ...]) -> list[FormRow]:
        return [_row(theme, desk, name) for name in names]

    peaks: list[FormRow] = [PeakRow(theme, precision, style) for precision in _PEAKS]
    return [
        (tr("Memory"), rows(_MEMORY)),
        (tr("Peak arithmetic"), peaks),
        (tr("Links"), rows(_LINKS)),
        (tr("Power"), rows(_POWER)),
        (tr("Software"), rows(_SOFTWARE)),
        (tr("Purchase price"), rows(PRICE_ENDS)),
        (tr("More"), rows(_MORE)),
    ]


def _row(theme: Theme, desk: Desk, name: str) -> FormRow:
    """Return the row of an attribute."""
    entry = part_entry(desk.workbench.catalog, "", name)
    label = tr(_LABELS[name]) if name in _LABELS else label_alone(name)
    required = name in _REQUIRED
    if entry.kind is EntryKind.NUMBER:
        limits = Limits(1, whole=True) if name in _WHOLE else Limits()
        style = desk.formatter.style
        return NumberRow(theme, name, label, entry.units, required=required, style=style, limits=limits)
    if name == "software_platform":
        # Serving engines are chosen by these very words.
        options = [("", tr("Choose…")), *((word, word) for word in entry.words)]
        return ChoiceRow(theme, name, label, options, required=True)
    if name == "release_date":
        return DateRow(theme, name, label)
    if entry.kind is EntryKind.WORDS:
        return WordsRow(theme, name, label, words=entry.words, empty=tr("Words with commas between them"))
    return TextRow(theme, name, label, required=required, words=entry.words)


def generation_options(workbench: Workbench) -> list[tuple[str, str]]:
    """Return the generations that can be chosen, each with accelerators that are known."""
    found = []
    for generation in generations(workbench.catalog):
        shown, more = generation.parts[0], len(generation.parts) - 1
        names = trn("{part} and {n} more", "{part} and {n} more", more, part=shown) if more else shown
        found.append((generation.name, f"{generation.name} · {names}"))
    return [*found, (NONE_OF_THESE, tr("None of these"))]


def generation_remark(desk: Desk, chosen: str) -> str:
    """Say what a choice of the generation means for estimates."""
    if not chosen:
        return tr("Estimates take the constants of the generation that it behaves like")
    if chosen == NONE_OF_THESE:
        return tr("Nothing is measured on such a die: estimates are uncalibrated, and their bands wide")
    try:
        runs = desk.workbench.calibration.generation_rows(chosen)
    except (InputError, MissingFileError):
        return ""
    if not runs:
        return tr("No published run of it is known: estimates are uncalibrated, and their bands wide")
    return trn(
        "Estimates take the constants fitted to {n} published run of it",
        "Estimates take the constants fitted to {n} published runs of it",
        runs,
    )
