"""The profile on paper: two pages, whatever the accelerator, with nothing over the foot."""

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.paper import PaperSize
from gpudesk.desktop.ui.printing.profile_pages import lay_out_profile
from gpudesk.domain.profile import ProfileQuestion
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter


@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("accelerator", ["mi325x", "rtx-4090", "h100-pcie", "tpu-v6e", "mi455x", "h200-sxm"])
def test_two_pages_hold_every_profile(
    service: GpuDeskService, qapp: QApplication, accelerator: str, size: PaperSize
) -> None:
    tables = ProfileTables(service.profile(ProfileQuestion(accelerator)), Formatter(), str)
    pages = lay_out_profile(tables, size, "2026-11-26", "2026-11-25")
    assert len(pages.pages) == 2
    for page in pages.pages:
        *pieces, foot = page
        assert max(placed.y + placed.piece.height for placed in pieces) <= foot.y
        assert foot.y + foot.piece.height <= pages.paper.height
