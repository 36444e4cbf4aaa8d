"""Serving engines in the catalog: what the files say comes back, and rules that name nothing are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from catalog_build.files import DataError
from catalog_build.serving_engines import read_serving_engines, write_engine_json
from catalog_build.writer import read_data_tables
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.shipped import restore_dataclass
from gpudesk.domain.claim import CatalogEntryKind
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.text.messages import InputError

Edit = Callable[[str, str, str], None]


def test_engines_are_those_of_the_files(catalog: Catalog, data_dir: Path) -> None:
    assert catalog.serving_engines() == read_serving_engines(data_dir)
    assert [engine.id for engine in catalog.serving_engines()] == ["llama.cpp", "sglang", "tensorrt-llm", "tgi", "vllm"]


def test_engines_are_read_back_without_the_validator(catalog: Catalog) -> None:
    for engine in catalog.serving_engines():
        assert (
            restore_dataclass(ServingEngine, json.loads(write_engine_json(engine)))
            == TypeAdapter(ServingEngine).validate_json(write_engine_json(engine))
            == engine
        )


def test_engine_by_id(catalog: Catalog) -> None:
    assert catalog.serving_engine("vllm").supports_pp
    assert catalog.get_entry_kind("vllm") is CatalogEntryKind.SERVING_ENGINE
    with pytest.raises(InputError) as caught:
        catalog.serving_engine("vLLM 1")
    assert caught.value.problem.parameters["near"] == ("vllm",)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'source = "llama-cpp-backends"',
            'source = "nowhere"',
            "platforms.1.source: there is no source 'nowhere' in sources/",
        ),
        ('platforms = ["CUDA", "ROCm"]', 'platforms = ["CUDO"]', "platforms.1.when.platforms: there is no 'CUDO'"),
        ("pp = true", 'pp = "yes"', "parallel.pp: should be a valid boolean"),
        ("[parallel]", "[[parallels]]", "parallels: "),
        (
            'setting = "state_share"\nvalue = 0',
            'setting = "state_share"\nvalue = 1.5',
            "settings.15.value: 1.5 is no share from 0 to 1",
        ),
        (
            'setting = "attention_rank_bytes"\nvalue = 0',
            'setting = "attention_rank_bytes"\nvalue = -1',
            "settings.11.value: -1.0 is no whole number above 0",
        ),
        (
            'path = "native"\nsource = "llama-cpp-quantize"',
            'path = "native"\nhidden_multiple = 0\nsource = "llama-cpp-quantize"',
            "kernels.1.hidden_multiple: 0 is no whole number above 0",
        ),
    ],
)
def test_broken_rule_is_reported(data_dir: Path, edit: Edit, old: str, new: str, expected: str) -> None:
    edit("serving_engines/llama.cpp.toml", old, new)
    with pytest.raises(DataError) as caught:
        read_data_tables(data_dir)
    lines = [str(problem) for problem in caught.value.problems]
    assert any(line.startswith(f"serving_engines/llama.cpp.toml: {expected}") for line in lines), lines
