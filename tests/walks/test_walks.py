"""No walk touches more of the program than its ceiling allows."""

import pytest

from tests.walks.ceilings import CALLS, FILES
from tests.walks.measured import measure
from tests.walks.walk import WALKS


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_stays_below_its_ceilings(name: str) -> None:
    measured = measure(name)
    assert len(measured.files) <= FILES[name].now, "\n".join(measured.files)
    if name in CALLS:
        most = "\n".join(f"{count} {file} {function}" for file, function, count in measured.calls[:40])
        assert measured.call_count <= CALLS[name].now, most


def test_ceilings_are_at_or_above_their_goals() -> None:
    ceilings = [*FILES.values(), *CALLS.values()]
    assert all(ceiling.now >= ceiling.goal for ceiling in ceilings)
