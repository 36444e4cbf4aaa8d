"""What the catalog answers: golden figures, every claim with its source, and near misses for wrong ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import CatalogEntryKind, SourceKind
from gpudesk.domain.model import MLA, Attention, AttentionIndexer, DenseFfn, GatedDeltaNet, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.tensors import count_parameters
from gpudesk.text.messages import InputError

MIB = 2**20


def test_everything_is_there(catalog: Catalog) -> None:
    assert len(catalog.accelerators()) == 52
    assert len(catalog.models()) == 83
    assert len(catalog.diffusion_models()) == 20
    prices = catalog.prices()
    assert len(prices) >= 300
    assert sum(price.date is not None for price in prices) >= 0.95 * len(prices)
    assert len(catalog.seed_claims()) == 373
    assert len(catalog.disputes()) == 125 + 6
    assert len(catalog.revision) == 16
    assert catalog.data_date.startswith("2026-12-")


def test_equal_entries_of_two_catalogs_are_the_same(catalog: Catalog, catalog_path: Path) -> None:
    with Catalog.open(catalog_path) as other:
        assert other.accelerator("mi325x") is catalog.accelerator("mi325x")
        assert other.model("llama-3.1-8b") is catalog.model("llama-3.1-8b")
        assert other.serving_engines()[0] is catalog.serving_engines()[0]


def test_bandwidth_of_mi325x_with_the_rival_figure(catalog: Catalog) -> None:
    attribute = catalog.attribute("mi325x", "memory_bandwidth")
    preferred = attribute.preferred
    assert preferred is not None
    assert (attribute.value, attribute.unit, preferred.published) == (6_000_000_000_000, "B/s", "6000 GB/s")
    assert preferred.source.id == "amd-geak-sku"
    assert attribute.disputed
    assert attribute.reason
    rival = next(claim for claim in attribute.rivals if claim.source.id == "seed-000")
    assert (rival.value, rival.published) == (5_300_000_000_000, "5300 GB/s")
    assert rival.kind is SourceKind.PRESS
    assert rival.verdict


@pytest.mark.parametrize(
    ("accelerator", "cards", "bandwidth"), [("h100-nvl-94gb", 2, 600e9), ("h200-nvl", 4, 900e9), ("mi210", 4, 300e9)]
)
def test_bridges_join_cards(catalog: Catalog, accelerator: str, cards: int, bandwidth: float) -> None:
    card = catalog.accelerator(accelerator)
    assert (card.scale_up_domain, card.scale_up_bandwidth) == (cards, bandwidth)


@pytest.mark.parametrize(
    ("accelerator", "memory"),
    [
        ("b200-hgx", 184_320 * MIB),
        ("b300-hgx", 275_040 * MIB),
        ("gb200-nvl72", 189_471 * MIB),
        ("gb300-nvl72", 284_208 * MIB),
        ("h200-sxm", 141 * 2**30),
        ("mi325x", 256 * 2**30),
    ],
)
def test_memory_is_what_the_device_exposes(catalog: Catalog, accelerator: str, memory: int) -> None:
    assert catalog.accelerator(accelerator).memory_bytes == memory


def test_accelerator_is_made_of_the_preferred_values(catalog: Catalog) -> None:
    h100 = catalog.accelerator("h100-sxm")
    assert (h100.vendor, h100.generation, h100.platform, h100.announced) == ("NVIDIA", "hopper", "CUDA", False)
    assert h100.peak_dense["fp8"] == 1.9789e15
    assert h100.tdp_w == 700
    assert "fp4" not in h100.peak_dense
    # FP8 rates are claimed for A100, and none is preferred.
    a100 = catalog.accelerator("a100-80gb-sxm")
    assert "fp8" not in a100.peak_dense
    assert catalog.attribute("a100-80gb-sxm", "peak_dense_fp8").value is None
    assert catalog.attribute("a100-80gb-sxm", "peak_dense_fp8").rivals


def test_vendors_are_grouped_in_order_of_release(catalog: Catalog) -> None:
    vendors = [accelerator.vendor for accelerator in catalog.accelerators()]
    assert vendors == sorted(vendors)
    order = [accelerator.id for accelerator in catalog.accelerators()]
    assert order.index("a100-80gb-sxm") < order.index("h100-sxm") < order.index("b200-hgx")
    models = [model.id for model in catalog.models()]
    assert models.index("llama-3.1-8b") < models.index("llama-3.1-70b") < models.index("llama-3.1-405b")


def test_quarters_are_sorted_among_months(catalog: Catalog) -> None:
    parts = [part.id for part in catalog.accelerators()]
    assert parts.index("h200-sxm") < parts.index("h200-nvl")


def test_dense_model_has_its_dimensions(catalog: Catalog) -> None:
    model = catalog.model("llama-3.1-70b")
    (group,) = model.layers
    assert (model.hidden_size, model.vocab_size, model.layer_count) == (8192, 128256, 80)
    assert group.mixer == Attention(heads=64, kv_heads=8, head_dim=128)
    assert group.ffn == DenseFfn(intermediate_size=28672)
    assert count_parameters(model) == 70_553_706_496


def test_latent_attention_keeps_its_indexer(catalog: Catalog) -> None:
    model = catalog.model("deepseek-v3.2")
    dense, sparse = model.layers
    assert (dense.count, sparse.count) == (3, 58)
    assert isinstance(dense.mixer, MLA)
    assert dense.mixer.indexer == AttentionIndexer(heads=64, head_dim=128, top_k=2048)
    assert dense.mixer is sparse.mixer
    assert isinstance(sparse.ffn, MoeFfn)
    assert model.native_precision is Precision.FP8


def test_hybrid_model_keeps_both_kinds_of_layer(catalog: Catalog) -> None:
    linear, full = catalog.model("qwen3-next-80b-a3b").layers
    assert isinstance(linear.mixer, GatedDeltaNet)
    assert isinstance(full.mixer, Attention)
    assert full.mixer.output_gate == "element"


def test_model_without_published_dimensions(catalog: Catalog) -> None:
    model = catalog.model("devstral-2-123b")
    assert not model.dimensions_known
    assert (model.hidden_size, model.max_context) == (0, 262144)
    hidden_size = catalog.attribute("devstral-2-123b", "hidden_size")
    assert hidden_size.value is None
    assert [claim.value for claim in hidden_size.rivals] == [6144]


def test_configuration_is_the_source_of_a_dimension(catalog: Catalog) -> None:
    claim = catalog.attribute("llama-3.1-70b", "mixers.attention.kv_heads").preferred
    assert claim is not None
    assert claim.value == 8
    assert claim.kind is SourceKind.CONFIG_COPY


def test_preferred_claim_overrides_the_configuration(catalog: Catalog) -> None:
    heads = catalog.attribute("step-3.7-flash", "mixers.sliding.heads")
    assert heads.preferred is not None
    assert (heads.value, heads.preferred.source.id) == (96, "step-3-7-port-notes")
    assert [claim.value for claim in heads.rivals] == [64]
    assert heads.reason


def test_layers_are_attributes_too(catalog: Catalog) -> None:
    values = {attribute.name: attribute.value for attribute in catalog.attributes("jamba-v0.1")}
    assert values["layer_count"] == 32
    assert values["layers.norms"] == 2
    assert sum(values[f"layers.{number}.count"] for number in (1, 2, 3)) == 32  # type: ignore[misc]
    assert values["layers.3.mixer"] == "attention"
    assert isinstance(values["layers"], tuple)
    assert values["layers"].count("mamba") == 7


def test_every_attribute_has_a_claim_with_a_source(catalog: Catalog) -> None:
    sources = set(catalog.sources())
    for thing in catalog.things():
        attributes = catalog.attributes(thing.id)
        assert attributes or thing.kind is CatalogEntryKind.SERVING_ENGINE
        for attribute in attributes:
            assert attribute.claims, f"{thing.id} {attribute.name}"
            assert {claim.source for claim in attribute.claims} <= sources
            assert sum(claim.preferred for claim in attribute.claims) <= 1


def test_list_and_words_come_back_as_they_were(catalog: Catalog) -> None:
    precisions = catalog.attribute("mi325x", "supported_precisions").value
    assert precisions == ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")
    label = catalog.attribute("h200-sxm", "memory_label")
    assert (label.value, label.unit) == ("141 GB", None)
    assert label.preferred is not None
    assert label.preferred.published is None


def test_prices_are_those_of_the_part(catalog: Catalog) -> None:
    prices = catalog.prices("mi325x")
    assert {price.accelerator for price in prices} == {"mi325x"}
    assert {"on_demand", "purchase"} <= {price.term for price in prices}
    terms = [price.term for price in prices]
    assert terms.index("purchase") == len(terms) - terms.count("purchase")
    assert len({price.id for price in catalog.prices()}) == len(catalog.prices())


def test_purchase_of_one_amount_is_that_amount(catalog: Catalog) -> None:
    purchases = [price for price in catalog.prices("h100-sxm") if price.term == "purchase"]
    single = next(price for price in purchases if price.usd_low == 30000 and price.usd_high == 30000)
    assert single.usd == 30000
    wide = [price for price in purchases if price.usd_low != price.usd_high]
    assert all(price.usd is None for price in wide)


def test_seed_claims_and_disputes_of_a_thing(catalog: Catalog) -> None:
    claims = {claim.id: claim for claim in catalog.seed_claims("mi325x")}
    assert claims["C000-014"].source.id == "seed-000"
    assert (claims["C000-014"].value, claims["C000-014"].unit) == ("5.3", "TB/s")
    dispute = next(dispute for dispute in catalog.disputes("mi325x") if dispute.id == "D-001")
    assert dispute.claim_a == "C000-014"
    assert dispute.concerns("mi325x", "memory_bandwidth")
    both = next(dispute for dispute in catalog.disputes("h200-sxm") if dispute.id == "D-004")
    assert both.things == ("mi325x", "h200-sxm")
    assert not both.attributes


def test_diffusion_model_has_results_measured_and_estimated(catalog: Catalog) -> None:
    sdxl = catalog.diffusion_model("sdxl")
    estimate = next(result for result in sdxl.results if result.estimated)
    assert (estimate.accelerator, estimate.value, estimate.unit) == ("mi325x", 0.3, "s per image")
    assert any(not result.estimated for result in sdxl.results)
    word = next(result for result in catalog.diffusion_model("ltx-video-2b").results if result.unit is None)
    assert isinstance(word.value, str)


def test_things_are_listed_by_kind(catalog: Catalog) -> None:
    parts = catalog.things(CatalogEntryKind.ACCELERATOR)
    assert [part.id for part in parts] == [accelerator.id for accelerator in catalog.accelerators()]
    assert catalog.get_entry_kind("gpt-oss-120b") is CatalogEntryKind.MODEL
    assert catalog.get_entry_kind("sdxl") is CatalogEntryKind.DIFFUSION_MODEL
    assert catalog.thing("mi325x").maker == "AMD"


Question = Callable[[Catalog], object]


@pytest.mark.parametrize(
    ("question", "kind", "near"),
    [
        (lambda catalog: catalog.accelerator("h200"), "accelerator", "h200-sxm"),
        (lambda catalog: catalog.accelerator("MI325X"), "accelerator", "mi325x"),
        (lambda catalog: catalog.model("Llama 3.1 70B"), "model", "llama-3.1-70b"),
        (lambda catalog: catalog.model("deepseek"), "model", "deepseek-r1"),
        (lambda catalog: catalog.diffusion_model("sdx"), "diffusion_model", "sdxl"),
        (lambda catalog: catalog.prices("h100"), "accelerator", "h100-sxm"),
        (lambda catalog: catalog.attributes("mi325"), "thing", "mi325x"),
        (lambda catalog: catalog.seed_claims("mi325"), "thing", "mi325x"),
        (lambda catalog: catalog.disputes("mi325"), "thing", "mi325x"),
        (lambda catalog: catalog.source("amd-geek-sku"), "source", "amd-geak-sku"),
    ],
)
def test_unknown_id_is_answered_with_the_closest(catalog: Catalog, question: Question, kind: str, near: str) -> None:
    with pytest.raises(InputError) as caught:
        question(catalog)
    parameters = caught.value.problem.parameters
    assert caught.value.problem.id == "catalog.unknown"
    assert parameters["kind"] == kind
    assert isinstance(parameters["near"], tuple)
    assert near in parameters["near"]
    assert len(parameters["near"]) <= 3


def test_id_like_nothing_has_no_closest(catalog: Catalog) -> None:
    with pytest.raises(InputError) as caught:
        catalog.accelerator("abacus")
    assert caught.value.problem.parameters["near"] == ()


def test_unknown_attribute_is_answered_with_the_closest(catalog: Catalog) -> None:
    with pytest.raises(InputError) as caught:
        catalog.attribute("mi325x", "bandwidth")
    problem = caught.value.problem
    assert problem.id == "catalog.unknown_attribute"
    assert problem.parameters["near"] == ("pcie_bandwidth", "memory_bandwidth", "scale_up_bandwidth")
