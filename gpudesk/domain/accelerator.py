"""Accelerators: one GPU, TPU or NPU package as sold, with its own memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

#: Software platforms for which a serving engine is known.
SOFTWARE_PLATFORMS: Final = ("CUDA", "ROCm", "JAX/XLA", "Neuron SDK", "SynapseAI")
#: Any platform but the two that most software is written for.
OTHER_PLATFORM: Final = "other"
COMMON_PLATFORMS: Final = frozenset({"CUDA", "ROCm"})


#: Form factors of accelerators that are not sold, and the clause in driver licenses for consumer cards.
_RENTED_ONLY: Final = "Cloud only"
_NOT_IN_DATA_CENTERS: Final = "not for data centers"
#: Upper limit for accelerators in one machine.
_MOST_IN_MACHINE: Final = 8
#: The usual bridge joins a pair of cards.
_MOST_BRIDGED: Final = 2


@dataclass(frozen=True, slots=True)
class Accelerator:
    """The catalog's preferred values for one accelerator, in SI units; None if unknown.

    `generation` groups accelerators by die. `scale_up_bandwidth` is the bidirectional aggregate of one accelerator in
    bytes/s. `peak_dense` maps a precision to FLOP/s without structured sparsity.
    """

    id: str
    name: str
    vendor: str
    generation: str
    announced: bool
    platform: str
    memory_bytes: int
    memory_bandwidth: float
    memory_label: str | None = None
    memory_type: str | None = None
    scale_up_bandwidth: float | None = None
    scale_up_domain: int | None = None
    pcie_bandwidth: float | None = None
    tdp_w: float | None = None
    form_factor: str | None = None
    status: str | None = None
    license_limit: str | None = None
    peak_dense: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __hash__(self) -> int:
        """Hash by the id: accelerators are cache keys, and their peaks are not hashable."""
        return hash(self.id)

    @property
    def discontinued(self) -> bool:
        """Whether it is no longer sold new."""
        return self.status == "eol"

    @property
    def is_rented_only(self) -> bool:
        return self.form_factor == _RENTED_ONLY

    @property
    def is_barred_from_data_centers(self) -> bool:
        """Whether the license of its driver excludes data centers."""
        return self.license_limit == _NOT_IN_DATA_CENTERS

    @property
    def lacks_scale_up(self) -> bool:
        """Whether it has no scale-up link, rather than one of unknown bandwidth."""
        if self.scale_up_domain is None:
            return self.scale_up_bandwidth is None and "PCIe" in (self.form_factor or "")
        return self.scale_up_domain == 1

    @property
    def cards_per_host(self) -> int:
        """How many one host holds: the scale-up domain, or 8 PCIe cards, whose bridges join fewer.

        Without a form factor, a domain of at most 2 means PCIe cards. A soldered chip is its own host.
        """
        domain, form = self.scale_up_domain, self.form_factor or ""
        if domain is None or form.startswith("PCIe") or (not form and domain <= _MOST_BRIDGED):
            return _MOST_IN_MACHINE
        return domain

    @property
    def domain_over_machines(self) -> int | None:
        """How many one scale-up network joins across machines; None within a machine."""
        return self.cards_per_host if self.cards_per_host > _MOST_IN_MACHINE else None
