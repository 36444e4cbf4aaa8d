"""A model's definition becomes facts whose every dimension has the source; what cannot be is refused."""

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gpudesk.catalog.importing.model_facts import make_model_facts
from gpudesk.catalog.model_definition import parse_model
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.user_facts import UserClaim, UserFacts, UserModel
from gpudesk.text.messages import InputError, format_message

MODELS = Path(__file__).parents[4] / "data" / "models"
SOURCE = Source("own-config-1", "config.json", "me", SourceKind.CONFIG_COPY)
TINY: dict[str, Any] = {
    "id": "tiny",
    "name": "Tiny",
    "organisation": "me",
    "hidden_size": 64,
    "vocab_size": 1000,
    "tied_embeddings": False,
    "mixers": {"attention": {"kind": "attention", "heads": 4, "kv_heads": 2, "head_dim": 16}},
    "ffns": {"mlp": {"kind": "dense", "intermediate_size": 128}},
    "layers": [{"count": 2, "mixer": "attention", "ffn": "mlp"}],
}


def read_definition(name: str) -> dict[str, Any]:
    definition = tomllib.loads((MODELS / f"{name}.toml").read_text(encoding="utf-8"))
    return {key: value for key, value in definition.items() if key not in {"dimensions_source", "claims"}}


@pytest.mark.parametrize("name", ["llama-3.1-70b", "deepseek-v3.2", "qwen3-next-80b-a3b", "kimi-k3"])
def test_every_dimension_is_a_claim_of_the_source(name: str) -> None:
    facts = make_model_facts(
        read_definition(name), SOURCE, today="2026-12-01", claim_values={"total_parameters": 7, "licence": "MIT"}
    )
    assert facts[0] is SOURCE
    model = facts[1]
    assert isinstance(model, UserModel)
    assert model.id == name
    claims = [fact for fact in facts if isinstance(fact, UserClaim)]
    assert len(claims) == len(facts) - 2 == len(UserFacts.of(facts)) - 2
    assert {(claim.thing, claim.source, claim.kind) for claim in claims} == {(name, SOURCE.id, SourceKind.CONFIG_COPY)}
    values = {claim.attribute: claim.value for claim in claims}
    restored = parse_model(json.loads(model.definition))
    assert values["layer_count"] == restored.layer_count
    assert values["hidden_size"] == restored.hidden_size
    assert values["total_parameters"] == 7


@pytest.mark.parametrize(
    ("path", "value", "where", "message"),
    [
        (("hidden_size",), 10**12, "hidden_size", "is larger than the limit of 262,144"),
        (("hidden_size",), "64", "hidden_size", "should be a valid integer"),
        (("hidden_size",), None, "hidden_size", "is missing"),
        (("layers",), [], "layers", "is missing"),
        (("layers", 0, "count"), 10**9, "layers.1.count", "is larger than the limit of 4,096"),
        (("layers", 0, "mixer"), "other", "layers.1.mixer", "uses other, which is not described"),
        (("mixers", "attention", "kv_heads"), 3, "layers.1.heads", "4 is not a multiple of kv_heads 3"),
        (("mixers", "attention", "kv_heads"), 0, "mixers.attention.kv_heads", "greater than or equal to 1"),
        (("mixers", "attention", "window_kind"), "round", "mixers.attention.window_kind", "should be"),
        (("color",), "red", "color", "is no key of this file"),
        (("id",), "a b", "id", "should match pattern"),
    ],
)
def test_impossible_dimension_is_refused_at_its_field(
    path: tuple[str | int, ...], value: object, where: str, message: str
) -> None:
    definition: Any = copy.deepcopy(TINY)
    table = definition
    for step in path[:-1]:
        table = table[step]
    table[path[-1]] = value
    with pytest.raises(InputError) as refused:
        make_model_facts(definition, SOURCE, today="2026-12-01")
    assert refused.value.where == where
    assert message in format_message(refused.value.problem)


def test_excessive_parameters_are_refused() -> None:
    definition = copy.deepcopy(TINY)
    definition["hidden_size"] = 2**18
    definition["ffns"]["mlp"] = {"kind": "moe", "experts": 2**14, "experts_per_token": 2, "intermediate_size": 2**20}
    with pytest.raises(InputError) as refused:
        make_model_facts(definition, SOURCE, today="2026-12-01")
    assert "10^15" in format_message(refused.value.problem)


def test_attributes_that_models_do_not_have_are_refused() -> None:
    with pytest.raises(InputError) as refused:
        make_model_facts(TINY, SOURCE, today="2026-12-01", claim_values={"color": "red"})
    assert refused.value.where == "color"
