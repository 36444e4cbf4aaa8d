"""The scenario in a PDF: found however the file was written, and missed with a clear word in all others."""

import zlib
from pathlib import Path
from time import process_time

import pytest

from gpudesk.documents.scenario_file import (
    format_scenario,
    is_pdf,
    list_template_ids,
    read_attached_scenario,
    read_scenario,
    read_template,
)
from gpudesk.text.messages import InputError

MOST = 1 << 20


def pdf(*streams: bytes, line: bytes = b"\n") -> bytes:
    objects = (
        b"%d 0 obj%s<< /Length %d >>%sstream%s%s%sendstream%sendobj%s"
        % (number, line, len(content), line, line if line != b"\r" else b"\r\n", content, line, line, line)
        for number, content in enumerate(streams, 1)
    )
    return b"%PDF-1.4\n" + b"".join(objects) + b"%%EOF\n"


def drawing() -> bytes:
    return zlib.compress(b"q 1 0 0 1 0 0 cm /F1 8 Tf (5,745) Tj Q\n" * 50)


@pytest.mark.parametrize("name", list_template_ids())
@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("line", [b"\n", b"\r\n"])
def test_scenario_comes_back_as_it_was(tmp_path: Path, name: str, level: int, line: bytes) -> None:
    scenario = read_template(name)
    raw = format_scenario(scenario).encode()
    file = tmp_path / "sheet.pdf"
    file.write_bytes(pdf(drawing(), zlib.compress(raw, level), drawing(), line=line))
    assert read_scenario(file) == scenario


def test_scenario_is_found_where_it_was_stored_plainly() -> None:
    raw = format_scenario(read_template("405b-one-node")).encode()
    assert read_attached_scenario(pdf(drawing(), raw), "sheet.pdf", MOST) == raw


def test_other_json_is_passed_over() -> None:
    raw = format_scenario(read_template("405b-one-node")).encode()
    other = zlib.compress(b'{"profile": "sRGB"}')
    assert read_attached_scenario(pdf(other, zlib.compress(raw)), "sheet.pdf", MOST) == raw


@pytest.mark.parametrize(
    "raw",
    [
        b"%PDF-1.7\n",
        pdf(drawing()),
        pdf(b"", b"{", zlib.compress(b"{}")),
        pdf(zlib.compress(b'{"gpudesk": 1}')[:-9])[:40],
        b"%PDF-1.4\nstream\n\xff\xd8\xff\xe0 stream\nstream\n" + bytes(range(256)) * 40,
    ],
)
def test_pdf_without_a_scenario_is_reported(raw: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_attached_scenario(raw, "foreign.pdf", MOST)
    assert (caught.value.problem.id, caught.value.where) == ("pdf.no_scenario", "foreign.pdf")


def test_cut_pdf_is_refused_by_name(tmp_path: Path) -> None:
    whole = pdf(zlib.compress(format_scenario(read_template("405b-one-node")).encode()))
    file = tmp_path / "cut.pdf"
    end = whole.index(b"endstream") - 8
    for length in range(8, end):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError) as caught:
            read_scenario(file)
        assert caught.value.where is not None
        assert caught.value.where.startswith(str(file))


def test_decompression_bomb_is_refused() -> None:
    swollen = zlib.compress(b'{"gpudesk": 1, "note": "' + b"a" * (8 << 20))
    with pytest.raises(InputError) as caught:
        read_attached_scenario(pdf(swollen), "big.pdf", MOST)
    assert caught.value.problem.id == "file.too_big"


#: What swells to 8 MB next to the one that is looked for; streams that begin as a scenario and never end.
BOMB = zlib.compress(b'{"note": "' + b"a" * (8 << 20), 9)
HOSTILE = {
    "bombs": pdf(*[BOMB] * 150),
    "endless": b"%PDF-1.4\n" + b"stream\n{" * 130_000,
    "one end": b"%PDF-1.4\n" + b"stream\n{" * 130_000 + b"endstream",
    "empty": b"%PDF-1.4\n" + b"stream\n" * 150_000,
    "cut deflate": b"%PDF-1.4\n" + (b"stream\n" + BOMB[:500]) * 2_000,
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pdf_takes_no_longer_than_a_large_one(raw: bytes) -> None:
    began = process_time()
    with pytest.raises(InputError) as caught:
        read_attached_scenario(raw, "hostile.pdf", MOST)
    assert caught.value.problem.id == "pdf.no_scenario"
    # Before, 1 MB of bombs took 18 s, and 1 MB of streams without an end several minutes.
    assert process_time() - began < 1


def test_pdf_is_known_by_how_it_begins() -> None:
    assert is_pdf(b"%PDF-1.4\n")
    assert not is_pdf(b'{"gpudesk": 1}')
    assert not is_pdf(b"")
