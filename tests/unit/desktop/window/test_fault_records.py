"""Signatures of internal errors, and counts of their repetitions."""

import sys
from collections.abc import Callable
from types import TracebackType

from gpudesk.desktop.window.faults.log import FaultTally, make_fault, make_signature

CaughtException = tuple[type[BaseException], BaseException, TracebackType | None]


def catch(call: Callable[[], object]) -> CaughtException:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever it is
        return type(error), error, error.__traceback__
    raise AssertionError("no exception was raised")


def raise_varying_message(what: object) -> None:
    raise ValueError(f"no use for {what}")


def raise_constant_message() -> None:
    raise ValueError("no use for this")


def test_signature_ignores_the_message() -> None:
    first, second = catch(lambda: raise_varying_message(object())), catch(lambda: raise_varying_message(object()))
    assert str(first[1]) != str(second[1])
    kinds = {make_signature(kind, trace)[1][-2:] for kind, _, trace in (first, second)}
    assert len(kinds) == 1


def test_signature_depends_on_location_and_type() -> None:
    signatures = {
        make_signature(kind, trace)
        for kind, _, trace in (
            catch(lambda: raise_varying_message(1)),
            catch(raise_constant_message),
            catch(lambda: int("x")),
        )
    }
    assert len(signatures) == 3


def test_record_without_a_traceback() -> None:
    fault = make_fault(RuntimeError, RuntimeError("from afar"), None)
    assert fault.place == ""
    assert fault.trace == "RuntimeError: from afar\n"
    assert make_signature(RuntimeError, None) == ("builtins.RuntimeError", ())


def test_record_names_the_innermost_line_of_the_program() -> None:
    from gpudesk.text.translation import tr
    from gpudesk.text.units import GIB

    assert GIB
    fault = make_fault(*catch(lambda: tr("{missing}")))
    assert fault.place.startswith("text/translation.py:")
    assert fault.kind == "KeyError"


def test_trace_of_an_infinite_recursion_is_bounded() -> None:
    def deeper(n: int) -> int:
        return shallower(n) + 1 if n % 2 else shallower(n + 1) + 2

    def shallower(n: int) -> int:
        return deeper(n + 1) - 1

    limit = sys.getrecursionlimit()
    fault = make_fault(*catch(lambda: deeper(0)))
    assert sys.getrecursionlimit() == limit
    assert len(fault.trace) < 25_000
    assert fault.trace.startswith("Traceback (most recent call last):")
    assert fault.trace.rstrip().endswith("maximum recursion depth exceeded")


def test_exception_whose_str_fails_is_recorded() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def raise_odd_error() -> None:
        raise OddError

    fault = make_fault(*catch(raise_odd_error))
    assert "OddError: <exception str() failed>" in fault.trace


def test_repetitions_are_logged_at_powers_of_two() -> None:
    tally = FaultTally()
    worth = [n for n in range(1, 101) if tally.is_worth_a_line(tally.count("a"))]
    assert worth == [1, 2, 4, 8, 16, 32, 64]
    assert tally.ends() == [("a", 100)]


def test_tally_counts_a_limited_number_of_signatures() -> None:
    tally = FaultTally(most=3)
    assert [tally.count(n) for n in range(5)] == [1, 1, 1, 0, 0]
    assert not tally.is_worth_a_line(0)
    assert tally.count(0) == 2
