"""What is wrong with the layout of a package: each check returns its faults, one text each."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from tests.architecture.source_tree import Import, Module, SourceTree

LONGEST: Final = 800
_PARSERS: Final = re.compile(r"\bjson\.loads?\(|\btomllib\b")
#: A module that is shorter and that one other of its package uses alone belongs there.
FRAGMENT: Final = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """What a part may import of the project (`inside`) and of others next to the standard library (`outside`).

    `lazily` names modules, of the project or of others, that may be imported inside a function only.
    """

    inside: frozenset[str]
    outside: frozenset[str] = frozenset()
    lazily: frozenset[str] = frozenset()


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What reaches other machines, or brings along what does. Nothing in the program has a use for it.
NETWORK: Final = names(
    "socket socketserver ssl select selectors asyncio http urllib.request urllib.robotparser urllib.error "
    "ftplib imaplib poplib smtplib telnetlib nntplib xmlrpc wsgiref webbrowser multiprocessing.managers "
    "multiprocessing.connection logging.config PySide6.QtNetwork PySide6.QtNetworkAuth PySide6.QtWebSockets "
    "PySide6.QtWebEngineCore PySide6.QtHttpServer PySide6.QtRemoteObjects requests httpx urllib3 aiohttp"
)

#: Inside `desktop`, what a part may not import; what lies at its top puts the parts together.
DESKTOP: Final = {"ui": names("session pages window"), "session": names("pages window"), "pages": names("window")}


def forbidden_imports(tree: SourceTree, rules: Mapping[str, Rule]) -> list[str]:
    """Return the imports that the rules do not allow, those for types alone included."""
    return [
        f"{module.path}: {message}"
        for module in tree.modules.values()
        for message in dict.fromkeys(_forbidden(module, rules))
    ]


def _forbidden(module: Module, rules: Mapping[str, Rule]) -> Iterator[str]:
    part = _part(module.name)
    if part not in rules:
        yield f"{part} is not a part of the design"
        return
    for each_import in module.imports:
        message = fault(part, each_import, rules)
        if message is not None:
            yield message


def fault(part: str, each_import: Import, rules: Mapping[str, Rule], package: str = "gpudesk") -> str | None:
    rule = rules[part]
    top = each_import.module.partition(".")[0]
    if top != package:
        allowed = top in sys.stdlib_module_names or top in rule.outside
    else:
        allowed = _part(each_import.module) in {part, *rule.inside}
    if allowed:
        return None
    if any(_is_or_in(each_import.module, lazy) for lazy in rule.lazily):
        return None if each_import.in_function else f"may import {each_import.module} inside a function only"
    return f"may not import {each_import.module}"


def _part(module: str) -> str:
    """Return the first name below the package, `__init__` for the package itself."""
    return module.partition(".")[2].partition(".")[0] or "__init__"


def _is_or_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def network_imports(tree: SourceTree) -> list[str]:
    return [
        f"{module.path}: imports {each_import.module}"
        for module in tree.modules.values()
        for each_import in module.imports
        if reaches_out(each_import)
    ]


def reaches_out(each_import: Import) -> bool:
    return any(_is_or_in(each_import.module, name) for name in NETWORK)


def fragments(tree: SourceTree) -> list[str]:
    """Return short modules that one other module of their package uses, and nothing else."""
    small_modules = []
    for name, module in tree.modules.items():
        if module.is_init or module.length >= FRAGMENT or len(tree.importers[name]) != 1:
            continue
        (user,) = (tree.modules[each] for each in tree.importers[name])
        if user.package == module.package:
            small_modules.append(f"{module.path}: used by {user.path} alone")
    return small_modules


def import_cycles(tree: SourceTree) -> list[str]:
    """Return each group of modules of which every one imports every other over some way; types count."""
    return [" <-> ".join(sorted(group)) for group in _strong_components(tree.imported) if len(group) > 1]


def _strong_components(graph: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Return the groups of nodes that reach one another: a search forwards, then one against the arrows."""
    finished: list[str] = []
    visited: set[str] = set()
    for start in sorted(graph):
        _finish(start, graph, visited, finished)
    against: dict[str, set[str]] = {name: set() for name in graph}
    for name, others in graph.items():
        for other in others:
            against[other].add(name)
    groups = []
    visited = set()
    for start in reversed(finished):
        group: list[str] = []
        _finish(start, against, visited, group)
        if group:
            groups.append(group)
    return sorted(groups, key=min)


def _finish(start: str, graph: Mapping[str, AbstractSet[str]], visited: set[str], finished: list[str]) -> None:
    """Add what is reached from a node and was not seen before, each after all that it leads to."""
    waiting = [(start, False)]
    while waiting:
        name, is_finished = waiting.pop()
        if is_finished:
            finished.append(name)
        elif name not in visited:
            visited.add(name)
            waiting.append((name, True))
            waiting += [(other, False) for other in sorted(graph[name])]


def long_files(tree: SourceTree) -> list[str]:
    return [
        f"{module.path}: longer than {LONGEST} lines" for module in tree.modules.values() if module.length > LONGEST
    ]


def repeated_classes(tree: SourceTree) -> list[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for module in tree.modules.values():
        for name in module.classes:
            places[name].append(module.path)
    return [
        f"{name}: {', '.join(class_places)}" for name, class_places in sorted(places.items()) if len(class_places) > 1
    ]


def own_parsers(tree: SourceTree) -> list[str]:
    """Return the modules of the window that parse JSON themselves, past `read_side_file`, which bears damaged files."""
    return [
        f"{module.path}: parses JSON itself"
        for name, module in tree.modules.items()
        if _part(name) == "desktop" and _PARSERS.search((tree.root.parent / module.path).read_text(encoding="utf-8"))
    ]


def wrong_directions(tree: SourceTree) -> list[str]:
    """Return the imports inside `desktop` against its order, and those from one page to another."""
    return [
        f"{module.path}: imports {other}"
        for name, module in tree.modules.items()
        for other in sorted(tree.imported[name])
        if _is_wrong(name.split(".")[1:], other.split(".")[1:])
    ]


def _is_wrong(importer: list[str], imported: list[str]) -> bool:
    """Judge an import by the names below the package; a page is a folder or a file of its own in `pages`."""
    if importer[:1] != ["desktop"] or imported[:1] != ["desktop"] or len(importer) < 2 or len(imported) < 2:
        return False
    part, other = importer[1], imported[1]
    if other in DESKTOP.get(part, ()):
        return True
    is_page = len(importer) > 3 and len(imported) > 3
    return part == other == "pages" and is_page and importer[2] != imported[2]
