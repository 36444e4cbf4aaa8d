"""Formats of tensors in GGUF files, and the number format of the program that is nearest to each."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gpudesk.domain.precision import Precision


@dataclass(frozen=True, slots=True)
class TensorType:
    """How a tensor lies in the file: `block` numbers together take `block_bytes`."""

    name: str
    block: int
    block_bytes: int

    @property
    def bits(self) -> float:
        """Bits a number, scales counted."""
        return 8 * self.block_bytes / self.block


def _types(*rows: tuple[int, str, int, int]) -> MappingProxyType[int, TensorType]:
    return MappingProxyType({number: TensorType(name, block, size) for number, name, block, size in rows})


#: By the number that files write, as ggml has them.
TENSOR_TYPES: Final = _types(
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (9, "Q8_1", 32, 40),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (15, "Q8_K", 256, 292),
    (16, "IQ2_XXS", 256, 66),
    (17, "IQ2_XS", 256, 74),
    (18, "IQ3_XXS", 256, 98),
    (19, "IQ1_S", 256, 50),
    (20, "IQ4_NL", 32, 18),
    (21, "IQ3_S", 256, 110),
    (22, "IQ2_S", 256, 82),
    (23, "IQ4_XS", 256, 136),
    (24, "I8", 1, 1),
    (25, "I16", 1, 2),
    (26, "I32", 1, 4),
    (27, "I64", 1, 8),
    (28, "F64", 1, 8),
    (29, "IQ1_M", 256, 56),
    (30, "BF16", 1, 2),
    (34, "TQ1_0", 256, 54),
    (35, "TQ2_0", 256, 66),
    (39, "MXFP4", 32, 17),
    (40, "NVFP4", 64, 36),
    (41, "Q1_0", 128, 18),
)

#: Names of the mixtures that `general.file_type` counts; tensors of one file differ in format.
FILE_TYPES: Final = MappingProxyType(
    {
        0: "F32",
        1: "F16",
        2: "Q4_0",
        3: "Q4_1",
        7: "Q8_0",
        8: "Q5_0",
        9: "Q5_1",
        10: "Q2_K",
        11: "Q3_K_S",
        12: "Q3_K_M",
        13: "Q3_K_L",
        14: "Q4_K_S",
        15: "Q4_K_M",
        16: "Q5_K_S",
        17: "Q5_K_M",
        18: "Q6_K",
        19: "IQ2_XXS",
        20: "IQ2_XS",
        21: "Q2_K_S",
        22: "IQ3_XS",
        23: "IQ3_XXS",
        24: "IQ1_S",
        25: "IQ4_NL",
        26: "IQ3_S",
        27: "IQ3_M",
        28: "IQ2_S",
        29: "IQ2_M",
        30: "IQ4_XS",
        31: "IQ1_M",
        32: "BF16",
        36: "TQ1_0",
        37: "TQ2_0",
        38: "MXFP4_MOE",
        39: "NVFP4",
        40: "Q1_0",
    }
)

_EXACT: Final = MappingProxyType(
    {
        "BF16": Precision.BF16,
        "F16": Precision.FP16,
        "F32": Precision.FP16,
        "MXFP4": Precision.MXFP4,
        "NVFP4": Precision.NVFP4,
    }
)
#: Bits a number from which on the next wider format is the nearest: between 4.1 and 8 of INT4 and INT8.
_INT8_FROM: Final = 6.06
_FP16_FROM: Final = 12.0


def nearest_precision(types: dict[TensorType, int]) -> Precision:
    """Return the format nearest to tensors, given as numbers of elements by type.

    A format that has a name of its own is that; of the others the mean of their bits decides, as GGUF's
    formats are integers with scales.
    """
    largest = max(types, key=lambda kind: types[kind])
    if largest.name in _EXACT:
        return _EXACT[largest.name]
    bits = mean_bits(types)
    if bits >= _FP16_FROM:
        return Precision.FP16
    return Precision.INT8 if bits >= _INT8_FROM else Precision.INT4


def mean_bits(types: dict[TensorType, int]) -> float:
    """Return the mean bits a number."""
    return sum(kind.bits * count for kind, count in types.items()) / sum(types.values())
