"""Files of rules that cannot be used are named with the place and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudesk.decision.rules.data_files import read_rules
from gpudesk.text.messages import InputError

HEAD = 'dated = ""\npair = []\n'
RULE = '[[rules]]\nid = "X-01"\nstrength = "mild"\ntheme = "t"\ntitle = "A"\nwhy = "B"\n'
CASES = 'cases = [{ when = "weights_gb > 1", checks = "fits" }]\n'


def test_a_rule_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(HEAD + RULE + CASES)
    (tmp_path / "others.toml").write_text("[[steps]]\nid = 1\n")
    (rule,) = read_rules(tmp_path)
    assert (rule.id, rule.source, rule.cases[0].question_condition) == ("X-01", None, "fits")


@pytest.mark.parametrize(
    ("text", "problem", "place"),
    [
        ("[[rules", "file.unreadable", "a.toml"),
        ("rules = 3\n", "rules.entry", "a.toml"),
        ("rules = [3]\n", "rules.entry", "a.toml"),
        (HEAD + RULE, "rules.entry", "X-01"),
        (HEAD + RULE + 'cases = [{ when = "weights_gb >" }]\n', "rules.condition", "X-01"),
        (HEAD + RULE + 'cases = [{ when = "f() > 1" }]\n', "rules.condition", "X-01"),
        (HEAD + RULE + 'cases = [{ when = "a > 1", then = "b" }]\n', "rules.entry", "X-01"),
        (HEAD + RULE.replace('"mild"', '"some"') + CASES, "rules.entry", "X-01"),
        (HEAD + RULE + CASES + 'asks = ["budget"]\n', "rules.question", "X-01"),
        (HEAD + RULE + CASES + RULE + CASES, "rules.twice", "a.toml"),
        ("", "rules.none", ""),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, problem: str, place: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(InputError) as raised:
        read_rules(tmp_path)
    assert raised.value.problem.id == problem
    assert place in str(raised.value.where)
