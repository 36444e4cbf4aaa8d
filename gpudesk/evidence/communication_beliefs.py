"""What is believed of the constants of communication; see `gpudesk.evidence.priors`.

An all-reduce goes the quicker of two ways. Serving engines' own kernels send all of a vector from each rank
to each other at once, which starts within a few microseconds; the vendor's library goes around a ring, which
starts later and sends less.
"""

from __future__ import annotations

from gpudesk.evidence.conditions import (
    AMPERE,
    BLACKWELLS,
    CDNA3,
    CDNA4,
    HOPPER,
    TENSORRT,
    by_ranks,
    exceptions,
    where,
)
from gpudesk.evidence.parameters import Prior


def communication_beliefs() -> tuple[Prior, ...]:
    """Return what is believed of collectives, hand-overs and what waiting for each other costs."""
    pcie, node = {"link": ("pcie",)}, {"link": ("node",)}
    return (
        Prior(
            "allreduce_latency",
            "s",
            "fixed time of one all-reduce in which each rank sends all to each other",
            20e-6,
            0.25,
            exceptions(
                (by_ranks(HOPPER, 2), 2.7e-6),
                (by_ranks(HOPPER, 4), 3.2e-6),
                (by_ranks(HOPPER, 8), 4.1e-6),
                (by_ranks(BLACKWELLS, 2), 4.4e-6),
                (by_ranks(BLACKWELLS, 4), 4.9e-6),
                (by_ranks(BLACKWELLS, 8), 6.1e-6),
                (by_ranks(AMPERE, 2), 4.6e-6),
                (by_ranks(AMPERE, 4), 6.1e-6),
                (by_ranks(AMPERE, 8), 8.9e-6),
                (where(CDNA3), 12e-6),
                (where(CDNA4), 10e-6),
                (pcie, 20e-6),
                (node, 30e-6),
            ),
        ),
        Prior(
            "direct_efficiency",
            "1",
            "share of one direction of the link that ranks reach which send all to each other at once",
            0.6,
            0.2,
            exceptions(
                *((by_ranks(HOPPER, ranks), 0.65) for ranks in (2, 4, 8)),
                *((by_ranks(BLACKWELLS, ranks), 0.80) for ranks in (2, 4, 8)),
                *((by_ranks(AMPERE, ranks), 0.65) for ranks in (2, 4, 8)),
                (where(CDNA3), 0.5),
                (pcie, 0.35),
            ),
            high=0.95,
        ),
        Prior(
            "ring_latency",
            "s",
            "fixed time of one all-reduce around a ring",
            40e-6,
            0.3,
            exceptions(
                (by_ranks(HOPPER, 2), 8e-6),
                (by_ranks(HOPPER, 4), 12e-6),
                (by_ranks(HOPPER, 8), 19e-6),
                (by_ranks(BLACKWELLS, 2), 12e-6),
                (by_ranks(BLACKWELLS, 4), 17e-6),
                (by_ranks(BLACKWELLS, 8), 27e-6),
                (by_ranks(AMPERE, 2), 14e-6),
                (by_ranks(AMPERE, 4), 19e-6),
                (by_ranks(AMPERE, 8), 27e-6),
                (where(CDNA3), 40e-6),
                (where(CDNA4), 40e-6),
                (pcie, 40e-6),
                (node, 60e-6),
            ),
        ),
        Prior(
            "collective_overhead",
            "s",
            "synchronisation and the norm fused after a collective",
            8e-6,
            0.4,
            exceptions((TENSORRT, 6e-6)),
        ),
        Prior(
            "link_efficiency",
            "1",
            "share of one direction of the link that collectives around a ring reach",
            0.7,
            0.15,
            exceptions(
                (where(HOPPER), 0.85),
                (where(BLACKWELLS), 0.75),
                (where(AMPERE), 0.72),
                (where(CDNA3), 0.62),
                (pcie, 0.35),
                ({**pcie, "ranks": ("2",)}, 0.6),
                ({**pcie, "ranks": ("4",)}, 0.45),
                ({**pcie, "ranks": ("8",)}, 0.35),
            ),
            high=0.95,
        ),
        Prior(
            "node_bandwidth",
            "B/s",
            "one direction of the network port of one accelerator between hosts (400 Gb/s)",
            50e9,
            0.0,
        ),
        Prior("attention_dp_imbalance", "1", "slowest attention-DP rank against the mean", 1.2, 0.1, low=1.0),
        Prior("stage_bubble", "1", "time that each further pipeline stage adds", 0.05, 0.4),
    )
