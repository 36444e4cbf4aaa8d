"""`gpudesk import`: one line for each result, all or nothing, and refusals in one line."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.cli import main as entry
from gpudesk.documents.pack_file import load_signer
from gpudesk.documents.packs import make_pack
from gpudesk.domain.claim import Source
from gpudesk.service import GpuDeskService
from tests.llama_config import LLAMA

Capture = pytest.CaptureFixture[str]

PRICES = "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\nex.8x,MI325X,8,17.60,9.00,eu-1\n"


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    folder = tmp_path / "My-Llama"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    return folder


@pytest.fixture
def offers(tmp_path: Path) -> Path:
    path = tmp_path / "offers.csv"
    path.write_text(PRICES)
    return path


def run(capsys: Capture, *arguments: object) -> tuple[int, str, str]:
    code = entry.main(["import", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def list_user_ids() -> set[str]:
    with GpuDeskService.open() as service:
        return {thing.id for thing in service.catalog.things() if thing.own}


def facts() -> int:
    with GpuDeskService.open() as service:
        return len(service.user_catalog.facts)


def test_a_second_price_of_one_offer_is_left_out(capsys: Capture, tmp_path: Path) -> None:
    offers = tmp_path / "offers.csv"
    row = "h200-sxm,2.5,Ours,2026-01-02\n"
    offers.write_text(f"accelerator,usd_per_accelerator_hour,provider,date\n{row}")
    assert run(capsys, offers, "--dry-run")[1].startswith(f"Would import 1 price from {offers}\n")
    assert run(capsys, offers)[1] == f"Imported 1 price from {offers}\n"
    more = "".join(row.replace("2.5", usd) for usd in ("2.5", "9", "10"))
    offers.write_text(f"accelerator,usd_per_accelerator_hour,provider,date\n{more}")
    errors = run(capsys, offers)[1]
    assert errors.startswith(f"Nothing to import from {offers}: it is already in your catalog\n")
    assert "  Skipped: 2 rows with a second price" in errors


def test_a_list_that_is_known_adds_nothing(capsys: Capture, offers: Path) -> None:
    run(capsys, offers)
    before = facts()
    for more in ([], ["--dry-run"]):
        code, out, err = run(capsys, offers, *more)
        assert (code, err) == (0, "")
        assert out.startswith(f"Nothing to import from {offers}: it is already in your catalog\n")
    assert json.loads(run(capsys, offers, "--json")[1])["written"] is False
    assert facts() == before


def test_rows_that_are_left_out_are_reported(capsys: Capture, offers: Path) -> None:
    offers.write_text(f"{PRICES}ex.1x,Abacus 9000,1,1.00,,eu-1\nex.8x,MI325X,8,free,,eu-1\n")
    left_out = [
        "  Skipped: 1 row with an accelerator outside the catalog: Abacus 9000 × 1",
        "  Skipped: 1 row with an invalid cell, 'free' in row 4; prices are realistic plain US dollars",
    ]
    out = run(capsys, offers)[1].splitlines()
    assert out[0] == f"Imported 2 prices from {offers}"
    assert [line[: len(start)] for line, start in zip(out[1:], left_out, strict=True)] == left_out


def test_a_model_is_added_in_one_line(capsys: Capture, llama: Path) -> None:
    code, out, err = run(capsys, llama)
    assert (code, err) == (0, "")
    assert out == f"Imported model my-llama (My-Llama) from {llama / 'config.json'}\n"
    assert list_user_ids() == {"my-llama"}
    assert entry.main(["catalog", "show", "my-llama", "--json"]) == 0
    model = json.loads(capsys.readouterr().out)
    values = {each["name"]: each for each in model["attributes"]}
    assert values["hidden_size"]["value"] == 8192


def test_a_system_is_imported_shown_and_used_by_fleets(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "our-server.json"
    system = {
        "kind": "system",
        "name": "Our server",
        "vendor": "Our integrator",
        "system_kind": "server",
        "accelerator": "l40s",
        "sources": {"quote": {"title": "Quote 4711"}},
        "attributes": {"accelerator_count": {"value": 8}, "accelerator_slots": {"value": 4}},
    }
    path.write_text(json.dumps(system))
    code, _, err = run(capsys, path)
    assert code != 0
    assert "accelerator_count: is more than the accelerator slots" in err
    path.write_text(json.dumps({**system, "accelerator": "l4os"}))
    assert "l40s" in run(capsys, path)[2]
    path.write_text(json.dumps({**system, "attributes": {"accelerator_count": {"value": 8}}}))
    assert run(capsys, path)[1].startswith("Imported system our-server (Our server)")
    entry.main(["catalog", "list", "systems"])
    listed = capsys.readouterr().out
    assert "our-server" in listed
    assert "(yours)" in listed
    entry.main(
        [
            "fleet",
            "--model",
            "llama-3.1-8b",
            "--input-tokens",
            "1000",
            "--output-tokens",
            "200",
            "--accelerators",
            "l40s",
            "--tokens-per-day",
            "100000000",
            "--json",
        ]
    )
    (fleet,) = json.loads(capsys.readouterr().out)["fleets"]
    assert fleet["system"] == "our-server"


def test_the_model_answers_like_the_shipped_one_of_the_same_shape(capsys: Capture, llama: Path) -> None:
    run(capsys, llama, "--as", "mine", "--name", "Mine")
    question = {
        "accelerator": "h200-sxm", "weights": "fp8", "input_tokens": 1000, "output_tokens": 1000,
        "load": {"concurrency": 64},
    }  # fmt: skip
    with GpuDeskService.open() as service:
        from gpudesk.estimation.request_fields import parse_request

        mine, original = (
            service.estimate(parse_request({**question, "model": model})) for model in ("mine", "llama-3.1-70b")
        )
    assert mine.output_tokens_per_s == original.output_tokens_per_s
    assert mine.memory == original.memory


def test_a_dry_run_shows_all_and_writes_nothing(capsys: Capture, llama: Path, offers: Path) -> None:
    code, out, _ = run(capsys, llama, offers, "--dry-run")
    assert code == 0
    assert "70,553,706,496" in out
    assert "320 KiB" in out
    assert "Would import 2 prices" in out
    assert "2.20" in out
    assert facts() == 0


def test_programs_get_the_figures(capsys: Capture, llama: Path, offers: Path) -> None:
    code, out, _ = run(capsys, llama, offers, "--json", "--provider", "Example", "--date", "2026-11")
    assert code == 0
    result: dict[str, Any] = json.loads(out)
    assert result["written"] is True
    model, prices = result["imported"]
    assert (model["kind"], model["id"], model["model"]["parameters"]) == ("model", "my-llama", 70_553_706_496)
    assert model["model"]["kv_bytes_per_token"] == 320 * 1024
    assert {each["term"]: each["median"] for each in prices["prices"]} == {"on_demand": 2.2, "spot": 1.125}
    with GpuDeskService.open() as service:
        mine = [price for price in service.catalog.prices("mi325x") if price.own]
    assert {(price.provider, price.date) for price in mine} == {("Example", "2026-11")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--as", "h200-sxm"], "gpudesk: id: h200-sxm already exists; choose another id\n"),
        (
            ["--as", "Not One"],
            "gpudesk: id: may contain lowercase letters, digits, single dots and hyphens, at most 80\n",
        ),
    ],
)
def test_a_wish_that_cannot_be_is_refused(capsys: Capture, llama: Path, arguments: list[str], message: str) -> None:
    assert run(capsys, llama, *arguments) == (1, "", message)
    assert facts() == 0


def test_one_file_at_fault_keeps_all_of_them_out(capsys: Capture, llama: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"model_type": "llama",')
    code, out, err = run(capsys, llama, broken)
    assert (code, out) == (1, "")
    assert err == f"gpudesk: {broken}: is not valid JSON at line 1; correct it or download it again\n"
    assert facts() == 0


def test_answers_fill_missing_fields(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "Gap"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({name: value for name, value in LLAMA.items() if name != "intermediate_size"})
    )
    code, _, err = run(capsys, folder)
    assert code == 1
    assert "lacks intermediate_size (Width of the feed-forward block" in err
    assert "add --answer FIELD=VALUE for each, or import it in the window" in err
    code, _, err = run(capsys, folder, "--answer", "intermediate_size=wide")
    assert code == 1
    assert "intermediate_size: expected a whole number, found 'wide'" in err
    assert facts() == 0
    assert run(capsys, folder, "--answer", "intermediate_size=28672")[0] == 0
    assert list_user_ids() == {"gap"}


@pytest.mark.parametrize("arguments", [["--answer", "x"], ["--as", "a"], []])
def test_impossible_usage_is_refused(capsys: Capture, llama: Path, offers: Path, arguments: list[str]) -> None:
    files = [llama, offers] if arguments else []
    code, out, err = run(capsys, *files, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def hostile(folder: Path) -> list[Path]:
    folder.mkdir()
    (folder / "empty.json").touch()
    (folder / "deep.json").write_bytes(b"[" * 1_000_000)
    (folder / "zip.json").write_bytes(b"PK\x03\x04" + b"\x00" * 100)
    (folder / "nul.json").write_text('{"model_type": "lla\\u0000ma", "hidden_size": "\u202e\\u0000"}')
    (folder / "huge.json").write_text(json.dumps({**LLAMA, "num_hidden_layers": 10**9}))
    (folder / "none.csv").write_text("=cmd|' /C calc'!A0,b\n1,2\n")
    with (folder / "large.json").open("wb") as file:
        file.write(b'{"model_type": "llama", "x": "' + b"y" * 5000)
        file.truncate(100 << 20)
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    return [*sorted(folder.iterdir()), folder / "gone.json", Path("/dev/zero")]


def test_hostile_files_are_refused_in_one_line_and_nothing_is_written(capsys: Capture, tmp_path: Path) -> None:
    for path in hostile(tmp_path / "hostile"):
        code, out, err = run(capsys, path)
        assert (code, out) == (1, ""), path
        assert err.startswith("gpudesk: "), path
        assert err.count("\n") == 1, path
        assert "unexpected" not in err, path
    assert facts() == 0


def pack_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "") -> Path:
    with monkeypatch.context() as other:
        other.setenv("GPUDESK_HOME", str(tmp_path / "other"))
        with GpuDeskService.open() as service:
            source = make_user_source("Measured in the lab")
            service.user_catalog.do(
                state_value(service.catalog, "h200-sxm", "tdp", 650, "W", source, today="2026-11-21")
            )
            own = service.user_catalog.facts
            by = load_signer(name) if name else None
            raw = make_pack(own, list(own.facts), "Lab", date="2026-11-21", about=service.catalog.revision, signer=by)
    path = tmp_path / "lab.gpudeskpack"
    path.write_bytes(raw)
    return path


def power() -> object:
    with GpuDeskService.open() as service:
        return service.catalog.attribute("h200-sxm", "tdp").value


def test_a_pack_shows_what_it_would_change_and_changes_it(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack, before = pack_of(tmp_path, monkeypatch), power()
    code, out, _ = run(capsys, pack, "--dry-run")
    assert code == 0
    assert "Not signed" in out
    assert "650 W" in out
    assert power() == before
    code, out, err = run(capsys, pack)
    assert (code, out) == (1, "")
    assert "is not signed" in err
    assert power() == before
    assert run(capsys, pack, "--trust")[:2] == (0, f"Imported 3 values of Lab from {pack}\n")
    assert power() == 650


def test_removed_signature_needs_confirmation(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack, before = pack_of(tmp_path, monkeypatch, "The lab"), power()
    document = json.loads(pack.read_text())
    del document["signature"]
    pack.write_text(json.dumps(document))
    code, _, err = run(capsys, pack)
    assert code == 1
    assert "is not signed" in err
    assert power() == before


def test_unknown_signer_is_trusted_only_on_request(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack, before = pack_of(tmp_path, monkeypatch, "The lab"), power()
    code, _, err = run(capsys, pack)
    assert code == 1
    assert "The lab" in err
    assert power() == before
    code, out, _ = run(capsys, pack, "--trust", "--json")
    assert code == 0
    result = json.loads(out)
    assert (result["written"], result["pack"]["signer"], result["pack"]["trusted"]) == (True, "The lab", True)
    assert power() == 650


def test_a_pack_that_was_changed_is_refused(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = pack_of(tmp_path, monkeypatch, "The lab")
    pack.write_bytes(pack.read_bytes().replace(b"650", b"651"))
    code, _, err = run(capsys, pack, "--trust")
    assert code == 1
    assert err.count("\n") == 1
    assert facts() == 0


def test_the_maker_of_a_model_can_be_named(capsys: Capture, llama: Path, offers: Path) -> None:
    assert run(capsys, llama, "--organization", "Acme")[0] == 0
    with GpuDeskService.open() as service:
        assert service.catalog.model("my-llama").organisation == "Acme"
        assert {source.publisher for source in service.user_catalog.facts if isinstance(source, Source)} == {"Acme"}
    code, _, err = run(capsys, offers, "--organisation", "Acme")
    assert code == 1
    assert "organisation" in err
    assert "is for models" in err


#: A configuration that no reader knows, whole by itself.
UNKNOWN = LLAMA | {
    "model_type": "newarch",
    "architectures": ["NewArchForCausalLM"],
    "attention_bias": False,
    "gated_mlp": True,
    "qk_norm": "none",
    "tie_word_embeddings": False,
    "mamba_ratio": 3,
}


def test_every_command_warns_of_an_unknown_architecture(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "newer.json"
    path.write_text(json.dumps(UNKNOWN))
    assert run(capsys, path)[0] == 0
    load = ("--concurrency", "8", "--input-tokens", "1000", "--output-tokens", "200")
    for command in (
        ("estimate", "--accelerators", "mi325x", "--model", "newer", *load),
        ("compare", "--accelerators", "mi325x,h200-sxm", "--model", "newer", *load),
        ("decide", "--accelerators", "mi325x,h200-sxm", "--model", "newer", *load),
        ("fit", "--accelerators", "mi325x", "--models", "newer"),
        ("explain", "tpot_ms", "--accelerators", "mi325x", "--model", "newer", *load),
    ):
        assert entry.main(list(command)) == 0, command
        assert "newarch" in capsys.readouterr().out.replace("\n", " "), command


def test_missing_fields_are_requested_with_their_choices(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "newer.json"
    path.write_text(
        json.dumps({name: value for name, value in UNKNOWN.items() if name not in ("qk_norm", "gated_mlp")})
    )
    code, _, err = run(capsys, path)
    assert code == 1
    assert "qk_norm, one of none = no norm, head = one norm per head, full = one norm across all heads" in err
    assert "gated_mlp, yes or no (Feed-forward block has a gate" in err


def test_second_import_of_a_file_adds_nothing(capsys: Capture, llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(capsys, llama)[0] == 0
    monkeypatch.setattr("gpudesk.report.labels.get_today", lambda: "2027-01-01")
    before = facts()
    code, out, _ = run(capsys, llama)
    assert (code, facts()) == (0, before)
    assert out.startswith("Nothing to import from")
