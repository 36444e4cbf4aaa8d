"""The panel on a selection in the catalog: origin, statements, links to editors."""

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
from tests.unit.desktop.ui.panel.panel_helpers import check_model, is_about, list_sentences, press_keys
from tests.unit.domain.user_samples import LAB, OFFER, TODAY

BANDWIDTH = select_catalog_attribute("mi325x", "memory_bandwidth")
QUOTE = make_user_source("Quote by mail", "A reseller", url=None, date="2026-11", kind=SourceKind.USER)


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    """Return a service whose user values last as long as the tests of this file."""
    with GpuDeskService.open() as builtin_service:
        yield GpuDeskService(builtin_service.catalog)


@pytest.fixture(autouse=True)
def _undo_all(service: GpuDeskService) -> Iterator[None]:
    yield
    while service.user_catalog.undo() is not None:
        pass


def set_power(service: GpuDeskService, value: float = 900) -> None:
    service.user_catalog.do(state_value(service.catalog, "mi325x", "tdp", value, "W", QUOTE, today="2026-11-18"))


def record_requests(panel: SourcesPanel) -> list[EditorRequest]:
    requests: list[EditorRequest] = []
    panel.editor_requested.connect(requests.append)
    return requests


def go_to_link(panel: SourcesPanel, text: str) -> None:
    line = next(
        line
        for top in panel.view.lines.lines
        for line in top.walk()
        if is_about(line.node, LinkBlock) and line.node.sentence.startswith(text)
    )
    panel.view.setCurrentIndex(panel.view.lines.index_of(line))


@pytest.mark.parametrize(
    ("selection", "head", "remark", "remaining"),
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
def test_inactive_value_has_a_reason_and_can_be_removed(
    desk: Desk, panel: SourcesPanel, service: GpuDeskService, qtbot: QtBot,
    selection: Selection, head: str, remark: str, remaining: int,
) -> None:  # fmt: skip
    facts = (
        LAB,
        OFFER,
        UserClaim("mi999x", "memory", 2**30, LAB.id, SourceKind.USER, TODAY),
        UserPrice("o-1", "mi999x", "on_demand", OFFER.id, SourceKind.USER, 2.5),
        ClaimPreference("mi325x", "memory_bandwidth", "removed-source", 5.3e12, "ours", TODAY),
    )
    service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="former facts"), after=facts))
    desk.select(selection)
    assert list_sentences(panel, Explanation)[0].startswith(head)
    assert remark in list_sentences(panel, NoteBlock)
    requests = record_requests(panel)
    go_to_link(panel, "Remove from your values")
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert not requests
    assert len(service.user_catalog.facts) == remaining
    qtbot.waitUntil(lambda: remark not in list_sentences(panel, NoteBlock))


def test_attribute_outside_the_scenario_is_explained(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(select_catalog_attribute("l40s", "memory_bandwidth"))
    assert list_sentences(panel, Explanation)[0].startswith("Memory bandwidth, L40S; Shipped value; ")
    assert list_sentences(panel, ClaimLine)
    assert not list_sentences(panel, UseLine)
    desk.select(BANDWIDTH)
    assert list_sentences(panel, UseLine) == [
        "Llama 3.1 70B chat, four accelerators compared, accelerator in the comparison"
    ]
    assert any("C000-014" in text for text in list_sentences(panel, StatementLine))


def test_catalog_selection_survives_scenario_edits(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(BANDWIDTH)
    desk.edit("One part", accelerators=desk.scenario.accelerators[:1])
    desk.flush()
    assert desk.selection == BANDWIDTH
    assert list_sentences(panel, ClaimLine)
    desk.edit("No model", model="")
    desk.flush()
    assert desk.answer is None
    assert list_sentences(panel, ClaimLine), "catalog entries need no answer"


def test_f2_requests_the_value_editor(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(BANDWIDTH)
    requests = record_requests(panel)
    press_keys(qtbot, panel, Qt.Key.Key_F2)
    assert requests == [EditorRequest(EditorKind.VALUE, "mi325x", "memory_bandwidth")]
    desk.select(select_attribute("mi325x", "memory_bandwidth"))
    press_keys(qtbot, panel, Qt.Key.Key_F2)
    assert requests[1] == requests[0], "a figure of the comparison opens the same editor"


def test_every_alternative_claim_can_be_preferred(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(BANDWIDTH)
    requests = record_requests(panel)
    offers = [text for text in list_sentences(panel, LinkBlock) if text == "Use this claim…"]
    assert len(offers) == len(list_sentences(panel, ClaimLine)) - 1
    panel.view.setExpanded(panel.view.lines.find("claim.mi325x/memory_bandwidth.1"), True)
    go_to_link(panel, "Use this claim…")
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    (request,) = requests
    assert (request.kind, request.claim) == (EditorKind.PREFERENCE, "seed-000")


def test_user_value_is_reset(service: GpuDeskService, desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    set_power(service)
    desk.select(select_catalog_attribute("mi325x", "tdp"))
    assert "900 W; Shipped: 1,000 W · −10%" in list_sentences(panel, Explanation)[0]
    go_to_link(panel, "Edit source and date…")
    requests = record_requests(panel)
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert requests == [EditorRequest(EditorKind.SOURCE, source=QUOTE.id)]
    go_to_link(panel, "Reset to shipped value")
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert service.catalog.attribute("mi325x", "tdp").value == 1000
    assert "1,000 W" in list_sentences(panel, Explanation)[0], "the panel shows the current value"


def test_failed_edit_is_reported(
    service: GpuDeskService, desk: Desk, panel: SourcesPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_power(service)
    desk.select(select_catalog_attribute("mi325x", "tdp"))

    def fail_to_write(*_: Any) -> None:  # noqa: ANN401
        raise InputError(message("own.read_only", "cannot be written: {reason}", reason="no space left"))

    monkeypatch.setattr(service.user_catalog, "do", fail_to_write)
    go_to_link(panel, "Reset to shipped value")
    with qtbot.waitSignal(panel.failed) as signal:
        press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert signal.args is not None
    assert signal.args[0].problem.id == "own.read_only"


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
def test_every_kind_of_selection_passes_the_model_tester(
    selection: Selection, desk: Desk, panel: SourcesPanel, qtmodeltester: ModelTester
) -> None:
    desk.select(selection)
    assert list_sentences(panel, Explanation)
    assert "Copy with sources" in list_sentences(panel, LinkBlock)
    check_model(qtmodeltester, panel.view.lines)


def test_price_shows_its_age_and_is_copied_with_its_source(
    service: GpuDeskService, desk: Desk, panel: SourcesPanel, qtbot: QtBot
) -> None:
    price = next(each for each in service.catalog.prices("mi325x") if each.date == "2026-03")
    desk.select(select_catalog_price(price.id))
    assert "months old" in list_sentences(panel, Explanation)[0]
    go_to_link(panel, "Copy with sources")
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Rental price, MI325X: $2.29/h")
    assert "Title: MI325X vs H200" in copied


def test_removed_entry_has_only_a_note(desk: Desk, panel: SourcesPanel) -> None:
    for selection in (select_catalog_price("gone"), select_catalog_source("gone"), select_catalog_entry("gone")):
        desk.select(selection)
        assert list_sentences(panel, NoteBlock)
