"""What is recorded of a written file: what a reader of it gets, and not its bytes."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

Found = dict[str, Any]

_TEXTS = {".md", ".html", ".csv", ".json", ".gpudesk", ".txt", ".jsonl", ".gpudeskpack"}
#: Pixels to an inch of the pictures of pages.
_RESOLUTION = 60


def read_back(path: Path, pictures: Path | None = None) -> Found:
    """Return what a file holds; pictures of its pages go to a folder where one is given."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return {"workbook": workbook(path)}
    if suffix == ".npz":
        return {"arrays": _arrays(path)}
    if suffix == ".pdf":
        return {"text": _pdf_text(path).splitlines(), "pages": _pdf_pages(path, pictures)}
    raw = path.read_bytes()
    if zipfile.is_zipfile(io.BytesIO(raw)):
        return {"parts": _parts(raw)}
    if suffix in _TEXTS:
        return {"text": raw.decode("utf-8", "backslashreplace").splitlines()}
    return {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}


def workbook(path: Path) -> dict[str, list[str]]:
    """Return the sheets of a workbook: each cell with its number format and look, links, and the frame."""
    import openpyxl

    book = openpyxl.load_workbook(path)
    cells_by_sheet: dict[str, list[str]] = {}
    for sheet in book.worksheets:
        widths = {key: round(value.width, 2) for key, value in sheet.column_dimensions.items()}
        merged = sorted(map(str, sheet.merged_cells.ranges))
        frame = f"frozen {sheet.freeze_panes} filter {sheet.auto_filter.ref} merged {merged} widths {widths}"
        lines = [frame]
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is None:
                    continue
                look = f"{cell.number_format}{' bold' if cell.font.b else ''}"
                link = f" -> {cell.hyperlink.target}" if cell.hyperlink else ""
                lines.append(f"{cell.coordinate} [{look}] {cell.value!r}{link}")
        cells_by_sheet[sheet.title] = lines
    return cells_by_sheet


def _arrays(path: Path) -> dict[str, Any]:
    import numpy as np

    with np.load(path, allow_pickle=False) as arrays:
        return {
            name: {"dtype": str(array.dtype), "shape": list(array.shape), "values": repr(array.tolist())}
            for name, array in ((name, arrays[name]) for name in sorted(arrays.files))
        }


def _parts(raw: bytes) -> dict[str, list[str]]:
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        return {
            name: packed.read(name).decode("utf-8", "backslashreplace").splitlines()
            for name in sorted(packed.namelist())
        }


def _pdf_text(path: Path) -> str:
    completed = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True)
    return completed.stdout.decode("utf-8", "backslashreplace")


def _pdf_pages(path: Path, pictures: Path | None) -> list[str]:
    """Return the names of the pictures of all pages; none where no one wants them."""
    if pictures is None:
        return []
    pictures.mkdir(parents=True, exist_ok=True)
    command = ["pdftoppm", "-r", str(_RESOLUTION), "-png", str(path), str(pictures / path.stem)]
    subprocess.run(command, check=True, capture_output=True)
    return sorted(each.name for each in pictures.glob(f"{path.stem}-*.png"))


def as_text(value: object) -> str:
    """Return a JSON value as it is recorded."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def have_poppler() -> bool:
    """Whether the programs that read a PDF are there."""
    return all(shutil.which(name) for name in ("pdftotext", "pdftoppm"))
