"""Fit the calibration to data/measurements: calibrate.py CATALOG [--check | --bands-only].

Writes data/calibration.json, and data/accuracy/held-out.csv with held-out predictions. With --check it fits only the
constants and compares the loss with that of the existing file. With --bands-only it recomputes the intervals from
held-out.csv and keeps the constants.
"""

import os
import sys
from pathlib import Path

from calibration.fit import replace_intervals
from calibration.intervals import fit_interval_rules, fit_lead_scales, fit_plan_rules
from calibration.runs import MOST_GAIN, PreparedRuns, calibrate, compute_fit_gain, fit_run_constants, prepare_runs
from gpudesk.catalog.read import Catalog
from gpudesk.estimation.published_runs import read_held_out, write_held_out
from gpudesk.evidence.calibration_file import read_calibration

CALIBRATION = Path("data/calibration.json")
HELD_OUT = Path("data/accuracy/held-out.csv")


def main() -> int:
    """Fit, and write or compare."""
    with Catalog.open(Path(sys.argv[1])) as catalog:
        prepared = prepare_runs(catalog, Path("data/measurements"))
        for each in prepared.refused:
            print(f"{each.run.id} is not answered: {each.reason.id}", file=sys.stderr)
        if "--check" in sys.argv:
            gain = compute_fit_gain(fit_run_constants(prepared), prepared, read_calibration(CALIBRATION))
            print(f"a new fit saves {gain:.4%} of the loss")
            return 1 if gain > MOST_GAIN else 0
        if "--bands-only" in sys.argv:
            renew_bands(prepared)
            return 0
        fitted = calibrate(prepared, workers=max(2, os.cpu_count() or 2))
    HELD_OUT.parent.mkdir(exist_ok=True)
    write_held_out(HELD_OUT, fitted.held_out)
    CALIBRATION.write_text(fitted.text)
    print(f"{CALIBRATION}: {len(prepared.bench.runs)} runs, {len(fitted.held_out)} held-out predictions")
    return 0


def renew_bands(prepared: PreparedRuns) -> None:
    """Replace the intervals of the calibration by those of the existing held-out figures."""
    runs = prepared.bench.runs
    run_ids = {run.id for run in runs}
    held_out = [each for each in read_held_out(HELD_OUT) if each.run in run_ids]
    bands, plan_bands = fit_interval_rules(held_out, runs), fit_plan_rules(held_out, runs)
    scales = fit_lead_scales(held_out, runs)
    CALIBRATION.write_text(replace_intervals(CALIBRATION.read_text(), bands, plan_bands, scales))
    print(f"{CALIBRATION}: {len(bands)} bands, {len(plan_bands)} bands of plans, {len(scales)} scales")


if __name__ == "__main__":
    sys.exit(main())
