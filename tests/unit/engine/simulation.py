"""A replica step by step: what the closed forms of the loads are held against.

Every step reads the weights once, or computes for all of its tokens where that takes longer, as the rows of
`ROW` have it. Sequences keep the memory of their full length; or memory is given on demand, and where there
is none left the last to come gives way, to be computed again from its prompt and what it has made.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from gpudesk.engine.steps import Array, StepCoefficients
from tests.unit.engine.bench import PLAIN

#: Twenty milliseconds to read the weights, a tenth of one for each token.
ROW = replace(PLAIN, dense_read=20e-3, dense_flop=1e-4, burst_equal=0.0, burst_varied=0.0)


@dataclass(slots=True)
class Sequence:
    """One request on its way; times in seconds."""

    arrived: float
    output: int
    prompt: int
    prefilled: int = 0
    cached: int = 0
    generated: int = 0
    first: float = 0.0
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class Simulated:
    """Means over all requests, and requests/s of the whole run."""

    rate: float
    ttft: float
    tpot: float


def step_seconds(row: StepCoefficients, tokens: int, prompts: int) -> float:
    """Return how long a step of so many tokens takes, of which some belong to `prompts`."""
    return max(math.hypot(row.dense_read, row.dense_flop * tokens), row.prefill_fixed if prompts else 0.0)


class Replica:
    """A replica that is fed with equal prompts; `pool` is its cache in tokens, where that is on demand."""

    def __init__(self, row: StepCoefficients, capacity: int, pool: float = math.inf) -> None:
        self.row, self.capacity, self.pool = row, capacity, pool
        self.now = 0.0
        self.waiting: deque[Sequence] = deque()
        self.begun: list[Sequence] = []
        self.running: list[Sequence] = []

    def step(self) -> list[Sequence]:
        """Go through the layers once; return the requests that this ends."""
        mixes = self.row.mixes > 0
        gave_way = self._give_way()
        room = int(self.row.chunk_tokens) - (len(self.running) if mixes else 0)
        parts: list[tuple[Sequence, int]] = []
        while room > 0:
            unfinished = [
                one for one in self.begun if one.prefilled < one.prompt and all(one is not p for p, _ in parts)
            ]
            if not unfinished:
                full = len(self.begun) + len(self.running) >= self.capacity
                if not self.waiting or full or gave_way:
                    break
                if self._free(parts) < min(room, self.waiting[0].prompt):
                    break
                self.begun.append(self.waiting.popleft())
                continue
            left = unfinished[0].prompt - unfinished[0].prefilled
            prompt_tokens = int(min(room, left, self._free(parts)))
            if prompt_tokens < 1:
                break
            parts.append((unfinished[0], prompt_tokens))
            room -= prompt_tokens
        decoding = self.running if mixes or not parts else []
        self.now += step_seconds(self.row, len(decoding) + sum(tokens for _, tokens in parts), len(parts))
        return self._after(decoding, parts)

    def _free(self, parts: list[tuple[Sequence, int]]) -> float:
        cached_tokens = sum(one.prefilled + one.generated - one.cached for one in self.begun + self.running)
        return self.pool - cached_tokens - sum(tokens for _, tokens in parts)

    def _give_way(self) -> bool:
        """Preempt the last arrivals until all others can go on; return whether that was needed."""
        gave_way = False
        while self._free([]) < 0 and len(self.running) + len(self.begun) > 1:
            last = (self.begun or self.running).pop()
            last.prompt += last.generated - last.cached
            last.cached, last.prefilled = last.generated, 0
            self.waiting.appendleft(last)
            gave_way = True
        return gave_way

    def _after(self, decoding: list[Sequence], parts: list[tuple[Sequence, int]]) -> list[Sequence]:
        for one in decoding:
            one.generated += 1
        for one, tokens in parts:
            one.prefilled += tokens
            if one.prefilled == one.prompt:
                self.begun.remove(one)
                one.generated += 1
                one.first = one.first or self.now
                self.running.append(one)
        ended = [one for one in self.running if one.generated >= one.output]
        for one in ended:
            one.last = self.now
        self.running = [one for one in self.running if one.generated < one.output]
        return ended


def _means(finished: list[Sequence], seconds: float) -> Simulated:
    return Simulated(
        rate=len(finished) / seconds,
        ttft=float(np.mean([one.first - one.arrived for one in finished])),
        tpot=float(np.mean([(one.last - one.first) / (one.output - 1) for one in finished if one.output > 1])),
    )


def arriving(row: StepCoefficients, prompt: int, outputs: list[int], times: Array) -> Simulated:
    """Serve requests that arrive at the given times, in order."""
    replica = Replica(row, 10**6)
    finished: list[Sequence] = []
    coming = deque(Sequence(float(time), output, prompt) for time, output in zip(times, outputs, strict=True))
    while len(finished) < len(outputs):
        if not (replica.waiting or replica.begun or replica.running):
            replica.now = max(replica.now, coming[0].arrived)
        while coming and coming[0].arrived <= replica.now:
            replica.waiting.append(coming.popleft())
        finished += replica.step()
    return _means(finished, replica.now)


def looping(
    row: StepCoefficients, prompt: int, outputs: list[int], clients: int, capacity: int, pool: float = math.inf
) -> Simulated:
    """Serve clients that send the next request when the last is answered."""
    replica = Replica(row, capacity, pool)
    finished: list[Sequence] = []
    coming = deque(outputs)
    for _ in range(clients):
        replica.waiting.append(Sequence(0.0, coming.popleft(), prompt))
    while len(finished) < len(outputs):
        ended = replica.step()
        finished += ended
        for _ in ended[: len(coming)]:
            replica.waiting.append(Sequence(replica.now, coming.popleft(), prompt))
    return _means(finished, replica.now)
