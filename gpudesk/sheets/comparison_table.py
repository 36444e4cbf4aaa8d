"""The comparison table: everything that is known of the parts of a scenario, side by side."""

from __future__ import annotations

from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.claims import entered
from gpudesk.domain.comparison import column_keys, repeated, slots
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.comparison_parts import ComparedGroup, ComparedHead, ComparedRow, ComparisonTable
from gpudesk.sheets.comparison_results import memory_use_rows, workload_rows
from gpudesk.sheets.comparison_specs import (
    INTERCONNECT,
    MEMORY,
    POWER,
    SOFTWARE,
    attribute_rows,
    peak_rows,
    price_rows,
)
from gpudesk.sheets.names import column_names, load_text
from gpudesk.text import tr, trn


def comparison_table(answer: Answer, formatter: Formatter) -> ComparisonTable:
    """Return all rows in their groups, results first; rows and groups that no column knows are left out."""
    return TableMaker(formatter).table(answer)


class TableMaker:
    """Makes the table of one answer after another; what the catalog says is kept while the parts stay."""

    def __init__(self, formatter: Formatter) -> None:
        """Write figures with this formatter."""
        self._formatter = formatter
        self._parts: tuple[object, ...] = ()
        self._memory: tuple[ComparedRow, ...] = ()
        self._rest: tuple[ComparedGroup, ...] = ()

    def table(self, answer: Answer) -> ComparisonTable:
        """Return the table of an answer."""
        self._take_specs(answer)
        formatter = self._formatter
        groups = (
            ComparedGroup(
                "workload",
                tr("At this workload"),
                workload_rows(answer, formatter),
                _conditions(answer, formatter),
            ),
            ComparedGroup("memory", tr("Memory"), (*self._memory, *memory_use_rows(answer, formatter))),
            *self._rest,
        )
        return ComparisonTable(
            _heads(answer, self._formatter), tuple(group for group in groups if group.rows)
        )

    def _take_specs(self, answer: Answer) -> None:
        shown = (column.accelerator.id for column in answer.columns)
        parts = (answer.catalog_revision, answer.unranked, *shown)
        if parts == self._parts:
            return
        formatter = self._formatter
        self._parts = parts
        self._memory = attribute_rows(answer, MEMORY, formatter)
        self._rest = (
            ComparedGroup("dense", tr("Compute, dense"), peak_rows(answer, "dense", formatter)),
            ComparedGroup("sparse", tr("Compute, sparse"), peak_rows(answer, "sparse", formatter)),
            ComparedGroup(
                "interconnect", tr("Interconnect"), attribute_rows(answer, INTERCONNECT, formatter)
            ),
            ComparedGroup("power", tr("Power and package"), attribute_rows(answer, POWER, formatter)),
            ComparedGroup("software", tr("Software"), attribute_rows(answer, SOFTWARE, formatter)),
            ComparedGroup("price", tr("Price"), price_rows(answer, formatter)),
        )


def _heads(answer: Answer, formatter: Formatter) -> tuple[ComparedHead, ...]:
    choices = answer.scenario.accelerators
    looks = zip(
        column_keys(choices),
        column_names(answer),
        answer.columns,
        slots(choices),
        repeated(choices),
        strict=True,
    )
    return tuple(
        ComparedHead(key, name, _detail(column, formatter), slot, hollow, column.accelerator.announced)
        for key, name, column, slot, hollow in looks
    )


def _detail(column: Column, formatter: Formatter) -> str:
    """Return architecture, form and count, as far as they are known."""
    architecture = column.attributes.get("architecture")
    count = column.choice.count if column.estimate is None else column.estimate.count
    stated = [
        tr("announced") if column.accelerator.announced else None,
        tr("yours") if entered(column.attributes.values()) else None,
        None if architecture is None else architecture.value,
        column.accelerator.form_factor,
        None if count is None else f"× {formatter.count(count)}",
    ]
    return " · ".join(str(word) for word in stated if word)


def _conditions(answer: Answer, formatter: Formatter) -> str:
    """Return on what load the results hold, and how many accelerators each deployment has, if all alike."""
    load = load_text(answer.scenario.workload.load, formatter)
    counts = {column.estimate.count for column in answer.columns if column.estimate}
    if len(counts) != 1 or len(answer.columns) == 1:
        return load
    count = counts.pop()
    each = trn("one accelerator each", "{n} accelerators each", count, n=formatter.count(count))
    return tr("{each}, {load}", each=each, load=load)
