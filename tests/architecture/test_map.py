"""The map: the files and functions that ARCHITECTURE.md names are there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MAP = _ROOT / "ARCHITECTURE.md"
#: A row of a table that begins with a file of the program, then names something in it.
_ROW = re.compile(r"^\| `([a-z_/]+\.py)` \| `([A-Za-z_.]+)` \|", re.MULTILINE)


def _defined_names(file: Path) -> Iterator[str]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef))


def test_files_and_functions_of_the_map_exist() -> None:
    rows = _ROW.findall(_MAP.read_text(encoding="utf-8"))
    assert len(rows) >= 20
    lost = [f"{path}: {name}" for path, name in rows if name not in set(_defined_names(_ROOT / "gpudesk" / path))]
    assert lost == []


def test_paths_of_the_map_exist() -> None:
    paths = re.findall(r"`((?:gpudesk|tests|data|packaging|resources)/[\w/.-]*)`", _MAP.read_text(encoding="utf-8"))
    assert [path for path in paths if not (_ROOT / path).exists()] == []
