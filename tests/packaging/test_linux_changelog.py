"""The changelog in Debian's form and in AppStream's, and the file of copyrights."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.packaging.scripts import load

LINUX = Path(__file__).parents[2] / "packaging" / "linux"
changelog = load(LINUX / "changelog.py")
copyright_file = load(LINUX / "copyright.py")

NOW = datetime(2026, 11, 22, 21, 34, 5, tzinfo=UTC)
TEXT = """# Changelog

Words before, which belong to no release.

## [Unreleased]

### Added

- A `switch` for the light, and
  what it needs & takes.
- See [the manual](manual.md).

### Fixed

- It stayed dark.

## [1.0.0] - 2026-02-03

### Added

- Everything.
"""


def test_unreleased_changes_count_as_the_packed_version() -> None:
    newest, first = changelog.releases(TEXT, "1.1.0", NOW)
    assert (newest.version, newest.time) == ("1.1.0", NOW)
    assert newest.changes == {
        "Added": ["A `switch` for the light, and what it needs & takes.", "See [the manual](manual.md)."],
        "Fixed": ["It stayed dark."],
    }
    assert (first.version, first.time.date().isoformat()) == ("1.0.0", "2026-02-03")


def test_heading_of_the_version_replaces_unreleased() -> None:
    assert [release.version for release in changelog.releases(TEXT, "1.0.0", NOW)] == ["1.0.0"]


def test_debian_gets_entries_with_maintainer_and_time() -> None:
    text = changelog.debian(changelog.releases(TEXT, "1.1.0", NOW), "A Person <a@b.invalid>")
    assert text.startswith("gpudesk (1.1.0) unstable; urgency=medium\n\n  [ Added ]\n  * A switch for the light")
    assert "  * See the manual.\n" in text
    assert "\n -- A Person <a@b.invalid>  Sun, 22 Nov 2026 21:34:05 +0000\n" in text


@pytest.mark.parametrize(
    ("version", "plain_version"), [("1.0", "1.0"), ("1.0rc1", "1.0~rc1"), ("1.0.dev3", "1.0~dev3")]
)
def test_prereleases_sort_before_their_release(version: str, plain_version: str) -> None:
    assert changelog.debian_version(version) == plain_version


def test_appstream_gets_releases_with_marked_up_changes() -> None:
    releases = ET.fromstring(changelog.appstream(changelog.releases(TEXT, "1.1.0rc1", NOW)))
    newest, first = releases
    assert newest.attrib == {"version": "1.1.0~rc1", "date": "2026-11-22", "type": "development"}
    assert first.attrib["type"] == "stable"
    item = newest.find("./description/ul/li")
    assert item is not None
    assert "".join(item.itertext()) == "A switch for the light, and what it needs & takes."
    assert [code.text for code in item] == ["switch"]


def test_copyrights_name_every_part_and_explain_every_license() -> None:
    parts = [
        {"name": "GPU Desk", "license": "Apache-2.0"},
        {"name": "Lamp", "version": "7", "license": "MIT OR Zlib", "copyright": ["2001 Lamp makers", "2002 Ann"]},
        {"name": "Starter", "license": "GPL-2.0-or-later WITH Some-exception", "home": "https://s.invalid"},
    ]
    text = copyright_file.copyright_file(parts, 2026)
    assert "Copyright: 2026 GPU Desk maintainers\nLicense: Apache-2.0\n" in text
    assert "\n Lamp: 2001 Lamp makers; 2002 Ann\n Starter: the authors of Starter\n" in text
    assert "License: Apache-2.0 and GPL-2.0-or-later and MIT and Zlib\n" in text
    assert "\n Starter: GPL-2.0-or-later WITH Some-exception, https://s.invalid\n" in text
    explained = {paragraph.splitlines()[0] for paragraph in text.split("\n\n")[3:]}
    assert explained == {f"License: {name}" for name in ("Apache-2.0", "GPL-2.0-or-later", "MIT", "Zlib")}
    assert "/usr/share/common-licenses/GPL-2." in text
