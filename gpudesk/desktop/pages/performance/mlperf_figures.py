"""What the view of MLPerf shows of a head-to-head: a row for each accelerator, and all of it as a table."""

from __future__ import annotations

from collections.abc import Mapping

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.mlperf import HeadToHead, MlperfRow, MlperfScenario
from gpudesk.sheets.mlperf_words import ratio_text, result_text, scenario_name
from gpudesk.text import tr


def head_figures(
    found: HeadToHead, names: Mapping[str, str], slots: Mapping[str, tuple[int, bool]], formatter: Formatter
) -> Figures:
    """Return the accelerators side by side; `slots` are those of the scenario's own, the others have none."""
    heads = tuple(
        head
        for scenario in MlperfScenario
        for head in (tr("{scenario}, each", scenario=scenario_name(scenario)), tr("Ratio"))
    )
    return Figures(
        title=tr("MLPerf results of each accelerator, output tokens a second"),
        heads=heads,
        leading=frozenset({0, 2, 4}),
        figures=("output_tokens_per_s",) * len(heads),
        rows=tuple(
            FigureRow(
                row.accelerator,
                *slots.get(row.accelerator, (0, False)),
                names[row.accelerator],
                tuple(text for scenario in MlperfScenario for text in _cells(row, scenario, formatter)),
                _remark(row, formatter),
            )
            for row in found.rows
        ),
        remarks_head=tr("Best submission"),
    )


def _cells(row: MlperfRow, scenario: MlperfScenario, formatter: Formatter) -> tuple[str, str]:
    cell = row.cells.get(scenario)
    if cell is None:
        return UNKNOWN, UNKNOWN
    return formatter.count(round(cell.best.per_accelerator)), ratio_text(cell.ratio, formatter)


def _remark(row: MlperfRow, formatter: Formatter) -> str:
    """Return whose system the first of the best results is of."""
    best = next(iter(row.cells.values())).best
    return result_text(best, formatter)


def head_data(found: HeadToHead | None, names: Mapping[str, str], model: str, formatter: Formatter) -> Data:
    """Return every result of the round and model, one in a row."""
    title = tr("MLPerf Inference")
    heads = (
        tr("Accelerator"),
        tr("MLPerf scenario"),
        tr("Submitter"),
        tr("System"),
        tr("Accelerators"),
        tr("Output tok/s"),
        tr("Each, tok/s"),
        tr("Best to the baseline's"),
    )
    if found is None:
        return Data(title=title, heads=heads, rows=(), first_number=4)
    rows = tuple(
        (
            names[row.accelerator],
            scenario_name(scenario),
            result.submitter,
            result.system,
            formatter.count(result.count),
            formatter.stated(result.output_tokens_per_s),
            formatter.estimate(result.per_accelerator),
            ratio_text(cell.ratio, formatter) if result is cell.best else "",
        )
        for row in found.rows
        for scenario, cell in row.cells.items()
        for result in cell.results
    )
    return Data(title=f"{title} {found.round}, {model}", heads=heads, rows=rows, first_number=4)
