"""What a token costs, and what it takes in energy, from the cost of a deployment and its throughput."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.units import HOURS_PER_YEAR, SECONDS_PER_HOUR
from gpudesk.economics.owning import Amount

_MILLION: Final = 1e6
_JOULES_PER_KWH: Final = 3.6e6


def served_tokens(tokens_per_s: Amount, hours: Amount, utilisation: Amount) -> Amount:
    """Return the tokens of so many hours, of which a share is worked at the rate given."""
    return tokens_per_s * hours * utilisation * SECONDS_PER_HOUR


def owned_usd_per_million(
    total_usd: Amount, tokens_per_s: Amount, years: Amount, utilisation: Amount
) -> Amount:
    """Return dollars for a million tokens of a deployment that is owned."""
    return total_usd / served_tokens(tokens_per_s, years * HOURS_PER_YEAR, utilisation) * _MILLION


def rented_usd_per_million(usd_per_hour: Amount, tokens_per_s: Amount, utilisation: Amount) -> Amount:
    """Return dollars for a million tokens of a deployment that is rented by the hour.

    `usd_per_hour` is for the whole deployment, `utilisation` the share of rented hours that is worked.
    """
    return usd_per_hour / served_tokens(tokens_per_s, 1.0, utilisation) * _MILLION


def api_usd_per_million_output(
    usd_per_million_input: Amount, usd_per_million_output: Amount, input_tokens: Amount, output_tokens: Amount
) -> Amount:
    """Return what a hosted API charges for a million output tokens with the prompts that go with them."""
    return usd_per_million_output + usd_per_million_input * input_tokens / output_tokens


def blended(usd_per_million_output: Amount, input_tokens: Amount, output_tokens: Amount) -> Amount:
    """Return the cost of a million output tokens spread over input and output tokens alike."""
    return usd_per_million_output * output_tokens / (input_tokens + output_tokens)


def joules_per_token(kilowatts: Amount, tokens_per_s: Amount) -> Amount:
    """Return joules of a token at so many kW at the meter."""
    return kilowatts * _JOULES_PER_KWH / SECONDS_PER_HOUR / tokens_per_s


def saving(cost_a: Amount, cost_b: Amount, throughput_ratio: Amount = 1.0) -> Amount:
    """Return the share by which a token of A is cheaper than one of B; `throughput_ratio` is A over B."""
    return 1.0 - cost_a / cost_b / throughput_ratio


def tie_ratio(cost_a: Amount, cost_b: Amount, saved: Amount = 0.0) -> Amount:
    """Return the throughput of A over that of B at which a token of A is cheaper by the share `saved`."""
    return cost_a / cost_b / (1.0 - saved)
