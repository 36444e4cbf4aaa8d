"""Every message that the program makes has a sentence, and its placeholders are its parameters."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpudesk
from gpudesk.text import messages, translation
from gpudesk.text.formatting import GERMAN_NUMBERS, Formatter
from gpudesk.text.messages import InputError, Message, message

ROOT = Path(gpudesk.__file__).parent
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def literal_ids(node: ast.expr, assigned: dict[str, list[ast.expr]]) -> list[str]:
    """Return the ids that the first argument of `message` can be; a name stands for what it is given."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return literal_ids(node.body, assigned) + literal_ids(node.orelse, assigned)
    if isinstance(node, ast.Name) and node.id in assigned:
        return [name for given in assigned[node.id] for name in literal_ids(given, assigned)]
    raise AssertionError(f"line {node.lineno}: the id of a message must be written out")


def assignments(function: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what each plain name is given within a function."""
    given: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(node.value)
    return given


def message_calls(module: ast.AST) -> Iterator[tuple[ast.Call, dict[str, list[ast.expr]]]]:
    """Yield every call of `message` with the assignments of the function that it stands in."""
    for scope in ast.walk(module):
        if isinstance(scope, ast.FunctionDef):
            given = assignments(scope)
            for node in ast.walk(scope):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "message":
                    yield node, given


def messages_made() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield place, id and parameters of every `message(…)` in the program."""
    for file in sorted(ROOT.rglob("*.py")):
        for call, given in message_calls(ast.parse(file.read_text(encoding="utf-8"))):
            place = f"{file.relative_to(ROOT)}:{call.lineno}"
            assert all(keyword.arg for keyword in call.keywords), f"{place}: parameters must be written out"
            names = frozenset(keyword.arg for keyword in call.keywords if keyword.arg)
            yield from ((place, name, names) for name in literal_ids(call.args[0], given))


def placeholders(sentence: str) -> frozenset[str]:
    return frozenset(_PLACEHOLDER.findall(sentence))


def test_every_message_has_a_sentence_with_its_parameters() -> None:
    faults = []
    for place, name, parameters in messages_made():
        if name not in messages.MESSAGE_TEXTS:
            faults.append(f"{place}: no sentence for {name} ({', '.join(sorted(parameters))})")
        elif not placeholders(messages.MESSAGE_TEXTS[name]) <= parameters:
            missing = placeholders(messages.MESSAGE_TEXTS[name]) - parameters
            faults.append(f"{place}: {name} lacks {', '.join(sorted(missing))}")
        faults += [
            f"{place}: {variant} has a placeholder too many"
            for variant in (f"{name}:empty", f"{name}:one")
            if not placeholders(messages.MESSAGE_TEXTS.get(variant, "")) <= parameters
        ]
    assert not faults, "\n".join(faults)


def test_no_sentence_is_left_over() -> None:
    made = {name for _, name, _ in messages_made()}
    assert {name.partition(":")[0] for name in messages.MESSAGE_TEXTS} - made == set()


def test_empty_list_has_its_own_sentence() -> None:
    missing = message("catalog.unknown", kind="accelerator", id="q9", near=())
    assert messages.format_message(missing).startswith("there is no accelerator q9; `gpudesk catalog list`")
    close = message("catalog.unknown", kind="model", id="llama-3", near=("llama-3.1-8b",))
    assert messages.format_message(close) == "there is no model llama-3; the closest: llama-3.1-8b"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (message("plan.divides", count=1, product=2), "1 accelerator is no multiple of 2, the product"),
        (message("plan.divides", count=3, product=2), "3 accelerators are no multiple of 2, the product"),
        (message("pools.none_left", count=1), "1 accelerator leaves none"),
        (message("catalog.data", count=1, first="x"), "the data files have a fault: x"),
        (
            message("estimate.queued_memory", admitted=7, concurrency=8, queued=1),
            "Memory holds 7 of 8 requests; 1 waits",
        ),
        (
            message("estimate.queued_memory", admitted=1, concurrency=8, queued=7),
            "Memory holds 1 of 8 requests; 7 wait",
        ),
    ],
)
def test_one_of_what_is_counted_is_said_in_the_singular(made: Message, said: str) -> None:
    assert messages.format_message(made).startswith(said)


def test_every_sentence_for_one_is_said_where_all_parameters_are_one() -> None:
    for name, one in messages.MESSAGE_TEXTS.items():
        plain, _, variant = name.partition(":")
        if variant == "one":
            all_one = dict.fromkeys(placeholders(messages.MESSAGE_TEXTS[plain]), 1)
            assert messages.format_message(message(plain, **all_one)) == translation.tr(one, **all_one)


def test_parameters_are_written_as_figures_words_and_lists() -> None:
    said = messages.format_message(message("field.type", given='"many"', found="text", wanted="whole"))
    assert said == '"many" is text where a whole number belongs'
    said = messages.format_message(message("field.word", given='"fp5"', allowed=("fp4", "fp8")))
    assert said == '"fp5" is not one of fp4, fp8'
    said = messages.format_message(message("field.range", given="0", low=1, high=100_000_000))
    assert said == "0 is not between 1 and 100,000,000"


def test_figures_follow_the_language() -> None:
    said = messages.format_message(message("field.range", given="0", low=1, high=1000), Formatter(GERMAN_NUMBERS))
    assert said == "0 is not between 1 and 1.000"


def test_words_are_translated_with_their_sentence() -> None:
    translation.set_language("pseudo")
    said = messages.format_message(message("field.type", given="7", found="whole", wanted="text"))
    assert said.count("⟦") == 3


def test_a_problem_names_its_place() -> None:
    assert messages.format_input_error(InputError(message("field.missing"), "load.requests")) == (
        "load.requests: is missing"
    )
    assert messages.format_input_error(InputError(message("field.empty"))) == "is empty"


def test_unknown_message_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        messages.format_message(message("no.such"))
