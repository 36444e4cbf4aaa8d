"""Writes a calibration as readable JSON: constants with unit, meaning and rows, bands, coverage."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.constants import BandRule
from gpudesk.evidence.bench import Bench, BenchRun
from gpudesk.evidence.parameters import Array, Parameters, Prior

FORMAT_VERSION: Final = 1
#: Significant digits of constants and of factors of bands.
DIGITS, BAND_DIGITS = 6, 4


@dataclass(frozen=True, slots=True)
class CalibrationText:
    """What a calibration file says beside its constants."""

    name: str
    source: str
    newest_month: str
    data_revision: str
    bands: tuple[BandRule, ...]
    pair_bands: tuple[BandRule, ...]


def calibration_text(bench: Bench, values: Array, about: CalibrationText) -> str:
    """Return the file."""
    parameters = bench.parameters
    rows = bench.rows_behind()
    constants = [
        f"  {json.dumps(prior.name)}: {_constant(parameters, prior, values, rows)}"
        for prior in parameters.priors
    ]
    head = {
        "version": FORMAT_VERSION,
        "name": about.name,
        "newest_month": about.newest_month,
        "source": about.source,
        "data": about.data_revision,
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    joined = ",\n".join(constants)
    coverage = f' "coverage": {_list(_coverage(bench.runs), 2)}'
    head_text = "{\n" + "\n".join(lines) + '\n "constants": {\n' + joined + "\n },\n" + coverage
    return head_text + _bands(about.bands, about.pair_bands)


def with_bands(text: str, bands: Sequence[BandRule], pair_bands: Sequence[BandRule]) -> str:
    """Return the text of a calibration file with other bands; the constants stay to the last digit."""
    head, _, _ = text.partition(_BEFORE_BANDS)
    return head + _bands(bands, pair_bands)


#: What stands between the coverage and the bands, which end the file.
_BEFORE_BANDS: Final = ',\n "bands": '


def _bands(bands: Sequence[BandRule], pair_bands: Sequence[BandRule]) -> str:
    """Return the end of the file."""
    single, double = (_list([_band(rule) for rule in rules], 2) for rules in (bands, pair_bands))
    return f'{_BEFORE_BANDS}{single},\n "pair_bands": {double}\n}}\n'


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _constant(parameters: Parameters, prior: Prior, values: Array, rows: NDArray[np.intp]) -> str:
    start = parameters.starts[prior.name]
    fields: dict[str, Any] = {"unit": prior.unit, "meaning": prior.meaning}
    if prior.source is not None:
        fields["source"] = prior.source
    fields["default"] = _significant(float(values[start]), DIGITS)
    overrides = [
        {
            "where": {key: list(allowed) for key, allowed in each.where.items()},
            "value": _significant(float(values[start + 1 + place]), DIGITS),
            "rows": int(rows[start + 1 + place]),
        }
        for place, each in enumerate(prior.exceptions)
    ]
    head = ",\n".join(f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items())
    return "{\n" + head + ',\n   "overrides": ' + _list(overrides, 4) + "\n  }"


def _list(entries: Iterable[Mapping[str, Any]], indent: int) -> str:
    inside = ",\n".join(" " * indent + json.dumps(entry) for entry in entries)
    return f"[\n{inside}\n{' ' * (indent - 1)}]" if inside else "[]"


def _band(rule: BandRule) -> dict[str, Any]:
    fields: dict[str, Any] = {"figure": rule.figure, "basis": rule.basis}
    if rule.where:
        fields["where"] = {key: sorted(allowed) for key, allowed in rule.where.items()}
    fields["low"] = _significant(rule.low, BAND_DIGITS)
    fields["high"] = _significant(rule.high, BAND_DIGITS)
    return fields


def _coverage(runs: Sequence[BenchRun]) -> list[dict[str, Any]]:
    """Rows by generation and serving-engine family."""
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        counts[run.traits["generation"], run.traits["engine"]] += len(run.figures)
    return [
        {"generation": generation, "family": family, "rows": count}
        for (generation, family), count in sorted(counts.items())
    ]
