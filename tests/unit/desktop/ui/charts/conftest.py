"""Fixtures for tests of charts over the real service."""

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.documents.scenario_file import read_template
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    desk = Desk(service, Formatter(ENGLISH_NUMBERS))
    desk.want_curves("test", are_wanted=True)
    desk.open(read_template("70b-chat-on-four"))
    return desk
