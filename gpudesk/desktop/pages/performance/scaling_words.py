"""What the view of scaling calls its rules, plans and ends."""

from __future__ import annotations

from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.topology import ScalingRow, ScalingRule
from gpudesk.sentences import plan_name, sentence
from gpudesk.text import tr, trn


def rule_names() -> dict[ScalingRule, str]:
    """Return what the rules of thumb are called, the one of the published table first."""
    return {
        ScalingRule.FLAT: tr("Flat 0.88, as a published table has it"),
        ScalingRule.ADDED: tr("0.88 for each after the first"),
        ScalingRule.COMPOUNDING: tr("0.88 for all, once for each after the first"),
        ScalingRule.PER_DOUBLING: tr("0.88 for each doubling"),
    }


def rule_head(rule: ScalingRule) -> str:
    """Return the head of a rule's column."""
    return {
        ScalingRule.FLAT: tr("Flat 0.88, GB/s"),
        ScalingRule.ADDED: tr("Each 0.88, GB/s"),
        ScalingRule.COMPOUNDING: tr("0.88ⁿ⁻¹, GB/s"),
        ScalingRule.PER_DOUBLING: tr("0.88 a doubling, GB/s"),
    }[rule]


def gigabytes(bandwidth: float | None, formatter: Formatter) -> str:
    """Return bytes/s as whole GB/s, as published tables have them."""
    return UNKNOWN if bandwidth is None else formatter.count(bandwidth / 1e9)


def memory_text(memory_bytes: float, formatter: Formatter) -> str:
    """Return bytes in GiB with GB beside."""
    return f"{formatter.gib(memory_bytes)} ({formatter.gb(memory_bytes)})"


def remark(row: ScalingRow, formatter: Formatter) -> str:
    """Return the plan of a row with what is particular to it, or why there is none."""
    said = [_plan_or_problem(row, formatter)]
    if row.falls is not None:
        said.append(sentence(row.falls, formatter))
    if row.replicas is not None and row.replicas.output_tokens_per_s is not None:
        rate = formatter.estimate(row.replicas.output_tokens_per_s.value)
        said.append(tr("{plan}: {rate} tok/s", plan=plan_name(row.replicas.plan), rate=rate))
    if row.hosts > 1 and row.fits:
        said.append(trn("{n} host", "{n} hosts", row.hosts, n=formatter.count(row.hosts)))
    return "; ".join(said)


def _plan_or_problem(row: ScalingRow, formatter: Formatter) -> str:
    if row.estimate is None:
        return tr("no such plan") if row.problem is None else sentence(row.problem, formatter)
    if not row.estimate.fits:
        return unfit_text(row.estimate, formatter)
    waits = _waits(row.estimate, formatter)
    return f"{plan_name(row.estimate.plan)}, {waits}" if waits else plan_name(row.estimate.plan)


def unfit_text(estimate: Estimate, formatter: Formatter) -> str:
    """Return that a deployment does not fit, and by how much where that is known."""
    missing = None if estimate.reason is None else estimate.reason.parameters.get("missing")
    if not isinstance(missing, tuple) or isinstance(missing[0], str):
        return tr("does not fit")
    return tr("does not fit: {size} GiB short on each", size=formatter.gib(missing[0]))


def _waits(estimate: Estimate, formatter: Formatter) -> str:
    asked, admitted = estimate.concurrency, estimate.admitted
    if asked is None or admitted is None or admitted >= asked:
        return ""
    return tr("runs {n} of {all} at once", n=formatter.count(admitted), all=formatter.count(asked))
