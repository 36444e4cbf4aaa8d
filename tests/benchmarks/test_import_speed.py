"""How long bringing facts in, trying an edit and handing tables on keep a person waiting."""

from __future__ import annotations

import gc
import io
import json
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytest_benchmark.fixture import BenchmarkFixture
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.catalog.importing.gguf_model import propose_gguf
from gpudesk.catalog.importing.huggingface.checkpoint import read_checkpoint
from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.catalog.importing.price_lists import propose_prices
from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.pages.catalog.import_dialog import ImportDialog
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.catalog_files import import_files
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.user_facts import UserPrice
from gpudesk.engine.tensors import count_parameters
from gpudesk.report.catalog_export import write_table
from gpudesk.report.writers.export_table import ExportCellKind, ExportColumn, ExportFormat, ExportTable
from gpudesk.service import GpuDeskService
from tests.benchmarks.conftest import Say
from tests.unit.catalog.importing.configs import CONFIGS
from tests.unit.catalog.importing.gguf_models import MODELS

TODAY = "2026-11-21"
#: Seconds for a hundred thousand rows of prices, and between two reports of how far it is.
ROWS, REPORT = 2.0, 0.25
#: Seconds for the header of a file of 1.3 TB with a whole vocabulary.
GGUF = 1.5
#: Seconds for the headers of 94,000 tensors, and for the model again with other answers.
HEADERS, AGAIN = 1.5, 0.05
#: Seconds in which an edit is tried.
IMPACT = 0.05
#: Seconds in which ten thousand rows are written.
EXPORT = 2.0
#: Milliseconds for which the window may stand still while ten thousand prices come.
GAP_MS = 50.0


def _median(benchmark: BenchmarkFixture) -> float:
    """Return the seconds of the middle round."""
    assert benchmark.stats is not None
    return float(benchmark.stats.stats.median)


def _price_rows() -> bytes:
    head = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region"
    rows = (
        f"ex.{number % 997},MI325X,8,128,2048,{10 + number % 9000 / 100:.2f},,eu-{number % 50}"
        for number in range(100_000)
    )
    return "\n".join((head, *rows, "")).encode()


def _read_prices(data: bytes) -> tuple[int, float]:
    steps = propose_prices(data, name="vms.csv", today=TODAY)
    longest, last = 0.0, time.perf_counter()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return sum(isinstance(fact, UserPrice) for fact in end.value.facts), longest
        now = time.perf_counter()
        longest, last = max(longest, now - last), now


def test_reading_a_hundred_thousand_prices(benchmark: BenchmarkFixture) -> None:
    count, longest = benchmark.pedantic(_read_prices, (_price_rows(),), rounds=5)  # type: ignore[no-untyped-call]
    assert count > 80_000
    assert _median(benchmark) <= ROWS
    assert longest <= REPORT


def test_reading_the_header_of_a_large_gguf_file(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    gguf = MODELS["deepseek-v3"]
    gguf.keys["tokenizer.ggml.tokens"] = [f"word {number}" for number in range(129_280)]
    try:
        path = gguf.write(tmp_path / "huge.gguf")
    finally:
        del gguf.keys["tokenizer.ggml.tokens"]
    proposal = benchmark.pedantic(propose_gguf, (path,), {"today": TODAY}, rounds=5)  # type: ignore[no-untyped-call]
    assert path.stat().st_size > 1.3e12
    assert not proposal.missing
    assert _median(benchmark) <= GGUF


def _headers() -> Mapping[str, bytes]:
    """Return headers as those of a model with 61 layers of 256 experts in 163 files."""
    names = [
        (f"model.layers.{layer}.mlp.experts.{expert}.{name}_proj.{kind}", dtype, shape)
        for layer in range(61)
        for expert in range(256)
        for name in ("gate", "up", "down")
        for kind, dtype, shape in (("weight", "F8_E4M3", [2048, 7168]), ("weight_scale_inv", "F32", [16, 56]))
    ]
    files: dict[str, bytes] = {}
    weights: dict[str, str] = {}
    for number in range(163):
        file = f"model-{number + 1:05d}-of-00163.safetensors"
        tensors = {
            name: {"dtype": dtype, "shape": shape, "data_offsets": [0, 14_680_064]}
            for name, dtype, shape in names[number::163]
        }
        header = json.dumps(tensors).encode()
        files[file] = struct.pack("<Q", len(header)) + header
        weights |= dict.fromkeys(tensors, file)
    files["model.safetensors.index.json"] = json.dumps({"weight_map": weights}).encode()
    return files


def test_reading_the_headers_of_a_large_checkpoint(benchmark: BenchmarkFixture) -> None:
    checkpoint = benchmark.pedantic(read_checkpoint, (_headers(),), rounds=5)  # type: ignore[no-untyped-call]
    assert len(checkpoint.names) == 61 * 256 * 3 * 2
    assert _median(benchmark) <= HEADERS


def test_reading_a_model_with_cached_headers(benchmark: BenchmarkFixture) -> None:
    checkpoint = read_checkpoint(_headers())
    raw = (CONFIGS / "deepseek-r1.json").read_bytes()

    def again() -> bool:
        proposal = propose_model(
            raw, {}, {}, name="m", today=TODAY, parameters_of=count_parameters, checkpoint=checkpoint
        )
        return bool(proposal.facts)

    assert benchmark(again)
    assert _median(benchmark) <= AGAIN


def test_trying_an_edit(benchmark: BenchmarkFixture) -> None:
    with GpuDeskService.open() as opened:
        service = GpuDeskService(opened.catalog)
        source = make_user_source("A letter", "The maker", url=None, date="2026-11-01", kind=SourceKind.USER)
        scenario = read_template("mi325x-or-h200-70b")
        edit = state_value(service.catalog, "mi325x", "memory_bandwidth", 5.3, "TB/s", source, today=TODAY)
        assert not benchmark(service.compute_impact, scenario, edit).unchanged
    assert _median(benchmark) <= IMPACT


@pytest.mark.parametrize("form", list(ExportFormat))
def test_writing_ten_thousand_rows(benchmark: BenchmarkFixture, form: ExportFormat) -> None:
    head = tuple(ExportColumn(f"c{place}", f"Column {place}", kind=ExportCellKind.MIXED) for place in range(18))
    rows = [tuple(f"{line} text {place}" if place % 3 else line / 7 for place in range(18)) for line in range(10_000)]
    table = ExportTable("Many", head, rows)
    benchmark.pedantic(lambda: write_table(table, form, io.BytesIO()), rounds=3)  # type: ignore[no-untyped-call]
    assert _median(benchmark) <= EXPORT


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, tmp_path: Path, user_home: Path) -> Iterator[MainWindow]:
    catalog = GpuDeskService.open().catalog
    with GpuDeskService(catalog, user_file=tmp_path / paths.get_user_catalog_path().name) as service:
        program = DesktopProgram(qapp, service)
        new_window = program.open_new_window()
        new_window.show()
        qtbot.waitExposed(new_window)
        yield new_window
        new_window.jobs.stop()
        new_window.close()


def _widest_gap(is_done: Callable[[], bool], qtbot: QtBot) -> float:
    """Return the longest time in milliseconds between two turns of the event loop until it is done."""
    beats = [time.perf_counter()]
    timer = QTimer()
    timer.setInterval(0)
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))
    timer.start()
    qtbot.waitUntil(is_done, timeout=20_000)
    timer.stop()
    return 1000 * max(later - sooner for sooner, later in pairwise(beats))


def _import(window: MainWindow, path: Path, qtbot: QtBot) -> float:
    window.note.clear()
    import_files(window, [path])
    reading = _widest_gap(lambda: not window.jobs.running, qtbot)
    dialog = next(each for each in window.findChildren(ImportDialog) if each.isVisible())
    dialog.accept()
    writing = _widest_gap(lambda: not window.jobs.running, qtbot)
    qtbot.waitUntil(lambda: window.note.text.startswith("Added"))
    return max(reading, writing)


def test_window_responds_during_an_import_of_ten_thousand_prices(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, say: Say
) -> None:
    head = "provider,instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\n"
    gaps = []
    for number, count in enumerate((3, 10_000, 10_000, 10_000)):
        path = tmp_path / f"{number}.csv"
        rows = (f"lab,i{i},eu-{i},{2 + i / 10000:.4f},8,64,1,MI325X,256,False\n" for i in range(count))
        path.write_text(head + "".join(rows))
        gc.collect()
        gc.freeze()
        try:
            gaps.append(_import(window, path, qtbot))
        finally:
            gc.unfreeze()
        window.desk.service.user_catalog.undo()
    # What is loaded once a session does not belong to the work.
    say(f"widest gaps of three imports of 10,000 prices: {', '.join(f'{gap:.0f}' for gap in gaps[1:])} ms")
    assert min(gaps[1:]) <= GAP_MS
