"""Taking in what files would bring: as the user wants it, completed by answers, written as one step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit, Key, MissingField, OwnFacts, Proposal
from gpudesk.domain.progress import Progress, Steps
from gpudesk.workbench.fields import quoted
from gpudesk.workbench.importing import Import
from gpudesk.workbench.own_checks import optional_date, optional_line
from gpudesk.workbench.own_edits import add
from gpudesk.workbench.proposals import check_id, made_by, named, subject_of, titled

if TYPE_CHECKING:
    from gpudesk.domain.signers import Signer
    from gpudesk.workbench.workbench import Workbench

_YES: Final = frozenset({"yes", "true", "1"})
_NO: Final = frozenset({"no", "false", "0"})
#: Characters of the name of a step, at most.
_LONGEST_STEP: Final = 200


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants otherwise than the file has it, `title` of its source; empty is as it comes."""

    id: str = ""
    name: str = ""
    organisation: str = ""
    title: str = ""
    provider: str = ""
    date: str = ""


def revised(found: Import, proposal: Proposal, wishes: Wishes, catalog: Catalog) -> Steps[Proposal]:
    """Return a proposal of a file as the user wants it; raises `InputError` at the field of the wish."""
    provider, date = optional_line("provider", wishes.provider), optional_date("date", wishes.date)
    if found.reread is not None and (provider or date):
        proposal = yield from found.reread(provider, date)
    subject = subject_of(proposal)
    if subject is not None:
        wanted = wishes.id.strip() or subject.id
        check_id(wanted, {thing.id for thing in catalog.things() if not thing.own})
        proposal = named(proposal, wanted, wishes.name or subject.name)
    if wishes.organisation.strip():
        proposal = made_by(proposal, wishes.organisation)
    return titled(proposal, wishes.title) if wishes.title.strip() else proposal


def answered(found: Import, given: Mapping[str, str]) -> Proposal:
    """Return what a file would bring with what the user says, as text, for fields that it does not state.

    Raises `InputError` that names the fields that nobody states, or the answer that cannot be.
    """
    proposal, answers = found.proposal, dict[str, object]()
    while proposal.missing:
        still = tuple(field.name for field in proposal.missing if field.name not in given)
        fresh = [field for field in proposal.missing if field.name not in answers]
        if still or not fresh or found.complete is None:
            names = still or tuple(field.name for field in proposal.missing)
            raise InputError(message("import.fields_missing", fields=names), found.path.name)
        answers |= {field.name: _answer(field, given[field.name]) for field in fresh}
        proposal = found.complete(answers)
    return proposal


def _answer(field: MissingField, given: str) -> object:
    """Return an answer as the kind of value that the field holds."""
    try:
        if field.kind == "whole":
            return int(given)
        if field.kind == "number":
            return float(given)
    except ValueError:
        raise _no_answer(field, given) from None
    if field.kind == "yes_no":
        if given.lower() not in _YES | _NO:
            raise _no_answer(field, given)
        return given.lower() in _YES
    if field.choices and given not in field.choices:
        raise InputError(message("import.choice", given=quoted(given), choices=field.choices), field.name)
    return given


def _no_answer(field: MissingField, given: str) -> InputError:
    wanted = "boolean" if field.kind == "yes_no" else field.kind
    return InputError(message("import.answer", given=quoted(given), wanted=wanted), field.name)


def step_of(catalog: Catalog, proposals: Sequence[Proposal]) -> Edit:
    """Return the one step that takes all of some proposals; raises `InputError` where one cannot be."""
    facts = [fact for proposal in proposals for fact in proposal.facts]
    return add(catalog, facts, ", ".join(proposal.name for proposal in proposals)[:_LONGEST_STEP])


def write(workbench: Workbench, proposals: Sequence[Proposal]) -> Steps[tuple[Edit, OwnFacts]]:
    """Write all of some proposals to the user's file as one step, which is not in force yet.

    Return the step and the facts after it, for `OwnCatalog.adopt`. Where it raises `InputError`, nothing was
    written.
    """
    writing = Progress(message("import.writing", name=proposals[0].name))
    yield writing
    edit = step_of(workbench.catalog, proposals)
    yield writing
    return edit, _written(workbench, edit)


def _written(workbench: Workbench, edit: Edit) -> OwnFacts:
    """Write a step, and lay the facts after it over the catalog, ready to be put in force."""
    facts = workbench.own.write(edit)
    workbench.prepare(facts)
    return facts


def take(
    workbench: Workbench, found: Import, proposal: Proposal, wishes: Wishes
) -> Steps[tuple[Edit, OwnFacts, Proposal]]:
    """Write one proposal as the user wants it; return the step, the facts after it, and what was written."""
    made = yield from revised(found, proposal, wishes, workbench.catalog)
    edit, facts = yield from write(workbench, [made])
    return edit, facts, made


def take_pack(
    workbench: Workbench, found: Import, chosen: Collection[Key], signer: Signer | None
) -> Steps[tuple[Edit, OwnFacts]]:
    """Write the chosen rows of a pack as one step; return it and the facts after it.

    `signer` is trusted from then on. Where it raises `InputError`, no fact was written.
    """
    from gpudesk.workbench.pack import pack_edit

    if found.pack is None:
        raise ValueError("only packs are taken by rows")
    writing = Progress(message("import.writing", name=found.pack.name))
    yield writing
    edit = pack_edit(found.pack, found.rows, chosen, workbench.catalog)
    yield writing
    if signer is not None:
        # Before the facts: once they are written, nothing may come between them and being in force.
        workbench.own.trust(signer)
    return edit, _written(workbench, edit)
