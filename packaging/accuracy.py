"""Write the accuracy report: accuracy.py CATALOG.

Reads the held-out predictions of measured runs (data/accuracy/held-out.csv, from calibrate.py) and the results of other
estimators (peers.csv). Writes the manual page, its plots, and data/accuracy/summary.json.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from accuracy_report.data import AccuracyData, read_peers, read_speeds, summarize_accuracy
from accuracy_report.kernels import judge_kernels
from accuracy_report.page import LATENCY_FILE, PARITY_FILE, write_accuracy_page
from accuracy_report.parity_plot import ParityPalette, ParityPanel, ParityPoint, draw_parity_svg
from accuracy_report.wording import ReportNames
from calibration.bench import BenchRun
from calibration.memory_measurements import read_memory_measurements
from calibration.runs import PreparedRuns, judge_memory_rows, prepare_runs
from gpudesk.catalog.read import Catalog
from gpudesk.desktop.ui.theme.tokens import DARK, LIGHT, Palette
from gpudesk.estimation.published_runs import read_held_out
from gpudesk.evidence.calibration_file import read_calibration

CALIBRATION = Path("data/calibration.json")
MEASUREMENTS = Path("data/measurements")
ACCURACY = Path("data/accuracy")
MANUAL = Path("resources/manual")
RATE = "output_tokens_per_s"


def main() -> int:
    """Gather the data, and write page, plots and summary."""
    with Catalog.open(Path(sys.argv[1])) as catalog:
        prepared = prepare_runs(catalog, MEASUREMENTS)
        data = gathered(catalog, prepared)
    MANUAL.mkdir(parents=True, exist_ok=True)
    (MANUAL / "accuracy.md").write_text(write_accuracy_page(data), encoding="utf-8")
    light, dark = (plot_colors(palette) for palette in (LIGHT, DARK))
    for file, panels in (
        (PARITY_FILE, [panel(data, "Throughput", "tok/s per accelerator", RATE)]),
        (LATENCY_FILE, [panel(data, "TPOT", "ms", "tpot_ms"), panel(data, "TTFT", "ms", "ttft_ms")]),
    ):
        panels_with_points = [each for each in panels if each.points]
        if panels_with_points:
            (MANUAL / file).write_text(draw_parity_svg(panels_with_points, light, dark), encoding="utf-8")
    (ACCURACY / "summary.json").write_text(json.dumps(summarize_accuracy(data), indent=1) + "\n")
    print(f"{MANUAL / 'accuracy.md'}: {len(data.rows)} held-out figures of {len(data.runs)} runs")
    return 0


def gathered(catalog: Catalog, prepared: PreparedRuns) -> AccuracyData:
    """Return the data of the report; held-out figures of runs that are no longer used are dropped."""
    calibration = read_calibration(CALIBRATION)
    runs = prepared.bench.runs
    figures = {(run.id, name) for run in runs for name in run.figures}
    held_out = [each for each in read_held_out(ACCURACY / "held-out.csv") if (each.run, each.figure) in figures]
    return AccuracyData(
        runs=runs,
        held_out=held_out,
        peers=read_peers(ACCURACY / "peers.csv"),
        speeds=read_speeds(ACCURACY / "peers-speed.csv"),
        names=names(catalog, runs),
        unused=Counter(row.reason for row in prepared.measured.unused),
        refused=len(prepared.refused),
        data_revision=prepared.measured.revision,
        fitted_revision=json.loads(CALIBRATION.read_text())["data"],
        calibration_revision=calibration.revision,
        newest_month=calibration.newest_month,
        constants=len(calibration.constants),
        kernels=judge_kernels(prepared.operator_runs, prepared.operators, calibration),
        memory=judge_memory_rows(read_memory_measurements(MEASUREMENTS), catalog, calibration),
    )


def names(catalog: Catalog, runs: tuple[BenchRun, ...]) -> ReportNames:
    """Return the names of the accelerators, models, publications and serving engines of the runs."""
    return ReportNames(
        accelerators={each.id: each.name for each in catalog.accelerators()},
        models={run.model.id: run.model.name for run in runs},
        publishers={each.id: each.publisher for each in catalog.sources()},
        engines={each.id: each.name for each in catalog.serving_engines()},
    )


def panel(data: AccuracyData, title: str, unit: str, figure: str) -> ParityPanel:
    """Return the panel of a figure predicted without its publisher; rates are per accelerator."""
    points = []
    for row in data.series_rows:
        if row.figure == figure:
            count = row.run.candidates[0].deployment.plan.count if figure == RATE else 1
            points.append(ParityPoint(row.run.traits["vendor"], row.measured / count, row.predicted / count))
    return ParityPanel(title, unit, points)


def plot_colors(palette: Palette) -> ParityPalette:
    """Return the plot colors of a theme; the first two marks distinguish vendors."""
    colors = palette.colors
    return ParityPalette(
        surface=colors["page"],
        text=colors["text1"],
        quiet=colors["text3"],
        grid=colors["grid"],
        axis=colors["axis"],
        vendors={"NVIDIA": palette.marks[0], "AMD": palette.marks[1]},
    )


if __name__ == "__main__":
    sys.exit(main())
