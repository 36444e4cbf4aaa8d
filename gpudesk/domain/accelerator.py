"""Accelerators: one GPU, TPU or NPU package as sold, with its own memory; and systems that hold them.

Systems can be bought or rented: servers, racks, workstations and cloud instances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate

#: Software platforms for which a serving engine is known.
SOFTWARE_PLATFORMS: Final = ("CUDA", "ROCm", "JAX/XLA", "Neuron SDK", "SynapseAI")
#: Any platform but the two that most software is written for.
OTHER_PLATFORM: Final = "other"
COMMON_PLATFORMS: Final = frozenset({"CUDA", "ROCm"})


#: The sales region of an accelerator that is not limited to one.
EVERYWHERE: Final = "everywhere"
#: Form factors of accelerators that are not sold, and the clause in driver licenses for consumer cards.
_RENTED_ONLY: Final = "Cloud only"
_NOT_IN_DATA_CENTERS: Final = "not for data centers"
#: Upper limit for accelerators in one machine.
_MOST_IN_MACHINE: Final = 8
#: The usual bridge joins a pair of cards.
_MOST_BRIDGED: Final = 2


@frozen_dataclass
class Accelerator:
    """The catalog's preferred values for one accelerator, in SI units; None if unknown.

    `generation` groups accelerators by die. `scale_up_bandwidth` is the bidirectional aggregate of one accelerator in
    bytes/s. `peak_dense` maps a precision to FLOP/s without structured sparsity. `sales_region` is the only region
    where the vendor sells it; None if it is sold everywhere.
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
    sales_region: str | None = None
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


class SystemKind(StrEnum):
    """The kind of a unit of sale."""

    SERVER = "server"
    RACK = "rack"
    WORKSTATION = "workstation"
    DESKTOP = "desktop"
    INSTANCE = "instance"


@frozen_dataclass
class AcceleratorEntry:
    """An accelerator without its attributes; those of its `generation` behave the same."""

    id: str
    name: str
    vendor: str
    generation: str
    announced: bool = False


@frozen_dataclass
class SystemEntry:
    """A system without its attributes. Rents are prices of the accelerator with this `provider` and `instance`."""

    id: str
    name: str
    vendor: str
    kind: SystemKind
    accelerator: str
    provider: str | None = None
    instance: str | None = None


@frozen_dataclass
class System:
    """The catalog's preferred values for one system, in SI units; None if unknown.

    Attributes that no computation uses are only among its attributes. `accelerator_power_w` is that of the accelerator
    unless the system has its own. `nodes` is the number of hosts in it. `nic_bits_per_s` is the rate of one network
    card, `network_bits_per_s` that of a whole instance. Rents are on record under `provider` and `instance`; without an
    `instance` under the provider, for one accelerator. `own` systems are the user's.
    """

    id: str
    name: str
    vendor: str
    kind: SystemKind
    accelerator: str
    accelerator_count: int
    provider: str | None = None
    instance: str | None = None
    accelerator_power_w: float | None = None
    nodes: int = 1
    nic_count: int | None = None
    nic_bits_per_s: float | None = None
    network_bits_per_s: float | None = None
    power_max_w: float | None = None
    rack_units: float | None = None
    cooling: str | None = None
    price_low_usd: float | None = None
    price_high_usd: float | None = None
    delivery_weeks: float | None = None
    own: bool = False

    @property
    def is_rented(self) -> bool:
        return self.kind is SystemKind.INSTANCE

    @property
    def price_usd(self) -> IntervalEstimate | None:
        """The median of the prices on record with their range."""
        low, high = self.price_low_usd or self.price_high_usd, self.price_high_usd or self.price_low_usd
        return None if low is None or high is None else IntervalEstimate((low + high) / 2.0, low, high)

    @property
    def fabric_bits_per_s(self) -> float | None:
        """The network rate of the system in each direction."""
        if self.network_bits_per_s is not None:
            return self.network_bits_per_s
        if self.nic_count is None or self.nic_bits_per_s is None:
            return None
        return self.nic_count * self.nic_bits_per_s


@frozen_dataclass
class SystemCount:
    """Whole systems of `size` accelerators each; `used` is the total in use.

    `name` is that of one system. Costs of `is_shared` ones count only the accelerators in use.
    """

    systems: int
    size: int
    used: int
    name: str = field(default="", compare=False)
    is_shared: bool = False

    @property
    def accelerators(self) -> int:
        return self.systems * self.size

    @property
    def idle(self) -> int:
        return self.accelerators - self.used


@frozen_dataclass
class OwnedSystems:
    """The system that is bought, and its number; `power_kw` is the maximum of all of them with all slots filled."""

    system: System
    count: SystemCount
    power_kw: float | None = None
    power_estimated: bool = False


def round_up_to_lots(count: int, lot: int) -> int:
    """Return the accelerators that are paid for if only whole lots are sold, as in systems and instances."""
    return -(-count // lot) * lot


def count_systems(size: int, replica: int, copies: int) -> SystemCount:
    """Return the systems for copies of a replica; a replica that fits in a system is not split."""
    systems = copies * math.ceil(replica / size) if replica > size else math.ceil(copies / (size // replica))
    return SystemCount(systems, size, copies * replica)


@frozen_dataclass
class ReferenceDesign:
    """A published design of `accelerator_count` accelerators in systems of one kind; `system` is the id of the kind."""

    id: str
    system: str
    accelerator_count: int


def resolve_fp4(precision: Precision, vendor: str) -> Precision:
    """Replace plain `fp4` by the vendor's format: nvfp4 on NVIDIA, mxfp4 elsewhere."""
    if precision is not Precision.FP4:
        return precision
    return Precision.NVFP4 if vendor == "NVIDIA" else Precision.MXFP4
