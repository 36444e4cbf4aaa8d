"""The terms of memory: what the fullest accelerator holds, what is left, how many requests that admits."""

from __future__ import annotations

from gpudesk.domain.answers import Term
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formulas import slot, sum_of
from gpudesk.workbench.setups import Candidate, Frame

_TAKEN = "weights, activations and runtime"


def memory_term(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    """Return what stays free on the fullest accelerator at this load, or what it lacks for one request."""
    if not estimate.fits:
        return _short(estimate, frame, candidate)
    capacity, weights, activations, runtime = _static(frame, candidate)
    return Term(
        "free memory",
        estimate.memory.free_bytes,
        "B",
        "{capacity} − {weights} − {KV_cache} − {activations} − {runtime}",
        inputs=(capacity, weights, _cache(estimate, frame, candidate), activations, runtime),
    )


def max_concurrency_term(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    """Return how many sequences of the scenario's length the whole deployment holds."""
    pool = _pool(candidate.budget.pool_bytes, _fraction(frame), frame, candidate)
    return _held("maximum concurrency", estimate.max_concurrency, pool, estimate, frame, candidate)


def admission_term(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    """Return what keeps requests waiting: the batch of the serving engine, or the memory that it takes."""
    budget, engine = candidate.budget, frame.engine.id
    by_memory = budget.admitted_sequences(_tokens(estimate))
    if by_memory > (estimate.admitted or 0):
        return Term("most in a step", frame.settings.max_batch, None, source=f"setting:{engine}/max_batch")
    if by_memory == estimate.max_concurrency:
        return max_concurrency_term(estimate, frame, candidate)
    usual = Term("fraction", frame.settings.usual_fraction, None, source=f"setting:{engine}/memory_fraction")
    pool = _pool(budget.usual_pool_bytes, usual, frame, candidate)
    return _held("admitted sequences", by_memory, pool, estimate, frame, candidate)


def _held(
    name: str, sequences: int, pool: Term, estimate: Estimate, frame: Frame, candidate: Candidate
) -> Term:
    """Return how many sequences a pool on each attention rank holds in the whole deployment."""
    budget = candidate.budget
    groups = tuple(
        Term(group, count, None)
        for group, count in (("attention ranks", budget.attention_ranks), ("replicas", budget.replicas))
        if count > 1
    )
    held = "{KV_pool} ÷ {bytes_of_one_sequence}, rounded down"
    if budget.pool_bytes <= 0:
        held, groups = "none, since nothing is left for the KV cache", ()
    return Term(
        name,
        sequences,
        "sequences",
        " × ".join((f"({held})", *(slot(group.name) for group in groups))) if groups else held,
        inputs=(pool, _sequence(estimate, frame, candidate), *groups),
    )


def _cache(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    budget, admitted = candidate.budget, estimate.admitted or 1
    held = -(-admitted // (budget.attention_ranks * budget.replicas))
    return Term(
        "KV cache",
        estimate.memory.kv_bytes,
        "B",
        "{sequences} × {bytes_of_one_sequence}",
        inputs=(
            Term("sequences", held, None, source="scenario"),
            _sequence(estimate, frame, candidate),
        ),
    )


def _pool(pool_bytes: int, fraction: Term, frame: Frame, candidate: Candidate) -> Term:
    of_total = frame.settings.memory_fraction_of == "total"
    return Term(
        "KV pool",
        pool_bytes,
        "B",
        "{fraction} × {capacity} − {weights} − {activations} − {runtime}"
        if of_total
        else "{fraction} × ({capacity} − {weights} − {activations} − {runtime})",
        inputs=(fraction, *_static(frame, candidate)),
    )


def _short(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    """Return what the fullest accelerator lacks for the weights and one request on each attention rank."""
    budget = candidate.budget
    taken = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    capacity, weights, activations, runtime = _static(frame, candidate)
    sequence = _sequence(estimate, frame, candidate)
    held = budget.cache.sequence_bytes(_tokens(estimate))
    parts = (weights, sequence, activations, runtime)
    of_total = frame.settings.memory_fraction_of == "total"
    usable = Term(
        "usable",
        budget.pool_bytes + taken,
        "B",
        "{fraction} × {capacity}"
        if of_total
        else f"{{fraction}} × ({{capacity}} − {slot(_TAKEN)}) + {slot(_TAKEN)}",
        inputs=(_fraction(frame), capacity, *(() if of_total else (Term(_TAKEN, taken, "B"),))),
    )
    needed = Term("needed", taken + held, "B", sum_of(tuple(part.name for part in parts)), inputs=parts)
    return Term("short", held - budget.pool_bytes, "B", "{needed} − {usable}", inputs=(needed, usable))


def _static(frame: Frame, candidate: Candidate) -> tuple[Term, Term, Term, Term]:
    """Return capacity, weights, activations and runtime, which do not depend on the load."""
    budget, engine = candidate.budget, frame.engine.id
    elements = "elements" if candidate.plan.count == 1 else "elements of the fullest"
    return (
        Term("capacity", budget.capacity_bytes, "B", source=f"catalog:{frame.accelerator.id}/memory"),
        Term(
            "weights",
            budget.weights_bytes,
            "B",
            f"{elements} × bytes of their format, block scales included",
            source=f"catalog:{frame.model.id}",
        ),
        Term("activations", budget.activations_bytes, "B", source=f"setting:{engine}/max_batched_tokens"),
        Term("runtime", budget.runtime_bytes, "B", source=f"setting:{engine}/runtime_bytes"),
    )


def _fraction(frame: Frame) -> Term:
    """Return the share of memory that what fits is judged by: the user's, or the largest safe one."""
    given = frame.settings.usual_fraction is None
    source = "scenario" if given else f"setting:{frame.engine.id}/safe_memory_fraction"
    return Term("fraction", frame.settings.memory_fraction, None, source=source)


def _tokens(estimate: Estimate) -> int:
    return estimate.request.workload.input_tokens + estimate.request.workload.output_tokens


def _sequence(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    tokens = _tokens(estimate)
    return Term(
        "bytes of one sequence",
        candidate.budget.cache.sequence_bytes(tokens),
        "B",
        "what each layer keeps of its tokens",
        source=f"catalog:{frame.model.id}",
        inputs=(Term("tokens of one sequence", tokens, "tokens", source="scenario"),),
    )
