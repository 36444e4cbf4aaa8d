"""The manual as HTML: elements are closed, links and pictures lead to files next to the pages."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from gpudesk.report.manual import list_page_names
from tests.packaging.scripts import load

_EMPTY = frozenset({"meta", "link", "img", "br"})


class _Page(HTMLParser):
    """Reads a page; an element that is closed out of order is a fault."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in _EMPTY:
            self.open.append(tag)
        self.names |= {name for name in (attributes.get("id"),) if name}
        self.targets += [target for target in (attributes.get("href"), attributes.get("src")) if target]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output_folder = tmp_path_factory.mktemp("manual")
    load(Path(__file__).parents[2] / "packaging/make_manual.py").main(output_folder)
    return output_folder


def test_every_page_is_valid_and_its_links_resolve(folder: Path) -> None:
    pages = {file.name: _Page(file.read_text(encoding="utf-8")) for file in folder.glob("*.html")}
    assert set(pages) == {"index.html", *(f"{name}.html" for name in list_page_names()[1:])}
    for name, page in pages.items():
        assert page.open == []
        for target in page.targets:
            file, _, anchor = target.partition("#")
            assert (folder / (file or name)).is_file(), (name, target)
            assert not anchor or anchor in pages[file or name].names, (name, target)
