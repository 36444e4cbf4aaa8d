"""The watch list: signals that would change a choice, and the newest known value of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

#: The value of a signal: a number in the unit of its threshold, or yes or no.
WatchValue = int | float | bool


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
