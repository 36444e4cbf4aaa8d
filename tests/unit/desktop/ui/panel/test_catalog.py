"""The panel on what is selected in the catalog: whose it is, what is printed of it, what can be edited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import (
    EditorKind,
    EditorRequest,
    Selection,
    select_attribute,
    select_catalog_attribute,
    select_catalog_dispute,
    select_catalog_entry,
    select_catalog_price,
    select_catalog_source,
    select_catalog_statement,
)
from gpudesk.desktop.ui.panel.blocks import LinkBlock, NoteBlock
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.domain.claim import ClaimPreference, SourceKind
from gpudesk.domain.user_facts import FactEdit, UserClaim, UserPrice
from gpudesk.report.explanation.parts import ClaimLine, Explanation, StatementLine, UseLine
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, message
from tests.unit.desktop.ui.panel.reading import check, is_about, lines, press
from tests.unit.domain.own_samples import LAB, OFFER, TODAY

BANDWIDTH = select_catalog_attribute("mi325x", "memory_bandwidth")
QUOTE = make_user_source("Quote by mail", "A reseller", url=None, date="2026-11", kind=SourceKind.USER)


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    """A service whose own facts last no longer than the tests of this file."""
    with GpuDeskService.open() as opened:
        yield GpuDeskService(opened.catalog)


@pytest.fixture(autouse=True)
def _nothing_is_left(service: GpuDeskService) -> Iterator[None]:
    yield
    while service.user_catalog.undo() is not None:
        pass


def state(service: GpuDeskService, value: float = 900) -> None:
    service.user_catalog.do(state_value(service.catalog, "mi325x", "tdp", value, "W", QUOTE, today="2026-11-18"))


def asked(panel: SourcesPanel) -> list[EditorRequest]:
    requests: list[EditorRequest] = []
    panel.editor_requested.connect(requests.append)
    return requests


def go(panel: SourcesPanel, text: str) -> None:
    line = next(
        line
        for top in panel.view.lines.lines
        for line in top.walk()
        if is_about(line.node, LinkBlock) and line.node.sentence.startswith(text)
    )
    panel.view.setCurrentIndex(panel.view.lines.index_of(line))


@pytest.mark.parametrize(
    ("selected", "head", "remark", "left"),
    [
        (
            select_catalog_attribute("mi999x", "memory"),
            "Memory capacity, mi999x; Inactive; 1.0 GiB",
            "Your value is inactive: the entry mi999x is no longer in the catalog.",
            3,
        ),
        (
            select_catalog_price("o-1"),
            "Rental price, mi999x; ",
            "Your price is inactive: the entry mi999x is no longer in the catalog.",
            3,
        ),
        (
            BANDWIDTH,
            "Memory bandwidth, MI325X; Shipped value, your value is inactive; 6.0 TB/s",
            "Your choice is inactive: the value 5.3 TB/s no longer has a source; the catalog default applies.",
            4,
        ),
    ],
)
def test_what_waits_says_why_and_can_be_removed(
    desk: Desk, panel: SourcesPanel, service: GpuDeskService, qtbot: QtBot,
    selected: Selection, head: str, remark: str, left: int,
) -> None:  # fmt: skip
    facts = (
        LAB,
        OFFER,
        UserClaim("mi999x", "memory", 2**30, LAB.id, SourceKind.USER, TODAY),
        UserPrice("o-1", "mi999x", "on_demand", OFFER.id, SourceKind.USER, 2.5),
        ClaimPreference("mi325x", "memory_bandwidth", "source-of-yesterday", 5.3e12, "ours", TODAY),
    )
    service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="former facts"), after=facts))
    desk.select(selected)
    assert lines(panel, Explanation)[0].startswith(head)
    assert remark in lines(panel, NoteBlock)
    requests = asked(panel)
    go(panel, "Remove from your values")
    press(qtbot, panel, Qt.Key.Key_Return)
    assert not requests
    assert len(service.user_catalog.facts) == left
    qtbot.waitUntil(lambda: remark not in lines(panel, NoteBlock))


def test_an_attribute_is_explained_though_the_scenario_does_not_have_it(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_catalog_attribute("l40s", "memory_bandwidth"))
    assert lines(panel, Explanation)[0].startswith("Memory bandwidth, L40S; Shipped value; ")
    assert lines(panel, ClaimLine)
    assert not lines(panel, UseLine)
    desk.select(BANDWIDTH)
    assert lines(panel, UseLine) == ["Llama 3.1 70B chat, four accelerators compared, accelerator in the comparison"]
    assert any("C000-014" in text for text in lines(panel, StatementLine))


def test_it_stays_selected_while_the_scenario_changes(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(BANDWIDTH)
    desk.edit("One part", accelerators=desk.scenario.accelerators[:1])
    desk.flush()
    assert desk.selection == BANDWIDTH
    assert lines(panel, ClaimLine)
    desk.edit("No model", model="")
    desk.flush()
    assert desk.answer is None
    assert lines(panel, ClaimLine), "the catalog needs no answer"


def test_the_key_for_editing_asks_for_the_value(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(BANDWIDTH)
    requests = asked(panel)
    press(qtbot, panel, Qt.Key.Key_F2)
    assert requests == [EditorRequest(EditorKind.VALUE, "mi325x", "memory_bandwidth")]
    desk.select(select_attribute("mi325x", "memory_bandwidth"))
    press(qtbot, panel, Qt.Key.Key_F2)
    assert requests[1] == requests[0], "a figure of the comparison leads to the same editor"


def test_every_rival_leads_to_the_choice_among_claims(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(BANDWIDTH)
    requests = asked(panel)
    offers = [text for text in lines(panel, LinkBlock) if text == "Use this claim…"]
    assert len(offers) == len(lines(panel, ClaimLine)) - 1
    panel.view.setExpanded(panel.view.lines.find("claim.mi325x/memory_bandwidth.1"), True)
    go(panel, "Use this claim…")
    press(qtbot, panel, Qt.Key.Key_Return)
    (request,) = requests
    assert (request.kind, request.claim) == (EditorKind.PREFERENCE, "seed-000")


def test_a_value_of_the_users_is_taken_back_at_once(
    service: GpuDeskService, desk: Desk, panel: SourcesPanel, qtbot: QtBot
) -> None:
    state(service)
    desk.select(select_catalog_attribute("mi325x", "tdp"))
    assert "900 W; Shipped: 1,000 W · −10%" in lines(panel, Explanation)[0]
    go(panel, "Edit source and date…")
    requests = asked(panel)
    press(qtbot, panel, Qt.Key.Key_Return)
    assert requests == [EditorRequest(EditorKind.SOURCE, source=QUOTE.id)]
    go(panel, "Reset to shipped value")
    press(qtbot, panel, Qt.Key.Key_Return)
    assert service.catalog.attribute("mi325x", "tdp").value == 1000
    assert "1,000 W" in lines(panel, Explanation)[0], "the panel shows what holds now"


def test_a_step_that_fails_says_so(
    service: GpuDeskService, desk: Desk, panel: SourcesPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    state(service)
    desk.select(select_catalog_attribute("mi325x", "tdp"))

    def refuse(*_: Any) -> None:  # noqa: ANN401
        raise InputError(message("own.read_only", "cannot be written: {reason}", reason="no space left"))

    monkeypatch.setattr(service.user_catalog, "do", refuse)
    go(panel, "Reset to shipped value")
    with qtbot.waitSignal(panel.failed) as caught:
        press(qtbot, panel, Qt.Key.Key_Return)
    assert caught.args is not None
    assert caught.args[0].problem.id == "own.read_only"


@pytest.mark.parametrize(
    "selection",
    [
        BANDWIDTH,
        select_catalog_attribute("gpt-oss-120b", "total_parameters"),
        select_catalog_attribute("flux1-dev", "parameters"),
        select_catalog_entry("mi325x"),
        select_catalog_source("seed-000"),
        select_catalog_dispute("D-011"),
        select_catalog_statement("C000-014"),
    ],
)
def test_every_kind_of_selection_has_lines_by_the_rules_of_qt(
    selection: Selection, desk: Desk, panel: SourcesPanel, qtmodeltester: ModelTester
) -> None:
    desk.select(selection)
    assert lines(panel, Explanation)
    assert "Copy with sources" in lines(panel, LinkBlock)
    check(qtmodeltester, panel.view.lines)


def test_a_price_shows_its_age_and_is_copied_with_its_source(
    service: GpuDeskService, desk: Desk, panel: SourcesPanel, qtbot: QtBot
) -> None:
    price = next(each for each in service.catalog.prices("mi325x") if each.date == "2026-03")
    desk.select(select_catalog_price(price.id))
    assert "months old" in lines(panel, Explanation)[0]
    go(panel, "Copy with sources")
    press(qtbot, panel, Qt.Key.Key_Return)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Rental price, MI325X: $2.29/h")
    assert "Title: MI325X vs H200" in copied


def test_what_is_gone_is_explained_no_more(desk: Desk, panel: SourcesPanel) -> None:
    for selection in (select_catalog_price("gone"), select_catalog_source("gone"), select_catalog_entry("gone")):
        desk.select(selection)
        assert lines(panel, NoteBlock)
