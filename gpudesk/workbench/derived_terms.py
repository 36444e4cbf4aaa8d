"""The terms of figures that follow from throughput, TTFT and TPOT, however these come about."""

from __future__ import annotations

from gpudesk.domain.answers import Term
from gpudesk.domain.estimates import Estimate
from gpudesk.workbench.replica_terms import scenario_term, value_of


def total_term(estimate: Estimate, throughput: Term) -> Term:
    """Return input and output tokens/s."""
    work = estimate.request.workload
    return Term(
        "input and output tokens/s",
        value_of(estimate.total_tokens_per_s),
        "tok/s",
        "{output_tokens_s} × ({input_tokens} + {output_tokens}) ÷ {output_tokens}",
        inputs=(
            throughput,
            scenario_term("input tokens", work.input_tokens, "tokens"),
            scenario_term("output tokens", work.output_tokens, "tokens"),
        ),
    )


def per_accelerator_term(estimate: Estimate, throughput: Term) -> Term:
    """Return output tokens/s of one accelerator."""
    return Term(
        "output tokens/s per accelerator",
        value_of(estimate.output_tokens_per_s_per_accelerator),
        "tok/s",
        "{output_tokens_s} ÷ {accelerators}",
        inputs=(throughput, Term("accelerators", estimate.count, None)),
    )


def request_term(estimate: Estimate, ttft: Term, tpot: Term) -> Term:
    """Return the time from submission to the last token."""
    output = estimate.request.workload.output_tokens
    return Term(
        "time of a request",
        value_of(estimate.request_s),
        "s",
        "{TTFT} + ({output_tokens} − 1) × {TPOT}",
        inputs=(ttft, tpot, scenario_term("output tokens", output, "tokens")),
    )


def batch_term(estimate: Estimate, throughput: Term) -> Term:
    """Return the time of a static batch."""
    work = estimate.request.workload
    if work.load.batch is None:
        return Term("time of the batch", None, "s", "the load is not a static batch")
    return Term(
        "time of the batch",
        value_of(estimate.batch_s),
        "s",
        "{requests} × {output_tokens} ÷ {output_tokens_s}",
        inputs=(
            scenario_term("requests", work.load.batch),
            scenario_term("output tokens", work.output_tokens, "tokens"),
            throughput,
        ),
    )
