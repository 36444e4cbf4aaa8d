"""What a model says of itself beyond the fields of its file."""

import dataclasses

from gpudesk.domain.model import FFN_KINDS, MIXER_KINDS, Attention, DenseFfn, LayerGroup, Mamba2, Model
from gpudesk.domain.precision import Precision


def test_values_are_as_wide_as_keys_by_default() -> None:
    assert Attention(64, 8, 192).value_dim == 192
    assert Attention(64, 8, 192, v_head_dim=128).value_dim == 128


def test_state_space_channels_are_those_of_all_heads() -> None:
    assert Mamba2(128, 64, 128, 8, 4).inner_size == 8192


def test_layers_of_all_groups_are_counted() -> None:
    groups = (LayerGroup(3, Attention(4, 4, 64), DenseFfn(512)), LayerGroup(5, None, DenseFfn(512), norms=1))
    model = Model("m", "M", "O", 256, 1000, False, 4096, Precision.BF16, groups)
    assert model.layer_count == 8
    assert model.dimensions_known
    assert not dataclasses.replace(model, layers=()).dimensions_known


def test_every_kind_is_a_frozen_record() -> None:
    for kind in (*MIXER_KINDS.values(), *FFN_KINDS.values()):
        assert dataclasses.is_dataclass(kind)
        assert kind.__hash__ is not None
