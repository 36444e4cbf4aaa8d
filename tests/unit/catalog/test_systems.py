"""Systems and reference designs: what the shipped catalog has, and what is refused when it is built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudesk.catalog.list_rows import make_catalog_table
from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import SystemKind
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.claim import CatalogEntryKind, ClaimPreference, SourceKind
from gpudesk.domain.user_facts import UserClaim, UserFacts
from gpudesk.text.messages import InputError
from gpudesk.text.units import GIB
from tests.unit.catalog.test_files import problems_of
from tests.unit.catalog.user_samples import QUOTE

DGX = "systems/nvidia-dgx-b200.toml"
R760 = "systems/dell-r760-h100-pciex2.toml"
AWS = "systems/aws-p5-48xlarge.toml"

Edit = Callable[[str, str, str], None]


def test_a_system_has_its_values_in_si_units(catalog: Catalog) -> None:
    system = catalog.system("nvidia-dgx-b200")
    assert (system.kind, system.accelerator, system.accelerator_count) == (SystemKind.SERVER, "b200-hgx", 8)
    assert (system.power_max_w, system.rack_units) == (14300, 10)
    assert catalog.attribute(system.id, "host_memory").value == 2048 * GIB
    assert (system.cooling, system.fabric_bits_per_s) == ("air", 8 * 400e9)
    assert system.price_usd is not None
    assert system.price_usd.value == 515410


def test_missing_values_of_a_system_are_its_accelerators(catalog: Catalog) -> None:
    dgx, workstation = catalog.system("nvidia-dgx-b200"), catalog.system("workstation-rtx-pro-6000-max-qx1")
    assert dgx.accelerator_power_w == 1000
    assert workstation.accelerator_power_w == 300


def test_systems_are_found_by_accelerator(catalog: Catalog) -> None:
    systems = catalog.list_systems_with("mi300x")
    assert {system.accelerator for system in systems} == {"mi300x"}
    assert [system.kind for system in systems] == sorted((s.kind for s in systems), key=list(SystemKind).index)
    with pytest.raises(InputError):
        catalog.list_systems_with("mi3000x")


def test_there_are_systems_of_every_kind(catalog: Catalog) -> None:
    kinds = Counter(system.kind for system in catalog.systems())
    assert set(kinds) == set(SystemKind)
    assert sum(kinds.values()) >= 45
    assert len(catalog.things(CatalogEntryKind.SYSTEM)) == sum(kinds.values())


def test_instances_with_a_name_are_rented_under_it(catalog: Catalog) -> None:
    """Prices of instances are on the list of rents alone."""
    offers = {(price.provider, price.instance, price.accelerator) for price in catalog.prices()}
    providers = {price.provider for price in catalog.prices()}
    instances = [system for system in catalog.systems() if system.is_rented]
    assert {system.provider for system in instances} <= providers
    priced = [each for each in instances if (each.provider, each.instance, each.accelerator) in offers]
    assert len(priced) >= 50
    assert all(system.price_usd is None for system in instances)


def test_a_value_of_the_user_holds_in_a_system(catalog: Catalog) -> None:
    price = UserClaim("nvidia-dgx-b200", "price_low", 450000, QUOTE.id, SourceKind.USER, retrieved="2026-11-26")
    choice = ClaimPreference(price.thing, price.attribute, QUOTE.id, price.value, "a quote", "2026-11-26")
    own = catalog.with_user_facts(UserFacts.of((QUOTE, price, choice)))
    assert own.system("nvidia-dgx-b200").price_low_usd == 450000
    assert catalog.system("nvidia-dgx-b200").price_low_usd == 515410


def test_reference_designs_name_the_system_that_they_consist_of(catalog: Catalog) -> None:
    designs = {design.id: design for design in catalog.reference_designs()}
    for design in designs.values():
        assert design.accelerator_count % catalog.system(design.system).accelerator_count == 0
    assert designs["superpod-gb200-su"].system == "nvidia-gb200-nvl72"
    assert catalog.attribute("superpod-gb200-su", "racks").value == 8
    assert catalog.attribute("superpod-gb200-su", "power_max").value == 1.2e6
    assert catalog.attribute("dgx-h200", "price_low").value == 400000


def test_list_of_systems_has_their_accelerators(catalog: Catalog) -> None:
    table = make_catalog_table(CatalogSection.SYSTEMS, catalog)
    row = next(row for row in table.rows if row.key == "nvidia-dgx-h200")
    cells = dict(zip((column.key for column in table.columns), row.values, strict=True))
    assert (cells["system_kind"], cells["accelerator_count"], cells["cooling"]) == ("server", 8, "air")
    assert cells["accelerator"] == catalog.accelerator("h200-sxm").name


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        pytest.param(
            DGX,
            'accelerator = "b200-hgx"',
            'accelerator = "b200-hgy"',
            f"{DGX}: accelerator: there is no accelerator 'b200-hgy'",
            id="unknown accelerator",
        ),
        pytest.param(
            DGX,
            'kind = "server"',
            'kind = "instance"',
            f"{DGX}: provider: is what an instance must have, and nothing else",
            id="instance without provider",
        ),
        pytest.param(
            DGX,
            "{ value = 14300, preferred = true,",
            "{ value = 7000, preferred = true,",
            f"{DGX}: attributes.power_max: 7,000 W is less than 8 accelerators of 1,000 W draw",
            id="less power than its accelerators",
        ),
        pytest.param(
            DGX,
            'price_low = { unit = "USD", claims = [{ value = 515410',
            'price_low = { unit = "USD", claims = [{ value = 615410',
            f"{DGX}: attributes.price_low: 615,410 exceeds price_high, which is 515,410",
            id="price range upside down",
        ),
        pytest.param(
            R760,
            "claims = [{ value = 2,",
            "claims = [{ value = 3,",
            f"{R760}: attributes.accelerator_count: 3 accelerators do not fit into 2 slots",
            id="more accelerators than slots",
        ),
        pytest.param(
            DGX,
            "accelerator_count = {",
            "acelerator_count = {",
            f"{DGX}: attributes.acelerator_count: is no attribute that such a thing can have",
            id="unknown attribute",
        ),
        pytest.param(
            AWS,
            'retrieved = "2026-11-26"',
            'retrieved = "26.11.2026"',
            f"{AWS}: attributes.accelerator_count.claims.1.retrieved: "
            "write the date as YYYY, YYYY-MM or YYYY-MM-DD, given '26.11.2026'",
            id="date",
        ),
        pytest.param(
            "reference_designs/dgx-b200.toml",
            'system = "nvidia-dgx-b200"',
            'system = "nvidia-dgx-b201"',
            "reference_designs/dgx-b200.toml: system: there is no system 'nvidia-dgx-b201'",
            id="unknown system",
        ),
    ],
)
def test_a_bad_file_is_refused(data_dir: Path, edit: Edit, file: str, old: str, new: str, expected: str) -> None:
    edit(file, old, new)
    assert expected in problems_of(data_dir)
