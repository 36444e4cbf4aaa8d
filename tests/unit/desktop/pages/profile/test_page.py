"""The Profile page while its first profile is computed."""

from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.page import QueryState
from gpudesk.desktop.pages.profile.page import MODELS, OVERVIEW, ProfilePage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme


def test_views_stay_hidden_until_the_first_profile(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page = ProfilePage(desk, theme, settings)
    qtbot.addWidget(page)
    page.choose_view(OVERVIEW)
    page.show()
    assert page.query.state is QueryState.WORKING
    page.choose_view(MODELS)
    assert page.query.state is QueryState.WORKING
    assert not page.body.usable
    qtbot.waitUntil(lambda: page.query.state is QueryState.READY, timeout=60_000)
    assert page.body.usable
