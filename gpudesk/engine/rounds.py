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
    """What one replica serves: prompt tokens to compute, prompt tokens held, output tokens, and the limits.

    `capacity` is how many sequences the replica admits, at least 1; all arrays of one shape. `spread` is how
    far the longest of varied outputs is beyond the mean, over the same of real traffic.
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
        """Output tokens after the first, which comes with the prompt."""
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
    """A round; all in seconds, apart from the count of decode `steps`.

    `parts` divides all of it by the first four of `LIMITERS`, steps and prompts one after the other. `step`
    is a decode step, 0 if a single token leaves nothing to decode. `chunk` is what a prefill chunk takes
    from the replica, `fill` what the first one of a burst takes longer than that on its way through the
    pipeline stages. `shared` is what a round is shorter where prompts go through the layers in one step with
    the tokens of others, and `added` what a prompt then adds to it.
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
        """Position in `LIMITERS` of what takes most of the round."""
        return find_limiter(self.parts)

    @property
    def apart(self) -> Array:
        """Length of the round where all prompts come before all decode steps."""
        return self.decoding + self.prompts

    @property
    def seconds(self) -> Array:
        return self.decoding + self.prompts - self.shared

    @property
    def stall(self) -> Array:
        """The most that running sequences wait for prompts: one chunk on each stage between two tokens."""
        return np.minimum(self.prompts, self.steps * self.prefill.total)

    @property
    def burst(self) -> Array:
        """Mean time to the first token when all prompts come at once: they finish chunk by chunk."""
        return self.fill + 0.5 * (self.prompts + np.maximum(self.each_prompt, self.chunk))

    @property
    def tokens(self) -> Array:
        """What the tokens of others take of a step that a prompt goes through with them."""
        return np.where(self.step > 0, self.decode.own, 0.0)

    def wait(self, mixes: Array, rate: Array) -> Array:
        """Mean time that a prompt waits, beside its own prefill, where prompts come at random.

        `rate` is how many come in a second. A prompt waits for the rest of the step under way, which is
        likely to be a long one, since long ones take most of the time; and then for the prompts that came
        during that step as well, and for the tokens that go with it:

            tokens + (1/2 + ρ) × (step / (1 - ρ) + ρ × added / (1 - ρ²)),  ρ = rate × added

        The bracket is the mean square of a step over its mean where each step takes all prompts that came
        during the one before.
        """
        busy = np.minimum(rate * self.added, 0.99)
        step_wait = self.step / (1.0 - mixes * busy) + busy * self.added / (1.0 - busy * busy)
        waited: Array = mixes * self.tokens + (0.5 + busy) * step_wait
        return waited

    def loop_wait(self, rows: CoefficientColumns, prompt: Array, group: Array) -> Array:
        """Mean time that a prompt waits, beside its own prefill, in a closed loop of varied lengths.

        The next prompt of a client comes when the last token of the one before is out, together with those
        of `group` - 1 others on average that end with the same step, however long that took. It waits for the
        rest of the step that has begun by then, which has as many prompts as Poisson lets end with the
        step before, and for the others of its group, of which some share its chunk.
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
    # A step yields no more tokens than there are to come.
    steps = np.maximum(later / rows.tokens_per_step, np.minimum(later, 1.0))
    prompts = running * each
    chunk = prefill.total * compute_stretch(rows, waiting) / rows.stages
    serving = running * rows.request
    chunks = (prompts - serving) / chunk
    # Chunks fall into steps at random, some into the same one. A lone prompt finds nobody decoding.
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
    """Seconds to the first token of a prompt that has the replica to itself, all pipeline stages passed."""
    each, chunk = compute_request_prefill(rows, requests.prompt, np.ones(len(rows)), requests.cached)
    return rows.latency + each + (1.0 - 1.0 / rows.stages) * chunk.total


def compute_tpot(requests: ReplicaRequests, seconds: Array) -> Array:
    """Seconds from first to last token over the tokens between; NaN for a single output token."""
    return np.where(requests.later > 0, seconds / np.maximum(requests.later, 1.0), np.nan)
