"""Sentences of costs, decisions, purchases, sizing, fit, launch and topology."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BESIDE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Their data files
        "beside.twice": "has {id} twice; keep one",
        "beside.no_files": "has no data files; restore the folder",
        "beside.no_rule": "names {id}, which it does not have",
        "beside.unread": "does not say where {name} was read; name the place",
        "beside.condition": "has a condition that cannot be read: {reason}",
        "beside.form": "has a value that is not of the form of {signal}",
        # Export control
        "export.above": "{kind} {value} is at or above {limit}",
        "export.below": "{kind} {value} is below {limit}",
        "export.unknown": "{kind} is not known; the limit is {limit}",
        "export.met": "{rule}: the figures are those that it describes ({lines})",
        "export.not_met": "{rule}: the figures are not those that it describes",
        "export.unsettled": "{rule}: it cannot be told, since a figure is missing ({lines})",
        "export.no_figure": "{rule}: no score is held against it",
        "export.no_peak": "No dense peak of {accelerator} is known, so it has no score",
        "export.left_out": "Not in the score, as it is not settled how many of their bits count: {formats}",
        "export.announced": "{accelerator} is announced: its peaks are what the vendor says beforehand",
        "export.no_density": "Performance density takes the area of the dies, which the catalog does not "
        "have; it is not guessed",
        "export.refused": "Statement {statement} puts {accelerator} below the threshold; refused in "
        "{dispute}: {peak} TFLOPS × {bits} bits = {score}, and the threshold is {limit}",
        "export.destination": "What {destination} means for a licence depends on country groups, on who "
        "receives and uses the part and for what; none of that is judged here",
        "export.read": "Rules as they were read on {date}; what came later is not among them",
        "export.verify": "This is arithmetic with published peaks, and no legal advice: check the rule that "
        "is in force, and ask counsel, before anything is shipped",
        # The watch list
        "watch.step.note": "Note on the watch list: {signal}",
        "watch.step.remove": "Remove from the watch list: {signal}",
        "watch.no_note": "there is no note of yours on {signal}",
        "watch.no_source": "a note needs a source; say where you found it",
        "watch.no_date": "a note needs a date; say of when it is",
    }
)

BESIDE_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "export.tpp": "Total processing performance",
        "export.density": "Performance density",
        "export.memory_bandwidth": "Memory bandwidth",
        "support.none": "not supported",
        "support.community": "by the community",
        "support.lags": "behind",
        "support.works": "works",
        "support.validated": "validated",
        "support.first-class": "first-class",
        "support.full": "full",
    }
)

BESIDE_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})


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
        "buying.overdue": "{accelerator} was planned for {date} and is still only announced: state when it can be had",
        "buying.no_date": "{accelerator} has no date of release that can be counted from: state when it can be had",
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
        "buying.launch_soon": "A launch within {months} months is for buying, says the scorecard of February 2024",
        "buying.launch_late": "A launch {months} months away or more is for waiting, says the scorecard of "
        "February 2024",
        "buying.launch_between": "The scorecard of February 2024 says nothing of a launch {soon} to {late} "
        "months away, so it is worked out here",
        "buying.tuned": "Models that are tuned for {accelerator} are for waiting, says the scorecard of February 2024",
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
        "buying.rules_contradict": "The documents’ rules contradict each other here, so the arithmetic decides",
        # Routing
        "routing.same": "both columns have the same accelerator; take two that differ",
        "routing.no_rate": "answers no requests under this load; change the load or the limits",
        "routing.capped": "Long prompts are shortened so that they end within the {tokens} tokens of {model}",
        "routing.context_unknown": "How many tokens {model} takes is not known; long prompts are four times the others",
        "routing.rate_of_baseline": "As many requests are to be answered as the first column answers under its load",
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
        "loading.one_way": "The PCIe rate on record counts both directions; weights come in at half of it, {bandwidth}",
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
    {"lacks.price": "purchase price", "lacks.power": "power", "lacks.rent": "rent"}
)

BUYING_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})


COST_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "costs.assumption": "is no range of an input of costs; restore the file",
        "costs.currency": "{given} is no currency; write it as EUR=0.92@2026-11-01",
        "costs.drawing": "Drawing what is not known",
        "costs.no_part": "{given} is not in the scenario, which has {known}",
        "costs.range": "takes a number, or a list of three: at least, most likely, at most, in this order",
        "costs.set": "{given} states no input; write it as energy_usd_per_kwh=0.1 or mi325x.price_usd=22000",
    }
)

COST_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

COST_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})


DECIDE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "decide.flipping": "Looking for what would change it",
        "rules.twice": "rule {rule} is there twice; restore the file",
        "rules.none": "holds no rules; restore the files",
        "rules.condition": "has a condition that cannot be read: {reason}",
        "rules.entry": "is no rule: {reason}; restore the file",
        "rules.question": "asks {name}, which is no question",
        "decide.number": "{given} is neither a number nor {allowed}",
        "decide.too_many": "has more than {most} entries; leave some out",
        "decide.unknown_rule": "{given} is no rule; the closest: {near}",
        "decide.weight": "{given} states no weight; write it as D000-03=2",
        "decide.no_answers": "is no JSON object of answers to the questions of `decide --list-questions`",
        "decide.too_large": "is larger than {most}, so it holds no answers",
        "decide.answer": "{given} states no answer; write it as priority=cost",
    }
)

DECIDE_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

DECIDE_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})


DIALOGUE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "dialogue.nothing_to_port": "your software runs unchanged on everything compared",
        "dialogue.one_platform": "everything compared has the same software platform",
        "dialogue.owned": "you said that you own them: hours are not rented",
        "dialogue.rented": "you said that you rent: nothing is bought",
        "dialogue.starts_soon": "it starts in less than six months, before the next part could be had",
    }
)


FIT_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fit.below_one": "{given} is below 1; give a whole number from 1 on",
        "fit.finding": "Looking for the smallest deployments",
        "fit.no_label": "{accelerator} has no memory label to read",
        "fit.no_parameters": "how many parameters {model} has is not known",
    }
)

FIT_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

FIT_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})


LAUNCH_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "launch.missing": "lacks {names}; restore the file",
        "launch.unfit": "It does not fit, so there is nothing to start",
        "launch.pools": "Pools for prefill and decode are systems of their own; there are no commands for them here",
        "launch.unknown": "For {engine} no commands are known; choose another serving engine",
        "launch.checkpoint": "MODEL stands for a checkpoint of {model} in {weights}: a folder, or the "
        "name of a repository",
        "launch.replicas": "Start {count} of these, each on {each} accelerators and with a port of its own, "
        "behind a balancer; send the measurement to that",
        "launch.hosts_ray": "One replica spans {hosts} hosts: start a Ray cluster over them first",
        "launch.hosts_each": "One replica spans {hosts} hosts: run the command on each, with RANK from 0 to "
        "{last} and FIRST_HOST the name of the first",
        "launch.hosts_launcher": "One replica spans {hosts} hosts: run {launcher} before the command, as one "
        "task for each accelerator",
        "launch.domain": "One scale-up network joins {domain} of them over several machines: where a replica "
        "takes more than one machine, start it over all of these",
        "launch.beyond_context": "{tokens} tokens are more than the {most} that {model} is made for: the "
        "server refuses such requests",
        "launch.kv": "{engine} has no option there for a KV cache in {kv}; it takes what the checkpoint says",
        "launch.varied": "Requests of the estimate vary in length, so the server admits twice the mean; the "
        "measurement sends them all with the mean lengths",
        "launch.speculative": "Speculative decoding needs a draft model, which the command does not name",
        "launch.prefixes": "Prefixes are kept, but random prompts share none: measure with prompts of your own",
        "launch.eager": "{engine} has no option there to run without captured graphs",
    }
)

LAUNCH_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

LAUNCH_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})


SIZING_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sizing.no_demand": "says nothing of what users ask; give users, requests a second or tokens a day",
        "sizing.no_option": "no demand is given; give --users, --request-rate or --tokens-per-day",
        "sizing.pools": "is set up as pools of its own, which are not sized yet; size it without them",
        "sizing.nothing_fits": "No deployment of it that is tried holds the model and one request",
        "sizing.limits_not_met": "No deployment of {accelerator} that is tried meets the limits; with a "
        "single request it reaches {ttft} to the first token and {tpot} a token",
        "sizing.in_flight": "{count} requests are in flight at the peak, more than there are users: each has "
        "several at a time, or asks less often than is stated",
        "sizing.domain": "A host stands for the {domain} accelerators that one scale-up network joins, which "
        "are in several machines",
        "sizing.bound_rounding": "× {factor}: only whole replicas can be had, of {count} each",
        "sizing.bound_rounding:one": "× {factor}: only whole accelerators can be had",
        "sizing.bound_reserve": "× {factor}: {count} stand in reserve",
        "sizing.bound_reserve:one": "× {factor}: one stands in reserve",
        "sizing.bound_cap": "× {factor}: replicas are loaded to {share} of their rate",
        "sizing.bound_limits": "× {factor}: the latency limits leave {share} of the rate without them",
        "sizing.bound_arithmetic": "× {factor}: prompts and output are computed too, at the peak rate of "
        "arithmetic beside reading memory",
        "sizing.bound_engine": "× {factor}: kernels, communication and overhead leave {share} of the peak rates",
    }
)

SIZING_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

SIZING_COUNTED: Final[Mapping[str, str]] = MappingProxyType(
    {"sizing.bound_rounding": "count", "sizing.bound_reserve": "count"}
)


TOPOLOGY_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topology.falls_idle": "slower than on {fewer}: stages wait {share} of the time",
        "topology.falls_links": "slower than on {fewer}: links take {share} of a step",
        "topology.falls_overhead": "slower than on {fewer}: overhead takes {share} of a step",
        "topology.pools": "its accelerators form pools, each with its own plan; compare it without them",
        "topology.unspread": "Neither is spread over several accelerators, so nothing is lost to links.",
        "topology.cost": "Of a decode step of {many}, {share} goes to communication with one request at a "
        "time ({each} a token), {now} at this load.",
        "topology.bandwidth_more": "Links leave it {left} of memory bandwidth, {ahead} more than {few} keeps "
        "({whole}).",
        "topology.bandwidth_less": "Links leave it {left} of memory bandwidth, {ahead} less than {few} keeps "
        "({whole}).",
        "topology.bandwidth_same": "Links leave it {left} of memory bandwidth, as much as {few} keeps ({whole}).",
        "topology.room": "{roomy} leaves {room} for the KV cache and runs {most} such requests at once, "
        "{tight} {less} and {fewest}.",
        "topology.single_many": "So with one request at a time {many} is ahead, sharded as it is: {own} a "
        "token against {against}.",
        "topology.single_few": "So with one request at a time {few} is ahead: {against} a token against {own}.",
        "topology.single_none": "With one request at a time nobody wins: {many} takes {own} a token, {few} "
        "{against}, which is within the error of the estimate.",
        "topology.load_many": "At this load {many} is ahead, {own} against {against}: here the argument for "
        "fewer parts does not hold.",
        "topology.load_few": "At this load {few} is ahead, {against} against {own}: here the argument for "
        "fewer parts holds.",
        "topology.load_few_by_room": "At this load {few} is ahead, {against} against {own}, since {many} "
        "holds only {held} requests at once: it is room that decides, not what links cost.",
        "topology.each_many": "Counted for one accelerator {many} is ahead, {own} against {against}.",
        "topology.each_few": "Counted for one accelerator {few} is ahead, {against} against {own}.",
        "topology.each_none": "Counted for one accelerator nobody wins: {own} and {against}.",
        "topology.load_none": "At this load nobody wins: {many} yields {own}, {few} {against}, which is "
        "within the error of the estimate.",
    }
)

TOPOLOGY_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

TOPOLOGY_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})


WORKED_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "worked.columns": "has other columns than {known}; restore the file",
        "worked.input": "{given} is not written as name=value; restore the file",
        "worked.number": "{given} is no number; restore the file",
        "worked.tolerance": "{given} is no tolerance, such as exact, abs 0.1 or rel 5%; restore the file",
        "worked.verdict": "{given} is not one of {known}; restore the file",
        "worked.unknown": "{given} is no worked example; `gpudesk explain examples` lists all there are",
    }
)
