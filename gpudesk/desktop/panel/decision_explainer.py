"""Gathers what stands behind an answer of the dialogue, or behind a rule, from desk and workbench."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gpudesk.desktop.pages.decide.decided import Decided, decided, decision_if
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, SelectionKind
from gpudesk.domain.decisions import Decision
from gpudesk.domain.messages import InputError
from gpudesk.paths import MissingFileError
from gpudesk.sheets.catalog_view import CatalogView
from gpudesk.sheets.explaining_decisions import Told, explain_option, explain_ruling
from gpudesk.sheets.explanation import Explanation

_T = TypeVar("_T")


def explain_decision(desk: Desk, selection: Selection, view: CatalogView) -> Explanation | None:
    """Explain an answer or a rule; None where there is no decision, or no such rule."""
    try:
        now = decided(desk)
        if now is None:
            return None
        if selection.kind is SelectionKind.TRACE:
            return explain_ruling(_told(desk, now, now.decision, view), selection.name, selection.column)
        then = decision_if(desk, selection.name, selection.answer)
    except (InputError, MissingFileError):
        # The page says what is wrong with the rules.
        return None
    if then is None:
        return None
    return explain_option(_told(desk, now, then, view), selection.name, selection.answer)


def _told(desk: Desk, now: Decided, decision: Decision, view: CatalogView) -> Told:
    catalog = desk.workbench.catalog
    disputes = {each.id: each for each in catalog.disputes()}
    return Told(
        decision=decision,
        names=now.names,
        slots=now.slots,
        hollow=now.hollow,
        rules=desk.workbench.decider.rules,
        formatter=now.formatter,
        source=lambda name: _there(catalog.source, name),
        dispute=disputes.get,
        catalog=view.fact,
        weights=now.answer.scenario.decision.weights,
    )


def _there(find: Callable[[str], _T], name: str) -> _T | None:
    """Return what is found by a name, None where there is no such."""
    try:
        return find(name)
    except InputError:
        return None
