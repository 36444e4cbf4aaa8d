"""What a part offers to a kernel: peaks by precision, memory bandwidth, and the links between ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.precision import Precision

#: Peak fields in the order in which a format falls back to the next wider arithmetic.
_PEAKS: Final[dict[Precision, tuple[str, ...]]] = {
    Precision.FP16: ("fp16", "bf16"),
    Precision.BF16: ("bf16", "fp16"),
    Precision.FP8: ("fp8", "bf16", "fp16"),
    Precision.INT8: ("int8", "bf16", "fp16"),
    Precision.FP6: ("fp6", "fp8", "bf16", "fp16"),
    Precision.FP4: ("fp4", "fp8", "bf16", "fp16"),
    Precision.MXFP4: ("fp4", "fp8", "bf16", "fp16"),
    Precision.NVFP4: ("fp4", "fp8", "bf16", "fp16"),
    Precision.INT4: ("int4", "bf16", "fp16"),
}

#: Where a part states no PCIe rate: PCIe 4.0 x16, both directions, the slowest among the parts listed.
FALLBACK_PCIE: Final = 62e9


@dataclass(frozen=True, slots=True)
class Link:
    """The link between the ranks of a group: one direction of one accelerator in bytes/s, and its kind."""

    bandwidth: float
    kind: str


@dataclass(frozen=True, slots=True)
class Peak:
    """A dense peak in FLOP/s, and the precision under which the part states it."""

    flops: float
    precision: str


def peak(accelerator: Accelerator, arithmetic: Precision) -> Peak | None:
    """Return the dense peak for an arithmetic, or that of the next wider one that the part states."""
    for name in _PEAKS[arithmetic]:
        flops = accelerator.peak_dense.get(name)
        if flops is not None:
            return Peak(flops, name)
    return None


def link(accelerator: Accelerator, ranks: int, node_bandwidth: float) -> Link:
    """Return the slowest link inside a group of `ranks`: scale-up, PCIe in one host, or between nodes.

    `node_bandwidth` is one direction of one accelerator's network port in bytes/s. A scale-up domain of
    one or unknown means cards over PCIe, up to eight in a host.
    """
    domain = accelerator.scale_up_domain or 1
    if accelerator.scale_up_bandwidth is not None and ranks <= domain:
        return Link(accelerator.scale_up_bandwidth / 2, "scale-up")
    if ranks <= 8 and (domain <= 8 or accelerator.scale_up_bandwidth is None):
        return Link((accelerator.pcie_bandwidth or FALLBACK_PCIE) / 2, "pcie")
    return Link(node_bandwidth, "node")


def stage_link(accelerator: Accelerator, plan: ParallelPlan, node_bandwidth: float) -> Link:
    """Return the slowest link that activations pass from one pipeline stage to the next.

    Stages of a replica stand one behind the other, so that those which fill more than a host hand over
    through the network, however fast the ranks of one stage talk to each other.
    """
    if plan.replica > accelerator.cards_per_host:
        return Link(node_bandwidth, "node")
    return link(accelerator, plan.replica, node_bandwidth)
