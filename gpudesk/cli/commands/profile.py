"""`gpudesk profile`: capabilities, limits and next steps of one accelerator."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gpudesk.cli import output
from gpudesk.cli.commands.sheet import PAPERS
from gpudesk.cli.options import (
    add_flags,
    add_options,
    add_words,
    finish_command,
    open_service,
    parse_number,
    parse_whole,
    split_list,
)
from gpudesk.cli.output import EXIT_DONE, UsageError
from gpudesk.domain.cost import CostSettings
from gpudesk.domain.precision import Precision
from gpudesk.domain.profile import OperatingMode, ProfileQuestion, RankingFactor
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, quote_input
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.service import GpuDeskService

_Key = TypeVar("_Key")
_DEFAULTS: Final = ProfileQuestion("")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    parser = commands.add_parser(
        "profile",
        help=tr("Show what an accelerator can do, its limits and upgrades."),
        description=tr(
            "Show what one accelerator can do: capabilities, strengths, limits, models by job, upgrades and peers."
        ),
    )
    parser.add_argument("accelerator", metavar="ID", help=tr("accelerator id, such as mi325x"))
    text = tr("what the ranking of models prefers (default: balanced)")
    add_words(parser, "--mode", OperatingMode, text, _DEFAULTS.mode.value)
    add_options(
        parser,
        ("--weights-of-mode", "fit=2,speed=1,…", split_list, tr("your weights of ranking factors")),
        ("--tiers", tr("MODEL=TIER,…"), split_list, tr("your own tiers of models; higher is better")),
        ("--budget", "USD", parse_number, tr("budget for an upgrade, in USD")),
        ("--model", "ID", str, tr("model of counts and limits (default: largest common one)")),
    )
    add_flags(parser, ("--single", tr("pay only for accelerators in use, not for whole systems")))
    formats = [each.value for each in Precision]
    for name, text in (
        ("weights", tr("weight precision of that model (default: as published, or narrower if needed)")),
        ("kv", tr("KV cache precision (default: fp16)")),
    ):
        parser.add_argument(f"--{name}", metavar=tr("PRECISION"), choices=formats, help=text)
    load = parser.add_argument_group(tr("load"))
    add_options(
        load,
        ("--input-tokens", tr("TOKENS"), parse_whole, tr("input tokens per request")),
        ("--output-tokens", tr("TOKENS"), parse_whole, tr("output tokens per request")),
        ("--concurrency", "N", parse_whole, tr("requests in flight (closed loop)")),
        ("--serving-engine", "ID", str, tr("vllm, sglang, tensorrt-llm, llama.cpp or tgi")),
    )
    parser.add_argument("-o", "--output", metavar=tr("FILE"), help=tr("output file: .pdf, .html, .md or .csv"))
    parser.add_argument("--paper", choices=PAPERS, help=tr("PDF paper size: a4 or letter (default: by your country)"))
    finish_command(parser, run)


def run(options: argparse.Namespace) -> int:
    from gpudesk.domain.field_checks import accept_whole
    from gpudesk.estimation.request_fields import MOST_TOKENS

    load = {}
    for name in ("input_tokens", "output_tokens", "concurrency"):
        option_value = getattr(options, name)
        default = getattr(_DEFAULTS, name)
        check = accept_whole(1, MOST_TOKENS)
        load[name] = default if option_value is None else check("--" + name.replace("_", "-"), option_value)
    if options.budget is not None and options.budget < 0:
        raise UsageError(tr("--budget must be at least 0"))
    factors = {each.value: each for each in RankingFactor}
    question = ProfileQuestion(
        options.accelerator,
        **load,
        serving_engine=options.serving_engine,
        model=options.model,
        precision=None if options.weights is None else Precision(options.weights),
        kv=_DEFAULTS.kv if options.kv is None else Precision(options.kv),
        mode=OperatingMode(options.mode),
        weights=_parse_pairs("--weights-of-mode", options.weights_of_mode, factors.__getitem__, tuple(factors)),
        tiers=_parse_pairs("--tiers", options.tiers, str),
        budget_usd=options.budget,
        costs=CostSettings(single_accelerators=options.single),
    )
    if options.output is not None and options.json:
        raise UsageError(tr("--output and --json exclude each other"))
    if options.paper is not None and options.output is None:
        raise UsageError(tr("--paper needs --output"))
    with open_service(options) as service:
        if options.output is None:
            _show(question, service, as_json=options.json)
        else:
            _write(question, service, Path(options.output), options.paper)
    return EXIT_DONE


def _parse_pairs(
    option: str, items: list[str] | None, make_key: Callable[[str], _Key], known: tuple[str, ...] = ()
) -> Mapping[_Key, float] | None:
    """Return the numbers of KEY=NUMBER items; raises `UsageError` for an unknown key or a number below 0."""
    if items is None:
        return None
    pairs: dict[_Key, float] = {}
    for item in items:
        name, sign, number = item.partition("=")
        if not sign:
            raise UsageError(
                tr(
                    "{option}: {given} has no number; example: {name}=2",
                    option=option,
                    given=quote_input(item),
                    name=item,
                )
            )
        if known and name not in known:
            raise UsageError(
                tr(
                    "{option}: unknown factor {given}; use one of {known}",
                    option=option,
                    given=quote_input(name),
                    known=", ".join(known),
                )
            )
        try:
            value = parse_number(number)
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{option}: {error}") from None
        if value < 0:
            raise UsageError(tr("{option}: {given} is below 0", option=option, given=quote_input(item)))
        pairs[make_key(name)] = value
    return pairs


def _show(question: ProfileQuestion, service: GpuDeskService, *, as_json: bool) -> None:
    profile = service.profile(question)
    if as_json:
        from gpudesk.report.profile_document import write_profile_json

        output.print_json(write_profile_json(profile))
        return
    from gpudesk.report.profile_document import list_profile_lines
    from gpudesk.report.profile_sections import ProfileTables

    tables = ProfileTables.from_entries(profile, Formatter(), service.catalog.things())
    output.print_lines(list_profile_lines(tables, output.get_terminal_width(), output.make_bold))


def _write(question: ProfileQuestion, service: GpuDeskService, target: Path, paper: str | None) -> None:
    """Write the profile in the format of the suffix; raises `InputError`."""
    from gpudesk.files import describe_unknown_format, write_atomically
    from gpudesk.report.labels import get_today
    from gpudesk.report.profile_document import FORMS, PDF_FORM, write_profile_file
    from gpudesk.report.profile_sections import ProfileTables

    suffix = target.suffix.lower()
    if suffix not in FORMS:
        raise InputError(describe_unknown_format(target.suffix, FORMS), str(target))
    tables = ProfileTables.from_entries(service.profile(question), Formatter(), service.catalog.things())
    if suffix == PDF_FORM:
        output.write_profile_pdf(tables, target, paper, service.catalog.data_date)
    else:
        write_atomically(target, write_profile_file(tables, suffix, get_today()))
    output.print_line(tr("Wrote {file}", file=target))
