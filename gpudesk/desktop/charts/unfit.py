"""Which columns of an answer have no curve, why, and the one edit that would help most."""

from __future__ import annotations

from collections.abc import Callable

from gpudesk.desktop.charts.columns import Part, parts
from gpudesk.desktop.charts.notice import Unfit
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.edits import with_count
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.workloads import LoadKind
from gpudesk.sentences import sentence
from gpudesk.text import tr, trn


def unfit_columns(desk: Desk) -> tuple[str, tuple[Unfit, ...]]:
    """Return a title for those without a curve, and one entry for each; an empty title without any."""
    everyone = parts(desk.answer)
    short = [part for part in everyone if part.column.estimate is not None and not part.column.estimate.fits]
    unknown = [part for part in everyone if part.column.estimate is None]
    entries = [_short(part, number, desk) for number, part in enumerate(everyone) if part in short]
    entries += [_unknown(part, desk) for part in unknown]
    return _title(len(short), len(unknown), len(everyone)), tuple(entries)


def _title(short: int, unknown: int, everyone: int) -> str:
    if short:
        return trn("{n} of {all} does not fit", "{n} of {all} do not fit", short, all=everyone)
    if unknown:
        return trn(
            "{n} of {all} cannot be estimated", "{n} of {all} cannot be estimated", unknown, all=everyone
        )
    return ""


def _short(part: Part, position: int, desk: Desk) -> Unfit:
    estimate = part.column.estimate
    if estimate is None or estimate.needs is None:
        return Unfit(part.slot, part.hollow, part.name, missing_text(part, desk))
    count, name = estimate.needs, part.name
    return Unfit(
        part.slot,
        part.hollow,
        name,
        missing_text(part, desk),
        tr("Use {n}", n=desk.formatter.count(count)),
        tr("Use {n} of {name}", n=desk.formatter.count(count), name=name),
        _with_count(desk, position, count, name),
    )


def _with_count(desk: Desk, position: int, count: int, name: str) -> Callable[[], object]:
    def apply() -> None:
        scenario = with_count(desk.scenario, position, count)
        desk.apply(scenario, tr("Use {n} of {name}", n=desk.formatter.count(count), name=name))

    return apply


def missing_text(part: Part, desk: Desk) -> str:
    """Return how much is short, in a few words."""
    estimate = part.column.estimate
    missing = (
        None if estimate is None or estimate.reason is None else estimate.reason.parameters.get("missing")
    )
    if estimate is None or not isinstance(missing, tuple) or isinstance(missing[0], str):
        return (
            "" if estimate is None or estimate.reason is None else sentence(estimate.reason, desk.formatter)
        )
    size = desk.formatter.gib(missing[0])
    if estimate.count == 1:
        return tr("{size} GiB short", size=size)
    return tr("{size} GiB short on each of {n}", size=size, n=desk.formatter.count(estimate.count))


def _unknown(part: Part, desk: Desk) -> Unfit:
    problem = part.column.problem
    return Unfit(
        part.slot, part.hollow, part.name, "" if problem is None else sentence(problem, desk.formatter)
    )


def full_at(estimate: Estimate, desk: Desk) -> str:
    """Return how many requests run where fewer do than the load asks for, else nothing."""
    asked, admitted = estimate.concurrency, estimate.admitted
    queued = estimate.request.workload.load.kind is LoadKind.SATURATE
    if queued or asked is None or admitted is None or admitted >= asked:
        # Of what is all queued at once, the rest is meant to wait.
        return ""
    count = desk.formatter.count
    return tr("runs {n} of {all} at once", n=count(admitted), all=count(asked))
