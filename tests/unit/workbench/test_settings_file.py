"""What the window kept is read without it: named values, and the rule for what is stale."""

from pathlib import Path

import pytest

from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.catalog_tables import Section, stale_days
from gpudesk.workbench.settings_file import age_rule, read_settings, settings_path, users_age_rule


def test_without_a_file_the_usual_rule_holds() -> None:
    assert read_settings(settings_path()) == {}
    assert users_age_rule() == AgeRule()
    assert not settings_path().parent.exists()


def test_the_rule_of_the_file_holds_as_far_as_it_is_one() -> None:
    assert age_rule({"catalog.stale_price_days": 30, "catalog.stale_fact_days": 700}) == AgeRule(30, 700)
    assert age_rule({"catalog.stale_price_days": "30", "catalog.stale_fact_days": 1.5}) == AgeRule()


def test_prices_have_days_of_their_own() -> None:
    rule = AgeRule(30, 700)
    assert (stale_days(rule, Section.PRICES), stale_days(rule, Section.CLAIMS)) == (30, 700)


@pytest.mark.parametrize("contents", [b"", b"[]", b"{", b"\xff", b'"' * 3, b"[" * 100_000])
def test_a_broken_file_is_no_rule_and_is_left_as_it_is(user_home: Path, contents: bytes) -> None:
    user_home.mkdir()
    settings_path().write_bytes(contents)
    assert read_settings(settings_path()) is None
    assert users_age_rule() == AgeRule()
    assert settings_path().read_bytes() == contents
