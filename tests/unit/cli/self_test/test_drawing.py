"""Checks of what Qt draws: whole they pass, and each fails when its thing is harmed."""

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLibraryInfo, QTimer
from PySide6.QtGui import QGuiApplication, QRawFont

from gpudesk.cli.self_test import presentation
from gpudesk.cli.self_test.report import CheckFailedError
from gpudesk.desktop.pages.compare.page import ComparePage
from gpudesk.desktop.ui.printing import pdf
from gpudesk.desktop.window import self_check

pytestmark = pytest.mark.usefixtures("qapp")

FONTS = Path("resources") / "fonts"
ICONS = Path("resources") / "icons"


# Icons


def test_whole_icons_pass(bundle: Path) -> None:
    assert presentation.check_icons().text == f"{len(list((bundle / ICONS).glob('*.svg')))} icons loaded"


@pytest.mark.parametrize("content", ["", "<svg", '<svg xmlns="http://www.w3.org/2000/svg"/>'])
def test_blank_icon_is_named(bundle: Path, content: str) -> None:
    (bundle / ICONS / "check.svg").write_text(content)
    with pytest.raises(CheckFailedError, match="icon check cannot be loaded"):
        presentation.check_icons()


def test_lost_icons_are_reported(bundle: Path) -> None:
    shutil.rmtree(bundle / ICONS)
    with pytest.raises(CheckFailedError, match="icons are missing"):
        presentation.check_icons()


def test_a_system_without_wayland_is_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = "Cannot load library libqwayland.so: libwayland-cursor.so.0: cannot open shared object file"
    monkeypatch.setattr(self_check, "check_display", lambda: (["xcb"], [lost]))
    outcome = presentation.check_display()
    assert not outcome.doubt
    assert outcome.text == f"xcb; unusable: {lost}"


# Qt itself


def test_without_its_plug_in_for_no_screen_qt_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt would end the process, and with it everything that the other checks have to say."""
    monkeypatch.setattr(QLibraryInfo, "path", lambda _: str(tmp_path))
    monkeypatch.setattr(QCoreApplication, "instance", lambda: None)
    with pytest.raises(CheckFailedError, match="plug-in qoffscreen is missing in "):
        presentation.check_icons()


# Fonts


def test_whole_fonts_pass(bundle: Path) -> None:
    assert presentation.check_fonts().text == "three weights, equal digit widths, all glyphs"


def test_missing_font_is_named(bundle: Path) -> None:
    (bundle / FONTS / "DeskSans-SemiBold.ttf").unlink()
    with pytest.raises(CheckFailedError, match=r"^font DeskSans-SemiBold\.ttf cannot be loaded$"):
        presentation.check_fonts()


def test_damaged_font_is_named(bundle: Path) -> None:
    file = bundle / FONTS / "DeskSans-Medium.ttf"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(CheckFailedError, match=r"DeskSans-Medium\.ttf"):
        presentation.check_fonts()


def test_foreign_font_of_the_same_name_is_reported(bundle: Path) -> None:
    """One that is on every system that the tests run on: unlike those of the program, its digits differ in width."""
    others = list(Path("/usr/share/fonts").rglob("DejaVuSans.ttf"))
    if not others:
        pytest.skip("no other font is installed")
    shutil.copy(others[0], bundle / FONTS / "DeskSans-Regular.ttf")
    with pytest.raises(CheckFailedError, match=r"DeskSans-Regular\.ttf has the unexpected family DejaVu Sans"):
        presentation.check_fonts()


def test_missing_glyph_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "_SIGNS", "0123456789中")
    with pytest.raises(CheckFailedError, match=r"DeskSans-Regular\.ttf has no glyphs for U\+4E2D"):
        presentation.check_fonts()


def test_digits_of_unequal_width_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Uneven(QRawFont):
        def glyphIndexesForString(self, text: str) -> list[int]:
            return list(super().glyphIndexesForString(text.replace("1", "W")))

    monkeypatch.setattr(self_check, "QRawFont", Uneven)
    with pytest.raises(CheckFailedError, match=r"digits in font DeskSans-Regular\.ttf differ in width"):
        presentation.check_fonts()


def test_substituted_font_family_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "FAMILY", "DeskSans")
    monkeypatch.setattr(self_check, "_list_font_faults", lambda _weight: iter(()))
    with pytest.raises(CheckFailedError, match="requested font DeskSans Regular, Qt uses Desk Sans 400"):
        presentation.check_fonts()


# Paper


def test_sample_on_paper_passes() -> None:
    assert presentation.check_paper().text == "2 pages, vector graphics, embedded font"


def test_paper_with_other_glyphs_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presentation, "_FONTS", frozenset({"DeskSans-Black"}))
    with pytest.raises(CheckFailedError, match="the program font is not embedded in the test sheet: DeskSans-Black"):
        presentation.check_paper()


def test_paper_without_its_scenario_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "format_answered_scenario", lambda _answer: b"")
    with pytest.raises(Exception, match=r"pdf\.no_scenario"):
        presentation.check_paper()


# Window


def test_every_page_of_the_window_is_drawn_without_touching_the_users_folder(user_home: Path) -> None:
    assert presentation.check_window().text == "8 pages shown"
    assert not user_home.exists()
    assert os.environ["GPUDESK_HOME"] == str(user_home)


def test_fault_in_a_page_names_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose() -> None:
        raise KeyError("lost")

    def fail(page: ComparePage) -> None:
        QTimer.singleShot(0, page, lose)

    monkeypatch.setattr(ComparePage, "refresh", fail)
    with pytest.raises(CheckFailedError, match=r"KeyError: 'lost' \(test_drawing\.py, \d+\)"):
        presentation.check_window()


@pytest.mark.logs_warnings
def test_warning_of_the_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logging.getLogger("gpudesk.desktop.pages")
    monkeypatch.setattr(ComparePage, "refresh", lambda _page: log.warning("something is off"))
    with pytest.raises(CheckFailedError, match="something is off"):
        presentation.check_window()


def test_empty_page_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(self_check, "_LEAST_COLORS", 1 << 24)
    with pytest.raises(CheckFailedError, match="page Compare is empty; page Performance is empty"):
        presentation.check_window()


# Plug-ins


def test_plug_ins_for_the_screen_are_found() -> None:
    assert presentation.check_display().text


def test_missing_plug_ins_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(QCoreApplication, "libraryPaths", lambda: [str(tmp_path)])
    with pytest.raises(CheckFailedError, match="Qt platform plug-ins are missing"):
        presentation.check_display()


def test_unloadable_plugin_is_reported_with_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "platforms").mkdir()
    names = {"win32": "qwindows.dll", "darwin": "libqcocoa.dylib"}
    broken = tmp_path / "platforms" / names.get(sys.platform, "libqxcb.so")
    broken.write_bytes(b"nothing")
    folders = QCoreApplication.libraryPaths()
    monkeypatch.setattr(QCoreApplication, "libraryPaths", lambda: [str(tmp_path)])
    with pytest.raises(CheckFailedError, match=broken.name):
        presentation.check_display()
    # Where another one works, the window can be opened all the same.
    monkeypatch.setattr(QCoreApplication, "libraryPaths", lambda: [str(tmp_path), *folders])
    outcome = presentation.check_display()
    assert outcome.doubt
    assert broken.name in outcome.text


# Qt itself


def test_qt_that_cannot_be_loaded_is_the_failure_of_each_check() -> None:
    code = (
        "import sys\n"
        "sys.modules['PySide6.QtWidgets'] = None\n"
        "from gpudesk.cli.self_test import presentation\n"
        "for name in ('icons', 'fonts', 'window', 'display'):\n"
        "    try:\n"
        "        getattr(presentation, f'check_{name}')()\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, error)\n"
    )
    completed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    lines = completed.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("CheckFailedError Qt cannot be loaded (") for line in lines)


def test_process_with_a_window_on_a_screen_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: "xcb")
    with pytest.raises(CheckFailedError, match="close all windows to run this check"):
        presentation.check_window()
