"""What is seen of a PDF: pages, fonts that are inside, pictures and text."""

import re

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF
from PySide6.QtGui import QImage, QPainter, QPdfWriter
from PySide6.QtWidgets import QApplication

from gpudesk.cli.self_test.presentation import read_pdf
from gpudesk.desktop.ui.theme.tokens import load_fonts, make_font


def draw_pdf(*texts: str, picture: int = 0) -> bytes:
    """Return a PDF with a page for each text, and a picture of some pixels on the last."""
    load_fonts()
    raw = QByteArray()
    buffer = QBuffer(raw)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    painter = QPainter(writer)
    for number, text in enumerate(texts):
        if number:
            writer.newPage()
        painter.setFont(make_font(200, 500 if number else 400))
        painter.drawText(500, 500, text)
    if picture:
        image = QImage(picture, picture // 2, QImage.Format.Format_RGB32)
        image.fill(0x123456)
        painter.drawImage(QRectF(0, 0, 900, 900), image)
    painter.end()
    buffer.close()
    return bytes(raw.data())


def test_pages_text_and_fonts_are_seen(qapp: QApplication) -> None:
    pdf = read_pdf(draw_pdf("4.8 TB/s ≤ 12 µs", "Zweite Größe"))
    assert pdf.pages == 2
    assert pdf.text == "4.8TB/s≤12µsZweiteGröße"
    assert pdf.fonts == {"DeskSans-Regular", "DeskSans-Medium"}
    assert pdf.pictures == ()


def test_picture_is_seen_with_its_sides(qapp: QApplication) -> None:
    assert read_pdf(draw_pdf("a", picture=300)).pictures == ((300, 150),)


def test_font_that_is_only_named_is_not_inside(qapp: QApplication) -> None:
    raw = draw_pdf("abc")
    (number,) = re.findall(rb"/FontFile2 (\d+) 0 R", raw)
    assert read_pdf(raw.replace(b"\n%s 0 obj" % number, b"\n9999 0 obj")).fonts == frozenset()


@pytest.mark.parametrize("raw", [b"", b"%PDF-1.4\n", b"\x00" * 99, b"1 0 obj\nstream\nx\nendstream\nendobj"])
def test_file_that_is_not_a_pdf_has_no_content(raw: bytes) -> None:
    pdf = read_pdf(raw)
    assert (pdf.pages, pdf.fonts, pdf.pictures, pdf.text) == (0, frozenset(), (), "")
