"""Calculations that set figures against each other: ratios, gaps, shares, results of each accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.workbench.worked.calculation import Calculation, Quantity

_A, _B = Quantity("first figure"), Quantity("second figure")
_PAIR: Final = MappingProxyType({"a": _A, "b": _B})
_GAIN: Final = Quantity("lead over the other")
_TOTAL: Final = Quantity("tokens a second of all", "tok/s")

RATIOS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "a/b": Calculation(
            "ratio", None, "{first_figure} ÷ {second_figure}", lambda v: v["a"] / v["b"], _PAIR
        ),
        "a/b*100": Calculation(
            "share", "%", "{first_figure} ÷ {second_figure} × 100", lambda v: v["a"] / v["b"] * 100, _PAIR
        ),
        "(a/b-1)*100": Calculation(
            "more than the second",
            "%",
            "({first_figure} ÷ {second_figure} − 1) × 100",
            lambda v: (v["a"] / v["b"] - 1) * 100,
            _PAIR,
        ),
        "(1-a/b)*100": Calculation(
            "less than the second",
            "%",
            "(1 − {first_figure} ÷ {second_figure}) × 100",
            lambda v: (1 - v["a"] / v["b"]) * 100,
            _PAIR,
        ),
        "(b-a)/(d-a)*100": Calculation(
            "share of the gap that is closed",
            "%",
            "({middle} − {lower}) ÷ ({upper} − {lower}) × 100",
            lambda v: (v["b"] - v["a"]) / (v["d"] - v["a"]) * 100,
            {"a": Quantity("lower"), "b": Quantity("middle"), "d": Quantity("upper")},
        ),
        "mem/stacks": Calculation(
            "memory of a stack", "GB", "{memory_label} ÷ {stacks}", lambda v: v["mem"] / v["stacks"]
        ),
        "bw/stacks": Calculation(
            "memory bandwidth of a stack",
            "TB/s",
            "{memory_bandwidth} ÷ {stacks}",
            lambda v: v["bw"] / v["stacks"],
            {"bw": Quantity("memory bandwidth", "TB/s")},
        ),
        "n*g": Calculation(
            "link bandwidth of all",
            "GB/s",
            "{links} × {bandwidth_of_a_link}",
            lambda v: v["n"] * v["g"],
            {"n": Quantity("links"), "g": Quantity("bandwidth of a link", "GB/s")},
        ),
        "tf*bits": Calculation(
            "export-control score",
            None,
            "{dense_peak} × {bits_of_the_format}",
            lambda v: v["tf"] * v["bits"],
            {"tf": Quantity("dense peak", "TFLOPS"), "bits": Quantity("bits of the format")},
        ),
        "t/n": Calculation(
            "tokens a second of each",
            "tok/s",
            "{tokens_a_second_of_all} ÷ {accelerators}",
            lambda v: v["t"] / v["n"],
            {"t": _TOTAL},
        ),
        "t/(1+g)": Calculation(
            "tokens a second of the other",
            "tok/s",
            "{tokens_a_second_of_all} ÷ (1 + {lead_over_the_other})",
            lambda v: v["t"] / (1 + v["g"]),
            {"t": _TOTAL, "g": _GAIN},
        ),
        "t/(1+g)/n": Calculation(
            "tokens a second of each of the other",
            "tok/s",
            "{tokens_a_second_of_all} ÷ (1 + {lead_over_the_other}) ÷ {accelerators}",
            lambda v: v["t"] / (1 + v["g"]) / v["n"],
            {"t": _TOTAL, "g": _GAIN},
        ),
        "(1/r-1)*100": Calculation(
            "lead of the other",
            "%",
            "(1 ÷ {ratio} − 1) × 100",
            lambda v: (1 / v["r"] - 1) * 100,
            {"r": Quantity("ratio")},
        ),
    }
)
