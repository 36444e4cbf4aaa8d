"""`estimate --batch` and the JSON of estimates: JSON lines in, one JSON line out for each, in order.

Lines are answered as they come: what has arrived is parsed, estimated in one vectorized call and written
before more is read, so memory stays flat however long the input is. Keys, order and units are a contract."""

from __future__ import annotations

import codecs
import gc
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final, Protocol

import orjson

from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.estimate import (
    AcceleratorPool,
    ConsideredPlan,
    DisaggregatedPools,
    Estimate,
    EstimateRequest,
    MemoryUse,
    PlanChoice,
)
from gpudesk.domain.published_run import ComparableRun
from gpudesk.domain.registry import FIGURES
from gpudesk.estimation.request_fields import parse_request
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, format_input_error, format_message, input_error, join_messages
from gpudesk.text.units import GIB

_PER_GIB: Final = 1.0 / GIB


def write_estimate_json(
    estimate: Estimate, identity: str | int | None = None, say: Callable[[Message], str] = format_message
) -> dict[str, Any]:
    """Return the object of one line; figures without meaning are null, memory is in GiB.

    `say` turns notes into sentences.
    """
    limiter = estimate.limiter
    fields: dict[str, Any] = {
        "id": identity,
        "fits": estimate.fits,
        "serving_engine": estimate.serving_engine,
        "parallel": write_plan_json(estimate.plan),
        "count": estimate.count,
        "concurrency": estimate.concurrency,
        "admitted": estimate.admitted,
        "limiter": None if limiter is None else limiter.value,
        "basis": estimate.basis.value,
        **{name: write_interval_json(getattr(estimate, name)) for name in FIGURES},
        "stable": estimate.stable,
        "memory_gib": write_memory_json(estimate.memory),
        "max_concurrency": estimate.max_concurrency,
        "notes": [say(note) for note in estimate.notes],
        "pools": None if estimate.pools is None else write_pools_json(estimate.pools),
    }
    if not estimate.fits:
        fields["reason"] = None if estimate.reason is None else format_message(estimate.reason)
        fields["needs"] = estimate.needs
    return fields


def write_plan_json(plan: ParallelPlan) -> dict[str, int | bool]:
    return {"tp": plan.tp, "pp": plan.pp, "ep": plan.ep, "dp": plan.dp, "attention_dp": plan.attention_dp}


def write_pools_json(pools: DisaggregatedPools) -> dict[str, Any]:
    """Return the pools of a disaggregated deployment; `busy` is a share of what each could do."""
    return {
        "prefill": _write_pool_json(pools.prefill),
        "decode": _write_pool_json(pools.decode),
        "transfer_ms": pools.transfer_ms,
        "transfer_gib": pools.transfer_bytes * _PER_GIB,
        "link": pools.link,
        "link_busy": pools.link_busy,
        "binding": "link" if pools.binding is None else pools.binding.value,
    }


def _write_pool_json(pool: AcceleratorPool) -> dict[str, Any]:
    return {"count": pool.count, "parallel": write_plan_json(pool.plan), "busy": pool.busy}


def write_memory_json(use: MemoryUse) -> dict[str, float]:
    return {
        "capacity": use.capacity_bytes * _PER_GIB,
        "weights": use.weights_bytes * _PER_GIB,
        "kv": use.kv_bytes * _PER_GIB,
        "activations": use.activations_bytes * _PER_GIB,
        "runtime": use.runtime_bytes * _PER_GIB,
        "free": use.free_bytes * _PER_GIB,
    }


def write_interval_json(figure: IntervalEstimate | None) -> dict[str, float] | None:
    """Return a figure with its band; None where it has no meaning."""
    # Also false for what is not a number; the ends enclose the value.
    if figure is None or not (figure.low > 0.0 and figure.high < math.inf):
        return None
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def write_plan_choice_json(choice: PlanChoice) -> list[dict[str, Any]]:
    """Return an object for each plan, that of the estimate first; figures without meaning are null.

    `fits` is null where something else than memory rules the plan out.
    """
    return [_write_plan_option_json(option) for option in choice.options]


def _write_plan_option_json(option: ConsideredPlan) -> dict[str, Any]:
    return {
        **write_plan_json(option.plan),
        "fits": option.fits,
        "output_tokens_per_s": write_interval_json(option.output_tokens_per_s),
        "ttft_ms": write_interval_json(option.ttft_ms),
        "tpot_ms": write_interval_json(option.tpot_ms),
        "taken": option.taken,
        "within_error": option.within_error,
        "reason": join_messages(option.reasons),
    }


def write_record_json(records: Iterable[ComparableRun]) -> list[dict[str, Any]]:
    """Return an object for each record, the nearest first; `error` is predicted over measured, less 1."""
    return [_write_one_record_json(record) for record in records]


def _write_one_record_json(record: ComparableRun) -> dict[str, Any]:
    run, work, source = record.request, record.request.workload, record.source
    return {
        "row": record.row,
        "figure": record.figure,
        "measured": record.measured,
        "predicted": record.predicted,
        "error": record.ratio - 1,
        "inside_band": record.inside_band,
        "distance": record.distance,
        "near": record.near,
        "as_asked": record.as_asked,
        "differs": [str(condition) for condition in record.differs],
        "assumed": [str(condition) for condition in record.assumed],
        "accelerator": run.accelerator,
        "count": run.count,
        "model": run.model,
        "weights": str(run.weights),
        "kv": str(run.kv),
        "serving_engine": run.serving_engine,
        "engine_version": record.engine_version,
        "date": run.date,
        "tp": run.tp,
        "pp": run.pp,
        "ep": run.ep,
        "dp": run.dp,
        "attention_dp": run.attention_dp,
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "load": {name: value for name, value in _write_load_json(record) if value is not None},
        "source": {
            "id": source.id,
            "title": source.title,
            "publisher": source.publisher,
            "kind": str(source.kind),
            "url": source.url,
            "date": source.date,
        },
    }


def _write_load_json(record: ComparableRun) -> Iterable[tuple[str, Any]]:
    load = record.request.workload.load
    yield "kind", str(load.kind)
    for name in ("batch", "concurrency", "requests", "request_rate", "ttft_ms", "tpot_ms"):
        yield name, getattr(load, name)


#: Bytes that are taken at once at the most; some thousand lines.
_CHUNK_BYTES: Final = 1 << 20
#: A line longer than this is answered with an error; no request comes near it.
_LONGEST_LINE: Final = 1 << 20
#: Sentences of notes that are kept.
_MOST_NOTES: Final = 10_000


class BatchEstimator(Protocol):
    """What answers many requests in one call; each is answered or refused by itself."""

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Return one answer for each request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class _BatchLine:
    """One line: its number, its id as far as that is known, and the request or the fault."""

    number: int
    identity: str | int | None
    question: EstimateRequest | InputError


def answer_stream(estimator: BatchEstimator, source: IO[bytes], target: IO[bytes]) -> int:
    """Answer every line of `source` on `target`; return how many lines could not be answered."""
    faults = 0
    number = 1
    notes = _NoteCache()
    with _tune_collector():
        for chunk in _read_chunks(source):
            if number == 1:
                chunk[0] = chunk[0].removeprefix(codecs.BOM_UTF8)
            answers, failed = _answer_lines(estimator, chunk, number, notes.say)
            target.write(b"".join(answers))
            target.flush()
            faults += failed
            number += len(chunk)
    return faults


@contextmanager
def _tune_collector() -> Iterator[None]:
    """Let the collector of cycles look rarely: lines come and go by the thousand and leave none."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def _read_chunks(source: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield lists of whole lines as they arrive; the last line may lack its line feed."""
    read = getattr(source, "read1", source.read)
    rest = b""
    while block := read(_CHUNK_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        while len(rest) > _LONGEST_LINE and (more := read(_CHUNK_BYTES)):
            # Too long to be answered: keep just enough of it to say so.
            _, line_feed, tail = more.partition(b"\n")
            if line_feed:
                ended = tail.split(b"\n")
                lines += [rest, *ended[:-1]]
                rest = ended[-1]
        if lines:
            yield lines
    if rest:
        yield [rest]


class _NoteCache:
    """Says notes, most of which come again and again."""

    def __init__(self) -> None:
        self._sentences: dict[tuple[object, ...], str] = {}

    def say(self, note: Message) -> str:
        key = (note.id, *note.parameters.values())
        sentence = self._sentences.get(key)
        if sentence is None:
            if len(self._sentences) >= _MOST_NOTES:
                self._sentences.clear()
            sentence = self._sentences[key] = format_message(note)
        return sentence


def _answer_lines(
    estimator: BatchEstimator, lines: Sequence[bytes], first: int, say: Callable[[Message], str]
) -> tuple[list[bytes], int]:
    """Return the answers to lines numbered from `first`, and how many of them are errors."""
    asked = [_parse_line(raw, number) for number, raw in enumerate(lines, first) if raw and not raw.isspace()]
    requests = [line.question for line in asked if isinstance(line.question, EstimateRequest)]
    estimates = iter(_estimate_lines(estimator, requests))
    answers: list[bytes] = []
    failed = 0
    for line in asked:
        result = next(estimates) if isinstance(line.question, EstimateRequest) else line.question
        if isinstance(result, InputError):
            failed += 1
            fields: dict[str, Any] = {"id": line.identity, "line": line.number, "error": format_input_error(result)}
        else:
            fields = write_estimate_json(result, line.identity, say)
        answers.append(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
    return answers, failed


def _estimate_lines(estimator: BatchEstimator, requests: list[EstimateRequest]) -> list[Estimate | InputError]:
    """Answer all requests in one call; should that fail, one by one, so that one line spoils no other."""
    if not requests:
        return []
    try:
        return estimator.estimate_many(requests)
    except Exception as error:  # noqa: BLE001 - a mistake of the program, said on the line that meets it
        if len(requests) == 1:
            return [
                input_error(
                    "batch.unexpected",
                    "could not be answered because of a mistake in the program ({kind_of_fault})",
                    kind_of_fault=type(error).__name__,
                )
            ]
        return [answer for request in requests for answer in _estimate_lines(estimator, [request])]


def _parse_line(raw: bytes, number: int) -> _BatchLine:
    if len(raw) > _LONGEST_LINE:
        return _BatchLine(
            number, None, input_error("batch.long_line", "is longer than {longest} bytes", longest=_LONGEST_LINE)
        )
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return _BatchLine(number, None, _describe_json_error(error))
    identity = None
    try:
        request = parse_request(fields)
    except InputError as error:
        if type(fields) is dict and type(fields.get("id")) in (str, int):
            identity = fields["id"]
        return _BatchLine(number, identity, error)
    return _BatchLine(number, request.id, request)


def _describe_json_error(error: orjson.JSONDecodeError) -> InputError:
    """Say from where on a line is not JSON, and why."""
    return input_error(
        "batch.not_json", "is not JSON from column {column} on: {reason}", column=error.colno, reason=error.msg
    )
