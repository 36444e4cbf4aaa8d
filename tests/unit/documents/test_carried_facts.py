"""A scenario carries the facts of its author; on another machine they are offered, never taken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk import service
from gpudesk.documents.packs import find_new_carried_facts, make_pack_edit, preview_pack
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.user_facts import CarriedFactsError, get_chosen_keys
from gpudesk.service import GpuDeskService
from tests.unit.catalog.carried_samples import QUOTE, save_of_author


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "author"))
    path = tmp_path / "shared.gpudesk"
    save_of_author(path)
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "reader"))
    return path


def test_scenario_carries_only_facts_it_uses(saved: Path) -> None:
    records = json.loads(saved.read_text())["own_records"]["records"]
    assert {(each["fact"], each.get("thing") or each.get("id")) for each in records} == {
        ("source", QUOTE.id),
        ("accelerator", "acme-1"),
        ("claim", "acme-1"),
        ("claim", "mi325x"),
        ("preference", "mi325x"),
    }


def test_missing_entry_is_offered_for_import(saved: Path) -> None:
    with GpuDeskService.open() as bench:
        with pytest.raises(CarriedFactsError) as refused:
            bench.read_scenario(saved)
        assert refused.value.where == str(saved)
        assert len(bench.user_catalog.facts) == 0
        pack = refused.value.pack
        rows = preview_pack(pack, bench.catalog)
        bench.user_catalog.do(make_pack_edit(pack, rows, get_chosen_keys(rows), bench.catalog))
        scenario = bench.read_scenario(saved)
        assert bench.catalog.accelerator("acme-1").memory_bandwidth == 4e12
        assert find_new_carried_facts(scenario, bench.catalog) is None


def test_other_figures_are_offered_but_not_applied(saved: Path, tmp_path: Path) -> None:
    document = json.loads(saved.read_text())
    document["scenario"]["accelerators"] = [{"accelerator": "mi325x", "count": 1}]
    saved.write_text(json.dumps(document))
    with GpuDeskService.open() as bench:
        scenario = bench.read_scenario(saved)
        assert bench.catalog.accelerator("mi325x").memory_bandwidth == 6e12
        carried_facts = find_new_carried_facts(scenario, bench.catalog)
        assert carried_facts is not None
        again = tmp_path / "again.gpudesk"
        bench.save_scenario(scenario, again)
        assert "own_records" not in json.loads(again.read_text()), "what is saved rests on what holds here"
        assert bench.answer(scenario).columns[0].accelerator.memory_bandwidth == 6e12


def test_answer_carries_its_facts_and_keeps_its_hash(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(saved.parent / "author"))
    with GpuDeskService.open() as bench:
        scenario = bench.read_scenario(saved)
        answer = bench.answer(scenario)
        assert answer.scenario.user_records == scenario.user_records
        assert bench.answer(replace(scenario, user_records=())).content_hash == answer.content_hash


def test_copies_for_few_combinations_are_kept(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(saved.parent / "author"))
    with GpuDeskService.open() as bench:
        scenario = bench.read_scenario(saved)
        for accelerator in bench.catalog.accelerators():
            choices = (*scenario.accelerators, AcceleratorChoice(accelerator.id))
            assert bench._attach_user_facts(replace(scenario, accelerators=choices)).user_records
            assert len(bench._carried) <= service._MOST_CARRIED
