"""Checks of files, facts and figures: whole they pass, and each fails when its thing is harmed."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bundle_manifest import write_manifest
from gpudesk import paths
from gpudesk.bundle_manifest import PROGRAM_FILES
from gpudesk.cli.self_test.installation import (
    check_calibration,
    check_catalog,
    check_golden,
    check_memory,
    check_resources,
    check_speed,
    check_user_file,
)
from gpudesk.cli.self_test.report import CheckFailedError, CheckFinding, join_limited
from gpudesk.domain.user_facts import FactEdit
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, message
from tests.unit.domain.user_samples import ALL

# Resources


def test_whole_bundle_passes(bundle: Path) -> None:
    outcome = check_resources()
    assert not outcome.doubt
    assert re.fullmatch(r"\d{3} files intact", outcome.text)


def test_checkout_passes_without_a_list() -> None:
    assert check_resources().text.endswith("files read from a source checkout")


def test_missing_icon_is_named(bundle: Path) -> None:
    (bundle / "resources" / "icons" / "check.svg").unlink()
    with pytest.raises(CheckFailedError, match=re.escape("missing: resources/icons/check.svg (in ")):
        check_resources()


def test_changed_byte_of_the_catalog_is_named(bundle: Path) -> None:
    catalog = bundle / "catalog.sqlite"
    raw = bytearray(catalog.read_bytes())
    raw[-1] ^= 1
    catalog.write_bytes(raw)
    with pytest.raises(CheckFailedError, match=re.escape("changed: catalog.sqlite")):
        check_resources()


def test_foreign_file_is_a_warning(bundle: Path) -> None:
    (bundle / "resources" / "fonts" / "Mine.ttf").touch()
    outcome = check_resources()
    assert outcome.doubt
    assert outcome.text.endswith("unexpected files: resources/fonts/Mine.ttf")


def test_library_that_is_gone_from_a_frozen_program_is_named(bundle: Path) -> None:
    there = bundle.relative_to(bundle.parents[1]) / "catalog.sqlite"
    (bundle / PROGRAM_FILES).write_text(f"lib/libgone.so\n{there.as_posix()}\n")
    write_manifest(bundle)
    with pytest.raises(CheckFailedError, match=r"^missing: lib/libgone\.so \(in "):
        check_resources()


def test_of_many_missing_files_some_are_named(bundle: Path) -> None:
    shutil.rmtree(bundle / "resources" / "icons")
    with pytest.raises(CheckFailedError, match=r"missing: resources/icons/.* and \d\d more"):
        check_resources()


def test_lost_list_is_reported(bundle: Path) -> None:
    (bundle / "SHA256SUMS").unlink()
    with pytest.raises(InputError, match=r"bundle\.no_list"):
        check_resources()


def test_template_with_unknown_entries_is_reported(bundle: Path) -> None:
    """A list can be made again over a damaged file; opening it is another check."""
    template = bundle / "resources" / "templates" / "405b-one-node.gpudesk"
    template.write_text(template.read_text().replace("h200-sxm", "h201-sxm"))
    write_manifest(bundle)
    with pytest.raises(InputError, match="unknown"):
        check_resources()


def test_empty_file_of_a_checkout_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(paths.get_resources_dir(), tmp_path / "resources")
    empty = tmp_path / "resources" / "fonts" / "DeskSans-Medium.ttf"
    empty.write_bytes(b"")
    monkeypatch.setattr(paths, "get_resources_dir", lambda: tmp_path / "resources")
    with pytest.raises(CheckFailedError, match=re.escape(str(empty))):
        check_resources()


def test_long_lists_are_cut() -> None:
    assert join_limited(["a", "b"]) == "a, b"
    assert join_limited(list("abcdef")) == "a, b, c, d and 2 more"


# Facts


def test_catalog_reports_its_contents(bundle: Path) -> None:
    with GpuDeskService.open() as service:
        catalog = service.catalog
        expected = f"{len(catalog.accelerators())} accelerators, {len(catalog.models())} models"
        assert check_catalog() == CheckFinding(
            f"{expected}, {catalog.data_date}, revision {catalog.shipped_revision[:8]}"
        )


def test_changed_catalog_figure_is_reported_without_the_list(bundle: Path) -> None:
    with closing(sqlite3.connect(bundle / "catalog.sqlite")) as connection:
        connection.execute("UPDATE claim SET value = '9' WHERE rowid = (SELECT min(rowid) FROM claim)")
        connection.commit()
    with pytest.raises(InputError, match=r"catalog\.file\.changed"):
        check_catalog()


def test_truncated_catalog_is_reported(bundle: Path) -> None:
    catalog = bundle / "catalog.sqlite"
    catalog.write_bytes(catalog.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"catalog\.file\.cut"):
        check_catalog()


def test_broken_calibration_is_reported(bundle: Path) -> None:
    (bundle / "data" / "calibration.json").write_text("{}")
    with pytest.raises(InputError, match=r"calibration\."):
        check_calibration()


def test_user_without_a_file_has_none_yet(user_home: Path) -> None:
    assert check_user_file() == CheckFinding("no file yet")
    assert not user_home.exists()


def test_users_facts_are_counted_and_stay_as_they_are() -> None:
    with GpuDeskService.open() as service:
        service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="x"), after=tuple(ALL)))
    before = paths.get_user_catalog_path().read_bytes()
    assert check_user_file().text == f"{len(ALL)} values in your file"
    assert paths.get_user_catalog_path().read_bytes() == before


def test_damaged_user_file_is_a_warning_that_names_the_file(user_home: Path) -> None:
    user_home.mkdir()
    paths.get_user_catalog_path().write_bytes(b"no database at all")
    outcome = check_user_file()
    assert outcome.doubt
    assert outcome.text.startswith("your values cannot be loaded")
    assert str(paths.get_user_catalog_path()) in outcome.text
    assert paths.get_user_catalog_path().read_bytes() == b"no database at all"


# Figures


def test_known_questions_are_answered(bundle: Path) -> None:
    assert re.fullmatch(r"\d\d test questions have the expected answers", check_golden().text)
    assert not check_memory().doubt
    assert not check_speed().doubt


def test_wrong_figure_is_reported_with_the_expected_one(bundle: Path) -> None:
    file = bundle / "resources" / "self_test" / "golden.json"
    golden = json.loads(file.read_text(encoding="utf-8"))
    figure = golden["cases"][3]["expected"]["tpot_ms"]
    figure["value"] *= 1.0001
    file.write_text(json.dumps(golden), encoding="utf-8")
    name = re.escape(golden["cases"][3]["request"]["id"])
    pattern = rf"1 of \d\d test questions have wrong answers; {name}: tpot_ms\.value is .*, expected {figure['value']}"
    with pytest.raises(CheckFailedError, match=pattern):
        check_golden()


def test_shifted_constant_moves_figures(bundle: Path) -> None:
    file = bundle / "data" / "calibration.json"
    text = file.read_text(encoding="utf-8")
    shifted, count = re.subn(
        r'("default": 0\.\d)(\d)', lambda file_content: f"{file_content[1]}{9 - int(file_content[2])}", text
    )
    assert count
    file.write_text(shifted, encoding="utf-8")
    with pytest.raises(CheckFailedError, match="have wrong answers"):
        check_golden()
