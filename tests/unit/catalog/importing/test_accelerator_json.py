"""Accelerators from JSON: the documented form, what the program prints itself, and hostile files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.catalog.importing.entry_reader import propose_accelerator
from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import ImportProposal, UserAccelerator, UserClaim, UserFacts
from gpudesk.report.writers.json import encode_attribute
from gpudesk.text.messages import InputError, format_input_error, format_message
from gpudesk.text.units import GIB

TODAY = "2026-11-25"


def make_sheet(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has it
    table: dict[str, Any] = {
        "name": "Example 1",
        "vendor": "Example",
        "generation": "hopper",
        "announced": False,
        "sources": {
            "sheet": {
                "title": "Data sheet",
                "publisher": "Example",
                "kind": "vendor_datasheet",
                "url": "https://example.com/sheet",
                "date": "2026-03",
            }
        },
        "attributes": {
            "memory": {"value": 192, "unit": "GiB", "source": "sheet"},
            "memory_type": {"value": "HBM3", "source": "sheet"},
            "memory_stacks": {"value": 8, "unit": "stacks"},
            "memory_bandwidth": {"value": 5.3, "unit": "TB/s"},
            "peak_dense_bf16": {"value": 1307.4, "unit": "TFLOPS"},
            "software_platform": {"value": "ROCm"},
            "supported_precisions": {"value": ["fp16", "bf16"]},
        },
    }
    table |= changes
    return {name: value for name, value in table.items() if value is not None}


def make_attributes(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has it
    attributes: dict[str, Any] = {**make_sheet()["attributes"], **changes}
    return make_sheet(attributes={name: value for name, value in attributes.items() if value is not None})


def read(document: object) -> ImportProposal:
    return propose_accelerator(json.dumps(document).encode(), name="part.json", today=TODAY)


def list_claims(proposal: ImportProposal) -> dict[str, UserClaim]:
    claims: dict[str, UserClaim] = {}
    for fact in proposal.facts:
        if isinstance(fact, UserClaim):
            claims.setdefault(fact.attribute, fact)
    return claims


def refuse(document: object) -> str:
    with pytest.raises(InputError) as error:
        read(document)
    return format_input_error(error.value)


def test_documented_form_makes_a_whole_accelerator(catalog: Catalog) -> None:
    proposal = read(make_sheet())
    source, part = proposal.facts[:2]
    assert isinstance(source, Source)
    assert (source.title, source.kind, source.date) == ("Data sheet", SourceKind.VENDOR_DATASHEET, "2026-03")
    assert part == UserAccelerator("example-1", "Example 1", "Example", "hopper", announced=False)
    claims = list_claims(proposal)
    assert (claims["memory"].value, claims["memory"].published) == (192 * GIB, "192 GiB")
    assert claims["memory_bandwidth"].value == 5_300_000_000_000
    assert claims["supported_precisions"].value == ("fp16", "bf16")
    assert {claim.source for claim in claims.values()} == {source.id}
    merged = catalog.with_user_facts(UserFacts.of(proposal.facts)).accelerator("example-1")
    assert (merged.memory_bytes, merged.platform) == (192 * GIB, "ROCm")
    assert merged.peak_dense["bf16"] == 1307.4e12


def test_rival_claims_come_with_the_preferred_one_first(catalog: Catalog) -> None:
    sources = {**make_sheet()["sources"], "older": {"title": "Sheet of 2025"}}
    bandwidth = {
        "unit": "TB/s",
        "reason": "The newer sheet.",
        "claims": [
            {"value": 5.2, "source": "older", "verdict": "an older sheet"},
            {"value": 5.3, "source": "sheet", "preferred": True, "retrieved": "2026-10-01"},
        ],
    }
    document = make_attributes(memory_bandwidth=bandwidth)
    document["sources"] = sources
    for name, entry in document["attributes"].items():
        if name != "memory_bandwidth":
            entry["source"] = "sheet"
    proposal = read(document)
    (preference,) = [fact for fact in proposal.facts if isinstance(fact, ClaimPreference)]
    assert (preference.value, preference.reason) == (5_300_000_000_000, "The newer sheet.")
    assert list_claims(proposal)["memory_bandwidth"].retrieved == "2026-10-01"
    attribute = catalog.with_user_facts(UserFacts.of(proposal.facts)).attribute("example-1", "memory_bandwidth")
    assert attribute.value == 5_300_000_000_000
    assert [claim.value for claim in attribute.rivals] == [5_200_000_000_000]
    older = next(fact for fact in proposal.facts if isinstance(fact, Source) and fact.title == "Sheet of 2025")
    assert (older.publisher, older.kind) == ("part.json", SourceKind.USER)


def encode_entry(catalog: Catalog, part: str) -> dict[str, Any]:
    """Return what `gpudesk catalog show --json` prints of a part."""
    thing = catalog.thing(part)
    return {
        "id": thing.id,
        "kind": thing.kind.value,
        "name": thing.name,
        "maker": thing.maker,
        "attributes": [encode_attribute(attribute) for attribute in catalog.attributes(part)],
        "disputes": [],
        "catalog": {"revision": catalog.revision, "date": catalog.data_date},
    }


def test_every_shipped_part_can_be_printed_edited_and_read(catalog: Catalog) -> None:
    for part in catalog.accelerators():
        document = encode_entry(catalog, part.id) | {"id": f"{part.id}-own", "name": f"{part.name} as we have it"}
        reread = read(document)
        assert [field.name for field in reread.missing] == ["generation"]
        raw = json.dumps(document).encode()
        proposal = propose_accelerator(raw, {"generation": part.generation}, name="x.json", today=TODAY)
        merged = catalog.with_user_facts(UserFacts.of(proposal.facts))
        for attribute in catalog.attributes(part.id):
            if attribute.value is not None:
                assert merged.attribute(f"{part.id}-own", attribute.name).value == attribute.value
        assert merged.accelerator(f"{part.id}-own").announced == part.announced


def test_edited_value_must_be_edited_in_its_claim_too(catalog: Catalog) -> None:
    document = encode_entry(catalog, "mi325x") | {"generation": "cdna3"}
    bandwidth = next(each for each in document["attributes"] if each["name"] == "memory_bandwidth")
    bandwidth["value"] = 5_300_000_000_000
    assert "differs from the value of its claim" in refuse(document)
    del bandwidth["claim"], bandwidth["rivals"]
    assert list_claims(read(document))["memory_bandwidth"].value == 5_300_000_000_000


def test_unknown_generation_lists_the_known_ones() -> None:
    raw = json.dumps(make_sheet(generation=None)).encode()
    proposal = propose_accelerator(raw, name="x", today=TODAY, generations=["hopper", "ampere"])
    (field,) = proposal.missing
    assert (field.name, field.kind, field.choices) == ("generation", "word", ("ampere", "hopper"))
    assert proposal.facts == ()
    completed = propose_accelerator(raw, {"generation": "Brand New"}, name="x", today=TODAY)
    assert next(fact for fact in completed.facts if isinstance(fact, UserAccelerator)).generation == "brand-new"


def test_doubtful_figures_come_with_their_doubts() -> None:
    proposal = read(make_attributes(peak_dense_fp8={"value": 5, "unit": "PFLOPS"}))
    assert "peak dense fp8: 3.82 times the BF16 peak" in "\n".join(map(format_message, proposal.notes))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (make_attributes(memory=None), "memory: is missing; it is required"),
        (make_attributes(memory={"value": 192}), "memory: null is not a unit for this attribute, which uses B"),
        (
            make_attributes(memory={"value": 192, "unit": "TFLOPS"}),
            "memory: 'TFLOPS' is not a unit for this attribute, which uses B",
        ),
        (make_attributes(memory={"value": "192", "unit": "GiB"}), "memory"),
        (make_attributes(memory={"value": -1, "unit": "GiB"}), "use a value above 0"),
        (make_attributes(memory={"value": 10**400, "unit": "GiB"}), "use a value above 0"),
        (make_attributes(memory={"value": True, "unit": "GiB"}), "true"),
        (make_attributes(memory={"unit": "GiB"}), "attributes.memory.value: is missing"),
        (make_attributes(memory_stacks={"value": 7.5, "unit": "stacks"}), "memory_stacks"),
        (make_attributes(software_platform={"value": 3}), "software_platform"),
        (make_attributes(software_platform={"value": "CUDA", "unit": "W"}), "text has no unit"),
        (
            make_attributes(memory_bandwith={"value": 1, "unit": "TB/s"}),
            "memory_bandwith: is not an attribute of such entries; correct its name",
        ),
        (make_attributes(memory_bandwidth={"value": 5300, "unit": "TB/s"}), "outside the possible range"),
        (make_attributes(memory_bandwidth={"value": 5.3, "unit": "GB/s"}), "check the unit"),
        (make_attributes(memory={"value": 1, "unit": "GiB", "source": "other"}), "'other' is not in the list"),
        (make_sheet(sources=None), "attributes.memory.source"),
        (make_sheet(sources={"sheet": {"publisher": "x"}}), "sources.sheet.title: is missing"),
        (make_sheet(sources={"sheet": {"title": "x", "kind": "rumour"}}), "sources.sheet.kind"),
        (make_sheet(sources={"sheet": {"title": "x", "url": "javascript:alert(1)"}}), "sources.sheet.url"),
        (make_sheet(sources={"sheet": {"title": "x", "date": "soon"}}), "sources.sheet.date"),
        (make_sheet(name=None), "name: is missing"),
        (make_sheet(vendor=None), "vendor: is missing"),
        (make_sheet(name="a\0b"), "control character"),
        (make_sheet(name="a\u202eb"), "control character"),
        (make_sheet(kind="model"), "is not an accelerator"),
        (make_sheet(announced="no"), "announced"),
        (make_sheet(attributes=[{"name": "tdp", "value": None}] * 2), "twice"),
        (make_sheet(attributes=7), "attributes"),
        ([1, 2], "is not a supported import"),
    ],
)
def test_faults_are_reported_at_their_field(document: object, words: str) -> None:
    assert words in refuse(document)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"{", "JSON"),
        (b'{"name": NaN}', "JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested"),
        (b'{"a": ' + b"9" * 5000 + b"}", "nested"),
        (b'"' + b"x" * (5 << 20) + b'"', "larger than"),
    ],
)
def test_files_that_are_none_are_refused(raw: bytes, words: str) -> None:
    with pytest.raises(InputError) as error:
        propose_accelerator(raw, name="x.json", today=TODAY)
    assert words in format_input_error(error.value)


def test_unread_fields_are_reported() -> None:
    proposal = read(make_sheet(color="red"))
    assert "Ignored fields: color" in "\n".join(map(format_message, proposal.left_out))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["=1+1", "+1", "-1", "@x", "\0", "\u202e", "'; DROP TABLE claim; --", "x" * 3000])
    | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


@given(
    path=st.sampled_from(
        [
            (),
            ("name",),
            ("id",),
            ("generation",),
            ("vendor",),
            ("announced",),
            ("sources",),
            ("sources", "sheet"),
            ("sources", "sheet", "title"),
            ("sources", "sheet", "date"),
            ("attributes",),
            ("attributes", "memory"),
            ("attributes", "memory", "value"),
            ("attributes", "memory", "unit"),
            ("attributes", "memory", "claims"),
            ("attributes", "memory_type", "value"),
            ("attributes", "software_platform", "value"),
        ]
    ),
    value=json_values,
)
def test_anything_anywhere_gives_a_proposal_or_a_refusal(path: tuple[str, ...], value: object) -> None:
    document: Any = make_sheet()
    if path:
        place = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    else:
        document = value
    try:
        read_to: object = read(document)
    except InputError as error:
        read_to = format_input_error(error)
        assert read_to.isprintable()
    assert read_to
