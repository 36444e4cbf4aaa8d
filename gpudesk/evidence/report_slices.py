"""Section of the accuracy report: the publisher fold by slices, and what is behind those that miss a bar."""

from __future__ import annotations

from gpudesk.evidence.report_causes import cause
from gpudesk.evidence.report_cells import MEASURED_HEAD, measured_cells
from gpudesk.evidence.report_data import ReportData
from gpudesk.evidence.report_measures import (
    LEAST_JUDGED,
    SLICE_COVERAGE,
    View,
    by_trait,
    by_view,
    measure,
    misses,
)
from gpudesk.evidence.report_words import SLICES, count, table, title, whole_share

#: Slices with fewer rows are not shown: two or three rows have no 90th hundredth.
LEAST_SHOWN = 5


def slices_section(data: ReportData) -> list[str]:
    """Return the section."""
    lines = [
        "## 3. Slices, publisher left out",
        "",
        (
            f"A slice of {LEAST_JUDGED} rows or more is held to the bars of the errors, and its band is to "
            f"hold {whole_share(SLICE_COVERAGE[0])} to {whole_share(SLICE_COVERAGE[1])}; smaller ones are "
            f"shown without being judged, those of fewer than {LEAST_SHOWN} rows not at all. Below each "
            "table stands what is behind the slices that miss a bar, and which data would help."
        ),
        "",
    ]
    for view, rows in by_view(data.series_rows).items():
        lines += [f"### {title(view)}, by slice", ""]
        body: list[tuple[str, ...]] = []
        why: list[str] = []
        for trait, heading in SLICES.items():
            for value, inside in by_trait(rows, trait).items():
                if len(inside) < LEAST_SHOWN:
                    continue
                found = measure(inside)
                missed = misses(found, view)
                name = data.names.trait(trait, value)
                body.append((heading, name, *measured_cells(found, missed)))
                if missed:
                    why.append(
                        f"- {title(heading)} **{name}**: {cause(inside, view, missed, rows, data.names)}"
                    )
        head = ("slice", "", *MEASURED_HEAD)
        lines += table(head, body, text_columns=2)
        lines += [*why, ""] if why else [_none_missed(view, body), ""]
    return lines


def _none_missed(view: View, body: list[tuple[str, ...]]) -> str:
    return f"None of the {count(len(body), 'slice')} of {view} misses a bar."
