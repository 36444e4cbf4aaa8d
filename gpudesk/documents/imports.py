"""Import of user facts: proposals from files, with answers and overrides of the user, written as one step."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from gpudesk.catalog.importing.fields import describe_missing_field
from gpudesk.catalog.importing.proposals import (
    check_new_id,
    find_free_id,
    get_subject,
    rename_subject,
    retitle_source,
    set_organization,
)
from gpudesk.catalog.model_definition import parse_model
from gpudesk.catalog.price_ranges import summarize_prices
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.edits import add_facts
from gpudesk.catalog.user_store.entry import check_optional_date, check_optional_line
from gpudesk.documents.offered_files import (
    CONFIG,
    ImportKind,
    OfferedFile,
    describe_reading,
    open_offered_file,
    read_tensor_headers,
)
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.field_checks import JSON_KINDS, quote_value
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.user_facts import (
    FactEdit,
    FactKey,
    ImportedModelFigures,
    ImportedPriceFigures,
    ImportPreviewFigures,
    ImportProposal,
    MissingImportField,
    UserAccelerator,
    UserFact,
    UserFacts,
    UserModel,
    UserPrice,
    UserSystem,
    get_fact_key,
)
from gpudesk.engine.memory import compute_cache_profile
from gpudesk.engine.tensors import count_active_parameters, count_parameters
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, input_error, message

if TYPE_CHECKING:
    from gpudesk.catalog.user_store.user_catalog import UserCatalog
    from gpudesk.domain.user_facts import FactPack, PackRow, TrustedSigner


def compute_import_figures(proposal: ImportProposal, catalog: Catalog) -> ImportPreviewFigures:
    """Return the figures of a model, an accelerator, a system or a price list; empty for a pack."""
    subject = get_subject(proposal)
    if isinstance(subject, UserModel):
        return ImportPreviewFigures(model=compute_model_figures(parse_model(json.loads(subject.definition))))
    if isinstance(subject, UserAccelerator | UserSystem):
        alone = catalog.with_user_facts(UserFacts.of(proposal.facts))
        return ImportPreviewFigures(attributes=alone.attributes(subject.id))
    return ImportPreviewFigures(prices=compute_price_figures(proposal, catalog))


def compute_model_figures(model: Model) -> ImportedModelFigures:
    """Return the parameters of a model and its cache size with two bytes per number."""
    cache = compute_cache_profile(model, Precision.BF16, ParallelPlan())
    windowed = [growth for growth in cache.stored if growth.window is not None]
    return ImportedModelFigures(
        layers=model.layer_count,
        hidden_size=model.hidden_size,
        vocab_size=model.vocab_size,
        max_context=model.max_context,
        parameters=count_parameters(model),
        active_parameters=count_active_parameters(model),
        kv_bytes_per_token=sum(growth.per_token for growth in cache.stored if growth.window is None),
        windowed_bytes_per_token=sum(growth.per_token for growth in windowed),
        window=max((growth.window for growth in windowed if growth.window is not None), default=None),
        state_bytes=cache.state_bytes,
        precision=None if model.native_precision is None else model.native_precision.value,
    )


def compute_price_figures(proposal: ImportProposal, catalog: Catalog) -> tuple[ImportedPriceFigures, ...]:
    """Return the price ranges by accelerator and term, in the order of the catalog."""
    prices = (fact for fact in proposal.facts if isinstance(fact, UserPrice))
    names = {thing.id: thing.name for thing in catalog.things()}
    order = {thing: place for place, thing in enumerate(names)}
    summaries = sorted(summarize_prices(prices), key=lambda each: order.get(each.accelerator, len(order)))
    return tuple(ImportedPriceFigures(names.get(each.accelerator, each.accelerator), each) for each in summaries)


_T = TypeVar("_T")

#: Folder names in a download cache: models--OWNER--NAME/snapshots/DIGEST.
_CACHE: Final = "models--"
_DIGEST: Final = re.compile(r"[0-9a-f]{40}")

#: The user's answers for fields that a file does not state.
FieldAnswers = Mapping[str, object]


@frozen_dataclass
class FileImport:
    """The content that one file would import.

    `complete` fills in missing fields from answers; `reread` applies a provider and a date to prices, which are part of
    their identity. The rows of a pack are chosen one by one: its proposal is empty. `figures` are those of prices:
    computing them for a long list is too slow for the window's thread.
    """

    path: Path
    kind: ImportKind
    proposal: ImportProposal
    complete: Callable[[FieldAnswers], ImportProposal] | None = None
    reread: Callable[[str | None, str | None], ProgressSteps[ImportProposal]] | None = None
    figures: ImportPreviewFigures | None = None
    pack: FactPack | None = None
    rows: tuple[PackRow, ...] = ()


def propose_imports(paths: Sequence[Path], catalog: Catalog, *, today: str) -> ProgressSteps[tuple[FileImport, ...]]:
    """Read files and return their proposals; of files that belong together one is enough.

    Raises `InputError`, which names the file, for the first unusable one.
    """
    imports: dict[Path, FileImport] = {}
    for number, path in enumerate(paths):
        yield JobProgress(describe_reading(path.name), number, len(paths) if len(paths) > 1 else 0)
        file = open_offered_file(path)
        if file.path not in imports:
            imports[file.path] = yield from _read_import(file, catalog, today)
    return tuple(imports.values())


def _read_import(file: OfferedFile, catalog: Catalog, today: str) -> ProgressSteps[FileImport]:
    try:
        file_import = yield from _READERS[file.kind](file, catalog, today)
    except InputError as error:
        place = file.path.name if error.where in (None, str(file.path)) else f"{file.path.name}, {error.where}"
        raise InputError(error.problem, place) from error
    return file_import


def _read_config(file: OfferedFile, catalog: Catalog, today: str) -> ProgressSteps[FileImport]:
    from gpudesk.catalog.importing.huggingface.checkpoint import read_checkpoint_in_steps
    from gpudesk.catalog.importing.huggingface.reader import propose_model
    from gpudesk.engine.tensors import count_parameters

    yield JobProgress(describe_reading(file.path.name))
    # A configuration with an individual file name says more than its folder.
    name = find_model_name(file.path.parent) if file.path.name == CONFIG else file.path.stem
    headers = (yield from read_tensor_headers(file.path.parent)) if file.path.name == CONFIG else {}
    reading = describe_reading(file.path.name)
    checkpoint = yield from _report_progress(read_checkpoint_in_steps({**file.siblings, **headers}), reading)

    def complete(answers: FieldAnswers) -> ImportProposal:
        proposal = propose_model(
            file.raw,
            answers=answers,
            siblings=file.siblings,
            name=name,
            today=today,
            parameters_of=count_parameters,
            checkpoint=checkpoint,
        )
        return assign_free_id(proposal, catalog)

    return FileImport(file.path, file.kind, complete({}), complete)


def _read_gguf(file: OfferedFile, catalog: Catalog, today: str) -> ProgressSteps[FileImport]:
    from gpudesk.catalog.importing.gguf_model import propose_gguf

    yield JobProgress(describe_reading(file.path.name))

    def complete(answers: FieldAnswers) -> ImportProposal:
        return assign_free_id(propose_gguf(file.path, answers, today=today), catalog)

    return FileImport(file.path, file.kind, complete({}), complete)


def _read_accelerator(file: OfferedFile, catalog: Catalog, today: str) -> ProgressSteps[FileImport]:
    from gpudesk.catalog.importing.entry_reader import propose_accelerator

    yield JobProgress(describe_reading(file.path.name))
    generations = sorted({part.generation for part in catalog.accelerators()})

    def complete(answers: FieldAnswers) -> ImportProposal:
        proposal = propose_accelerator(file.raw, answers, name=file.path.name, today=today, generations=generations)
        return assign_free_id(proposal, catalog)

    return FileImport(file.path, file.kind, complete({}), complete)


def _read_system(file: OfferedFile, catalog: Catalog, today: str) -> ProgressSteps[FileImport]:
    from gpudesk.catalog.importing.entry_reader import propose_system

    yield JobProgress(describe_reading(file.path.name))
    proposal = propose_system(file.raw, name=file.path.name, today=today, catalog=catalog)
    return FileImport(file.path, file.kind, assign_free_id(proposal, catalog))


def _read_prices(file: OfferedFile, catalog: Catalog, today: str) -> ProgressSteps[FileImport]:
    from gpudesk.catalog.importing.price_lists import find_provider_in_name, propose_prices

    # SkyPilot's lists of all providers have the same name, in one folder per provider.
    folder_provider = find_provider_in_name("/".join(file.path.absolute().parts[-2:]))
    parts = {part.id: part.name for part in catalog.accelerators()}

    def read_prices(provider: str | None, date: str | None) -> ProgressSteps[ImportProposal]:
        name = file.path.name
        provider = provider or folder_provider
        steps = propose_prices(file.raw, name=name, today=today, provider=provider, date=date, parts=parts)
        return _report_progress(steps, message("import.prices", "Prices of {file}", file=name))

    proposal = yield from read_prices(None, None)
    figures = compute_import_figures(proposal, catalog)
    return FileImport(file.path, file.kind, proposal, reread=read_prices, figures=figures)


def _report_progress(steps: Generator[tuple[int, int], None, _T], what: Message) -> ProgressSteps[_T]:
    while True:
        try:
            finished_steps, total = next(steps)
        except StopIteration as end:
            result: _T = end.value
            return result
        yield JobProgress(what, finished_steps, total)


def _read_pack_import(file: OfferedFile, catalog: Catalog, _today: str) -> ProgressSteps[FileImport]:
    from gpudesk.documents.packs import preview_pack, read_pack

    yield JobProgress(describe_reading(file.path.name))
    pack = _read_carried_pack(file.path) if file.kind is ImportKind.SCENARIO else read_pack(file.raw)
    yield JobProgress(describe_reading(file.path.name))
    rows = preview_pack(pack, catalog)
    return FileImport(file.path, file.kind, ImportProposal("pack", pack.name, ()), pack=pack, rows=rows)


def _read_carried_pack(path: Path) -> FactPack:
    from gpudesk.documents.packs import make_carried_pack
    from gpudesk.documents.scenario_file import read_scenario

    pack = make_carried_pack(read_scenario(path))
    if pack is None:
        raise input_error("import.carries_nothing", "is a scenario without custom values; open it instead")
    return pack


_READERS: Final[Mapping[ImportKind, Callable[[OfferedFile, Catalog, str], ProgressSteps[FileImport]]]] = {
    ImportKind.CONFIG: _read_config,
    ImportKind.GGUF: _read_gguf,
    ImportKind.ACCELERATOR: _read_accelerator,
    ImportKind.SYSTEM: _read_system,
    ImportKind.PRICES: _read_prices,
    ImportKind.PACK: _read_pack_import,
    ImportKind.SCENARIO: _read_pack_import,
}


def find_model_name(folder: Path) -> str:
    """Return the name of a model by its folder; in a download cache, after its maker."""
    place = folder.absolute()
    if _DIGEST.fullmatch(place.name) and place.parent.name == "snapshots":
        place = place.parent.parent
    if not place.name.startswith(_CACHE):
        return place.name
    return place.name.removeprefix(_CACHE).replace("--", "/", 1)


def assign_free_id(proposal: ImportProposal, catalog: Catalog) -> ImportProposal:
    subject = get_subject(proposal)
    shipped = {thing.id for thing in catalog.things() if not thing.own}
    if subject is None or subject.id not in shipped:
        return proposal
    return rename_subject(proposal, find_free_id(subject.id, shipped), subject.name)


_YES: Final = frozenset({"yes", "true", "1"})
_NO: Final = frozenset({"no", "false", "0"})
#: Maximum characters of the name of a step.
_LONGEST_STEP: Final = 200


@frozen_dataclass
class ImportOverrides:
    """The user's overrides of a file's content, `title` for its source; empty fields keep the file's."""

    id: str = ""
    name: str = ""
    organisation: str = ""
    title: str = ""
    provider: str = ""
    date: str = ""


def revise_proposal(
    file_import: FileImport, proposal: ImportProposal, wishes: ImportOverrides, catalog: Catalog
) -> ProgressSteps[ImportProposal]:
    """Return a proposal with the user's overrides; raises `InputError` at the faulty field."""
    provider, date = (check_optional_line("provider", wishes.provider), check_optional_date("date", wishes.date))
    if file_import.reread is not None and (provider or date):
        proposal = yield from file_import.reread(provider, date)
    subject = get_subject(proposal)
    if subject is not None:
        new_id = wishes.id.strip() or subject.id
        check_new_id(new_id, {thing.id for thing in catalog.things() if not thing.own})
        proposal = rename_subject(proposal, new_id, wishes.name or subject.name)
    if wishes.organisation.strip():
        proposal = set_organization(proposal, wishes.organisation)
    return retitle_source(proposal, wishes.title) if wishes.title.strip() else proposal


def apply_answers(file_import: FileImport, user_answers: Mapping[str, str]) -> ImportProposal:
    """Return a file's proposal with the user's answers, as text, for missing fields.

    Raises `InputError` that names the fields still missing, or the invalid answer.
    """
    proposal, answers = file_import.proposal, dict[str, object]()
    while proposal.missing:
        still = tuple(field.name for field in proposal.missing if field.name not in user_answers)
        fresh = [field for field in proposal.missing if field.name not in answers]
        if still or not fresh or file_import.complete is None:
            names = still or tuple(field.name for field in proposal.missing)
            raise input_error(
                "import.fields_missing",
                "lacks {fields}; add --answer FIELD=VALUE for each, or import it in the window",
                file_import.path.name,
                fields=tuple(describe_missing_field(field) for field in proposal.missing if field.name in names),
            )
        answers |= {field.name: _parse_answer(field, user_answers[field.name]) for field in fresh}
        proposal = file_import.complete(answers)
    return proposal


def _parse_answer(field: MissingImportField, text: str) -> object:
    try:
        if field.kind == "whole":
            return int(text)
        if field.kind == "number":
            return float(text)
    except ValueError:
        raise _make_answer_error(field, text) from None
    if field.kind == "yes_no":
        if text.lower() not in _YES | _NO:
            raise _make_answer_error(field, text)
        return text.lower() in _YES
    if field.choices and text not in field.choices:
        raise input_error(
            "import.choice",
            "{given} is not one of: {choices}",
            field.name,
            given=quote_value(text),
            choices=field.choices,
        )
    return text


def _make_answer_error(field: MissingImportField, text: str) -> InputError:
    kind = "boolean" if field.kind == "yes_no" else field.kind
    return input_error(
        "import.answer",
        "expected {wanted}, found {given}",
        field.name,
        given=quote_value(text),
        wanted=JSON_KINDS[kind],
    )


def make_import_step(catalog: Catalog, proposals: Sequence[ImportProposal]) -> FactEdit:
    """Return one step with all facts of some proposals; raises `InputError` for an invalid one, or if none is new."""
    facts = [fact for proposal in proposals for fact in proposal.facts]
    if not any(count_new_facts(proposal, catalog.user_facts) for proposal in proposals):
        raise input_error(
            "import.nothing_new", "contains nothing new: it is already in your catalog", proposals[0].name
        )
    return add_facts(catalog, facts, ", ".join(proposal.name for proposal in proposals)[:_LONGEST_STEP])


def count_new_facts(proposal: ImportProposal, user_facts: UserFacts) -> int:
    """Return how many facts are new to the user; the day of reading does not make a fact new."""
    return sum(
        (user_fact := user_facts.get(*get_fact_key(fact))) is None or _get_content(user_fact) != _get_content(fact)
        for fact in proposal.facts
    )


def _get_content(fact: UserFact) -> tuple[object, ...]:
    return tuple(getattr(fact, field.name) for field in fields(fact) if field.name != "retrieved")


class FactStore(Protocol):
    """The store of facts: the catalog, the user's facts, and the function that previews new ones."""

    catalog: Catalog
    user_catalog: UserCatalog

    def prepare(self, facts: UserFacts) -> None: ...


def write_proposals(store: FactStore, proposals: Sequence[ImportProposal]) -> ProgressSteps[tuple[FactEdit, UserFacts]]:
    """Write all of some proposals to the user's file as one step, not yet in effect.

    Return the step and the facts after it, for `UserCatalog.adopt`. If it raises `InputError`, nothing was written.
    """
    writing = JobProgress(_describe_writing(proposals[0].name))
    yield writing
    edit = make_import_step(store.catalog, proposals)
    yield writing
    return edit, _write_step(store, edit)


def _write_step(store: FactStore, edit: FactEdit) -> UserFacts:
    """Write a step, and prepare the facts after it for the catalog."""
    facts = store.user_catalog.write(edit)
    store.prepare(facts)
    return facts


def apply_import(
    store: FactStore, file_import: FileImport, proposal: ImportProposal, wishes: ImportOverrides
) -> ProgressSteps[tuple[FactEdit, UserFacts, ImportProposal]]:
    """Write one proposal with the user's overrides; return the step, the facts after it, and the written proposal."""
    proposal_now = yield from revise_proposal(file_import, proposal, wishes, store.catalog)
    edit, facts = yield from write_proposals(store, [proposal_now])
    return edit, facts, proposal_now


def apply_pack(
    store: FactStore, file_import: FileImport, chosen: Collection[FactKey], signer: TrustedSigner | None
) -> ProgressSteps[tuple[FactEdit, UserFacts]]:
    """Write the chosen rows of a pack as one step; return it and the facts after it.

    `signer` becomes trusted. If it raises `InputError`, no fact was written.
    """
    from gpudesk.documents.packs import make_pack_edit

    if file_import.pack is None:
        raise ValueError("only packs are taken by rows")
    writing = JobProgress(_describe_writing(file_import.pack.name))
    yield writing
    edit = make_pack_edit(file_import.pack, file_import.rows, chosen, store.catalog)
    yield writing
    if signer is not None:
        # Before the facts: after they are written, nothing must fail before they take effect.
        store.user_catalog.trust(signer)
    return edit, _write_step(store, edit)


def _describe_writing(name: str) -> Message:
    return message("import.writing", "Writing {name}", name=name)
