"""`estimate --batch`: JSON lines in, one JSON line out for each, in order.

Lines are answered as they arrive: they are parsed, estimated in one vectorized call and written before more is read, so
memory stays constant for any input length.
"""

from __future__ import annotations

import codecs
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final, NamedTuple, Protocol

import orjson

from gpudesk.domain.estimate import Load
from gpudesk.estimation.line_answers import LineQuestion, RequestTemplate
from gpudesk.estimation.request_fields import MOST_TOKENS, parse_load, parse_request
from gpudesk.text.messages import InputError, format_input_error, input_error

#: Maximum bytes read at once; some thousand lines.
_CHUNK_BYTES: Final = 1 << 20
#: A longer line gets an error; real requests are far shorter.
_LONGEST_LINE: Final = 1 << 20
#: Templates, and loads, that are cached.
_MOST_TEMPLATES: Final = 10_000


class BatchEstimator(Protocol):
    """Answers the questions of many lines in one call; each succeeds or fails by itself."""

    def answer_lines(self, questions: Sequence[LineQuestion]) -> list[bytes | InputError]:
        """Return the JSON line that answers each question, in order."""
        ...


class _LineFault(NamedTuple):
    """Why a line is not a valid question, and its id if known."""

    identity: str | int | None
    error: InputError


def answer_stream(estimator: BatchEstimator, source: IO[bytes], target: IO[bytes]) -> int:
    """Answer every line of `source` on `target`; return how many lines could not be answered."""
    faults = 0
    number = 1
    parser = _LineParser()
    with _tune_collector():
        for chunk in _read_chunks(source):
            if number == 1:
                chunk[0] = chunk[0].removeprefix(codecs.BOM_UTF8)
            answers, failed = _answer_lines(estimator, parser, chunk, number)
            target.write(b"".join(answers))
            target.flush()
            faults += failed
            number += len(chunk)
    return faults


@contextmanager
def _tune_collector() -> Iterator[None]:
    """Let the garbage collector run rarely: thousands of lines come and go without cycles."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 20)
    try:
        yield
    finally:
        # What the lines left in caches joins the old objects, unsearched: a search takes 4% of the time of 4,000 lines.
        gc.freeze()
        gc.set_threshold(*usual)
        gc.unfreeze()


def _read_chunks(source: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield lists of whole lines as they arrive; the last line can lack its line feed."""
    read_chunk = getattr(source, "read1", source.read)
    rest = b""
    while block := read_chunk(_CHUNK_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        while len(rest) > _LONGEST_LINE and (more := read_chunk(_CHUNK_BYTES)):
            # Too long to be answered: keep just enough to report it.
            _, line_feed, tail = more.partition(b"\n")
            if line_feed:
                ended = tail.split(b"\n")
                lines += [rest, *ended[:-1]]
                rest = ended[-1]
        if lines:
            yield lines
    if rest:
        yield [rest]


def _answer_lines(
    estimator: BatchEstimator, parser: _LineParser, lines: Sequence[bytes], first: int
) -> tuple[list[bytes], int]:
    """Return the answers to lines numbered from `first`, and how many of them are errors."""
    numbered_requests = [
        (number, parser.parse(raw)) for number, raw in enumerate(lines, first) if raw and not raw.isspace()
    ]
    questions = [line for _, line in numbered_requests if isinstance(line, LineQuestion)]
    results = iter(_answer_questions(estimator, questions))
    answers: list[bytes] = []
    failed = 0
    for number, line in numbered_requests:
        result = next(results) if isinstance(line, LineQuestion) else line.error
        if isinstance(result, InputError):
            failed += 1
            fields = {"id": line.identity, "line": number, "error": format_input_error(result)}
            result = orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
        answers.append(result)
    return answers, failed


def _answer_questions(estimator: BatchEstimator, questions: list[LineQuestion]) -> list[bytes | InputError]:
    """Answer all questions in one call; if it fails, one by one, so that a bad line does not affect others."""
    if not questions:
        return []
    try:
        return estimator.answer_lines(questions)
    except Exception as error:  # noqa: BLE001 - a bug, reported on the line that triggers it
        if len(questions) == 1:
            return [
                input_error(
                    "batch.unexpected",
                    "could not be answered because of an internal error ({kind_of_fault})",
                    kind_of_fault=type(error).__name__,
                )
            ]
        return [answer for question in questions for answer in _answer_questions(estimator, [question])]


class _LineParser:
    """Parses lines. The shared content of similar lines (all but id, lengths and amount of load) is checked once."""

    def __init__(self) -> None:
        self._templates: dict[bytes, RequestTemplate] = {}
        self._loads: dict[bytes, Load] = {}

    def parse(self, raw: bytes) -> LineQuestion | _LineFault:
        if len(raw) > _LONGEST_LINE:
            error = input_error("batch.long_line", "is longer than {longest} bytes", longest=_LONGEST_LINE)
            return _LineFault(None, error)
        try:
            fields = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            return _LineFault(None, _describe_json_error(error))
        question = self._recognize(fields.copy()) if type(fields) is dict else None
        return question or self._parse_anew(fields)

    def _recognize(self, fields: dict[str, Any]) -> LineQuestion | None:
        """Return the question of a valid line that has a template; consumes `fields`."""
        take = fields.pop
        identity, input_tokens, output_tokens = (
            take("id", None),
            take("input_tokens", None),
            take("output_tokens", None),
        )
        try:
            load = self._parse_load(take("load", None))
            template = self._templates.get(_make_key(fields, load))
        except (InputError, orjson.JSONEncodeError):
            return None
        if template is None or (identity is not None and type(identity) not in (int, str)):
            return None
        for tokens in (input_tokens, output_tokens):
            if type(tokens) is not int or not 1 <= tokens <= MOST_TOKENS:
                return None
        return LineQuestion(template, identity, input_tokens, output_tokens, load)

    def _parse_load(self, fields: object) -> Load:
        key = orjson.dumps(fields)
        load = self._loads.get(key)
        if load is None:
            if len(self._loads) >= _MOST_TEMPLATES:
                self._loads.clear()
            load = self._loads[key] = parse_load("load", fields)
        return load

    def _parse_anew(self, fields: Any) -> LineQuestion | _LineFault:  # noqa: ANN401 - any JSON value
        try:
            request = parse_request(fields)
        except InputError as error:
            identity = fields.get("id") if type(fields) is dict else None
            return _LineFault(identity if type(identity) in (int, str) else None, error.detach())
        work = request.workload
        template = RequestTemplate(request)
        if request.disaggregated is None:
            if len(self._templates) >= _MOST_TEMPLATES:
                self._templates.clear()
            for name in ("id", "input_tokens", "output_tokens", "load"):
                fields.pop(name, None)
            self._templates[_make_key(fields, work.load)] = template
        return LineQuestion(template, request.id, work.input_tokens, work.output_tokens, work.load)


def _make_key(fields: dict[str, Any], load: Load) -> bytes:
    """Return what lines of one template share, as written: 1, 1.0 and true are different."""
    fields["load"] = load.kind if load.limit == "p99" else load.limit
    return orjson.dumps(fields)


def _describe_json_error(error: orjson.JSONDecodeError) -> InputError:
    """Return the error of a line that is not JSON, with the position and the reason."""
    return input_error(
        "batch.not_json", "is not valid JSON at column {column}: {reason}", column=error.colno, reason=error.msg
    )
