"""The diffusion models: all there, sourced, with measurements kept apart from estimates."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]


def test_all_models_are_there(diffusion: dict[str, Table]) -> None:
    assert len(diffusion) == 20
    assert all(table["id"] == name and table["type"] in {"image", "video"} for name, table in diffusion.items())
    assert sum(len(table.get("measurements", [])) for table in diffusion.values()) == 78


def test_everything_names_a_known_source(diffusion: dict[str, Table], sources: Table) -> None:
    for name, table in diffusion.items():
        for attribute, attribute_table in table["attributes"].items():
            assert [claim["source"] in sources for claim in attribute_table["claims"]] == [True], f"{name} {attribute}"
            assert attribute_table["claims"][0]["preferred"], f"{name} {attribute}"
        for row in table.get("measurements", []) + table.get("estimates", []):
            assert row["source"] in sources, name


def test_weights_are_two_bytes_a_parameter(diffusion: dict[str, Table]) -> None:
    for name, table in diffusion.items():
        parameters = table["attributes"]["parameters"]["claims"][0]["value"]
        weights = table["attributes"]["denoiser_weights"]["claims"][0]["value"]
        assert round(weights * 1e9) == 2 * parameters, name


def test_figures_of_the_documents_are_estimates_not_measurements(diffusion: dict[str, Table]) -> None:
    for name, table in diffusion.items():
        assert all(not row["source"].startswith("seed-") for row in table.get("measurements", [])), name
        assert all(row["kind"] == "estimate" for row in table.get("estimates", [])), name


def test_flux_on_h100_is_measured_and_the_faster_claim_is_doubted(diffusion: dict[str, Table]) -> None:
    flux = diffusion["flux1-dev"]
    assert 6.71 in [row["value"] for row in flux["measurements"]]
    assert [(row["accelerator"], row["value"]) for row in flux["estimates"]] == [("mi325x", 1.2)]
    assert "not credible" in flux["estimates"][0]["note"]
