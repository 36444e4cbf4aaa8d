"""A sized demand as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpudesk.cli.tables import padded, table, text_width, wrapped
from gpudesk.domain.demand import Candidate, Sizing
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sentences import plan_name, sentence
from gpudesk.sheets.labels import basis_label, engine_name
from gpudesk.sheets.sizing_words import bound_text, demand_text, factor_label, factor_text, sizing_sentence
from gpudesk.text import tr

_INDENT = "  "


def size_lines(
    sizing: Sizing, names: Sequence[str], formatter: Formatter, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield what is asked, then each candidate under its name with its factors."""
    yield from wrapped(f"{demand_text(sizing.demand, formatter)}.", width)
    yield from wrapped(
        tr(
            "At the peak {rate} requests/s and {tokens} output tok/s.",
            rate=formatter.estimate(sizing.requests_per_s),
            tokens=formatter.estimate(sizing.output_tokens_per_s),
        ),
        width,
    )
    for candidate, name in zip(sizing.candidates, names, strict=True):
        yield ""
        yield from _candidate(sizing, candidate, name, formatter, width, strong)


def _candidate(
    sizing: Sizing,
    candidate: Candidate,
    name: str,
    formatter: Formatter,
    width: int,
    strong: Callable[[str], str],
) -> Iterator[str]:
    if candidate.count is None:
        yield strong(name)
    else:
        yield strong(f"{formatter.count(candidate.count)} × {name}")
    said = sizing_sentence(sizing, candidate, name, formatter)
    yield from (_INDENT + line for line in wrapped(said, width - len(_INDENT)))
    if candidate.count is None:
        return
    facts = _facts(candidate, formatter)
    labels = max(text_width(label) for label, _ in facts)
    for label, text in facts:
        first, *rest = wrapped(text, max(width - labels - 4, 20))
        yield f"{_INDENT}{padded(label, labels)}  {first}"
        yield from (f"{_INDENT}{' ' * labels}  {line}" for line in rest)
    yield ""
    yield from (_INDENT + line for line in _factors(candidate, formatter, width - len(_INDENT)))
    for note in candidate.notes:
        yield from (_INDENT + line for line in wrapped(f"{sentence(note, formatter)}.", width - len(_INDENT)))


def _facts(candidate: Candidate, formatter: Formatter) -> list[tuple[str, str]]:
    estimate, rate = candidate.estimate, candidate.output_tokens_per_s
    power = UNKNOWN if candidate.power_kw is None else f"{formatter.estimate(candidate.power_kw)} kW"
    facts = [
        (tr("One replica"), plan_name(candidate.plan)),
        (tr("Replicas"), _replicas(candidate, formatter)),
        (tr("Hosts"), formatter.count(candidate.nodes)),
        (tr("In flight at the peak"), _in_flight(candidate, formatter)),
        (tr("Most within the limits"), UNKNOWN if rate is None else formatter.banded(rate, "tok/s")),
        (tr("Power (TDP of all)"), power),
        (tr("Bound check"), bound_text(candidate, formatter)),
    ]
    if estimate is not None:
        engine = f"{engine_name(estimate.serving_engine)}, {basis_label(estimate.basis)}"
        facts.insert(1, (tr("Serving engine"), engine))
    return facts


def _replicas(candidate: Candidate, formatter: Formatter) -> str:
    spare = candidate.spare // candidate.plan.replica
    return tr("{n} at work, {m} in reserve", n=formatter.count(candidate.replicas), m=formatter.count(spare))


def _in_flight(candidate: Candidate, formatter: Formatter) -> str:
    each, total = candidate.concurrency_per_replica, candidate.concurrency
    return tr("{n} in each replica, {m} in all", n=formatter.count(each), m=formatter.count(total))


def _factors(candidate: Candidate, formatter: Formatter, width: int) -> list[str]:
    """Return the chain of factors as a table that ends with their product."""
    rows = [(f"× {factor_text(each, formatter)}", factor_label(each)) for each in candidate.factors]
    rows[0] = (rows[0][0].removeprefix("× "), rows[0][1])
    rows.append((f"= {formatter.count(candidate.count)}", tr("accelerators")))
    return table((tr("Factor"), tr("What it is")), rows, width, right=(0,))
