"""Diffusion models on the command line: options, estimates, and what fits."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.options import add_options, add_words, parse_accelerator_choice, parse_whole
from gpudesk.cli.output import EXIT_AT_FAULT, EXIT_DONE, UsageError, report_error
from gpudesk.domain.diffusion import DiffusionEstimate, DiffusionRequest, DiffusionSoftware
from gpudesk.domain.precision import Precision
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.service import GpuDeskService

#: Options for diffusion models only, and those shared with language models.
_OPTIONS: Final = ("width", "height", "frames", "steps", "software", "sequence_parallel")
_SHARED: Final = frozenset(
    {"accelerators", "model", "models", "weights", "batch_size", "json", "without_user_facts", "command", "run"}
    | {"version", "self_test"}
)
#: Options by the fields of a request.
_FIELD_OPTIONS: Final = {"batch": "--batch-size", "accelerator": "--accelerators", "count": "--accelerators"}


def add_diffusion_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(tr("images and video (diffusion models)"))
    add_options(
        group,
        ("--width", "N", parse_whole, tr("width in pixels (default: model default)")),
        ("--height", "N", parse_whole, tr("height in pixels (default: model default)")),
        ("--frames", "N", parse_whole, tr("frames of a clip (default: model default)")),
        ("--steps", "N", parse_whole, tr("denoising steps (default: model default)")),
    )
    add_words(group, "--software", DiffusionSoftware, tr("how the pipeline runs (default: compiled)"))
    group.add_argument(
        "--sequence-parallel",
        action="store_true",
        default=None,
        help=tr("let all accelerators work on one item instead of an item each"),
    )


def is_about_diffusion(options: argparse.Namespace, models: Sequence[str], service: GpuDeskService) -> bool:
    """Whether a command is about diffusion models; raises `UsageError` if options and models do not match."""
    from gpudesk.estimation.diffusion import is_diffusion_model

    diffusion_flags = [is_diffusion_model(service.catalog, model) for model in models]
    option_names = [name for name, value in vars(options).items() if value not in (None, False)]
    if any(diffusion_flags):
        if not all(diffusion_flags):
            raise UsageError(tr("give diffusion models and language models in separate commands"))
        wrong = [name for name in option_names if name not in _SHARED and name not in _OPTIONS]
        problem = tr("{option} is for language models; remove it for diffusion models", option=_get_option_name(wrong))
    else:
        wrong = [name for name in option_names if name in _OPTIONS]
        problem = tr("{option} is for diffusion models (images and video); remove it", option=_get_option_name(wrong))
    if wrong:
        raise UsageError(problem)
    return any(diffusion_flags)


def _get_option_name(options: Sequence[str]) -> str:
    return "--" + options[0].replace("_", "-") if options else ""


def estimate_diffusion(options: argparse.Namespace, service: GpuDeskService) -> int:
    """Print one estimate for each accelerator; failures are reported in one line each."""
    from gpudesk.report.diffusion import encode_diffusion_estimate, list_diffusion_facts, list_diffusion_notes
    from gpudesk.report.writers.text import list_labeled_lines, wrap_text

    if not options.accelerators:
        raise UsageError(tr("no accelerator given; use --accelerators"))
    code, formatter, width, first = EXIT_DONE, Formatter(), output.get_terminal_width(), True
    names = {thing.id: thing.name for thing in service.catalog.things()}
    for text in options.accelerators.split(","):
        accelerator, chosen_count = parse_accelerator_choice(text)
        count = 1 if chosen_count is None else chosen_count
        estimate = _ask(options, options.model, accelerator, count, service)
        if isinstance(estimate, str):
            code = EXIT_AT_FAULT
            report_error(estimate, "estimate")
        elif options.json:
            output.print_json_line(encode_diffusion_estimate(estimate))
        else:
            if not first:
                output.print_line()
            output.print_line(output.make_bold(f"{formatter.count(count)} × {names[accelerator]}"))
            output.print_lines(list_labeled_lines(list_diffusion_facts(estimate, names, formatter), width))
            for note in list_diffusion_notes(estimate, formatter):
                output.print_lines(f"  {line}" for line in wrap_text(note, width - 2))
            first = False
    return code


def fit_diffusion(
    options: argparse.Namespace, models: Sequence[str], accelerators: Sequence[str], service: GpuDeskService
) -> int:
    """Print whether one of each accelerator holds each model.

    A failed estimate is an error of the command only if the accelerators were named.
    """
    from gpudesk.report.diffusion import DIFFUSION_FIT_FIGURES, encode_diffusion_estimate, list_diffusion_fit_rows

    answers = [_ask(options, model, part, 1, service) for model in models for part in accelerators]
    estimates = [each for each in answers if isinstance(each, DiffusionEstimate)]
    problems = list(dict.fromkeys(each for each in answers if isinstance(each, str)))
    if options.json:
        output.print_json({"cells": [encode_diffusion_estimate(each) for each in estimates]})
    elif estimates:
        names = {thing.id: thing.name for thing in service.catalog.things()}
        head, rows = list_diffusion_fit_rows(estimates, names, Formatter())
        output.print_table(head, rows, DIFFUSION_FIT_FIGURES)
    for problem in problems:
        report_error(problem, "fit")
    return EXIT_AT_FAULT if problems and (options.accelerators or not estimates) else EXIT_DONE


def _ask(
    options: argparse.Namespace, model: str, accelerator: str, count: int, service: GpuDeskService
) -> DiffusionEstimate | str:
    """Return an estimate, or the error in one line."""
    fields: dict[str, Any] = {name: getattr(options, name, None) for name in _OPTIONS}
    fields["batch"] = getattr(options, "batch_size", None)
    request_values = {name: value for name, value in fields.items() if value is not None}
    if "software" in request_values:
        request_values["software"] = DiffusionSoftware(request_values["software"])
    if options.weights is not None:
        from gpudesk.estimation.request_fields import REQUEST_FIELDS

        weights: Precision = REQUEST_FIELDS["weights"]("--weights", options.weights)
        request_values["weights"] = weights
    try:
        return service.estimate_diffusion(DiffusionRequest(accelerator, model, count, **request_values))
    except InputError as error:
        where = None if error.where is None else _FIELD_OPTIONS.get(error.where, _get_option_name([error.where]))
        return format_input_error(InputError(error.problem, where or accelerator))
