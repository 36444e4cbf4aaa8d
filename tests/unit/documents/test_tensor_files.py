"""Headers of the files of tensors next to a configuration: read within bounds, and what they count to."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.documents import offered_files
from gpudesk.documents.imports import FileImport, propose_imports
from gpudesk.documents.offered_files import read_tensor_headers
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.user_facts import UserClaim, UserPrice
from gpudesk.text.messages import InputError, format_input_error, format_message

CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
    "vocab_size": 1000,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
    "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 32},
}
#: Eight numbers of four bits lie in one of 32.
PACKED = {
    "model.layers.0.self_attn.q_proj.qweight": ("I32", [64, 8]),
    "model.layers.0.self_attn.q_proj.scales": ("F16", [2, 64]),
    "model.layers.0.self_attn.k_proj.qweight": ("I32", [64, 4]),
    "model.layers.0.self_attn.v_proj.qweight": ("I32", [64, 4]),
    "model.layers.0.self_attn.o_proj.qweight": ("I32", [64, 8]),
    "model.layers.0.mlp.gate_proj.qweight": ("I32", [64, 16]),
    "model.layers.0.mlp.up_proj.qweight": ("I32", [64, 16]),
    "model.layers.0.mlp.down_proj.qweight": ("I32", [128, 8]),
    "model.layers.0.input_layernorm.weight": ("F16", [64]),
    "model.layers.0.post_attention_layernorm.weight": ("F16", [64]),
}
OUTSIDE = {
    "model.embed_tokens.weight": ("F16", [1000, 64]),
    "model.norm.weight": ("F16", [64]),
    "lm_head.weight": ("F16", [1000, 64]),
}
COUNT = 64 * (2 * 64 + 2 * 32) + 3 * 64 * 128 + 2 * 64 + 2 * 1000 * 64 + 64


def write(path: Path, tensors: dict[str, tuple[str, list[int]]], *, weights: int = 4096) -> int:
    table = {name: {"dtype": dtype, "shape": shape} for name, (dtype, shape) in tensors.items()}
    header = json.dumps(table).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\x00" * weights)
    return 8 + len(header)


def finish(steps: ProgressSteps[dict[str, bytes]]) -> tuple[dict[str, bytes], list[JobProgress]]:
    progress = []
    while True:
        try:
            progress.append(next(steps))
        except StopIteration as end:
            result: dict[str, bytes] = end.value
            return result, progress


def import_folder(path: Path, facts: Catalog) -> FileImport:
    steps = propose_imports([path], facts, today="2026-11-21")
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: FileImport = end.value[0]
            return result


@pytest.mark.parametrize(("folder_name", "provider"), [("aws", "AWS"), ("do", "DigitalOcean"), ("downloads", None)])
def test_provider_of_a_list_comes_from_the_folder(
    tmp_path: Path, facts: Catalog, folder_name: str, provider: str | None
) -> None:
    target = tmp_path / folder_name / "vms.csv"
    target.parent.mkdir()
    target.write_text(
        "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\np5,H100-SXM,8,64,24,eu-1\n"
    )
    prices = [fact for fact in import_folder(target, facts).proposal.facts if isinstance(fact, UserPrice)]
    assert {price.provider for price in prices} == {provider}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    write(tmp_path / "model-1.safetensors", PACKED)
    write(tmp_path / "model-2.safetensors", OUTSIDE)
    return tmp_path


def test_only_headers_are_read_and_each_file_is_a_step(folder: Path) -> None:
    headers, steps = finish(read_tensor_headers(folder))
    sizes = {"model-1.safetensors": PACKED, "model-2.safetensors": OUTSIDE}
    assert list(headers) == list(sizes)
    assert {name: json.loads(raw[8:]).keys() for name, raw in headers.items()} == {
        name: tensors.keys() for name, tensors in sizes.items()
    }
    assert [(each.done, each.total) for each in steps] == [(0, 2), (1, 2)]


def test_header_beyond_the_first_read_is_complete(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = finish(read_tensor_headers(folder))
    monkeypatch.setattr(offered_files, "_FIRST", 100)
    assert finish(read_tensor_headers(folder))[0] == whole


def test_too_much_of_it_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as less:
        less.setattr(offered_files, "_MOST_FILES", 1)
        assert finish(read_tensor_headers(folder))[0] == {}
    monkeypatch.setattr(offered_files, "_MOST_BYTES", 500)
    assert finish(read_tensor_headers(folder))[0] == {}
    (folder / "model-1.safetensors").write_bytes(b"\xff" * 64)
    assert finish(read_tensor_headers(folder))[0] == {}


def test_packed_checkpoint_counts_unpacked_parameters(folder: Path, facts: Catalog) -> None:
    proposal = import_folder(folder, facts).proposal
    assert f"{COUNT:,} parameters, the same as the checkpoint" in map(format_message, proposal.notes)
    values = [fact.value for fact in proposal.facts if isinstance(fact, UserClaim)]
    assert COUNT in values


def test_the_same_tensors_in_another_file_are_not_counted_twice(folder: Path, facts: Catalog) -> None:
    write(folder / "consolidated.safetensors", PACKED | OUTSIDE)
    weights = dict.fromkeys(PACKED, "model-1.safetensors") | dict.fromkeys(OUTSIDE, "model-2.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    messages = [format_message(note) for note in import_folder(folder, facts).proposal.notes]
    assert f"{COUNT:,} parameters, the same as the checkpoint" in messages


def test_companion_files_of_other_names_are_ignored(folder: Path, facts: Catalog) -> None:
    named = folder / "another.json"
    named.write_text(json.dumps(CONFIG | {"num_hidden_layers": 2}))
    assert import_folder(named, facts).proposal.notes == ()


def test_a_broken_header_is_refused_by_the_name_of_its_file(folder: Path, facts: Catalog) -> None:
    (folder / "model-1.safetensors").write_bytes(struct.pack("<Q", 5000) + b"{")
    with pytest.raises(InputError) as refused:
        import_folder(folder, facts)
    assert "model-1.safetensors" in format_input_error(refused.value)
