"""Published figures near to one of an estimate, and what was said of them unseen, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.records import Condition, Record, published_figure
from gpudesk.sheets.explanation import Detail, RecordLine, RecordLines
from gpudesk.sheets.labels import FIGURE_UNITS, figure_label, kind_label
from gpudesk.sheets.record_words import condition_texts, software_text
from gpudesk.text import tr, trn

#: Conditions that say where a run ran, what, and under what load: told whole for each record.
_WHERE = (Condition.ACCELERATOR, Condition.PLAN)
_WHAT = (Condition.MODEL, Condition.WEIGHTS, Condition.KV)
_LOAD = (Condition.LENGTHS, Condition.LOAD, Condition.SPREAD, Condition.SERVER)


def record_lines(
    estimate: Estimate, name: str, records: tuple[Record, ...], formatter: Formatter
) -> RecordLines | None:
    """Return the records of a figure in words; None for a figure that nobody publishes."""
    published = published_figure(estimate, name)
    if published is None:
        return None
    lines = tuple(_line(record, formatter) for record in records)
    remark = None
    if not records:
        remark = tr("Nothing is known: there are no published figures that a fit has not seen")
    elif not records[0].near:
        remark = trn(
            "Nothing near was published: this is the nearest",
            "Nothing near was published: these are the nearest",
            len(records),
        )
    of = "" if published == name else figure_label(published)
    return RecordLines(of, lines, remark)


def _line(record: Record, formatter: Formatter) -> RecordLine:
    source, texts = record.source, condition_texts(record, formatter)
    what = _told(record, formatter)
    return RecordLine(
        what=what[:1].upper() + what[1:],
        error=formatter.difference(record.ratio),
        figures=tr(
            "measured {measured}, ours {ours}",
            measured=f"{formatter.estimate(record.measured)} {FIGURE_UNITS[record.figure]}",
            ours=formatter.estimate(record.predicted),
        ),
        verdict=_verdict(record),
        source=f"{source.publisher}, {source.title}",
        date=(source.date or "")[: len("2000-01")],
        address=source.url or "",
        details=tuple(_details(record, texts)),
    )


def _told(record: Record, formatter: Formatter) -> str:
    """Return the conditions that are not as asked, each once: a deployment names part and count together."""
    if record.as_asked:
        return tr("these conditions")
    texts = condition_texts(record, formatter)
    return ", ".join(dict.fromkeys(texts[condition] for condition in record.differs))


def _verdict(record: Record) -> str:
    if record.inside_band is None:
        return ""
    return tr("inside the band") if record.inside_band else tr("outside the band")


def _details(record: Record, texts: Mapping[Condition, str]) -> Iterator[Detail]:
    """Yield under which conditions it was measured, by whom, and where that can be read.

    All records have the same details, so that one can take the place of another where they are shown.
    """
    source = record.source
    where = _WHERE if record.request.tp is not None else _WHERE[:1]
    yield Detail(tr("Ran on"), _joined(texts, where))
    yield Detail(tr("Model"), _joined(texts, _WHAT))
    yield Detail(tr("Load"), _joined(texts, _LOAD))
    yield Detail(tr("Software"), software_text(record))
    yield Detail(tr("Assumed"), _joined(texts, record.assumed) or tr("nothing"))
    yield Detail(tr("Note"), " ".join(part for part in (record.note, source.trust) if part) or UNKNOWN)
    yield Detail(tr("Row"), record.row)
    yield Detail(tr("Title"), source.title)
    yield Detail(tr("Publisher"), source.publisher)
    yield Detail(tr("Kind"), kind_label(source.kind))
    yield Detail(tr("Date"), source.date or tr("no date"))
    yield Detail(tr("Address"), source.url or UNKNOWN, url=source.url is not None)


def _joined(texts: Mapping[Condition, str], conditions: tuple[Condition, ...]) -> str:
    return ", ".join(dict.fromkeys(texts[condition] for condition in conditions))
