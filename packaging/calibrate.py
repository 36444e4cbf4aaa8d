"""Fit the calibration to data/measurements: calibrate.py CATALOG [--check | --bands-only].

Writes data/calibration.json, and data/accuracy/held-out.csv with what fits say of runs they have not seen.
With --check it fits the constants alone and compares them with the file that is there. With --bands-only it
makes the bands anew from held-out.csv and leaves the constants as they are.
"""

import os
import sys
from pathlib import Path

from gpudesk.catalog.queries import Catalog
from gpudesk.evidence.banding import band_rules
from gpudesk.evidence.calibration_text import with_bands
from gpudesk.evidence.held_out_file import read_held_out, write_held_out
from gpudesk.evidence.pairing import pair_rules
from gpudesk.workbench.calibrating import Prepared, calibrate, differing, fitted_values, prepare
from gpudesk.workbench.calibration_file import read_calibration

CALIBRATION = Path("data/calibration.json")
HELD_OUT = Path("data/accuracy/held-out.csv")


def main() -> int:
    """Fit, and write or compare."""
    with Catalog.open(Path(sys.argv[1])) as catalog:
        prepared = prepare(catalog, Path("data/measurements"))
        for each in prepared.refused:
            print(f"{each.run.id} is not answered: {each.reason.id}", file=sys.stderr)
        if "--check" in sys.argv:
            others = differing(fitted_values(prepared), prepared, read_calibration(CALIBRATION))
            print("\n".join(f"{name} differs from the fit" for name in others) or "all constants agree")
            return 1 if others else 0
        if "--bands-only" in sys.argv:
            renew_bands(prepared)
            return 0
        fitted = calibrate(prepared, workers=max(2, os.cpu_count() or 2))
    HELD_OUT.parent.mkdir(exist_ok=True)
    write_held_out(HELD_OUT, fitted.held_out)
    CALIBRATION.write_text(fitted.text)
    print(f"{CALIBRATION}: {len(prepared.bench.runs)} runs, {len(fitted.held_out)} held-out predictions")
    return 0


def renew_bands(prepared: Prepared) -> None:
    """Replace the bands of the calibration by those of the held-out figures that are there."""
    runs = prepared.bench.runs
    known = {run.id for run in runs}
    held_out = [each for each in read_held_out(HELD_OUT) if each.run in known]
    bands, pair_bands = band_rules(held_out, runs), pair_rules(held_out, runs)
    CALIBRATION.write_text(with_bands(CALIBRATION.read_text(), bands, pair_bands))
    print(f"{CALIBRATION}: {len(bands)} bands, {len(pair_bands)} bands of ratios")


if __name__ == "__main__":
    sys.exit(main())
