"""Whose work the program is made of: the list of a frozen program, and what installed packages state."""

import json
import re
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from gpudesk import __version__, paths
from gpudesk.third_party import (
    PROGRAM,
    ThirdPartyWork,
    describe_package,
    find_license_terms,
    list_third_party,
    make_license_text,
)

NOTICES = Path(__file__).parents[2] / "THIRD_PARTY_NOTICES.md"


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "parts.json"
    monkeypatch.setattr(paths, "find_parts_path", lambda: path)
    return path


def package(folder: Path, metadata: str, *texts: str) -> PathDistribution:
    info = folder / "thing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: thing\nVersion: 1.0\n{metadata}", "utf-8")
    for text in texts:
        (info / text).parent.mkdir(parents=True, exist_ok=True)
        (info / text).write_text(f"text of {text}", encoding="utf-8")
    (info / "RECORD").write_text("".join(f"{info.name}/{name},,\n" for name in ("METADATA", *texts)), "utf-8")
    return PathDistribution(info)


def test_the_program_comes_first_with_its_own_license() -> None:
    own = list_third_party()[0]
    assert (own.name, own.version, own.license) == (PROGRAM, __version__, "Apache-2.0")
    assert "Apache License" in make_license_text(own)


def test_the_licenses_are_those_of_the_notices() -> None:
    rows = re.findall(r"^\| ([\w.-]+) \| ([\d.]+) \| ([^|]+) \|", NOTICES.read_text("utf-8"), re.MULTILINE)
    licenses = {part.name: part.license for part in list_third_party() if part.kind == "package"}
    assert {name: terms.strip() for name, _, terms in rows} == licenses


def test_components_without_a_package_are_listed() -> None:
    by_name = {part.name: part for part in list_third_party()}
    assert by_name["Qt"].license == "LGPL-3.0-only"
    assert "SIL OPEN FONT LICENSE" in make_license_text(by_name["Inter"])
    assert "ISC License" in make_license_text(by_name["Lucide"])


def test_every_installed_package_has_a_license() -> None:
    assert [part.name for part in list_third_party() if not part.license] == []


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("License-Expression: MIT\nLicense: something else\n", "MIT"),
        ("License: LGPL-3.0-only OR GPL-2.0-only\n", "LGPL-3.0-only OR GPL-2.0-only"),
        ("License: GPL with an exception\nClassifier: License :: OSI Approved :: MIT License\n", "MIT"),
        ("Classifier: License :: OSI Approved :: BSD License\n", "BSD-3-Clause"),
        ("Classifier: License :: Other/Proprietary License\n", ""),
        ("", ""),
    ],
)
def test_license_is_an_expression_or_missing(tmp_path: Path, metadata: str, expected: str) -> None:
    assert find_license_terms(package(tmp_path, metadata)) == expected


def test_package_has_author_home_page_and_license_texts(tmp_path: Path) -> None:
    fields = "Author-email: A Writer <a@example.org>\nProject-URL: Homepage, https://example.org\n"
    part = describe_package(package(tmp_path, fields, "licenses/inner/COPYING", "LICENSE.txt", "entry_points.txt"))
    assert (part.author, part.home) == ("A Writer", "https://example.org")
    assert part.purl == "pkg:pypi/thing@1.0"
    assert make_license_text(part) == "text of LICENSE.txt\n\ntext of licenses/inner/COPYING"


def test_frozen_program_lists_its_recorded_components(listed: Path) -> None:
    (listed.parent / "licenses").mkdir()
    (listed.parent / "licenses" / "Zlib.txt").write_text("as is", encoding="utf-8")
    zlib = ThirdPartyWork("zlib", "1.3", "Zlib", within="Qt", copyright=("(C) Adler",), texts=("licenses/Zlib.txt",))
    unknown = {"name": "of a later version", "another": 1}
    listed.write_text(json.dumps([zlib.record(), unknown]), encoding="utf-8")
    assert list_third_party() == [ThirdPartyWork("of a later version"), zlib]
    assert make_license_text(zlib) == "(C) Adler\n\nas is"


def test_a_text_that_is_gone_leaves_the_rest(listed: Path) -> None:
    assert (
        make_license_text(ThirdPartyWork("zlib", copyright=("(C) Adler",), texts=("licenses/gone.txt",))) == "(C) Adler"
    )


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"version": "1"}]', "null"])
def test_a_list_that_cannot_be_read_is_empty(listed: Path, text: str) -> None:
    listed.write_text(text, encoding="utf-8")
    assert list_third_party() == []
