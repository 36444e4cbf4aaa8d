"""Units that stay with their figures."""

import pytest

from gpudesk.text.formatting import bind_units


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("MI355X (440 ms, 55%) and B200 SXM", "MI355X (440\u00a0ms, 55%) and B200 SXM"),
        ("1.620 tok/s, zu 54 % am besten", "1.620\u00a0tok/s, zu 54\u00a0% am besten"),
        ("You need 9 × MI355X", "You need 9\u00a0×\u00a0MI355X"),
        ("3 months, 2 servers", "3 months, 2 servers"),
    ],
)
def test_figures_are_bound_to_their_units(text: str, bound: str) -> None:
    assert bind_units(text) == bound
