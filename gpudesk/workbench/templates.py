"""Ready-made scenarios to begin from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gpudesk import paths
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.fields import closest
from gpudesk.workbench.scenario_file import SUFFIX, read_scenario

#: What the program shows when it is asked for nothing in particular.
SAMPLE = "mi325x-or-h200-70b"

_FOLDER = "templates"


@dataclass(frozen=True, slots=True)
class Template:
    """A scenario that comes with the program, by its id."""

    id: str
    scenario: Scenario


def template_ids() -> tuple[str, ...]:
    """Return the ids of all templates, sorted."""
    return tuple(sorted(file.stem for file in paths.resource(_FOLDER).glob(f"*{SUFFIX}")))


def read_template(name: str) -> Scenario:
    """Return the scenario of a template; raises `InputError` that names those there are."""
    known = template_ids()
    if name not in known:
        raise InputError(message("template.unknown", name=name, near=closest(name, known) or known))
    return read_scenario(paths.resource(f"{_FOLDER}/{name}{SUFFIX}"))


@cache
def templates() -> tuple[Template, ...]:
    """Return all templates, sorted by id."""
    return tuple(Template(name, read_template(name)) for name in template_ids())
