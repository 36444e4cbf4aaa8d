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


def sheet(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has it
    made: dict[str, Any] = {
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
    made |= changes
    return {name: value for name, value in made.items() if value is not None}


def attributes(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has it
    found: dict[str, Any] = {**sheet()["attributes"], **changes}
    return sheet(attributes={name: value for name, value in found.items() if value is not None})


def read(made: object) -> ImportProposal:
    return propose_accelerator(json.dumps(made).encode(), name="part.json", today=TODAY)


def claims(proposal: ImportProposal) -> dict[str, UserClaim]:
    found: dict[str, UserClaim] = {}
    for fact in proposal.facts:
        if isinstance(fact, UserClaim):
            found.setdefault(fact.attribute, fact)
    return found


def refused(made: object) -> str:
    with pytest.raises(InputError) as error:
        read(made)
    return format_input_error(error.value)


def test_documented_form_makes_a_whole_accelerator(catalog: Catalog) -> None:
    proposal = read(sheet())
    source, part = proposal.facts[:2]
    assert isinstance(source, Source)
    assert (source.title, source.kind, source.date) == ("Data sheet", SourceKind.VENDOR_DATASHEET, "2026-03")
    assert part == UserAccelerator("example-1", "Example 1", "Example", "hopper", announced=False)
    stated = claims(proposal)
    assert (stated["memory"].value, stated["memory"].published) == (192 * GIB, "192 GiB")
    assert stated["memory_bandwidth"].value == 5_300_000_000_000
    assert stated["supported_precisions"].value == ("fp16", "bf16")
    assert {claim.source for claim in stated.values()} == {source.id}
    merged = catalog.with_own(UserFacts.of(proposal.facts)).accelerator("example-1")
    assert (merged.memory_bytes, merged.platform) == (192 * GIB, "ROCm")
    assert merged.peak_dense["bf16"] == 1307.4e12


def test_rival_claims_come_with_the_preferred_one_first(catalog: Catalog) -> None:
    sources = {**sheet()["sources"], "older": {"title": "Sheet of 2025"}}
    bandwidth = {
        "unit": "TB/s",
        "reason": "The newer sheet.",
        "claims": [
            {"value": 5.2, "source": "older", "verdict": "an older sheet"},
            {"value": 5.3, "source": "sheet", "preferred": True, "retrieved": "2026-10-01"},
        ],
    }
    made = attributes(memory_bandwidth=bandwidth)
    made["sources"] = sources
    for name, entry in made["attributes"].items():
        if name != "memory_bandwidth":
            entry["source"] = "sheet"
    proposal = read(made)
    (preference,) = [fact for fact in proposal.facts if isinstance(fact, ClaimPreference)]
    assert (preference.value, preference.reason) == (5_300_000_000_000, "The newer sheet.")
    assert claims(proposal)["memory_bandwidth"].retrieved == "2026-10-01"
    attribute = catalog.with_own(UserFacts.of(proposal.facts)).attribute("example-1", "memory_bandwidth")
    assert attribute.value == 5_300_000_000_000
    assert [claim.value for claim in attribute.rivals] == [5_200_000_000_000]
    older = next(fact for fact in proposal.facts if isinstance(fact, Source) and fact.title == "Sheet of 2025")
    assert (older.publisher, older.kind) == ("part.json", SourceKind.USER)


def shown(catalog: Catalog, part: str) -> dict[str, Any]:
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
        made = shown(catalog, part.id) | {"id": f"{part.id}-own", "name": f"{part.name} as we have it"}
        asked = read(made)
        assert [field.name for field in asked.missing] == ["generation"]
        raw = json.dumps(made).encode()
        proposal = propose_accelerator(raw, {"generation": part.generation}, name="x.json", today=TODAY)
        merged = catalog.with_own(UserFacts.of(proposal.facts))
        for attribute in catalog.attributes(part.id):
            if attribute.value is not None:
                assert merged.attribute(f"{part.id}-own", attribute.name).value == attribute.value
        assert merged.accelerator(f"{part.id}-own").announced == part.announced


def test_edited_value_must_be_edited_in_its_claim_too(catalog: Catalog) -> None:
    made = shown(catalog, "mi325x") | {"generation": "cdna3"}
    bandwidth = next(each for each in made["attributes"] if each["name"] == "memory_bandwidth")
    bandwidth["value"] = 5_300_000_000_000
    assert "differs from the value of its claim" in refused(made)
    del bandwidth["claim"], bandwidth["rivals"]
    assert claims(read(made))["memory_bandwidth"].value == 5_300_000_000_000


def test_generation_is_asked_for_with_those_that_there_are() -> None:
    raw = json.dumps(sheet(generation=None)).encode()
    proposal = propose_accelerator(raw, name="x", today=TODAY, generations=["hopper", "ampere"])
    (field,) = proposal.missing
    assert (field.name, field.kind, field.choices) == ("generation", "word", ("ampere", "hopper"))
    assert proposal.facts == ()
    completed = propose_accelerator(raw, {"generation": "Brand New"}, name="x", today=TODAY)
    assert next(fact for fact in completed.facts if isinstance(fact, UserAccelerator)).generation == "brand-new"


def test_doubtful_figures_come_with_their_doubts() -> None:
    proposal = read(attributes(peak_dense_fp8={"value": 5, "unit": "PFLOPS"}))
    assert "peak dense fp8: 3.82 times the BF16 peak" in "\n".join(map(format_message, proposal.notes))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (attributes(memory=None), "memory: is missing; it is required"),
        (attributes(memory={"value": 192}), "memory: null is not a unit for this attribute, which uses B"),
        (
            attributes(memory={"value": 192, "unit": "TFLOPS"}),
            'memory: "TFLOPS" is not a unit for this attribute, which uses B',
        ),
        (attributes(memory={"value": "192", "unit": "GiB"}), "memory"),
        (attributes(memory={"value": -1, "unit": "GiB"}), "use a value above 0"),
        (attributes(memory={"value": 10**400, "unit": "GiB"}), "use a value above 0"),
        (attributes(memory={"value": True, "unit": "GiB"}), "true"),
        (attributes(memory={"unit": "GiB"}), "attributes.memory.value: is missing"),
        (attributes(memory_stacks={"value": 7.5, "unit": "stacks"}), "memory_stacks"),
        (attributes(software_platform={"value": 3}), "software_platform"),
        (attributes(software_platform={"value": "CUDA", "unit": "W"}), "text has no unit"),
        (
            attributes(memory_bandwith={"value": 1, "unit": "TB/s"}),
            "memory_bandwith: is not an attribute of such entries; correct its name",
        ),
        (attributes(memory_bandwidth={"value": 5300, "unit": "TB/s"}), "outside the possible range"),
        (attributes(memory_bandwidth={"value": 5.3, "unit": "GB/s"}), "check the unit"),
        (attributes(memory={"value": 1, "unit": "GiB", "source": "other"}), "other is not in the list of sources"),
        (sheet(sources=None), "attributes.memory.source"),
        (sheet(sources={"sheet": {"publisher": "x"}}), "sources.sheet.title: is missing"),
        (sheet(sources={"sheet": {"title": "x", "kind": "rumour"}}), "sources.sheet.kind"),
        (sheet(sources={"sheet": {"title": "x", "url": "javascript:alert(1)"}}), "sources.sheet.url"),
        (sheet(sources={"sheet": {"title": "x", "date": "soon"}}), "sources.sheet.date"),
        (sheet(name=None), "name: is missing"),
        (sheet(vendor=None), "vendor: is missing"),
        (sheet(name="a\0b"), "control character"),
        (sheet(name="a\u202eb"), "control character"),
        (sheet(kind="model"), "is not an accelerator"),
        (sheet(announced="no"), "announced"),
        (sheet(attributes=[{"name": "tdp", "value": None}] * 2), "twice"),
        (sheet(attributes=7), "attributes"),
        ([1, 2], "is not a supported import"),
    ],
)
def test_faults_are_said_at_their_field(made: object, words: str) -> None:
    assert words in refused(made)


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


def test_fields_that_are_not_read_are_said() -> None:
    proposal = read(sheet(color="red"))
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
    made: Any = sheet()
    if path:
        place = made
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    else:
        made = value
    try:
        read_to: object = read(made)
    except InputError as error:
        read_to = format_input_error(error)
        assert read_to.isprintable()
    assert read_to
