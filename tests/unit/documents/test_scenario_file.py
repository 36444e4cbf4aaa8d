"""Scenario files: round trips, what survives a save, and how broken files are refused."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.documents.scenario_file import (
    SAMPLE_TEMPLATE,
    format_scenario,
    list_template_ids,
    list_templates,
    parse_scenario,
    read_scenario,
    read_template,
    write_scenario,
)
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.files import write_atomically
from gpudesk.text.messages import InputError, format_input_error

SCENARIO = Scenario(
    name="Chat für Köln, 日本",
    model="llama-3.1-70b",
    weights=Precision.FP8,
    workload=Workload(2000, 500, Load(LoadKind.CONCURRENCY, concurrency=64), prefix_hit_rate=0.25),
    accelerators=(
        AcceleratorChoice("h200-sxm", 8, tp=4, dp=2),
        AcceleratorChoice("mi325x", serving_engine="vllm", attention_dp=False),
    ),
    catalog_revision="0f" * 32,
    user_records=({"thing": "my-card", "value": 1.5},),
    unknown_sections={"cost": {"version": 3, "rent": [1.95, None, True], "ü": "ß"}},
)


def refusal(contents: bytes | str | dict[str, Any]) -> str:
    if isinstance(contents, dict):
        contents = json.dumps(contents)
    raw = contents.encode() if isinstance(contents, str) else contents
    with pytest.raises(InputError) as caught:
        parse_scenario(raw, "a.gpudesk")
    return format_input_error(caught.value)


def document() -> dict[str, Any]:
    contents: dict[str, Any] = json.loads(format_scenario(SCENARIO))
    return contents


def test_round_trip_is_the_same_scenario_and_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.gpudesk"
    write_scenario(SCENARIO, path)
    first = path.read_bytes()
    read = read_scenario(path)
    assert read == SCENARIO
    write_scenario(read, path)
    assert path.read_bytes() == first
    assert first.endswith(b"}\n")
    assert "für Köln, 日本" in first.decode()


_LOADS = st.one_of(
    st.builds(lambda n: Load(LoadKind.BATCH, batch=n), st.integers(1, 1000)),
    st.builds(lambda n, r: Load(LoadKind.CONCURRENCY, concurrency=n, requests=r), st.integers(1, 99), st.none()),
    st.builds(lambda n: Load(LoadKind.SATURATE, requests=n), st.integers(1, 1000)),
    st.builds(lambda r: Load(LoadKind.REQUEST_RATE, request_rate=r), st.floats(1e-6, 1e6)),
    st.builds(
        lambda x, y, limit: Load(LoadKind.LIMITS, ttft_ms=x, tpot_ms=y, limit=limit),
        st.floats(0.1, 1e6),
        st.floats(0.1, 1e6),
        st.sampled_from(["p99", "mean"]),
    ),
)

_SCENARIOS = st.builds(
    Scenario,
    name=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=50),
    model=st.just("llama-3.1-70b"),
    weights=st.sampled_from(Precision),
    kv=st.sampled_from(list(KV_BYTES)),
    workload=st.builds(
        Workload,
        input_tokens=st.integers(1, 10**8),
        output_tokens=st.integers(1, 10**8),
        load=_LOADS,
        varied=st.booleans(),
        server=st.none() | st.booleans(),
        acceptance_length=st.floats(1, 8),
        eager=st.booleans(),
    ),
    accelerators=st.lists(
        st.builds(AcceleratorChoice, accelerator=st.just("h200-sxm"), count=st.none() | st.integers(1, 64)),
        min_size=1,
        max_size=6,
    ).map(tuple),
    date=st.none() | st.just("2026-01"),
    memory_fraction=st.none() | st.floats(0.01, 1),
    note=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\n"), max_size=200),
)


@given(_SCENARIOS)
def test_any_scenario_survives(scenario: Scenario) -> None:
    text = format_scenario(scenario)
    read = parse_scenario(text.encode(), "a.gpudesk")
    assert read == scenario
    assert format_scenario(read) == text


def test_every_template_is_read_and_written_alike() -> None:
    assert "mi325x-or-h200-70b" in list_template_ids()
    for template in list_templates():
        assert template.scenario.name
        assert parse_scenario(format_scenario(template.scenario).encode(), "x") == template.scenario


def test_unknown_template_is_refused_with_the_closest() -> None:
    with pytest.raises(InputError) as caught:
        read_template("mi325-or-h200")
    assert format_input_error(caught.value) == (
        "unknown template 'mi325-or-h200'; available: mi325x-or-h200-70b, mi300x-or-h100-70b"
    )


@pytest.mark.parametrize("size", range(0, 1000, 37))
def test_truncated_file_is_reported_with_its_end(size: int) -> None:
    message = refusal(format_scenario(SCENARIO).encode()[:size])
    assert message.startswith("a.gpudesk: ")
    assert "is incomplete" in message or "not UTF-8" in message or "is not valid JSON at line" in message


def test_faults_name_line_and_column() -> None:
    assert refusal('{\n  "gpudesk": 1,\n  "scenario": {"a" 1}\n}') == (
        "a.gpudesk: is not valid JSON at line 3, column 20; correct it there"
    )
    assert refusal('{"gpudesk": 1,\n') == ("a.gpudesk: is incomplete: it ends at line 2, column 1; use an earlier copy")
    assert refusal(b'{"gpudesk": 1,\n "name": "K\xf6ln"}').startswith("a.gpudesk: is not UTF-8 text at line 2")


@pytest.mark.parametrize(
    "contents", ["[]", "{}", '{"gpudesk": 1}', '{"gpudesk": "1", "scenario": {}}', '{"x": NaN}', "[" * 99_999]
)
def test_other_json_is_not_a_scenario(contents: str) -> None:
    assert refusal(contents) == (
        "a.gpudesk: is not a GPU Desk scenario; choose a .gpudesk file or a sheet saved as PDF"
    )


def test_newer_files_and_sections_are_refused() -> None:
    assert refusal(document() | {"gpudesk": 2}) == (
        "a.gpudesk: has format 2, but GPU Desk reads format 1; update GPU Desk"
    )
    newer = document()
    newer["scenario"]["version"] = 7
    assert refusal(newer) == (
        "a.gpudesk: has section scenario in version 7, but GPU Desk reads version 1; update GPU Desk"
    )


def test_key_stated_twice_is_refused() -> None:
    assert refusal('{"gpudesk": 1, "gpudesk": 1}') == ("a.gpudesk: has gpudesk twice in one object; remove one")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": 70}, "scenario.model: 70 is a whole number; expected text"),
        ({"model": None}, "scenario.model: is missing"),
        ({"weights": "fp5"}, "scenario.weights: 'fp5' is not one of"),
        ({"modell": "x"}, "scenario: unknown field 'modell'; did you mean model?"),
        ({"workload": 3}, "scenario.workload: 3 is a whole number; expected an object"),
        ({"workload": {"input_tokens": 5}}, "scenario.workload.output_tokens: is missing"),
        (
            {"workload": {"input_tokens": 5, "output_tokens": "many", "load": {"batch": 1}}},
            "scenario.workload.output_tokens: 'many' is text; expected a whole number",
        ),
        (
            {"accelerators": [{"accelerator": "a"}] * 7},
            "scenario.accelerators: has 7 accelerators; a comparison can have at most 6",
        ),
        ({"accelerators": [{"accelerator": "a", "slot": 9}]}, "scenario.accelerators[0].slot: 9"),
        ({"accelerators": [{}]}, "scenario.accelerators[0].accelerator: is missing"),
        (
            {"accelerators": [{"accelerator": "a", "count": 8, "tp": 3}]},
            "scenario.accelerators[0].count: 8 accelerators do not match TP 3; use a multiple of 3",
        ),
        (
            {"accelerators": [{"accelerator": "a", "cuont": 8}]},
            "scenario.accelerators[0]: unknown field 'cuont'; did you mean count?",
        ),
    ],
)
def test_wrong_fields_are_named_by_their_path(change: dict[str, object], message: str) -> None:
    contents = document()
    contents["scenario"] |= change
    assert refusal(contents).startswith(f"a.gpudesk: {message}")


@pytest.mark.parametrize(
    ("section", "value", "message"),
    [
        ("scenario", [], "scenario: [] is a list; expected an object"),
        ("catalog", {"version": True}, "catalog.version: true is true or false; expected a whole number"),
        ("catalog", {"version": 1, "revision": 5}, "catalog.revision: 5 is a whole number; expected text"),
        ("catalog", {"version": None}, "catalog.version: null is nothing; expected a whole number"),
        ("own_records", {"version": 1, "records": {}}, "own_records.records: {} is an object; expected a list"),
        (
            "own_records",
            {"version": 1, "records": [1]},
            "own_records.records[0]: 1 is a whole number; expected an object",
        ),
    ],
)
def test_wrong_sections_are_named(section: str, value: object, message: str) -> None:
    assert refusal(document() | {section: value}).startswith(f"a.gpudesk: {message}")


def test_half_a_character_is_refused_since_it_could_not_be_saved() -> None:
    assert "an invalid Unicode character" in refusal('{"gpudesk": 1, "scenario": {}, "other": "\\ud800"}')


def test_byte_order_mark_is_accepted() -> None:
    assert parse_scenario(b"\xef\xbb\xbf" + format_scenario(SCENARIO).encode(), "x") == SCENARIO


def test_missing_file_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_scenario(tmp_path / "gone.gpudesk")
    assert format_input_error(caught.value) == f"{tmp_path}/gone.gpudesk: cannot be read: no such file or directory"


def test_failed_save_keeps_the_old_file_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.gpudesk"
    path.write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError) as caught:
        write_scenario(SCENARIO, path)
    assert format_input_error(caught.value) == (
        f"{path}: cannot be written: no space left on device; choose another folder"
    )
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["a.gpudesk"]
    assert path.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_save_keeps_permissions_and_follows_links(tmp_path: Path) -> None:
    path, link = tmp_path / "a.gpudesk", tmp_path / "link.gpudesk"
    path.write_text("old")
    path.chmod(0o600)
    link.symlink_to(path)
    write_scenario(SCENARIO, link)
    assert link.is_symlink()
    assert read_scenario(path) == SCENARIO
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_signal_leaves_no_temporary_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes as an exception between any two steps of the program, here once the file is there."""
    usual = os.open

    def stopped(path: str, flags: int, mode: int) -> int:
        os.close(usual(path, flags, mode))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "out.csv", b"contents")
    assert list(tmp_path.iterdir()) == []


def test_special_file_is_written_to_and_kept(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "out.html"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(link, b"contents")
        assert os.read(reader, 100) == b"contents"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_a_file_cut_within_a_word_is_called_cut_off() -> None:
    whole = format_scenario(read_template("mi325x-or-h200-70b"))
    cut = whole[: whole.index("varied") + 3]
    with pytest.raises(InputError) as refused:
        parse_scenario(cut.encode(), "mine.gpudesk")
    assert refused.value.problem.id == "scenario.cut_short"


def test_a_name_that_would_steer_the_terminal_is_refused() -> None:
    spoilt = format_scenario(read_template("mi325x-or-h200-70b")).replace("MI325X or", "\\u001b[31mMI325X or")
    with pytest.raises(InputError) as refused:
        parse_scenario(spoilt.encode(), "mine.gpudesk")
    assert refused.value.problem.id == "field.control"


def test_unfinished_scenario_is_saved_and_read_unchanged(tmp_path: Path) -> None:
    unfinished = replace(read_template(SAMPLE_TEMPLATE), model="", accelerators=())
    path = tmp_path / "begun.gpudesk"
    write_scenario(unfinished, path)
    assert read_scenario(path) == unfinished


def test_version_of_hundreds_of_digits_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "huge.gpudesk"
    file.write_text('{"gpudesk": 1' + 400 * "0" + ', "scenario": {"version": 1}}')
    with pytest.raises(InputError) as caught:
        read_scenario(file)
    assert "has format 1.00e+400, " in format_input_error(caught.value)


@pytest.mark.parametrize("name", ["a\0b.gpudesk", "\ud800.gpudesk"])
def test_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"file\.unreadable"):
        read_scenario(tmp_path / name)


def test_a_scenario_is_read_up_to_four_mebibytes(tmp_path: Path) -> None:
    path, most = tmp_path / "a.gpudesk", 4 << 20
    raw = format_scenario(SCENARIO).encode()
    path.write_bytes(raw + b" " * (most - len(raw)))
    assert read_scenario(path) == SCENARIO
    path.write_bytes(raw + b" " * (most - len(raw) + 1))
    with pytest.raises(InputError) as caught:
        read_scenario(path)
    assert caught.value.problem.id == "file.too_big"


def test_a_scenario_that_could_not_be_read_again_is_not_saved(tmp_path: Path) -> None:
    """In a line a section of another program may be small enough, and too large with an item a line."""
    path, items = tmp_path / "a.gpudesk", [0] * 600_000
    raw = json.dumps(document() | {"other": items}).encode()
    path.write_bytes(raw)
    scenario = read_scenario(path)
    with pytest.raises(InputError) as caught:
        write_scenario(scenario, path)
    assert caught.value.problem.id == "scenario.too_large"
    assert path.read_bytes() == raw
    fitting = replace(scenario, unknown_sections={"other": items[:400_000]})
    write_scenario(fitting, path)
    assert read_scenario(path) == fitting
