"""GGUF files: real shapes of published models, held against the shipped definitions; and hostile files."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudesk.catalog.importing.gguf_model import propose_gguf
from gpudesk.catalog.model_definition import parse_model
from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.model import Model
from gpudesk.domain.user_facts import ImportProposal, UserClaim, UserModel
from gpudesk.engine.tensors import count_parameters
from gpudesk.text.messages import InputError, format_input_error, format_message
from tests.unit.catalog.importing.gguf_files import (
    BF16,
    F16,
    MXFP4,
    Q4_K,
    Q6_K,
    Q8_0,
    Gguf,
    make_small_gguf,
    parameters,
    split_gguf,
)
from tests.unit.catalog.importing.gguf_models import MODELS, deepseek_v3

TODAY = "2026-11-25"
DEFAULT = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def propose(gguf: Gguf, folder: Path, name: str = "model.gguf", *, whole: bool = True) -> ImportProposal:
    return propose_gguf(gguf.write(folder / name, whole=whole), today=TODAY)


def reads_or_refuses(path: Path, answers: dict[str, object]) -> None:
    """Read a file; a refusal is as good, if it has words."""
    try:
        outcome: object = propose_gguf(path, answers, today=TODAY)
    except InputError as error:
        outcome = format_input_error(error)
    assert outcome


def find_user_model(proposal: ImportProposal) -> UserModel:
    return next(fact for fact in proposal.facts if isinstance(fact, UserModel))


def parse_proposed_model(proposal: ImportProposal) -> Model:
    return parse_model(json.loads(find_user_model(proposal).definition))


def find_claimed_value(proposal: ImportProposal, attribute: str) -> object:
    return next(fact.value for fact in proposal.facts if isinstance(fact, UserClaim) and fact.attribute == attribute)


def list_messages(proposal: ImportProposal) -> str:
    return "\n".join(map(format_message, (*proposal.notes, *proposal.left_out)))


def sort_layers(model: Model) -> list[Any]:
    """Return the groups of layers in an order that does not depend on the file's."""
    return sorted(((each.count, each.mixer, each.ffn, each.norms) for each in model.layers), key=repr)


@pytest.mark.parametrize("model_id", sorted(MODELS))
def test_published_model_is_the_shipped_one(model_id: str, catalog: Catalog, tmp_path: Path) -> None:
    gguf, shipped_model = MODELS[model_id], catalog.model(model_id)
    read = parse_proposed_model(propose(gguf, tmp_path))
    assert sort_layers(read) == sort_layers(shipped_model)
    assert (read.hidden_size, read.vocab_size) == (shipped_model.hidden_size, shipped_model.vocab_size)
    assert (read.tied_embeddings, read.final_norms) == (shipped_model.tied_embeddings, shipped_model.final_norms)
    assert read.max_context == shipped_model.max_context


@pytest.mark.parametrize("model_id", sorted(MODELS))
def test_total_is_the_sum_of_the_tensors(model_id: str, tmp_path: Path) -> None:
    gguf = MODELS[model_id]
    proposal = propose(gguf, tmp_path)
    left = ("rope_", "blk.46.") if model_id == "glm-4.5-air" else ("rope_",)
    assert find_claimed_value(proposal, "total_parameters") == parameters(gguf, without=left)
    # What is described takes the same room, but for what has no place in the description.
    assert count_parameters(parse_proposed_model(proposal)) == find_claimed_value(proposal, "total_parameters")


def test_layer_kinds_are_named_as_the_shipped_models_name_theirs(tmp_path: Path) -> None:
    names = {
        model_id: set(json.loads(find_user_model(propose(MODELS[model_id], tmp_path)).definition)["mixers"])
        for model_id in ("gemma-3-27b", "qwen3-next-80b-a3b", "jamba-v0.1", "llama-3.1-8b")
    }
    assert names == {
        "gemma-3-27b": {"sliding", "global"},
        "qwen3-next-80b-a3b": {"linear", "full"},
        "jamba-v0.1": {"mamba", "attention"},
        "llama-3.1-8b": {"attention"},
    }


def test_facts_name_the_file_as_their_source(tmp_path: Path) -> None:
    gguf = make_small_gguf()
    gguf.keys |= {"general.name": "Tiny  Llama\u202e", "general.organization": "Example Lab"}
    proposal = propose(gguf, tmp_path, "tiny-Q8_0.gguf")
    source = proposal.facts[0]
    assert isinstance(source, Source)
    assert source.id.startswith("own-tiny-q8-0.gguf-")
    assert source.title == "tiny-Q8_0.gguf"
    assert find_user_model(proposal).id == "tiny-llama"
    assert (find_user_model(proposal).name, find_user_model(proposal).organisation) == ("Tiny Llama", "Example Lab")
    claims = [fact for fact in proposal.facts if isinstance(fact, UserClaim)]
    assert {claim.source for claim in claims} == {source.id}
    assert propose(gguf, tmp_path, "tiny-Q8_0.gguf") == proposal


def test_old_files_hold_latent_projections_whole(tmp_path: Path) -> None:
    whole, halves = propose(deepseek_v3(halves=False), tmp_path), propose(deepseek_v3(), tmp_path)
    assert sort_layers(parse_proposed_model(whole)) == sort_layers(parse_proposed_model(halves))
    assert find_claimed_value(whole, "total_parameters") == find_claimed_value(halves, "total_parameters")


def test_draft_layers_are_skipped_and_reported(tmp_path: Path) -> None:
    proposal = propose(MODELS["glm-4.5-air"], tmp_path)
    assert parse_proposed_model(proposal).layer_count == 46
    assert "1 layer for multi-token prediction" in list_messages(proposal)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", ["<", ">"])
def test_versions_and_byte_orders(version: int, order: str, tmp_path: Path) -> None:
    gguf = make_small_gguf()
    gguf.version, gguf.order = version, order
    assert parse_proposed_model(propose(gguf, tmp_path)).layer_count == 2


# Formats


@pytest.mark.parametrize(
    ("kind", "word"), [(F16, "fp16"), (BF16, "bf16"), (Q8_0, "int8"), (Q6_K, "int8"), (Q4_K, "int4"), (MXFP4, "mxfp4")]
)
def test_precision_is_the_nearest(kind: int, word: str, tmp_path: Path) -> None:
    gguf = Gguf("llama", dict(MODELS["llama-3.1-8b"].keys), kind=kind)
    for name, shape, _ in MODELS["llama-3.1-8b"].tensors:
        gguf.add(name, *shape)
    read = parse_proposed_model(propose(gguf, tmp_path))
    assert read.native_precision == word
    assert read.quantised_tensors == "linear"


def test_true_bits_are_reported(tmp_path: Path) -> None:
    gguf = Gguf("llama", dict(MODELS["llama-3.1-8b"].keys), kind=Q4_K)
    gguf.keys["general.file_type"] = 15
    for name, shape, _ in MODELS["llama-3.1-8b"].tensors:
        gguf.add(name, *shape, kind=Q6_K if "ffn_down" in name else Q4_K)
    proposal = propose(gguf, tmp_path)
    # Of 218,103,808 weights a layer 58,720,256 take 6.5625 bits, the others 4.5.
    assert "Stored as Q4_K_M: 5.06 bits per weight in the layers, including scales" in list_messages(proposal)
    assert "the nearest format, int4 with 4.12 bits" in list_messages(proposal)
    assert "8,030,261,248 parameters" in list_messages(proposal)


def test_format_that_is_taken_as_it_is_needs_no_comparison(tmp_path: Path) -> None:
    text = list_messages(propose(MODELS["llama-3.1-8b"], tmp_path))
    assert "Stored as BF16: 16.00 bits per weight in the layers" in text
    assert "nearest" not in text


def test_narrow_experts_with_wide_matrices(tmp_path: Path) -> None:
    read = parse_proposed_model(propose(MODELS["gpt-oss-20b"], tmp_path))
    assert (read.native_precision, read.quantised_tensors) == ("mxfp4", "experts")
    assert read.native_other_precision == "bf16"


# What is missing


def test_unknown_architecture_requests_its_family(tmp_path: Path) -> None:
    gguf = make_small_gguf()
    gguf.architecture = "brand-new"
    gguf.keys = {name.replace("llama", "brand-new"): value for name, value in gguf.keys.items()}
    path = gguf.write(tmp_path / "new.gguf")
    proposal = propose_gguf(path, today=TODAY)
    assert proposal.facts == ()
    (field,) = proposal.missing
    assert field.name == "like_architecture"
    assert "llama" in field.choices
    assert "Unknown architecture brand-new" in format_message(field.why)
    completed = propose_gguf(path, {field.name: "llama"}, today=TODAY)
    assert parse_proposed_model(completed).layer_count == 2
    assert parse_proposed_model(completed).generic_architecture == "brand-new"
    assert "its sliding windows follow llama" in list_messages(completed)


def test_missing_keys_are_asked_for_together(tmp_path: Path) -> None:
    gguf = Gguf(MODELS["qwen3-30b-a3b"].architecture, dict(MODELS["qwen3-30b-a3b"].keys))
    gguf.tensors = MODELS["qwen3-30b-a3b"].tensors
    del gguf.keys["qwen3moe.expert_used_count"], gguf.keys["qwen3moe.attention.head_count"]
    path = gguf.write(tmp_path / "cut.gguf")
    proposal = propose_gguf(path, today=TODAY)
    assert proposal.facts == ()
    assert {field.name: field.kind for field in proposal.missing} == {
        "qwen3moe.attention.head_count": "whole",
        "qwen3moe.expert_used_count": "whole",
    }
    answers = {"qwen3moe.attention.head_count": 32, "qwen3moe.expert_used_count": 8}
    completed = propose_gguf(path, answers, today=TODAY)
    assert count_parameters(parse_proposed_model(completed)) == parameters(gguf)


def test_keys_that_the_user_states_have_the_user_as_their_source(tmp_path: Path) -> None:
    gguf = Gguf(MODELS["qwen3-30b-a3b"].architecture, dict(MODELS["qwen3-30b-a3b"].keys))
    gguf.tensors = MODELS["qwen3-30b-a3b"].tensors
    used_experts = gguf.keys.pop("qwen3moe.expert_used_count")
    facts = propose_gguf(
        gguf.write(tmp_path / "cut.gguf"), {"qwen3moe.expert_used_count": used_experts}, today=TODAY
    ).facts
    kinds = {fact.attribute.rpartition(".")[2]: fact.kind for fact in facts if isinstance(fact, UserClaim)}
    assert (kinds["experts_per_token"], kinds["experts"]) == (SourceKind.USER, SourceKind.CONFIG_COPY)


# Parts


def test_any_part_gives_the_whole(tmp_path: Path) -> None:
    for number, part in enumerate(split_gguf(make_small_gguf(), 3), start=1):
        part.write(tmp_path / f"tiny-{number:05d}-of-00003.gguf")
    whole = find_claimed_value(propose(make_small_gguf(), tmp_path), "total_parameters")
    for number in (1, 2, 3):
        proposal = propose_gguf(tmp_path / f"tiny-{number:05d}-of-00003.gguf", today=TODAY)
        assert find_claimed_value(proposal, "total_parameters") == whole
        assert "all 3 shards" in list_messages(proposal)


def test_single_gguf_shard_names_its_number_and_the_first_file(tmp_path: Path) -> None:
    second = list(split_gguf(make_small_gguf(), 3))[1].write(tmp_path / "tiny-00002-of-00003.gguf")
    with pytest.raises(InputError) as error:
        propose_gguf(second, today=TODAY)
    assert "is shard 2 of 3" in format_input_error(error.value)
    assert "tiny-00001-of-00003.gguf" in format_input_error(error.value)


def test_part_under_another_name_is_refused(tmp_path: Path) -> None:
    renamed = next(split_gguf(make_small_gguf(), 3)).write(tmp_path / "tiny.gguf")
    with pytest.raises(InputError, match=r"part_name"):
        propose_gguf(renamed, today=TODAY)


def test_copies_of_one_part_are_refused(tmp_path: Path) -> None:
    first = next(split_gguf(make_small_gguf(), 2))
    for number in (1, 2):
        first.write(tmp_path / f"tiny-{number:05d}-of-00002.gguf")
    with pytest.raises(InputError, match=r"same_part"):
        propose_gguf(tmp_path / "tiny-00001-of-00002.gguf", today=TODAY)


# Bounds


def test_weights_are_not_read(tmp_path: Path) -> None:
    """Of a file of 1.3 TB by its length (a hole on the disk) only the header is looked at."""
    gguf = MODELS["deepseek-v3"]
    gguf.keys["tokenizer.ggml.tokens"] = [f"word {number}" for number in range(129280)]
    try:
        path = gguf.write(tmp_path / "huge.gguf")
        proposal = propose_gguf(path, today=TODAY)
    finally:
        del gguf.keys["tokenizer.ggml.tokens"]
    assert path.stat().st_size > 1.3e12
    assert not proposal.missing


def test_different_vocabulary_is_reported(tmp_path: Path) -> None:
    gguf = make_small_gguf()
    gguf.keys["tokenizer.ggml.tokens"] = ["a"] * 500
    assert "512 rows for 500 tokens" in list_messages(propose(gguf, tmp_path))


def test_unfinished_download_is_reported(tmp_path: Path) -> None:
    path = make_small_gguf().write(tmp_path / "short.gguf", whole=False)
    assert "shorter than its header declares" in list_messages(propose_gguf(path, today=TODAY))


def test_unknown_tensors_are_reported(tmp_path: Path) -> None:
    gguf = make_small_gguf()
    gguf.add("blk.0.laurel_l.weight", 64, 16)
    assert "1,024 parameters in unknown tensors (laurel_l.weight)" in list_messages(propose(gguf, tmp_path))


def spoil(change: Callable[[Gguf], object]) -> Gguf:
    gguf = make_small_gguf()
    change(gguf)
    return gguf


@pytest.mark.parametrize(
    ("gguf", "message"),
    [
        (spoil(lambda gguf: gguf.tensors.append(gguf.tensors[0])), "token_embd.weight twice"),
        (spoil(lambda gguf: gguf.keys.update({"llama.attention.head_count": 5})), "attn_"),
        (
            spoil(lambda gguf: gguf.keys.update({"llama.attention.head_count": "four"})),
            "llama.attention.head_count: has no usable value",
        ),
        (spoil(lambda gguf: gguf.keys.update({"llama.block_count": 3})), "layer 2 of 3"),
        (spoil(lambda gguf: gguf.keys.update({"llama.block_count": 4_000_000_000})), "llama.block_count"),
        (spoil(lambda gguf: gguf.keys.update({"llama.block_count": 1})), "beyond"),
        (
            spoil(lambda gguf: gguf.keys.update({"general.type": "adapter"})),
            "contains adapter instead of a language model",
        ),
        (spoil(lambda gguf: gguf.keys.update({"general.alignment": 0})), "general.alignment"),
        (spoil(lambda gguf: gguf.tensors.pop(0)), "token_embd.weight"),
        (spoil(lambda gguf: gguf.tensors.append(("blk.0.x.weight", (2**24, 2**23), BF16))), "shape"),
        (spoil(lambda gguf: gguf.tensors.append(("blk.0.x.weight", (0,), BF16))), "shape"),
        (spoil(lambda gguf: setattr(gguf, "version", 1)), "version 1"),
        (spoil(lambda gguf: setattr(gguf, "version", 9)), "version 9"),
    ],
)
def test_broken_files_are_reported_with_the_reason(gguf: Gguf, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        propose(gguf, tmp_path, whole=False)
    assert message in format_input_error(error.value)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not a GGUF file"),
        (b"PK\x03\x04 something else", "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**63, 2**63), "than any model"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62), "bytes"),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 4, 2**60),
            "longer",
        ),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 9, 1), "form 9"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k" + struct.pack("<I", 77), "form 77"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "architecture"),
    ],
)
def test_hostile_headers_are_refused(raw: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.gguf"
    path.write_bytes(raw)
    with pytest.raises(InputError) as error:
        propose_gguf(path, today=TODAY)
    assert message in format_input_error(error.value)


def test_header_that_never_ends_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.gguf"
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k")
        file.write(struct.pack("<IQ", 8, 2**26))
        file.truncate(2**30)
    with pytest.raises(InputError) as error:
        propose_gguf(path, today=TODAY)
    assert "64.0 MiB" in format_input_error(error.value)


def _key(name: bytes, kind: int, count: int, entries: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<IIQ", 9, kind, count) + entries


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([_key(b"words", 8, 4_000_000, bytes(8 * 4_000_000))], "architecture"),
        ([_key(b"%d" % number, 8, 400, bytes(8 * 400)) for number in range(9_999)], "architecture"),
        ([_key(b"%d" % number, 0, 4096, bytes(4096)) for number in range(9_000)], "than any model"),
    ],
    ids=["vocabulary", "many lists", "many numbers"],
)
def test_long_lists_take_no_longer_than_a_large_vocabulary(keys: list[bytes], message: str, tmp_path: Path) -> None:
    path = tmp_path / "lists.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys))
    began = process_time()
    with pytest.raises(InputError) as error:
        propose_gguf(path, today=TODAY)
    assert message in format_input_error(error.value)
    # Before, such lists took between 9 and 42 s.
    assert process_time() - began < 4


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unreadable"):
        propose_gguf(tmp_path / "gone.gguf", today=TODAY)


@settings(DEFAULT)
@given(cut=st.integers(0, 6000), changes=st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 255)), max_size=12))
def test_damaged_files_give_a_proposal_or_a_refusal(cut: int, changes: list[tuple[int, int]], tmp_path: Path) -> None:
    gguf = make_small_gguf(expert_used_count=2)
    gguf.keys["tokenizer.ggml.tokens"] = ["a", "b"]
    raw = bytearray(gguf.header())
    for place, value in changes:
        raw[place % len(raw)] = value
    path = tmp_path / "damaged.gguf"
    path.write_bytes(bytes(raw[: len(raw) - cut % len(raw)] if changes else raw[:cut]))
    reads_or_refuses(path, {})


@settings(DEFAULT)
@given(
    answers=st.dictionaries(
        st.sampled_from(
            ["like_architecture", "llama.attention.head_count", "llama.block_count", "llama.attention.head_count_kv"]
        ),
        st.one_of(st.integers(-(2**70), 2**70), st.text(max_size=5), st.none(), st.floats(), st.booleans()),
    )
)
def test_any_answers_give_a_proposal_or_a_refusal(answers: dict[str, object], tmp_path: Path) -> None:
    reads_or_refuses(make_small_gguf().write(tmp_path / "model.gguf"), answers)
