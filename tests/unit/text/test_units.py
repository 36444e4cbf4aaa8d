"""Units that stay with their figures."""

import pytest

from gpudesk.text.formatting import bind_end, bind_units


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("MI355X (440 ms, 55%) and B200 SXM", "MI355X (440\u00a0ms, 55%) and B200\u00a0SXM"),
        ("1.620 tok/s, mit 54 % Wahrscheinlichkeit", "1.620\u00a0tok/\u2060s, mit 54\u00a0% Wahrscheinlichkeit"),
        ("13,3 Anfragen/s und 10,2 kW", "13,3\u00a0Anfragen/\u2060s und 10,2\u00a0kW"),
        ("You need 9 × MI355X", "You need 9\u00a0×\u00a0MI355X"),
        ("3 months, 2 servers, CDNA 3 + Zen 4", "3\u00a0months, 2 servers, CDNA 3 + Zen\u00a04"),
        ("931 (667 – 1,180) in use", "931 (667\u00a0–\u00a01,180) in use"),
        ("owned/rented, vllm/sglang", "owned/rented, vllm/sglang"),
    ],
)
def test_figures_are_bound_to_their_units(text: str, bound: str) -> None:
    assert bind_units(text) == bound


def test_no_word_is_alone_in_the_last_line() -> None:
    text = "When owned, MI325X and B200 SXM are too close to call for this load, and so is renting."
    assert bind_end(text) == text.replace("so is renting", "so\u00a0is\u00a0renting")
    assert bind_end("Too close to call") == "Too close to call"
    assert bind_end("a" * 80) == "a" * 80
