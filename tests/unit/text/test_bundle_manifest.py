"""A bundle compared with its list: what is changed, missing and added is named."""

from pathlib import Path

import pytest

from bundle_manifest import list_included_files, write_manifest
from gpudesk.bundle_manifest import MANIFEST, compare_bundle
from gpudesk.text.messages import InputError


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    (folder / "icons").mkdir(parents=True)
    for name in ("catalog.sqlite", "icons/a.svg", "icons/b c.svg"):
        (folder / name).write_bytes(name.encode())
    assert write_manifest(folder) == 3
    return folder


def test_untouched_bundle_is_whole(bundle: Path) -> None:
    differences = compare_bundle(bundle)
    assert (differences.unharmed, differences.changed, differences.missing, differences.added) == (3, (), (), ())


def test_harmed_files_are_named(bundle: Path) -> None:
    (bundle / "catalog.sqlite").write_bytes(b"catalog.sqlitf")
    (bundle / "icons" / "b c.svg").unlink()
    (bundle / "icons" / "mine.svg").touch()
    differences = compare_bundle(bundle)
    assert differences.unharmed == 1
    assert differences.changed == ("catalog.sqlite",)
    assert differences.missing == ("icons/b c.svg",)
    assert differences.added == ("icons/mine.svg",)


def test_file_in_the_place_of_a_folder_leaves_its_files_missing(bundle: Path) -> None:
    for file in (bundle / "icons").iterdir():
        file.unlink()
    (bundle / "icons").rmdir()
    (bundle / "icons").touch()
    differences = compare_bundle(bundle)
    assert differences.missing == ("icons/a.svg", "icons/b c.svg")
    assert differences.added == ("icons",)


def test_files_of_file_managers_are_ignored(bundle: Path) -> None:
    (bundle / "icons" / ".DS_Store").touch()
    assert compare_bundle(bundle).added == ()


def test_list_that_is_gone_or_cut_short_is_reported(bundle: Path) -> None:
    text = (bundle / MANIFEST).read_text()
    (bundle / MANIFEST).write_text(text[:-100])
    with pytest.raises(InputError) as raised:
        compare_bundle(bundle)
    assert raised.value.problem.id == "bundle.bad_list"
    (bundle / MANIFEST).unlink()
    with pytest.raises(InputError) as raised:
        compare_bundle(bundle)
    assert raised.value.problem.id == "bundle.no_list"


def test_included_folders_are_listed_by_their_files(bundle: Path) -> None:
    included = {str(bundle / "icons"): "p/_b/resources/icons", str(bundle / "catalog.sqlite"): "p/_b/c.sqlite"}
    names = sorted(list_included_files(included, "p/_b"))
    assert names == ["c.sqlite", "resources/icons/a.svg", "resources/icons/b c.svg"]
