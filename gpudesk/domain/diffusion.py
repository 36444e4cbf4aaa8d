"""Diffusion models for images and video: dimensions, reported times, and the estimate of one deployment."""

from __future__ import annotations

from typing import Literal, NamedTuple

from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum

#: `joint`: text and image tokens have separate matrices and attend to each other; `shared`: both use the same matrices;
#: `cross`: image tokens attend to themselves, then to the text; `unet`: self-attention of one resolution of a UNet,
#: whose other work is in `convolution_flop`.
DenoiserBlockKind = Literal["joint", "shared", "cross", "unet"]


class DiffusionSoftware(LabeledEnum):
    """The software of the pipeline: plain PyTorch, compiled, or an engine tuned for the accelerator."""

    EAGER = "eager", "PyTorch, not compiled"
    COMPILED = "compiled", "PyTorch, compiled"
    TUNED = "tuned", "tuned engine, such as TensorRT"


class DiffusionGrade(LabeledEnum):
    """How long a user waits, by the limits of an estimate."""

    FAST = "fast", "fast"
    USABLE = "usable", "usable"
    SLOW = "slow", "slow"


@frozen_dataclass
class DenoiserBlocks:
    """`count` equal blocks.

    Text tokens of `joint` blocks have `text_hidden_size` if it differs from that of image tokens. `image_attention`
    blocks also attend to the image tokens without the text. `downscale` is the side of the latent area per position of
    a UNet's attention.
    """

    count: int
    kind: DenoiserBlockKind
    hidden_size: int
    ffn_size: int | None = None
    gated: bool = False
    text_hidden_size: int | None = None
    image_attention: bool = False
    downscale: int = 1


@frozen_dataclass
class TextEncoder:
    """A text encoder, which reads `tokens` tokens of a prompt."""

    name: str
    parameters: int
    tokens: int


@frozen_dataclass
class DiffusionArchitecture:
    """Dimensions that determine time and memory.

    `parameters` are those of one denoiser; of several `denoisers` each step runs one. A latent position covers
    `latent_scale` x `latent_scale` pixels of `frame_scale` frames, a token `patch` x `patch` positions. `decoder_flop`
    is per output pixel of one frame, `convolution_flop` per latent position of a UNet: all its work except
    self-attention. `guidance_passes` is 2 with classifier-free guidance.
    """

    parameters: int
    patch: int
    latent_scale: int
    blocks: tuple[DenoiserBlocks, ...]
    text_encoders: tuple[TextEncoder, ...]
    text_tokens: int
    guidance_passes: int
    steps: int
    width: int
    height: int
    source: str
    frames: int = 1
    frame_scale: int = 1
    frames_per_second: float | None = None
    denoisers: int = 1
    decoder_parameters: int | None = None
    decoder_flop: float | None = None
    convolution_flop: float | None = None
    note: str | None = None

    @property
    def block_count(self) -> int:
        return sum(group.count for group in self.blocks)

    @property
    def is_unet(self) -> bool:
        return self.convolution_flop is not None


@frozen_dataclass
class DiffusionRun:
    """The conditions of a measured time, in numbers; several accelerators work on one item.

    `note` lists the conditions that the source does not state.
    """

    width: int
    height: int
    steps: int
    software: DiffusionSoftware
    frames: int = 1
    batch: int = 1
    weights: Precision = Precision.BF16
    note: str | None = None


@frozen_dataclass
class DiffusionResult:
    """A reported time: `part` as printed, `accelerator` if that names exactly one of the catalog.

    `value` to `value_high` (None: a single figure) in `unit` as printed, on `count` accelerators; a source without a
    figure has a word there and no unit. `estimated` marks a computed or guessed figure. `run` has the conditions, if
    they are known well enough to compare.
    """

    part: str
    accelerator: str | None
    count: int
    setting: str
    value: float | str
    value_high: float | None
    unit: str | None
    estimated: bool
    source: Source
    kind: SourceKind
    retrieved: str | None = None
    note: str | None = None
    run: DiffusionRun | None = None

    @property
    def item_s(self) -> float | None:
        """Seconds per image or clip; for a throughput, the time on one accelerator."""
        if not isinstance(self.value, int | float):
            return None
        if self.unit == "images/s":
            return self.count / self.value
        if self.unit == "ms per frame" and self.run is not None:
            return self.value * self.run.frames / 1000.0
        return self.value if self.unit in ("s per image", "s per clip") else None

    @property
    def is_throughput(self) -> bool:
        """Whether each accelerator produced separate items."""
        return self.unit == "images/s"


@frozen_dataclass
class DiffusionModel:
    """A diffusion model and its reported speeds; its figures are attributes in the catalog.

    `architecture` is None if no source gives the dimensions.
    """

    id: str
    name: str
    medium: str
    results: tuple[DiffusionResult, ...]
    architecture: DiffusionArchitecture | None = None


@frozen_dataclass
class DiffusionSettings:
    """Settings of an image or a clip; sizes that are None are defaults of the model's pipeline.

    `weights` None means the widest format that fits.
    """

    width: int | None = None
    height: int | None = None
    frames: int | None = None
    steps: int | None = None
    batch: int = 1
    weights: Precision | None = None
    software: DiffusionSoftware = DiffusionSoftware.COMPILED


@frozen_dataclass
class DiffusionRequest:
    """One request. Sizes that are None are defaults of the model's pipeline.

    `batch` items are denoised together. Each of `count` accelerators produces separate items; with `sequence_parallel`
    all of them work on the same items.
    """

    accelerator: str
    model: str
    count: int = 1
    weights: Precision = Precision.BF16
    width: int | None = None
    height: int | None = None
    frames: int | None = None
    steps: int | None = None
    batch: int = 1
    software: DiffusionSoftware = DiffusionSoftware.COMPILED
    sequence_parallel: bool = False


class DiffusionMemory(NamedTuple):
    """Bytes at the peak on one accelerator; the parts and `free_bytes`, which can be negative, add up to capacity."""

    capacity_bytes: int
    denoiser_bytes: int
    text_encoder_bytes: int
    decoder_bytes: int
    activations_bytes: int
    runtime_bytes: int
    free_bytes: int


class NearestDiffusionRun(NamedTuple):
    """A measured time with the conditions nearest to a request, and the engine's time for them, in seconds."""

    model: str
    result: DiffusionResult
    measured_s: float
    computed_s: float


@frozen_dataclass
class DiffusionEstimate:
    """The answer to a request whose sizes are all filled in; times are None if the model does not fit.

    `clip_s` is the length of a clip, None for an image. A wait below the first of `grade_limits_s` is fast, below the
    second usable. `item_s` is a batch divided by its items; a user waits `batch_s`. `floor_s` is the arithmetic of an
    item at the full peak of the accelerators. `flop_per_step` counts all passes of one item.
    """

    request: DiffusionRequest
    memory: DiffusionMemory
    basis: EstimateBasis
    flop_per_step: float
    floor_s: float
    clip_s: float | None
    grade_limits_s: tuple[float, float]
    item_s: IntervalEstimate | None
    batch_s: IntervalEstimate | None
    step_s: IntervalEstimate | None
    items_per_hour: IntervalEstimate | None
    grade: DiffusionGrade | None
    nearest: NearestDiffusionRun | None
    notes: tuple[Message, ...] = ()

    @property
    def fits(self) -> bool:
        return self.memory.free_bytes >= 0
