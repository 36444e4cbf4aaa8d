"""Facts of a user to hand on: an accelerator, a model, figures of shipped parts, prices."""

from gpudesk.catalog.importing.model_facts import model_facts
from gpudesk.domain.claims import Kind, Preference, Source
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFact, OwnFacts, OwnPrice

TODAY = "2026-11-01"
LAB = Source(
    "own-our-lab-1a2b3c4d", "Our lab", "Us", Kind.MEASURED_INDEPENDENT, "https://example.org/a", "2026-10"
)
OFFER = Source("own-offer-5e6f7a8b", "Offer of May", "A seller", Kind.USER, date="2026-05-03")
DEFINITION = {
    "id": "ours-8b",
    "name": "Ours 8B",
    "organisation": "Us",
    "hidden_size": 4096,
    "vocab_size": 128256,
    "tied_embeddings": False,
    "max_context": 8192,
    "native_precision": "bf16",
    "mixers": {"attention": {"kind": "attention", "heads": 32, "kv_heads": 8, "head_dim": 128}},
    "ffns": {"mlp": {"kind": "dense", "intermediate_size": 14336}},
    "layers": [{"count": 32, "mixer": "attention", "ffn": "mlp"}],
}
ACCELERATOR: tuple[OwnFact, ...] = (
    OwnAccelerator("ours-x1", "Ours X1", "Us", "hopper", announced=True),
    OwnClaim("ours-x1", "memory", 96 * 2**30, LAB.id, Kind.USER, TODAY, "96 GiB"),
    OwnClaim("ours-x1", "memory_bandwidth", 2.5e12, LAB.id, Kind.USER, TODAY, conditions="at 20 °C"),
    OwnClaim("ours-x1", "software_platform", "CUDA", LAB.id, Kind.USER, TODAY),
    OwnClaim("ours-x1", "supported_precisions", ("fp8", "bf16"), LAB.id, Kind.USER, TODAY),
)
MODEL = model_facts(DEFINITION, LAB, today=TODAY)
OVERRIDE: tuple[OwnFact, ...] = (
    OwnClaim(
        "mi325x", "memory_bandwidth", 5.5e12, LAB.id, LAB.kind, TODAY, "5.5 TB/s", note="cold, two runs"
    ),
    Preference("mi325x", "memory_bandwidth", LAB.id, 5.5e12, "measured by us", TODAY),
)
PRICES: tuple[OwnFact, ...] = (
    OwnPrice(
        "offer-1", "h200-sxm", "on_demand", OFFER.id, Kind.USER, 2.5, provider="A seller", date="2026-05-03"
    ),
    OwnPrice("offer-2", "ours-x1", "purchase", OFFER.id, Kind.USER, None, 20_000.0, 25_000.0),
)
ALL = OwnFacts.of([LAB, OFFER, *ACCELERATOR, *MODEL, *OVERRIDE, *PRICES])
