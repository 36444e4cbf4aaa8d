"""The rows of a sheet that the catalog fills, with numbered notes where sources differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.claims import PRICE_ENDS, Attribute, Claim, ClaimValue, Source, is_figure
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity, display_unit, quantity_of
from gpudesk.sheets.labels import attribute_label, kind_label, precision_name
from gpudesk.sheets.sheet import Cell, Group, Mark, Note, Row, SourceEntry
from gpudesk.text import tr

#: Attributes shown, by group. True: more is better; False: less is; None: neither.
MEMORY: Final = (("memory", True), ("memory_bandwidth", True))
COMPUTE: Final = (
    ("peak_dense_bf16", True),
    ("peak_dense_fp8", True),
    ("peak_dense_fp4", True),
)
SYSTEM: Final = (
    ("scale_up_bandwidth", True),
    ("tdp", False),
)

#: Names of the parts' attributes that a sheet shows.
SHOWN: Final = frozenset({"memory_label", *PRICE_ENDS} | {name for name, _ in (*MEMORY, *COMPUTE, *SYSTEM)})


class References:
    """Numbers notes and sources in the order in which a sheet comes to them."""

    def __init__(self, formatter: Formatter) -> None:
        """Start with no notes and no sources."""
        self._formatter = formatter
        self._notes: dict[str, Note] = {}
        self._sources: dict[str, SourceEntry] = {}
        #: Thing and name of every attribute that has a note on its dispute.
        self.noted: set[tuple[str, str]] = set()

    @property
    def notes(self) -> tuple[Note, ...]:
        """All notes so far."""
        return tuple(self._notes.values())

    @property
    def sources(self) -> tuple[SourceEntry, ...]:
        """All sources so far."""
        return tuple(self._sources.values())

    def source(self, source: Source) -> int:
        """Return the number of a source."""
        if source.id not in self._sources:
            self._sources[source.id] = SourceEntry(
                number=len(self._sources) + 1,
                title=source.title,
                publisher=source.publisher,
                kind=kind_label(source.kind),
                date=source.date,
                url=source.url,
            )
        return self._sources[source.id].number

    def noted_on(self, name: str, attribute: Attribute, high: Attribute | None = None) -> tuple[int, ...]:
        """Return the number of the note on an attribute of the part `name`.

        There is none where sources agree on a shipped value. `high` is the upper end of a price.
        """
        if not (attribute.disputed or is_own(attribute) or (high is not None and is_own(high))):
            return ()
        if attribute.disputed:
            self.noted.add((attribute.thing, attribute.name))
        text = self._note_text(name, attribute, high)
        if text not in self._notes:
            self._notes[text] = Note(len(self._notes) + 1, text)
        return (self._notes[text].number,)

    def _note_text(self, name: str, attribute: Attribute, high: Attribute | None) -> str:
        label = tr("Price") if attribute.name in PRICE_ENDS else attribute_label(attribute.name)
        claim = attribute.preferred
        if claim is None:
            said = tr("{part}, {attribute}: unknown.", part=name, attribute=label)
        else:
            said = tr(
                "{part}, {attribute}: {value} [{source}].",
                part=name,
                attribute=label,
                value=self._taken(attribute, claim, high),
                source=self.source(claim.source),
            )
        rivals = "; ".join(self._rival_texts(attribute))
        refused = tr("Not taken: {rivals}.", rivals=rivals) if rivals else ""
        given = attribute.reason if attribute.reason != tr("Your value") else None
        return " ".join(part for part in (said, refused, as_sentence(given) if given else "") if part)

    def _taken(self, attribute: Attribute, claim: Claim, high: Attribute | None) -> str:
        """Return the value that is taken, both ends of a price, and whether it is one of the user's."""
        text = self._claimed(attribute, claim)
        upper = None if high is None else high.preferred
        if upper is not None and upper.value != claim.value:
            text = f"{self._formatter.catalog(claim.value, Quantity.USD)} – {self._claimed(attribute, upper)}"
        if claim.own or (upper is not None and upper.own):
            return tr("{value}, own value", value=text)
        return tr("{value}, own choice", value=text) if is_own(attribute) else text

    def _rival_texts(self, attribute: Attribute) -> Iterable[str]:
        """Return each rival value once, with all who state it."""
        stated: dict[str, list[int]] = {}
        taken = attribute.preferred
        alike = None if taken is None else self._claimed(attribute, taken)
        for claim in attribute.rivals:
            if not attribute.agrees(claim):
                said = self._claimed(attribute, claim)
                if said == alike and claim.published:
                    # They differ beyond the digits that are shown.
                    said = claim.published
                numbers = stated.setdefault(said, [])
                number = self.source(claim.source)
                if number not in numbers:
                    numbers.append(number)
        return (f"{value} [{', '.join(map(str, numbers))}]" for value, numbers in stated.items())

    def _claimed(self, attribute: Attribute, claim: Claim) -> str:
        return claim_text(attribute, claim.value, self._formatter)


def as_sentence(text: str) -> str:
    """Return words of the data as a sentence: with a capital and a full stop."""
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    return ended[:1].upper() + ended[1:]


def claim_text(attribute: Attribute, value: ClaimValue, formatter: Formatter) -> str:
    """Return a value of an attribute with its unit; yes and no in the language in force."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return formatter.catalog_with_unit(value, quantity_of(attribute.name, attribute.unit), attribute.name)


def spec_groups(
    answer: Answer,
    names: tuple[str, ...],
    formatter: Formatter,
    references: References,
    memory_rows: tuple[Row, ...],
) -> tuple[Group, ...]:
    """Return memory, compute and system; rows of which no part has a value are left out."""

    def rows(attributes: tuple[tuple[str, bool | None], ...]) -> tuple[Row, ...]:
        made = (_row(answer, names, name, more, formatter, references) for name, more in attributes)
        return tuple(row for row in made if row is not None)

    groups = (
        Group(tr("Memory"), (*rows(MEMORY), *memory_rows)),
        Group(tr("Compute, dense"), rows(COMPUTE)),
        Group(tr("System"), (*rows(SYSTEM), *_price_rows(answer, names, formatter, references))),
    )
    return tuple(group for group in groups if group.rows)


def _row(
    answer: Answer,
    names: tuple[str, ...],
    name: str,
    more_is_better: bool | None,
    formatter: Formatter,
    references: References,
) -> Row | None:
    found = [column.attributes.get(name) for column in answer.columns]
    if all(attribute is None or attribute.value is None for attribute in found):
        return None
    unit = next(attribute.unit for attribute in found if attribute is not None)
    quantity = quantity_of(name, unit)
    best = best_positions(found, more_is_better, answer.unranked)
    cells = []
    for position, (part, attribute) in enumerate(zip(names, found, strict=True)):
        cell = _cell(attribute, quantity, formatter, best=position in best)
        notes = _notes(part, answer.columns[position], attribute, references)
        cells.append(replace(cell, notes=notes))
    return Row(_short_label(name), display_unit(quantity, name), tuple(cells))


def _price_rows(
    answer: Answer, names: tuple[str, ...], formatter: Formatter, references: References
) -> tuple[Row, ...]:
    """Return one row with both ends of what each part is said to cost, or nothing where nobody says."""
    cells = []
    for part, column in zip(names, answer.columns, strict=True):
        ends = [column.attributes.get(name) for name in PRICE_ENDS]
        stated = [
            formatter.catalog(end.value, Quantity.USD)
            for end in ends
            if end is not None and end.value is not None
        ]
        low, high = ends
        notes = () if low is None else references.noted_on(part, low, high)
        cells.append(Cell(" – ".join(dict.fromkeys(stated)) or UNKNOWN, notes=notes))
    if all(cell.text == UNKNOWN for cell in cells):
        return ()
    return (Row(tr("Price"), display_unit(Quantity.USD), tuple(cells)),)


def _short_label(name: str) -> str:
    """Return the label; in the group of dense peaks the precision says it all."""
    if name.startswith("peak_dense_"):
        return precision_name(name.removeprefix("peak_dense_"))
    return attribute_label(name)


def _notes(part: str, column: Column, attribute: Attribute | None, references: References) -> tuple[int, ...]:
    """Return the notes of a cell; where memory is shown, those on its label belong to it too."""
    if attribute is None:
        return ()
    notes = references.noted_on(part, attribute)
    if attribute.name == "memory" and "memory_label" in column.attributes:
        notes += references.noted_on(part, column.attributes["memory_label"])
    return notes


def _cell(attribute: Attribute | None, quantity: Quantity, formatter: Formatter, *, best: bool) -> Cell:
    if attribute is None:
        return Cell(UNKNOWN)
    value = attribute.value
    numeric = is_figure(value)
    detail = None
    if quantity is Quantity.MEMORY and isinstance(value, int | float):
        detail = f"{formatter.gb(value)} GB"
    plain = formatter.catalog(value, quantity) if numeric else claim_text(attribute, value, formatter)
    return Cell(plain, detail=detail, mark=Mark.BEST if best else None)


def is_own(attribute: Attribute) -> bool:
    """Whether the user states the value that is taken, or chose it among the claims."""
    return attribute.overridden or (attribute.preferred is not None and attribute.preferred.own)


def best_positions(
    found: Sequence[Attribute | None], more_is_better: bool | None, unranked: Sequence[int]
) -> frozenset[int]:
    """Return the positions of the best value, none where all are alike or nothing is better.

    `unranked` positions are those of announced parts beside shipping ones.
    """
    if more_is_better is None:
        return frozenset()
    values = {
        position: attribute.value
        for position, attribute in enumerate(found)
        if attribute is not None and isinstance(attribute.value, int | float) and position not in unranked
    }
    if len(set(values.values())) < 2:
        return frozenset()
    best = max(values.values()) if more_is_better else min(values.values())
    return frozenset(position for position, value in values.items() if value == best)


def source_rows(answer: Answer, references: References) -> tuple[Row, ...]:
    """Return, for every attribute shown, the number of the source that each part's value comes from."""
    rows = []
    for name, _ in (*MEMORY, *COMPUTE, *SYSTEM, (PRICE_ENDS[0], None)):
        found = [_source_cell(column, name, references) for column in answer.columns]
        if any(cell.text != UNKNOWN for cell in found):
            label = tr("Price") if name in PRICE_ENDS else attribute_label(name)
            rows.append(Row(label, None, tuple(found)))
    return tuple(rows)


def _source_cell(column: Column, name: str, references: References) -> Cell:
    attribute = column.attributes.get(name)
    claim = None if attribute is None else attribute.preferred
    return Cell(UNKNOWN) if claim is None else Cell(f"[{references.source(claim.source)}]")
