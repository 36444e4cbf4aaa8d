"""The lists of the catalog, from the shipped facts and with facts of the user's next to them."""

from collections.abc import Iterator

import pytest

from gpudesk.catalog.list_rows import compute_model_value, make_catalog_table
from gpudesk.catalog.user_store import edits
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.domain.attributes import CatalogCellMark, CatalogCellValue, CatalogRow, CatalogSection, CatalogTable
from gpudesk.domain.claim import NO_PUBLISHER, AttributeClaims, Claim, ClaimStatus, Source, SourceKind
from gpudesk.domain.user_facts import UserPrice
from gpudesk.report.catalog_lists import CatalogCellFormatter
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

QUOTE = make_user_source("Quote by mail", "A reseller", date="2026-11-18")


@pytest.fixture(scope="module")
def shipped_service() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as opened:
        yield opened


@pytest.fixture
def user_service() -> Iterator[GpuDeskService]:
    with GpuDeskService(GpuDeskService.open().catalog) as service:
        step = edits.state_value(
            service.catalog, "mi325x", "memory_bandwidth", 5.9, "TB/s", QUOTE, today="2026-11-20", reason="seen"
        )
        service.user_catalog.do(step)
        price = UserPrice("own-1", "mi355x", "purchase", QUOTE.id, SourceKind.USER, 30000.0, date="2026-11-18")
        service.user_catalog.do(edits.state_price(service.catalog, price, QUOTE))
        yield service


def find_row(table: CatalogTable, key: str) -> CatalogRow:
    return next(row for row in table.rows if row.key == key)


def find_cell(table: CatalogTable, key: str, column: str) -> CatalogCellValue:
    return find_row(table, key).values[table.place(column)]


def find_mark(table: CatalogTable, key: str, column: str) -> int:
    marks = find_row(table, key).marks
    return marks[table.place(column)] if marks else 0


@pytest.mark.parametrize("section", CatalogSection)
def test_keys_are_unique_and_rows_fill_their_columns(shipped_service: GpuDeskService, section: CatalogSection) -> None:
    table = make_catalog_table(section, shipped_service.catalog)
    assert len({each.key for each in table.rows}) == len(table.rows)
    assert all(len(each.values) == len(table.columns) for each in table.rows)
    assert all(not each.marks or len(each.marks) == len(table.columns) for each in table.rows)


def test_accelerators_show_the_values_that_hold(shipped_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.ACCELERATORS, shipped_service.catalog)
    part = shipped_service.catalog.accelerator("mi325x")
    assert find_cell(table, "mi325x", "memory_bandwidth") == part.memory_bandwidth == 6e12
    assert find_mark(table, "mi325x", "memory_bandwidth") == CatalogCellMark.DISPUTED
    assert find_cell(table, "mi325x", "price") == (20000, 25000)
    assert find_cell(table, "mi325x", "fp4") is None
    assert find_row(table, "mi455x").announced
    assert [each.key for each in table.rows] == [each.id for each in shipped_service.catalog.accelerators()]


def test_user_values_replace_shipped_ones_and_are_marked(user_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.ACCELERATORS, user_service.catalog)
    assert find_cell(table, "mi325x", "memory_bandwidth") == 5.9e12
    assert find_mark(table, "mi325x", "memory_bandwidth") == CatalogCellMark.OWN | CatalogCellMark.DISPUTED
    assert find_cell(table, "mi355x", "price") == 30000
    assert find_mark(table, "mi355x", "price") == CatalogCellMark.OWN
    assert find_row(table, "mi355x").own
    assert not find_row(table, "h200-sxm").own


def test_unpublished_parameter_counts_are_computed(shipped_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.MODELS, shipped_service.catalog)
    computed_ids = {
        model.id
        for model in shipped_service.catalog.models()
        for each in shipped_service.catalog.attributes(model.id)
        if each.name == "total_parameters" and each.value is not None
    }
    for each in table.rows:
        is_computed = find_mark(table, each.key, "total") == CatalogCellMark.COMPUTED
        assert is_computed != (each.key in computed_ids) or find_cell(table, each.key, "total") is None
    # 61 layers of one latent of 512 and one rotary key of 64 numbers of two bytes.
    assert find_cell(table, "deepseek-r1", "kv") == 61 * (512 + 64) * 2
    assert find_cell(table, "llama-3.1-70b", "active") == find_cell(table, "llama-3.1-70b", "total")


def test_every_claim_and_every_statement_is_listed_once(shipped_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.CLAIMS, shipped_service.catalog)
    claims = sum(
        len(attribute.claims)
        for thing in shipped_service.catalog.things()
        for attribute in shipped_service.catalog.attributes(thing.id)
    )
    alone = [each for each in shipped_service.catalog.seed_claims() if not (each.things and each.attributes)]
    assert len(table.rows) == claims + len(alone)
    listed = {name for each in table.rows for name in str(each.values[table.place("id")]).split(", ")}
    assert {each.id for each in alone} <= listed


def test_status_of_claims() -> None:
    source = Source("s", "Sheet", "Maker", SourceKind.VENDOR_DATASHEET)

    def claim(value: float, *, preferred: bool = False, verdict: str | None = None) -> Claim:
        return Claim(value, "B/s", source, source.kind, preferred=preferred, verdict=verdict)

    claims = (
        claim(6e12, preferred=True),
        claim(6e12),
        claim(6.01e12, verdict="agrees but for rounding"),
        claim(5.3e12),
        claim(10.3e12, verdict="doubled data rate"),
    )
    attribute = AttributeClaims("mi325x", "memory_bandwidth", "B/s", claims)
    assert [attribute.stance(each) for each in claims] == [
        ClaimStatus.TAKEN,
        ClaimStatus.AGREES,
        ClaimStatus.AGREES,
        ClaimStatus.DIFFERS,
        ClaimStatus.REFUSED,
    ]


def test_disputes_name_the_grounds_of_refusal(shipped_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.DISPUTES, shipped_service.catalog)
    refusals = {find_cell(table, each.id, "against") for each in shipped_service.catalog.disputes()}
    assert refusals == {"claim", "arithmetic", "public_record"}
    refused = next(each for each in shipped_service.catalog.disputes() if each.claim_b == "PUBLIC-RECORD")
    assert find_cell(table, refused.id, "claims") == refused.claim_a
    assert find_cell(table, refused.id, "against") == "public_record"


def test_prices_keep_rent_and_purchase_apart(shipped_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.PRICES, shipped_service.catalog)
    for each in table.rows:
        rent, bought = each.values[table.place("usd_hour")], each.values[table.place("usd")]
        assert rent is None or bought is None
        assert (each.values[table.place("term")] == "purchase") == (bought is not None or rent is None)
    order = [each.thing for each in table.rows]
    assert sorted(order, key=order.index) == order, "prices of one part stand together"


def test_sources_count_their_claims(user_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.SOURCES, user_service.catalog)
    assert find_cell(table, QUOTE.id, "claims") == 2
    assert find_row(table, QUOTE.id).own


def test_yours_shows_user_values_next_to_shipped_ones(user_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.YOURS, user_service.catalog)
    bandwidth = "mi325x/memory_bandwidth"
    assert [each.key for each in table.rows] == [bandwidth, "price/own-1"]
    assert find_cell(table, bandwidth, "yours") == 5.9e12
    assert find_cell(table, bandwidth, "shipped") == 6e12
    assert find_cell(table, bandwidth, "difference") == pytest.approx(5.9 / 6)
    assert find_cell(table, bandwidth, "reason") == "seen"
    user_service.user_catalog.do(edits.take_shipped(user_service.catalog, "mi325x", "memory_bandwidth"))
    after = make_catalog_table(CatalogSection.YOURS, user_service.catalog)
    assert find_cell(after, bandwidth, "yours") == 5.9e12
    assert find_cell(after, bandwidth, "shipped") == 6e12
    assert find_mark(after, bandwidth, "yours") == 0, "it is there, and does not hold"


def test_both_ends_of_a_price_of_yours_are_one_row() -> None:
    with GpuDeskService(GpuDeskService.open().catalog) as own:
        step = edits.state_value(
            own.catalog, "mi325x", "price_low", 18000, "USD", QUOTE, today="2026-11-20", high=23000
        )
        own.user_catalog.do(step)
        table = make_catalog_table(CatalogSection.YOURS, own.catalog)
        (only,) = table.rows
        assert (only.key, only.values[table.place("yours")]) == ("mi325x/price_low", (18000, 23000))
        assert find_cell(table, only.key, "shipped") == (20000, 25000)
        assert find_cell(table, only.key, "difference") is None
        assert find_mark(table, only.key, "yours") == CatalogCellMark.OWN
        assert find_cell(table, only.key, "reason") is None, "none was given"
        writer = CatalogCellFormatter(table, Formatter(ENGLISH_NUMBERS), "2026-11-21")
        texts = {key: writer.text(only, table.place(key)) for key in ("attribute", "yours", "unit", "shipped")}
        assert texts == {
            "attribute": "Price, purchase",
            "yours": "18,000 – 23,000",
            "unit": "USD",
            "shipped": "20,000 – 25,000",
        }


def test_memory_is_disputed_by_its_label_not_by_driver_reserves(shipped_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.ACCELERATORS, shipped_service.catalog)
    assert find_mark(table, "b200-hgx", "memory") & CatalogCellMark.DISPUTED, "sold as 180 and as 192 GB"
    assert not find_mark(table, "mi355x", "memory") & CatalogCellMark.DISPUTED
    assert not find_mark(table, "h200-sxm", "memory") & CatalogCellMark.DISPUTED


def test_verdicts_that_mean_rounding_agree(shipped_service: GpuDeskService) -> None:
    for thing, name, value in (
        ("mi250x", "memory_bandwidth", 3.2e12),
        ("h100-pcie", "memory_bandwidth", 2e12),
        ("gaudi3", "peak_dense_bf16", 1.678e15),
    ):
        attribute = shipped_service.catalog.attribute(thing, name)
        assert {attribute.stance(each) for each in attribute.claims if each.value == value} == {ClaimStatus.AGREES}


def test_unpublished_values_of_a_model_are_computed(shipped_service: GpuDeskService) -> None:
    table = make_catalog_table(CatalogSection.MODELS, shipped_service.catalog)
    computed = [
        (each.thing, each.values[table.place("active")])
        for each in table.rows
        if each.marks and each.marks[table.place("active")] & CatalogCellMark.COMPUTED
    ]
    assert computed
    for thing, value in computed[:5]:
        assert compute_model_value(shipped_service.catalog, thing or "", "active_parameters") == value
    assert compute_model_value(shipped_service.catalog, "mi325x", "peak_dense_fp4") is None


def test_unstated_publisher_leaves_the_cell_empty(shipped_service: GpuDeskService) -> None:
    unnamed = next(each for each in shipped_service.catalog.sources() if each.publisher == NO_PUBLISHER)
    table = make_catalog_table(CatalogSection.SOURCES, shipped_service.catalog)
    assert (find_cell(table, unnamed.id, "publisher"), find_row(table, unnamed.id).maker) == (None, None)
    prices = make_catalog_table(CatalogSection.PRICES, shipped_service.catalog)
    assert all(each.maker != NO_PUBLISHER for each in prices.rows)
