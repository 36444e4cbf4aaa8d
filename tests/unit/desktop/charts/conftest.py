"""Charts over the real workbench, shown offscreen."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.formatting import ENGLISH, Formatter
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open() as opened:
        yield opened


@pytest.fixture
def desk(workbench: Workbench, qtbot: QtBot) -> Desk:
    made = Desk(workbench, Formatter(ENGLISH))
    made.want_curves("test", wanted=True)
    made.open(read_template("70b-chat-on-four"))
    return made
