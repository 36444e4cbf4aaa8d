"""Time and memory of diffusion models: pure functions; hardware figures can be floats or arrays of one shape.

A denoiser pass multiplies matrices for each token and runs attention between all tokens. Software reaches a share of
the peak, and never more than `ceiling_flops` on any accelerator. Both times add up, as measured times of slow and fast
accelerators show: FLOP / (peak x share) + FLOP / ceiling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.diffusion import (
    DenoiserBlocks,
    DiffusionArchitecture,
    DiffusionGrade,
    DiffusionMemory,
    DiffusionRequest,
    DiffusionSoftware,
)
from gpudesk.domain.precision import STORAGE_FORMATS, WIDE_FORMAT, Precision
from gpudesk.frozen_dataclass import frozen_dataclass

#: Formats that matrix products run in; others are widened to 16 bits when a matrix is read.
_ARITHMETIC_FORMATS: Final = frozenset({Precision.FP8, Precision.INT8})
_ACTIVATION_BYTES: Final = 2


@frozen_dataclass
class DiffusionConstants:
    """Fitted and stated constants, from data/diffusion_constants.toml.

    `interval_factors` are keyed by basis: an interval is the estimate divided and multiplied by its factor. Grades are
    (fast, usable): seconds per image, and seconds per second of video.
    """

    peak_share: float  # share of the dense peak that matrix products reach, in all software
    ceiling_flops: Mapping[DiffusionSoftware, float]  # FLOP/s that software does not exceed
    block_overhead_s: Mapping[DiffusionSoftware, float]  # s per block and step, launches
    unet_slowdown: float  # time of a UNet's FLOP relative to a transformer's
    parallel_efficiency: float  # share of the speed kept at each doubling of accelerators on one item
    activation_vectors: float  # activation vectors of the hidden size per token
    decoder_pixel_bytes: float  # bytes per pixel at the peak of the decoder
    decoder_tile_pixels: int  # pixels of all frames decoded at once, at most
    runtime_bytes: int  # bytes of the driver and the framework
    interval_factors: Mapping[str, float]
    image_grades: tuple[float, float]
    video_grades: tuple[float, float]


class DiffusionWork(NamedTuple):
    """FLOP of one item: matrices and attention of one pass, text encoders, and decoder."""

    matrix_flop: float
    attention_flop: float
    text_flop: float
    decoder_flop: float
    image_tokens: int

    @property
    def pass_flop(self) -> float:
        return self.matrix_flop + self.attention_flop


class DiffusionCeilings(NamedTuple):
    """The limits of one accelerator in FLOP/s and bytes/s; `narrow_flops` is the peak in the format of the weights."""

    wide_flops: float
    narrow_flops: float
    memory_bandwidth: float


class DiffusionTimes(NamedTuple):
    """Seconds of a batch, of one of its steps, and of the arithmetic of the batch at the full peak."""

    batch_s: float
    step_s: float
    floor_s: float


def compute_diffusion_work(architecture: DiffusionArchitecture, width: int, height: int, frames: int) -> DiffusionWork:
    """Return the FLOP of one item of `frames` frames (1: an image); sizes are in pixels.

    A multiply-add counts as two. Attention: 4 x queries x keys x hidden size. Norms, modulation and embeddings are left
    out: less than 1%.
    """
    positions = math.ceil(width / architecture.latent_scale) * math.ceil(height / architecture.latent_scale)
    # The number of latent frames: the first frame is kept, the others are folded.
    latent_frames = 1 + math.ceil((frames - 1) / architecture.frame_scale)
    tokens = (
        math.ceil(width / (architecture.latent_scale * architecture.patch))
        * math.ceil(height / (architecture.latent_scale * architecture.patch))
        * latent_frames
    )
    matrix = (architecture.convolution_flop or 0.0) * positions * latent_frames
    attention = 0.0
    for group in architecture.blocks:
        block_tokens = positions * latent_frames // group.downscale**2 if group.kind == "unet" else tokens
        products, attended = _compute_block_flop(group, block_tokens, architecture.text_tokens)
        matrix += group.count * products
        attention += group.count * attended
    text = sum(2.0 * encoder.parameters * encoder.tokens for encoder in architecture.text_encoders)
    decoder = (architecture.decoder_flop or 0.0) * width * height * frames
    return DiffusionWork(matrix, attention, architecture.guidance_passes * text, decoder, tokens)


def _compute_block_flop(group: DenoiserBlocks, tokens: int, text_tokens: int) -> tuple[float, float]:
    size = float(group.hidden_size)
    if group.kind == "unet":
        return 0.0, 4.0 * tokens * tokens * size
    ffn = (3 if group.gated else 2) * size * (group.ffn_size or 0)
    if group.kind == "cross":
        products = 2.0 * (tokens * (6 * size * size + ffn) + text_tokens * 2 * size * size)
        return products, 4.0 * tokens * (tokens + text_tokens) * size
    text_share = (group.text_hidden_size or size) / size
    text_block = text_share * 4 * size * size + text_share**2 * ffn
    products = 2.0 * (tokens * (4 * size * size + ffn) + text_tokens * text_block)
    attended = 4.0 * (tokens + text_tokens) ** 2 * size
    if group.image_attention:
        products += 2.0 * tokens * 4 * size * size
        attended += 4.0 * tokens * tokens * size
    return products, attended


def count_block_parameters(architecture: DiffusionArchitecture) -> int:
    """Return the parameters of all blocks, including time-step modulation; 0 for a UNet."""
    total = 0
    for group in architecture.blocks:
        size = group.hidden_size
        ffn = (3 if group.gated else 2) * size * (group.ffn_size or 0)
        block = 4 * size * size + ffn
        if group.kind == "joint":
            text_size = group.text_hidden_size or size
            text = 10 * size * text_size + ffn * text_size**2 // size**2
            total += group.count * (block + 6 * size * size + text + group.image_attention * 7 * size * size)
        elif group.kind == "cross":
            total += group.count * (block + 4 * size * size)
        elif group.kind == "shared":
            total += group.count * block
    return total


def find_ceilings(peaks: Mapping[str, float], memory_bandwidth: float, weights: Precision) -> DiffusionCeilings | None:
    """Return the limits of an accelerator with these dense peaks; None without a 16-bit peak."""
    wide = peaks.get(Precision.BF16) or peaks.get(Precision.FP16)
    if not wide:
        return None
    narrow = peaks.get(weights) if weights in _ARITHMETIC_FORMATS else None
    return DiffusionCeilings(wide, narrow or wide, memory_bandwidth)


def compute_diffusion_times(
    architecture: DiffusionArchitecture,
    request: DiffusionRequest,
    work: DiffusionWork,
    ceilings: DiffusionCeilings,
    constants: DiffusionConstants,
) -> DiffusionTimes:
    """Return the times of a batch on the accelerators of `request`, whose sizes are filled in.

    A step takes the longer of its arithmetic and one read of the weights per pass, plus the overhead of its blocks.
    Text encoders and decoder run once, on one accelerator.
    """
    together = request.count if request.sequence_parallel else 1
    speed = together * constants.parallel_efficiency ** math.log2(together)
    ceiling = constants.ceiling_flops[request.software]
    slowdown = constants.unet_slowdown if architecture.is_unet else 1.0
    wide, narrow, bandwidth = ceilings

    def arithmetic_s(matrix_flop: float, other_flop: float) -> float:
        at_peak = matrix_flop / narrow + other_flop / wide
        return at_peak / constants.peak_share + (matrix_flop * wide / narrow + other_flop) / ceiling

    passes = architecture.guidance_passes
    compute = slowdown * passes * request.batch * arithmetic_s(work.matrix_flop, work.attention_flop) / speed
    read = passes * compute_weight_bytes(architecture.parameters, request.weights) / bandwidth
    step = np.maximum(compute, read) + architecture.block_count * constants.block_overhead_s[request.software]
    once = request.batch * arithmetic_s(0.0, work.text_flop + work.decoder_flop)
    steps = request.steps or architecture.steps
    at_peak = steps * passes * (work.matrix_flop / narrow + work.attention_flop / wide) / together
    return DiffusionTimes(steps * step + once, step, request.batch * at_peak)


def compute_weight_bytes(parameters: int, weights: Precision) -> int:
    return STORAGE_FORMATS.get(weights, WIDE_FORMAT).compute_tensor_bytes(parameters)


def compute_diffusion_memory(
    architecture: DiffusionArchitecture,
    request: DiffusionRequest,
    work: DiffusionWork,
    accelerator: Accelerator,
    constants: DiffusionConstants,
) -> DiffusionMemory:
    """Return the peak memory of one accelerator, which holds all weights; text encoders and decoder use 16 bits.

    A pass and the decoder run one after the other, so the larger of their activations counts. The decoder processes
    items one by one, in tiles if an item is larger than a tile.
    """
    weights = resolve_fp4(request.weights, accelerator.vendor)
    together = request.count if request.sequence_parallel else 1
    denoiser = architecture.denoisers * compute_weight_bytes(architecture.parameters, weights)
    encoders = sum(WIDE_FORMAT.compute_tensor_bytes(encoder.parameters) for encoder in architecture.text_encoders)
    decoder = WIDE_FORMAT.compute_tensor_bytes(architecture.decoder_parameters or 0)
    tokens = request.batch * architecture.guidance_passes * (work.image_tokens + architecture.text_tokens)
    size = max(group.hidden_size for group in architecture.blocks)
    denoising = constants.activation_vectors * tokens * size * _ACTIVATION_BYTES / together
    pixels = (request.width or 0) * (request.height or 0) * min(request.frames or 1, architecture.frame_scale)
    decoding = constants.decoder_pixel_bytes * min(pixels, constants.decoder_tile_pixels)
    activations = math.ceil(max(denoising, decoding))
    occupied = denoiser + encoders + decoder + activations + constants.runtime_bytes
    capacity = accelerator.memory_bytes
    return DiffusionMemory(
        capacity, denoiser, encoders, decoder, activations, constants.runtime_bytes, capacity - occupied
    )


def compute_grade_limits(clip_s: float | None, constants: DiffusionConstants) -> tuple[float, float]:
    """Return the longest wait in seconds that is fast, and usable: for an image, or for a clip of `clip_s` seconds."""
    fast, usable = constants.image_grades if clip_s is None else constants.video_grades
    return (fast, usable) if clip_s is None else (fast * clip_s, usable * clip_s)


def grade_diffusion(wait_s: float, limits_s: tuple[float, float]) -> DiffusionGrade:
    fast, usable = limits_s
    if wait_s < fast:
        return DiffusionGrade.FAST
    return DiffusionGrade.USABLE if wait_s < usable else DiffusionGrade.SLOW
