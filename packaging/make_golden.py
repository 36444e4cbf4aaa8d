"""Recompute the answers to the golden questions: make_golden.py CATALOG [FILE].

FILE is resources/self_test/golden.json by default. Its questions stay; add one by writing it there with an empty
`expected`. Run it after an intended change of the calibration, the engine or a fact, and review the differences before
committing.
"""

import json
import sys
from pathlib import Path

from gpudesk.catalog.read import Catalog
from gpudesk.estimation.golden_figures import GOLDEN_FILE, format_golden
from gpudesk.service import GpuDeskService

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Answer the questions, and write the results."""
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    target = Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "resources" / GOLDEN_FILE
    questions = [case["request"] for case in json.loads(target.read_text(encoding="utf-8"))["cases"]]
    # Without the user's facts: these figures are the program's own.
    with GpuDeskService(Catalog.open(Path(sys.argv[1]))) as service:
        text = format_golden(questions, service.calibration.revision, service.estimate)
    target.write_text(text, encoding="utf-8", newline="\n")
    print(f"{target}: {len(questions)} questions answered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
