"""`gpudesk catalog pack`, and packs that come in: from one user to another through a file."""

import json
from pathlib import Path

import pytest

from gpudesk.cli import main as entry
from gpudesk.domain.user_facts import FactEdit
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import message
from tests.unit.domain.user_samples import ALL

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def user_facts() -> None:
    with GpuDeskService.open() as service:
        service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="x"), after=tuple(ALL)))


@pytest.fixture
def pack(user_facts: None, tmp_path: Path, capsys: Capture) -> Path:
    target = tmp_path / "ours.gpudeskpack"
    assert entry.main(["catalog", "pack", "-o", str(target), "--sign", "Ada", "--name", "Ours"]) == 0
    path_line, mark = capsys.readouterr().out.splitlines()
    assert path_line == f"Wrote {target}"
    assert mark.startswith("Key fingerprint: ")
    return target


def bring_in(capsys: Capture, pack: Path, *options: str) -> tuple[int, str, str]:
    code = entry.main(["import", str(pack), *options])
    return (code, *capsys.readouterr())


def test_a_pack_goes_from_one_user_to_another(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    code, out, _ = bring_in(capsys, pack, "--dry-run", "--json")
    preview = json.loads(out)
    assert (code, preview["written"], preview["pack"]["name"]) == (0, False, "Ours")
    assert (preview["pack"]["signer"], preview["pack"]["trusted"]) == ("Ada", False)
    assert bring_in(capsys, pack)[0] == 1
    assert not (tmp_path / "other").exists()
    assert bring_in(capsys, pack, "--trust")[0] == 0
    with GpuDeskService.open() as service:
        assert dict(service.user_catalog.facts.facts) == dict(ALL.facts)
        assert service.catalog.accelerator("mi325x").memory_bandwidth == 5.5e12
    code, out, _ = bring_in(capsys, pack)
    assert (code, out.split(":")[0]) == (0, f"Nothing to import from {pack}")
    assert json.loads(bring_in(capsys, pack, "--json")[1])["written"] is False


def test_preview_names_the_signer_and_the_changes(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    code, out, _ = bring_in(capsys, pack, "--dry-run")
    assert (code, out.splitlines()[0].split(" from ")[0]) == (0, f"Would import 8 of {len(ALL)} values of Ours")
    assert "Compare the fingerprint" in out
    assert "6.0 TB/s" in out
    assert not (tmp_path / "other").exists()


def test_modified_pack_imports_nothing(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    pack.write_bytes(pack.read_bytes().replace(b"Our lab", b"Our lap"))
    code, _, err = bring_in(capsys, pack, "--trust")
    assert code == 1
    assert pack.name in err
    assert not (tmp_path / "other").exists()


def test_signer_is_trusted_until_revoked(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    assert entry.main(["catalog", "signers"]) == 0
    assert capsys.readouterr().out.startswith("No trusted signers yet.")
    bring_in(capsys, pack, "--trust")
    assert entry.main(["catalog", "signers", "--json"]) == 0
    (signer,) = json.loads(capsys.readouterr().out)
    assert (signer["number"], signer["name"], len(signer["fingerprint"])) == (1, "Ada", 39)
    assert entry.main(["catalog", "signers"]) == 0
    assert signer["fingerprint"] in capsys.readouterr().out
    assert entry.main(["catalog", "signers", "--distrust", "2"]) == 1
    assert "unknown signer 2" in capsys.readouterr().err
    assert entry.main(["catalog", "signers", "--distrust", "1"]) == 0
    capsys.readouterr()
    with GpuDeskService.open() as service:
        assert service.user_catalog.signers() == ()
        assert len(service.user_catalog.facts) == len(ALL), "what was taken stays"


def test_without_facts_there_is_no_pack(tmp_path: Path, capsys: Capture) -> None:
    assert entry.main(["catalog", "pack", "-o", str(tmp_path / "x.gpudeskpack")]) == 1
    assert "there is nothing to share" in capsys.readouterr().err
    assert entry.main(["catalog", "pack", "-o", str(tmp_path / "x.json")]) == 2
    assert not (tmp_path / "x.gpudeskpack").exists()
