"""How long an accelerator, and a host of them, takes to load the weights of a deployment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpudesk.domain.answers import Term
from gpudesk.domain.messages import Message


class LoadTime(NamedTuple):
    """What loading takes at the least, in seconds: over the host link, from storage, and both at once.

    What is read is passed on while more is read, so that the slower of both sets the time. `seconds` is None
    where the link is not known, and `reason` says why; `storage_s` is None where nobody stated a rate.
    """

    seconds: float | None
    link_s: float | None
    storage_s: float | None
    working: Term
    reason: Message | None = None


class QuotedLink(NamedTuple):
    """A rate of the host link that a source document states, in bytes/s, and what loading would take at it.

    `claim` is the id of its statement, `dated` the month of the document.
    """

    claim: str
    dated: str | None
    low_bytes_per_s: float
    high_bytes_per_s: float
    slowest_s: float
    fastest_s: float


@dataclass(frozen=True, slots=True)
class WeightLoading:
    """The time to load weights: of the fullest accelerator alone, and of all that one host has of them.

    `in_host` accelerators of the deployment share a host; None where that is not known. `link_bytes_per_s`
    is one direction of one accelerator's link, `storage_bytes_per_s` what storage gives to one host.
    """

    accelerator: str
    weights_bytes: int
    in_host: int | None
    link_bytes_per_s: float | None
    storage_bytes_per_s: float | None
    one: LoadTime
    host: LoadTime
    quoted: tuple[QuotedLink, ...] = ()
    notes: tuple[Message, ...] = ()
