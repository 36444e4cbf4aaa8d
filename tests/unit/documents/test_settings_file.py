"""What the window kept is read without it: named values, and the rule for what is stale."""

import os
from pathlib import Path

import pytest

from gpudesk.documents.settings_file import (
    StoredSettings,
    get_settings_path,
    make_age_rule,
    read_age_rule,
    read_settings,
)
from gpudesk.domain.attributes import CatalogSection, get_stale_days
from gpudesk.domain.claim import StalenessLimits


def test_without_a_file_the_usual_rule_holds() -> None:
    assert read_settings(get_settings_path()) == StoredSettings()
    assert read_age_rule() == StalenessLimits()
    assert not get_settings_path().parent.exists()


def test_invalid_age_limits_fall_back_to_defaults() -> None:
    assert make_age_rule({"catalog.stale_price_days": 30, "catalog.stale_fact_days": 700}) == StalenessLimits(30, 700)
    assert make_age_rule({"catalog.stale_price_days": 0, "catalog.stale_fact_days": -5}) == StalenessLimits()
    assert make_age_rule({"catalog.stale_price_days": "30", "catalog.stale_fact_days": 1.5}) == StalenessLimits()


def test_prices_have_days_of_their_own() -> None:
    rule = StalenessLimits(30, 700)
    assert (get_stale_days(rule, CatalogSection.PRICES), get_stale_days(rule, CatalogSection.CLAIMS)) == (30, 700)


@pytest.mark.parametrize("contents", [b"", b"[]", b"{", b"\xff", b'"' * 3, b"[" * 100_000])
def test_broken_settings_file_gives_defaults_and_stays_unchanged(user_home: Path, contents: bytes) -> None:
    user_home.mkdir()
    get_settings_path().write_bytes(contents)
    assert read_settings(get_settings_path()).fault is not None
    assert read_age_rule() == StalenessLimits()
    assert get_settings_path().read_bytes() == contents


def test_unusable_value_is_left_out_and_named(user_home: Path) -> None:
    user_home.mkdir()
    get_settings_path().write_text(
        '{"theme": "dark", "performance.read_off": 1e999, "panel.width": 99999999999, "folder": "\\ud800",'
        ' "recent_files": ["/a", "\\ud800"], "catalog.columns": {"widths": {"name": -1e400}}}'
    )
    assert read_settings(get_settings_path()) == StoredSettings(
        {"theme": "dark"}, ("performance.read_off", "panel.width", "folder", "recent_files", "catalog.columns")
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(user_home: Path) -> None:
    user_home.mkdir()
    os.mkfifo(get_settings_path())
    assert read_settings(get_settings_path()).fault is not None
