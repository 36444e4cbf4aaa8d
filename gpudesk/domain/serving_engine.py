"""Serving engines: features and default settings, as rules with conditions.

Rules are kept in the order of the data; if one answer is needed, the first matching rule gives it. The tables of the
data files have the names of the fields below.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Literal

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass


class KernelPathKind(StrEnum):
    """How a serving engine runs a weight format on an accelerator.

    native: matrix products in the format itself. weight_only: stored in the format and widened before the arithmetic in
    another format. none: unsupported.
    """

    NATIVE = "native"
    WEIGHT_ONLY = "weight_only"
    NONE = "none"


class EngineSetting(StrEnum):
    """A default setting of a serving engine.

    max_batch: sequences in a step. max_batched_tokens: tokens in a step. memory_fraction: the default.
    safe_memory_fraction: the largest that leaves room for memory that the engine does not count. runtime_bytes: the
    driver's memory, context, graphs and workspaces of one accelerator. collective_bytes: buffers of the collectives,
    with more than one accelerator in a replica. attention_rank_bytes: memory that the default fraction leaves free for
    each attention rank. logit_bytes: bytes per logit of a sequence during sampling.
    window_share: share of a sequence for which layers with a window hold memory, 0 if they free passed tokens.
    state_share: share of the cache set apart for recurrent states, 0 if both come from one pool; state_slots: states
    that a sequence then takes of it. Switches, 1 on and 0 off: chunked_prefill; mixed_steps, prompts run in one step
    with the tokens of running sequences; kv_on_demand, memory is allocated as a sequence grows, not for its full length
    at the start; present_runtime, steps run in today's runtime, not in an older one with a different division of work
    with the host.
    """

    MAX_BATCH = "max_batch"
    MAX_BATCHED_TOKENS = "max_batched_tokens"
    MEMORY_FRACTION = "memory_fraction"
    SAFE_MEMORY_FRACTION = "safe_memory_fraction"
    RUNTIME_BYTES = "runtime_bytes"
    COLLECTIVE_BYTES = "collective_bytes"
    ATTENTION_RANK_BYTES = "attention_rank_bytes"
    LOGIT_BYTES = "logit_bytes"
    WINDOW_SHARE = "window_share"
    STATE_SHARE = "state_share"
    STATE_SLOTS = "state_slots"
    CHUNKED_PREFILL = "chunked_prefill"
    MIXED_STEPS = "mixed_steps"
    KV_ON_DEMAND = "kv_on_demand"
    PRESENT_RUNTIME = "present_runtime"


class SplitPart(StrEnum):
    """Dimensions that the ranks of a plan share, in the order of checks.

    heads and kv_heads: of attention, over TP. experts: whole ones, over EP. routed, shared, dense: the intermediate
    sizes of routed experts (over TP / EP), of all shared experts together and of dense layers (over TP). vocabulary:
    rows of embedding and LM head, over TP.
    """

    HEADS = "heads"
    KV_HEADS = "kv_heads"
    EXPERTS = "experts"
    ROUTED = "routed"
    SHARED = "shared"
    DENSE = "dense"
    VOCABULARY = "vocabulary"


@frozen_dataclass
class EngineCondition:
    """When a rule applies: every given condition must hold; none given means always.

    Memory bounds are bytes of one accelerator, the lower one included, the upper one not. `since` is the first month
    (YYYY-MM) of software with the feature, `until` the first month without it.
    """

    platforms: frozenset[str] = frozenset()
    generations: frozenset[str] = frozenset()
    except_generations: frozenset[str] = frozenset()
    least_memory_bytes: int | None = None
    below_memory_bytes: int | None = None
    since: str | None = None
    until: str | None = None
    behind_server: bool | None = None

    def holds(self, part: Accelerator, date: str | None = None, behind_server: bool | None = None) -> bool:
        """Whether the rule applies to an accelerator, software of `date` (None: the newest) and a mode of use.

        A condition on the mode of use applies only if that is known.
        """
        if self.generations and part.generation not in self.generations:
            return False
        if part.generation in self.except_generations:
            return False
        if self.platforms and self.platforms.isdisjoint(list_platforms(part)):
            return False
        if self.least_memory_bytes is not None and part.memory_bytes < self.least_memory_bytes:
            return False
        if self.below_memory_bytes is not None and part.memory_bytes >= self.below_memory_bytes:
            return False
        if self.behind_server is not None and behind_server != self.behind_server:
            return False
        return self.in_time(date)

    def in_time(self, date: str | None) -> bool:
        """Whether software of `date` (YYYY-MM or a day; None: the newest) is in the period of the rule."""
        if date is None:
            return self.until is None
        month = date[:7]
        return (self.since is None or month >= self.since) and (self.until is None or month < self.until)


@frozen_dataclass
class EngineSettingRule:
    """The engine's default for `setting`."""

    setting: EngineSetting
    value: float
    source: str
    note: str
    when: EngineCondition = EngineCondition()


@frozen_dataclass
class KernelRule:
    """How the engine runs the weight formats `weights`; `arithmetic` is the format of the multiplication.

    Without `arithmetic` (native paths) each format multiplies in itself. The matrices of experts are padded to
    multiples of `hidden_multiple` in the hidden size and of `intermediate_multiple` in a rank's share of the
    intermediate size.
    """

    weights: frozenset[Precision]
    path: KernelPathKind
    source: str
    note: str
    arithmetic: Precision | None = None
    hidden_multiple: int = 1
    intermediate_multiple: int = 1
    when: EngineCondition = EngineCondition()


@frozen_dataclass
class KvCacheRule:
    """KV cache formats of the engine; a format without a rule is unsupported.

    `except_mixers` are kinds of attention with a 16-bit cache only.
    """

    kv: frozenset[Precision]
    source: str
    note: str
    except_mixers: frozenset[str] = frozenset()
    when: EngineCondition = EngineCondition()


@frozen_dataclass
class UnsupportedModelRule:
    """Models that the engine cannot serve if `when` holds: by id, or by a kind of layer."""

    source: str
    note: str
    models: frozenset[str] = frozenset()
    mixers: frozenset[str] = frozenset()
    ffns: frozenset[str] = frozenset()
    when: EngineCondition = EngineCondition()


@frozen_dataclass
class SplitRule:
    """A dimension that must divide evenly among ranks; the engine refuses other plans.

    With `by_block` it applies to FP8 checkpoints with a scale per block, and each share must be whole blocks.
    `repeats`: ranks beyond the number hold copies; `filled_to`: the number is padded to a multiple first.
    """

    parts: frozenset[SplitPart]
    source: str
    note: str
    by_block: bool = False
    repeats: bool = False
    filled_to: int = 1
    when: EngineCondition = EngineCondition()


@frozen_dataclass
class EnginePreferenceRule:
    """Priority of the engine if the user leaves the choice to the program: the lowest `rank` wins."""

    rank: int
    reason: str
    source: str | None = None
    when: EngineCondition = EngineCondition()


@frozen_dataclass
class PlatformRule:
    """Accelerators that the engine runs on at all."""

    source: str
    note: str
    when: EngineCondition


@frozen_dataclass
class ParallelSupport:
    """Parallelism that the engine supports; `hosts`: one replica over more than one host."""

    pp: bool
    ep: bool
    attention_dp: bool
    hosts: bool
    source: str
    note: str
    tp: bool = True


@frozen_dataclass
class ServingEngine:
    """One serving engine: platforms, formats, limits and settings.

    `family` groups engines whose measured rows calibrate each other. The memory fraction is a share of the `total`
    memory, or of the memory `free` once weights and runtime are loaded, or the `static` share: that of weights and
    cache alone, with activations in addition.
    """

    id: str
    name: str
    family: str
    memory_fraction_of: Literal["total", "free", "static"]
    parallel: ParallelSupport
    platforms: tuple[PlatformRule, ...]
    settings: tuple[EngineSettingRule, ...]
    kernels: tuple[KernelRule, ...]
    kv: tuple[KvCacheRule, ...]
    preference: tuple[EnginePreferenceRule, ...]
    cannot_serve: tuple[UnsupportedModelRule, ...] = ()
    splits: tuple[SplitRule, ...] = ()

    def __hash__(self) -> int:
        """Hash by the id: serving engines are cache keys, and hashing their rules each time is slow."""
        return hash(self.id)

    def runs_on(self, part: Accelerator, date: str | None = None) -> bool:
        """Whether it runs on an accelerator at all, with software of `date` (None: the newest)."""
        return any(rule.when.holds(part, date) for rule in self.platforms)

    @property
    def supports_pp(self) -> bool:
        return self.parallel.pp

    @property
    def supports_ep(self) -> bool:
        return self.parallel.ep

    @property
    def supports_attention_dp(self) -> bool:
        return self.parallel.attention_dp


def list_platforms(part: Accelerator) -> frozenset[str]:
    """Software platforms of an accelerator: the comma-separated names of its `platform`."""
    return _split_platforms(part.platform)


@lru_cache
def _split_platforms(names: str) -> frozenset[str]:
    return frozenset(name.strip() for name in names.split(","))
