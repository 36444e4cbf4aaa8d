"""Value packs: what is packed can be read, what was tampered with does not, and nothing comes in unasked."""

import gzip
import hashlib
import io
import json
import random
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.documents import pack_file
from gpudesk.documents.pack_file import write_canonical_json
from gpudesk.documents.packs import find_new_signer, make_pack, make_pack_edit, preview_pack, read_pack
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import (
    FactEdit,
    FactKey,
    FactPack,
    PackRow,
    PackRowStatus,
    PackTrust,
    TrustedSigner,
    UserClaim,
    UserFacts,
    get_chosen_keys,
    get_fact_key,
)
from gpudesk.service import GpuDeskService
from gpudesk.text import messages
from gpudesk.text.messages import InputError
from tests.unit.domain.user_samples import ALL, LAB, OFFER, OVERRIDE, TODAY

BANDWIDTH: FactKey = ("claim", "mi325x", "memory_bandwidth", LAB.id)
CHOICE: FactKey = ("preference", "mi325x", "memory_bandwidth")


@pytest.fixture(scope="module")
def shipped_catalog() -> Iterator[Catalog]:
    with GpuDeskService.open() as service:
        yield service.catalog


def make_pack_file(facts: UserFacts = ALL, signer: pack_file.PackSigner | None = None) -> bytes:
    return make_pack(facts, facts.facts.keys(), "Our figures", date=TODAY, about="r1", signer=signer)


def read_document(raw: bytes) -> dict[str, Any]:
    document = json.loads(raw)
    assert isinstance(document, dict)
    return document


def sealed(content: object) -> bytes:
    digest = hashlib.sha256(write_canonical_json(content)).hexdigest()
    return json.dumps({"gpudesk_pack": 1, "content": content, "sha256": digest}).encode()


def refusal(raw: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        read_pack(raw)
    return caught.value


# Making and reading


def test_pack_survives_a_round_trip() -> None:
    pack = read_pack(make_pack_file())
    assert (pack.name, pack.date, pack.about) == ("Our figures", TODAY, "r1")
    assert dict(pack.facts.facts) == dict(ALL.facts)
    assert pack.trust(()) is PackTrust.UNSIGNED


def test_order_of_facts_does_not_change_the_file() -> None:
    assert make_pack_file(UserFacts.of(reversed(list(ALL)))) == make_pack_file()


def test_a_pack_is_text_that_survives_another_layout() -> None:
    pretty = json.dumps(read_document(make_pack_file()), indent=8).encode()
    assert read_pack(pretty) == read_pack(make_pack_file())


def test_a_part_of_the_facts_comes_with_its_sources() -> None:
    raw = make_pack(ALL, [CHOICE, BANDWIDTH], "Two", date=TODAY, about="r1")
    assert set(read_pack(raw).facts.facts) == {CHOICE, BANDWIDTH, ("source", LAB.id)}
    with pytest.raises(InputError, match=r"pack\.empty"):
        make_pack(UserFacts(), [], "None", date=TODAY, about="r1")
    with pytest.raises(InputError, match=r"field\.empty"):
        make_pack(ALL, ALL.facts.keys(), "  ", date=TODAY, about="r1")


def test_a_pack_that_was_changed_is_refused() -> None:
    document = read_document(make_pack_file())
    document["content"]["name"] = "Their figures"
    assert messages.format_input_error(refusal(json.dumps(document).encode())).startswith(
        "was changed after it was created"
    )


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        # A fixed date: what tests are called by must be the same in every process.
        archive.writestr(zipfile.ZipInfo("bomb"), b"\0" * 10_000_000, zipfile.ZIP_DEFLATED)
    return target.getvalue()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"part,usd\nh200-sxm,2\n",
        zipped(),
        gzip.compress(b'{"gpudesk_pack": 1}', mtime=0),
        b"\x7fELF\x00\x00",
        b'{"gpudesk": 1, "scenario": {}}',
        b'{"gpudesk_pack": true}',
        b'{"gpudesk_pack": 0}',
        b'{"gpudesk_pack": "1"}',
        b"[" * 500_000,
        b'{"a":' * 200_000,
        b'{"a":[' + b"[]," * 2_000_000 + b"[]]}",
        '{"gpudesk_pack": 1}'.encode("utf-16"),
        b'{"gpudesk_pack": 1, "content": ' + b"9" * 5000 + b"}",
        b'{"gpudesk_pack": NaN}',
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_file_that_is_not_a_pack_is_refused(raw: bytes) -> None:
    assert messages.format_input_error(refusal(raw)).startswith("is not a value pack")


def test_large_file_is_refused_before_reading() -> None:
    assert refusal(b'{"gpudesk_pack": 1, "x": "' + b"x" * (33 << 20) + b'"}').problem.id == "file.too_big"


def test_truncated_pack_is_refused() -> None:
    assert refusal(make_pack_file()[:-40]).problem.id == "pack.cut"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"gpudesk_pack": 2}, "pack.newer"),
        ({"extra": 1}, "field.unknown"),
        ({"content": []}, "field.type"),
        ({"sha256": None}, "pack.changed"),
        ({"signature": "x"}, "field.type"),
        ({"signature": {"algorithm": "rsa"}}, "pack.algorithm"),
        ({"signature": {"algorithm": "ed25519", "key": "00", "name": "x", "value": "0"}}, "pack.no_signature"),
    ],
)
def test_a_file_that_is_built_otherwise_is_refused(change: dict[str, Any], problem: str) -> None:
    assert refusal(json.dumps({**read_document(make_pack_file()), **change}).encode()).problem.id == problem


def test_duplicate_key_is_refused() -> None:
    raw = make_pack_file().replace(b'"gpudesk_pack": 1', b'"gpudesk_pack": 1, "gpudesk_pack": 1')
    assert refusal(raw).problem.id == "scenario.twice"


@pytest.mark.parametrize(
    ("change", "problem", "where"),
    [
        ({"facts": None}, "field.type", "content.facts"),
        ({"facts": [{"fact": "spell"}]}, "field.word", "content.facts[0].fact"),
        ({"name": "a\u001b[2J"}, "field.control", "content.name"),
        ({"made": "soon"}, "field.month", "content.made"),
        ({"more": 1}, "field.unknown", "content"),
    ],
)
def test_contents_are_checked_whole_though_their_digest_holds(change: dict[str, Any], problem: str, where: str) -> None:
    error = refusal(sealed({**read_document(make_pack_file())["content"], **change}))
    assert (error.problem.id, error.where) == (problem, where)


def test_a_number_beyond_all_numbers_is_refused() -> None:
    raw = b'{"gpudesk_pack": 1, "content": {"name": 1e999}, "sha256": ""}'
    assert refusal(raw).problem.id == "pack.changed"


def test_contents_that_are_nested_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    assert refusal(sealed({"name": deep})).problem.id == "pack.foreign"


# Signatures


def test_a_signature_names_its_signer_once_the_key_is_known() -> None:
    signer = pack_file.load_signer("Ada")
    pack = read_pack(make_pack_file(signer=signer))
    assert pack.signature is not None
    assert (pack.signature.name, pack.signature.key) == ("Ada", signer.key)
    assert pack.trust([]) is PackTrust.UNKNOWN
    signer_record = TrustedSigner(signer.key, "Ada of the lab", TODAY)
    assert pack.trust([signer_record]) is PackTrust.KNOWN
    assert pack.signer([signer_record]) == signer_record


def test_the_key_is_made_once_and_for_the_user_alone(user_home: Path) -> None:
    first, second = pack_file.load_signer("a"), pack_file.load_signer("b")
    assert first.key == second.key
    path = user_home / "signing-key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in user_home.iterdir()] == ["signing-key"]


def test_a_signature_covers_contents_and_name() -> None:
    raw = make_pack_file(signer=pack_file.load_signer("Ada"))
    document = read_document(raw)
    document["signature"]["name"] = "Eve"
    assert refusal(json.dumps(document).encode()).problem.id == "pack.broken_signature"
    other = read_document(make_pack(ALL, [BANDWIDTH], "Less", date=TODAY, about="r1"))
    other["signature"] = read_document(raw)["signature"]
    assert refusal(json.dumps(other).encode()).problem.id == "pack.broken_signature"
    document = read_document(raw)
    document["signature"]["key"] = "00" * 32
    assert refusal(json.dumps(document).encode()).problem.id == "pack.broken_signature"


def test_a_file_that_is_no_key_is_left_alone(user_home: Path) -> None:
    user_home.mkdir()
    (user_home / "signing-key").write_text("not hex")
    with pytest.raises(InputError, match=r"pack\.no_key"):
        pack_file.load_signer("Ada")
    assert (user_home / "signing-key").read_text() == "not hex"


def test_unknown_signer_needs_trust_and_a_trusted_one_does_not() -> None:
    signer = pack_file.load_signer("Ada")
    pack = read_pack(make_pack_file(signer=signer))
    with pytest.raises(InputError) as caught:
        find_new_signer(pack, (), trust=False, today=TODAY)
    assert pack_file.format_fingerprint(signer.key) in messages.format_input_error(caught.value)
    new = find_new_signer(pack, (), trust=True, today=TODAY)
    assert new == TrustedSigner(signer.key, "Ada", TODAY)
    assert find_new_signer(pack, [new], trust=False, today=TODAY) is None


def test_unsigned_pack_needs_trust() -> None:
    pack = read_pack(make_pack_file())
    with pytest.raises(InputError, match=r"pack\.unsigned"):
        find_new_signer(pack, (), trust=False, today=TODAY)
    assert find_new_signer(pack, (), trust=True, today=TODAY) is None


def test_a_fingerprint_is_short_enough_to_be_read_aloud() -> None:
    assert pack_file.format_fingerprint("00" * 32) == "6668 7aad f862 bd77 6c8f c18b 8e9f 8e20"


# What it would change


def rows_of(pack: FactPack, catalog: Catalog) -> dict[FactKey, PackRow]:
    return {row.key: row for row in preview_pack(pack, catalog)}


def test_all_facts_are_new_to_a_user_without_facts(shipped_catalog: Catalog) -> None:
    rows = rows_of(read_pack(make_pack_file()), shipped_catalog)
    assert set(rows) == set(ALL.facts)
    assert rows[BANDWIDTH].standing is PackRowStatus.NEW
    choice = rows[CHOICE]
    assert (choice.standing, choice.name, choice.unit) == (PackRowStatus.OVERRIDES, "Instinct MI325X", "B/s")
    assert choice.shipped is not None
    assert choice.shipped.value == 6e12
    assert choice.chosen
    part = ("accelerator", "ours-x1")
    assert rows["claim", "ours-x1", "memory", LAB.id].part_of == part
    assert not rows["claim", "ours-x1", "memory", LAB.id].can_be_chosen
    assert rows[part].chosen
    assert rows["price", "offer-2"].chosen


def test_existing_facts_are_kept_unless_replaced(shipped_catalog: Catalog) -> None:
    mine = UserFacts.of(
        [
            LAB,
            replace_claim(5.1e12),
            ClaimPreference("mi325x", "memory_bandwidth", LAB.id, 5.1e12, "mine", TODAY),
            OFFER,
            *(fact for fact in ALL if get_fact_key(fact)[0] == "price"),
        ]
    )
    catalog = shipped_catalog.with_user_facts(mine)
    pack = read_pack(make_pack_file())
    rows = rows_of(pack, catalog)
    assert rows["price", "offer-1"].standing is PackRowStatus.SAME
    for key in (BANDWIDTH, CHOICE):
        assert rows[key].standing is PackRowStatus.DIFFERS
        assert rows[key].can_be_chosen
        assert not rows[key].chosen
    assert rows[BANDWIDTH].yours == replace_claim(5.1e12)
    after = mine.after(make_pack_edit(pack, rows.values(), get_chosen_keys(rows.values()), catalog))
    assert after.get(*BANDWIDTH) == replace_claim(5.1e12)
    after = mine.after(make_pack_edit(pack, rows.values(), [CHOICE], catalog))
    assert (after.get(*BANDWIDTH), after.get(*CHOICE)) == OVERRIDE


def replace_claim(value: float) -> UserClaim:
    return UserClaim("mi325x", "memory_bandwidth", value, LAB.id, SourceKind.USER, TODAY)


def test_pack_choice_against_a_users_claim_is_unselected(shipped_catalog: Catalog) -> None:
    catalog = shipped_catalog.with_user_facts(UserFacts.of([LAB, replace_claim(5.1e12)]))
    row = rows_of(read_pack(make_pack_file()), catalog)[CHOICE]
    assert (row.standing, row.yours, row.chosen) == (PackRowStatus.DIFFERS, replace_claim(5.1e12), False)


def test_inapplicable_facts_are_reported_and_disabled(shipped_catalog: Catalog) -> None:
    facts = UserFacts.of(
        [
            LAB,
            UserClaim("q9", "tdp", 500, LAB.id, SourceKind.USER, TODAY),
            UserClaim("vllm", "tdp", 500, LAB.id, SourceKind.USER, TODAY),
            UserClaim("h200-sxm", "licence", "free", LAB.id, SourceKind.USER, TODAY),
            ClaimPreference("h200-sxm", "tdp", "no-such-source", 500, "because", TODAY),
        ]
    )
    rows = rows_of(read_pack(make_pack_file(facts)), shipped_catalog)
    standings = {row.key[1]: row.standing for row in rows.values() if row.key[0] == "claim"}
    assert standings == {"q9": PackRowStatus.NO_ENTRY, "vllm": PackRowStatus.UNFIT, "h200-sxm": PackRowStatus.UNFIT}
    assert rows["preference", "h200-sxm", "tdp"].standing is PackRowStatus.NO_CLAIM
    assert get_chosen_keys(rows.values()) == {("source", LAB.id)}


def test_an_entry_whose_id_is_taken_by_a_shipped_one_stays_out(shipped_catalog: Catalog) -> None:
    content = json.loads(json.dumps(read_document(make_pack_file())["content"]).replace("ours-x1", "h200-sxm"))
    pack = read_pack(sealed(content))
    rows = rows_of(pack, shipped_catalog)
    assert rows["accelerator", "h200-sxm"].standing is PackRowStatus.TAKEN
    claim = rows["claim", "h200-sxm", "memory", LAB.id]
    assert (claim.standing, claim.part_of) == (PackRowStatus.NEW, None)
    edit = make_pack_edit(pack, rows.values(), get_chosen_keys(rows.values()), shipped_catalog)
    assert ("accelerator", "h200-sxm") not in {get_fact_key(fact) for fact in edit.after}


# Taking it in


def test_pack_import_is_one_undo_step(shipped_catalog: Catalog) -> None:
    pack = read_pack(make_pack_file())
    rows = preview_pack(pack, shipped_catalog)
    edit = make_pack_edit(pack, rows, get_chosen_keys(rows), shipped_catalog)
    assert edit.before == ()
    after = UserFacts().after(edit)
    assert dict(after.facts) == dict(ALL.facts)
    assert len(after.after(edit.invert())) == 0
    catalog = shipped_catalog.with_user_facts(after)
    assert catalog.accelerator("mi325x").memory_bandwidth == 5.5e12
    assert catalog.accelerator("ours-x1").memory_bytes == 96 * 2**30
    assert catalog.model("ours-8b").layer_count == 32


def test_dependencies_of_selected_facts_are_selected(shipped_catalog: Catalog) -> None:
    pack = read_pack(make_pack_file())
    rows = preview_pack(pack, shipped_catalog)
    edit = make_pack_edit(pack, rows, [CHOICE], shipped_catalog)
    assert {get_fact_key(fact) for fact in edit.after} == {("source", LAB.id), BANDWIDTH, CHOICE}
    edit = make_pack_edit(pack, rows, [("price", "offer-2")], shipped_catalog)
    shipped_catalog.with_user_facts(UserFacts().after(edit)).accelerator("ours-x1")
    with pytest.raises(InputError, match=r"pack\.nothing_chosen"):
        make_pack_edit(pack, rows, [("claim", "no", "such", "row")], shipped_catalog)


def test_an_entry_that_differs_can_be_replaced(shipped_catalog: Catalog) -> None:
    first = preview_pack(read_pack(make_pack_file()), shipped_catalog)
    mine = UserFacts().after(
        make_pack_edit(read_pack(make_pack_file()), first, get_chosen_keys(first), shipped_catalog)
    )
    part = mine.get("accelerator", "ours-x1")
    assert part is not None
    other = UserFacts.of([*mine, replace(part, name="Ours X1 rev B")])  # type: ignore[arg-type]
    pack, catalog = read_pack(make_pack_file(other)), shipped_catalog.with_user_facts(mine)
    rows = preview_pack(pack, catalog)
    assert [row.key for row in rows if row.standing is PackRowStatus.DIFFERS] == [("accelerator", "ours-x1")]
    edit = make_pack_edit(pack, rows, [("accelerator", "ours-x1")], catalog)
    assert (len(edit.before), len(edit.after)) == (1, 1)


# Hostile files


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_refused(raw: bytes) -> None:
    refusal(raw)


@given(st.data())
def test_a_pack_with_any_byte_changed_is_a_pack_or_refused(data: st.DataObject) -> None:
    raw = bytearray(make_pack_file())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        how = data.draw(st.sampled_from(["flip", "cut", "double", "insert"]))
        if how == "flip":
            raw[place] = data.draw(st.integers(0, 255))
        elif how == "cut":
            del raw[place : place + data.draw(st.integers(1, 50))]
        elif how == "double":
            raw[place:place] = raw[place : place + 30]
        else:
            raw[place:place] = data.draw(st.binary(max_size=5))
        if not raw:
            break
    try:
        pack = read_pack(bytes(raw))
    except InputError as error:
        messages.format_input_error(error)
        return
    assert pack.facts.facts == ALL.facts or pack.digest != read_pack(make_pack_file()).digest


def test_contents_that_are_tampered_with_and_sealed_again_are_facts_or_refused(shipped_catalog: Catalog) -> None:
    chance = random.Random(7)
    odd: list[Any] = [
        None,
        True,
        -1,
        0,
        1e308,
        10**40,
        "",
        "=1+1",
        "\u202ex",
        "a\u0000",
        "../x",
        "x" * 5000,
        [],
        {},
        [[]],
    ]
    for _ in range(300):
        content = read_document(make_pack_file())["content"]
        record = chance.choice(content["facts"])
        target = record.get("definition", record) if chance.random() < 0.3 else record
        target[chance.choice(list(target))] = chance.choice(odd)
        try:
            pack = read_pack(sealed(content))
            rows = preview_pack(pack, shipped_catalog)
            edit = make_pack_edit(pack, rows, [row.key for row in rows], shipped_catalog)
        except InputError as error:
            messages.format_input_error(error)
            continue
        assert isinstance(edit, FactEdit)
        catalog = shipped_catalog.with_user_facts(UserFacts().after(edit))
        catalog.accelerators()
        catalog.models()


def test_a_hostile_title_stays_text(shipped_catalog: Catalog) -> None:
    source = Source(LAB.id, "=cmd|' /C calc'!A0'); DROP TABLE source;--", "Us", SourceKind.USER)
    facts = UserFacts.of([source, replace_claim(5e12)])
    assert read_pack(make_pack_file(facts)).facts.get("source", LAB.id) == source


@pytest.mark.parametrize("turned", ["\u202eUs", "U\u2066s"])
def test_a_name_that_reads_another_way_than_it_shows_is_refused(turned: str) -> None:
    facts = UserFacts.of([Source(LAB.id, "Lab", turned, SourceKind.USER), replace_claim(5e12)])
    with pytest.raises(InputError, match=r"field\.control") as caught:
        read_pack(make_pack_file(facts))
    assert caught.value.where == "facts[0].publisher"
    with pytest.raises(InputError, match=r"field\.control"):
        make_user_source("Lab", turned)


def test_preview_of_a_pack_writes_nothing(user_home: Path, shipped_catalog: Catalog) -> None:
    preview_pack(read_pack(make_pack_file()), shipped_catalog)
    assert not user_home.exists()


@pytest.mark.parametrize("key", ["no key", "abc"])
def test_invalid_key_has_no_fingerprint(key: str) -> None:
    assert pack_file.format_fingerprint(key) == ""
