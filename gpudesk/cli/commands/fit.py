"""`gpudesk fit`: the smallest deployment of each accelerator that holds each model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gpudesk.cli import output
from gpudesk.cli.diffusion import add_diffusion_options, fit_diffusion, is_about_diffusion
from gpudesk.cli.options import (
    add_options,
    add_words,
    finish_command,
    load_base_scenario,
    open_service,
    parse_number,
    parse_whole,
    split_list,
)
from gpudesk.cli.output import EXIT_DONE, UsageError
from gpudesk.domain.estimate import format_plan
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import CapacityReadingId, FitCell, FitQuestion
from gpudesk.report.labels import label_precision, label_serving_engine, list_model_warnings
from gpudesk.report.sizing import describe_reading
from gpudesk.report.writers.text import align_table
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.domain.answer import Scenario
    from gpudesk.domain.model import Model
    from gpudesk.service import GpuDeskService


def list_fit_lines(
    cells: Sequence[FitCell], parts: Mapping[str, str], models: Mapping[str, str], formatter: Formatter, width: int
) -> Iterator[str]:
    head = (tr("Model"), tr("Weights"), tr("Accelerator"), tr("Count"), tr("Free GiB"), tr("Plan, or reason"))
    rows = [
        (
            models[cell.model],
            label_precision(cell.weights),
            parts[cell.accelerator],
            formatter.count(cell.count),
            MISSING_VALUE_TEXT if cell.headroom_bytes is None else formatter.gib(cell.headroom_bytes),
            _describe_cell(cell, formatter),
        )
        for cell in cells
    ]
    yield from align_table(head, rows, width, right=(3, 4), strong=output.make_bold)


def _describe_cell(cell: FitCell, formatter: Formatter) -> str:
    if cell.plan is None:
        return "" if cell.reason is None else format_message(cell.reason, formatter)
    engine = "" if cell.serving_engine is None else label_serving_engine(cell.serving_engine)
    return tr("{plan}, {engine}", plan=format_plan(cell.plan), engine=engine)


#: Default tokens of a sequence, and sequences in flight.
_CONTEXT: Final = 8192
_CONCURRENCY: Final = 1
_ALL: Final = "all"
#: Options checked like the fields of a request, and those that are counts.
_SETTINGS: Final = ("weights", "kv", "serving_engine", "memory_fraction")
_NUMBERS: Final = ("context", "input_tokens", "output_tokens", "concurrency")


class _FitQuestion(NamedTuple):
    """The question for every pair.

    Without accelerators or models the whole catalog, without `weights` each model in its checkpoint's format, else in
    that of `common`.
    """

    accelerators: Sequence[str] | None
    models: Sequence[str] | None
    weights: Precision | None
    common: FitQuestion
    reading: CapacityReadingId | None


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    parser = commands.add_parser(
        "fit",
        help=tr("Compute how many accelerators each model needs to fit."),
        description=tr(
            "Compute how many accelerators each model needs to fit in memory with its requests in "
            "flight. The default is every model on every accelerator."
        ),
    )
    add_options(
        parser,
        ("--scenario", tr("FILE"), str, tr("scenario file for accelerators, model and lengths")),
        ("--template", tr("NAME"), str, tr("ready-made scenario for accelerators, model and lengths")),
        ("--accelerators --accelerator", "ID,…", split_list, tr("accelerator ids without counts, or all")),
        ("--models --model", "ID,…", split_list, tr("model ids, or all")),
        ("--weights", tr("PRECISION"), str, tr("weight precision (default: native precision of the model)")),
        ("--kv", tr("PRECISION"), str, tr("KV cache precision (default: fp16)")),
        ("--context", tr("TOKENS"), parse_whole, tr("context length in tokens (default: 8192)")),
        ("--input-tokens", tr("TOKENS"), parse_whole, tr("input tokens per request, instead of --context")),
        ("--output-tokens", tr("TOKENS"), parse_whole, tr("output tokens per request, instead of --context")),
        ("--concurrency", "N", parse_whole, tr("requests in flight (default: 1)")),
        ("--serving-engine", "ID", str, tr("serving engine (default: best for each pair)")),
        (
            "--memory-fraction",
            tr("FRACTION"),
            parse_number,
            tr("fraction of memory that the engine may use (default: engine setting)"),
        ),
    )
    text = tr("count only weights, by this reading of memory sizes, to check published tables")
    add_words(parser, "--reading", CapacityReadingId, text)
    add_diffusion_options(parser)
    finish_command(parser, run)


def run(options: argparse.Namespace) -> int:
    with open_service(options) as service:
        if is_about_diffusion(options, options.models or (), service):
            parts = _strip_counts(options.accelerators)
            if parts in (None, (_ALL,)):
                parts = tuple(part.id for part in service.catalog.accelerators())
            return fit_diffusion(options, options.models, parts or (), service)
        question = _parse_question(options, load_base_scenario(options, service))
        _show(_compute_cells(question, service), question, service, as_json=options.json)
    return EXIT_DONE


def _parse_question(options: argparse.Namespace, base: Scenario | None) -> _FitQuestion:
    from gpudesk.domain.field_checks import accept_whole as whole_field
    from gpudesk.estimation.request_fields import MOST_TOKENS, REQUEST_FIELDS

    checks = {name: REQUEST_FIELDS[name] for name in _SETTINGS}
    checks |= dict.fromkeys(_NUMBERS, whole_field(1, MOST_TOKENS))
    limits = {name: getattr(options, name) for name in checks if getattr(options, name) is not None}
    checked = {name: checks[name]("--" + name.replace("_", "-"), value) for name, value in limits.items()}
    settings = {name: value for name, value in checked.items() if name in _SETTINGS}
    parts, models = _strip_counts(options.accelerators), _strip_counts(options.models)
    context, concurrency = _read_context(options), options.concurrency
    if base is not None:
        workload, load = base.workload, base.workload.load
        settings = {name: getattr(base, name) for name in _SETTINGS} | settings
        parts = parts or tuple(dict.fromkeys(choice.accelerator for choice in base.accelerators))
        models = models or (base.model,)
        context = context or workload.input_tokens + workload.output_tokens
        concurrency = concurrency or load.concurrency or load.batch
    return _FitQuestion(
        accelerators=None if parts == (_ALL,) else parts,
        models=None if models == (_ALL,) else models,
        weights=settings.get("weights"),
        common=FitQuestion(
            Precision.FP16,
            settings.get("kv") or Precision.FP16,
            context or _CONTEXT,
            concurrency or _CONCURRENCY,
            settings.get("serving_engine"),
            settings.get("memory_fraction"),
        ),
        reading=None if options.reading is None else CapacityReadingId(options.reading),
    )


def _read_context(options: argparse.Namespace) -> int | None:
    """Return the tokens of a sequence from the options; None without one."""
    lengths = [each for each in (options.input_tokens, options.output_tokens) if each is not None]
    if lengths and options.context is not None:
        raise UsageError(tr("--context is input plus output tokens; use either --context or both token options"))
    if len(lengths) == 1:
        raise UsageError(tr("--input-tokens and --output-tokens are required together; or use --context"))
    context: int | None = options.context
    return sum(lengths) if lengths else context


def _strip_counts(ids: Sequence[str] | None) -> tuple[str, ...] | None:
    """Remove counts from ids: counts are what is computed."""
    return None if ids is None else tuple(dict.fromkeys(each.partition(":")[0] for each in ids))


def _compute_cells(fit_question: _FitQuestion, service: GpuDeskService) -> list[FitCell]:
    catalog = service.catalog
    models = catalog.models() if fit_question.models is None else [catalog.model(each) for each in fit_question.models]
    cells: dict[str, tuple[FitCell, ...]] = {}
    groups: dict[Precision, list[Model]] = {}
    for model in models:
        weights = fit_question.weights or model.native_precision or fit_question.common.weights
        groups.setdefault(weights, []).append(model)
    for weights, group in groups.items():
        rows = _compute_rows(replace(fit_question.common, weights=weights), fit_question, group, service)
        cells |= {model.id: row for model, row in zip(group, rows, strict=True)}
    return [cell for model in models for cell in cells[model.id]]


def _compute_rows(
    question: FitQuestion, fit_question: _FitQuestion, models: Sequence[Model], service: GpuDeskService
) -> tuple[tuple[FitCell, ...], ...]:
    if fit_question.reading is None:
        return service.fit_matrix(question, fit_question.accelerators, [model.id for model in models]).rows
    from gpudesk.estimation.sizing.fit_matrix import compute_reading_matrix, count_model_parameters

    catalog = service.catalog
    parts = catalog.accelerators()
    if fit_question.accelerators is not None:
        parts = tuple(catalog.accelerator(each) for each in fit_question.accelerators)
    parameters = count_model_parameters(catalog, models)
    return compute_reading_matrix(fit_question.reading, question, parts, models, parameters).rows


def _show(cells: Sequence[FitCell], question: _FitQuestion, service: GpuDeskService, *, as_json: bool) -> None:
    catalog = service.catalog
    asked_of = set() if question.reading is not None else {cell.model for cell in cells}
    longest = {
        model.name: (model.id, model.max_context)
        for model in catalog.models()
        if model.id in asked_of and model.max_context is not None and model.max_context < question.common.context
    }
    if as_json:
        from gpudesk.report.writers.json_values import encode_fit_matrix

        beyond = {model for model, _ in longest.values()}
        output.print_json(encode_fit_matrix(cells, question.common.context, question.common.concurrency, beyond))
        return

    parts = {part.id: part.name for part in catalog.accelerators()}
    models = {model.id: model.name for model in catalog.models()}
    model_ids = {cell.model for cell in cells}
    formatter = Formatter()
    output.print_line(_describe_request(question, formatter))
    output.print_line()
    output.print_lines(list_fit_lines(cells, parts, models, formatter, output.get_terminal_width()))
    for name, (_, most) in longest.items():
        n = formatter.count(most)
        output.print_line(tr("{model} supports at most {n} tokens.", model=name, n=n))
    for model in catalog.models():
        for warning in list_model_warnings(model, formatter) if model.id in model_ids else ():
            output.print_line(f"{warning}.")


def _describe_request(question: _FitQuestion, formatter: Formatter) -> str:
    if question.reading is not None:
        return f"{describe_reading(question.reading)}."
    return trn(
        "{n} sequence of {tokens} tokens in flight",
        "{n} sequences of {tokens} tokens in flight",
        question.common.concurrency,
        n=formatter.count(question.common.concurrency),
        tokens=formatter.count(question.common.context),
    )
