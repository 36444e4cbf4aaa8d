"""`estimate --batch`: JSON lines in, one JSON line out for each, in order.

Lines are answered as they come: what has arrived is parsed, estimated in one vectorized call and written
before more is read, so memory stays flat however long the input is."""

from __future__ import annotations

import codecs
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final, NamedTuple, Protocol

import orjson

from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.estimate_json import write_estimate_json
from gpudesk.estimation.request_fields import parse_request
from gpudesk.text.messages import InputError, Message, format_input_error, format_message, input_error

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


class _BatchLine(NamedTuple):
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
                    "could not be answered because of an internal error ({kind_of_fault})",
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
        "batch.not_json", "is not valid JSON at column {column}: {reason}", column=error.colno, reason=error.msg
    )
