"""The terms of memory: what the fullest accelerator holds, what is left, how many requests that admits."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.domain.answers import Term
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formulas import slot, sum_of
from gpudesk.domain.models import reuses_cache
from gpudesk.engine.memory import MemoryBudget, drawing_bytes, step_bytes
from gpudesk.workbench.candidates import Candidate
from gpudesk.workbench.setups import Frame

_TAKEN = "weights, activations and runtime"
#: What the KV cache may take, by what the memory fraction is of.
_POOLS = {
    "total": "{fraction} × {capacity} − {weights} − {activations} − {runtime}",
    "free": "{fraction} × ({capacity} − {weights} − {activations} − {runtime})",
    "static": "{fraction} × ({capacity} − {runtime}) − {weights}",
}


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
        most = candidate.situation.max_batch
        return Term("most in a step", most, None, source=f"setting:{engine}/max_batch")
    if by_memory == estimate.max_concurrency:
        return max_concurrency_term(estimate, frame, candidate)
    usual = Term("fraction", frame.settings.usual_fraction, None, source=f"setting:{engine}/memory_fraction")
    pool = _pool(budget.usual_pool_bytes, usual, frame, candidate)
    return _held("admitted sequences", by_memory, pool, estimate, frame, candidate)


def _held(
    name: str, sequences: int, pool: Term, estimate: Estimate, frame: Frame, candidate: Candidate
) -> Term:
    """Return how many sequences a pool on each attention rank holds in the whole deployment.

    Where the usual pool holds none, serving engines are given more of the memory until it holds one.
    """
    budget, sequence = candidate.budget, _sequence(estimate, frame, candidate)
    groups = tuple(
        Term(group, count, None)
        for group, count in (("attention ranks", budget.attention_ranks), ("replicas", budget.replicas))
        if count > 1
    )
    held = "{KV_pool} ÷ {bytes_of_one_sequence}, rounded down"
    if budget.pool_bytes <= 0:
        held, groups = "none, since nothing is left for the KV cache", ()
    elif sequences and pool.number < sequence.number:
        held = f"max(1, {held})"
    return Term(
        name,
        sequences,
        "sequences",
        " × ".join((f"({held})", *(slot(group.name) for group in groups))) if groups else held,
        inputs=(pool, sequence, *groups),
    )


def _cache(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    budget, admitted = candidate.budget, estimate.admitted or 1
    resident = min(admitted, budget.admitted_sequences(_tokens(estimate)))
    held = -(-resident // (budget.attention_ranks * budget.replicas))
    return Term(
        "KV cache",
        estimate.memory.kv_bytes,
        "B",
        "{sequences} × {bytes_of_one_sequence}",
        inputs=(
            Term("sequences", held, None, source="scenario" if resident == admitted else None),
            _sequence(estimate, frame, candidate),
        ),
    )


def _pool(pool_bytes: int, fraction: Term, frame: Frame, candidate: Candidate) -> Term:
    capacity, weights, _, runtime = static = _static(frame, candidate)
    formula = _POOLS[frame.settings.memory_fraction_of]
    inputs: tuple[Term, ...] = (fraction, *static)
    if frame.settings.memory_fraction_of == "static":
        inputs = (fraction, capacity, runtime, weights)
        if _beside(pool_bytes, candidate.budget):
            formula, inputs = "{capacity} − {weights} − {activations} − {runtime}", static
    return Term("KV pool", pool_bytes, "B", formula, inputs=inputs)


def _beside(pool_bytes: int, budget: MemoryBudget) -> bool:
    """Whether a pool ends where the activations beside it begin, before it reaches its fraction."""
    taken = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    return pool_bytes == budget.capacity_bytes - taken


def _short(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    """Return what the fullest accelerator lacks for the weights and one request on each attention rank."""
    budget = candidate.budget
    taken = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    _, weights, activations, runtime = _static(frame, candidate)
    sequence = _sequence(estimate, frame, candidate)
    held = budget.cache.sequence_bytes(_tokens(estimate))
    parts = (weights, sequence, activations, runtime)
    usable = _usable(budget.pool_bytes + taken, taken, frame, candidate)
    needed = Term("needed", taken + held, "B", sum_of(tuple(part.name for part in parts)), inputs=parts)
    return Term("short", held - budget.pool_bytes, "B", "{needed} − {usable}", inputs=(needed, usable))


def _usable(usable_bytes: int, taken: int, frame: Frame, candidate: Candidate) -> Term:
    """Return what weights, activations, runtime and cache may take together."""
    capacity, _, activations, runtime = _static(frame, candidate)
    fraction = _fraction(frame)
    kind = frame.settings.memory_fraction_of
    if kind == "total":
        return Term("usable", usable_bytes, "B", "{fraction} × {capacity}", inputs=(fraction, capacity))
    if kind == "free":
        formula = f"{{fraction}} × ({{capacity}} − {slot(_TAKEN)}) + {slot(_TAKEN)}"
        return Term(
            "usable", usable_bytes, "B", formula, inputs=(fraction, capacity, Term(_TAKEN, taken, "B"))
        )
    if _beside(candidate.budget.pool_bytes, candidate.budget):
        return Term("usable", usable_bytes, "B", "{capacity}", inputs=(capacity,))
    formula = "{fraction} × ({capacity} − {runtime}) + {activations} + {runtime}"
    return Term("usable", usable_bytes, "B", formula, inputs=(fraction, capacity, runtime, activations))


def _static(frame: Frame, candidate: Candidate) -> tuple[Term, Term, Term, Term]:
    """Return capacity, weights, activations and runtime, which do not depend on the load."""
    return (
        Term(
            "capacity",
            candidate.budget.capacity_bytes,
            "B",
            source=f"catalog:{frame.accelerator.id}/memory",
        ),
        _weights(frame, candidate),
        _activations(frame, candidate),
        _runtime(frame, candidate),
    )


def _weights(frame: Frame, candidate: Candidate) -> Term:
    budget, source = candidate.budget, f"catalog:{frame.model.id}"
    elements = "elements" if candidate.plan.count == 1 else "elements of the fullest"
    formula = f"{elements} × bytes of their format, block scales included"
    if frame.model.layer_input_size:
        formula += ", with the table of the layers' own inputs"
    padding = budget.shards.padding_bytes
    if not padding:
        return Term("weights", budget.weights_bytes, "B", formula, source=source)
    return Term(
        "weights",
        budget.weights_bytes,
        "B",
        "{weights_as_stored} + {padding_of_experts}",
        inputs=(
            Term("weights as stored", budget.weights_bytes - padding, "B", formula, source=source),
            Term("padding of experts", padding, "B", source=f"setting:{frame.engine.id}/kernels"),
        ),
    )


def _activations(frame: Frame, candidate: Candidate) -> Term:
    """Return the larger of what a step takes and what drawing its tokens does."""
    engine, situation = frame.engine.id, candidate.situation
    settings = replace(
        frame.settings,
        max_batch=situation.max_batch,
        max_batched_tokens=situation.max_batched_tokens,
    )
    step = step_bytes(frame.model, candidate.plan, settings)
    drawing = drawing_bytes(frame.model, settings)
    return Term(
        "activations",
        candidate.budget.activations_bytes,
        "B",
        "max({a_step}, {drawing_its_tokens})",
        inputs=(
            Term("a step", step, "B", source=f"setting:{engine}/max_batched_tokens"),
            Term("drawing its tokens", drawing, "B", source=f"setting:{engine}/logit_bytes"),
        ),
    )


def _runtime(frame: Frame, candidate: Candidate) -> Term:
    engine, settings = frame.engine.id, frame.settings
    total = candidate.budget.runtime_bytes
    source = f"setting:{engine}/runtime_bytes"
    if total == settings.runtime_bytes:
        return Term("runtime", total, "B", source=source)
    return Term(
        "runtime",
        total,
        "B",
        "{of_one_accelerator} + {of_collectives}",
        inputs=(
            Term("of one accelerator", settings.runtime_bytes, "B", source=source),
            Term(
                "of collectives",
                settings.collective_bytes,
                "B",
                source=f"setting:{engine}/collective_bytes",
            ),
        ),
    )


def _fraction(frame: Frame) -> Term:
    """Return the share of memory that what fits is judged by: the user's, or the largest safe one."""
    given = frame.settings.usual_fraction is None
    source = "scenario" if given else f"setting:{frame.engine.id}/safe_memory_fraction"
    return Term("fraction", frame.settings.memory_fraction, None, source=source)


def _tokens(estimate: Estimate) -> int:
    return estimate.request.workload.input_tokens + estimate.request.workload.output_tokens


def _sequence(estimate: Estimate, frame: Frame, candidate: Candidate) -> Term:
    tokens, cache = _tokens(estimate), candidate.budget.cache
    held, filled = cache.sequence_bytes(tokens), cache.filled_bytes(tokens)
    length = Term("tokens of one sequence", tokens, "tokens", source="scenario")
    filling = "what each layer keeps of its tokens"
    if any(reuses_cache(group.mixer) for group in frame.model.layers):
        filling += ", nothing where it reuses the cache of another"
    model = f"catalog:{frame.model.id}"
    if held == filled:
        return Term("bytes of one sequence", held, "B", filling, source=model, inputs=(length,))
    kept = "state_share" if cache.holding.state_share and cache.state_bytes else "window_share"
    return Term(
        "bytes of one sequence",
        held,
        "B",
        "{bytes_that_it_fills} + {set_aside_beside_them}",
        inputs=(
            Term("bytes that it fills", filled, "B", filling, source=model, inputs=(length,)),
            Term("set aside beside them", held - filled, "B", source=f"setting:{frame.engine.id}/{kept}"),
        ),
    )
