"""Bringing facts in: what files would bring, for the user to look at. Nothing is written here."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.own_facts import Proposal
from gpudesk.domain.progress import Progress, Steps
from gpudesk.workbench.import_files import CONFIG, FileKind, OfferedFile, offered
from gpudesk.workbench.proposals import free_id, named, subject_of
from gpudesk.workbench.tensor_files import tensor_headers

if TYPE_CHECKING:
    from gpudesk.domain.packs import Pack, PackRow

_T = TypeVar("_T")

#: How the folders of a download cache are named: models--ORGANISATION--NAME/snapshots/DIGEST.
_CACHE: Final = "models--"
_DIGEST: Final = re.compile(r"[0-9a-f]{40}")

#: What the user says of fields that a file does not state.
Answers = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Import:
    """What one file would bring.

    `complete` makes a whole of it from answers, where fields are missing; `reread` takes prices under a
    provider and a date, which are part of what a price is. A pack is decided on row by row: its proposal is
    empty.
    """

    path: Path
    kind: FileKind
    proposal: Proposal
    complete: Callable[[Answers], Proposal] | None = None
    reread: Callable[[str | None, str | None], Steps[Proposal]] | None = None
    pack: Pack | None = None
    rows: tuple[PackRow, ...] = ()


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
    from gpudesk.catalog.importing.hf_checkpoint import checkpoint_steps
    from gpudesk.engine.tensors import parameter_count

    yield Progress(message("import.reading", file=file.path.name))
    # A configuration under a name of its own says more than the folder that it lies in.
    name = name_of_folder(file.path.parent) if file.path.name == CONFIG else file.path.stem
    headers = (yield from tensor_headers(file.path.parent)) if file.path.name == CONFIG else {}
    reading = message("import.reading", file=file.path.name)
    checkpoint = yield from _told(checkpoint_steps({**file.beside, **headers}), reading)

    def complete(answers: Answers) -> Proposal:
        made = complete_model(
            file.raw,
            answers=answers,
            beside=file.beside,
            name=name,
            today=today,
            parameters_of=parameter_count,
            checkpoint=checkpoint,
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
    from gpudesk.catalog.importing.accelerator_json import complete_accelerator

    yield Progress(message("import.reading", file=file.path.name))
    generations = sorted({part.generation for part in catalog.accelerators()})

    def complete(answers: Answers) -> Proposal:
        made = complete_accelerator(
            file.raw, answers, name=file.path.name, today=today, generations=generations
        )
        return freed(made, catalog)

    return Import(file.path, file.kind, complete({}), complete)


def _prices(file: OfferedFile, catalog: Catalog, today: str) -> Steps[Import]:
    from gpudesk.catalog.importing.prices import propose_prices

    parts = {part.id: part.name for part in catalog.accelerators()}

    def read(provider: str | None, date: str | None) -> Steps[Proposal]:
        name = file.path.name
        steps = propose_prices(file.raw, name=name, today=today, provider=provider, date=date, parts=parts)
        return _told(steps, message("import.prices", file=name))

    proposal = yield from read(None, None)
    return Import(file.path, file.kind, proposal, reread=read)


def _told(steps: Generator[tuple[int, int], None, _T], what: Message) -> Steps[_T]:
    """Say how far a reader is."""
    while True:
        try:
            done, total = next(steps)
        except StopIteration as end:
            found: _T = end.value
            return found
        yield Progress(what, done, total)


def _pack(file: OfferedFile, catalog: Catalog, _today: str) -> Steps[Import]:
    from gpudesk.workbench.pack import read_pack
    from gpudesk.workbench.pack_preview import preview

    yield Progress(message("import.reading", file=file.path.name))
    pack = read_pack(file.raw)
    yield Progress(message("import.reading", file=file.path.name))
    rows = preview(pack, catalog)
    return Import(file.path, file.kind, Proposal("pack", pack.name, ()), pack=pack, rows=rows)


def _scenario(file: OfferedFile, catalog: Catalog, _today: str) -> Steps[Import]:
    """Look at what a scenario carries as at a pack that nobody signed."""
    from gpudesk.workbench.carried_facts import carried_pack
    from gpudesk.workbench.pack_preview import preview
    from gpudesk.workbench.scenario_file import read_scenario

    yield Progress(message("import.reading", file=file.path.name))
    pack = carried_pack(read_scenario(file.path))
    if pack is None:
        raise InputError(message("import.carries_nothing"))
    rows = preview(pack, catalog)
    return Import(file.path, file.kind, Proposal("pack", pack.name, ()), pack=pack, rows=rows)


_READERS: Final[Mapping[FileKind, Callable[[OfferedFile, Catalog, str], Steps[Import]]]] = {
    FileKind.CONFIG: _config,
    FileKind.GGUF: _gguf,
    FileKind.ACCELERATOR: _accelerator,
    FileKind.PRICES: _prices,
    FileKind.PACK: _pack,
    FileKind.SCENARIO: _scenario,
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
