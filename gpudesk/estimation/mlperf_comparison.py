"""MLPerf Inference: published rows, and the best result of each accelerator within a round and benchmark."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from gpudesk.catalog.read import Catalog
from gpudesk.domain.mlperf import (
    MlperfCell,
    MlperfHeadToHead,
    MlperfResult,
    MlperfRow,
    MlperfScenario,
    StatedMlperfRatio,
)
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass

_TABLE: Final = "mlperf.toml"
_ALIASES: Final = "aliases.toml"
_FILES: Final = "runs-mlperf-*.csv"
#: The metric by which all benchmarks of language models are ranked.
_METRIC: Final = "output_tokens_per_s"
#: Submitter and system, in the format of the notes of the rows.
_SUBMISSION: Final = re.compile(r"(?:^|\. )(?P<submitter>[^,;.]+), (?P<system>\S+?)\.(?= |$)")
_PREVIEW: Final = "Preview system."
_get_run: Final = attrgetter("round", "model", "mlperf_scenario", "submitter", "system", "output_tokens_per_s")


@frozen_dataclass
class MlperfTable:
    """All results, the names of the rounds by their source, and the ratios that documents state."""

    results: tuple[MlperfResult, ...]
    rounds: Mapping[str, str]
    published_ratios: tuple[StatedMlperfRatio, ...]


def read_mlperf(folder: Path) -> MlperfTable:
    """Return the MLPerf results of the measurements; raises `InputError` that names the faulty file."""
    table, aliases = read_toml(folder / _TABLE), read_toml(folder / _ALIASES)
    parts, models = aliases["accelerators"], aliases["models"]
    results: dict[tuple[object, ...], MlperfResult] = {}
    for path in sorted(folder.glob(_FILES)):
        for result in _read_results(path, table, parts, models):
            # The two accuracy targets of a benchmark are usually the same run.
            results.setdefault(_get_run(result), result)
    published_ratios = tuple(_make_stated_ratio(entry, parts, models) for entry in table["stated"])
    return MlperfTable(tuple(results.values()), table["rounds"], published_ratios)


def _read_results(
    path: Path, table: dict[str, Any], parts: Mapping[str, str], models: Mapping[str, str]
) -> Iterator[MlperfResult]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            scenario = _find_scenario(row, table)
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


def _find_scenario(row: Mapping[str, str], table: dict[str, Any]) -> MlperfScenario | None:
    """Return the MLPerf scenario of a load and its limits; None if unknown."""
    if row["load"] == "saturate":
        return MlperfScenario.OFFLINE
    limits = (row["ttft_limit_ms"], row["tpot_limit_ms"])
    for scenario in (MlperfScenario.SERVER, MlperfScenario.INTERACTIVE):
        scenario_name = table[scenario.value].get(row["model"])
        if scenario_name is not None and limits == (str(scenario_name["ttft_ms"]), str(scenario_name["tpot_ms"])):
            return scenario
    return None


def _make_stated_ratio(entry: dict[str, Any], parts: Mapping[str, str], models: Mapping[str, str]) -> StatedMlperfRatio:
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


#: Repeats of a system are two out of at least this many submissions: two submitters may simply have tuned differently.
_LEAST_REPEATS: Final = 3
#: Two thirds of the repeats differ by less than a significant difference.
_REPEATED: Final = 2.0 / 3.0


class MlperfComparison:
    """The results of all rounds, and comparisons between them."""

    def __init__(self, table: MlperfTable, catalog: Catalog) -> None:
        self._table = table
        self._catalog = catalog
        accelerator_ids = {part.id for part in catalog.accelerators()}
        self.results = tuple(each for each in table.results if each.accelerator in accelerator_ids)

    @cached_property
    def rounds(self) -> tuple[str, ...]:
        """The names of the rounds with results, the newest first."""
        return tuple(sorted({each.round for each in self.results}, reverse=True))

    def models(self, round_name: str) -> tuple[str, ...]:
        """Return the ids of the models of a round, the one with the most accelerators first."""
        parts: dict[str, set[str]] = defaultdict(set)
        for each in self.results:
            if each.round == round_name:
                parts[each.model].add(each.accelerator)
        return tuple(sorted(parts, key=lambda model: (-len(parts[model]), model)))

    def head_to_head(self, round_name: str, model: str, baseline: str | None = None) -> MlperfHeadToHead | None:
        """Return all accelerators of a round and model compared with one of them; None without results.

        Without a baseline, or with one that has no results, the accelerator with the most results is the baseline.
        """
        chosen = [each for each in self.results if (each.round, each.model) == (round_name, model)]
        if not chosen:
            return None
        parts = {each.accelerator for each in chosen}
        if baseline not in parts:
            baseline = max(sorted(parts), key=lambda part: sum(each.accelerator == part for each in chosen))
        ranked = {scenario: _list_results(chosen, baseline, scenario) for scenario in MlperfScenario}
        best = {scenario: each[0].per_accelerator if each else None for scenario, each in ranked.items()}
        rows = [_make_row(chosen, part, best) for part in sorted(parts)]
        rows.sort(key=_get_row_speed, reverse=True)
        return MlperfHeadToHead(round_name, chosen[0].source, model, baseline, tuple(rows), self.tie_share)

    @cached_property
    def tie_share(self) -> float:
        """By how much the two best submissions of one system differ in two thirds of the cases, as a share.

        Of all cases with three submissions or more of an accelerator in one round, model, MLPerf scenario and size of
        system.
        """
        groups: dict[tuple[object, ...], list[float]] = defaultdict(list)
        for each in self.results:
            key = (each.round, each.model, each.mlperf_scenario, each.accelerator, each.count)
            groups[key].append(each.per_accelerator)
        shares = sorted(
            ranked[0] / ranked[1] - 1.0
            for ranked in (sorted(group, reverse=True) for group in groups.values())
            if len(ranked) >= _LEAST_REPEATS
        )
        return shares[min(int(len(shares) * _REPEATED), len(shares) - 1)] if shares else 0.0

    @cached_property
    def published_ratios(self) -> tuple[StatedMlperfRatio, ...]:
        """Ratios stated by documents, with their source and the ratio of the submitted results."""
        claims = {claim.id: claim for claim in self._catalog.seed_claims()}
        return tuple(
            replace(each, source=claims[each.claim].source.id, computed=self._compute_ratio(each))
            for each in self._table.published_ratios
            if each.claim in claims
        )

    def _compute_ratio(self, published_ratio: StatedMlperfRatio) -> float | None:
        if published_ratio.round is None or published_ratio.mlperf_scenario is None:
            return None
        head_to_head = self.head_to_head(published_ratio.round, published_ratio.model, published_ratio.baseline)
        row = (
            None
            if head_to_head is None or head_to_head.baseline != published_ratio.baseline
            else head_to_head.row(published_ratio.accelerator)
        )
        cell = None if row is None else row.cells.get(published_ratio.mlperf_scenario)
        return None if cell is None else cell.ratio


def _list_results(results: Iterable[MlperfResult], part: str, scenario: MlperfScenario) -> list[MlperfResult]:
    """Return the results of an accelerator in an MLPerf scenario, the best per accelerator first."""
    matches = [each for each in results if (each.accelerator, each.mlperf_scenario) == (part, scenario)]
    return sorted(matches, key=lambda each: -each.per_accelerator)


def _make_row(results: Sequence[MlperfResult], part: str, baseline: dict[MlperfScenario, float | None]) -> MlperfRow:
    cells: dict[MlperfScenario, MlperfCell] = {}
    for scenario in MlperfScenario:
        own, other = _list_results(results, part, scenario), baseline[scenario]
        if own:
            ratio = None if other is None else own[0].per_accelerator / other
            cells[scenario] = MlperfCell(tuple(own), ratio)
    return MlperfRow(part, cells)


def _get_row_speed(row: MlperfRow) -> float:
    """Return the sort key of rows: offline throughput, else any available one."""
    for scenario in MlperfScenario:
        if scenario in row.cells:
            return row.cells[scenario].best.per_accelerator
    return 0.0
