"""Packs in words: what each fact says, with its unit and source, next to what is here."""

from collections.abc import Iterator

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.documents.pack_file import format_fingerprint, load_signer
from gpudesk.documents.packs import make_pack, preview_pack, read_pack
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.user_facts import PackTrust, UserClaim, UserFacts
from gpudesk.report.catalog_import import PackLine, describe_signer, list_pack_lines
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from tests.unit.domain.user_samples import ALL, LAB, TODAY


@pytest.fixture(scope="module")
def shipped_catalog() -> Iterator[Catalog]:
    with GpuDeskService.open() as service:
        yield service.catalog


def lines_of(facts: UserFacts, catalog: Catalog) -> dict[str, PackLine]:
    pack = read_pack(make_pack(facts, facts.facts.keys(), "P", date=TODAY, about="r"))
    return {line.label: line for line in list_pack_lines(pack, preview_pack(pack, catalog), Formatter())}


def test_pack_lines_show_value_source_and_current_value(shipped_catalog: Catalog) -> None:
    mine = UserFacts.of([LAB, UserClaim("mi325x", "memory_bandwidth", 5.1e12, LAB.id, SourceKind.USER, TODAY)])
    lines = lines_of(ALL, shipped_catalog.with_user_facts(mine))
    claim = lines["Instinct MI325X: Memory bandwidth"]
    assert (claim.theirs, claim.yours) == ("5.5 TB/s by Our lab", "5.1 TB/s")
    assert claim.shipped.startswith("6.0 TB/s by ")
    assert claim.standing == "differs from yours"
    part = lines["Accelerator Ours X1"]
    assert (part.theirs, part.standing) == ("ours-x1, Us, announced", "new")
    assert lines["Ours X1: Memory capacity"].theirs == "96.0 GiB (103.1 GB) by Our lab"
    assert lines["Model Ours 8B"].theirs == "ours-8b, Us"
    assert lines["H200 SXM 141GB: price"].theirs == "$2.50/h, on_demand, A seller, 2026-05-03 by Offer of May"
    assert lines["Ours X1: price"].theirs == "$20,000 – 25,000, purchase by Offer of May"
    assert lines["Source Our lab"].standing == "as you have it"


def test_a_text_of_two_lines_stays_in_its_line(shipped_catalog: Catalog) -> None:
    source = Source(LAB.id, "a\nb c", "P", SourceKind.USER)
    facts = UserFacts.of([source, UserClaim("h200-sxm", "tdp", 650, LAB.id, SourceKind.USER, TODAY)])
    (line,) = (line for label, line in lines_of(facts, shipped_catalog).items() if "power" in label.lower())
    assert line.theirs == "650 W by a b c"


def test_signer_is_shown_with_their_trust() -> None:
    pack = read_pack(make_pack(ALL, ALL.facts.keys(), "P", date=TODAY, about="r", signer=load_signer("Ada")))
    assert pack.signature is not None
    mark = format_fingerprint(pack.signature.key)
    assert mark in describe_signer(pack, PackTrust.UNKNOWN, mark)
    assert describe_signer(pack, PackTrust.KNOWN, mark, "Ada of the lab") == (
        "Signed by Ada of the lab, whose key you trust."
    )
    plain = read_pack(make_pack(ALL, ALL.facts.keys(), "P", date=TODAY, about="r"))
    assert describe_signer(plain, PackTrust.UNSIGNED, "").startswith("Not signed")
