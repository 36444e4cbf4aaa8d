"""Bringing facts in: what files would bring, for the user to look at; then one step that writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit, MissingField, OwnFacts, Proposal
from gpudesk.domain.progress import Progress, Steps
from gpudesk.workbench.fields import quoted
from gpudesk.workbench.import_files import FileKind, OfferedFile, offered
from gpudesk.workbench.own_checks import optional_date, optional_line
from gpudesk.workbench.own_edits import add
from gpudesk.workbench.proposals import check_id, free_id, named, subject_of, titled

if TYPE_CHECKING:
    from gpudesk.domain.packs import Pack
    from gpudesk.workbench.own_catalog import OwnCatalog

#: How the folders of a download cache are named: models--ORGANISATION--NAME/snapshots/DIGEST.
_CACHE: Final = "models--"
_DIGEST: Final = re.compile(r"[0-9a-f]{40}")

_YES: Final = frozenset({"yes", "true", "1"})
_NO: Final = frozenset({"no", "false", "0"})
#: Characters of the name of a step, at most.
_LONGEST_STEP: Final = 200

#: What the user says of fields that a file does not state.
Answers = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Import:
    """What one file would bring.

    `complete` makes a whole of it from answers, where fields are missing; `reread` takes prices under a
    provider and a date, which are part of what a price is. A pack is not decided on as a whole: its proposal
    is empty.
    """

    path: Path
    kind: FileKind
    proposal: Proposal
    complete: Callable[[Answers], Proposal] | None = None
    reread: Callable[[str | None, str | None], Steps[Proposal]] | None = None
    pack: Pack | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants otherwise than the file has it, `title` of its source; empty is as it comes."""

    id: str = ""
    name: str = ""
    title: str = ""
    provider: str = ""
    date: str = ""


def propose(paths: Sequence[Path], catalog: Catalog, *, today: str) -> Steps[tuple[Import, ...]]:
    """Read files and return what each would bring; of files that belong together one is enough.

    Raises `InputError` for the first that cannot be used, which names the file.
    """
    found: dict[Path, Import] = {}
    for number, path in enumerate(paths):
        yield Progress(message("import.reading", file=path.name), number, len(paths) if len(paths) > 1 else 0)
        file = offered(path)
        if file.path not in found:
            found[file.path] = yield from _import_of(file, catalog, today)
    return tuple(found.values())


def _import_of(file: OfferedFile, catalog: Catalog, today: str) -> Steps[Import]:
    try:
        made = yield from _READERS[file.kind](file, catalog, today)
    except InputError as error:
        place = (
            file.path.name if error.where in (None, str(file.path)) else f"{file.path.name}, {error.where}"
        )
        raise InputError(error.problem, place) from error
    return made


def _config(file: OfferedFile, catalog: Catalog, today: str) -> Steps[Import]:
    from gpudesk.catalog.importing.hf import complete_model
    from gpudesk.engine.tensors import parameter_count

    yield Progress(message("import.reading", file=file.path.name))
    name = name_of_folder(file.path.parent)

    def complete(answers: Answers) -> Proposal:
        made = complete_model(
            file.raw,
            answers=answers,
            beside=file.beside,
            name=name,
            today=today,
            parameters_of=parameter_count,
        )
        return freed(made, catalog)

    return Import(file.path, file.kind, complete({}), complete)


def _gguf(file: OfferedFile, catalog: Catalog, today: str) -> Steps[Import]:
    from gpudesk.catalog.importing.gguf import complete_gguf

    yield Progress(message("import.reading", file=file.path.name))

    def complete(answers: Answers) -> Proposal:
        return freed(complete_gguf(file.path, answers, today=today), catalog)

    return Import(file.path, file.kind, complete({}), complete)


def _accelerator(file: OfferedFile, catalog: Catalog, today: str) -> Steps[Import]:
    from gpudesk.catalog.importing.accelerator_json import propose_accelerator

    yield Progress(message("import.reading", file=file.path.name))
    proposal = propose_accelerator(file.raw, name=file.path.name, today=today)
    return Import(file.path, file.kind, freed(proposal, catalog))


def _prices(file: OfferedFile, catalog: Catalog, today: str) -> Steps[Import]:
    from gpudesk.catalog.importing.prices import propose_prices

    parts = {part.id: part.name for part in catalog.accelerators()}

    def read(provider: str | None, date: str | None) -> Steps[Proposal]:
        name = file.path.name
        steps = propose_prices(file.raw, name=name, today=today, provider=provider, date=date, parts=parts)
        return _told(steps, name)

    proposal = yield from read(None, None)
    return Import(file.path, file.kind, proposal, reread=read)


def _told(steps: Generator[tuple[int, int], None, Proposal], name: str) -> Steps[Proposal]:
    """Say how far a reader of rows is."""
    while True:
        try:
            done, total = next(steps)
        except StopIteration as end:
            proposal: Proposal = end.value
            return proposal
        yield Progress(message("import.prices", file=name), done, total)


def _pack(file: OfferedFile, _catalog: Catalog, _today: str) -> Steps[Import]:
    from gpudesk.workbench.pack import read_pack

    yield Progress(message("import.reading", file=file.path.name))
    pack = read_pack(file.raw)
    return Import(file.path, file.kind, Proposal("pack", pack.name, ()), pack=pack)


_READERS: Final[Mapping[FileKind, Callable[[OfferedFile, Catalog, str], Steps[Import]]]] = {
    FileKind.CONFIG: _config,
    FileKind.GGUF: _gguf,
    FileKind.ACCELERATOR: _accelerator,
    FileKind.PRICES: _prices,
    FileKind.PACK: _pack,
}


def name_of_folder(folder: Path) -> str:
    """Return what a model is called by its folder; in a download cache, with its maker before it."""
    place = folder.absolute()
    if _DIGEST.fullmatch(place.name) and place.parent.name == "snapshots":
        place = place.parent.parent
    if not place.name.startswith(_CACHE):
        return place.name
    return place.name.removeprefix(_CACHE).replace("--", "/", 1)


def freed(proposal: Proposal, catalog: Catalog) -> Proposal:
    """Return a proposal under an id that no shipped entry has."""
    subject = subject_of(proposal)
    shipped = {thing.id for thing in catalog.things() if not thing.own}
    if subject is None or subject.id not in shipped:
        return proposal
    return named(proposal, free_id(subject.id, shipped), subject.name)


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


def write(own: OwnCatalog, catalog: Catalog, proposals: Sequence[Proposal]) -> Steps[tuple[Edit, OwnFacts]]:
    """Write all of some proposals to the user's file as one step, which is not in force yet.

    Return the step and the facts after it, for `OwnCatalog.adopt`. Where it raises `InputError`, nothing was
    written.
    """
    yield Progress(message("import.writing", name=proposals[0].name))
    edit = step_of(catalog, proposals)
    yield Progress(message("import.writing", name=proposals[0].name))
    return edit, own.write(edit)


def take(
    own: OwnCatalog, catalog: Catalog, found: Import, proposal: Proposal, wishes: Wishes
) -> Steps[tuple[Edit, OwnFacts, Proposal]]:
    """Write one proposal as the user wants it; return the step, the facts after it, and what was written."""
    made = yield from revised(found, proposal, wishes, catalog)
    edit, facts = yield from write(own, catalog, [made])
    return edit, facts, made
