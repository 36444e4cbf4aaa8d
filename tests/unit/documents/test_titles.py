"""Titles and notes that follow an edited scenario until the user writes them."""

from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import get_valid_note, make_title, read_template
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.precision import Precision
from gpudesk.service import GpuDeskService


@pytest.fixture
def pair() -> Scenario:
    return read_template("mi325x-or-h200-70b")


def test_the_title_and_note_of_a_template_follow_the_scenario(service: GpuDeskService, pair: Scenario) -> None:
    assert (make_title(pair, service.catalog), get_valid_note(pair)) == (pair.name, pair.note)
    other = replace(pair, model="llama-3.1-405b")
    assert make_title(other, service.catalog) == "H200 SXM 141GB, Instinct MI325X for Llama 3.1 405B"
    assert get_valid_note(other) == ""
    one = replace(pair, accelerators=pair.accelerators[:1])
    assert make_title(one, service.catalog) == "H200 SXM 141GB for Llama 3.1 70B"
    ids = ("h200-sxm", "mi325x", "b200-hgx", "mi355x", "h100-sxm", "gb300-nvl72")
    six = replace(other, accelerators=tuple(map(AcceleratorChoice, ids)))
    assert make_title(six, service.catalog) == "Llama 3.1 405B on 6 accelerators"


def test_title_and_note_are_kept_while_they_describe_the_scenario(service: GpuDeskService, pair: Scenario) -> None:
    wider = replace(pair, kv=Precision.FP16)
    assert make_title(wider, service.catalog) == pair.name
    assert get_valid_note(wider) == ""
    assert get_valid_note(replace(pair, date="2026-06")) == pair.note


def test_titles_and_notes_of_the_user_are_kept(service: GpuDeskService, pair: Scenario) -> None:
    mine = replace(pair, name="For the board", note="Draft", model="llama-3.1-405b")
    assert make_title(mine, service.catalog) == "For the board"
    assert get_valid_note(mine) == "Draft"


def test_a_model_that_the_catalog_lacks_leaves_the_title(service: GpuDeskService, pair: Scenario) -> None:
    assert make_title(replace(pair, model="gone"), service.catalog) == pair.name
    assert make_title(replace(pair, name="", model=""), service.catalog) == ""


def test_a_scenario_without_a_name_has_a_title(service: GpuDeskService, pair: Scenario) -> None:
    untitled = replace(pair, name="")
    assert make_title(untitled, service.catalog) == "H200 SXM 141GB, Instinct MI325X for Llama 3.1 70B"
