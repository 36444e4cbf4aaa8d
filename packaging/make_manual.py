"""Make the manual as HTML for browsers: `make_manual.py FOLDER`. Pictures and the style sheet are next to the pages."""

from __future__ import annotations

import shutil
import sys
from html import escape
from pathlib import Path

from gpudesk import paths
from gpudesk.report.manual import CONTENTS, ManualPage, Picture, read_page, read_pages, write_html

_STYLES = ("sheets/sheet.css", "manual/manual.css")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    style = "".join(paths.resource(name).read_text(encoding="utf-8") for name in _STYLES)
    (folder / "manual.css").write_text(style, encoding="utf-8")
    contents = write_html(read_page(CONTENTS).blocks[1:], make_address)
    for page in read_pages():
        for block in page.blocks:
            if isinstance(block, Picture):
                shutil.copy(paths.resource("manual") / block.file, folder)
        name = "index" if page.name == CONTENTS else page.name
        (folder / f"{name}.html").write_text(make_page(page, contents), encoding="utf-8")


def make_page(page: ManualPage, contents: str) -> str:
    """Return a page with the contents next to it."""
    side = "" if page.name == CONTENTS else f'<nav><p><a href="index.html">GPU Desk</a></p>{contents}</nav>'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title)} – GPU Desk</title>
<link rel="stylesheet" href="manual.css">
</head>
<body class="manual">
{side}
<main>
{write_html(page.blocks, make_address)}
</main>
</body>
</html>
"""


def make_address(target: str) -> str:
    """Return the address of a page or a picture; empty for files outside the manual."""
    file, _, anchor = target.partition("#")
    if file.endswith(".md"):
        name = file.removesuffix(".md")
        file = f"{'index' if name == CONTENTS else name}.html"
    elif file.endswith((".png", ".svg")):
        file = file.rpartition("/")[2]
    elif file:
        return ""
    return f"{file}#{anchor}" if anchor else file


if __name__ == "__main__":
    main(Path(sys.argv[1]))
