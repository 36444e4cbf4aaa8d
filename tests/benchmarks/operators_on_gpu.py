"""Measures single operators on the GPU at hand and prints rows as data/measurements/operators-*.csv has them.

    python tests/benchmarks/operators_on_gpu.py --accelerator "H200" > rows.csv

It needs PyTorch 2.1 or newer built for CUDA, one GPU (cases that do not fit its free memory are left out;
24 GB hold most), for FP8 a part of compute capability 8.9 or newer, and some 15 minutes in which nothing else
runs on that GPU. It changes no setting of the GPU. pytest does not collect it.

What it measures: the bandwidth of streaming kernels; products of decode and prefill shape in BF16 and FP8;
decode attention of one layer by batch and context; and what starting a kernel costs, one by one and from a
captured graph (a table of its own, `launch`). Kernels run from a captured graph, so that no time of the host
is in them, over as many copies of their data as the last-level cache cannot hold. A figure is the median of
`SAMPLES`.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, Final, NoReturn

#: The project does not install PyTorch, so its types are not known here.
Torch = Any
Tensor = Any
Graph = Any
Call = Callable[[], object]
Row = dict[str, str | int]

SAMPLES: Final = 7
#: A sample repeats its calls for about this long.
SAMPLE_S: Final = 0.05
#: Kernels go round copies of their data of together this size, several times any last-level cache.
ROUND_BYTES: Final = 1 << 30
#: Share of the free memory that one case may take.
ROOM: Final = 0.8

#: Columns and rows of the stored matrix, as in the files.
MATRICES: Final = ((8192, 8192), (10240, 8192), (16384, 8192), (12288, 12288), (65536, 8192))
TOKENS: Final = (1, 16, 64, 256, 1024, 4096, 16384)
#: Query heads, key-value heads; each of 128.
HEADS: Final = ((64, 8), (32, 8), (8, 1))
HEAD_DIM: Final = 128
CONTEXTS: Final = (2048, 8192, 32768)
BATCHES: Final = (1, 16, 64, 256)
STREAM_ELEMENTS: Final = 1 << 29
LAUNCHES: Final = 2000

COMMON_BEFORE: Final = ("id", "source", "accelerator", "kernels", "version")
COMMON_AFTER: Final = ("metric", "value", "unit", "unused", "note")
COLUMNS: Final = {
    "bandwidth": ("kernel",),
    "gemm": ("kernel", "precision", "scheme", "m", "n", "k"),
    "attention": ("kv_precision", "batch", "context", "q_heads", "kv_heads", "head_dim"),
    "launch": ("kernel",),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one table after another, each under its header."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--accelerator", help="name of the part as data/measurements/aliases.toml has it")
    parser.add_argument("--source", default="gpudesk-operators", help="id of the source of these rows")
    chosen = parser.parse_args(arguments)
    torch = _torch()
    torch.cuda.set_device(0)
    torch.manual_seed(0)
    name = chosen.accelerator or torch.cuda.get_device_name(0)
    common: Row = {
        "source": chosen.source,
        "accelerator": name,
        "kernels": "PyTorch",
        "version": torch.__version__,
        "unused": "",
    }
    measured = {"bandwidth": _streams, "gemm": _products, "attention": _attention, "launch": _launches}
    for table, measure in measured.items():
        columns = (*COMMON_BEFORE, *COLUMNS[table], *COMMON_AFTER)
        writer = csv.DictWriter(sys.stdout, columns, restval="", lineterminator="\n")
        writer.writeheader()
        for number, row in enumerate(measure(torch), start=1):
            writer.writerow({**common, "id": f"GPU-{table}-{number:04d}", **row})
            sys.stdout.flush()
        sys.stdout.write("\n")


def _torch() -> Torch:
    """Return PyTorch; ends the program with one line where it or a GPU is missing."""
    try:
        torch: Torch = importlib.import_module("torch")
    except ImportError:
        _stop("PyTorch is not installed here")
    if not torch.cuda.is_available():
        _stop("PyTorch finds no GPU here")
    return torch


def _stop(reason: str) -> NoReturn:
    sys.stderr.write(f"operators_on_gpu: {reason}; nothing was measured.\n")
    raise SystemExit(1)


def _skipped(what: str, reason: object) -> None:
    first = str(reason).partition("\n")[0]
    sys.stderr.write(f"operators_on_gpu: left out {what}: {first}\n")


def _figure(value: float) -> str:
    return f"{value:.5g}"


def _copies(each_bytes: int) -> int:
    """How many copies of the data make a round that no cache holds."""
    return max(1, -(-ROUND_BYTES // each_bytes))


def _fits(torch: Torch, needed_bytes: int) -> bool:
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    return bool(needed_bytes <= ROOM * free)


def _kernel_seconds(torch: Torch, calls: Sequence[Call]) -> float:
    """Seconds of one of `calls` on the GPU, captured together as a graph and replayed."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            for call in calls:
                call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    _replayed(torch, graph, 1)
    once = _replayed(torch, graph, 1)
    repeats = max(1, round(SAMPLE_S / once))
    return median(_replayed(torch, graph, repeats) for _ in range(SAMPLES)) / len(calls)


def _replayed(torch: Torch, graph: Graph, repeats: int) -> float:
    """Seconds of one replay of a graph, of `repeats` in a row."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(repeats):
        graph.replay()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1e3 / repeats


def _streams(torch: Torch) -> Iterator[Row]:
    elements = STREAM_ELEMENTS
    while not _fits(torch, 3 * 4 * elements):
        elements //= 2
    first, second, third = (torch.rand(elements, device="cuda") for _ in range(3))
    vector_bytes = 4 * elements
    kernels: dict[str, tuple[Call, int]] = {
        "read": (lambda: torch.sum(first), 1),
        "copy": (lambda: second.copy_(first), 2),
        "add": (lambda: torch.add(first, second, out=third), 3),
    }
    for name, (call, vectors) in kernels.items():
        rate = vectors * vector_bytes / _kernel_seconds(torch, [call])
        yield {"kernel": name, "metric": "bandwidth", "value": _figure(rate), "unit": "B/s"}


def _products(torch: Torch) -> Iterator[Row]:
    """Products of activations with a stored matrix, in BF16 and where the part has it in FP8."""
    for precision, scheme, kernel, build in (
        ("bf16", "", "torch.nn.functional.linear", _bf16_product),
        ("fp8", "tensor", "torch._scaled_mm", _fp8_product),
    ):
        if precision == "fp8" and torch.cuda.get_device_capability() < (8, 9):
            _skipped("FP8", "this part has no FP8 arithmetic")
            continue
        for n, k in MATRICES:
            for m in TOKENS:
                seconds = _product_seconds(torch, build, (m, n, k), 2 if precision == "bf16" else 1)
                if seconds is not None:
                    yield {
                        "kernel": kernel,
                        "precision": precision,
                        "scheme": scheme,
                        "m": m,
                        "n": n,
                        "k": k,
                        "metric": "kernel_time",
                        "value": _figure(seconds),
                        "unit": "s",
                        "note": "the product alone, of narrowed activations" if scheme else "",
                    }


#: Makes the call that multiplies activations of m x k with a matrix of n x k of its own.
Build = Callable[[Torch, int, int, int], Call]


def _product_seconds(torch: Torch, build: Build, shape: tuple[int, int, int], width: int) -> float | None:
    """Seconds of one product of shape (m, n, k), elements of `width` bytes; None where it does not run."""
    m, n, k = shape
    copies = _copies(width * n * k)
    # Beside what is kept: the results of warming up and of the graph, and random numbers to be narrowed.
    needed = copies * width * (n + m) * k + 2 * 2 * m * n + 2 * max(m, n) * k
    if not _fits(torch, needed):
        _skipped(f"the product {shape}", "it does not fit")
        return None
    try:
        return _kernel_seconds(torch, [build(torch, m, n, k) for _ in range(copies)])
    except RuntimeError as error:
        _skipped(f"the product {shape} of {width}-byte elements", error)
        return None


def _bf16_product(torch: Torch, m: int, n: int, k: int) -> Call:
    activations = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    matrix = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.nn.functional.linear(activations, matrix)


def _fp8_product(torch: Torch, m: int, n: int, k: int) -> Call:
    def narrow(rows: int) -> Tensor:
        return torch.randn(rows, k, device="cuda", dtype=torch.bfloat16).to(torch.float8_e4m3fn)

    activations, matrix = narrow(m), narrow(n)
    scale = torch.ones((), device="cuda", dtype=torch.float32)
    return lambda: torch._scaled_mm(activations, matrix.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)


def _attention(torch: Torch) -> Iterator[Row]:
    """Decode attention of one layer in BF16: one new token of each sequence attends to its cache.

    The query heads of a group go in as rows of one query, so that each cached key and value is read once, as
    kernels for grouped queries do.
    """
    for q_heads, kv_heads in HEADS:
        for context in CONTEXTS:
            for batch in BATCHES:
                cache_bytes = 2 * 2 * batch * kv_heads * context * HEAD_DIM
                if cache_bytes > 8 * ROUND_BYTES or not _fits(torch, cache_bytes * _copies(cache_bytes)):
                    continue
                shape = (batch, kv_heads, q_heads // kv_heads, context)
                try:
                    calls = [_attend(torch, *shape) for _ in range(_copies(cache_bytes))]
                    seconds = _kernel_seconds(torch, calls)
                except RuntimeError as error:
                    _skipped(f"attention of batch {batch} at {context}", error)
                    continue
                yield {
                    "kv_precision": "bf16",
                    "batch": batch,
                    "context": context,
                    "q_heads": q_heads,
                    "kv_heads": kv_heads,
                    "head_dim": HEAD_DIM,
                    "metric": "kernel_time",
                    "value": _figure(seconds),
                    "unit": "s",
                    "note": "scaled_dot_product_attention",
                }


def _attend(torch: Torch, batch: int, kv_heads: int, group: int, context: int) -> Call:
    def heads(tokens: int) -> Tensor:
        return torch.randn(batch, kv_heads, tokens, HEAD_DIM, device="cuda", dtype=torch.bfloat16)

    query, keys, values = heads(group), heads(context), heads(context)
    return lambda: torch.nn.functional.scaled_dot_product_attention(query, keys, values)


def _launches(torch: Torch) -> Iterator[Row]:
    """Seconds after which one tiny kernel follows another: started by the host, and from a graph."""
    one = torch.zeros(1, device="cuda")

    def call() -> object:
        return one.add_(1.0)

    def from_host() -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / LAUNCHES

    from_host()
    figures = {
        "one by one": median(from_host() for _ in range(SAMPLES)),
        "captured graph": _kernel_seconds(torch, [call] * LAUNCHES),
    }
    for name, seconds in figures.items():
        yield {"kernel": name, "metric": "launch_time", "value": _figure(seconds), "unit": "s"}


if __name__ == "__main__":
    main()
