"""The modules of a package as their source says: their imports, classes and lengths."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.source import parse_source


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, the exact one where it is of the package, and where that is done."""

    module: str
    in_function: bool
    line: int


@dataclass(frozen=True, slots=True)
class Module:
    """One file. A package's `__init__.py` has the name of the package."""

    name: str
    path: str
    length: int
    imports: tuple[Import, ...]
    classes: tuple[str, ...]
    #: Texts without blanks; some name a module that is loaded later.
    words: frozenset[str]

    @property
    def is_init(self) -> bool:
        """Whether it is the `__init__.py` of a package."""
        return self.path.endswith("__init__.py")

    @property
    def package(self) -> str:
        return self.name if self.is_init else self.name.rpartition(".")[0]


class SourceTree:
    """All modules below the folder of a package, read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        files = [file for file in sorted(root.rglob("*.py")) if "_bundled" not in file.parts]
        names = {file: _name_of(file, root) for file in files}
        module_names = frozenset(names.values())
        self.modules = {names[file]: _read(file, names[file], root, module_names) for file in files}

    @cached_property
    def imported(self) -> dict[str, frozenset[str]]:
        """The modules of the tree that each one imports, be it for types or inside functions alone."""
        return {
            name: frozenset(each.module for each in module.imports if each.module in self.modules) - {name}
            for name, module in self.modules.items()
        }

    @cached_property
    def importers(self) -> dict[str, frozenset[str]]:
        """The modules that import each module, or name it in a text, from which they load it."""
        importing: dict[str, set[str]] = {name: set() for name in self.modules}
        for name, module in self.modules.items():
            for other in self.imported[name] | (module.words & self.modules.keys() - {name}):
                importing[other].add(name)
        return {name: frozenset(importers) for name, importers in importing.items()}


def imports_of(tree: ast.Module, module_names: frozenset[str]) -> Iterator[Import]:
    """Yield all imports. What is imported from a package is a module where there is one of the name."""

    def walk(node: ast.AST, in_function: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(alias.name, in_function, child.lineno) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                targets = {_target(child.module or "", alias.name, module_names) for alias in child.names}
                yield from (Import(target, in_function, child.lineno) for target in sorted(targets))
            else:
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, in_function or is_function)

    return walk(tree, in_function=False)


def _target(module: str, name: str, module_names: frozenset[str]) -> str:
    inner = f"{module}.{name}"
    return inner if inner in module_names or module in {"PySide6", "urllib"} else module


def _name_of(file: Path, root: Path) -> str:
    inside = file.relative_to(root).with_suffix("").parts
    return ".".join((root.name, *(inside[:-1] if inside[-1] == "__init__" else inside)))


def _read(file: Path, name: str, root: Path, module_names: frozenset[str]) -> Module:
    source = file.read_text(encoding="utf-8")
    tree = parse_source(source)
    nodes = list(ast.walk(tree))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    return Module(
        name,
        file.relative_to(root.parent).as_posix(),
        len(source.splitlines()),
        tuple(imports_of(tree, module_names)),
        tuple(node.name for node in nodes if isinstance(node, ast.ClassDef)),
        frozenset(text for text in texts if isinstance(text, str) and text in module_names),
    )
