"""How fast the sheet becomes a PDF."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gpudesk.documents.scenario_file import list_template_ids, read_template
from gpudesk.domain.answer import Answer
from gpudesk.service import GpuDeskService

#: Seconds from an answer to the file, and the largest file in bytes.
LONGEST = 0.5
LARGEST = 200_000


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as opened:
        yield opened


@pytest.fixture
def answer(request: pytest.FixtureRequest, service: GpuDeskService) -> Answer:
    return service.answer(read_template(request.param), with_curves=True)


@pytest.mark.parametrize("answer", list_template_ids(), indirect=True)
def test_pdf(benchmark: BenchmarkFixture, qapp: object, answer: Answer, tmp_path: Path) -> None:
    from gpudesk.desktop.ui.printing.pdf import save_answer_as_pdf

    target = tmp_path / "sheet.pdf"
    benchmark(save_answer_as_pdf, answer, target, "a4")
    stats = benchmark.stats
    assert stats is None or stats.stats.max <= LONGEST
    assert target.stat().st_size <= LARGEST
