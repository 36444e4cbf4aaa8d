"""Export control: scores of accelerators beside the figures of dated rules. Arithmetic, never legal advice.

The score is the total processing performance (TPP) of the US Commerce Control List, technical notes to ECCN
3A090: 2 x MacTOPS x bit length of the operation on dense matrices, the largest over the formats. Data sheets
count a multiplication with its addition as two operations, so that it is TFLOPS x bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.messages import Message

#: Bits of an operand, by the names of the catalog's peaks. TF32 is stored in 32 bits and multiplied in 19;
#: which of them counts is not settled here, so that it is left out.
BIT_LENGTHS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "fp64": 64,
        "fp64_matrix": 64,
        "fp32": 32,
        "bf16": 16,
        "fp16": 16,
        "fp8": 8,
        "int8": 8,
        "fp6": 6,
        "fp4": 4,
        "mxfp4": 4,
        "nvfp4": 4,
        "int4": 4,
    }
)
_TERA: Final = 1e12


def processing_performance(flops: float, bits: int) -> float:
    """Return the TPP of a dense peak in FLOP/s with operands of so many bits."""
    return flops / _TERA * bits


class Measured(StrEnum):
    """What a rule counts."""

    TPP = "tpp"
    #: TPP over the area of the logic dies in mm2, which the catalog does not have.
    DENSITY = "density"
    #: Bytes/s of all DRAM.
    MEMORY_BANDWIDTH = "memory_bandwidth"


class Standing(StrEnum):
    """On which side of a figure something lies; what reaches it exactly is above."""

    ABOVE = "above"
    BELOW = "below"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Limit:
    """One figure of a rule: with `at_least`, what is described reaches it; otherwise it stays below."""

    measured: Measured
    value: float
    at_least: bool


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One description of a rule: it holds where every one of its limits does."""

    name: str
    limits: tuple[Limit, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ReadIn:
    """Where the wording or the figures of a rule were read; `date` is None where it has none."""

    title: str
    url: str
    date: str | None = None


@dataclass(frozen=True, slots=True)
class ExportRule:
    """A rule or a notice about one, with ISO dates. Without lines no score is held against it.

    `counts` says in words what it counts, `covers` are destinations that what was read of it names.
    `in_force` is None where its day was not read. `not_enforced_since` is the day from which its publisher
    says so; `superseded_by` is the id of another.
    """

    id: str
    name: str
    publisher: str
    title: str
    published: str
    counts: str
    note: str
    in_force: str | None = None
    reference: str | None = None
    url: str | None = None
    lines: tuple[RuleLine, ...] = ()
    covers: tuple[str, ...] = ()
    not_enforced_since: str | None = None
    superseded_by: str | None = None
    read_in: tuple[ReadIn, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedClaim:
    """A statement of a document about a rule that does not hold, with the arithmetic that refuses it.

    `peak` is the dense peak in FLOP/s that is taken, `limit` the TPP of the rule, and `worked` the id of the
    printed figure that is worked out again.
    """

    statement: str
    dispute: str
    accelerators: tuple[str, ...]
    rule: str
    peak: float
    bits: int
    limit: float
    worked: str | None = None

    @property
    def tpp(self) -> float:
        """The score that refuses it."""
        return processing_performance(self.peak, self.bits)


@dataclass(frozen=True, slots=True)
class ExportRules:
    """All rules, the newest first, and statements about them that are refused; `read` is the day of that."""

    read: str
    rules: tuple[ExportRule, ...]
    refused: tuple[RefusedClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """The product for one format: dense FLOP/s x bits; `bits` is None where the format is left out."""

    precision: str
    flops: float
    bits: int | None

    @property
    def tpp(self) -> float | None:
        """The score, None for a format that is left out."""
        return None if self.bits is None else processing_performance(self.flops, self.bits)


@dataclass(frozen=True, slots=True)
class Held:
    """A figure beside a limit of a rule; `value` is None where it is not known. `says` puts it in words."""

    limit: Limit
    value: float | None
    says: Message

    @property
    def standing(self) -> Standing:
        """On which side of the limit it lies."""
        if self.value is None:
            return Standing.UNKNOWN
        return Standing.ABOVE if self.value >= self.limit.value else Standing.BELOW

    @property
    def met(self) -> bool | None:
        """Whether it is what the line describes, None where that cannot be told."""
        if self.value is None:
            return None
        return (self.standing is Standing.ABOVE) is self.limit.at_least


@dataclass(frozen=True, slots=True)
class LineCheck:
    """One description of a rule with what is known of the accelerator."""

    line: RuleLine
    held: tuple[Held, ...]

    @property
    def met(self) -> bool | None:
        """Whether all of it holds, None where that cannot be told."""
        return _all(each.met for each in self.held)


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule beside an accelerator; `says` puts the outcome in words.

    `named` is whether what was read of the rule names the destination, None without a destination or where
    the rule names none.
    """

    rule: ExportRule
    lines: tuple[LineCheck, ...]
    says: Message
    named: bool | None = None

    @property
    def met(self) -> bool | None:
        """Whether any of its descriptions holds, None where that cannot be told or it has none."""
        found = [line.met for line in self.lines]
        if True in found:
            return True
        return None if None in found or not found else False

    @property
    def threshold(self) -> Held | None:
        """The first figure that the score is held against, None where the rule has none."""
        return self.lines[0].held[0] if self.lines else None


@dataclass(frozen=True, slots=True)
class ExportCheck:
    """What arithmetic says of one accelerator under dated rules.

    `scores` are those of its formats, the largest first and those left out last; `tpp` is the largest, None
    where no dense peak is known. The last of the `notes` tells the user to check with the rule in force and
    counsel.
    """

    accelerator: str
    name: str
    scores: tuple[Score, ...]
    tpp: float | None
    rules: tuple[RuleCheck, ...]
    refused: tuple[RefusedClaim, ...]
    notes: tuple[Message, ...]
    destination: str | None = None


def _all(found: Iterable[bool | None]) -> bool | None:
    outcomes = list(found)
    if False in outcomes:
        return False
    return None if None in outcomes else True
