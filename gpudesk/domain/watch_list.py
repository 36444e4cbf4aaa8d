"""The watch list: signals that would change a choice, and the newest known value of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

#: What a signal is at: a number in the unit of its threshold, or yes or no.
WatchValue = int | float | bool


@dataclass(frozen=True, slots=True)
class WatchNote:
    """What the user found out about a signal: its value, the ISO day or month of that, and where from."""

    signal: str
    value: WatchValue
    date: str
    source: str
    note: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return ("watch", self.signal)


class ThresholdDirection(StrEnum):
    """On which side of its threshold a signal has passed."""

    BELOW = "below"
    ABOVE = "above"


@dataclass(frozen=True, slots=True)
class SignalThreshold:
    """A number that a signal has to get past, in `unit`; reaching it is not enough."""

    value: float
    unit: str
    direction: ThresholdDirection

    def passed(self, value: float) -> bool:
        return value < self.value if self.direction is ThresholdDirection.BELOW else value > self.value

    def missing(self, value: float) -> float:
        """Return how far a value is from it, 0 once it is past."""
        return 0.0 if self.passed(value) else abs(value - self.value)


@dataclass(frozen=True, slots=True)
class KnownSignalValue:
    """A published value of a signal; `about` describes what was measured.

    `source` is the id of a source of the catalog, `statements` and `disputes` are ids there.
    """

    value: WatchValue
    date: str
    source: str
    about: str
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchSignal:
    """Something to watch. Without a threshold it is a matter of yes or no, and passes with yes.

    `if_passed` and `if_not` say what it changes. `known` are values on record, the newest first; there may be
    none. `statements` are those that the signal itself rests on.
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
        """Whether it has passed with a value, which is a number where there is a threshold."""
        return bool(value) if self.threshold is None else self.threshold.passed(float(value))

    def takes(self, value: object) -> bool:
        """Whether a value is of its form: yes or no, or a number."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number if self.threshold is not None else isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class SignalStatus:
    """A signal with what holds of it: the user's note, or else the newest value on record.

    `passed` is None if nothing is known. `idle` is a note that is not of the signal's form, which has no
    effect: an upgrade may have given the signal another one.
    """

    signal: WatchSignal
    note: WatchNote | None
    known: KnownSignalValue | None
    passed: bool | None
    idle: WatchNote | None = None

    @property
    def value(self) -> WatchValue | None:
        """The value that holds, None if nothing is known."""
        signal_value = self.note or self.known
        return None if signal_value is None else signal_value.value

    @property
    def date(self) -> str | None:
        signal_value = self.note or self.known
        return None if signal_value is None else signal_value.date

    @property
    def missing(self) -> float | None:
        """How far the value is from the threshold in its unit, None without a number."""
        threshold, value = self.signal.threshold, self.value
        return None if threshold is None or value is None else threshold.missing(float(value))


def make_watch_list(signals: Iterable[WatchSignal], notes: Iterable[WatchNote]) -> tuple[SignalStatus, ...]:
    """Return every signal with what holds of it; notes about other signals stay where they are."""
    notes_by_signal = {note.signal: note for note in notes}
    return tuple(_make_signal_status(signal, notes_by_signal.get(signal.id)) for signal in signals)


def _make_signal_status(signal: WatchSignal, note: WatchNote | None) -> SignalStatus:
    fits = note is not None and signal.takes(note.value)
    own = note if fits else None
    latest = signal.known[0] if signal.known else None
    current = own or latest
    passed = None if current is None else signal.passed(current.value)
    return SignalStatus(signal, own, latest, passed, idle=None if fits else note)
