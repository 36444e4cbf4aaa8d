"""What tells one fault from another, and how often it came."""

import sys
from collections.abc import Callable
from types import TracebackType

from gpudesk.desktop.window.faults.log import FaultTally, make_fault, make_signature

Caught = tuple[type[BaseException], BaseException, TracebackType | None]


def caught(act: Callable[[], object]) -> Caught:
    try:
        act()
    except Exception as error:  # noqa: BLE001 - whatever it is
        return type(error), error, error.__traceback__
    raise AssertionError("nothing was raised")


def broken(what: object) -> None:
    raise ValueError(f"no use for {what}")


def also_broken() -> None:
    raise ValueError("no use for this")


def test_the_same_place_is_the_same_fault_whatever_its_message_says() -> None:
    first, second = caught(lambda: broken(object())), caught(lambda: broken(object()))
    assert str(first[1]) != str(second[1])
    kinds = {make_signature(kind, trace)[1][-2:] for kind, _, trace in (first, second)}
    assert len(kinds) == 1


def test_another_place_or_type_is_another_fault() -> None:
    signatures = {
        make_signature(kind, trace)
        for kind, _, trace in (caught(lambda: broken(1)), caught(also_broken), caught(lambda: int("x")))
    }
    assert len(signatures) == 3


def test_a_fault_without_a_trace_can_be_told_too() -> None:
    fault = make_fault(RuntimeError, RuntimeError("from afar"), None)
    assert fault.place == ""
    assert fault.trace == "RuntimeError: from afar\n"
    assert make_signature(RuntimeError, None) == ("builtins.RuntimeError", ())


def test_a_fault_names_the_innermost_line_of_our_own() -> None:
    from gpudesk.text.translation import tr
    from gpudesk.text.units import GIB

    assert GIB
    fault = make_fault(*caught(lambda: tr("{missing}")))
    assert fault.place.startswith("text/translation.py:")
    assert fault.kind == "KeyError"


def test_an_endless_recursion_is_told_in_a_text_of_bounded_length() -> None:
    def deeper(n: int) -> int:
        return shallower(n) + 1 if n % 2 else shallower(n + 1) + 2

    def shallower(n: int) -> int:
        return deeper(n + 1) - 1

    limit = sys.getrecursionlimit()
    fault = make_fault(*caught(lambda: deeper(0)))
    assert sys.getrecursionlimit() == limit
    assert len(fault.trace) < 25_000
    assert fault.trace.startswith("Traceback (most recent call last):")
    assert fault.trace.rstrip().endswith("maximum recursion depth exceeded")


def test_an_error_that_cannot_be_written_is_told_all_the_same() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def raise_it() -> None:
        raise OddError

    fault = make_fault(*caught(raise_it))
    assert "OddError: <exception str() failed>" in fault.trace


def test_of_what_comes_again_only_the_doublings_are_worth_a_line() -> None:
    tally = FaultTally()
    worth = [n for n in range(1, 101) if tally.is_worth_a_line(tally.count("a"))]
    assert worth == [1, 2, 4, 8, 16, 32, 64]
    assert tally.ends() == [("a", 100)]


def test_only_so_many_different_things_are_told_apart() -> None:
    tally = FaultTally(most=3)
    assert [tally.count(n) for n in range(5)] == [1, 1, 1, 0, 0]
    assert not tally.is_worth_a_line(0)
    assert tally.count(0) == 2
