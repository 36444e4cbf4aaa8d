"""The working of a figure in words, and the claims that its leaves take their values from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from gpudesk.domain.answers import Answer, Column, Term
from gpudesk.domain.claims import Attribute
from gpudesk.domain.formatting import Formatter
from gpudesk.sentences import sentence
from gpudesk.sheets.claim_lines import input_group
from gpudesk.sheets.explanation import ClaimGroup, Outline, TermLine
from gpudesk.sheets.terms import numeric_formula, term_label, term_value
from gpudesk.text import tr

_CATALOG: Final = "catalog:"


def term_line(term: Term, source_text: Callable[[str], str], formatter: Formatter) -> TermLine:
    """Return a term and all that enter it in words."""
    value, unit = term_value(term, formatter)
    source = term.source
    formula = numeric_formula(term, formatter)
    if formula is None and term.note is not None:
        formula = sentence(term.note, formatter)
    return TermLine(
        name=term.name,
        label=term_label(term.name),
        value=value,
        unit=unit,
        formula=formula,
        source=None if source is None else source_text(source),
        claims=_claims_key(term),
        outline=_outline(term),
        enter=lambda: tuple(term_line(each, source_text, formatter) for each in term.inputs),
    )


def _outline(term: Term) -> Outline:
    return term.name, tuple(map(_outline, term.inputs))


def inputs_of(answer: Answer, column: Column, working: Term, formatter: Formatter) -> tuple[ClaimGroup, ...]:
    """Return the claims behind the leaves of a working, each attribute once, in the order of the terms."""
    keys = dict.fromkeys(key for key in map(_claims_key, _walk(working)) if key)
    groups = (_group(answer, column, key, formatter) for key in keys)
    return tuple(group for group in groups if group is not None)


def _claims_key(term: Term) -> str | None:
    """Return the attribute that a term takes its value from."""
    source = term.source
    return source.removeprefix(_CATALOG) if source is not None and source.startswith(_CATALOG) else None


def _walk(term: Term) -> Iterator[Term]:
    yield term
    for each in term.inputs:
        yield from _walk(each)


def _group(answer: Answer, column: Column, key: str, formatter: Formatter) -> ClaimGroup | None:
    attribute = _attribute(answer, column, key)
    if attribute is None:
        return None
    group = replace(input_group(attribute, formatter), key=key)
    if "/" in key:
        return group
    # One configuration states all dimensions; no single one of them is meant.
    claims = tuple(
        replace(
            claim,
            value=tr("Configuration"),
            unit=None,
            sentence=tr("Configuration, {origin}", origin=f"{claim.title}, {claim.origin}"),
        )
        for claim in group.claims[:1]
    )
    return replace(group, label=tr("Dimensions of {model}", model=answer.model.name), claims=claims)


def _attribute(answer: Answer, column: Column, key: str) -> Attribute | None:
    """Return the attribute that a source names; dimensions of a model stand for all of them."""
    thing, _, name = key.partition("/")
    if not name:
        return answer.model_attributes.get("hidden_size")
    attributes = column.attributes if thing == column.accelerator.id else answer.model_attributes
    family: Iterable[Attribute] = (each for each in attributes.values() if each.name.startswith(f"{name}_"))
    return attributes.get(name) or next(iter(family), None)
