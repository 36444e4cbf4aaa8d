"""Time of one step of one replica, and of a round of steps, vectorized over independent cases.

A step takes b decoding sequences and m prefill tokens through all layers. Each operator class takes the smooth maximum
of the time to read its bytes and the time for its arithmetic:

    T = (x^2 + z^2)^(1/2),  x = bytes / (bandwidth x efficiency),  z = FLOPs / (peak x efficiency)

Classes: dense matrices, routed experts (of which a batch touches some, see `compute_expert_coverage`), LM head,
attention over the cache. Added to these: collectives, activation traffic, time per layer and per step.
In a round of a replica, every running sequence is prefilled and decoded once.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimate import Limiter
from gpudesk.frozen_dataclass import frozen_dataclass

Array = NDArray[np.float64]


@frozen_dataclass
class StepCoefficients:
    """Step coefficients of one deployment; attention-DP divides cache and attention by its ranks.

    Group 0 of the cache grows without limit; groups 1 and 2 end at their window.
    """

    dense_read: float  # s, to read all dense matrices once
    dense_flop: float  # s per token, arithmetic of the dense matrices
    expert_read: float  # s, to read all routed experts once
    expert_flop: float  # s per token, arithmetic of the routed experts
    expert_offset: float  # tokens, loss of grouped kernels with few tokens per expert
    expert_log_miss: float  # ln(1 - k/E)
    expert_evenness: float  # expert popularity, see `compute_expert_coverage`
    expert_spread: float  # replicas that share one set of experts
    expert_skew: float  # see `compute_expert_coverage`
    expert_call_fixed: float  # s, calls of all experts of a rank, on top of their bytes and arithmetic
    head_read: float  # s, to read the LM head once
    head_flop: float  # s per token of one attention rank, arithmetic of the LM head
    kv_token: float  # s, to read one cached token of one sequence in group 0
    kv1_token: float  # s, the same in group 1
    kv1_window: float  # tokens
    kv2_token: float  # s, the same in group 2
    kv2_window: float  # tokens
    state: float  # s, to read the recurrent state of one sequence and write it back
    att_token: float  # s, decode arithmetic of one new token against one cached token in group 0
    att1_token: float  # s, the same in group 1
    att2_token: float  # s, the same in group 2
    patt_token: float  # s, prefill arithmetic of one token against one earlier token
    patt1_token: float  # s, the same if a window ends it
    patt1_window: float  # tokens
    pstate_token: float  # s per prompt token, passes over the recurrent states
    patt_offset: float  # extra tokens that a prompt token seems to attend to: tiles of short prompts are not full
    comm_fixed: float  # s, direct collectives of a step
    comm_token: float  # s per token, the same
    ring_fixed: float  # s, ring collectives of a step, with higher latency and less traffic
    ring_token: float  # s per token, the same
    overhead_fixed: float  # s, launches and norms of all layers
    prefill_fixed: float  # s, minimum time of a prefill chunk: the host launches its kernels one by one
    host_fixed: float  # s, scheduling and sampling of a step
    host_sequence: float  # s per sequence, the same
    host_overlap: float  # share of host time hidden behind the accelerator
    activation_token: float  # s per token, memory passes of activations
    attention_ranks: float  # ranks over which attention-DP divides sequences, else 1
    stages: float  # pipeline stages
    bubble: float  # slowdown per stage after the first, of steps of several sequences
    request: float  # s per request outside of the steps
    chunk_tokens: float  # most tokens in a step
    tokens_per_step: float  # tokens per sequence that a step yields
    verified_tokens: float  # tokens per sequence that a step computes
    step_batch_cap: float  # most sequences in a step
    latency: float  # s, network time of a request and its first token
    mixes: float  # 1 if prompts run in one step with the tokens of running sequences, 0 if they run first
    on_demand: float  # 1 if memory is allocated as a sequence grows, 0 if its full length is reserved
    burst_equal: float  # share of equal requests that meet a burst in a steady closed loop with mixed steps
    burst_varied: float  # the same of varied requests
    limit_queue: float  # share of the p99 TTFT limit that queues take, beyond the prompt, under the highest load
    gather_steps: float  # decode steps after which attention ranks prefill together, under p99 limits


COEFFICIENT_NAMES: Final = tuple(field.name for field in fields(StepCoefficients))
#: The values of a row in the order of `COEFFICIENT_NAMES`.
get_coefficients: Final = attrgetter(*COEFFICIENT_NAMES)


def stack_coefficients(coefficients: StepCoefficients, count: int) -> Array:
    """Stack coefficients of `count` deployments, arrays or scalars, into an array (fields, count)."""
    return np.array([np.broadcast_to(column, count) for column in get_coefficients(coefficients)])


class CoefficientColumns:
    """A set of cases, each with its row of step coefficients.

    Columns are read as attributes by field name; each is taken from the table on first use.
    """

    def __init__(self, table: Array, cases: NDArray[np.intp] | None = None) -> None:
        """Use a table of shape (fields, rows), and the row of each case (None: one case per row)."""
        self._table = table
        self._cases = np.arange(table.shape[1]) if cases is None else cases

    @classmethod
    def table(cls, rows: list[StepCoefficients]) -> Array:
        """Return the rows as an array of shape (fields, rows), to select cases from."""
        values = np.array([get_coefficients(row) for row in rows], dtype=np.float64)
        return np.ascontiguousarray(values.reshape(len(rows), len(COEFFICIENT_NAMES)).T)

    def __getattr__(self, name: str) -> Array:
        """Return the column of a field of `StepCoefficients`, and cache it."""
        if name not in _POSITION:
            raise AttributeError(name)
        column: Array = self._table[_POSITION[name]].take(self._cases)
        setattr(self, name, column)
        return column

    def select(self, chosen: NDArray[Any] | slice) -> CoefficientColumns:
        """Return the rows of the selected cases (mask, positions or slice)."""
        return CoefficientColumns(self._table, self._cases[chosen])

    def __len__(self) -> int:
        return len(self._cases)


class SingleCoefficients(CoefficientColumns):
    """One coefficient row for cases of any shape: its columns are scalars and cost nothing."""

    def __init__(self, table: Array, row: int) -> None:
        """Use a table of shape (fields, rows) and the position of the row."""
        super().__init__(table, np.array([row]))

    def __getattr__(self, name: str) -> Array:
        """Return the value of a field of `StepCoefficients`, and cache it."""
        value = super().__getattr__(name)[0, ...]
        setattr(self, name, value)
        return value

    def select(self, chosen: NDArray[Any] | slice) -> SingleCoefficients:  # noqa: ARG002 - all cases share the row
        return self


_POSITION: Final = {name: position for position, name in enumerate(COEFFICIENT_NAMES)}


@frozen_dataclass
class StepTime:
    """Seconds of one step and of its parts; arrays of one shape.

    `own` is the time that its tokens add to a step that runs anyway.
    """

    total: Array
    read_time: Array
    arithmetic: Array
    collectives: Array
    overhead: Array
    own: Array


def _join(read_time: Array, arithmetic: Array) -> Array:
    """Smooth maximum: the root of the sum of squares.

    Single kernels switch more sharply from memory-bound to compute-bound, but the matrices of a layer switch at
    different batches.
    """
    joined: Array = np.sqrt(read_time * read_time + arithmetic * arithmetic)
    return joined


def _join_classes(*classes: tuple[Array, Array]) -> tuple[Array, Array]:
    """Time of operator classes, each given by reading and arithmetic, and the arithmetic share of it."""
    first, *others = classes
    total = _join(*first)
    arithmetic = total * (first[1] > first[0])
    for class_read, class_arithmetic in others:
        joined = _join(class_read, class_arithmetic)
        # Not in place: classes can have different shapes.
        total = total + joined
        arithmetic = arithmetic + joined * (class_arithmetic > class_read)
    return total, arithmetic


def compute_expert_coverage(rows: CoefficientColumns, tokens: Array) -> Array:
    """Share of its experts that a step of this many tokens touches on the most loaded rank, see `compute_coverage`."""
    others = np.maximum(tokens * rows.expert_spread - 1.0, 0.0)
    return compute_coverage(others, rows.expert_log_miss, rows.expert_evenness, rows.expert_skew)


def compute_coverage(others: Array, log_miss: Array, evenness: Array, skew: Array) -> Array:
    """Share of its experts that a token and the `others` in its step touch on the most loaded rank.

    The first token touches k/E of them. Each further token misses an expert with a probability of 1 - k/E on average
    (`log_miss` is its logarithm), but expert popularity follows a gamma distribution of shape a, the `evenness`. The
    share that n tokens touch is

        1 - (1 - k/E) x (1 + (n - 1) x -ln(1 - k/E) / a)^-a

    which for large a (equal popularity) becomes 1 - (1 - k/E)^n. Of the ranks that share experts,
    the most loaded touches `skew` x (p (1 - p))^1/2 more than this mean share p.
    """
    missed = np.log1p(others * (-log_miss / evenness))
    coverage: Array = -np.expm1(log_miss - evenness * missed)
    if not skew.any():
        return coverage
    return np.minimum(coverage + skew * np.sqrt(coverage * (1.0 - coverage)), 1.0)


def _compute_matrix_times(
    rows: CoefficientColumns, tokens: Array, busiest: Array
) -> tuple[tuple[Array, Array], tuple[Array, Array], Array]:
    """Reading and arithmetic of the dense matrices and of the experts, and the calls of the experts.

    `tokens` run through the layers of all ranks; `busiest` is the same number if attention-DP balances them, and higher
    if it cannot.
    """
    coverage = compute_expert_coverage(rows, tokens)
    return (
        (rows.dense_read, rows.dense_flop * busiest),
        (rows.expert_read * coverage, rows.expert_flop * (tokens + rows.expert_offset * coverage)),
        rows.expert_call_fixed * coverage,
    )


def compute_cache_read(rows: CoefficientColumns, context: Array) -> Array:
    """Seconds to read the cache of one sequence of `context` tokens and to write its state back."""
    window1 = np.minimum(context, rows.kv1_window)
    window2 = np.minimum(context, rows.kv2_window)
    cache_read: Array = rows.kv_token * context + rows.kv1_token * window1 + rows.kv2_token * window2 + rows.state
    return cache_read


def compute_decode_attention(rows: CoefficientColumns, context: Array) -> tuple[Array, Array]:
    """Seconds to read the cache of one sequence, and of the arithmetic of one new token over it."""
    window1 = np.minimum(context, rows.kv1_window)
    window2 = np.minimum(context, rows.kv2_window)
    attend = rows.att_token * context + rows.att1_token * window1 + rows.att2_token * window2
    return compute_cache_read(rows, context), attend


def compute_prefill_attention(rows: CoefficientColumns, attended: Array) -> Array:
    """Seconds in which one prefill token attends to `attended` tokens."""
    window = np.minimum(attended, rows.patt1_window) + rows.patt_offset
    return rows.patt_token * (attended + rows.patt_offset) + rows.patt1_token * window


@frozen_dataclass
class OperatorTimes:
    """Seconds of one step by operator class: to read its bytes, and for its arithmetic.

    `expert_calls` come on top of the experts' joined time.
    """

    dense: tuple[Array, Array]
    experts: tuple[Array, Array]
    expert_calls: Array
    head: tuple[Array, Array]
    attention: tuple[Array, Array]


def compute_decode_operators(rows: CoefficientColumns, micro_batch: Array, context: Array) -> OperatorTimes:
    """Operator classes of a decode step of `micro_batch` sequences of `context` tokens each."""
    tokens = micro_batch * rows.verified_tokens
    sequences = np.maximum(micro_batch, rows.attention_ranks)
    busiest = sequences * rows.verified_tokens
    cache, attend = compute_decode_attention(rows, context)
    return OperatorTimes(
        *_compute_matrix_times(rows, tokens, busiest),
        head=(rows.head_read, rows.head_flop * busiest / rows.attention_ranks),
        attention=(cache * sequences, attend * busiest),
    )


def compute_prefill_operators(
    rows: CoefficientColumns, prompt: Array, chunk: Array, busiest: Array, cached: Array | float
) -> OperatorTimes:
    """Operator classes of a prefill chunk; its attention works on chip and reads nothing.

    `busiest` is the chunk size of the most loaded attention rank.
    """
    sampled = busiest / (np.maximum(prompt, 1.0) * rows.attention_ranks)
    # A token attends to the cached tokens, and on average to half of its own prompt.
    attention = busiest * compute_prefill_attention(rows, cached + prompt * 0.5)
    return OperatorTimes(
        *_compute_matrix_times(rows, chunk, busiest),
        head=(rows.head_read, rows.head_flop * sampled),
        attention=(np.zeros_like(attention), attention),
    )


#: The limiters in the order of the indexes of `find_limiter`.
LIMITERS: Final = (Limiter.MEMORY_BANDWIDTH, Limiter.COMPUTE, Limiter.INTERCONNECT, Limiter.OVERHEAD, Limiter.CAPACITY)


def split_time(overhead: Array, *weighted: tuple[Array, StepTime]) -> tuple[Array, Array, Array, Array]:
    """Seconds of several steps by the first four of `LIMITERS`, each step weighted by its count.

    `overhead` is the time of the run outside its steps.
    """
    read_time: Array = np.zeros(1)
    arithmetic, collectives, idle = read_time, read_time, overhead
    for weight, step in weighted:
        read_time = read_time + weight * step.read_time
        arithmetic = arithmetic + weight * step.arithmetic
        collectives = collectives + weight * step.collectives
        idle = idle + weight * step.overhead
    return read_time, arithmetic, collectives, idle


def find_limiter(parts: tuple[Array, Array, Array, Array]) -> NDArray[np.intp]:
    """Index in `LIMITERS` of the largest of the times that `split_time` returns."""
    most, *others = parts
    largest = np.zeros(most.shape, dtype=np.intp)
    for position, part in enumerate(others, start=1):
        largest[part > most] = position
        most = np.maximum(most, part)
    return largest


def compute_stretch(rows: CoefficientColumns, sequences: Array) -> Array | float:
    """Slowdown of steps by stages that wait for each other, as soon as there are several sequences."""
    later = rows.stages - 1.0
    if not later.any():
        return 1.0
    stretch: Array = 1.0 + rows.bubble * later * np.minimum(np.maximum(sequences - 1.0, 0.0), 1.0)
    return stretch


def compute_decode_step(rows: CoefficientColumns, sequences: Array, context: Array) -> StepTime:
    """Time between two steps of one sequence with `sequences` in a replica, pipeline stages included.

    With p stages each micro-batch holds sequences / p and passes all of them. Under attention-DP the step waits for a
    rank that holds a sequence, however few there are.
    """
    micro_batch = np.maximum(sequences / rows.stages, 1.0)
    classes = compute_decode_operators(rows, micro_batch, context)
    total, arithmetic = _join_classes(classes.dense, classes.experts, classes.head, classes.attention)
    padded_batch = np.maximum(micro_batch, rows.attention_ranks)
    busiest = padded_batch * rows.verified_tokens
    traffic = rows.activation_token * busiest
    stretch = compute_stretch(rows, sequences)
    collectives, moved = _compute_collectives(rows, micro_batch * rows.verified_tokens)
    # The host of each stage schedules every micro-batch.
    scheduled = rows.stages * rows.host_sequence * (padded_batch / rows.attention_ranks)
    own = classes.dense[1] + classes.experts[1] + classes.head[1] + np.maximum(*classes.attention)
    return _compute_step(
        rows,
        (total - arithmetic + traffic + classes.expert_calls) * stretch,
        arithmetic * stretch,
        collectives * stretch,
        (rows.stages * rows.host_fixed + scheduled) * stretch,
        stretch,
        (own + traffic + moved + (1.0 - rows.host_overlap) * scheduled) * stretch,
    )


def _compute_collectives(rows: CoefficientColumns, tokens: Array) -> tuple[Array, Array]:
    """Seconds of the collectives of a step by the faster algorithm, and the share due to its tokens."""
    direct = rows.comm_fixed + rows.comm_token * tokens
    total = np.minimum(direct, rows.ring_fixed + rows.ring_token * tokens)
    return total, total - np.minimum(rows.comm_fixed, rows.ring_fixed)


def _compute_step(
    rows: CoefficientColumns,
    read_time: Array,
    arithmetic: Array,
    collectives: Array,
    host: Array,
    stretch: Array | float,
    own: Array | None = None,
    least: Array | float = 0.0,
) -> StepTime:
    """Add up a step of at least `least` seconds; host time is hidden as far as the serving engine overlaps it."""
    launches = rows.overhead_fixed * stretch
    busy_time = read_time + arithmetic + collectives
    overhead = launches + host - rows.host_overlap * np.minimum(host, busy_time + launches)
    overhead = np.maximum(overhead, least - busy_time)
    total = busy_time + overhead
    own = total if own is None else np.minimum(own, total)
    return StepTime(total, read_time, arithmetic, collectives, overhead, own)


def compute_prefill_step(
    rows: CoefficientColumns, prompt: Array, waiting: Array, cached: Array | float = 0.0
) -> tuple[Array, StepTime]:
    """Tokens of a prefill chunk with `waiting` queued prompts, and the time of that chunk.

    `prompt` tokens of each are computed and attend to `cached` earlier tokens. A chunk takes as many whole prompts as
    max_batched_tokens admits, or part of one. Under attention-DP a prompt is on one rank, so that few prompts leave the
    other ranks idle.
    """
    spread = np.clip(waiting, 1.0, rows.attention_ranks) / rows.attention_ranks
    chunk = np.minimum(rows.chunk_tokens * spread, np.maximum(prompt * waiting, 1.0))
    busiest = chunk / spread
    classes = compute_prefill_operators(rows, prompt, chunk, busiest, cached)
    total, arithmetic = _join_classes(classes.dense, classes.experts)
    attention = classes.attention[1] + classes.head[1]
    return chunk, _compute_step(
        rows,
        total
        - arithmetic
        + rows.head_read
        + (rows.activation_token + rows.pstate_token) * busiest
        + classes.expert_calls,
        arithmetic + attention,
        _compute_collectives(rows, chunk)[0],
        rows.stages * rows.host_fixed,
        1.0,
        least=rows.prefill_fixed,
    )


def compute_request_prefill(
    rows: CoefficientColumns, prompt: Array, waiting: Array, cached: Array | float = 0.0
) -> tuple[Array, StepTime]:
    """Replica seconds of one prompt with `waiting` in the queue, including its server time.

    At least its last token is computed, even if the whole prompt is cached.
    """
    computed = np.maximum(prompt, 1.0)
    chunk, step = compute_prefill_step(rows, computed, waiting, cached)
    # Stages work on different chunks at once, so each chunk costs the replica its share.
    return step.total * computed / chunk * compute_stretch(rows, waiting) / rows.stages + rows.request, step


Mask = NDArray[np.bool_]


@frozen_dataclass
class ReplicaRequests:
    """Requests of one replica: prompt tokens to compute, prompt tokens cached, output tokens, and limits.

    `capacity` is how many sequences the replica admits, at least 1; all arrays of one shape. `spread` is the excess of
    the longest varied output over the mean, relative to real traffic.
    """

    prompt: Array
    held_prompt: Array
    output: Array
    capacity: Array
    varied: Mask
    spread: Array | float = 1.0

    @property
    def cached(self) -> Array:
        return self.held_prompt - self.prompt

    @property
    def context(self) -> Array:
        return self.held_prompt + 0.5 * self.output

    @property
    def later(self) -> Array:
        """Output tokens after the first, which the prompt yields."""
        return np.maximum(self.output - 1.0, 0.0)

    def select(self, chosen: NDArray[Any] | slice) -> ReplicaRequests:
        return ReplicaRequests(
            self.prompt[chosen],
            self.held_prompt[chosen],
            self.output[chosen],
            self.capacity[chosen],
            self.varied[chosen],
            self.spread[chosen] if isinstance(self.spread, np.ndarray) else self.spread,
        )


@frozen_dataclass
class PromptRound:
    """The prompts of one round, all in seconds of a replica.

    `prefill` is a chunk, `chunk` its share of the replica, `fill` the extra latency of the first chunk of a burst in
    the pipeline stages.
    """

    prefill: StepTime
    each_prompt: Array
    prompts: Array
    chunk: Array
    fill: Array

    @property
    def burst(self) -> Array:
        """Mean time to the first token if all prompts arrive at once: they finish chunk by chunk."""
        return self.fill + 0.5 * (self.prompts + np.maximum(self.each_prompt, self.chunk))


@frozen_dataclass
class ServingRound(PromptRound):
    """One round; all in seconds, apart from the count of decode `steps`.

    `parts` divides the round by the first four of `LIMITERS`, steps and prompts added up. `step` is a decode step, 0 if
    a single output token needs none. `shared` is the time saved by running prompts in one step with the tokens of
    others, and `added` the time that a prompt then adds.
    """

    decode: StepTime
    step: Array
    steps: Array
    decoding: Array
    shared: Array
    added: Array
    parts: tuple[Array, Array, Array, Array]

    @property
    def limiter(self) -> NDArray[np.intp]:
        """Index in `LIMITERS` of the largest share of the round."""
        return find_limiter(self.parts)

    @property
    def apart(self) -> Array:
        """Length of the round if all prompts run before all decode steps."""
        return self.decoding + self.prompts

    @property
    def seconds(self) -> Array:
        return self.decoding + self.prompts - self.shared

    @property
    def stall(self) -> Array:
        """The longest wait of running sequences for prompts: one chunk per stage between two tokens."""
        return np.minimum(self.prompts, self.steps * self.prefill.total)

    @property
    def tokens(self) -> Array:
        """The share of a mixed step that the tokens of other requests take."""
        return np.where(self.step > 0, self.decode.own, 0.0)

    def wait(self, rows: CoefficientColumns, prompt: Array, rate: Array) -> Array:
        """Mean wait of a prompt, besides its own prefill, with random arrivals.

        `rate` is arrivals per second. A prompt waits for the rest of the running step, which is likely to be a long
        one, since long steps take most of the time. Then it waits for prompts that arrived during that step: for those
        in its chunk, and for half of the others. The tokens in the same step come on top:

            tokens + long / 2 + added × (n + min(n, share)) / 2,  n = rate × long,
            long = step / (1 - ρ) + ρ × added / (1 - ρ²),  ρ = rate × added

        `long` is the mean square of a step over its mean if each step takes all prompts that arrived during the step
        before it, and `share` the other prompts that a chunk has room for.
        """
        busy = np.minimum(rate * self.added, 0.99)
        long = self.step / (1.0 - rows.mixes * busy) + busy * self.added / (1.0 - busy * busy)
        arrived = rate * long
        share = np.maximum(rows.chunk_tokens / np.maximum(prompt, 1.0) - 1.0, 0.0)
        behind = 0.5 * self.added * (arrived + np.minimum(arrived, share))
        waited: Array = rows.mixes * self.tokens + 0.5 * long + behind
        return waited

    def compute_loop_wait(self, rows: CoefficientColumns, prompt: Array, group: Array) -> Array:
        """Mean wait of a prompt, besides its own prefill, in a closed loop of varied lengths.

        The next prompt of a client arrives when the last token of the previous request is out, on average together with
        `group` - 1 others that end with the same step. It waits for the rest of the step that has begun by then, whose
        number of prompts is Poisson distributed, and for the others of its group, some of which share its chunk.
        """
        ends = group - 1.0
        mean = np.maximum(self.step + ends * self.added, 1e-12)
        under_way = 0.5 * (mean + ends * self.added * self.added / mean)
        share = np.clip(rows.chunk_tokens / np.maximum(prompt, 1.0), 1.0, group)
        behind = (0.5 * (group + share) - 1.0) * self.each_prompt
        waited: Array = rows.mixes * self.tokens + under_way + behind
        return waited


def compute_prompt_round(
    rows: CoefficientColumns, requests: ReplicaRequests, running: Array, waiting: Array
) -> PromptRound:
    """Compute the prompts of a round of `running` sequences, of which `waiting` queue for prefill together."""
    each, prefill = compute_request_prefill(rows, requests.prompt, waiting, requests.cached)
    chunk = prefill.total * compute_stretch(rows, waiting) / rows.stages
    return PromptRound(prefill, each, running * each, chunk, (rows.stages - 1.0) * chunk)


def compute_round(rows: CoefficientColumns, requests: ReplicaRequests, running: Array, waiting: Array) -> ServingRound:
    """Compute a round of `running` sequences, of which `waiting` queue for prefill together."""
    prompt_round = compute_prompt_round(rows, requests, running, waiting)
    decode = compute_decode_step(rows, running, requests.context)
    later = requests.later
    # A step yields no more tokens than the request still needs.
    steps = np.maximum(later / rows.tokens_per_step, np.minimum(later, 1.0))
    serving = running * rows.request
    chunks = (prompt_round.prompts - serving) / prompt_round.chunk
    # Chunks fall into steps at random, some into the same one. A lone prompt meets no decoding sequences.
    slots = steps * rows.stages
    busy_slots = slots * -np.expm1(-chunks / np.maximum(slots, 1e-12))
    together = rows.mixes * busy_slots * (1.0 - 1.0 / np.maximum(running, 1.0))
    shared = together * (decode.total - decode.own) / rows.stages
    shared = np.minimum(shared, prompt_round.prompts)
    return ServingRound(
        prefill=prompt_round.prefill,
        each_prompt=prompt_round.each_prompt,
        prompts=prompt_round.prompts,
        chunk=prompt_round.chunk,
        fill=prompt_round.fill,
        decode=decode,
        step=np.where(steps > 0, decode.total, 0.0),
        steps=steps,
        decoding=steps * decode.total,
        shared=shared,
        added=(prompt_round.prompts - shared) / running,
        parts=split_time(
            serving,
            (steps, decode),
            ((prompt_round.prompts - serving) / prompt_round.prefill.total, prompt_round.prefill),
        ),
    )


def compute_lone_ttft(rows: CoefficientColumns, requests: ReplicaRequests) -> Array:
    """Seconds to the first token of an uncontended prompt, through all pipeline stages."""
    computed = np.maximum(requests.prompt, 1.0)
    chunk, step = compute_prefill_step(rows, computed, np.ones(len(rows)), requests.cached)
    each = step.total * computed / chunk / rows.stages + rows.request
    return rows.latency + each + (1.0 - 1.0 / rows.stages) * step.total


def compute_tpot(requests: ReplicaRequests, seconds: Array) -> Array:
    """Seconds per output token after the first; NaN for a single output token."""
    later = requests.later
    return np.where(later > 0, seconds / np.maximum(later, 1.0), np.nan)
