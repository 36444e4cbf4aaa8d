"""Reference data for a recommendation: deployments, software support, export control, and signals to watch.

The export score is the total processing performance (TPP) of the US Commerce Control List, technical notes to ECCN
3A090: 2 x MacTOPS x bit length of the operation on dense matrices, the largest over the formats. Data sheets count a
multiply-add as two operations, so it equals TFLOPS x bits. Arithmetic, not legal advice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum


@frozen_dataclass
class ReferenceDeployment:
    """A deployment reported by a document.

    `named` is whether the operator is named; otherwise `who` is a description. `accelerators` are catalog ids, `count`
    is their number, None if not printed. `date` is the ISO month or day of the report. `basis` is the kind of source,
    `statements` and `disputes` are catalog ids.
    """

    id: str
    who: str
    named: bool
    what: str
    basis: str
    source: str
    platform: str | None = None
    accelerators: tuple[str, ...] = ()
    count: int | None = None
    date: str | None = None
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


def find_references(references: tuple[ReferenceDeployment, ...], *accelerators: str) -> tuple[ReferenceDeployment, ...]:
    return tuple(each for each in references if not set(each.accelerators).isdisjoint(accelerators))


class SupportLevel(LabeledEnum):
    """How well a software runs on a platform, in the documents' terms, from the lowest level."""

    NONE = "none", "not supported"
    COMMUNITY = "community", "community support"
    LAGS = "lags", "lags behind"
    WORKS = "works", "works"
    VALIDATED = "validated", "validated"
    FIRST_CLASS = "first-class", "first-class"
    FULL = "full", "full support"


@frozen_dataclass
class SupportEntry:
    """One source's statement on one software on one platform.

    `date` is the ISO month or day of the statement, None without one. `scope` limits its validity. `statements` and
    `disputes` are catalog ids.
    """

    software: str
    name: str
    platform: str
    level: SupportLevel
    scope: str
    source: str
    date: str | None = None
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


@frozen_dataclass
class SoftwareSupport:
    """All entries, by software in the order of its file."""

    entries: tuple[SupportEntry, ...]

    @property
    def software(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entry.software for entry in self.entries))

    def support(self, platform: str, software: str | None = None) -> tuple[SupportEntry, ...]:
        """Return the statements on a platform, or on one software there: the newest first, undated last."""
        entries = (entry for entry in self.entries if entry.platform == platform and software in (None, entry.software))
        return sort_newest_first(entries)


def sort_newest_first(entries: Iterable[SupportEntry]) -> tuple[SupportEntry, ...]:
    """Return entries with the newest first; entries of one date keep their order."""
    return tuple(sorted(entries, key=lambda entry: entry.date or "", reverse=True))


#: Bits of an operand, by the names of the catalog's peaks. TF32 is stored in 32 bits and multiplied in 19; the rules
#: leave open which counts, so it is left out.
BIT_LENGTHS: Final[Mapping[str, int]] = {
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
_TERA: Final = 1e12


def compute_processing_performance(flops: float, bits: int) -> float:
    """Return the TPP of a dense peak in FLOP/s with operands of so many bits."""
    return flops / _TERA * bits


class ExportMetric(LabeledEnum):
    """The quantity that a rule limits."""

    TPP = "tpp", "TPP"
    #: TPP over the area of the logic dies in mm2, which the catalog lacks.
    DENSITY = "density", "Performance density"
    #: Bytes/s of all DRAM.
    MEMORY_BANDWIDTH = "memory_bandwidth", "Memory bandwidth"


class LimitSide(StrEnum):
    """The side of a figure on which a value lies; an exact match is above."""

    ABOVE = "above"
    BELOW = "below"
    UNKNOWN = "unknown"


@frozen_dataclass
class ExportLimit:
    """One figure of a rule, which includes values from `value` on with `at_least`, else those below."""

    measured: ExportMetric
    value: float
    at_least: bool


@frozen_dataclass
class ExportRuleLine:
    """One description of a rule: it applies if every one of its limits is met."""

    name: str
    limits: tuple[ExportLimit, ...]
    note: str | None = None


@frozen_dataclass
class ExportRuleReference:
    """The source of the wording or the figures of a rule; `date` is None without one."""

    title: str
    url: str
    date: str | None = None


@frozen_dataclass
class ExportRule:
    """A rule or a notice about one, with ISO dates. Without lines no score is compared.

    `counts` describes what it counts, `covers` are the destinations named in the text. `in_force` is None if its date
    is unknown. `not_enforced_since` is the date from which its publisher does not enforce it; `superseded_by` is the id
    of another rule.
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
    lines: tuple[ExportRuleLine, ...] = ()
    covers: tuple[str, ...] = ()
    not_enforced_since: str | None = None
    superseded_by: str | None = None
    read_in: tuple[ExportRuleReference, ...] = ()

    @property
    def is_active(self) -> bool:
        return self.superseded_by is None and self.not_enforced_since is None

    @property
    def is_control(self) -> bool:
        """Whether reaching its limits requires a license; a rule with upper limits alone eases the review."""
        return any(limit.at_least for line in self.lines for limit in line.limits)


@frozen_dataclass
class RefutedStatement:
    """A document's refuted statement on a rule, with the arithmetic that refutes it.

    `peak` is the dense peak in FLOP/s used, `limit` the TPP of the rule, and `worked` the id of the printed figure that
    is computed again.
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
        return compute_processing_performance(self.peak, self.bits)


@frozen_dataclass
class ExportRuleSet:
    """All rules, the newest first, and refuted statements about them; `read` is the day of the research."""

    read: str
    rules: tuple[ExportRule, ...]
    refused: tuple[RefutedStatement, ...] = ()


@frozen_dataclass
class ExportScore:
    """The score of one format: dense FLOP/s x bits; `bits` is None if the format is left out."""

    precision: str
    flops: float
    bits: int | None

    @property
    def tpp(self) -> float | None:
        return None if self.bits is None else compute_processing_performance(self.flops, self.bits)


@frozen_dataclass
class LimitComparison:
    """A value and a limit of a rule; `value` is None if unknown."""

    limit: ExportLimit
    value: float | None

    @property
    def standing(self) -> LimitSide:
        if self.value is None:
            return LimitSide.UNKNOWN
        return LimitSide.ABOVE if self.value >= self.limit.value else LimitSide.BELOW

    @property
    def met(self) -> bool | None:
        """Whether the value meets the description, None if undecided."""
        if self.value is None:
            return None
        return (self.standing is LimitSide.ABOVE) is self.limit.at_least


@frozen_dataclass
class ExportLineCheck:
    """One description of a rule, compared with the facts of the accelerator."""

    line: ExportRuleLine
    comparisons: tuple[LimitComparison, ...]

    @property
    def met(self) -> bool | None:
        """Whether all limits are met, None if undecided."""
        return _hold_all(each.met for each in self.comparisons)


@frozen_dataclass
class ExportRuleCheck:
    """A rule applied to an accelerator.

    `named` is whether the text of the rule names the destination, None without a destination or if the rule names none.
    """

    rule: ExportRule
    lines: tuple[ExportLineCheck, ...]
    named: bool | None = None

    @property
    def met(self) -> bool | None:
        """Whether any of its descriptions is met, None if undecided or without one."""
        outcomes = [line.met for line in self.lines]
        if True in outcomes:
            return True
        return None if None in outcomes or not outcomes else False

    @property
    def threshold(self) -> LimitComparison | None:
        """The first figure that the score is compared with, None without one."""
        return self.lines[0].comparisons[0] if self.lines else None


@frozen_dataclass
class ExportCheck:
    """The arithmetic of dated rules for one accelerator.

    `scores` are those of its formats, the largest first and those left out last; `tpp` is the largest, None if no dense
    peak is known. The last of the `notes` tells the user to check with the current rule and counsel.
    """

    accelerator: str
    name: str
    scores: tuple[ExportScore, ...]
    tpp: float | None
    rules: tuple[ExportRuleCheck, ...]
    refused: tuple[RefutedStatement, ...]
    notes: tuple[Message, ...]
    destination: str | None = None


def _hold_all(truths: Iterable[bool | None]) -> bool | None:
    outcomes = list(truths)
    if False in outcomes:
        return False
    return None if None in outcomes else True


#: The value of a signal: a number in the unit of its threshold, or yes or no.
WatchValue = int | float | bool


@frozen_dataclass
class WatchNote:
    """The user's note on a signal: its value, the ISO day or month of it, and the source."""

    signal: str
    value: WatchValue
    date: str
    source: str
    note: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return ("watch", self.signal)


class ThresholdDirection(StrEnum):
    """The direction in which a signal passes its threshold."""

    BELOW = "below"
    ABOVE = "above"


@frozen_dataclass
class SignalThreshold:
    """The threshold of a signal, in `unit`; reaching it is not enough."""

    value: float
    unit: str
    direction: ThresholdDirection

    def passed(self, value: float) -> bool:
        return value < self.value if self.direction is ThresholdDirection.BELOW else value > self.value

    def missing(self, value: float) -> float:
        """Return the distance of a value to it, 0 once past."""
        return 0.0 if self.passed(value) else abs(value - self.value)


@frozen_dataclass
class KnownSignalValue:
    """A published value of a signal; `about` describes the measurement.

    `source` is the id of a catalog source, `statements` and `disputes` are ids there.
    """

    value: WatchValue
    date: str
    source: str
    about: str
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


@frozen_dataclass
class WatchSignal:
    """A signal to watch. Without a threshold it is a yes-or-no question, and passes with yes.

    `if_passed` and `if_not` describe the consequences. `known` are values on record, the newest first, possibly none.
    `statements` are those behind the signal itself.
    """

    id: str
    source: str
    dated: str
    title: str
    look_for: str
    if_passed: str
    if_not: str
    threshold: SignalThreshold | None = None
    known: tuple[KnownSignalValue, ...] = ()
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()

    def passed(self, value: WatchValue) -> bool:
        """Whether it has passed with a value, which is a number if there is a threshold."""
        return bool(value) if self.threshold is None else self.threshold.passed(float(value))

    def takes(self, value: object) -> bool:
        """Whether a value has its type: yes or no, or a number."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number if self.threshold is not None else isinstance(value, bool)


@frozen_dataclass
class SignalStatus:
    """A signal with its current value: the user's note, or else the newest value on record.

    `passed` is None if nothing is known. `idle` is a note of the wrong type, which has no effect: an upgrade can change
    the type of a signal.
    """

    signal: WatchSignal
    note: WatchNote | None
    known: KnownSignalValue | None
    passed: bool | None
    idle: WatchNote | None = None

    @property
    def value(self) -> WatchValue | None:
        """The current value, None if unknown."""
        signal_value = self.note or self.known
        return None if signal_value is None else signal_value.value

    @property
    def date(self) -> str | None:
        signal_value = self.note or self.known
        return None if signal_value is None else signal_value.date

    @property
    def missing(self) -> float | None:
        """The distance of the value to the threshold in its unit, None without a number."""
        threshold, value = self.signal.threshold, self.value
        return None if threshold is None or value is None else threshold.missing(float(value))


def make_watch_list(signals: Iterable[WatchSignal], notes: Iterable[WatchNote]) -> tuple[SignalStatus, ...]:
    """Return every signal with its current value; notes about other signals are kept."""
    notes_by_signal = {note.signal: note for note in notes}
    return tuple(_make_signal_status(signal, notes_by_signal.get(signal.id)) for signal in signals)


def _make_signal_status(signal: WatchSignal, note: WatchNote | None) -> SignalStatus:
    fits = note is not None and signal.takes(note.value)
    own = note if fits else None
    latest = signal.known[0] if signal.known else None
    current = own or latest
    passed = None if current is None else signal.passed(current.value)
    return SignalStatus(signal, own, latest, passed, idle=None if fits else note)
