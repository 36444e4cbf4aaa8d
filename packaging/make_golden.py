"""Recompute the answers to the golden questions: make_golden.py CATALOG [FILE].

FILE is resources/self_test/golden.json by default. Its questions stay; add one by writing it there with an empty
`expected`. Run it after an intended change of the calibration, the engine or a fact, and review the differences before
committing.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gpudesk.catalog.read import Catalog
from gpudesk.estimation.golden_figures import GOLDEN_FILE, AskMany, answer_golden
from gpudesk.service import GpuDeskService

ROOT = Path(__file__).resolve().parent.parent


#: Digits written: further digits differ between machines, and would differ between files.
_DIGITS: Final = 12


def format_golden(questions: Sequence[Mapping[str, Any]], calibration: str, ask: AskMany) -> str:
    cases = [{"request": dict(each), "expected": _round_figures(answer_golden(each, ask))} for each in questions]
    return json.dumps({"calibration": calibration, "cases": cases}, indent=1, ensure_ascii=False) + "\n"


def _round_figures(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {name: _round_figures(each) for name, each in value.items()}
    return value


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
