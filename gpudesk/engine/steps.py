"""Time of one step of one replica, vectorised over independent cases.

A step takes b decoding sequences and m prefill tokens through all layers. Per operator class it needs the
larger, smoothly, of the time to read its bytes and the time to do its arithmetic:

    T = (x^4 + z^4)^(1/4),  x = bytes / (bandwidth x efficiency),  z = FLOPs / (peak x efficiency)

Classes: dense matrices, routed experts (of which a batch of n tokens touches 1 - (1 - k/E)^n), LM head,
attention over the cache. Added to these: collectives, activation traffic, time per layer and per step.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimates import Limiter

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StepRow:
    """The coefficients of one deployment on one part with one serving engine; times in seconds.

    `*_read`: to read all of a class once. `*_flop`: arithmetic per token. `kv*_token`: to read one cached
    token of one sequence; `att*_token`: arithmetic of one new token against one cached token. The groups 1
    and 2 end at their window (in tokens). `patt*`: the same for prefill. `comm_*`: collectives of a step,
    and per token. `expert_offset` is in tokens: what grouped kernels lose when every touched expert has few;
    `expert_log_miss` is ln(1 - k/E); `expert_spread` is how many replicas share one set of experts.
    """

    dense_read: float
    dense_flop: float
    expert_read: float
    expert_flop: float
    expert_offset: float
    expert_log_miss: float
    expert_spread: float
    head_read: float
    head_flop: float
    kv_token: float
    kv1_token: float
    kv1_window: float
    kv2_token: float
    kv2_window: float
    state: float
    att_token: float
    att1_token: float
    att2_token: float
    patt_token: float
    patt1_token: float
    patt1_window: float
    comm_fixed: float
    comm_token: float
    overhead_fixed: float
    overhead_sequence: float
    activation_token: float
    attention_ranks: float
    stages: float
    bubble: float
    request: float
    chunk_tokens: float
    tokens_per_step: float
    verified_tokens: float
    step_batch_cap: float


FIELDS: Final = tuple(field.name for field in fields(StepRow))


class Rows:
    """A table of step rows, and for a set of cases the columns that belong to them.

    Columns are read as attributes and have the shape of `index`.
    """

    def __init__(self, columns: Array) -> None:
        """Take an array of shape (fields, cases)."""
        self._columns = columns

    @classmethod
    def table(cls, rows: list[StepRow]) -> Array:
        """Return the rows as an array of shape (fields, rows), to take cases from."""
        return np.ascontiguousarray(np.array([astuple(row) for row in rows], dtype=np.float64).T)

    def __getattr__(self, name: str) -> Array:
        """Return the column of a field of `StepRow`."""
        try:
            column: Array = self._columns[_POSITION[name]]
        except KeyError:
            raise AttributeError(name) from None
        return column

    def select(self, chosen: NDArray[Any]) -> Rows:
        """Return the rows of the chosen cases (mask or positions)."""
        return Rows(self._columns[:, chosen])

    def __len__(self) -> int:
        """Return the number of cases."""
        return int(self._columns.shape[1])


_POSITION: Final = {name: position for position, name in enumerate(FIELDS)}


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds of one step and of its parts; arrays of one shape."""

    total: Array
    read: Array
    arithmetic: Array
    collectives: Array
    overhead: Array


def _join(read: Array, arithmetic: Array) -> Array:
    """Smooth maximum: the fourth root of the sum of fourth powers."""
    read2 = read * read
    arithmetic2 = arithmetic * arithmetic
    joined: Array = np.sqrt(np.sqrt(read2 * read2 + arithmetic2 * arithmetic2))
    return joined


def _classes(rows: Rows, sequences: Array, context: Array, tokens: Array) -> list[tuple[Array, Array]]:
    """Read and arithmetic time of dense matrices, experts, LM head and decode attention."""
    coverage = -np.expm1(tokens * rows.expert_spread * rows.expert_log_miss)
    # Under attention-DP the step waits for the rank that holds a sequence, however few there are.
    held = np.where(sequences > 0, np.maximum(sequences, rows.attention_ranks), 0.0)
    window1 = np.minimum(context, rows.kv1_window)
    window2 = np.minimum(context, rows.kv2_window)
    kv = rows.kv_token * context + rows.kv1_token * window1 + rows.kv2_token * window2 + rows.state
    attention = rows.att_token * context + rows.att1_token * window1 + rows.att2_token * window2
    return [
        (rows.dense_read, rows.dense_flop * tokens),
        (rows.expert_read * coverage, rows.expert_flop * (tokens + rows.expert_offset * coverage)),
        (rows.head_read, rows.head_flop * sequences),
        (held * kv, held * attention),
    ]


def step_time(
    rows: Rows,
    sequences: Array,
    context: Array,
    prefill_tokens: Array,
    prefill_context: Array,
    samples: Array,
) -> StepTime:
    """Time of one step with `sequences` decoding at mean `context` and `prefill_tokens` beside them.

    `prefill_context` is the mean number of tokens that a prefill token attends to; `samples` how many
    prompts end in this step. All arrays have the shape of the rows.
    """
    tokens = sequences * rows.verified_tokens + prefill_tokens
    read = np.zeros_like(tokens)
    arithmetic = np.zeros_like(tokens)
    total = np.zeros_like(tokens)
    for class_read, class_arithmetic in _classes(rows, sequences, context, tokens):
        joined = _join(class_read, class_arithmetic)
        total += joined
        read += np.where(class_read >= class_arithmetic, joined, 0.0)
        arithmetic += np.where(class_read < class_arithmetic, joined, 0.0)
    attended = rows.patt_token * prefill_context + rows.patt1_token * np.minimum(
        prefill_context, rows.patt1_window
    )
    prefill = prefill_tokens * attended + rows.head_flop * samples
    arithmetic += prefill
    traffic = rows.activation_token * tokens
    read += traffic
    collectives = rows.comm_fixed + rows.comm_token * tokens
    overhead = rows.overhead_fixed + rows.overhead_sequence * sequences
    total += prefill + traffic + collectives + overhead
    return StepTime(total, read, arithmetic, collectives, overhead)


#: The limiters in the order in which `limiter_index` numbers them.
LIMITERS: Final = (
    Limiter.MEMORY_BANDWIDTH,
    Limiter.COMPUTE,
    Limiter.INTERCONNECT,
    Limiter.OVERHEAD,
    Limiter.CAPACITY,
)


def limiter_index(*weighted: tuple[Array, StepTime]) -> NDArray[np.intp]:
    """Position in `LIMITERS` of the largest part of several steps, each weighted by its share of the run."""
    read = sum((weight * step.read for weight, step in weighted), start=np.float64(0))
    arithmetic = sum((weight * step.arithmetic for weight, step in weighted), start=np.float64(0))
    collectives = sum((weight * step.collectives for weight, step in weighted), start=np.float64(0))
    overhead = sum((weight * step.overhead for weight, step in weighted), start=np.float64(0))
    parts = np.stack(np.broadcast_arrays(read, arithmetic, collectives, overhead))
    largest: NDArray[np.intp] = np.argmax(parts, axis=0)
    return largest


def decode_step(rows: Rows, sequences: Array, context: Array) -> StepTime:
    """Time between two steps of one sequence with `sequences` in a replica, pipeline stages included.

    With p stages each micro-batch holds sequences / p and passes all of them.
    """
    zero = np.zeros_like(sequences)
    micro_batch = np.maximum(sequences / rows.stages, 1.0)
    step = step_time(rows, micro_batch, context, zero, zero, zero)
    stretch = 1.0 + rows.bubble * (rows.stages - 1.0)
    return StepTime(
        step.total * stretch,
        step.read * stretch,
        step.arithmetic * stretch,
        step.collectives * stretch,
        step.overhead * stretch,
    )


def prefill_step(rows: Rows, prompt: Array, waiting: Array) -> tuple[Array, StepTime]:
    """Tokens of a prefill chunk when `waiting` prompts of `prompt` tokens queue, and the time of that chunk.

    A chunk takes as many whole prompts as max_batched_tokens admits, or part of one.
    """
    chunk = np.minimum(rows.chunk_tokens, np.maximum(prompt * waiting, 1.0))
    zero = np.zeros_like(prompt)
    # A token of a prompt attends to half of it on average.
    step = step_time(rows, zero, zero, chunk, prompt * 0.5, chunk / np.maximum(prompt, 1.0))
    return chunk, step


def request_prefill(rows: Rows, prompt: Array, waiting: Array) -> tuple[Array, StepTime]:
    """Seconds that one prompt takes from the replica when `waiting` queue, its server time included."""
    chunk, step = prefill_step(rows, prompt, waiting)
    # Stages work on different chunks at once, so each chunk costs the replica its share.
    busy = np.where(prompt > 0, step.total * prompt / chunk / rows.stages, 0.0)
    return busy + rows.request, step
