"""Time and memory of diffusion models: against calculations by hand, and what holds for every request."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk import paths
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.diffusion import (
    DenoiserBlocks,
    DiffusionArchitecture,
    DiffusionGrade,
    DiffusionRequest,
    DiffusionSoftware,
    TextEncoder,
)
from gpudesk.domain.precision import Precision
from gpudesk.engine.diffusion import (
    DiffusionCeilings,
    compute_diffusion_memory,
    compute_diffusion_times,
    compute_diffusion_work,
    compute_grade_limits,
    count_block_parameters,
    find_ceilings,
    grade_diffusion,
)
from gpudesk.estimation.diffusion import read_diffusion_constants

CONSTANTS = read_diffusion_constants(paths.get_data_path("diffusion_constants.toml")).constants
FLUX = DiffusionArchitecture(
    parameters=11_901_408_320,
    patch=2,
    latent_scale=8,
    blocks=(DenoiserBlocks(19, "joint", 3072, 12288), DenoiserBlocks(38, "shared", 3072, 12288)),
    text_encoders=(TextEncoder("T5-XXL", 4_762_107_904, 512),),
    text_tokens=512,
    guidance_passes=1,
    steps=28,
    width=1024,
    height=1024,
    source="hand",
    decoder_parameters=49_545_475,
    decoder_flop=9_462_784.0,
)
WAN = DiffusionArchitecture(
    parameters=1_418_996_800,
    patch=2,
    latent_scale=8,
    frame_scale=4,
    blocks=(DenoiserBlocks(30, "cross", 1536, 8960),),
    text_encoders=(),
    text_tokens=512,
    guidance_passes=2,
    steps=50,
    width=832,
    height=480,
    frames=81,
    frames_per_second=16.0,
    source="hand",
)
MI325X = DiffusionCeilings(1307.4e12, 1307.4e12, 6e12)


def ask(architecture: DiffusionArchitecture = FLUX, **changes: object) -> DiffusionRequest:
    sizes = {name: getattr(architecture, name) for name in ("width", "height", "frames", "steps")}
    return DiffusionRequest("mi325x", "flux1-dev", **(sizes | changes))


def batch_s(request: DiffusionRequest, ceilings: DiffusionCeilings = MI325X) -> float:
    work = compute_diffusion_work(FLUX, request.width or 0, request.height or 0, request.frames or 1)
    return float(compute_diffusion_times(FLUX, request, work, ceilings, CONSTANTS).batch_s)


def activations(request: DiffusionRequest) -> int:
    part = Accelerator("mi325x", "MI325X", "AMD", "cdna3", False, "ROCm", 256 * 2**30, 6e12)
    work = compute_diffusion_work(FLUX, request.width or 0, request.height or 0, request.frames or 1)
    return compute_diffusion_memory(FLUX, request, work, part, CONSTANTS).activations_bytes


def test_flop_of_a_flux_step_by_hand() -> None:
    # 64 x 64 image tokens and 512 text tokens pass 12 x 3072^2 weights in each of 57 blocks.
    work = compute_diffusion_work(FLUX, 1024, 1024, 1)
    assert work.image_tokens == 4096
    assert work.matrix_flop == 57 * 4608 * 2 * 12 * 3072**2
    assert work.attention_flop == 57 * 4 * 4608**2 * 3072
    assert work.pass_flop / 1e12 == pytest.approx(74.36, rel=1e-4)
    assert work.text_flop == 2 * 4_762_107_904 * 512
    assert work.decoder_flop == 9_462_784 * 1024 * 1024


def test_flop_of_a_wan_step_by_hand() -> None:
    # 81 frames are 21 of the latent, each of 52 x 30 tokens; text passes the key and value matrices alone.
    work = compute_diffusion_work(WAN, 832, 480, 81)
    tokens = 21 * 52 * 30
    assert work.image_tokens == tokens == 32_760
    assert work.matrix_flop == 30 * 2 * (tokens * (6 * 1536**2 + 2 * 1536 * 8960) + 512 * 2 * 1536**2)
    assert work.attention_flop == 30 * 4 * tokens * (tokens + 512) * 1536


def test_time_of_flux_by_hand() -> None:
    work = compute_diffusion_work(FLUX, 1024, 1024, 1)
    times = compute_diffusion_times(FLUX, ask(), work, MI325X, CONSTANTS)
    rate = 1 / (1 / (1307.4e12 * CONSTANTS.peak_share) + 1 / CONSTANTS.ceiling_flops[DiffusionSoftware.COMPILED])
    step = work.pass_flop / rate + 57 * CONSTANTS.block_overhead_s[DiffusionSoftware.COMPILED]
    assert times.step_s == pytest.approx(step)
    assert times.batch_s == pytest.approx(28 * step + (work.text_flop + work.decoder_flop) / rate)
    assert times.floor_s == pytest.approx(1.593, abs=5e-4), "28 steps of 74.36 TFLOP at 1,307.4 TFLOPS"


def test_memory_of_flux_by_hand() -> None:
    part = Accelerator("h100-sxm", "H100", "NVIDIA", "hopper", False, "CUDA", 80 * 2**30, 3.35e12)
    work = compute_diffusion_work(FLUX, 1024, 1024, 1)
    memory = compute_diffusion_memory(FLUX, ask(), work, part, CONSTANTS)
    assert memory.denoiser_bytes == 2 * 11_901_408_320
    assert memory.text_encoder_bytes == 2 * 4_762_107_904
    assert memory.activations_bytes == 3800 * 1024 * 1024, "the decoder's peak is above that of a pass"
    assert sum(memory[1:]) == memory.capacity_bytes
    narrow = compute_diffusion_memory(FLUX, ask(weights=Precision.FP8), work, part, CONSTANTS)
    assert narrow.denoiser_bytes == 11_901_408_320


def test_blocks_hold_most_parameters() -> None:
    assert 0.9 < count_block_parameters(FLUX) / FLUX.parameters < 1
    assert 0.95 < count_block_parameters(WAN) / WAN.parameters < 1


def test_ceilings_of_weight_formats() -> None:
    peaks = {"bf16": 989.4e12, "fp8": 1978.9e12}
    assert find_ceilings(peaks, 3.35e12, Precision.FP8) == (989.4e12, 1978.9e12, 3.35e12)
    assert find_ceilings(peaks, 3.35e12, Precision.INT4) == (989.4e12, 989.4e12, 3.35e12), "widened when read"
    assert find_ceilings({"fp8": 1.0}, 3.35e12, Precision.FP8) is None


def test_array_times_equal_single_ones() -> None:
    wide, bandwidth = np.array([989.4e12, 1307.4e12]), np.array([3.35e12, 6e12])
    work = compute_diffusion_work(FLUX, 1024, 1024, 1)
    together = compute_diffusion_times(FLUX, ask(), work, DiffusionCeilings(wide, wide, bandwidth), CONSTANTS)  # type: ignore[arg-type]
    alone = [batch_s(ask(), DiffusionCeilings(*each)) for each in zip(wide, wide, bandwidth, strict=True)]
    assert np.allclose(together.batch_s, alone)


sizes = st.integers(4, 128).map(lambda tiles: tiles * 16)
counts = st.integers(1, 64)


@given(width=sizes, height=sizes, more=sizes, steps=counts, further=counts)
def test_more_steps_and_larger_images_are_never_faster_or_smaller(
    width: int, height: int, more: int, steps: int, further: int
) -> None:
    request = ask(width=width, height=height, steps=steps)
    larger = replace(request, width=width + more)
    assert batch_s(replace(request, steps=steps + further)) > batch_s(request)
    assert batch_s(larger) > batch_s(request)
    assert activations(larger) >= activations(request)


@given(batch=counts, further=counts, peak=st.floats(1e13, 5e15), faster=st.floats(1.01, 10))
def test_batches_amortize_and_a_higher_peak_is_never_slower(
    batch: int, further: int, peak: float, faster: float
) -> None:
    request = ask(batch=batch)
    larger = replace(request, batch=batch + further)
    assert batch_s(larger) / larger.batch < batch_s(request) / batch
    assert activations(larger) >= activations(request)
    assert batch_s(request, DiffusionCeilings(peak * faster, peak * faster, 6e12)) <= batch_s(
        request, DiffusionCeilings(peak, peak, 6e12)
    )


@given(count=st.sampled_from([2, 3, 4, 6, 8]))
def test_accelerators_on_one_image_are_faster_but_not_by_their_number(count: int) -> None:
    alone, together = batch_s(ask()), batch_s(ask(count=count, sequence_parallel=True))
    assert alone / count < together < alone
    assert batch_s(ask(count=count)) == alone, "each makes images of its own"


def test_compiled_is_never_slower_than_eager_nor_tuned_than_compiled() -> None:
    eager, compiled, tuned = (batch_s(ask(software=each)) for each in DiffusionSoftware)
    assert eager > compiled > tuned


def test_reading_weights_binds_where_there_is_little_to_compute() -> None:
    slow = DiffusionCeilings(1e18, 1e18, 1e9)
    work = compute_diffusion_work(FLUX, 64, 64, 1)
    step = compute_diffusion_times(FLUX, ask(width=64, height=64), work, slow, CONSTANTS).step_s
    assert step == pytest.approx(2 * FLUX.parameters / 1e9, rel=1e-3)


@pytest.mark.parametrize(
    ("wait", "clip", "grade"),
    [
        (1.9, None, DiffusionGrade.FAST),
        (2.0, None, DiffusionGrade.USABLE),
        (10.0, None, DiffusionGrade.SLOW),
        (49.0, 5.0, DiffusionGrade.FAST),
        (299.0, 5.0, DiffusionGrade.USABLE),
        (301.0, 5.0, DiffusionGrade.SLOW),
    ],
)
def test_grades(wait: float, clip: float | None, grade: DiffusionGrade) -> None:
    assert grade_diffusion(wait, compute_grade_limits(clip, CONSTANTS)) is grade
