"""Whether a figure of an accelerator can be, asked while it is typed."""

from __future__ import annotations

from collections.abc import Mapping

from gpudesk.catalog.importing.accelerator_plausibility import findings
from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import ClaimValue
from gpudesk.domain.plausibility import Finding
from gpudesk.domain.things import ThingKind


def plausibility(catalog: Catalog, thing: str, attribute: str, value: ClaimValue) -> tuple[Finding, ...]:
    """Return what a value, in the unit used inside, would bring up against a thing's other figures.

    What is doubtful as it stands now is not told again, unless it is about this very attribute. Only
    figures of accelerators are judged.
    """
    entry = catalog.thing(thing)
    if entry.kind is not ThingKind.ACCELERATOR:
        return ()
    now = {each.name: each.value for each in catalog.attributes(thing) if each.value is not None}
    before = findings(now, entry.name)
    after = findings({**now, attribute: value}, entry.name)
    return tuple(each for each in after if each.attribute == attribute or each not in before)


def part_plausibility(values: Mapping[str, ClaimValue], name: str) -> tuple[Finding, ...]:
    """Return what speaks against the figures, in the units used inside, of an accelerator of that name."""
    return findings(values, name)
