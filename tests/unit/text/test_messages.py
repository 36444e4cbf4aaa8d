"""Messages: each is written once, with its parameters, and is worded as the golden file says."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import gpudesk
from gpudesk.catalog.read import describe_unknown_attribute
from gpudesk.text import messages, translation
from gpudesk.text.formatting import ENGLISH_NUMBERS, GERMAN_NUMBERS, Formatter
from gpudesk.text.messages import InputError, Message, Share, Term, message, message_n
from tests.source import parse_source

ROOT = Path(gpudesk.__file__).parent
GOLDEN = Path(__file__).parent / "golden" / "messages.txt"
_MAKERS = ("message", "message_n", "input_error")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class WrittenMessage:
    """A call of `message`, `message_n` or `input_error` in the program: where it stands and what is written there."""

    place: str
    id: str
    sentences: tuple[str, ...]
    parameters: frozenset[str]
    count_parameter: str | None

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset(name for sentence in self.sentences for name in _PLACEHOLDER.findall(sentence))


def read_literals(node: ast.expr, place: str) -> tuple[str, ...]:
    """Return the text of a literal, or both of a conditional expression of two."""
    if isinstance(node, ast.IfExp):
        return read_literals(node.body, place) + read_literals(node.orelse, place)
    assert isinstance(node, ast.Constant), f"{place}: a message must be written out"
    assert isinstance(node.value, str), f"{place}: a message must be written out"
    return (node.value,)


def list_parameters(call: ast.Call, function: ast.AST, place: str) -> Iterator[str]:
    """Yield the names of the parameters; `**name` stands for the keys of the dict that the function gives it."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg
            continue
        values = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(keyword.value, ast.Name)
            and ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target) == keyword.value.id
        ]
        assert len(values) == 1, f"{place}: parameters must be written out"
        assert isinstance(values[0], ast.Dict), f"{place}: parameters must be written out"
        for key in values[0].keys:
            assert isinstance(key, ast.Constant), f"{place}: parameters must be written out"
            yield str(key.value)


def read_call(call: ast.Call, function: ast.AST, place: str) -> WrittenMessage:
    arguments = call.args if ast.unparse(call.func) == "message_n" else call.args[:2]
    (name,), *texts = (read_literals(each, place) for each in arguments)
    parameters = frozenset(list_parameters(call, function, place))
    if len(texts) == 1:
        return WrittenMessage(place, name, texts[0], parameters, None)
    (singular,), (plural,), (count_texts,) = texts
    return WrittenMessage(place, name, (singular, plural), parameters, count_texts)


def find_calls(scope: ast.AST, function: ast.AST) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Yield every call that makes a message with the innermost function that it stands in."""
    for node in ast.iter_child_nodes(scope):
        inner = node if isinstance(node, ast.FunctionDef) else function
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
            yield node, inner
        yield from find_calls(node, inner)


@cache
def read_modules() -> list[tuple[str, ast.Module]]:
    return [
        (str(file.relative_to(ROOT)), parse_source(file.read_text(encoding="utf-8")))
        for file in sorted(ROOT.rglob("*.py"))
        if file != ROOT / "text" / "messages.py"
    ]


@cache
def find_written_messages() -> list[WrittenMessage]:
    return [
        read_call(call, function, f"{name}:{call.lineno}")
        for name, module in read_modules()
        for call, function in find_calls(module, module)
    ]


def find_terms() -> Iterator[tuple[str, str]]:
    """Yield key and text of every `Term` of the program."""
    for name, module in read_modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Term":
                (key,), (text,) = (read_literals(each, f"{name}:{node.lineno}") for each in node.args)
                yield key, text


def test_every_placeholder_has_a_parameter() -> None:
    for call in find_written_messages():
        missing = call.placeholders - call.parameters
        assert not missing, f"{call.place}: {call.id} lacks {', '.join(sorted(missing))}"
        assert call.count_parameter is None or call.count_parameter in call.parameters, f"{call.place}: counts nothing"


def test_every_message_is_written_once() -> None:
    places = Counter(call.id for call in find_written_messages())
    assert [name for name, count in places.items() if count > 1] == []


def test_sentences_are_those_of_the_golden_file(request: pytest.FixtureRequest) -> None:
    """`--update-golden` writes the file again."""
    texts = [(each.id, each.sentences) for each in find_written_messages()]
    texts += [(f"term {key}", (text,)) for key, text in find_terms()]
    text = "".join(f"{name}\n" + "".join(f"    {each}\n" for each in sentences) for name, sentences in sorted(texts))
    if request.config.getoption("--update-golden"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("near", "expected"),
    [
        ((), "q9 has no attribute x; run `gpudesk catalog show q9` to list them"),
        (("y", "z"), "q9 has no attribute x; did you mean y, z?"),
    ],
)
def test_empty_list_has_its_own_sentence(near: tuple[str, ...], expected: str) -> None:
    assert messages.format_message(describe_unknown_attribute("q9", "x", near)) == expected


DIVIDES = (
    "{count} accelerator is not a multiple of {product}, the product",
    "{count} accelerators are not a multiple of {product}, the product",
)
WAITS = (
    "Memory fits {admitted} of 8 requests; {queued} is queued",
    "Memory fits {admitted} of 8 requests; {queued} are queued",
)


@pytest.mark.parametrize(
    ("counted_message", "expected"),
    [
        (message_n("a", *DIVIDES, "count", count=1, product=2), "1 accelerator is not a multiple of 2, the product"),
        (message_n("a", *DIVIDES, "count", count=3, product=2), "3 accelerators are not a multiple of 2, the product"),
        (message_n("a", *WAITS, "queued", admitted=7, queued=1), "Memory fits 7 of 8 requests; 1 is queued"),
        (message_n("a", *WAITS, "queued", admitted=1, queued=7), "Memory fits 1 of 8 requests; 7 are queued"),
    ],
)
def test_counted_message_uses_singular_and_plural(counted_message: Message, expected: str) -> None:
    assert messages.format_message(counted_message) == expected


TYPE = "{given} is {found}; expected {wanted}"
WHOLE = Term("whole", "a whole number")
RANGE = "{given} is not between {low} and {high}"


def test_parameters_are_written_as_figures_words_and_lists() -> None:
    text = messages.format_message(message("field.type", TYPE, given="'many'", found="text", wanted=WHOLE))
    assert text == "'many' is text; expected a whole number"
    text = messages.format_message(
        message("field.word", "{given} is not one of {allowed}", given="'fp5'", allowed=("fp4", "fp8"))
    )
    assert text == "'fp5' is not one of fp4, fp8"
    text = messages.format_message(message("field.range", RANGE, given="0", low=1, high=100_000_000))
    assert text == "0 is not between 1 and 100,000,000"


def test_share_is_shown_in_percent() -> None:
    share_message = message("plan.within", "{behind} slower, {times} times", behind=Share(0.12), times=1.5)
    assert messages.format_message(share_message) == "12% slower, 1.50 times"


def test_figures_follow_the_language() -> None:
    text = messages.format_message(
        message("field.range", RANGE, given="0", low=1, high=1000), Formatter(GERMAN_NUMBERS)
    )
    assert text == "0 is not between 1 and 1.000"


def test_words_are_translated_with_their_sentence() -> None:
    translation.set_language("pseudo")
    text = messages.format_message(message("field.type", TYPE, given="7", found=WHOLE, wanted=Term("text", "text")))
    assert text.count("⟦") == 3


def test_a_problem_names_its_place() -> None:
    assert messages.format_input_error(InputError(message("field.missing", "is missing"), "load.requests")) == (
        "load.requests: is missing"
    )
    assert messages.format_input_error(InputError(message("field.empty", "is empty"))) == "is empty"


def test_missing_parameter_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        messages.format_message(message("field.range", RANGE, given="0", low=1))


def test_what_is_counted_is_a_number_and_fractions_are_plural() -> None:
    months = message_n("a", "{n} month", "{n} months", "n", n=1.5)
    assert messages.format_message(months) == "1.50 months"
    with pytest.raises(TypeError, match="not a number"):
        messages.format_message(message_n("a", *DIVIDES, "count", count="many", product=2))


def test_a_date_in_a_message_is_that_of_the_locale() -> None:
    released = message("test.released", "Released {date}", date="2026-04-17")
    assert messages.format_message(released, Formatter(ENGLISH_NUMBERS)) == "Released 2026-04-17"
    assert messages.format_message(released, Formatter(GERMAN_NUMBERS)) == "Released 17.04.2026"
