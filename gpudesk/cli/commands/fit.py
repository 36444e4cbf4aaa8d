"""`gpudesk fit`: the smallest deployment of each accelerator that holds each model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gpudesk.cli import output
from gpudesk.cli.faults import DONE, UsageError
from gpudesk.cli.lists import words
from gpudesk.cli.options import add_json, base_scenario, number, whole
from gpudesk.domain.fit_matrix import FitQuestion, ReadingId
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.precision import Precision
from gpudesk.sheets.fit_words import reading_note
from gpudesk.text import tr, trn

if TYPE_CHECKING:
    from gpudesk.domain.fit_matrix import FitCell
    from gpudesk.domain.models import Model
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.workbench.workbench import Workbench

#: Tokens of a sequence, and sequences in flight, where nothing says how many.
_CONTEXT: Final = 8192
_CONCURRENCY: Final = 1
_ALL: Final = "all"
#: Options that are checked as the fields of a request are, and those that are counts.
_SETTINGS: Final = ("weights", "kv", "serving_engine", "memory_fraction")
_NUMBERS: Final = ("context", "input_tokens", "output_tokens", "concurrency")


class _Asked(NamedTuple):
    """What every pair is asked.

    Without accelerators or models all of the catalog, without `weights` each model in its checkpoint's.
    """

    accelerators: Sequence[str] | None
    models: Sequence[str] | None
    weights: Precision | None
    kv: Precision
    context: int
    concurrency: int
    serving_engine: str | None
    memory_fraction: float | None
    reading: ReadingId | None


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    parser = commands.add_parser(
        "fit",
        help=tr("Say how many of each accelerator hold each model."),
        description=tr(
            "Say how many of each accelerator hold each model, with the requests in flight. Without parts "
            "or models, all of the catalog."
        ),
    )
    parser.add_argument("--scenario", metavar=tr("FILE"), help=tr("parts, model and lengths of a scenario"))
    parser.add_argument("--template", metavar=tr("NAME"), help=tr("those of a ready-made scenario"))
    parser.add_argument(
        "--accelerators",
        metavar="ID,…",
        type=words,
        help=tr("parts, or all; how many of one there are is left open"),
    )
    parser.add_argument("--models", "--model", metavar="ID,…", type=words, help=tr("models, or all"))
    parser.add_argument(
        "--weights", metavar="P", help=tr("precision of the weights; each model's own if omitted")
    )
    parser.add_argument("--kv", metavar="P", help=tr("precision of the KV cache; fp16 if omitted"))
    parser.add_argument(
        "--context", metavar="N", type=whole, help=tr("tokens of a sequence; 8192 if omitted")
    )
    parser.add_argument(
        "--input-tokens", metavar="N", type=whole, help=tr("instead of --context, with --output-tokens")
    )
    parser.add_argument(
        "--output-tokens", metavar="N", type=whole, help=tr("instead of --context, with --input-tokens")
    )
    parser.add_argument(
        "--concurrency", metavar="N", type=whole, help=tr("sequences in flight; 1 if omitted")
    )
    parser.add_argument("--serving-engine", metavar="ID", help=tr("the best for each pair if omitted"))
    parser.add_argument(
        "--memory-fraction", metavar="F", type=number, help=tr("the serving engine's setting")
    )
    parser.add_argument(
        "--reading",
        choices=[each.value for each in ReadingId],
        metavar="|".join(ReadingId),
        help=tr(
            "count weights alone by a reading of the memory label, as printed tables do; for checking them"
        ),
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Find the deployments."""
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        asked = _asked(options, base_scenario(options, workbench))
        _show(_cells(asked, workbench), asked, workbench, as_json=options.json)
    return DONE


def _asked(options: argparse.Namespace, base: Scenario | None) -> _Asked:
    """Return what the options ask for, over what the scenario does."""
    stated = _checked(options)
    parts, models = _named(options.accelerators), _named(options.models)
    context, concurrency = _context(options), options.concurrency
    if base is not None:
        workload, load = base.workload, base.workload.load
        stated = {name: getattr(base, name) for name in _SETTINGS} | stated
        parts = parts or tuple(dict.fromkeys(choice.accelerator for choice in base.accelerators))
        models = models or (base.model,)
        context = context or workload.input_tokens + workload.output_tokens
        concurrency = concurrency or load.concurrency or load.batch
    return _Asked(
        accelerators=None if parts == (_ALL,) else parts,
        models=None if models == (_ALL,) else models,
        weights=stated.get("weights"),
        kv=stated.get("kv") or Precision.FP16,
        context=context or _CONTEXT,
        concurrency=concurrency or _CONCURRENCY,
        serving_engine=stated.get("serving_engine"),
        memory_fraction=stated.get("memory_fraction"),
        reading=None if options.reading is None else ReadingId(options.reading),
    )


def _checked(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that options give; raises `InputError` that names the option."""
    from gpudesk.workbench.fields import whole as whole_field
    from gpudesk.workbench.requests import MOST_TOKENS, REQUEST_FIELDS

    checks = {name: REQUEST_FIELDS[name][1] for name in _SETTINGS}
    checks |= dict.fromkeys(_NUMBERS, whole_field(1, MOST_TOKENS))
    given = {name: getattr(options, name) for name in checks if getattr(options, name) is not None}
    checked = {name: checks[name]("--" + name.replace("_", "-"), value) for name, value in given.items()}
    return {name: value for name, value in checked.items() if name in _SETTINGS}


def _context(options: argparse.Namespace) -> int | None:
    """Return the tokens of a sequence as options give them; None where none does."""
    lengths = [each for each in (options.input_tokens, options.output_tokens) if each is not None]
    if lengths and options.context is not None:
        raise UsageError(tr("--context stands for input and output tokens together; give it or these"))
    if len(lengths) == 1:
        raise UsageError(tr("--input-tokens and --output-tokens go together; give both, or --context"))
    context: int | None = options.context
    return sum(lengths) if lengths else context


def _named(ids: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return ids without the counts that may follow them: counts are what is looked for."""
    return None if ids is None else tuple(dict.fromkeys(each.partition(":")[0] for each in ids))


def _cells(asked: _Asked, workbench: Workbench) -> list[FitCell]:
    """Return the cells of all pairs, model by model in the order asked."""
    catalog = workbench.catalog
    models = catalog.models() if asked.models is None else [catalog.model(each) for each in asked.models]
    cells: dict[str, tuple[FitCell, ...]] = {}
    for weights, group in _by_format(models, asked.weights).items():
        question = FitQuestion(
            weights, asked.kv, asked.context, asked.concurrency, asked.serving_engine, asked.memory_fraction
        )
        rows = _rows(question, asked, group, workbench)
        cells |= {model.id: row for model, row in zip(group, rows, strict=True)}
    return [cell for model in models for cell in cells[model.id]]


def _rows(
    question: FitQuestion, asked: _Asked, models: Sequence[Model], workbench: Workbench
) -> tuple[tuple[FitCell, ...], ...]:
    if asked.reading is None:
        return workbench.fit_matrix(question, asked.accelerators, [model.id for model in models]).rows
    from gpudesk.workbench.fit_readings import parameters_of, reading_matrix

    catalog = workbench.catalog
    parts = catalog.accelerators()
    if asked.accelerators is not None:
        parts = tuple(catalog.accelerator(each) for each in asked.accelerators)
    known = parameters_of(catalog, models)
    return reading_matrix(asked.reading, question, parts, models, known).rows


def _by_format(models: Sequence[Model], weights: Precision | None) -> dict[Precision, list[Model]]:
    groups: dict[Precision, list[Model]] = {}
    for model in models:
        groups.setdefault(weights or model.native_precision or Precision.FP16, []).append(model)
    return groups


def _show(cells: Sequence[FitCell], asked: _Asked, workbench: Workbench, *, as_json: bool) -> None:
    """Write the cells to standard output."""
    catalog = workbench.catalog
    asked_of = set() if asked.reading is not None else {cell.model for cell in cells}
    longest = {
        model.name: (model.id, model.max_context)
        for model in catalog.models()
        if model.id in asked_of and model.max_context is not None and model.max_context < asked.context
    }
    if as_json:
        from gpudesk.sheets.fit_json import fit_fields

        beyond = {model for model, _ in longest.values()}
        output.say_json(fit_fields(cells, asked.context, asked.concurrency, beyond))
        return
    from gpudesk.cli.fit_text import fit_lines

    parts = {part.id: part.name for part in catalog.accelerators()}
    models = {model.id: model.name for model in catalog.models()}
    formatter = Formatter()
    output.say(_asked_text(asked, formatter))
    output.say()
    for line in fit_lines(cells, parts, models, formatter, output.width(), output.strong):
        output.say(line)
    for name, (_, most) in longest.items():
        n = formatter.count(most)
        output.say(tr("{model} reads {n} tokens at the most.", model=name, n=n))


def _asked_text(asked: _Asked, formatter: Formatter) -> str:
    if asked.reading is not None:
        return f"{reading_note(asked.reading)}."
    return trn(
        "{n} sequence of {tokens} tokens in flight",
        "{n} sequences of {tokens} tokens in flight",
        asked.concurrency,
        n=formatter.count(asked.concurrency),
        tokens=formatter.count(asked.context),
    )
