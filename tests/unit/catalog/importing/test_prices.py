"""Lists of prices: whole files as gpuhunt and SkyPilot write them, plain ones, and hostile ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.catalog.importing.price_lists import propose_prices
from gpudesk.catalog.importing.price_names import (
    AcceleratorNames,
    NamedAccelerator,
    NameMismatch,
    list_known_accelerators,
)
from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import CatalogEntryKind, Source, SourceKind
from gpudesk.domain.user_facts import ImportProposal, UserPrice
from gpudesk.text.messages import InputError, format_input_error, format_message

TODAY = "2026-11-25"
GPUHUNT = (
    "provider,instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,"
    "gpu_vendor,flags,cpu_arch,provider_data"
)
SKYPILOT = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone,GpuInfo"
)


def read(data: bytes | str, name: str = "list.csv", **options: object) -> ImportProposal:
    raw = data.encode() if isinstance(data, str) else data
    steps = propose_prices(raw, name=name, today=TODAY, **options)  # type: ignore[arg-type]
    while True:
        try:
            next(steps)
        except StopIteration as end:
            proposal: ImportProposal = end.value
            return proposal


def list_prices(proposal: ImportProposal) -> list[UserPrice]:
    return [fact for fact in proposal.facts if isinstance(fact, UserPrice)]


def short(proposal: ImportProposal) -> list[tuple[str, str, float | None, str | None, str | None]]:
    return [(each.accelerator, each.term, each.usd, each.provider, each.region) for each in list_prices(proposal)]


def list_messages(proposal: ImportProposal) -> str:
    return "\n".join(map(format_message, (*proposal.notes, *proposal.left_out)))


def gpuhunt(*rows: str) -> str:
    return "\n".join((GPUHUNT, *rows)) + "\n"


def skypilot(*rows: str) -> str:
    return "\n".join((SKYPILOT, *rows)) + "\n"


# gpuhunt


def test_gpuhunt_divides_by_the_accelerators_of_the_instance() -> None:
    proposal = read(
        gpuhunt(
            "aws,p5.48xlarge,us-east-1,98.32,192,2048,8,H100,80,False,,nvidia,,x86,",
            "aws,p5.48xlarge,us-east-1,31.46,192,2048,8,H100,80,True,,nvidia,,x86,",
            "hotaisle,1x,us-michigan-1,1.99,13,224,1,MI300X,192,False,12288,amd,,x86,",
        ),
        "catalog-2026-11-20.csv",
    )
    assert short(proposal) == [
        ("h100-sxm", "on_demand", 12.29, "AWS", "us-east-1"),
        ("h100-sxm", "spot", 3.9325, "AWS", "us-east-1"),
        ("mi300x", "on_demand", 1.99, "Hot Aisle", "us-michigan-1"),
    ]
    first = list_prices(proposal)[0]
    assert (first.instance, first.accelerators_in_instance) == ("p5.48xlarge", 8)
    assert (first.date, first.kind) == ("2026-11-20", SourceKind.INDEPENDENT)
    source = proposal.facts[0]
    assert isinstance(source, Source)
    assert (source.title, source.publisher) == ("catalog-2026-11-20.csv", "gpuhunt")
    assert first.source == source.id


def test_zones_of_a_region_are_one_price() -> None:
    rows = [f"gcp,a3-highgpu-8g,us-central1-{zone},88.25,208,1872,8,H100,80,False,,,,," for zone in "abcf"]
    proposal = read(gpuhunt(*rows))
    assert [each.region for each in list_prices(proposal)] == ["us-central1"]
    assert "3 rows repeat a price" in list_messages(proposal)


def test_slices_of_tpus_count_chips() -> None:
    proposal = read(
        gpuhunt(
            "gcp,v5litepod-8,us-west4-a,9.6,0,0,1,v5litepod-8,16,False,,google,,,",
            "gcp,v5p-8,us-east5-a,16.8,0,0,1,v5p-8,95,False,,google,,,",
            "gcp,v6e-4,us-east5-a,10.8,0,0,4,v6e,32,False,,google,,,",
        )
    )
    assert [(each.accelerator, each.usd) for each in list_prices(proposal)] == [
        ("tpu-v5e", 1.2),
        ("tpu-v5p", 4.2),
        ("tpu-v6e", 2.7),
    ]


def test_provider_can_be_part_of_the_file_name() -> None:
    data = "instance_name,location,price,gpu_count,gpu_name,gpu_memory,spot\nx,eu-1,2,1,L40S,48,False\n"
    assert list_prices(read(data, "runpod.csv"))[0].provider == "RunPod"
    assert list_prices(read(data, "do/vms.csv"))[0].provider == "DigitalOcean"
    assert list_prices(read(data, "what-to-do.csv"))[0].provider is None
    assert list_prices(read(data, "runpod.csv", provider="Our own", date="2026-10-01"))[0].provider == "Our own"


def test_second_price_of_one_offer_is_left_out_and_counted() -> None:
    row = "{provider},x8,eu-1,{price},1,1,8,L40S,48,False,1,nvidia,,x86,"
    data = gpuhunt(*(row.format(provider="runpod", price=price) for price in (16, 24, 16)))
    proposal = read(data, "2026-11-01.csv")
    assert [each.usd for each in list_prices(proposal)] == [2.0]
    assert "1 row with a second price of one provider" in list_messages(proposal)
    undated = read(data, "list.csv")
    assert [each.usd for each in list_prices(undated)] == [2.0, 3.0]


def test_unknown_accelerators_leave_the_others() -> None:
    rows = ("x1,eu-1,2,1,L40S,48,False", "x2,eu-1,2,1,Rubin CPX,128,False")
    data = "instance_name,location,price,gpu_count,gpu_name,gpu_memory,spot\n" + "\n".join(rows) + "\n"
    proposal = read(data)
    assert [each.accelerator for each in list_prices(proposal)] == ["l40s"]
    assert "1 row with an accelerator outside the catalog: Rubin CPX" in list_messages(proposal)


# SkyPilot


def test_skypilot_has_two_prices_a_row() -> None:
    proposal = read(
        skypilot("ex.8x,MI325X,8,128,2048,17.60,9.00,eu-1,eu-1a,", "ex.1x,L4,0.5,8,32,0.4,,eu-1,,"), "lambda/vms.csv"
    )
    assert short(proposal) == [
        ("mi325x", "on_demand", 2.2, "Lambda", "eu-1"),
        ("mi325x", "spot", 1.125, "Lambda", "eu-1"),
        ("l4", "on_demand", 0.8, "Lambda", "eu-1"),
    ]
    assert [each.accelerators_in_instance for each in list_prices(proposal)] == [8, 8, None]
    assert {each.date for each in list_prices(proposal)} == {None}
    assert "undated" in list_messages(proposal)


def test_skypilot_describes_memory_in_mib_or_gib() -> None:
    gib = "\"{'Gpus': [{'Name': 'A100', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 80}}]}\""
    mib = "\"{'Gpus': [{'Name': 'A100', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 40960}}]}\""
    proposal = read(
        skypilot(f"a100-sxm4-a,A100,8,128,2048,16,,eu-1,,{gib}", f"a100-sxm4-b,A100,8,128,2048,8,,eu-1,,{mib}")
    )
    assert [(each.accelerator, each.instance) for each in list_prices(proposal)] == [
        ("a100-80gb-sxm", "a100-sxm4-a"),
        ("a100-40gb-sxm", "a100-sxm4-b"),
    ]


def test_variant_outside_the_catalog_is_distinguished() -> None:
    mib = "\"{'Gpus': [{'Name': 'V100', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 16384}}]}\""
    proposal = read(skypilot(f"p3.16xlarge,V100,8,64,488,24,,eu-1,,{mib}", "g2-standard-4,L4,1,4,16,1,,eu-1,,"))
    assert [each.accelerator for each in list_prices(proposal)] == ["l4"]
    assert "1 row with a variant outside the catalog, by memory or form factor: V100 × 1" in list_messages(proposal)


def test_columns_can_have_any_order_and_format() -> None:
    plain = read("Price,AcceleratorName,Region,AcceleratorCount\n8.00,MI300X,eu,4\n")
    dressed = read('\ufeffregion;"ACCELERATOR NAME";accelerator_count;PRICE\r\neu;"MI300X";4;8,00\r\n'.encode())
    assert [each[:3] for each in short(plain)] == [("mi300x", "on_demand", 2.0)]
    assert short(plain) == short(dressed)


# Plain lists


def test_plain_list_has_sources_of_its_own() -> None:
    proposal = read(
        "accelerator,usd_per_accelerator_hour,term,provider,region,date,source\n"
        "h200-sxm,2.10,Reserved 1 year,Example Cloud,eu-1,2026-11-01,Quote of November\n"
        "Instinct MI355X,2.95,,Example Cloud,,,\n",
        parts={"h200-sxm": "H200 SXM 141GB", "mi355x": "Instinct MI355X"},
    )
    reserved, other = list_prices(proposal)
    assert (reserved.term, reserved.date, reserved.kind) == ("reserved_1_year", "2026-11-01", SourceKind.USER)
    assert (other.accelerator, other.term, other.date) == ("mi355x", "on_demand", None)
    titles = {fact.id: fact.title for fact in proposal.facts if isinstance(fact, Source)}
    assert titles[reserved.source] == "Quote of November"
    assert titles[other.source] == "list.csv"


def test_user_accelerators_are_found_by_id_and_name() -> None:
    data = "accelerator,usd_per_accelerator_hour\nour-chip,1\nOur Chip 2,2\n"
    assert [each.accelerator for each in list_prices(read(data, parts={"our-chip": "x", "second": "Our Chip 2"}))] == [
        "our-chip",
        "second",
    ]


def test_reading_again_gives_the_same_facts() -> None:
    data = skypilot("ex.8x,MI325X,8,128,2048,17.60,9.00,eu-1,eu-1a,")
    assert read(data).facts == read(data).facts
    assert len({each.id for each in list_prices(read(data))}) == 2


# Names


@pytest.mark.parametrize(
    ("name", "memory", "instance", "part"),
    [
        ("A100", 80, "Standard_ND96amsr_A100_v4", "a100-80gb-sxm"),
        ("A100", 80, "", NameMismatch.AMBIGUOUS),
        ("A100", 40, "", NameMismatch.AMBIGUOUS),
        ("A100", 40, "p4d.24xlarge", "a100-40gb-sxm"),
        ("A100", None, "", NameMismatch.AMBIGUOUS),
        ("A100-80GB", None, "p4de.24xlarge", "a100-80gb-sxm"),
        ("A100-80GB-SXM", None, "", "a100-80gb-sxm"),
        ("NVIDIA A100-SXM4-80GB", None, "", "a100-80gb-sxm"),
        ("A100-80GB", None, "Standard_NC24ads_A100_v4", "a100-80gb-pcie"),
        ("H100", 80, "gpu_8x_h100_sxm5", "h100-sxm"),
        ("H100", 80, "gpu_1x_h100_pcie", "h100-pcie"),
        ("H100", 80, "", NameMismatch.AMBIGUOUS),
        ("H100", 94, "", "h100-nvl-94gb"),
        ("H100", None, "Standard_NC40ads_H100_v5", "h100-nvl-94gb"),
        ("H100NVL", 94, "", "h100-nvl-94gb"),
        ("H100-SXM", None, "", "h100-sxm"),
        ("H100-MEGA", None, "a3-megagpu-8g", "h100-sxm"),
        ("H100-NVLINK", None, "", NameMismatch.AMBIGUOUS),
        ("H200", 141, "", "h200-sxm"),
        ("H200-NVL", None, "", "h200-nvl"),
        ("GH200", 96, "gpu_1x_gh200", "gh200-96gb"),
        ("GH200", None, "", NameMismatch.AMBIGUOUS),
        ("B200", 192, "gpu_8x_b200_sxm6", "b200-hgx"),
        ("GB200", 186, "BM.GPU.GB200.4", "gb200-nvl72"),
        ("L40", 48, "", "l40"),
        ("A40", 48, "", "a40"),
        ("Tesla T4", 16, "", "t4"),
        ("V100-SXM2-32GB", None, "", "v100-32gb-sxm2"),
        ("V100", 16, "p3.2xlarge", NameMismatch.OTHER_PART),
        ("H20", 141, "", "h20-141gb"),
        ("Trainium", 32, "", "trainium1"),
        ("L40S", 48, "", "l40s"),
        ("L4", 24, "g2-standard-4", "l4"),
        ("A10G", 24, "", NameMismatch.UNKNOWN),
        ("RTXPRO6000S", 96, "", "rtx-pro-6000-blackwell"),
        ("RTX 6000 Ada", 48, "", "rtx-6000-ada"),
        ("AMD Instinct MI300X OAM", 192, "", "mi300x"),
        ("MI250", 128, "", NameMismatch.UNKNOWN),
        ("MI325X", 288, "", "mi325x"),
        ("Gaudi HL-205", None, "", NameMismatch.UNKNOWN),
        ("tpu-v5litepod-8", None, "", "tpu-v5e"),
        ("tpu-v4", None, "", NameMismatch.UNKNOWN),
        ("", None, "", NameMismatch.UNKNOWN),
    ],
)
def test_names_mean_parts(name: str, memory: float | None, instance: str, part: str | NameMismatch) -> None:
    accelerator = AcceleratorNames().find(name, memory, instance)
    assert (accelerator.part if isinstance(accelerator, NamedAccelerator) else accelerator) == part


def test_listed_parts_are_in_the_catalog(catalog: Catalog) -> None:
    assert list_known_accelerators() <= {thing.id for thing in catalog.things(CatalogEntryKind.ACCELERATOR)}


def test_omitted_items_are_counted_by_name() -> None:
    proposal = read(
        gpuhunt(
            *["runpod,x,eu,1,1,1,1,A16,48,False,,,,,"] * 3,
            "runpod,y,eu,1,1,1,1,H100,80,False,,,,,",
            "runpod,z,eu,1,1,1,0,,,False,,,,,",
            "runpod,q,eu,,1,1,1,L4,24,False,,,,,",
            "runpod,n,eu,nan,1,1,1,L4,24,False,,,,,",
            "runpod,ok,eu,0.5,1,1,1,L4,24,False,,,,,",
        )
    )
    text = list_messages(proposal)
    assert "3 rows with accelerators outside the catalog: A16 × 3" in text
    assert "1 row with an ambiguous accelerator name" in text
    assert "1 row without an accelerator" in text
    assert "1 row without a price" in text
    assert "1 row with an invalid cell" in text
    assert len(list_prices(proposal)) == 1


# Bounds


def test_many_rows_come_in_steps_that_say_how_far_it_is() -> None:
    rows = [
        f"ex.{number % 997},MI325X,8,128,2048,{10 + number % 9000 / 100:.2f},,eu-{number % 50},eu-1a,"
        for number in range(20_000)
    ]
    data = skypilot(*rows).encode()
    steps = propose_prices(data, name="vms.csv", today=TODAY)
    reports: list[tuple[int, int]] = []
    proposal = None
    while proposal is None:
        try:
            reports.append(next(steps))
        except StopIteration as end:
            proposal = end.value
    assert reports[0][0] < reports[-1][0] <= reports[-1][1] == 20_001
    assert len(reports) >= 10
    assert len(list_prices(proposal)) > 16_000


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no known price columns"),
        (b"a,b,c\n1,2,3\n", "AcceleratorName + AcceleratorCount + Price (SkyPilot)"),
        (gpuhunt().encode(), "no row with an accelerator"),
        (gpuhunt("runpod,x,eu,1,1,1,1,A16,48,False,,,,,").encode(), "A16 × 1"),
        (
            b"accelerator,usd_per_accelerator_hour\nh200-sxm,$3.10\nh200-sxm,-3\n",
            "has no valid row; '$3.10' in row 2 is invalid: write prices as 3.10 and dates as 2026-12-31",
        ),
        (GPUHUNT.encode() + b"\n\xff\xfe\xfd,\n", "UTF-8"),
        (SKYPILOT.encode("utf-16"), "no known price columns"),
        (GPUHUNT.encode() + b'\n"' + b"x" * 200_000, "not closed"),
        # The rows behind it are not those of a long cell.
        (b'accelerator,usd_per_accelerator_hour,provider\nh200-sxm,3,A\nb200-sxm,4,"B\nmi325x,2,C\n', "row 3"),
        (b"accelerator,usd_per_accelerator_hour,date\nh200-sxm,3,31.12.2025\n", "'31.12.2025' in row 2"),
    ],
)
def test_files_without_new_entries_show_the_reason(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(data)
    assert message in format_input_error(error.value)


def write_csv(header: Sequence[str], row: Mapping[str, str]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, header)
    writer.writeheader()
    writer.writerow(row)
    return out.getvalue()


hostile = st.one_of(
    st.sampled_from(
        [
            "=1+1",
            "+cmd|' /C calc'!A0",
            "-2",
            "@SUM(A1)",
            "\0",
            "a\0b",
            "\u202egnp.exe",
            "\u200e",
            "NaN",
            "inf",
            "1e308",
            "1e-400",
            "-1",
            "0",
            "9" * 400,
            "'; DROP TABLE price; --",
            "1,95",
            "\ud7ff",
            "\uff12",
        ]
    ),
    st.text(max_size=30),
    st.floats().map(str),
    st.integers().map(str),
)


@given(cells=st.dictionaries(st.sampled_from(GPUHUNT.split(",")), hostile))
def test_hostile_cells_are_text_or_left_out(cells: dict[str, str]) -> None:
    sound = {"gpu_name": "MI300X", "gpu_count": "8", "price": "16", "spot": "False"}
    data = write_csv(GPUHUNT.split(","), {**sound, **cells})
    try:
        prices = list_prices(read(data.encode("utf-8", "surrogatepass")))
    except InputError as error:
        prices = []
        refused = format_input_error(error)
        assert refused.isprintable()
    for price in prices:
        assert price.usd is not None
        assert 0.001 <= price.usd <= 1000
        for text in (price.provider, price.region, price.instance, price.date, price.note):
            assert text is None or text.isprintable()


@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_give_a_proposal_or_a_refusal(data: bytes) -> None:
    for header in ("", GPUHUNT + "\n", SKYPILOT + "\n", "accelerator,usd_per_accelerator_hour\n"):
        try:
            outcome: object = read(header.encode() + data)
        except InputError as error:
            outcome = format_input_error(error)
        assert outcome


def test_prices_with_all_digits_of_a_computed_number_are_read() -> None:
    rows = ("h200-sxm,1.1400000000000001", "mi325x,0.30000000000000004", "mi355x,.30000000000000004")
    prices = list_prices(read("\n".join(("accelerator,usd_per_accelerator_hour", *rows))))
    assert [price.usd for price in prices] == pytest.approx([1.14, 0.3, 0.3])


def test_more_prices_than_a_user_can_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudesk.catalog.importing.price_lists.MOST_FACTS", 3)
    rows = [f"h200-sxm,{usd}" for usd in (1, 2, 3, 4)]
    head = "accelerator,usd_per_accelerator_hour"
    assert len(list_prices(read("\n".join((head, *rows[:3]))))) == 3
    with pytest.raises(InputError, match=r"import\.prices\.too_many"):
        read("\n".join((head, *rows)))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(b"\n" * 250_002, "import.prices.many"), (b"h200-sxm,1" + b"," * 1_000_000, "import.prices.long_row")],
)
def test_excessive_lists_are_refused(raw: bytes, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read(b"accelerator,usd_per_accelerator_hour\n" + raw)
    assert caught.value.problem.id == expected


def test_prices_in_other_currencies_are_skipped_and_reported() -> None:
    data = b"accelerator,usd_per_accelerator_hour,currency\nh200-sxm,3,usd\nb200-hgx,4,\nmi325x,2,EUR\n"
    proposal = read(data)
    assert sorted(fact.accelerator for fact in proposal.facts if isinstance(fact, UserPrice)) == [
        "b200-hgx",
        "h200-sxm",
    ]
    (left_out,) = map(format_message, proposal.left_out)
    assert "'EUR' in row 4; prices are realistic plain US dollars" in left_out
