"""`gpudesk estimate`: one estimate for each accelerator, or one for each JSON line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.diffusion import add_diffusion_options, estimate_diffusion, is_about_diffusion
from gpudesk.cli.options import add_scenario_options, build_scenario, finish_command, open_service
from gpudesk.cli.output import EXIT_AT_FAULT, EXIT_DONE, UsageError, report_error
from gpudesk.domain.estimate import AcceleratorPool, Estimate, PlanChoice, format_plan
from gpudesk.domain.registry import list_told_figures
from gpudesk.files import describe_unreadable
from gpudesk.report.comparison.estimate_rows import describe_running_requests
from gpudesk.report.explanation.working import describe_plan_reason
from gpudesk.report.labels import label_estimate_basis, label_figure, label_precision, label_serving_engine
from gpudesk.report.writers.text import list_labeled_lines, wrap_text
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, explain_system_error, format_message
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.domain.answer import Scenario
    from gpudesk.service import GpuDeskService


_INDENT = "  "


def list_estimate_lines(
    estimate: Estimate, name: str, formatter: Formatter, width: int, plans: PlanChoice | None = None
) -> Iterator[str]:
    """Yield the lines of an estimate for the accelerator `name`; with `plans` also the reasons for its plan."""
    yield output.make_bold(f"{formatter.count(estimate.count)} × {name}")
    # Without free memory, the lines below state the missing memory.
    use = estimate.memory
    parts = [
        (tr("Capacity"), use.capacity_bytes),
        (tr("Weights"), use.weights_bytes),
        (tr("KV cache") if estimate.fits else tr("KV cache per request"), use.kv_bytes),
        (tr("Activations"), use.activations_bytes),
        (tr("Runtime"), use.runtime_bytes),
    ]
    if estimate.fits:
        parts += [(tr("Memory reserve"), use.reserved_bytes), (tr("Free"), use.spare_bytes)]
    facts = [
        *_list_deployment_facts(estimate, formatter),
        *_list_plan_reasons(plans, formatter),
        *_list_figures(estimate, formatter),
        *[(label, formatter.memory(size)) for label, size in parts],
    ]
    yield from list_labeled_lines(facts, width)
    for note in estimate.notes:
        if note.id == "pools.pool":
            continue  # already stated above
        yield from (_INDENT + line for line in wrap_text(f"{format_message(note, formatter)}.", width - len(_INDENT)))


def _list_deployment_facts(estimate: Estimate, formatter: Formatter) -> list[tuple[str, str]]:
    request = estimate.request
    facts = [
        (tr("Serving engine"), label_serving_engine(estimate.serving_engine)),
        (tr("Weights, KV cache"), f"{label_precision(request.weights)}, {label_precision(request.kv)}"),
        *_list_plan_facts(estimate, formatter),
    ]
    if estimate.fits:
        facts.append((tr("Fits"), _describe_capacity(estimate, formatter)))
        return facts
    reason = "" if estimate.reason is None else format_message(estimate.reason, formatter)
    facts.append((tr("Does not fit"), reason))
    if estimate.needs is not None:
        facts.append((tr("Needs"), _format_accelerators(estimate.needs, formatter)))
    return facts


def _format_accelerators(count: int, formatter: Formatter) -> str:
    return trn("{n} accelerator", "{n} accelerators", count, n=formatter.count(count))


def _list_plan_facts(estimate: Estimate, formatter: Formatter) -> list[tuple[str, str]]:
    pools, plan = estimate.pools, estimate.plan
    if pools is not None:
        labels = (tr("Prefill pool"), pools.prefill), (tr("Decode pool"), pools.decode)
        return [(label, _describe_pool(pool, formatter)) for label, pool in labels]
    named = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    degrees = ", ".join(f"{name} {formatter.count(degree)}" for name, degree in named)
    if plan.attention_dp:
        degrees = f"{degrees}, {tr('attention DP')}"
    return [(tr("Deployment"), degrees)]


def list_pool_lines(estimate: Estimate, formatter: Formatter) -> list[str]:
    """Return one line per pool of a disaggregated deployment, or why none exists."""
    if estimate.pools is None:
        return [] if estimate.reason is None else [f"{format_message(estimate.reason, formatter)}."]
    return [f"{label} {text}" for label, text in _list_plan_facts(estimate, formatter)]


def _describe_pool(pool: AcceleratorPool, formatter: Formatter) -> str:
    return tr(
        "{n}: {plan}, {share} busy",
        n=formatter.count(pool.count),
        plan=format_plan(pool.plan),
        share=formatter.per_cent(pool.busy),
    )


def _list_plan_reasons(plans: PlanChoice | None, formatter: Formatter) -> list[tuple[str, str]]:
    reason = None if plans is None else describe_plan_reason(plans, formatter)
    return [] if reason is None else [(tr("Why this plan"), reason)]


def _describe_capacity(estimate: Estimate, formatter: Formatter) -> str:
    most = trn(
        "up to {n} request in flight",
        "up to {n} requests in flight",
        estimate.max_concurrency,
        n=formatter.count(estimate.max_concurrency),
    )
    concurrency, admitted = estimate.concurrency, estimate.admitted
    if estimate.grows:
        return describe_running_requests(estimate, formatter)
    if concurrency is not None and admitted is not None and admitted < concurrency:
        if admitted < estimate.max_concurrency:
            return tr(
                "runs {n} of {m} requests at a time; memory fits {most}",
                n=formatter.count(admitted),
                m=formatter.count(concurrency),
                most=formatter.count(estimate.max_concurrency),
            )
        capacity_text = tr(
            "memory fits {n} of {m} requests", n=formatter.count(admitted), m=formatter.count(concurrency)
        )
        return f"{capacity_text}, {most}"
    return most


def _list_figures(estimate: Estimate, formatter: Formatter) -> list[tuple[str, str]]:
    facts = []
    for figure in list_told_figures():
        value = getattr(estimate, figure.key)
        if value is not None and not (figure.is_per_accelerator and estimate.count == 1):
            facts.append((label_figure(figure.key), formatter.estimate_with_interval(value, figure.unit)))
    if estimate.stable is False:
        facts.append((tr("Stable"), tr("no, the queue keeps growing")))
    if estimate.limiter is not None and estimate.fits:
        facts.append((tr("Limited by"), estimate.limiter.label))
    facts.append((tr("Method"), label_estimate_basis(estimate)))
    return facts


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    description = tr("Estimate speed and memory fit of deployments for a workload.")
    parser = commands.add_parser("estimate", help=description, description=description)
    add_scenario_options(parser)
    add_diffusion_options(parser)
    group = parser.add_argument_group(tr("batch mode"))
    group.add_argument(
        "--batch", metavar=tr("FILE|-"), help=tr("answer one JSON request per line of a file; - for standard input")
    )
    finish_command(parser, run)


def run(options: argparse.Namespace) -> int:
    with open_service(options) as service:
        if options.batch is not None:
            others = {"batch", "json", "run", "command", "version", "self_test", "without_user_facts"}
            option_names = [
                name for name, value in vars(options).items() if name not in others and value not in (None, False)
            ]
            if option_names:
                raise UsageError(
                    tr(
                        "--batch reads all settings from each line; remove {option}",
                        option="--" + option_names[0].replace("_", "-"),
                    )
                )
            target = sys.stdout.buffer
            if options.batch == "-":
                faults = service.estimate_lines(sys.stdin.buffer, target)
            else:
                try:
                    with Path(options.batch).open("rb") as source:
                        faults = service.estimate_lines(source, target)
                except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
                    raise InputError(describe_unreadable(explain_system_error(error)), options.batch) from error
            return EXIT_AT_FAULT if faults else EXIT_DONE
        if is_about_diffusion(options, [options.model] if options.model else [], service):
            return estimate_diffusion(options, service)
        return _estimate_each(build_scenario(options, service), service, as_json=options.json)


def _estimate_each(scenario: Scenario, service: GpuDeskService, *, as_json: bool) -> int:
    """Estimate every accelerator of a scenario; failures are reported in one line each."""
    from gpudesk.domain.estimate_json import write_estimate_json, write_plan_choice_json
    from gpudesk.text.formatting import Formatter
    from gpudesk.text.messages import format_input_error

    estimates = service.estimator.estimate_many(scenario.requests())
    code = EXIT_DONE
    for position, (choice, result) in enumerate(zip(scenario.accelerators, estimates, strict=True)):
        if isinstance(result, InputError):
            code = EXIT_AT_FAULT
            report_error(f"{choice.accelerator}: {format_input_error(result)}", "estimate")
        elif as_json:
            plans = write_plan_choice_json(service.estimator.plans(result))
            output.print_json_line(write_estimate_json(result) | {"accelerator": choice.accelerator, "plans": plans})
        else:
            if position:
                output.print_line()
            name = service.catalog.accelerator(choice.accelerator).name
            plan_choices = service.estimator.plans(result)
            output.print_lines(
                list_estimate_lines(result, name, Formatter(), output.get_terminal_width(), plan_choices)
            )
    return code
