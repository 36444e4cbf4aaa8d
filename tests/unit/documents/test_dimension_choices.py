"""Dimensions of models that the user prefers: from packs, from forms, and under another shipped catalog."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store import edits
from gpudesk.documents.packs import make_pack_edit, preview_pack
from gpudesk.documents.user_fact_json import read_user_facts, write_record
from gpudesk.domain.claim import ClaimPreference
from gpudesk.domain.user_facts import FactPack, PackRowStatus, UserClaim, UserFact, UserFacts, UserModel
from gpudesk.engine.tensors import count_parameters
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError
from tests.unit.domain.user_samples import LAB, TODAY
from tests.unit.domain.user_samples import MODEL as MODELS

MODEL = "llama-3.1-8b"
NAMES = (
    "hidden_size",
    "vocab_size",
    "tied_embeddings",
    "native_precision",
    "mixers.attention.kind",
    "mixers.attention.kv_heads",
    "mixers.attention.head_dim",
    "layers.norms",
    "layers.1.count",
    "layers.1.mixer",
    "layer_count",
)
VALUES: st.SearchStrategy[Any] = (
    st.sampled_from([0, 1, -1, 3, True, False, "abc", "", "attention", ("a", "b"), 0.5, 2**63 - 1, 1e29])
    | st.integers()
    | st.floats()
)


def choose(attribute: str, value: ClaimValue, model: str = MODEL) -> tuple[UserFact, UserFact, UserFact]:
    return (
        LAB,
        UserClaim(model, attribute, value, LAB.id, LAB.kind, TODAY),
        ClaimPreference(model, attribute, LAB.id, value, "measured", TODAY),
    )


def pack_of(*facts: UserFact) -> FactPack:
    return FactPack("Theirs", TODAY, "x", UserFacts.of(facts), "d")


def standings(pack: FactPack, facts: Catalog) -> list[PackRowStatus]:
    return [row.standing for row in preview_pack(pack, facts) if row.key[0] == "preference"]


@given(name=st.sampled_from(NAMES), value=VALUES)
def test_no_choice_in_the_users_file_makes_a_model_that_cannot_be(facts: Catalog, name: str, value: ClaimValue) -> None:
    """With any writer of the file: what is computed with is a model, and it is the one that is shown."""
    merged = facts.with_user_facts(UserFacts.of(choose(name, value)))
    model = merged.model(MODEL)
    assert 0 < count_parameters(model) < 1e15
    claims = merged.attribute(MODEL, name)
    if name == "hidden_size":
        assert claims.value == model.hidden_size
    if name == "layers.1.count":
        assert claims.value == model.layers[0].count


@given(name=st.sampled_from(NAMES), value=VALUES)
def test_pack_with_invalid_dimensions_is_refused(facts: Catalog, name: str, value: ClaimValue) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        return
    pack = pack_of(*choose(name, value))
    rows = preview_pack(pack, facts)
    open_rows = {row.key for row in rows if row.can_be_chosen}
    if ("preference", MODEL, name) not in open_rows:
        return
    after = facts.user_facts.after(make_pack_edit(pack, rows, open_rows, facts))
    claims = facts.with_user_facts(after).attribute(MODEL, name)
    assert claims.value == value
    assert claims.overridden


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mixers.attention.kv_heads", 0),
        ("mixers.attention.kv_heads", 5),
        ("hidden_size", "abc"),
        ("hidden_size", 10**18),
        ("layers.1.count", 0.5),
        ("tied_embeddings", 1),
        ("layer_count", 3),
    ],
)
def test_invalid_dimension_is_marked_inapplicable(facts: Catalog, name: str, value: ClaimValue) -> None:
    assert standings(pack_of(*choose(name, value)), facts) == [PackRowStatus.UNFIT]


def test_dimensions_that_go_together_come_together_and_not_alone(facts: Catalog) -> None:
    both = (*choose("mixers.attention.heads", 40), *choose("mixers.attention.kv_heads", 5))
    pack = pack_of(*both)
    assert standings(pack, facts) == [PackRowStatus.OVERRIDES, PackRowStatus.OVERRIDES]
    rows = preview_pack(pack, facts)
    edit = make_pack_edit(pack, rows, {row.key for row in rows}, facts)
    mixer = facts.with_user_facts(facts.user_facts.after(edit)).model(MODEL).layers[0].mixer
    assert (mixer.heads, mixer.kv_heads) == (40, 5)  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"import\.model\.multiple") as caught:
        make_pack_edit(pack, rows, {("preference", MODEL, "mixers.attention.kv_heads")}, facts)
    assert caught.value.where == facts.thing(MODEL).name


def test_choices_that_no_longer_go_with_an_upgraded_model_wait(facts: Catalog) -> None:
    model = facts.model(MODEL)
    user_facts = UserFacts.of([*choose("mixers.attention.kv_heads", 5), *choose("max_context", 4096)])
    merged = facts.with_user_facts(user_facts)
    assert merged.model(MODEL) == model
    # What is shown is what is computed with; the user's claim stands next to it.
    claims = merged.attribute(MODEL, "mixers.attention.kv_heads")
    assert (claims.value, claims.overridden) == (8, False)
    assert [claim.value for claim in claims.claims if claim.own] == [5]
    assert merged.user_facts.get("preference", MODEL, "mixers.attention.kv_heads") is not None


@pytest.mark.parametrize("value", [7, 10**9, 0.5])
def test_form_and_file_refuse_the_same_values(facts: Catalog, value: ClaimValue) -> None:
    with pytest.raises(InputError) as caught:
        edits.state_value(facts, MODEL, "mixers.attention.kv_heads", value, None, LAB, today=TODAY)
    assert caught.value.where == "value"


def test_figures_beyond_64_bits_are_no_facts(facts: Catalog) -> None:
    records = [write_record(fact) for fact in choose("max_context", 2**63)]
    with pytest.raises(InputError, match=r"field\.range"):
        read_user_facts(records)


def test_a_model_of_thousands_of_groups_is_no_fact() -> None:
    model = next(write_record(fact) for fact in MODELS if isinstance(fact, UserModel))
    model["definition"]["layers"] = [{"count": 1, "mixer": "attention", "ffn": "mlp"}] * 600
    with pytest.raises(InputError, match=r"import\.model\.many_groups"):
        read_user_facts([model])
