"""The 560 worked examples: each is reproduced, refused with its arithmetic, or said not to be derivable."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gpudesk import paths
from gpudesk.costing.accelerator_costs import (
    OF_OWNING,
    OwnershipInputs,
    compute_payback_hours,
    cost_software,
    list_ownership_lines,
    sum_lines,
)
from gpudesk.costing.worked_examples import SPAN, compute_worked_figure, read_calculations, read_worked_examples
from gpudesk.domain.deployment_analysis import FigureTolerance, ScalingRuleOfThumb, WorkedExample, WorkedExampleVerdict
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.precision import Precision
from gpudesk.engine.engine_support import compute_stream_ceiling, scale_bandwidth
from gpudesk.engine.memory import compute_cache_profile
from gpudesk.report.explanation.worked_examples import (
    describe_worked_verdict,
    format_computed_figure,
    format_worked_number,
    list_worked_arithmetic,
)
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError

CALCULATIONS: Final = read_calculations(paths.get_data_path("calculations.toml"))
EXAMPLES: Final = read_worked_examples(paths.get_data_path("worked_examples.csv"))
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


def evaluate(node: ast.expr, values: Mapping[str, float]) -> float:
    """Return what a formula of an example gives: an opinion that is independent of the program's."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=sign, right=right):
            return _BINARY[type(sign)](evaluate(left, values), evaluate(right, values))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _CALLED[name](evaluate(argument, values))
        case ast.IfExp(test=ast.Compare(left=left, comparators=[right]), body=body, orelse=orelse):
            same = evaluate(left, values) == evaluate(right, values)
            return evaluate(body if same else orelse, values)
    raise AssertionError(ast.dump(node))


#: All inputs of owning without a cost.
FREE: Final = {**dict.fromkeys(OF_OWNING, 0.0), **dict.fromkeys(("draw", "pue", "fleet"), 1.0)}


def owned_usd(price: float, kilowatts: float, values: Mapping[str, float]) -> float:
    years = values["hours"] / 8760.0
    inputs = {"price_usd": price, "accelerator_w": kilowatts * 1000.0, "energy_usd_per_kwh": values["e"]}
    return float(sum_lines(list_ownership_lines(OwnershipInputs({**FREE, **inputs, "years": years}, 1.0))))


def engineers_usd(values: Mapping[str, float], engineers: float, years: float, months: float) -> float:
    inputs = {"engineer_usd_per_year": values["rate"], "engineers": engineers, "porting_engineer_months": months}
    return float(sum_lines(cost_software({**FREE, **inputs, "years": years}, 1.0)))


def scaled(rule: ScalingRuleOfThumb) -> Callable[[Mapping[str, float]], float]:
    return lambda v: scale_bandwidth(v["bw"], int(v["n"]), rule, v["f"])


#: Formulas of documents -> the same by the functions behind estimates and costs.
BY_FUNCTION: Final[dict[str, Callable[[Mapping[str, float]], float]]] = {
    "bw/weights": lambda v: compute_stream_ceiling(v["bw"], v["weights"], 1, ScalingRuleOfThumb.FLAT, 1.0),
    "bw*n*f/weights": lambda v: compute_stream_ceiling(
        v["bw"], v["weights"], int(v["n"]), ScalingRuleOfThumb.FLAT, v["f"]
    ),
    "bw*n*(1 if n==1 else f)": scaled(ScalingRuleOfThumb.FLAT),
    "bw*(1+f*(n-1))": scaled(ScalingRuleOfThumb.ADDED),
    "bw*n*f**(n-1)": scaled(ScalingRuleOfThumb.COMPOUNDING),
    "bw*n*f**log2(n)": scaled(ScalingRuleOfThumb.PER_DOUBLING),
    "n*months/12*rate": lambda v: engineers_usd(v, 0.0, 1.0, v["n"] * v["months"]),
    "n*rate*y": lambda v: engineers_usd(v, v["n"], v["y"], 0.0),
    "p*(1-d)": lambda v: float(OwnershipInputs({"price_usd": v["p"], "discount": v["d"]}, 1.0).net_price_usd),
    "cost/(d*T)": lambda v: float(compute_payback_hours(v["cost"], v["T"], v["d"])),
    "(1-(a+ka*hours*e)/(b+kb*hours*e))*100": lambda v: (
        (1.0 - owned_usd(v["a"], v["ka"], v) / owned_usd(v["b"], v["kb"], v)) * 100.0
    ),
    "net/(net+kw*hours*e)*100": lambda v: 100.0 * v["net"] / owned_usd(v["net"], v["kw"], v),
}


@pytest.mark.parametrize("formula", BY_FUNCTION)
def test_functions_reproduce_printed_figures(formula: str) -> None:
    examples = [each for each in EXAMPLES if each.formula == formula]
    assert examples
    for example in examples:
        assert BY_FUNCTION[formula](example.inputs) == pytest.approx(example.expected, rel=_PRINTED), example.id


def test_every_example(subtests: pytest.Subtests) -> None:
    for example in EXAMPLES:
        with subtests.test(example=example.id):
            worked = compute_worked_figure(example, CALCULATIONS)
            assert worked is not None
            assert worked.verdict is example.verdict
            formatter = Formatter()
            verdict = describe_worked_verdict(worked, formatter)
            if example.formula is None:
                assert worked.working is None
                assert list_worked_arithmetic(worked, formatter) == []
                assert verdict.startswith("The document gives no inputs")
                continue
            assert worked.working is not None
            assert example.expected is not None
            value = worked.working.number
            assert value == pytest.approx(example.expected, rel=_PRINTED, abs=0)
            formula = ast.parse(example.formula, mode="eval").body
            assert value == pytest.approx(evaluate(formula, example.inputs), rel=1e-12)
            named, numbers = list_worked_arithmetic(worked, formatter)
            assert all(each.name in named for each in worked.working.inputs)
            shown_numbers = {format_worked_number(each.number, formatter) for each in worked.working.inputs}
            assert all(text in numbers for text in shown_numbers)
            in_trillions = any(each.unit == "TFLOP" for each in worked.working.inputs)
            for input_value in example.inputs.values():
                size = 1e12 if in_trillions and input_value > 1e12 else 1.0
                assert format_worked_number(input_value / size, formatter) in shown_numbers
            assert numbers.endswith(format_computed_figure(worked, formatter))
            if worked.verdict is WorkedExampleVerdict.REFUSED:
                assert "but arithmetic gives" in verdict


def test_all_worked_examples_are_computed() -> None:
    assert len(EXAMPLES) == 560
    assert len({each.id for each in EXAMPLES}) == 560
    assert [each.id for each in EXAMPLES if compute_worked_figure(each, CALCULATIONS) is None] == []


def test_no_calculation_is_without_an_example() -> None:
    formulas = {each.statement.split()[0] if each.formula == SPAN else each.formula for each in EXAMPLES}
    assert formulas - {None} == set(CALCULATIONS)


@pytest.mark.parametrize(
    ("formula", "statement"), [("a**b", "some"), ("a-b", "weeks from one day to another"), ("a-b", "")]
)
def test_a_form_of_calculation_that_is_not_known_is_not_guessed(formula: str, statement: str) -> None:
    assert (
        compute_worked_figure(WorkedExample("X-1", None, statement, formula, {"a": 3.0, "b": 2.0}), CALCULATIONS)
        is None
    )


@pytest.mark.parametrize(
    ("number", "named", "numbers", "expected"),
    [
        (
            "W002-65",
            "months between = later month (1 is January 2000) − earlier month (1 is January 2000)",
            "= 290 − 288 = 2 months",
            "Published: 14 months, but arithmetic gives 2 months.",
        ),
        (
            "W002-68",
            "export-control score = dense peak × bits of the format",
            "= 1,307 × 16 = 20,912",
            "The document requires at most 4,800, but arithmetic gives 20,912.",
        ),
        (
            "W003-16",
            "days between = later day of the month − earlier day of the month",
            "= 15 − 6 = 9 days",
            "The document requires at most 0 days, but arithmetic gives 9 days.",
        ),
        (
            "W004-38",
            "time of the video = frames × milliseconds per frame ÷ 1000",
            "= 100 × 700 ÷ 1000 = 70 s",
            "Follows from the document, which does not print this figure.",
        ),
        (
            "W004-39",
            "arithmetic needed = arithmetic of a step × steps ÷ time of the image",
            "= 74.362 × 28 ÷ 1.2 = 1,735 TFLOPS",
            "The document requires at most 1,307 TFLOPS, but arithmetic gives 1,735 TFLOPS.",
        ),
        (
            "W004-40",
            "shortest time of the image = arithmetic of a step × steps ÷ dense peak",
            "= 74.362 × 28 ÷ 1,307 = 1.59 s",
            "The document requires at most 1.2 s, but arithmetic gives 1.59 s.",
        ),
        # What has to be larger, and what is small enough.
        (
            "W003-04",
            "weights = parameters × bytes per parameter",
            "= 405 × 0.5 = 202.5 GB",
            "The document requires at least 288.1 GB, but arithmetic gives 202.5 GB.",
        ),
        (
            "W000-55",
            "weights = parameters × bytes per parameter",
            "= 200 × 1 = 200 GB",
            "The document requires at most 256 GB; arithmetic gives 200 GB.",
        ),
    ],
)
def test_how_an_example_reads(number: str, named: str, numbers: str, expected: str) -> None:
    (example,) = (each for each in EXAMPLES if each.id == number)
    worked = compute_worked_figure(example, CALCULATIONS)
    assert worked is not None
    formatter = Formatter()
    assert list_worked_arithmetic(worked, formatter) == [named, numbers]
    assert describe_worked_verdict(worked, formatter) == expected


@pytest.mark.parametrize(
    ("number", "named", "later", "earlier"),
    [
        ("W002-65", "(Dec 2023) to Feb 2024", (2024, 2), (2023, 12)),
        ("W002-66", "Feb 2024 to mid-2025 (June)", (2025, 6), (2024, 2)),
        ("W002-67", "Feb 2024 to late 2025 (November)", (2025, 11), (2024, 2)),
    ],
)
def test_month_1_is_january_2000(number: str, named: str, later: tuple[int, int], earlier: tuple[int, int]) -> None:
    (example,) = (each for each in EXAMPLES if each.id == number)
    assert named in example.statement
    months = [(year - 2000) * 12 + month for year, month in (later, earlier)]
    assert [example.inputs["a"], example.inputs["b"]] == months


def test_service_computes_the_worked_examples() -> None:
    with GpuDeskService.open(with_user_facts=False) as service:
        examples = service.worked_examples
        sources = {each.example.source for each in examples} - {None}
        assert all(service.catalog.source(source).title for source in sources if source)
    assert [each.example.id for each in examples] == [each.id for each in EXAMPLES]
    assert sources == {"seed-000", "seed-001", "seed-002", "seed-003", "seed-004"}


def test_the_cache_of_a_token_in_the_examples_is_that_of_the_model() -> None:
    (example,) = (each for each in EXAMPLES if each.id == "W002-09")
    with GpuDeskService.open(with_user_facts=False) as service:
        model = service.catalog.model("llama-3.1-70b")
    (growth,) = compute_cache_profile(model, Precision.FP16, ParallelPlan()).stored
    assert growth.per_token == example.inputs["kv"]


@pytest.mark.parametrize(
    ("published", "value", "verdict"),
    [
        ({"published": 2.5}, 2.52, WorkedExampleVerdict.REPRODUCED),
        ({"published": 2.5}, 3.0, WorkedExampleVerdict.REFUSED),
        ({"published_low": 25.0, "published_high": 35.0}, 24.96, WorkedExampleVerdict.REPRODUCED),
        ({"published_low": 25.0, "published_high": 35.0}, 24.0, WorkedExampleVerdict.REFUSED),
        ({"published_high": 36.0}, 47.0, WorkedExampleVerdict.REFUSED),
        ({"published_low": 36.0}, 47.0, WorkedExampleVerdict.REPRODUCED),
        ({}, 47.0, WorkedExampleVerdict.REPRODUCED),
        ({"published": 2.5}, None, WorkedExampleVerdict.NOT_DERIVABLE),
    ],
)
def test_a_printed_figure_is_judged_within_its_tolerance(
    published: dict[str, float], value: float | None, verdict: WorkedExampleVerdict
) -> None:
    example = WorkedExample(
        "X-1",
        None,
        "some",
        "a/b",
        tolerance=FigureTolerance(absolute=0.05),
        published=published.get("published"),
        published_low=published.get("published_low"),
        published_high=published.get("published_high"),
    )
    assert example.judge(value) is verdict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "columns"),
        ("X-1,,some,params,1,exact,reproducible\n", "input"),
        ("X-1,,some,params=much,1,exact,reproducible\n", "number"),
        ("X-1,,some,params=1,1,about,reproducible\n", "tolerance"),
        ("X-1,,some,params=1,1,exact,perhaps\n", "verdict"),
    ],
)
def test_damaged_table_is_reported(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "examples.csv"
    head = "" if message == "columns" else "id,seed,statement,inputs,expected,tolerance,verdict\n"
    file.write_text(head + text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_worked_examples(file)
    assert caught.value.problem.id == f"worked.{message}"
    assert (caught.value.where or "").startswith(str(file))


def test_missing_table_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_worked_examples(tmp_path / "none.csv")
    assert caught.value.problem.id == "file.unreadable"


@pytest.mark.parametrize(
    ("example", "expected"),
    [("W002-25", "37.1%"), ("W000-03", "2.48"), ("W000-24", "$2.29/h"), ("W001-20", "3,224 tok/s")],
)
def test_computed_figures_have_three_digits_or_as_many_as_are_printed(example: str, expected: str) -> None:
    worked = compute_worked_figure(next(each for each in EXAMPLES if each.id == example), CALCULATIONS)
    assert worked is not None
    assert format_computed_figure(worked, Formatter()) == expected
