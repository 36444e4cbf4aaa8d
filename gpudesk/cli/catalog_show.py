"""One entry of the catalog: every attribute with its value, its source and all that rivals it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli.tables import hanging, padded, text_width, wrapped
from gpudesk.domain.claims import Attribute, Claim, Preference, Stance
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.sheets.claim_lines import dispute_line, is_shipped
from gpudesk.sheets.json import attribute_fields
from gpudesk.sheets.labels import kind_label
from gpudesk.sheets.specs import as_sentence, claim_text
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

_FORMATTER = Formatter()
#: How a claim stands to the one that is taken, which itself stands first.
_SIGNS: Final = {Stance.AGREES: "=", Stance.DIFFERS: "◇", Stance.REFUSED: "⊘"}


def show_fields(workbench: Workbench, thing_id: str) -> dict[str, Any]:
    """Return an entry as JSON values; raises `InputError` with the closest ids where there is none."""
    catalog = workbench.catalog
    thing = catalog.thing(thing_id)
    fields: dict[str, Any] = {
        "id": thing.id,
        "kind": thing.kind.value,
        "name": thing.name,
        "maker": thing.maker,
        "own": thing.own,
        **_behaves(workbench, thing),
        "attributes": [attribute_fields(attribute) for attribute in catalog.attributes(thing_id)],
        "disputes": [dataclasses.asdict(dispute) for dispute in catalog.disputes(thing_id)],
        "catalog": {"revision": catalog.revision, "date": catalog.data_date},
    }
    if thing.kind is ThingKind.SERVING_ENGINE:
        fields["settings"] = _plain(catalog.serving_engine(thing_id))
    return fields


def _behaves(workbench: Workbench, thing: Thing) -> dict[str, Any]:
    """Return what an accelerator counts as: with it, an edited copy can be imported as it is."""
    if thing.kind is not ThingKind.ACCELERATOR:
        return {}
    part = workbench.catalog.accelerator(thing.id)
    return {"generation": part.generation, "announced": part.announced}


def show_lines(
    workbench: Workbench, thing_id: str, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield an entry as text; raises `InputError` with the closest ids where there is none."""
    catalog = workbench.catalog
    thing = catalog.thing(thing_id)
    yield strong(f"{thing.name} ({thing.id})") + (f"  {tr('yours')}" if thing.own else "")
    attributes = catalog.attributes(thing_id)
    names = max((text_width(attribute.name) for attribute in attributes), default=0)
    for attribute in attributes:
        yield from _attribute_lines(attribute, names, width, all_own=thing.own)
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


def _attribute_lines(attribute: Attribute, names: int, width: int, *, all_own: bool) -> Iterator[str]:
    """Yield the preferred value with its source, then each rival with what speaks against it, then why.

    Figures of the user's are marked, but for an entry whose figures are `all_own`.
    """
    value = claim_text(attribute, attribute.value, _FORMATTER)
    mark = "◇" if attribute.disputed else " "
    preferred = attribute.preferred
    source = "" if preferred is None else f"  [{_source(preferred, value, mark_own=not all_own)}]"
    indent = " " * (names + 4)
    yield from hanging(f"{padded(attribute.name, names)} {mark} ", f"{value}{source}", width)
    for rival in attribute.rivals:
        stated = claim_text(attribute, rival.value, _FORMATTER)
        said = f"{stated}  [{_source(rival, stated, mark_own=not all_own)}]"
        verdict = tr("what the shipped catalog takes") if is_shipped(attribute, rival) else None
        said = " ".join(part for part in (said, verdict or attribute.verdict(rival)) if part)
        yield from hanging(f"{indent[:-2]}{_SIGNS[attribute.stance(rival)]} ", said, width)
    if attribute.preference is not None and not all_own:
        reasons = _own_reasons(attribute, attribute.preference)
    else:
        reasons = [attribute.reason] if attribute.reason and attribute.disputed else []
    for reason in reasons:
        yield from hanging(indent, reason, width)


def _own_reasons(attribute: Attribute, chosen: Preference) -> list[str]:
    """Return why the user takes a claim, and why the shipped catalog takes another."""
    said = [tr("Your choice, {date}: {reason}", date=chosen.date, reason=as_sentence(chosen.reason))]
    if attribute.shipped is None:
        said.append(tr("The shipped catalog has no value."))
    elif attribute.shipped_reason:
        said.append(tr("The shipped catalog: {reason}", reason=as_sentence(attribute.shipped_reason)))
    return said


def _source(claim: Claim, shown: str, *, mark_own: bool) -> str:
    """Return who states a claim and how, with the figure as printed where it is shown otherwise."""
    words = [claim.source.publisher, claim.source.title, kind_label(claim.kind), claim.source.date]
    if claim.own and mark_own:
        words.insert(0, tr("your value"))
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
