"""How many accelerators are needed, in words that screen and paper share."""

from __future__ import annotations

from collections.abc import Sequence

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import Message
from gpudesk.domain.sizing import Needed
from gpudesk.domain.workloads import Workload
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr, trn


def degrees_text(plan: ParallelPlan, formatter: Formatter) -> str:
    """Return the degrees of a plan that are above one."""
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    named = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    return ", ".join([*named, tr("attention DP")] if plan.attention_dp else named)


def reason_in_short(reason: Message | None) -> str:
    """Return a reason against all deployments in a word or two."""
    if reason is None:
        return ""
    if reason.id.startswith("model."):
        return tr("not published")
    return tr("too large") if reason.id.startswith(("estimate.", "needed.")) else tr("not supported")


def width_label(across: Sequence[Needed], formatter: Formatter) -> str:
    """Return what weights of a width are called: by their format where all columns have the same."""
    if len({needed.weights for needed in across}) == 1:
        return precision_name(across[0].weights)
    return tr("{n} bits", n=formatter.count(across[0].bits))


def in_flight_title(workload: Workload, formatter: Formatter) -> str | None:
    """Return what is to be held where a load says how many requests are in flight; None for one or none."""
    in_flight = workload.load.concurrency or workload.load.batch
    if in_flight is None or in_flight < 2:
        return None
    return trn(
        "{n} request of {tokens} tokens in flight",
        "{n} requests of {tokens} tokens in flight",
        in_flight,
        n=formatter.count(in_flight),
        tokens=_tokens(workload, formatter),
    )


def one_request_title(workload: Workload, formatter: Formatter) -> str:
    """Return what is to be held where it is a single request."""
    return tr("One request of {tokens} tokens", tokens=_tokens(workload, formatter))


def _tokens(workload: Workload, formatter: Formatter) -> str:
    return formatter.count(workload.input_tokens + workload.output_tokens)
