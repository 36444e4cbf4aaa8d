"""The launch commands of a deployment, as lines and as JSON, with the reason for each variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gpudesk.domain.estimate import Estimate, LaunchExtra, LaunchPlan, format_plan
from gpudesk.domain.estimate_json import write_plan_json
from gpudesk.report.labels import format_date
from gpudesk.report.writers.text import wrap_text
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr, translate_data


def describe_extra(extra: LaunchExtra) -> str:
    """Return why an option or environment variable is set."""
    setting = f"{extra.name} {extra.value}" if extra.is_option else f"{extra.name}={extra.value}"
    return tr("{setting}: {reason}.", setting=setting, reason=translate_data(extra.reason))


def describe_launched_plan(estimate: Estimate, formatter: Formatter) -> str:
    """Return the deployment started by the commands, with its estimated speed."""
    rate = estimate.output_tokens_per_s
    if rate is None:
        return format_plan(estimate.plan)
    return tr(
        "{plan}, estimated at {rate} in total",
        plan=format_plan(estimate.plan),
        rate=formatter.quantity(rate.value, "tok/s"),
    )


def list_launch_sources(plan: LaunchPlan) -> list[str]:
    """Return a line with the version and one for each source of its options."""
    facts = plan.facts
    head = tr(
        "Options for {engine} {version}, from {read}, retrieved on {date}:",
        engine=facts.name,
        version=facts.version,
        read=translate_data(facts.read),
        date=format_date(facts.retrieved),
    )
    return [head, *(f"{source.title}, {source.url}" for source in facts.sources)]


def list_launch_lines(
    plan: LaunchPlan, name: str, formatter: Formatter, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield the terminal lines of the commands for the accelerator `name`; commands are never wrapped."""
    yield strong(f"{formatter.count(plan.estimate.count)} × {name}")
    yield describe_launched_plan(plan.estimate, formatter)
    yield ""
    for comment in [tr("Start the server"), *map(describe_extra, plan.extras)]:
        yield from (f"# {line}" for line in wrap_text(comment, width - len("# ")))
    yield from plan.server.split("\n")
    for file in plan.files:
        yield ""
        yield f"# {tr('File {name}, next to the command', name=file.name)}"
        yield from file.text.rstrip("\n").split("\n")
    yield ""
    yield f"# {tr('Run the benchmark')}"
    yield from plan.benchmark.split("\n")
    yield ""
    for note in plan.notes:
        yield from wrap_text(f"{format_message(note, formatter)}.", width)
    for source in list_launch_sources(plan):
        yield from wrap_text(source, width)


def write_launch_json(plan: LaunchPlan) -> dict[str, Any]:
    """Return the commands with their environment and options explained; one server for each host."""
    facts = plan.facts
    return {
        "serving_engine": facts.serving_engine,
        "engine_version": facts.version,
        "read": facts.read,
        "retrieved": facts.retrieved,
        "sources": [{"title": source.title, "url": source.url} for source in facts.sources],
        "count": plan.estimate.count,
        "parallel": write_plan_json(plan.estimate.plan),
        "environment": [_write_extra(each) for each in plan.extras if not each.is_option],
        "options": [_write_extra(each) for each in plan.extras if each.is_option],
        "servers": [{"host": host, "command": each} for host, each in enumerate(plan.servers, start=1)],
        "files": [{"name": file.name, "text": file.text} for file in plan.files],
        "benchmark": plan.benchmark,
        "notes": [format_message(note) for note in plan.notes],
    }


def _write_extra(extra: LaunchExtra) -> dict[str, str]:
    return {"name": extra.name, "value": extra.value, "reason": extra.reason, "source": extra.source}
