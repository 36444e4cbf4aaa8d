"""`gpudesk catalog pack`, and packs that come in: from one user to another through a file."""

import json
from pathlib import Path

import pytest

from gpudesk.cli import main as entry
from gpudesk.cli.pack_import import import_pack, pack_text
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit
from gpudesk.workbench.workbench import Workbench
from tests.unit.workbench.own_samples import ALL

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def own_facts() -> None:
    with Workbench.open() as workbench:
        workbench.own.do(Edit(message("own.step.add", name="x"), after=tuple(ALL)))


@pytest.fixture
def pack(own_facts: None, tmp_path: Path, capsys: Capture) -> Path:
    target = tmp_path / "ours.gpudeskpack"
    assert entry.main(["catalog", "pack", "-o", str(target), "--sign", "Ada", "--name", "Ours"]) == 0
    written, mark = capsys.readouterr().out.splitlines()
    assert written == f"Written: {target}"
    assert mark.startswith("Fingerprint of your key: ")
    return target


def taken_in(
    path: Path, *, trust: bool = False, replace: bool = False, dry_run: bool = False
) -> dict[str, object]:
    with Workbench.open() as workbench:
        return import_pack(path, path.read_bytes(), workbench, trust=trust, replace=replace, dry_run=dry_run)


def test_a_pack_goes_from_one_user_to_another(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    looked = taken_in(pack, dry_run=True)
    assert (looked["written"], looked["trust"], looked["name"]) == (False, "unknown", "Ours")
    assert not (tmp_path / "other").exists()
    with pytest.raises(InputError, match=r"pack\.unknown_signer"):
        taken_in(pack)
    assert not (tmp_path / "other").exists()
    found = taken_in(pack, trust=True)
    assert (found["written"], found["trust"]) == (True, "known")
    with Workbench.open() as workbench:
        assert dict(workbench.own.facts.facts) == dict(ALL.facts)
        assert workbench.catalog.accelerator("mi325x").memory_bandwidth == 5.5e12
    again = taken_in(pack)
    assert (again["written"], again["chosen"], again["trust"]) == (False, 0, "known")


def test_the_preview_says_whose_it_is_and_what_it_changes(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    found = taken_in(pack, dry_run=True)
    json.dumps(found)
    lines = list(pack_text(found, 100))
    text = "\n".join(lines)
    assert lines[0].startswith("Would take 8 facts from the pack Ours")
    assert "Compare the fingerprint" in text
    assert "instead of the shipped value" in text
    assert "shipped: 6.0 TB/s" in text
    assert all(len(line) <= 100 for line in lines[1:])


def test_a_pack_that_was_changed_brings_nothing(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "other"))
    pack.write_bytes(pack.read_bytes().replace(b"Our lab", b"Our lap"))
    with pytest.raises(InputError, match=r"pack\.changed") as caught:
        taken_in(pack, trust=True)
    assert caught.value.where == str(pack)
    assert not (tmp_path / "other").exists()


def test_without_facts_there_is_no_pack(tmp_path: Path, capsys: Capture) -> None:
    assert entry.main(["catalog", "pack", "-o", str(tmp_path / "x.gpudeskpack")]) == 1
    assert "there is nothing to hand on" in capsys.readouterr().err
    assert entry.main(["catalog", "pack", "-o", str(tmp_path / "x.json")]) == 2
    assert not (tmp_path / "x.gpudeskpack").exists()
