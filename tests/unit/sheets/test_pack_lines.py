"""Packs in words: what each fact says, with its unit and source, beside what is here."""

from collections.abc import Iterator

import pytest

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Kind, Source
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.own_facts import OwnClaim, OwnFacts
from gpudesk.domain.packs import Trust
from gpudesk.sheets.pack_lines import PackLine, pack_lines, signer_text
from gpudesk.workbench.pack import make_pack, read_pack
from gpudesk.workbench.pack_preview import preview
from gpudesk.workbench.pack_signing import fingerprint, signer
from gpudesk.workbench.workbench import Workbench
from tests.unit.workbench.own_samples import ALL, LAB, TODAY


@pytest.fixture(scope="module")
def shipped() -> Iterator[Catalog]:
    with Workbench.open() as workbench:
        yield workbench.catalog


def lines_of(facts: OwnFacts, catalog: Catalog) -> dict[str, PackLine]:
    pack = read_pack(make_pack(facts, facts.facts.keys(), "P", made=TODAY, about="r"))
    return {line.label: line for line in pack_lines(pack, preview(pack, catalog), Formatter())}


def test_every_fact_says_what_it_states_on_whose_word_and_what_is_here_instead(shipped: Catalog) -> None:
    mine = OwnFacts.of([LAB, OwnClaim("mi325x", "memory_bandwidth", 5.1e12, LAB.id, Kind.USER, TODAY)])
    lines = lines_of(ALL, shipped.with_own(mine))
    claim = lines["Instinct MI325X: Memory bandwidth"]
    assert (claim.theirs, claim.yours) == ("5.5 TB/s by Our lab", "5.1 TB/s")
    assert claim.shipped.startswith("6.0 TB/s by ")
    assert claim.standing == "differs from yours"
    part = lines["Accelerator Ours X1"]
    assert (part.theirs, part.standing) == ("ours-x1, Us, announced", "new")
    assert lines["Ours X1: Memory capacity"].theirs == "96.0 GiB (103.1 GB) by Our lab"
    assert lines["Model Ours 8B"].theirs == "ours-8b, Us"
    assert (
        lines["H200 SXM 141GB: price"].theirs == "2.50 USD/h, on_demand, A seller, 2026-05-03 by Offer of May"
    )
    assert lines["Ours X1: price"].theirs == "20,000 – 25,000 USD, purchase by Offer of May"
    assert lines["Source Our lab"].standing == "as you have it"


def test_a_text_of_two_lines_stays_in_its_line(shipped: Catalog) -> None:
    source = Source(LAB.id, "a\nb c", "P", Kind.USER)
    facts = OwnFacts.of([source, OwnClaim("h200-sxm", "tdp", 650, LAB.id, Kind.USER, TODAY)])
    (line,) = (line for label, line in lines_of(facts, shipped).items() if "power" in label.lower())
    assert line.theirs == "650 W by a b c"


def test_the_signer_is_told_with_what_is_known_of_them() -> None:
    pack = read_pack(make_pack(ALL, ALL.facts.keys(), "P", made=TODAY, about="r", signer=signer("Ada")))
    assert pack.signature is not None
    mark = fingerprint(pack.signature.key)
    assert mark in signer_text(pack, Trust.UNKNOWN, mark)
    assert (
        signer_text(pack, Trust.KNOWN, mark, "Ada of the lab") == "Signed by Ada of the lab, whom you trust."
    )
    plain = read_pack(make_pack(ALL, ALL.facts.keys(), "P", made=TODAY, about="r"))
    assert signer_text(plain, Trust.UNSIGNED, "").startswith("Not signed")
