"""`estimate --batch`: JSON lines in, one JSON line out for each, in order.

Lines are answered as they come: what has arrived is parsed, estimated in one vectorised call and written
before more is read, so memory stays flat however long the input is.
"""

from __future__ import annotations

import codecs
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final, Protocol

import orjson

from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.sentences import problem, sentence
from gpudesk.workbench.estimate_json import estimate_fields
from gpudesk.workbench.requests import parse_request

#: Bytes that are taken at once at the most; some thousand lines.
_CHUNK_BYTES: Final = 1 << 20
#: A line longer than this is answered with an error; no request comes near it.
_LONGEST_LINE: Final = 1 << 20
#: Sentences of notes that are kept.
_MOST_NOTES: Final = 10_000


class ManyEstimates(Protocol):
    """What answers many requests in one call; each is answered or refused by itself."""

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Return one answer for each request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: its number, its id as far as that is known, and the request or the fault."""

    number: int
    identity: str | int | None
    question: EstimateRequest | InputError


def answer_stream(estimator: ManyEstimates, source: IO[bytes], target: IO[bytes]) -> int:
    """Answer every line of `source` on `target`; return how many lines could not be answered."""
    faults = 0
    number = 1
    notes = _Notes()
    with _patient_collector():
        for chunk in _chunks(source):
            if number == 1:
                chunk[0] = chunk[0].removeprefix(codecs.BOM_UTF8)
            answers, failed = _answer(estimator, chunk, number, notes.say)
            target.write(b"".join(answers))
            target.flush()
            faults += failed
            number += len(chunk)
    return faults


@contextmanager
def _patient_collector() -> Iterator[None]:
    """Let the collector of cycles look rarely: lines come and go by the thousand and leave none."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def _chunks(source: IO[bytes]) -> Iterator[list[bytes]]:
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


class _Notes:
    """Says notes, most of which come again and again."""

    def __init__(self) -> None:
        """Start with none."""
        self._said: dict[tuple[object, ...], str] = {}

    def say(self, note: Message) -> str:
        """Return the sentence of a note."""
        key = (note.id, *note.parameters.values())
        said = self._said.get(key)
        if said is None:
            if len(self._said) >= _MOST_NOTES:
                self._said.clear()
            said = self._said[key] = sentence(note)
        return said


def _answer(
    estimator: ManyEstimates, lines: Sequence[bytes], first: int, say: Callable[[Message], str]
) -> tuple[list[bytes], int]:
    """Return the answers to lines numbered from `first`, and how many of them are errors."""
    asked = [_parse(raw, number) for number, raw in enumerate(lines, first) if raw and not raw.isspace()]
    requests = [line.question for line in asked if isinstance(line.question, EstimateRequest)]
    estimates = iter(_estimates(estimator, requests))
    answers: list[bytes] = []
    failed = 0
    for line in asked:
        result = next(estimates) if isinstance(line.question, EstimateRequest) else line.question
        if isinstance(result, InputError):
            failed += 1
            fields: dict[str, Any] = {"id": line.identity, "line": line.number, "error": problem(result)}
        else:
            fields = estimate_fields(result, line.identity, say)
        answers.append(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
    return answers, failed


def _estimates(estimator: ManyEstimates, requests: list[EstimateRequest]) -> list[Estimate | InputError]:
    """Answer all requests in one call; should that fail, one by one, so that one line spoils no other."""
    if not requests:
        return []
    try:
        return estimator.estimate_many(requests)
    except Exception as error:  # noqa: BLE001 - a mistake of the program, said on the line that meets it
        if len(requests) == 1:
            return [InputError(message("batch.unexpected", kind_of_fault=type(error).__name__))]
        return [answer for request in requests for answer in _estimates(estimator, [request])]


def _parse(raw: bytes, number: int) -> _Line:
    if len(raw) > _LONGEST_LINE:
        return _Line(number, None, InputError(message("batch.long_line", longest=_LONGEST_LINE)))
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return _Line(number, None, _not_json(error))
    identity = None
    try:
        request = parse_request(fields)
    except InputError as error:
        if type(fields) is dict and type(fields.get("id")) in (str, int):
            identity = fields["id"]
        return _Line(number, identity, error)
    return _Line(number, request.id, request)


def _not_json(error: orjson.JSONDecodeError) -> InputError:
    """Say from where on a line is not JSON, and why."""
    return InputError(message("batch.not_json", column=error.colno, reason=error.msg))
