"""Names that are given as strings to what writes JSON exist: type checkers do not read them."""

import ast
import re
from pathlib import Path

import gpudesk
from tests.source import parse_source

PACKAGE = Path(gpudesk.__file__).parent
WRITERS = {"encode_fields", "encode_each"}


def test_every_name_written_to_json_is_a_field_or_property() -> None:
    fields: set[str] = set()
    places_by_name: dict[str, str] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(parse_source(file.read_text("utf-8"))):
            match node:
                case ast.ClassDef():
                    fields |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                    annotated = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
                    fields |= {target.id for target in annotated if isinstance(target, ast.Name)}
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                    fields.add(name)
                case ast.Call(func=ast.Name(id=name), args=[_, names]) if name in WRITERS:
                    for text in ast.walk(names):
                        if isinstance(text, ast.Constant):
                            paths = (each.rpartition("=")[2] for each in re.findall(r"[\w.=]+", str(text.value)))
                            places_by_name |= {
                                each: f"{file.name}:{node.lineno}" for path in paths for each in path.split(".")
                            }
    assert len(places_by_name) > 100
    assert {name: place for name, place in places_by_name.items() if name not in fields} == {}
