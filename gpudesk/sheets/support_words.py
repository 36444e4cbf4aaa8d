"""What is on record of software and of deployments in words: levels, dates, documents, who and how many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.references import Reference
from gpudesk.domain.software_support import SoftwareSupport, SupportEntry
from gpudesk.sentences import word
from gpudesk.text import tr, trn

#: Ids of the source documents begin so.
_SEED: Final = "seed-"


def document_label(source: str) -> str:
    """Return what a document is called beside what it says, `Seed 002`."""
    if not source.startswith(_SEED):
        return source
    return tr("Seed {number}", number=source.removeprefix(_SEED))


def day_text(day: str | None) -> str:
    """Return a date, or that there is none."""
    return day or tr("undated")


def level_text(entry: SupportEntry) -> str:
    """Return how well a software runs, as its source puts it."""
    return word(f"support.{entry.level.value}")


def ids_text(ids: tuple[str, ...]) -> str:
    """Return ids of the catalog, a dash without any."""
    return ", ".join(ids) or UNKNOWN


def by_software(support: SoftwareSupport, platform: str) -> Iterator[tuple[SupportEntry, ...]]:
    """Yield what is said of each software on a platform, the newest first.

    Software of which nothing is said there is left out. Nothing is made of two entries.
    """
    for software in support.software:
        found = support.support(platform, software)
        if found:
            yield found


def platforms_of(support: SoftwareSupport) -> tuple[str, ...]:
    """Return the platforms that anything is said of, in the order of the record."""
    return tuple(dict.fromkeys(entry.platform for entry in support.entries))


def platform_names(platform: str | None) -> tuple[str, ...]:
    """Return the platforms that the catalog gives an accelerator in one text, `JAX/XLA, PyTorch`."""
    return tuple(each.strip() for each in (platform or "").split(",") if each.strip())


def support_sentence(entry: SupportEntry) -> str:
    """Return one entry as a sentence: level, scope, date, document, and what disputes it."""
    said = tr(
        "{level}: {scope} ({day}, {document})",
        level=level_text(entry),
        scope=entry.scope,
        day=day_text(entry.date),
        document=document_label(entry.source),
    )
    return _with_disputes(said, entry.disputes)


# Deployments


def who_text(reference: Reference) -> str:
    """Return who it is, or what is said of who is not named."""
    return reference.who if reference.named else tr("{who} (not named)", who=reference.who)


def scale_text(reference: Reference, formatter: Formatter) -> str:
    """Return how many accelerators there are said to be."""
    if reference.count is None:
        return tr("no number printed")
    return trn("{n} accelerator", "{n} accelerators", reference.count, n=formatter.count(reference.count))


def reference_sentence(reference: Reference, formatter: Formatter) -> str:
    """Return a deployment as a sentence: who, what, how many, when, on whose word."""
    said = tr(
        "{who}: {what}. {scale}, {day}; {basis} ({document})",
        who=who_text(reference),
        what=reference.what,
        scale=_capitalised(scale_text(reference, formatter)),
        day=day_text(reference.date),
        basis=reference.basis,
        document=document_label(reference.source),
    )
    return _with_disputes(said, reference.disputes)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _with_disputes(text: str, disputes: tuple[str, ...]) -> str:
    return tr("{text}; disputed in {ids}", text=text, ids=ids_text(disputes)) if disputes else text
