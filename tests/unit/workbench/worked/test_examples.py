"""The 560 worked examples: each is reproduced, refused with its arithmetic, or said not to be derivable."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gpudesk import paths
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.precision import Precision
from gpudesk.domain.worked_examples import Tolerance, Verdict, WorkedExample
from gpudesk.engine.kv import cache_profile
from gpudesk.sheets.worked_words import arithmetic_lines, number_text, verdict_sentence
from gpudesk.workbench.workbench import Workbench
from gpudesk.workbench.worked.reading import CALCULATIONS, read_examples, work_out

EXAMPLES: Final = read_examples(paths.worked_examples_path())
#: Formulas of dates, of a rule of export, and of diffusion, which the program does not work out.
ELSEWHERE: Final = frozenset(
    {"a-b", "tf*bits", "n*ms/1000", "flop_per_step*steps/t/1e12", "flop_per_step*steps/peak"}
)

#: Expected values are printed with six digits.
_PRINTED: Final = 5e-6
_BINARY: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_CALLED: Final[dict[str, Callable[[float], float]]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "pow2": lambda count: 2.0 ** math.ceil(math.log2(count)),
}


def evaluated(node: ast.expr, values: Mapping[str, float]) -> float:
    """Return what a formula of an example gives: an opinion that is independent of the program's."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=sign, right=right):
            return _BINARY[type(sign)](evaluated(left, values), evaluated(right, values))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _CALLED[name](evaluated(argument, values))
        case ast.IfExp(test=ast.Compare(left=left, comparators=[right]), body=body, orelse=orelse):
            same = evaluated(left, values) == evaluated(right, values)
            return evaluated(body if same else orelse, values)
    raise AssertionError(ast.dump(node))


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.id for each in EXAMPLES])
def test_every_example(example: WorkedExample) -> None:
    worked = work_out(example)
    if example.formula in ELSEWHERE:
        assert worked is None
        return
    assert worked is not None
    assert worked.verdict is example.verdict
    formatter = Formatter()
    said = verdict_sentence(worked, formatter)
    if example.formula is None:
        assert worked.working is None
        assert arithmetic_lines(worked, formatter) == []
        assert said.startswith("Nothing gives this figure")
        return
    assert worked.working is not None
    assert example.expected is not None
    value = worked.working.number
    assert value == pytest.approx(example.expected, rel=_PRINTED, abs=0)
    formula = ast.parse(example.formula, mode="eval").body
    assert value == pytest.approx(evaluated(formula, example.inputs), rel=1e-12)
    named, numbers = arithmetic_lines(worked, formatter)
    assert all(each.name in named for each in worked.working.inputs)
    assert all(number_text(given, formatter) in numbers for given in example.inputs.values())
    assert numbers.endswith(number_text(value, formatter, worked.working.unit))
    if worked.verdict is Verdict.REFUSED:
        assert "but arithmetic gives" in said


def test_nothing_is_missing() -> None:
    assert len(EXAMPLES) == 560
    assert len({each.id for each in EXAMPLES}) == 560
    known = {each.formula for each in EXAMPLES if each.formula is not None}
    assert known == ELSEWHERE | set(CALCULATIONS)
    assert ELSEWHERE.isdisjoint(CALCULATIONS)


def test_the_workbench_shows_what_it_works_out() -> None:
    with Workbench.open(with_own=False) as workbench:
        shown = workbench.worked_examples
        sources = {each.example.source for each in shown} - {None}
        assert all(workbench.catalog.source(source).title for source in sources if source)
    assert [each.example.id for each in shown] == [
        each.id for each in EXAMPLES if each.formula not in ELSEWHERE
    ]
    assert sources == {"seed-000", "seed-001", "seed-002", "seed-003", "seed-004"}


def test_the_cache_of_a_token_in_the_examples_is_that_of_the_model() -> None:
    (example,) = (each for each in EXAMPLES if each.id == "W002-09")
    with Workbench.open(with_own=False) as workbench:
        model = workbench.catalog.model("llama-3.1-70b")
    (growth,) = cache_profile(model, Precision.FP16, ParallelPlan()).stored
    assert growth.per_token == example.inputs["kv"]


@pytest.mark.parametrize(
    ("stated", "value", "verdict"),
    [
        ({"stated": 2.5}, 2.52, Verdict.REPRODUCED),
        ({"stated": 2.5}, 3.0, Verdict.REFUSED),
        ({"stated_low": 25.0, "stated_high": 35.0}, 24.96, Verdict.REPRODUCED),
        ({"stated_low": 25.0, "stated_high": 35.0}, 24.0, Verdict.REFUSED),
        ({"stated_high": 36.0}, 47.0, Verdict.REFUSED),
        ({"stated_low": 36.0}, 47.0, Verdict.REPRODUCED),
        ({}, 47.0, Verdict.REPRODUCED),
        ({"stated": 2.5}, None, Verdict.NOT_DERIVABLE),
    ],
)
def test_a_printed_figure_is_judged_within_its_tolerance(
    stated: dict[str, float], value: float | None, verdict: Verdict
) -> None:
    example = WorkedExample(
        "X-1",
        None,
        "some",
        "a/b",
        tolerance=Tolerance(absolute=0.05),
        stated=stated.get("stated"),
        stated_low=stated.get("stated_low"),
        stated_high=stated.get("stated_high"),
    )
    assert example.judge(value) is verdict


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n", "columns"),
        ("X-1,,some,params,1,exact,reproducible\n", "input"),
        ("X-1,,some,params=much,1,exact,reproducible\n", "number"),
        ("X-1,,some,params=1,1,about,reproducible\n", "tolerance"),
        ("X-1,,some,params=1,1,exact,perhaps\n", "verdict"),
    ],
)
def test_a_table_that_is_damaged_is_said_to_be(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "examples.csv"
    head = "" if said == "columns" else "id,seed,statement,inputs,expected,tolerance,verdict\n"
    file.write_text(head + text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_examples(file)
    assert caught.value.problem.id == f"worked.{said}"
    assert (caught.value.where or "").startswith(str(file))


def test_a_table_that_is_not_there_is_said_not_to_be(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_examples(tmp_path / "none.csv")
    assert caught.value.problem.id == "file.unreadable"
