"""Facts of a user to share: an accelerator, a model, figures of shipped accelerators, prices."""

from gpudesk.catalog.importing.model_facts import make_model_facts
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact, UserFacts, UserPrice

TODAY = "2026-11-01"
LAB = Source(
    "own-our-lab-1a2b3c4d", "Our lab", "Us", SourceKind.MEASURED_INDEPENDENT, "https://example.org/a", "2026-10"
)
OFFER = Source("own-offer-5e6f7a8b", "Offer of May", "A seller", SourceKind.USER, date="2026-05-03")
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
ACCELERATOR: tuple[UserFact, ...] = (
    UserAccelerator("ours-x1", "Ours X1", "Us", "hopper", announced=True),
    UserClaim("ours-x1", "memory", 96 * 2**30, LAB.id, SourceKind.USER, TODAY, "96 GiB"),
    UserClaim("ours-x1", "memory_bandwidth", 2.5e12, LAB.id, SourceKind.USER, TODAY, conditions="at 20 °C"),
    UserClaim("ours-x1", "software_platform", "CUDA", LAB.id, SourceKind.USER, TODAY),
    UserClaim("ours-x1", "supported_precisions", ("fp8", "bf16"), LAB.id, SourceKind.USER, TODAY),
)
MODEL = make_model_facts(DEFINITION, LAB, today=TODAY)
OVERRIDE: tuple[UserFact, ...] = (
    UserClaim("mi325x", "memory_bandwidth", 5.5e12, LAB.id, LAB.kind, TODAY, "5.5 TB/s", note="cold, two runs"),
    ClaimPreference("mi325x", "memory_bandwidth", LAB.id, 5.5e12, "measured by us", TODAY),
)
PRICES: tuple[UserFact, ...] = (
    UserPrice(
        "offer-1", "h200-sxm", "on_demand", OFFER.id, SourceKind.USER, 2.5, provider="A seller", date="2026-05-03"
    ),
    UserPrice("offer-2", "ours-x1", "purchase", OFFER.id, SourceKind.USER, None, 20_000.0, 25_000.0),
)
ALL = UserFacts.of([LAB, OFFER, *ACCELERATOR, *MODEL, *OVERRIDE, *PRICES])
