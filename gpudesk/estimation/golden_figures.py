"""Golden figures: the recorded answers of the engine to known questions, for comparison anywhere.

They show whether this installation computes the same as the tested program, not whether the figures are right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.estimate_json import write_estimate_json
from gpudesk.estimation.request_fields import parse_request
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import input_error

#: The file among the resources.
GOLDEN_FILE: Final = "self_test/golden.json"

#: Relative. Processors and systems round the last of sixteen digits differently, and a search that ends a step earlier
#: amplifies that. Displays have four digits: fifty times coarser than this tolerance.
TOLERANCE: Final = 1e-6

#: Sentences, which depend on the language, and fields repeated from the question.
_LEFT_OUT: Final = frozenset({"id", "notes", "reason"})

AskMany = Callable[[EstimateRequest], Estimate]


@frozen_dataclass
class GoldenCase:
    """A question as the fields of a JSON line, and its answer as those of `estimate --json`."""

    request: Mapping[str, Any]
    expected: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.request["id"])


@frozen_dataclass
class GoldenFile:
    """All cases, and the revision of the calibration behind their answers."""

    calibration: str
    cases: tuple[GoldenCase, ...]


@frozen_dataclass
class GoldenDifference:
    """A figure that differs from the expected one; `field` is its path in the answer."""

    field: str
    expected: object
    actual: object


def read_golden(path: Path) -> GoldenFile:
    """Read the golden figures of a file; raises `InputError` for any other file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        cases = tuple(GoldenCase(dict(case["request"]), dict(case["expected"])) for case in content["cases"])
        golden = GoldenFile(str(content["calibration"]), cases)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise input_error(
            "golden.unreadable", "the golden figures cannot be read: {reason}", str(path), reason=str(error)
        ) from error
    if not cases or not all(case.expected and "id" in case.request for case in cases):
        raise input_error("golden.empty", "the golden figures lack a question or an answer", str(path))
    return golden


def answer_golden(request: Mapping[str, Any], ask: AskMany) -> dict[str, Any]:
    """Return the figures of the answer to a question; raises `InputError` without an answer."""
    fields = write_estimate_json(ask(parse_request(dict(request))))
    return {name: value for name, value in fields.items() if name not in _LEFT_OUT}


def compare_golden(case: GoldenCase, ask: AskMany, tolerance: float = TOLERANCE) -> tuple[GoldenDifference, ...]:
    return tuple(_list_differing("", case.expected, answer_golden(case.request, ask), tolerance))


def _list_differing(where: str, expected: object, actual: object, tolerance: float) -> Iterator[GoldenDifference]:
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for name in {**expected, **actual}:
            place = f"{where}.{name}" if where else str(name)
            yield from _list_differing(place, expected.get(name), actual.get(name), tolerance)
    elif not _figures_agree(expected, actual, tolerance):
        yield GoldenDifference(where, expected, actual)


def _figures_agree(expected: object, actual: object, tolerance: float) -> bool:
    """Whether two values agree; numbers within the tolerance, and null only with null."""
    numbers = isinstance(expected, int | float) and isinstance(actual, int | float)
    if not numbers or isinstance(expected, bool) or isinstance(actual, bool):
        return type(expected) is type(actual) and expected == actual
    assert isinstance(expected, int | float)
    assert isinstance(actual, int | float)
    return abs(actual - expected) <= tolerance * max(abs(expected), abs(actual))
