"""The numbers in the README are those of the catalog, the rules and the worked examples.

Those of the calibration are checked with it, in tests/unit/calibration.
"""

import tomllib

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.costing.worked_examples import read_worked_examples
from tests.words.texts import ROOT

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
DATA = ROOT / "data"


def test_entries_of_the_catalog_are_counted() -> None:
    with Catalog.open(paths.get_catalog_path()) as catalog:
        prices = catalog.prices()
        dated = sum(price.date is not None for price in prices) / len(prices)
        assert len(catalog.serving_engines()) == 5
        for count in (
            f"{len(catalog.accelerators())} accelerators (NVIDIA, AMD, Intel, Google, AWS)",
            f"{len(catalog.models())} open-weights models",
            f"five serving engines, {len(catalog.systems())} servers, racks, workstations and cloud instances",
            f"{len(prices)} prices, {dated:.0%} dated",
            f"{len(catalog.seed_claims())} statements from five source documents",
            f"{len(catalog.disputes())} disputes",
        ):
            assert count in README
        assert len({claim.source.id for claim in catalog.seed_claims()}) == 5
        assert {each.vendor for each in catalog.accelerators()} == {"NVIDIA", "AMD", "Intel", "Google", "AWS"}


def test_rules_and_worked_examples_are_counted() -> None:
    rules = sum(len(tomllib.loads(file.read_text())["rules"]) for file in (DATA / "rules").glob("seed-*.toml"))
    examples = read_worked_examples(paths.get_data_path("worked_examples.csv"))
    assert f"The {rules} rules of the source documents" in README
    assert f"lists {len(examples)} figures of the source documents" in README
