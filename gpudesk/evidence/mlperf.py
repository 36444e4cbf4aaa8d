"""MLPerf Inference results from the published rows, and the ratios that documents state."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gpudesk.domain.published_run import MlperfResult, MlperfScenario, StatedMlperfRatio
from gpudesk.files import describe_unreadable
from gpudesk.text.messages import InputError, explain_system_error

_TABLE: Final = "mlperf.toml"
_ALIASES: Final = "aliases.toml"
_FILES: Final = "runs-mlperf-*.csv"
#: The metric by which all benchmarks of language models are ranked.
_METRIC: Final = "output_tokens_per_s"
#: Submitter and system, in the format of the notes of the rows.
_SUBMISSION: Final = re.compile(r"(?:^|\. )(?P<submitter>[^,;.]+), (?P<system>\S+?)\.(?= |$)")
_PREVIEW: Final = "Preview system."


@dataclass(frozen=True, slots=True)
class MlperfTable:
    """All results, the names of the rounds by their source, and the ratios that documents state."""

    results: tuple[MlperfResult, ...]
    rounds: Mapping[str, str]
    stated: tuple[StatedMlperfRatio, ...]


def read_mlperf(folder: Path) -> MlperfTable:
    """Return the MLPerf results of the measurements; raises `InputError` that names the faulty file."""
    table, aliases = _toml(folder / _TABLE), _toml(folder / _ALIASES)
    parts, models = aliases["accelerators"], aliases["models"]
    results: dict[tuple[object, ...], MlperfResult] = {}
    for path in sorted(folder.glob(_FILES)):
        for result in _results(path, table, parts, models):
            # The two accuracy targets of a benchmark are usually the same run.
            results.setdefault(_identity(result), result)
    stated = tuple(_stated(entry, parts, models) for entry in table["stated"])
    return MlperfTable(tuple(results.values()), table["rounds"], stated)


def _identity(result: MlperfResult) -> tuple[object, ...]:
    return (
        result.round,
        result.model,
        result.mlperf_scenario,
        result.submitter,
        result.system,
        result.output_tokens_per_s,
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error


def _results(
    path: Path, table: dict[str, Any], parts: Mapping[str, str], models: Mapping[str, str]
) -> Iterator[MlperfResult]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            scenario = _scenario(row, table)
            submission = _SUBMISSION.search(row["note"])
            is_known = row["accelerator"] in parts and row["model"] in models
            if row["metric"] != _METRIC or scenario is None or submission is None or not is_known:
                continue
            yield MlperfResult(
                id=row["id"],
                round=table["rounds"][row["source"]],
                source=row["source"],
                model=models[row["model"]],
                accelerator=parts[row["accelerator"]],
                mlperf_scenario=scenario,
                count=int(row["count"]),
                output_tokens_per_s=float(row["value"]),
                submitter=submission["submitter"],
                system=submission["system"],
                serving_engine=row["serving_engine"] or None,
                weights=row["weights"],
                software=row["engine_version"],
                preview=_PREVIEW in row["note"],
            )


def _scenario(row: Mapping[str, str], table: dict[str, Any]) -> MlperfScenario | None:
    """Return the MLPerf scenario of a load and its limits; None if unknown."""
    if row["load"] == "saturate":
        return MlperfScenario.OFFLINE
    limits = (row["ttft_limit_ms"], row["tpot_limit_ms"])
    for scenario in (MlperfScenario.SERVER, MlperfScenario.INTERACTIVE):
        scenario_name = table[scenario.value].get(row["model"])
        if scenario_name is not None and limits == (str(scenario_name["ttft_ms"]), str(scenario_name["tpot_ms"])):
            return scenario
    return None


def _stated(entry: dict[str, Any], parts: Mapping[str, str], models: Mapping[str, str]) -> StatedMlperfRatio:
    scenario = entry.get("mlperf_scenario")
    return StatedMlperfRatio(
        claim=entry["claim"],
        source="",
        round=entry.get("round"),
        model=models[entry["model"]],
        mlperf_scenario=None if scenario is None else MlperfScenario(scenario),
        accelerator=parts[entry["accelerator"]],
        baseline=parts[entry["baseline"]],
        ratio=entry["ratio"],
        computed_by=entry["computed_by"],
    )
