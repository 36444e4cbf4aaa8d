"""The workflow that builds packages on other systems calls nothing that is not there, and may do little."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github" / "workflows" / "packages.yml").read_text()
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_every_script_that_it_calls_is_there() -> None:
    called = set(re.findall(r"\bpackaging/[\w./-]+\.(?:py|sh|ps1)\b", TEXT))
    assert "packaging/freeze.py" in called
    assert [name for name in sorted(called) if not (ROOT / name).is_file()] == []


def test_every_target_that_it_makes_is_there() -> None:
    targets = set(re.findall(r"^\s*(?:run: )?make ([a-z-]+)", TEXT, re.MULTILINE))
    assert "freeze" in targets
    assert sorted(targets - TARGETS) == []


def test_every_action_is_pinned_to_one_commit() -> None:
    used = re.findall(r"uses: (\S+)(.*)", TEXT)
    assert len(used) >= 4
    for action, comment in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{action} does not say which version that is"


def test_only_the_draft_of_a_release_may_write() -> None:
    assert re.search(r"^permissions:\n  contents: read\n\n", TEXT, re.MULTILINE)
    assert re.findall(r"\w+: write", TEXT) == ["contents: write"]
    assert "pull_request_target" not in TEXT
    jobs = re.split(r"^  (?=\w+:\n    name: )", TEXT.partition("\njobs:\n")[2], flags=re.MULTILINE)[1:]
    assert [job.partition(":")[0] for job in jobs if "contents: write" in job] == ["release"]
    assert [job.partition(":")[0] for job in jobs if "timeout-minutes: " not in job] == []
