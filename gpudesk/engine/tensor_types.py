"""What a weight tensor is: its class, how parallel ranks divide it, and how many elements it has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TensorClass(StrEnum):
    """What a tensor is for; operators, precision and sharding go by it."""

    EMBEDDING = "embedding"
    LAYER_EMBEDDING = "layer_embedding"
    LM_HEAD = "lm_head"
    MIXER = "mixer"
    DENSE_FFN = "dense_ffn"
    EXPERT = "expert"
    SHARED_EXPERT = "shared_expert"
    ROUTER = "router"
    NORM = "norm"
    SMALL = "small"


class Split(StrEnum):
    """Over which ranks a tensor is divided.

    REPLICATED: every rank holds it whole. TENSOR: divided over all TP ranks. KV_HEADS: divided over
    min(TP, heads) ranks and repeated beyond. EXPERT: divided over the group that shares the experts.
    """

    REPLICATED = "replicated"
    TENSOR = "tensor"
    KV_HEADS = "kv_heads"
    EXPERT = "expert"


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight of a layer or of the whole model.

    `elements` is of one copy; `copies` says how many alike there are (one an expert). `kv_heads` is set with
    Split.KV_HEADS only. `quantisable` says whether a narrow weight format covers it, given that
    the format covers all matrices inside the blocks.
    """

    name: str
    tensor_class: TensorClass
    split: Split
    elements: int
    copies: int = 1
    kv_heads: int | None = None
    quantisable: bool = False

    @property
    def parameters(self) -> int:
        """Elements of all copies."""
        return self.elements * self.copies


def matrix(
    name: str,
    elements: int,
    tensor_class: TensorClass = TensorClass.MIXER,
    split: Split = Split.TENSOR,
    *,
    quantisable: bool = True,
) -> Tensor:
    """A matrix of a block: divided over the TP ranks and open to narrow formats unless told otherwise."""
    return Tensor(name, tensor_class, split, elements, quantisable=quantisable)


def kv_matrix(name: str, elements: int, heads: int) -> Tensor:
    """A matrix that is divided by key-value heads, or by the groups of a state space."""
    return Tensor(name, TensorClass.MIXER, Split.KV_HEADS, elements, kv_heads=heads, quantisable=True)


def vector(name: str, elements: int, split: Split = Split.REPLICATED, heads: int | None = None) -> Tensor:
    """A small tensor that stays wide: a bias, a convolution, a decay, a sink."""
    return Tensor(name, TensorClass.SMALL, split, elements, kv_heads=heads)


def norm(name: str, elements: int, split: Split = Split.REPLICATED, heads: int | None = None) -> Tensor:
    """The weight of a norm."""
    return Tensor(name, TensorClass.NORM, split, elements, kv_heads=heads)
