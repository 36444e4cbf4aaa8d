"""What charts show beside the figures of an estimate: rooflines, shares of time, and KV against context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpudesk.domain.precision import Precision

#: Name of the share of time in which other requests are prefilled; the others have names of limiters.
PREFILL = "prefill"


class Share(NamedTuple):
    """A part of a time by what takes it: the name of a limiter, or `PREFILL`; shares add up to 1."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class StepShares:
    """Where the time of one deployment goes under its load.

    `run` divides all decode steps and all prefill; its largest share is the limiter of the estimate, except
    where memory admits no more. `token` divides the time of one output token (TPOT), in which the prefill
    of other requests is mixed; None for a single output token, or where there is no TPOT. `decode` divides
    one decode step, `prefill` one prefill chunk.
    """

    run: tuple[Share, ...]
    token: tuple[Share, ...] | None
    decode: tuple[Share, ...]
    prefill: tuple[Share, ...]


class RequestTime(NamedTuple):
    """The time of one request in seconds: waiting, its own prefill, its output; together `request_s`.

    `queue_s` is waiting for a place in the cache, for the prompts before it and for steps under way.
    `decode_s` counts from the first token to the last, with the prefill of others that comes between.
    """

    queue_s: float
    prefill_s: float
    decode_s: float


class Roof(NamedTuple):
    """What one accelerator can do at the most: bytes/s of its memory and FLOP/s of its arithmetic."""

    bandwidth: float
    flops: float

    @property
    def ridge(self) -> float:
        """FLOP/byte from which on arithmetic limits: peak / bandwidth."""
        return self.flops / self.bandwidth

    def at(self, intensity: float) -> float:
        """FLOP/s that the roof admits at an arithmetic intensity: min(peak, intensity x bandwidth)."""
        return min(self.flops, intensity * self.bandwidth)


class RooflinePoint(NamedTuple):
    """One step as one accelerator sees it: arithmetic done, bytes of weights and KV read, seconds taken.

    `flop` and `read_bytes` are those of all layers for the tokens of one micro-batch or chunk, which is
    what an accelerator works off in `seconds` also where layers are spread over pipeline stages.
    """

    tokens: float
    flop: float
    read_bytes: float
    seconds: float

    @property
    def intensity(self) -> float:
        """Arithmetic intensity, FLOP/byte."""
        return self.flop / self.read_bytes

    @property
    def flops(self) -> float:
        """FLOP/s of one accelerator: arithmetic / seconds."""
        return self.flop / self.seconds


@dataclass(frozen=True, slots=True)
class Roofline:
    """The roofs over one deployment, and where its prefill and its decode stand under them.

    `paper` has the memory bandwidth and the dense peak of the data sheet, the peak as stated for
    `peak_precision`, which is that of `arithmetic` or, where the part states none, the next wider one.
    `effective` has what calibrated efficiencies leave of both: of the bandwidth for what the decode step
    reads, of the peak for what the prefill chunk computes. A point is None where there is no such step.
    """

    arithmetic: Precision
    peak_precision: str
    paper: Roof
    effective: Roof
    prefill: RooflinePoint | None
    decode: RooflinePoint | None


@dataclass(frozen=True, slots=True)
class KvCurve:
    """KV cache of one deployment against context length, exact; arrays of one length.

    `sequence_bytes` is the cache of one sequence undivided, `fullest_bytes` what of it lies on the fullest
    accelerator. `max_concurrency` counts the sequences of that length that the whole deployment holds.
    `max_context` is the model's, None where it is not known; `tokens` is the length of the scenario's
    requests, one of `context` where the model reads as much.
    """

    context: tuple[int, ...]
    sequence_bytes: tuple[int, ...]
    fullest_bytes: tuple[int, ...]
    max_concurrency: tuple[int, ...]
    max_context: int | None
    tokens: int
