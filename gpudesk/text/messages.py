"""Messages: an id with parameters that computing packages return, and the sentence of each id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gpudesk.text.catalog_messages import CATALOG_COUNTED, CATALOG_SENTENCES, CATALOG_WORDS
from gpudesk.text.decision_messages import (
    BESIDE_COUNTED,
    BESIDE_SENTENCES,
    BESIDE_WORDS,
    BUYING_COUNTED,
    BUYING_SENTENCES,
    BUYING_WORDS,
    COST_COUNTED,
    COST_SENTENCES,
    COST_WORDS,
    DECIDE_COUNTED,
    DECIDE_SENTENCES,
    DECIDE_WORDS,
    DIALOGUE_SENTENCES,
    FIT_COUNTED,
    FIT_SENTENCES,
    FIT_WORDS,
    LAUNCH_COUNTED,
    LAUNCH_SENTENCES,
    LAUNCH_WORDS,
    SIZING_COUNTED,
    SIZING_SENTENCES,
    SIZING_WORDS,
    TOPOLOGY_COUNTED,
    TOPOLOGY_SENTENCES,
    TOPOLOGY_WORDS,
    WORKED_SENTENCES,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn

#: What a parameter of a message can be; quantities travel with their unit as (value, unit).
MessageParameter = str | int | float | tuple[float, str] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A statement to the user: `id` names a sentence of `gpudesk.text.translation`, `parameters` fill it."""

    id: str
    parameters: Mapping[str, MessageParameter] = field(default_factory=lambda: MappingProxyType({}))


def message(message_id: str, /, **parameters: MessageParameter) -> Message:
    """Make a `Message`; keyword arguments are its parameters."""
    return Message(message_id, MappingProxyType(parameters))


class InputError(Exception):
    """Input that cannot be used: what is wrong, where it was given, and what to do.

    `where` names the place as the user wrote it (a field, an option, a file with its line).
    """

    def __init__(self, problem: Message, where: str | None = None) -> None:
        super().__init__(problem.id)
        self.problem = problem
        self.where = where


_ENGLISH: Final = Formatter()

MESSAGE_TEXTS: Final = MappingProxyType(
    {
        # Fields that come from outside
        "field.missing": "is missing",
        "field.empty": "is empty",
        "field.long": "is longer than {longest} characters",
        "field.control": "holds a control character; write it without",
        "field.half_character": "holds half a character, which no text can",
        "field.type": "{given} is {found} where {wanted} belongs",
        "field.range": "{given} is not between {low} and {high}",
        "field.range_above": "{given} is not above {low} and at most {high}",
        "field.word": "{given} is not one of {allowed}",
        "field.month": "{given} is not a date; write YYYY-MM or YYYY-MM-DD",
        "field.unknown": "{given} is not a field here; the fields are {known}",
        "field.unknown_near": "{given} is not a field here; the closest: {near}",
        "load.none": "says no load; give one of batch, concurrency, saturate with requests, request_rate, "
        "or ttft_ms with tpot_ms",
        "load.no_option": "no load is given; give --concurrency, --batch-size, --saturate or --request-rate, "
        "or --ttft-ms with --tpot-ms",
        "load.two": "{first} and {second} do not go together; give one kind of load",
        "batch.not_json": "is not JSON from column {column} on: {reason}",
        "batch.unexpected": "could not be answered because of a mistake in the program ({kind_of_fault})",
        "job.unexpected": "a mistake in the program stopped it ({kind_of_fault})",
        "batch.long_line": "is longer than {longest} bytes",
        # Files
        "file.unreadable": "cannot be read: {reason}",
        "file.unwritable": "cannot be written: {reason}; choose another place",
        "file.too_big": "is larger than {most}, so it is not a file of GPU Desk",
        "scenario.not_utf8": "is not UTF-8 text in line {line}; save it again as UTF-8",
        "scenario.not_json": "is not JSON at line {line}, column {column}; mend it there",
        "scenario.cut_short": "ends too early, at line {line}, column {column}: the file was cut off; "
        "take an earlier copy of it",
        "scenario.twice": "states {field} twice in one object; remove one",
        "scenario.not_a_scenario": "is not a scenario of GPU Desk",
        "scenario.newer": "has format {version}; this program reads format {known}: use a newer GPU Desk",
        "scenario.newer_section": "has version {version} of the section {section}; this program reads "
        "version {known}: use a newer GPU Desk",
        "pdf.no_scenario": "is a PDF that carries no scenario; one that GPU Desk saved as a sheet does",
        "pdf.no_qt": "cannot be drawn, since a library is missing ({reason}); install it, or write .html",
        "printer.refused": "the printer does not take the job; look whether it is on, or save a PDF",
        "sheet.format": "{suffix} is no form of a sheet; there are {known}",
        "template.unknown": "there is no template {name}; there are {near}",
        "explain.does_not_fit": "there is nothing to explain: it does not fit",
        "explain.unknown": "{figure} cannot be explained; these can: {known}",
        "scenario.accelerators": "names {count} accelerators; a comparison has {most} at the most",
        "scenario.no_model": "no model is chosen: choose one",
        "scenario.no_accelerators": "no accelerator is chosen: add one",
        "sweep.format": "{suffix} is no form of a sweep; there are {known}",
        "sweep.no_load": "no load is given; give one of {known}",
        "sweep.too_many_values": "has {count} values; an axis has {most} at the most",
        "sweep.too_many_points": "the axes make {count} points; a sweep has {most} at the most",
        # The catalog
        "catalog.unknown": "there is no {kind} {id}; the closest: {near}",
        "catalog.unknown:empty": "there is no {kind} {id}; `gpudesk catalog list` names all there are",
        "catalog.unknown_attribute": "{thing} has no attribute {name}; the closest: {near}",
        "catalog.unknown_attribute:empty": "{thing} has no attribute {name}; `gpudesk catalog show {thing}` "
        "names all there are",
        "catalog.file.missing": "is missing; install GPU Desk again, or run `make catalog` in a checkout",
        "catalog.file.unreadable": "cannot be read: {reason}",
        "catalog.file.foreign": "is not a catalog of GPU Desk; install GPU Desk again",
        "catalog.file.cut": "is cut short: {size} of {expected} bytes; install GPU Desk again",
        "catalog.file.newer": "has version {version}; this program reads version {supported}: use a newer GPU Desk",
        "catalog.file.older": "has version {version}; this program reads version {supported}: install GPU "
        "Desk again, or run `make catalog` in a checkout",
        "catalog.file.unwritable": "cannot be written: {reason}",
        "catalog.data": "the data files have {count} faults, the first: {first}",
        "catalog.data:one": "the data files have a fault: {first}",
        "catalog.verify.integrity": "the file is damaged: {reason}",
        "catalog.verify.dangling": "a row of {table} names something that {parent} does not have",
        "catalog.verify.revision": "the rows are not those that were built: revision {digest}, not {stated}",
        "catalog.verify.no_claim": "has no claim",
        "catalog.verify.no_attribute": "has no attribute",
        "catalog.verify.preferred": "has {count} preferred claims; one at most can be",
        "catalog.verify.no_reason": "claims differ, and nothing says why one is preferred",
        "catalog.verify.other_source": "is linked to a claim of another source about {attribute} of {thing}",
        "catalog.verify.no_such_claim": "refers to the claim {claim}, which there is none of",
        "catalog.verify.multiple": "{dimension} is {value}, which is no multiple of {than}, {than_value}",
        "catalog.verify.at_most": "{dimension} is {value}, which is above {than}, {than_value}",
        "catalog.verify.nothing_kept": "reuses a cache, but no layer of its shape keeps one",
        "catalog.file.damaged": "is damaged: {reason}; install GPU Desk again",
        "answer.unranked": "Announced, so not ranked beside shipping parts: {names}",
        "answer.other_catalog": "The scenario was saved with another catalog; these figures rest on that of {date}",
        # Parallel plans
        "plan.degree": "{name} is {value}; it must be at least 1",
        "plan.ep": "EP {ep} does not divide TP {tp} × DP {dp}; take an EP that does",
        "plan.product": "{count} accelerators are not TP {tp} × PP {pp} × DP {dp} = {product}; "
        "change the count or the degrees",
        "plan.product:one": "{count} accelerator is not TP {tp} × PP {pp} × DP {dp} = {product}; "
        "change the count or the degrees",
        "plan.divides": "{count} accelerators are no multiple of {product}, the product of the degrees given",
        "plan.divides:one": "{count} accelerator is no multiple of {product}, the product of the degrees given",
        "plan.heads": "TP {tp} does not divide the attention heads of {model}; take a TP that does",
        "plan.stages": "PP {pp} is more than the {layers} layers of the model; take a smaller PP",
        "plan.none": "no parallel plan of {model} takes exactly {count} accelerators; change the count",
        "plan.none:one": "no parallel plan of {model} takes exactly {count} accelerator; change the count",
        "plan.no_experts": "{model} has no experts to spread; leave EP out",
        "plan.engine_pp": "{engine} has no pipeline parallelism; leave PP out or take another serving engine",
        "plan.engine_ep": "{engine} has no expert parallelism; leave EP out or take another serving engine",
        "plan.engine_attention_dp": "{engine} has no data-parallel attention; leave it out or take another "
        "serving engine",
        # What cannot be estimated
        "model.no_dimensions": "the dimensions of {model} are not published: nothing can be computed for it",
        "engine.unknown": "there is no serving engine {engine}; there are {known}",
        "engine.no_platform": "{engine} does not run on {accelerator} ({platform}); take another serving engine",
        "engine.no_model": "{engine} cannot serve {model}; take another serving engine",
        "engine.no_kernel": "{engine} does not run {weights} weights on {accelerator}; it runs {formats}",
        "engine.no_kv": "{engine} does not keep the KV cache in {kv} on {accelerator} for this model; it "
        "keeps {formats}",
        "engine.none": "no serving engine runs {model} with {weights} weights on {accelerator}; they run "
        "{formats} there",
        "engine.none_kv": "no serving engine keeps the KV cache in {kv} on {accelerator} for this model; "
        "they keep {formats}",
        "calibration.unreadable": "the calibration file cannot be read: {reason}; install GPU Desk again",
        "records.unreadable": "the published measurements cannot be read: {reason}; install GPU Desk again",
        "bundle.no_list": "the list of the program's files cannot be read: {reason}",
        "bundle.bad_list": "the list of the program's files is no longer whole",
        "golden.unreadable": "the golden figures cannot be read: {reason}",
        "golden.empty": "the golden figures lack a question or an answer",
        "records.missing": "there are no published measurements: {reason}",
        "calibration.run_does_not_fit": "the published run {run} does not fit its accelerators",
        "calibration.broken": "the calibration file is broken: {reason}; install GPU Desk again",
        "engine.no_kernel:empty": "{engine} does not run {weights} weights on {accelerator}; take another "
        "serving engine",
        "engine.no_kv:empty": "{engine} keeps no KV cache on {accelerator}; take another serving engine",
        "engine.none:empty": "no serving engine runs {model} on {accelerator}",
        "engine.none_kv:empty": "no serving engine keeps a KV cache on {accelerator} for this model",
        # Notes of an estimate
        "estimate.engine_chosen": "Serving engine chosen: {engine}",
        "estimate.plan_chosen": "Plan chosen: TP {tp}, PP {pp}, EP {ep}, DP {dp}",
        "estimate.plan_chosen_attention_dp": "Plan chosen: TP {tp}, PP {pp}, EP {ep}, DP {dp}, with "
        "data-parallel attention",
        "estimate.weight_only": "{engine} has no {weights} arithmetic on this part: stored in {weights}, "
        "computed in {arithmetic}",
        "estimate.memory_fraction": "What fits is judged by {fraction} of {of}, the largest safe setting",
        "estimate.older_than_calibration": "The software date lies further back than measurements reach; "
        "it is taken as {years} years before the newest",
        "estimate.beyond_context": "{tokens} tokens are more than the {most} that {model} is made for",
        "estimate.fraction_too_small": "The memory fraction of {fraction} leaves too little for a request on "
        "{count} × {accelerator}: {missing} short beside weights of {weights}; raise it",
        "estimate.uneven_count": "{count} accelerators cannot share one replica as evenly as {fewer} can, so "
        "few requests may be answered later than by {fewer}",
        "estimate.smaller_chunk": "Steps of at most {tokens} tokens, fewer than the serving engine's "
        "default, so that memory is left for the KV cache",
        "estimate.smaller_batch": "At most {sequences} sequences in a step, fewer than the serving engine's "
        "default, so that memory is left for the KV cache",
        "estimate.short_steps": "Under p99 limits steps are kept to {tokens} tokens on a rank, prompts "
        "included: longer ones hold up all that run",
        "estimate.uneven_end": "Answers differ in length as in real traffic, and the run lasts until the "
        "longest ends, in steps that grow emptier: with answers of one length it would be over sooner",
        "estimate.no_peak": "no peak of {accelerator} is known in {arithmetic} or wider, so no time can be "
        "computed; state one in the catalog",
        "estimate.announced": "{accelerator} is announced, not shipping: its figures are the vendor's own",
        "estimate.newer_than_calibration": "The software date is after {newest}, the newest month with "
        "measurements: the bands are wider",
        "estimate.queued_memory": "Memory holds {admitted} of {concurrency} requests; {queued} wait",
        "estimate.queued_memory:one": "Memory holds {admitted} of {concurrency} requests; {queued} waits",
        "estimate.queued_usual": "{engine} takes {usual} of the memory unless told otherwise, which admits "
        "{admitted} of {concurrency} requests; {fraction} would hold {most}",
        "estimate.queued_engine": "The serving engine runs {admitted} of {concurrency} requests at once; {queued} wait",
        "estimate.queued_engine:one": "The serving engine runs {admitted} of {concurrency} requests at once; "
        "{queued} waits",
        "estimate.queued_grown": "{engine} gives requests memory as they grow, so that {admitted} of "
        "{concurrency} run at once where {most} would fit at full length; {queued} wait",
        "estimate.queued_grown:one": "{engine} gives requests memory as they grow, so that {admitted} of "
        "{concurrency} run at once where {most} would fit at full length; {queued} waits",
        "estimate.grown": "{engine} gives requests memory as they grow, so that {admitted} run at once where "
        "{most} would fit at full length",
        "estimate.overload": "Requests arrive faster than they can be answered: the queue grows without end",
        "estimate.limits_not_met": "Not even one request in flight meets the latency limits",
        "estimate.over_pcie": "The accelerators talk over PCIe at {bandwidth}",
        "estimate.between_hosts": "The plan spans hosts, which talk over the network at {bandwidth}",
        "estimate.weights_do_not_fit": "The weights do not fit {count} × {accelerator}: {weights} on the "
        "fullest, which has {capacity}",
        "estimate.request_does_not_fit": "One request of this length does not fit {count} × {accelerator}: "
        "{missing} short on the fullest, which has {capacity}",
        # Why a parallel plan was taken, and others were not
        "plan.single": "the only plan of one accelerator",
        "plan.as_given": "as given",
        "plan.only_one": "the only plan that fits",
        "plan.ahead": "{ahead} faster than the next, {plan}",
        "plan.ahead_times": "{times} times as fast as the next, {plan}",
        "plan.sooner": "as much throughput as {plan}, and tokens come sooner: {tpot} against {other}",
        "plan.level": "less than 1 % faster than the next, {plan}",
        "plan.nearest_to_limits": "no plan meets the latency limits, and this one comes nearest",
        "plan.only_one_meets_limits": "the only plan that meets the latency limits",
        "plan.simpler_would_do": "{plan} is simpler and would do as well, within the error",
        "plan.within_error": "within the error",
        "plan.slower": "{behind} slower",
        "plan.slower_share": "{behind} slower: {part} takes {now} of its time against {before}",
        "plan.slower_times": "{behind} slower: {part} takes {times} times as long for each token",
        "plan.slower_stages": "{behind} slower: a request passes {pp} stages one after the other",
        "plan.slower_fewer": "{behind} slower: fewer sequences at once, {admitted} against {most}",
        "plan.slower_limits": "{behind} slower: meets the limits with {admitted} in flight against {most}",
        "plan.as_many_share": "with {most}, {part} takes {now} of its time against {before}",
        "plan.as_many_times": "with {most}, {part} takes {times} times as long for each token",
        "plan.slower_idle": "{behind} slower: no request for {idle} of its {replicas} replicas",
        "plan.later": "as much throughput, but tokens come later: {tpot} against {other}",
        "plan.no_better": "less than 1 % slower",
        "plan.overloaded": "cannot keep up: {served} of {asked} requests/s",
        "plan.misses_ttft": "misses the TTFT limit with a single request: {ttft} against {limit}",
        "plan.misses_tpot": "misses the TPOT limit with a single request: {tpot} against {limit}",
        "plan.misses_limits": "misses the latency limits",
        "plan.weights_do_not_fit": "does not fit: weights take {weights} of {capacity}",
        "plan.does_not_fit": "does not fit: {missing} short for one request",
        "plan.heads_do_not_divide": "TP {tp} does not divide the attention heads of {model}",
        "plan.experts_do_not_divide": "EP {ep} does not divide the {experts} experts",
        "plan.beyond_host": "not tried: TP {tp} would span hosts of {host} accelerators",
        "plan.no_pp": "{engine} has no pipeline parallelism",
        "plan.no_ep": "{engine} has no expert parallelism",
        "plan.no_attention_dp": "{engine} has no data-parallel attention",
        # Disaggregated deployments
        "pools.degree": "a disaggregated deployment has a plan for each pool; leave {name} out, or give it "
        "to the prefill and the decode pool",
        "pools.sum": "the pools take {prefill} and {decode} accelerators, but there are {count} in all; "
        "change one of them",
        "pools.sum:one": "the pools take {prefill} and {decode} accelerators, but there is {count} in all; "
        "change one of them",
        "pools.none_left": "{count} accelerators leave none for one of the two pools; take more",
        "pools.none_left:one": "{count} accelerator leaves none for one of the two pools; take more",
        "pools.pool": "{pool} pool of {count}: {plan}",
        "pools.memory": "Memory is that of an accelerator of the decode pool, which keeps the requests; on "
        "one of the prefill pool weights take {weights} of {capacity}",
        "pools.transfer": "The KV cache of a prompt, {size}, is with the decode pool {time} after its "
        "prefill, over {link}",
        "pools.binds": "The {binding} pool sets the rate; the {other} pool does {fraction} of what it could",
        "pools.link_binds": "The link between the pools sets the rate; the prefill pool does {fraction} of "
        "what it could, the decode pool {share}",
        "pools.do_not_fit": "No split of {count} × {accelerator} has room in both pools: prefill takes "
        "{prefill}, decode {decode}",
        "pools.never_fit": "No pool of {accelerator} is known that holds the model and a request of this length",
        # What is needed
        "needed.load_too_large": "{concurrency} requests in flight do not fit on {count} × {accelerator}, "
        "the largest deployment that is tried",
        **BESIDE_SENTENCES,
        **BUYING_SENTENCES,
        **CATALOG_SENTENCES,
        **FIT_SENTENCES,
        **COST_SENTENCES,
        **DECIDE_SENTENCES,
        **DIALOGUE_SENTENCES,
        **LAUNCH_SENTENCES,
        **SIZING_SENTENCES,
        **TOPOLOGY_SENTENCES,
        **WORKED_SENTENCES,
    }
)

#: Words that messages name by key, so that they are translated.
MESSAGE_WORDS: Final = MappingProxyType(
    {
        "boolean": "true or false",
        "whole": "a whole number",
        "number": "a number",
        "text": "text",
        "text_or_whole": "text or a whole number",
        "boolean_or_object": "true, false or an object",
        "list": "a list",
        "object": "an object",
        "nothing": "nothing",
        "accelerator": "accelerator",
        "model": "model",
        "diffusion_model": "diffusion model",
        "serving_engine": "serving engine",
        "thing": "entry of the catalog",
        "source": "source",
        "total": "all memory",
        "free": "the memory that is left free",
        "static": "the memory that is free before the weights are loaded",
        "Prefill": "Prefill",
        "Decode": "Decode",
        "prefill": "prefill",
        "decode": "decode",
        "scale-up": "the scale-up link",
        "pcie": "PCIe",
        "node": "the network",
        "attention_dp": "attention DP",
        "part.reads": "reading memory",
        "part.arithmetic": "arithmetic",
        "part.collectives": "communication",
        "part.overhead": "overhead",
        **BESIDE_WORDS,
        **BUYING_WORDS,
        **CATALOG_WORDS,
        **FIT_WORDS,
        **COST_WORDS,
        **DECIDE_WORDS,
        **LAUNCH_WORDS,
        **SIZING_WORDS,
        **TOPOLOGY_WORDS,
    }
)

_WORD_PARAMETERS: Final = frozenset({"found", "wanted", "of", "kind", "part", "pool", "binding", "other", "link"})
#: Parameters that are shares of 1, shown in per cent.
_SHARE_PARAMETERS: Final = frozenset({"share", "fraction", "usual", "ahead", "behind", "now", "before"})
#: What a message with a sentence for one of them counts.
_COUNTED_PARAMETERS: Final = MappingProxyType(
    {
        "catalog.data": "count",
        "plan.product": "count",
        "plan.divides": "count",
        "plan.none": "count",
        "pools.sum": "count",
        "pools.none_left": "count",
        "estimate.queued_memory": "queued",
        "estimate.queued_engine": "queued",
        "estimate.queued_grown": "queued",
        **BESIDE_COUNTED,
        **BUYING_COUNTED,
        **CATALOG_COUNTED,
        **FIT_COUNTED,
        **COST_COUNTED,
        **DECIDE_COUNTED,
        **LAUNCH_COUNTED,
        **SIZING_COUNTED,
        **TOPOLOGY_COUNTED,
    }
)
#: Parameters that are the degrees of a parallel plan.
_PLAN_PARAMETERS: Final = frozenset({"plan"})


def format_message(message: Message, formatter: Formatter = _ENGLISH) -> str:
    """Return the sentence of a message in the language in force; raises KeyError for an unknown id."""
    shown = {name: _format_parameter(name, value, formatter) for name, value in message.parameters.items()}
    chosen = message.id
    if () in message.parameters.values() and f"{chosen}:empty" in MESSAGE_TEXTS:
        chosen = f"{chosen}:empty"
    counted = message.parameters.get(_COUNTED_PARAMETERS.get(chosen, ""))
    if isinstance(counted, int):
        return trn(MESSAGE_TEXTS[f"{chosen}:one"], MESSAGE_TEXTS[chosen], counted, **shown)
    return tr(MESSAGE_TEXTS[chosen], **shown)


def translate_word(key: str) -> str:
    """Return a word of `WORDS` in the language in force."""
    return tr(MESSAGE_WORDS[key])


def join_messages(reasons: Iterable[Message], formatter: Formatter = _ENGLISH) -> str:
    return "; ".join(format_message(reason, formatter) for reason in reasons)


def join_degrees(degrees: tuple[str, ...]) -> str:
    return " + ".join(translate_word(each) if each in MESSAGE_WORDS else each for each in degrees)


def format_input_error(error: InputError, formatter: Formatter = _ENGLISH) -> str:
    """Return where and what is wrong with an input, and what to do, in one line."""
    said = format_message(error.problem, formatter)
    return f"{error.where}: {said}" if error.where else said


def _format_parameter(name: str, value: MessageParameter, formatter: Formatter) -> str:
    if isinstance(value, str):
        return translate_word(value) if name in _WORD_PARAMETERS else value
    if isinstance(value, int):
        return formatter.number(value)
    if isinstance(value, float):
        return formatter.per_cent(value) if name in _SHARE_PARAMETERS else formatter.estimate(value)
    if len(value) == 2 and not isinstance(value[0], str):
        return formatter.quantity(value[0], str(value[1]))
    if name in _PLAN_PARAMETERS:
        return join_degrees(tuple(str(each) for each in value))
    return ", ".join(str(item) for item in value)
