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
from tests.unit.catalog.importing.gguf_files import BF16, F16, MXFP4, Q4_K, Q6_K, Q8_0, Gguf, parameters, parts, small
from tests.unit.catalog.importing.gguf_models import MODELS, deepseek_v3

TODAY = "2026-11-25"
DEFAULT = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def proposed(made: Gguf, folder: Path, name: str = "model.gguf", *, whole: bool = True) -> ImportProposal:
    return propose_gguf(made.write(folder / name, whole=whole), today=TODAY)


def reads_or_refuses(path: Path, answers: dict[str, object]) -> None:
    """Read a file; a refusal is as good, if it has words."""
    try:
        made: object = propose_gguf(path, answers, today=TODAY)
    except InputError as error:
        made = format_input_error(error)
    assert made


def own_model(proposal: ImportProposal) -> UserModel:
    return next(fact for fact in proposal.facts if isinstance(fact, UserModel))


def model(proposal: ImportProposal) -> Model:
    return parse_model(json.loads(own_model(proposal).definition))


def claimed(proposal: ImportProposal, attribute: str) -> object:
    return next(fact.value for fact in proposal.facts if isinstance(fact, UserClaim) and fact.attribute == attribute)


def said(proposal: ImportProposal) -> str:
    return "\n".join(map(format_message, (*proposal.notes, *proposal.left_out)))


def layers(model: Model) -> list[Any]:
    """Return the groups of layers in an order that does not depend on the file's."""
    return sorted(((each.count, each.mixer, each.ffn, each.norms) for each in model.layers), key=repr)


@pytest.mark.parametrize("shipped", sorted(MODELS))
def test_published_model_is_the_shipped_one(shipped: str, catalog: Catalog, tmp_path: Path) -> None:
    made, known = MODELS[shipped], catalog.model(shipped)
    read = model(proposed(made, tmp_path))
    assert layers(read) == layers(known)
    assert (read.hidden_size, read.vocab_size) == (known.hidden_size, known.vocab_size)
    assert (read.tied_embeddings, read.final_norms) == (known.tied_embeddings, known.final_norms)
    assert read.max_context == known.max_context


@pytest.mark.parametrize("shipped", sorted(MODELS))
def test_total_is_the_sum_of_the_tensors(shipped: str, tmp_path: Path) -> None:
    made = MODELS[shipped]
    proposal = proposed(made, tmp_path)
    left = ("rope_", "blk.46.") if shipped == "glm-4.5-air" else ("rope_",)
    assert claimed(proposal, "total_parameters") == parameters(made, without=left)
    # What is described takes the same room, but for what has no place in the description.
    assert count_parameters(model(proposal)) == claimed(proposal, "total_parameters")


def test_layer_kinds_are_named_as_the_shipped_models_name_theirs(tmp_path: Path) -> None:
    names = {
        shipped: set(json.loads(own_model(proposed(MODELS[shipped], tmp_path)).definition)["mixers"])
        for shipped in ("gemma-3-27b", "qwen3-next-80b-a3b", "jamba-v0.1", "llama-3.1-8b")
    }
    assert names == {
        "gemma-3-27b": {"sliding", "global"},
        "qwen3-next-80b-a3b": {"linear", "full"},
        "jamba-v0.1": {"mamba", "attention"},
        "llama-3.1-8b": {"attention"},
    }


def test_facts_name_the_file_as_their_source(tmp_path: Path) -> None:
    made = small()
    made.keys |= {"general.name": "Tiny  Llama\u202e", "general.organization": "Example Lab"}
    proposal = proposed(made, tmp_path, "tiny-Q8_0.gguf")
    source = proposal.facts[0]
    assert isinstance(source, Source)
    assert source.id.startswith("own-tiny-q8-0.gguf-")
    assert source.title == "tiny-Q8_0.gguf"
    assert own_model(proposal).id == "tiny-llama"
    assert (own_model(proposal).name, own_model(proposal).organisation) == ("Tiny Llama", "Example Lab")
    claims = [fact for fact in proposal.facts if isinstance(fact, UserClaim)]
    assert {claim.source for claim in claims} == {source.id}
    assert proposed(made, tmp_path, "tiny-Q8_0.gguf") == proposal


def test_old_files_hold_latent_projections_whole(tmp_path: Path) -> None:
    whole, halves = proposed(deepseek_v3(halves=False), tmp_path), proposed(deepseek_v3(), tmp_path)
    assert layers(model(whole)) == layers(model(halves))
    assert claimed(whole, "total_parameters") == claimed(halves, "total_parameters")


def test_draft_layers_are_left_out_and_said(tmp_path: Path) -> None:
    proposal = proposed(MODELS["glm-4.5-air"], tmp_path)
    assert model(proposal).layer_count == 46
    assert "1 layer for multi-token prediction" in said(proposal)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", ["<", ">"])
def test_versions_and_byte_orders(version: int, order: str, tmp_path: Path) -> None:
    made = small()
    made.version, made.order = version, order
    assert model(proposed(made, tmp_path)).layer_count == 2


# Formats


@pytest.mark.parametrize(
    ("kind", "word"), [(F16, "fp16"), (BF16, "bf16"), (Q8_0, "int8"), (Q6_K, "int8"), (Q4_K, "int4"), (MXFP4, "mxfp4")]
)
def test_precision_is_the_nearest(kind: int, word: str, tmp_path: Path) -> None:
    made = Gguf("llama", dict(MODELS["llama-3.1-8b"].keys), kind=kind)
    for name, shape, _ in MODELS["llama-3.1-8b"].tensors:
        made.add(name, *shape)
    read = model(proposed(made, tmp_path))
    assert read.native_precision == word
    assert read.quantised_tensors == "linear"


def test_true_bits_are_said(tmp_path: Path) -> None:
    made = Gguf("llama", dict(MODELS["llama-3.1-8b"].keys), kind=Q4_K)
    made.keys["general.file_type"] = 15
    for name, shape, _ in MODELS["llama-3.1-8b"].tensors:
        made.add(name, *shape, kind=Q6_K if "ffn_down" in name else Q4_K)
    proposal = proposed(made, tmp_path)
    # Of 218,103,808 weights a layer 58,720,256 take 6.5625 bits, the others 4.5.
    assert "Stored as Q4_K_M: 5.06 bits per weight in the layers, including scales" in said(proposal)
    assert "the nearest format, int4 with 4.12 bits" in said(proposal)
    assert "8,030,261,248 parameters" in said(proposal)


def test_format_that_is_taken_as_it_is_needs_no_comparison(tmp_path: Path) -> None:
    text = said(proposed(MODELS["llama-3.1-8b"], tmp_path))
    assert "Stored as BF16: 16.00 bits per weight in the layers" in text
    assert "nearest" not in text


def test_narrow_experts_beside_wide_matrices(tmp_path: Path) -> None:
    read = model(proposed(MODELS["gpt-oss-20b"], tmp_path))
    assert (read.native_precision, read.quantised_tensors) == ("mxfp4", "experts")
    assert read.native_other_precision == "bf16"


# What is missing


def test_unknown_architecture_asks_what_it_is_like(tmp_path: Path) -> None:
    made = small()
    made.architecture = "brand-new"
    made.keys = {name.replace("llama", "brand-new"): value for name, value in made.keys.items()}
    path = made.write(tmp_path / "new.gguf")
    proposal = propose_gguf(path, today=TODAY)
    assert proposal.facts == ()
    (asked,) = proposal.missing
    assert asked.name == "like_architecture"
    assert "llama" in asked.choices
    assert "Unknown architecture brand-new" in format_message(asked.why)
    completed = propose_gguf(path, {asked.name: "llama"}, today=TODAY)
    assert model(completed).layer_count == 2
    assert model(completed).generic_architecture == "brand-new"
    assert "its sliding windows follow llama" in said(completed)


def test_missing_keys_are_asked_for_together(tmp_path: Path) -> None:
    made = Gguf(MODELS["qwen3-30b-a3b"].architecture, dict(MODELS["qwen3-30b-a3b"].keys))
    made.tensors = MODELS["qwen3-30b-a3b"].tensors
    del made.keys["qwen3moe.expert_used_count"], made.keys["qwen3moe.attention.head_count"]
    path = made.write(tmp_path / "cut.gguf")
    proposal = propose_gguf(path, today=TODAY)
    assert proposal.facts == ()
    assert {field.name: field.kind for field in proposal.missing} == {
        "qwen3moe.attention.head_count": "whole",
        "qwen3moe.expert_used_count": "whole",
    }
    answers = {"qwen3moe.attention.head_count": 32, "qwen3moe.expert_used_count": 8}
    completed = propose_gguf(path, answers, today=TODAY)
    assert count_parameters(model(completed)) == parameters(made)


def test_keys_that_the_user_states_have_the_user_as_their_source(tmp_path: Path) -> None:
    made = Gguf(MODELS["qwen3-30b-a3b"].architecture, dict(MODELS["qwen3-30b-a3b"].keys))
    made.tensors = MODELS["qwen3-30b-a3b"].tensors
    taken = made.keys.pop("qwen3moe.expert_used_count")
    facts = propose_gguf(made.write(tmp_path / "cut.gguf"), {"qwen3moe.expert_used_count": taken}, today=TODAY).facts
    kinds = {fact.attribute.rpartition(".")[2]: fact.kind for fact in facts if isinstance(fact, UserClaim)}
    assert (kinds["experts_per_token"], kinds["experts"]) == (SourceKind.USER, SourceKind.CONFIG_COPY)


# Parts


def test_any_part_gives_the_whole(tmp_path: Path) -> None:
    for number, part in enumerate(parts(small(), 3), start=1):
        part.write(tmp_path / f"tiny-{number:05d}-of-00003.gguf")
    whole = claimed(proposed(small(), tmp_path), "total_parameters")
    for number in (1, 2, 3):
        proposal = propose_gguf(tmp_path / f"tiny-{number:05d}-of-00003.gguf", today=TODAY)
        assert claimed(proposal, "total_parameters") == whole
        assert "all 3 shards" in said(proposal)


def test_part_alone_says_which_it_is(tmp_path: Path) -> None:
    second = list(parts(small(), 3))[1].write(tmp_path / "tiny-00002-of-00003.gguf")
    with pytest.raises(InputError) as error:
        propose_gguf(second, today=TODAY)
    assert "is shard 2 of 3" in format_input_error(error.value)
    assert "tiny-00001-of-00003.gguf" in format_input_error(error.value)


def test_part_under_another_name_is_refused(tmp_path: Path) -> None:
    renamed = next(parts(small(), 3)).write(tmp_path / "tiny.gguf")
    with pytest.raises(InputError, match=r"part_name"):
        propose_gguf(renamed, today=TODAY)


def test_copies_of_one_part_are_refused(tmp_path: Path) -> None:
    first = next(parts(small(), 2))
    for number in (1, 2):
        first.write(tmp_path / f"tiny-{number:05d}-of-00002.gguf")
    with pytest.raises(InputError, match=r"same_part"):
        propose_gguf(tmp_path / "tiny-00001-of-00002.gguf", today=TODAY)


# Bounds


def test_weights_are_not_read(tmp_path: Path) -> None:
    """Of a file of 1.3 TB by its length (a hole on the disk) only the header is looked at."""
    made = MODELS["deepseek-v3"]
    made.keys["tokenizer.ggml.tokens"] = [f"word {number}" for number in range(129280)]
    try:
        path = made.write(tmp_path / "huge.gguf")
        proposal = propose_gguf(path, today=TODAY)
    finally:
        del made.keys["tokenizer.ggml.tokens"]
    assert path.stat().st_size > 1.3e12
    assert not proposal.missing


def test_vocabulary_that_differs_is_said(tmp_path: Path) -> None:
    made = small()
    made.keys["tokenizer.ggml.tokens"] = ["a"] * 500
    assert "512 rows for 500 tokens" in said(proposed(made, tmp_path))


def test_unfinished_download_is_said(tmp_path: Path) -> None:
    path = small().write(tmp_path / "short.gguf", whole=False)
    assert "shorter than its header declares" in said(propose_gguf(path, today=TODAY))


def test_tensors_of_no_known_kind_are_said(tmp_path: Path) -> None:
    made = small()
    made.add("blk.0.laurel_l.weight", 64, 16)
    assert "1,024 parameters in unknown tensors (laurel_l.weight)" in said(proposed(made, tmp_path))


def spoil(change: Callable[[Gguf], object]) -> Gguf:
    made = small()
    change(made)
    return made


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (spoil(lambda made: made.tensors.append(made.tensors[0])), "token_embd.weight twice"),
        (spoil(lambda made: made.keys.update({"llama.attention.head_count": 5})), "attn_"),
        (
            spoil(lambda made: made.keys.update({"llama.attention.head_count": "four"})),
            "llama.attention.head_count: has no usable value",
        ),
        (spoil(lambda made: made.keys.update({"llama.block_count": 3})), "layer 2 of 3"),
        (spoil(lambda made: made.keys.update({"llama.block_count": 4_000_000_000})), "llama.block_count"),
        (spoil(lambda made: made.keys.update({"llama.block_count": 1})), "beyond"),
        (
            spoil(lambda made: made.keys.update({"general.type": "adapter"})),
            "contains adapter instead of a language model",
        ),
        (spoil(lambda made: made.keys.update({"general.alignment": 0})), "general.alignment"),
        (spoil(lambda made: made.tensors.pop(0)), "token_embd.weight"),
        (spoil(lambda made: made.tensors.append(("blk.0.x.weight", (2**24, 2**23), BF16))), "shape"),
        (spoil(lambda made: made.tensors.append(("blk.0.x.weight", (0,), BF16))), "shape"),
        (spoil(lambda made: setattr(made, "version", 1)), "version 1"),
        (spoil(lambda made: setattr(made, "version", 9)), "version 9"),
    ],
)
def test_broken_files_say_what_is_wrong(made: Gguf, wanted: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        proposed(made, tmp_path, whole=False)
    assert wanted in format_input_error(error.value)


@pytest.mark.parametrize(
    ("raw", "wanted"),
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
def test_hostile_headers_are_refused(raw: bytes, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.gguf"
    path.write_bytes(raw)
    with pytest.raises(InputError) as error:
        propose_gguf(path, today=TODAY)
    assert wanted in format_input_error(error.value)


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
    ("keys", "wanted"),
    [
        ([_key(b"words", 8, 4_000_000, bytes(8 * 4_000_000))], "architecture"),
        ([_key(b"%d" % number, 8, 400, bytes(8 * 400)) for number in range(9_999)], "architecture"),
        ([_key(b"%d" % number, 0, 4096, bytes(4096)) for number in range(9_000)], "than any model"),
    ],
    ids=["vocabulary", "many lists", "many numbers"],
)
def test_long_lists_take_no_longer_than_a_large_vocabulary(keys: list[bytes], wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "lists.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys))
    began = process_time()
    with pytest.raises(InputError) as error:
        propose_gguf(path, today=TODAY)
    assert wanted in format_input_error(error.value)
    # Before, such lists took between 9 and 42 s.
    assert process_time() - began < 4


def test_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unreadable"):
        propose_gguf(tmp_path / "gone.gguf", today=TODAY)


@settings(DEFAULT)
@given(cut=st.integers(0, 6000), changes=st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 255)), max_size=12))
def test_damaged_files_give_a_proposal_or_a_refusal(cut: int, changes: list[tuple[int, int]], tmp_path: Path) -> None:
    made = small(expert_used_count=2)
    made.keys["tokenizer.ggml.tokens"] = ["a", "b"]
    raw = bytearray(made.header())
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
    reads_or_refuses(small().write(tmp_path / "model.gguf"), answers)
