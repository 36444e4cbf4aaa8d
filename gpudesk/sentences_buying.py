"""The sentences of what stands beside a recommendation: buying or waiting, routing, loading weights.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BUYING_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # What a cost lacks
        "deciding.no_throughput": "{accelerator} has no throughput here, so its tokens have no cost",
        "deciding.lacks": "No {kind} of {accelerator} is on record; state it among the inputs of costs",
        # The next part
        "buying.same": "{accelerator} is the part that would be bought now; name another to wait for",
        "buying.no_next": "There is no next part: waiting is compared as going on without either",
        "buying.shipping": "{accelerator} ships already, so it is taken as to be had today; state its "
        "delivery if it takes longer",
        "buying.planned": "{accelerator} is planned for {date}, which is counted from {today}",
        "buying.overdue": "{accelerator} was planned for {date} and is still only announced: state when it "
        "can be had",
        "buying.no_date": "{accelerator} has no date of release that can be counted from: state when it can "
        "be had",
        # What the months rest on
        "buying.no_rent": "No accelerator compared has both a rent and a throughput, so a month without one "
        "has no cost; state what it is worth",
        "buying.rented_meanwhile": "A month without hardware of one’s own costs what renting {accelerator} "
        "for it does, software included",
        "buying.rent_is_cheaper": "A month of rent costs less than one of owning {accelerator}: this speaks "
        "for renting, whatever comes next",
        "buying.tokens_of_demand": "The tokens of a month are those of the demand, on average",
        "buying.tokens_of_deployment": "The tokens of a month are all that the deployment of {accelerator} "
        "works out in its hours of use",
        # What documents' rules say
        "buying.launch_soon": "A launch within {months} months is for buying, says the scorecard of "
        "February 2024",
        "buying.launch_late": "A launch {months} months away or more is for waiting, says the scorecard of "
        "February 2024",
        "buying.launch_between": "The scorecard of February 2024 says nothing of a launch {soon} to {late} "
        "months away, so it is worked out here",
        "buying.tuned": "Models that are tuned for {accelerator} are for waiting, says the scorecard of "
        "February 2024",
        "buying.slip_assumed": "No slip is stated. Up to {months} months are taken, the two quarters that "
        "the scorecard of February 2024 sees in a late tape-out; who has not priced a slip should buy, it "
        "says",
        "buying.slip_stated": "A slip is priced, as the scorecard of February 2024 asks of those who wait",
        "buying.live": "A service that runs today is for buying, says the comparison of May 2026",
        "buying.not_live": "What does not run yet can be looked at again when the next part ships, says the "
        "comparison of May 2026",
        "buying.level_software": "For {year} the comparison of March 2026 expects software to be level, so "
        "that figures and cost decide",
        "buying.weigh_software": "For {year} the comparison of March 2026 weighs both, software among it",
        "buying.computed_wait": "The documents’ rules say to buy, the arithmetic says to wait",
        "buying.computed_buy": "The documents’ rules say to wait, the arithmetic says to buy",
        "buying.rules_contradict": "The documents’ rules contradict each other here, so the arithmetic "
        "decides",
        # Routing
        "routing.same": "both columns have the same accelerator; take two that differ",
        "routing.no_rate": "answers no requests under this load; change the load or the limits",
        "routing.capped": "Long prompts are shortened so that they end within the {tokens} tokens of {model}",
        "routing.context_unknown": "How many tokens {model} takes is not known; long prompts are four times "
        "the others",
        "routing.rate_of_baseline": "As many requests are to be answered as the first column answers under "
        "its load",
        "routing.rate_of_load": "As many requests are to be answered as the load of the scenario sends",
        "routing.no_reserve": "Without a demand nothing is in reserve: no spare replicas, and those that "
        "work are full but for arriving requests",
        "routing.one_kind": "All requests are of one kind, so there is nothing to split",
        "routing.apart": "Pools are apart: a router hands each request to the pool of its kind. Two vendors "
        "in one pool are another matter, since its slower replicas set the pace",
        # Inputs of plans
        "plans.one_part": "there is one accelerator only; add a second one to split requests between two",
        "plans.working": "Working out the plan",
        # Loading weights
        "loading.no_link": "The rate at which {accelerator} is fed from its host is not known",
        "loading.no_host": "How many {accelerator} share a host is not known, only that {domain} share a "
        "scale-up domain",
        "loading.one_way": "The PCIe rate on record counts both directions; weights come in at half of it, "
        "{bandwidth}",
        "loading.own_links": "Each of the {count} accelerators has a link of its own, if the memory of the "
        "host keeps up with {bandwidth}",
        "loading.superchip": "{accelerator} sits beside its processor on a faster link than PCIe, so that "
        "what lies in the memory of the host comes sooner",
        "loading.one_memory": "{accelerator} shares its memory with its processor: nothing passes PCIe but "
        "what comes from outside the package",
        "loading.no_storage": "How fast storage is was not stated, so the time is that of weights which lie "
        "in the memory of the host",
        "loading.least": "These are the shortest times there can be: opening, checking and rearranging files "
        "come on top",
    }
)

BUYING_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lacks.price": "purchase price",
        "lacks.power": "power",
        "lacks.rent": "rent",
    }
)

BUYING_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
