"""How fast the sheet becomes a PDF."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gpudesk.domain.answers import Answer
from gpudesk.workbench.templates import read_template, template_ids
from gpudesk.workbench.workbench import Workbench

#: Seconds from an answer to the file, and the largest file in bytes.
LONGEST = 0.5
LARGEST = 200_000


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open() as opened:
        yield opened


@pytest.fixture
def answer(request: pytest.FixtureRequest, workbench: Workbench) -> Answer:
    return workbench.answer(read_template(request.param), with_curves=True)


@pytest.mark.parametrize("answer", template_ids(), indirect=True)
def test_pdf(benchmark: BenchmarkFixture, qapp: object, answer: Answer, tmp_path: Path) -> None:
    from gpudesk.desktop.printing.pdf import save_answer

    target = tmp_path / "sheet.pdf"
    benchmark(save_answer, answer, target, "a4")
    stats = benchmark.stats
    assert stats is None or stats.stats.max <= LONGEST
    assert target.stat().st_size <= LARGEST
