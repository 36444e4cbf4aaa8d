"""Random models, parts, plans and loads as they could be, for properties that hold for all of them."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from hypothesis import strategies as st

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import LoadKind, ParallelPlan
from gpudesk.domain.model import (
    MLA,
    Attention,
    AttentionIndexer,
    Compressed,
    DenseFfn,
    Ffn,
    GatedDeltaNet,
    KimiDelta,
    LayerGroup,
    Lightning,
    Mamba1,
    Mamba2,
    Mixer,
    Model,
    MoeFfn,
)
from gpudesk.domain.precision import Precision
from gpudesk.engine.memory import CacheReservation, MemorySettings
from gpudesk.engine.sharding import NO_PADDING, ExpertPadding
from gpudesk.text.units import GIB
from tests.unit.engine.bench import H200, Case, Plant, plant

HEADS = st.sampled_from([8, 16, 32, 64])


def attentions() -> st.SearchStrategy[Attention]:
    """Grouped-query attention, global, in a window, or picked by an indexer."""
    return st.builds(
        Attention,
        heads=HEADS,
        kv_heads=st.sampled_from([1, 2, 4, 8]),
        head_dim=st.sampled_from([64, 128, 256]),
        window=st.none() | st.sampled_from([128, 1024, 4096]),
        indexer=st.none() | st.builds(AttentionIndexer, HEADS, st.just(128), st.sampled_from([512, 2048])),
    )


def latents() -> st.SearchStrategy[MLA]:
    """Latent attention with and without an indexer."""
    indexers = st.none() | st.builds(AttentionIndexer, HEADS, st.just(128), st.just(2048))
    return st.builds(MLA, HEADS, st.sampled_from([256, 512]), st.just(128), st.just(64), st.just(128), indexer=indexers)


def mixers() -> st.SearchStrategy[Mixer]:
    folded = st.builds(
        Compressed,
        HEADS,
        st.just(512),
        st.just(1024),
        st.just(1024),
        st.just(8),
        st.just(128),
        compress_ratio=st.sampled_from([None, 4, 128]),
    )
    recurrent: st.SearchStrategy[Mixer] = st.sampled_from(
        [
            GatedDeltaNet(16, 32, 128, 128, 4),
            KimiDelta(32, 128, 4),
            Mamba1(8192, 16, 4, 256),
            Mamba2(128, 64, 128, 8, 4),
            Lightning(64, 128),
        ]
    )
    return st.one_of(attentions(), attentions(), latents(), folded, recurrent)


def ffns() -> st.SearchStrategy[Ffn]:
    dense = st.builds(DenseFfn, st.sampled_from([4096, 14336, 28672]), st.booleans())
    routed = st.builds(
        MoeFfn,
        experts=st.sampled_from([8, 64, 256]),
        experts_per_token=st.sampled_from([1, 2, 8]),
        intermediate_size=st.sampled_from([768, 2048, 8192]),
        shared_intermediate_size=st.sampled_from([0, 2048]),
    )
    return st.one_of(dense, routed)


@st.composite
def models(draw: st.DrawFn) -> Model:
    ffn = draw(ffns())
    first = st.one_of(attentions(), latents())
    layer_mixers = [draw(first), *draw(st.lists(mixers(), max_size=2))]
    groups = tuple(LayerGroup(draw(st.integers(1, 40)), mixer, ffn) for mixer in layer_mixers)
    hidden = draw(st.sampled_from([1024, 4096, 8192]))
    vocabulary = draw(st.sampled_from([32_000, 128_256, 262_208]))
    return Model("m", "M", "O", hidden, vocabulary, draw(st.booleans()), None, None, groups)


@st.composite
def parts(draw: st.DrawFn) -> Accelerator:
    """A part with memory for most models; FP8 arithmetic on some, a scale-up link on some."""
    peak = draw(st.floats(1e14, 3e15))
    peaks = {"bf16": peak, **({"fp8": 2 * peak} if draw(st.booleans()) else {})}
    joined = draw(st.booleans())
    return replace(
        H200,
        memory_bytes=draw(st.integers(40, 2000)) * GIB,
        memory_bandwidth=draw(st.floats(3e11, 2e13)),
        scale_up_bandwidth=draw(st.floats(1e11, 2e12)) if joined else None,
        scale_up_domain=8 if joined else None,
        peak_dense=MappingProxyType(peaks),
    )


PLANS = [
    ParallelPlan(),
    ParallelPlan(tp=2),
    ParallelPlan(tp=8),
    ParallelPlan(dp=8),
    ParallelPlan(pp=4),
    ParallelPlan(tp=4, pp=2),
    ParallelPlan(tp=8, ep=8),
    ParallelPlan(tp=2, ep=8, dp=4),
    ParallelPlan(tp=8, ep=8, attention_dp=True),
    ParallelPlan(tp=4, ep=4, dp=2, attention_dp=True),
]
WEIGHTS = [Precision.BF16, Precision.FP8, Precision.INT8, Precision.NVFP4, Precision.MXFP4, Precision.INT4]


def holdings() -> st.SearchStrategy[CacheReservation]:
    """Ways in which serving engines set memory aside."""
    return st.builds(
        CacheReservation,
        window_share=st.sampled_from([0.0, 0.8, 1.0]),
        state_share=st.sampled_from([0.0, 0.474]),
        state_slots=st.sampled_from([1, 3]),
    )


def settings() -> st.SearchStrategy[MemorySettings]:
    """Settings of serving engines; their memory fraction leaves something."""
    return st.builds(
        MemorySettings,
        memory_fraction=st.floats(0.5, 1.0),
        memory_fraction_of=st.sampled_from(["total", "free", "static"]),
        runtime_bytes=st.integers(0, 4 * 10**9),
        collective_bytes=st.integers(0, 2 * 10**9),
        logit_bytes=st.sampled_from([4, 38]),
        holding=holdings(),
        padding=st.sampled_from([NO_PADDING, ExpertPadding(256, 128)]),
        max_batch=st.sampled_from([1, 64, 256, 1024]),
        max_batched_tokens=st.sampled_from([512, 2048, 8192]),
        # Hypothesis would draw any number for what is left out of a named tuple.
        usual_fraction=st.none(),
    )


@st.composite
def plants(draw: st.DrawFn) -> Plant:
    return plant(
        draw(parts()),
        draw(models()),
        draw(st.sampled_from(PLANS)),
        draw(st.sampled_from(WEIGHTS)),
        draw(settings()),
        server=draw(st.booleans()),
        acceptance_length=draw(st.sampled_from([1.0, 1.0, 2.3])),
    )


def amounts(most: int) -> st.SearchStrategy[float]:
    """Whole numbers of requests, small ones as often as large ones."""
    return st.one_of(st.integers(1, 9), st.integers(1, most)).map(float)


@st.composite
def lengths(draw: st.DrawFn) -> tuple[float, float, float]:
    prompt = draw(st.one_of(st.integers(1, 64), st.integers(1, 32_000)))
    output = draw(st.one_of(st.integers(1, 3), st.integers(1, 8000)))
    hit = draw(st.sampled_from([0.0, 0.0, 0.5, 1.0]))
    return prompt * (1 - hit), float(output), prompt * hit


@st.composite
def cases(draw: st.DrawFn, kinds: tuple[LoadKind, ...] = tuple(LoadKind)) -> Case:
    """A load on a plant, independent of memory; the capacity is drawn as well."""
    plant = draw(plants())
    prompt, output, cached = draw(lengths())
    kind = draw(st.sampled_from(kinds))
    case = Case(
        plant.row,
        prompt,
        output,
        draw(amounts(2000)),
        kind,
        draw(amounts(5000)),
        replicas=float(plant.plan.dp),
        varied=draw(st.booleans()),
        cached=cached,
    )
    if (kind is LoadKind.CONCURRENCY and draw(st.booleans())) or kind is LoadKind.SATURATE:
        case = replace(case, total=draw(amounts(20_000)))
    elif kind is LoadKind.REQUEST_RATE:
        case = replace(case, amount=draw(st.floats(1e-3, 1e3)))
    elif kind is LoadKind.LIMITS:
        case = replace(case, ttft=draw(st.floats(0.01, 60)), tpot=draw(st.floats(1e-3, 1)), p99=draw(st.booleans()))
    return case
