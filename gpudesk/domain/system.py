"""Systems that can be bought or rented: servers, racks, workstations and cloud instances."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from gpudesk.text.formatting import IntervalEstimate


class SystemKind(StrEnum):
    """The kind of a unit of sale."""

    SERVER = "server"
    RACK = "rack"
    WORKSTATION = "workstation"
    DESKTOP = "desktop"
    INSTANCE = "instance"


@dataclass(frozen=True, slots=True)
class System:
    """The catalog's preferred values for one system, in SI units; None if unknown.

    Attributes that no computation uses are only among its attributes. `scale_up_domain` and `accelerator_power_w` are
    those of the accelerator unless the system has its own. `nodes` is the number of hosts in it. `nic_bits_per_s` is
    the rate of one network card, `network_bits_per_s` that of a whole instance. Rents are on record under `provider`
    and `instance`; without an `instance` under the provider, for one accelerator. `own` systems are the user's.
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
    scale_up_domain: int | None = None
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


@dataclass(frozen=True, slots=True)
class SystemCount:
    """Whole systems of `size` accelerators each; `used` is the total in use.

    `name` is that of one system.
    """

    systems: int
    size: int
    used: int
    name: str = field(default="", compare=False)

    @property
    def accelerators(self) -> int:
        return self.systems * self.size

    @property
    def idle(self) -> int:
        return self.accelerators - self.used


@dataclass(frozen=True, slots=True)
class OwnedSystems:
    """The system that is bought, and its number."""

    system: System
    count: SystemCount


def round_up_to_lots(count: int, lot: int) -> int:
    """Return the accelerators that are paid for if only whole lots are sold, as in systems and instances."""
    return -(-count // lot) * lot


def count_systems(size: int, replica: int, copies: int) -> SystemCount:
    """Return the systems for copies of a replica; a replica that fits in a system is not split."""
    systems = copies * math.ceil(replica / size) if replica > size else math.ceil(copies / (size // replica))
    return SystemCount(systems, size, copies * replica)


@dataclass(frozen=True, slots=True)
class ReferenceDesign:
    """A published design of one or several systems of a kind, with published totals; None if unpublished.

    `system` is the id of its systems, `nodes` the number of hosts. `power_max_w` is that of all racks.
    """

    id: str
    name: str
    vendor: str
    system: str
    accelerator_count: int
    nodes: int | None = None
    racks: int | None = None
    power_max_w: float | None = None
    rack_power_w: float | None = None
    price_low_usd: float | None = None
    price_high_usd: float | None = None
    rack_units: float | None = None
