"""One round of a replica: every running sequence is prefilled and decoded once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.steps import (
    Array,
    CoefficientColumns,
    StepTime,
    compute_decode_step,
    compute_request_prefill,
    compute_stretch,
    find_limiter,
    split_time,
)

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ServingRound:
    """One round; all in seconds, apart from the count of decode `steps`.

    `parts` divides the round by the first four of `LIMITERS`, steps and prompts added up. `step` is a decode step, 0 if
    a single output token needs none. `chunk` is the replica time of a prefill chunk, `fill` the extra latency of the
    first chunk of a burst in the pipeline stages. `shared` is the time saved by running prompts in one step with the
    tokens of others, and `added` the time that a prompt then adds.
    """

    decode: StepTime
    prefill: StepTime
    step: Array
    steps: Array
    decoding: Array
    each_prompt: Array
    prompts: Array
    chunk: Array
    fill: Array
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
    def burst(self) -> Array:
        """Mean time to the first token if all prompts arrive at once: they finish chunk by chunk."""
        return self.fill + 0.5 * (self.prompts + np.maximum(self.each_prompt, self.chunk))

    @property
    def tokens(self) -> Array:
        """The share of a mixed step that the tokens of other requests take."""
        return np.where(self.step > 0, self.decode.own, 0.0)

    def wait(self, mixes: Array, rate: Array) -> Array:
        """Mean wait of a prompt, besides its own prefill, with random arrivals.

        `rate` is arrivals per second. A prompt waits for the rest of the running step, which is likely to be a long
        one, since long steps take most of the time. Then it waits for the prompts that arrived during that step, and
        for the tokens in the same step:

            tokens + (1/2 + ρ) × (step / (1 - ρ) + ρ × added / (1 - ρ²)),  ρ = rate × added

        The bracket is the mean square of a step over its mean if each step takes all prompts that arrived during the
        step before it.
        """
        busy = np.minimum(rate * self.added, 0.99)
        step_wait = self.step / (1.0 - mixes * busy) + busy * self.added / (1.0 - busy * busy)
        waited: Array = mixes * self.tokens + (0.5 + busy) * step_wait
        return waited

    def loop_wait(self, rows: CoefficientColumns, prompt: Array, group: Array) -> Array:
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


def compute_round(rows: CoefficientColumns, requests: ReplicaRequests, running: Array, waiting: Array) -> ServingRound:
    """Compute a round of `running` sequences, of which `waiting` queue for prefill together."""
    each, prefill = compute_request_prefill(rows, requests.prompt, waiting, requests.cached)
    decode = compute_decode_step(rows, running, requests.context)
    later = requests.later
    # A step yields no more tokens than the request still needs.
    steps = np.maximum(later / rows.tokens_per_step, np.minimum(later, 1.0))
    prompts = running * each
    chunk = prefill.total * compute_stretch(rows, waiting) / rows.stages
    serving = running * rows.request
    chunks = (prompts - serving) / chunk
    # Chunks fall into steps at random, some into the same one. A lone prompt meets no decoding sequences.
    slots = steps * rows.stages
    busy_slots = slots * -np.expm1(-chunks / np.maximum(slots, 1e-12))
    together = rows.mixes * busy_slots * (1.0 - 1.0 / np.maximum(running, 1.0))
    shared = together * (decode.total - decode.own) / rows.stages
    shared = np.minimum(shared, prompts)
    return ServingRound(
        decode=decode,
        prefill=prefill,
        step=np.where(steps > 0, decode.total, 0.0),
        steps=steps,
        decoding=steps * decode.total,
        each_prompt=each,
        prompts=prompts,
        chunk=chunk,
        fill=(rows.stages - 1.0) * chunk,
        shared=shared,
        added=(prompts - shared) / running,
        parts=split_time(serving, (steps, decode), ((prompts - serving) / prefill.total, prefill)),
    )


def compute_lone_ttft(rows: CoefficientColumns, requests: ReplicaRequests) -> Array:
    """Seconds to the first token of an uncontended prompt, through all pipeline stages."""
    each, chunk = compute_request_prefill(rows, requests.prompt, np.ones(len(rows)), requests.cached)
    return rows.latency + each + (1.0 - 1.0 / rows.stages) * chunk.total


def compute_tpot(requests: ReplicaRequests, seconds: Array) -> Array:
    """Seconds per output token after the first; NaN for a single output token."""
    return np.where(requests.later > 0, seconds / np.maximum(requests.later, 1.0), np.nan)
