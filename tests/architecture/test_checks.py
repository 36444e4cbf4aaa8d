"""The checks of the layout, each on small trees that hold to it and that do not."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.architecture.checks import (
    LONGEST,
    Rule,
    forbidden_imports,
    fragments,
    import_cycles,
    long_files,
    network_imports,
    own_parsers,
    repeated_classes,
    wrong_directions,
)
from tests.architecture.rules import RULES
from tests.architecture.source_tree import SourceTree

_LONG = "x = 1\n" * 100


def tree_of(folder: Path, files: Mapping[str, str]) -> SourceTree:
    for name, source in files.items():
        file = folder / "gpudesk" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    return SourceTree(folder / "gpudesk")


def test_forbidden_imports_are_reported_anywhere_in_a_module(tmp_path: Path) -> None:
    rules = {
        "low": Rule(frozenset()),
        "high": Rule(frozenset({"low"}), frozenset({"numpy"}), frozenset({"scipy.optimize"})),
    }
    source = (
        "from typing import TYPE_CHECKING\n"
        "import gpudesk.high.c\n"
        "if TYPE_CHECKING:\n    from gpudesk.high import a\n"
        "def f():\n    from gpudesk.high.b import x\n"
    )
    files = {
        "low/one.py": source,
        "high/__init__.py": "",
        "high/a.py": "import numpy\nfrom gpudesk.low.one import f\n",
        "high/b.py": "import scipy\ndef f():\n    import scipy.optimize\n",
        "high/c.py": "import json\n",
        "odd.py": "",
    }
    assert forbidden_imports(tree_of(tmp_path, files), rules) == [
        "gpudesk/high/b.py: may not import scipy",
        "gpudesk/low/one.py: may not import gpudesk.high.c",
        "gpudesk/low/one.py: may not import gpudesk.high.a",
        "gpudesk/low/one.py: may not import gpudesk.high.b",
        "gpudesk/odd.py: odd is not a part of the design",
    ]


def test_packages_are_in_order_of_dependency() -> None:
    above: set[str] = set()
    for part, rule in RULES.items():
        # The one exception is the program's entry, which comes first and runs the command line.
        assert part == "__main__" or rule.inside <= above, part
        above.add(part)


def test_network_imports_are_reported(tmp_path: Path) -> None:
    files = {"a.py": "def f():\n    import socket\n", "b.py": "from urllib import parse, request\n"}
    assert network_imports(tree_of(tmp_path, files)) == [
        "gpudesk/a.py: imports socket",
        "gpudesk/b.py: imports urllib.request",
    ]


def test_a_short_module_that_one_neighbor_uses_is_a_fragment(tmp_path: Path) -> None:
    files = {
        "p/user.py": "from gpudesk.p import short, long\nfrom gpudesk.p.shared import x\nfrom gpudesk.q import far\n",
        "p/other.py": "def f():\n    from gpudesk.p.shared import x\n",
        "p/short.py": "x = 1\n",
        "p/long.py": _LONG,
        "p/shared.py": "x = 1\n",
        "p/unused.py": "x = 1\n",
        "q/__init__.py": "from gpudesk.q.inner import x\n",
        "q/inner.py": "x = 1\n",
        "q/far.py": "x = 1\n",
        "q/named.py": "x = 1\n",
        "q/list.py": "NAMES = ['gpudesk.q.named']\nfrom gpudesk.p import unused, user, other\n" + _LONG,
        "r/imports_all.py": "import gpudesk.p.user, gpudesk.p.other, gpudesk.q.list\n",
    }
    assert fragments(tree_of(tmp_path, files)) == [
        "gpudesk/p/short.py: used by gpudesk/p/user.py alone",
        "gpudesk/q/inner.py: used by gpudesk/q/__init__.py alone",
        "gpudesk/q/named.py: used by gpudesk/q/list.py alone",
    ]


def test_cycles_are_found_through_types_and_functions(tmp_path: Path) -> None:
    files = {
        "a.py": "from gpudesk.b import x\n",
        "b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gpudesk import c\n",
        "c.py": "def f():\n    from gpudesk.a import g\n",
        "d.py": "import gpudesk.a\nimport gpudesk.e\n",
        "e.py": "import gpudesk.b\n",
        "p/one.py": "from gpudesk.p import two\n",
        "p/two.py": "from gpudesk.p.one import x\n",
    }
    assert import_cycles(tree_of(tmp_path, files)) == [
        "gpudesk.a <-> gpudesk.b <-> gpudesk.c",
        "gpudesk.p.one <-> gpudesk.p.two",
    ]


def test_files_above_the_line_limit_are_reported(tmp_path: Path) -> None:
    files = {"full.py": "x = 1\n" * LONGEST, "over.py": "x = 1\n" * (LONGEST + 1)}
    assert long_files(tree_of(tmp_path, files)) == [f"gpudesk/over.py: longer than {LONGEST} lines"]


def test_duplicate_class_names_are_reported(tmp_path: Path) -> None:
    files = {
        "a.py": "class One:\n    class _Inner: ...\n",
        "b.py": "class Two: ...\ndef f():\n    class _Inner: ...\n",
        "c.py": "class Two: ...\n",
    }
    assert repeated_classes(tree_of(tmp_path, files)) == [
        "Two: gpudesk/b.py, gpudesk/c.py",
        "_Inner: gpudesk/a.py, gpudesk/b.py",
    ]


def test_the_window_leaves_parsing_to_the_reader_of_damaged_files(tmp_path: Path) -> None:
    parses = "import json\njson.loads('{}')\n"
    tree = tree_of(
        tmp_path, {"desktop/a.py": parses, "desktop/b.py": "import json\njson.dumps({})\n", "cli/c.py": parses}
    )
    assert own_parsers(tree) == ["gpudesk/desktop/a.py: parses JSON itself"]


@pytest.mark.parametrize(
    ("importer", "imported", "is_wrong"),
    [
        ("ui/panel/view.py", "pages/cost/page.py", True),
        ("ui/widgets/field.py", "session/desk.py", True),
        ("ui/theme/pen.py", "window/shell.py", True),
        ("session/desk.py", "pages/page.py", True),
        ("session/desk.py", "window/faults.py", True),
        ("pages/cost/page.py", "window/menus.py", True),
        ("pages/cost/page.py", "pages/decide/page.py", True),
        ("pages/cost/page.py", "pages/cost/views.py", False),
        ("pages/cost/page.py", "pages/page.py", False),
        ("pages/cost/page.py", "ui/charts/chart.py", False),
        ("pages/cost/page.py", "session/desk.py", False),
        ("window/shell.py", "pages/cost/page.py", False),
        ("window/shell.py", "ui/panel/view.py", False),
        ("session/desk.py", "ui/theme/pen.py", False),
    ],
)
def test_imports_inside_desktop_follow_its_order(tmp_path: Path, importer: str, imported: str, is_wrong: bool) -> None:
    module = "gpudesk.desktop." + imported.removesuffix(".py").replace("/", ".")
    for_types = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {module}\n"
    tree = tree_of(tmp_path, {f"desktop/{importer}": for_types, f"desktop/{imported}": ""})
    assert wrong_directions(tree) == ([f"gpudesk/desktop/{importer}: imports {module}"] if is_wrong else [])
