"""One entry of the catalog: every attribute with its value, its source and all that rivals it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpudesk.cli.tables import hanging, padded, text_width, wrapped
from gpudesk.domain.claims import Attribute, Claim
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.things import ThingKind
from gpudesk.sheets.claim_lines import dispute_line
from gpudesk.sheets.json import attribute_fields
from gpudesk.sheets.labels import kind_label
from gpudesk.sheets.specs import claim_text
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

_FORMATTER = Formatter()


def show_fields(workbench: Workbench, thing_id: str) -> dict[str, Any]:
    """Return an entry as JSON values; raises `InputError` with the closest ids where there is none."""
    catalog = workbench.catalog
    thing = catalog.thing(thing_id)
    fields: dict[str, Any] = {
        "id": thing.id,
        "kind": thing.kind.value,
        "name": thing.name,
        "maker": thing.maker,
        "attributes": [attribute_fields(attribute) for attribute in catalog.attributes(thing_id)],
        "disputes": [dataclasses.asdict(dispute) for dispute in catalog.disputes(thing_id)],
        "catalog": {"revision": catalog.revision, "date": catalog.data_date},
    }
    if thing.kind is ThingKind.SERVING_ENGINE:
        fields["settings"] = _plain(catalog.serving_engine(thing_id))
    return fields


def show_lines(
    workbench: Workbench, thing_id: str, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield an entry as text; raises `InputError` with the closest ids where there is none."""
    catalog = workbench.catalog
    thing = catalog.thing(thing_id)
    yield strong(f"{thing.name} ({thing.id})")
    attributes = catalog.attributes(thing_id)
    names = max((text_width(attribute.name) for attribute in attributes), default=0)
    for attribute in attributes:
        yield from _attribute_lines(attribute, names, width)
    if thing.kind is ThingKind.SERVING_ENGINE:
        yield from _settings_lines(_plain(catalog.serving_engine(thing_id)), width)
    disputes = catalog.disputes(thing_id)
    if disputes:
        yield ""
        yield strong(tr("Disputes"))
        for dispute in disputes:
            said = f"{dispute.id} {dispute.attribute}: {dispute.disagreement}. "
            said += f"{dispute_line(dispute).judged} {dispute.reason}"
            yield from wrapped(said, width, indent="  ")


def _attribute_lines(attribute: Attribute, names: int, width: int) -> Iterator[str]:
    """Yield the preferred value with its source, then each rival with what speaks against it, then why."""
    value = claim_text(attribute, attribute.value, _FORMATTER)
    mark = "◇" if attribute.disputed else " "
    preferred = attribute.preferred
    source = "" if preferred is None else f"  [{_source(preferred, value)}]"
    indent = " " * (names + 4)
    yield from hanging(f"{padded(attribute.name, names)} {mark} ", f"{value}{source}", width)
    for rival in attribute.rivals:
        stated = claim_text(attribute, rival.value, _FORMATTER)
        said = f"{stated}  [{_source(rival, stated)}]"
        if rival.verdict:
            said = f"{said} {rival.verdict}"
        sign = "=" if attribute.agrees(rival) else "⊘"
        yield from hanging(f"{indent[:-2]}{sign} ", said, width)
    if attribute.reason and attribute.disputed:
        yield from hanging(indent, attribute.reason, width)


def _source(claim: Claim, shown: str) -> str:
    """Return who states a claim and how, with the figure as printed where it is shown otherwise."""
    words = [claim.source.publisher, claim.source.title, kind_label(claim.kind), claim.source.date]
    if claim.published and claim.published != shown.replace(",", ""):
        words.insert(0, tr("published as {figure}", figure=claim.published))
    return ", ".join(word for word in words if word)


def _settings_lines(settings: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield the settings of a serving engine, rules one line each."""
    for name, value in settings.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{name}:"
            for rule in value:
                yield from hanging("  - ", _stated(rule), width)
        else:
            yield from wrapped(f"{name}: {_short(value)}", width, indent="  ")


def _short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_short(item) for item in value)
    if isinstance(value, dict):
        return f"({_stated(value)})"
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _stated(rule: Mapping[str, Any]) -> str:
    """Return what a rule says, without what it leaves open."""
    return ", ".join(f"{key} {_short(item)}" for key, item in rule.items() if item not in (None, []))


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a definition holds
    """Return a definition as JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [_plain(item) for item in items]
    return value
