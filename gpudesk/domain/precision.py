"""Number formats of weights, KV cache and arithmetic, and the bytes of a tensor in each."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gpudesk.frozen_dataclass import frozen_dataclass


class Precision(StrEnum):
    """A number format with its usual name; `fp4` means the vendor's own four-bit format."""

    FP16 = "fp16"
    BF16 = "bf16"
    FP8 = "fp8"
    FP6 = "fp6"
    FP4 = "fp4"
    MXFP4 = "mxfp4"
    NVFP4 = "nvfp4"
    INT8 = "int8"
    INT4 = "int4"

    # Formats are part of most cache keys, and the hash of an enumeration is several times slower.
    __hash__ = str.__hash__


@frozen_dataclass
class StorageFormat:
    """Memory layout of a format: `bits` per element, and one scale of `scale_bytes` per `block` elements.

    Scales per tensor or per channel are below 0.1% and left out.
    """

    bits: int
    block: int = 1
    scale_bytes: int = 0

    def compute_tensor_bytes(self, elements: int) -> int:
        """Bytes of a tensor of `elements` numbers with its scales, rounded up to whole bytes and blocks."""
        return -(-elements * self.bits // 8) + -(-elements // self.block) * self.scale_bytes


#: OCP Microscaling v1.0 for mxfp4 and mxfp6 (32 elements share one 8-bit scale); NVFP4 shares an FP8 scale among 16
#: elements; INT4 as in GPTQ and AWQ checkpoints: groups of 128 with a 16-bit scale.
STORAGE_FORMATS: Final[dict[Precision, StorageFormat]] = {
    Precision.FP16: StorageFormat(16),
    Precision.BF16: StorageFormat(16),
    Precision.FP8: StorageFormat(8),
    Precision.INT8: StorageFormat(8),
    Precision.FP6: StorageFormat(6, 32, 1),
    Precision.MXFP4: StorageFormat(4, 32, 1),
    Precision.NVFP4: StorageFormat(4, 16, 1),
    Precision.INT4: StorageFormat(4, 128, 2),
}

#: Format of embeddings, norms, routers and other small tensors with any weights.
WIDE_FORMAT: Final = StorageFormat(16)

#: KV cache formats: element bytes as the serving engines store them, scales per tensor.
KV_BYTES: Final[dict[Precision, float]] = {
    Precision.FP16: 2.0,
    Precision.BF16: 2.0,
    Precision.FP8: 1.0,
    Precision.INT8: 1.0,
    Precision.FP4: 0.5625,
    Precision.NVFP4: 0.5625,
    Precision.MXFP4: 0.53125,
    Precision.INT4: 0.53125,
}
