"""Configurations that are broken, absurd or hostile: a proposal, or a refusal that names the field."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.domain.user_facts import ImportProposal
from gpudesk.engine.tensors import count_parameters
from gpudesk.text.messages import InputError, format_message
from tests.unit.catalog.importing.configs import NAMES, TODAY, read_config


def read(raw: bytes, files: dict[str, bytes] | None = None) -> ImportProposal:
    return propose_model(raw, files or {}, name="x", today=TODAY, parameters_of=count_parameters)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is not valid JSON at line 1"),
        (b"{", "is not valid JSON at line 1"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b"[1]", "contains no fields"),
        (b'"text"', "contains no fields"),
        (b"null", "contains no fields"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000, "is nested too deeply"),
        (b'{"hidden_size": ' + b"9" * 10_000 + b"}", "is nested too deeply, or contains numbers"),
        (b" " * (16 * 2**20 + 1), "is larger than the limit of 16.0 MiB"),
    ],
)
def test_invalid_configuration_is_refused(raw: bytes, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(raw)
    assert refused.value.where == "config.json"
    assert message in format_message(refused.value.problem)


@pytest.mark.parametrize(
    ("name", "field", "value", "where"),
    [
        ("llama-3.1-8b", "hidden_size", 10**12, "hidden_size"),
        ("llama-3.1-8b", "hidden_size", "4096", "hidden_size"),
        ("llama-3.1-8b", "hidden_size", -1, "hidden_size"),
        ("llama-3.1-8b", "hidden_size", 0.5, "hidden_size"),
        ("llama-3.1-8b", "hidden_size", True, "hidden_size"),
        ("llama-3.1-8b", "hidden_size", float("nan"), "hidden_size"),
        ("llama-3.1-8b", "num_hidden_layers", 10**9, "num_hidden_layers"),
        ("llama-3.1-8b", "num_key_value_heads", 5, "layers.1.heads"),
        ("llama-3.1-8b", "vocab_size", 10**9, "vocab_size"),
        ("llama-3.1-8b", "attention_bias", "yes", "attention_bias"),
        ("llama-2-7b", "num_attention_heads", 33, "num_attention_heads"),
        ("mixtral-8x7b", "num_experts_per_tok", 9, "layers.1.experts_per_token"),
        ("gpt-oss-20b", "layer_types", ["full_attention"], "layer_types"),
        ("gpt-oss-20b", "layer_types", ["round"] * 24, "layer_types.1"),
        ("gpt-oss-20b", "layer_types", 7, "layer_types"),
        ("minimax-m3", "sparse_attention_config", [], "sparse_attention_config"),
        ("nemotron-h-56b", "hybrid_override_pattern", "MXM", "hybrid_override_pattern.2"),
        ("nemotron-h-56b", "hybrid_override_pattern", "M" * 5000, "hybrid_override_pattern"),
        ("nemotron-super-49b", "block_configs", [{}], "block_configs"),
        ("deepseek-v4-flash", "compress_ratios", None, "compress_ratios"),
        ("kimi-k2.5", "text_config", "none", "text_config"),
    ],
)
def test_a_field_that_cannot_be_is_refused_at_its_place(name: str, field: str, value: object, where: str) -> None:
    with pytest.raises(InputError) as refused:
        read(json.dumps(read_config(name) | {field: value}).encode())
    assert refused.value.where == where
    assert format_message(refused.value.problem)


def test_unread_fields_are_ignored() -> None:
    more = {"eos_token_id": [1] * 1000, "rope_scaling": {"factor": float("inf")}, "\x00": "\u202e", "a": None}
    plain, odd = read_config("llama-3.1-8b"), read_config("llama-3.1-8b") | more
    assert read(json.dumps(plain).encode()) == read(json.dumps(odd).encode())


_LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 70),
    st.sampled_from([10**5, 10**9, 10**12, 10**40, -(10**9)]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=20),
    st.sampled_from(["full_attention", "linear_attention", "sparse", "MEM*E-", "auto", "none"]),
)
_VALUE = st.recursive(
    _LEAF, lambda inner: st.lists(inner, max_size=90) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
)
_READ = (
    "model_type",
    "architectures",
    "text_config",
    "quantization_config",
    "layer_types",
    "num_hidden_layers",
    "head_dim",
    "num_experts",
    "moe_layer_freq",
    "mlp_only_layers",
    "first_k_dense_replace",
    "sliding_window",
    "torch_dtype",
    "tie_word_embeddings",
    "num_nextn_predict_layers",
    "block_configs",
    "linear_attn_config",
    "compress_ratios",
)


@settings(deadline=1000)
@given(
    name=st.sampled_from(NAMES),
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.booleans(), _VALUE), min_size=1, max_size=4),
    added=st.dictionaries(st.sampled_from(_READ), _VALUE, max_size=2),
)
def test_mutated_configurations_are_read_or_refused(
    name: str, changes: list[tuple[int, bool, Any]], added: dict[str, Any]
) -> None:
    table = copy.deepcopy(read_config(name))
    for place, gone, value in changes:
        tables = [table, *(inner for inner in table.values() if isinstance(inner, dict) and inner)]
        mutated_table = tables[place % len(tables)]
        field = list(mutated_table)[place % len(mutated_table)] if mutated_table else "x"
        if gone:
            mutated_table.pop(field, None)
        else:
            mutated_table[field] = value
    table |= added
    _proposal_or_refusal(json.dumps(table).encode(), {})


@settings(deadline=1000)
@given(raw=st.binary(max_size=200), beside=_VALUE, index=_VALUE)
def test_companion_files_are_read_or_refused(raw: bytes, beside: Any, index: Any) -> None:  # noqa: ANN401
    config_raw = json.dumps(read_config("kimi-k2.5")).encode()
    files = {
        "hf_quant_config.json": json.dumps({"quantization": beside}).encode(),
        "model.safetensors.index.json": json.dumps({"metadata": index, "weight_map": index}).encode(),
    }
    _proposal_or_refusal(config_raw, files)
    _proposal_or_refusal(config_raw, {"model.safetensors": raw})
    _proposal_or_refusal(raw, {})


def _proposal_or_refusal(raw: bytes, files: dict[str, bytes]) -> None:
    try:
        proposal = read(raw, files)
    except InputError as error:
        refused = error
    else:
        assert bool(proposal.facts) != bool(proposal.missing)
        for message in (*proposal.notes, *proposal.left_out, *(field.why for field in proposal.missing)):
            assert format_message(message).isprintable()
        return
    assert refused.where
    assert refused.where.isprintable()
    assert format_message(refused.problem).isprintable()
