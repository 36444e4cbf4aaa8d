"""Explains entries of the catalog: accelerators, models, prices, sources, disputes and statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Protocol

from gpudesk.domain.claim import (
    PURCHASE_TERM,
    AttributeClaims,
    CatalogEntry,
    CatalogEntryKind,
    Dispute,
    DocumentStatement,
    PriceRecord,
    ProviderClass,
    Source,
    StalenessLimits,
)
from gpudesk.domain.diffusion import DiffusionModel
from gpudesk.domain.user_facts import InactiveOverride, UserFacts
from gpudesk.report.catalog_lists import label_term_of_data
from gpudesk.report.comparison.attribute_rows import format_claim_value
from gpudesk.report.explanation.claims import build_dispute_line
from gpudesk.report.explanation.parts import (
    CatalogAction,
    CatalogActionKind,
    Explanation,
    ExplanationBasis,
    ExplanationDetail,
    StatementGroup,
    StatementLine,
    UseLine,
    list_details,
)
from gpudesk.report.labels import (
    count_days_since,
    format_age,
    label_attribute_alone,
    label_date,
    label_dispute_topic,
    label_price_word,
    shorten_name,
    translate_title,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, Quantity, get_display_unit, join_unit
from gpudesk.text.messages import InputError, capitalize_first, lower_for_sentence, to_sentence
from gpudesk.text.translation import tr, translate_data, trn

#: The key that edits the selection.
EDIT_KEY: Final = "F2"


class ReportedCatalog(Protocol):
    """The catalog interface of reports; each method raises `InputError` for an unknown id."""

    @property
    def revision(self) -> str:
        """Digest of all facts."""

    @property
    def data_date(self) -> str:
        """The latest day on which a shipped figure was retrieved."""

    @property
    def user_facts(self) -> UserFacts: ...

    @property
    def waiting(self) -> Sequence[InactiveOverride]:
        """The inactive facts of the user, with reasons."""

    def thing(self, thing_id: str) -> CatalogEntry: ...

    def things(self, kind: CatalogEntryKind | None = None) -> Sequence[CatalogEntry]: ...

    def attributes(self, thing_id: str) -> Sequence[AttributeClaims]: ...

    def diffusion_models(self) -> Sequence[DiffusionModel]: ...

    def source(self, source_id: str) -> Source: ...

    def sources(self) -> Sequence[Source]: ...

    def prices(self) -> Sequence[PriceRecord]: ...

    def seed_claims(self, thing: str | None = None) -> Sequence[DocumentStatement]: ...

    def disputes(self, thing: str | None = None) -> Sequence[Dispute]: ...


@dataclass(frozen=True)
class CatalogContext:
    """The catalog as seen by one user on one day.

    `rule` defines when facts are stale. `used` is the role of each entry in the scenario called `scenario`, by id.
    Without `writable` there are no offers. `computed` gives unstated attribute values that follow from others.
    """

    facts: ReportedCatalog
    formatter: Formatter
    today: str
    rule: StalenessLimits = field(default_factory=StalenessLimits)
    scenario: str = ""
    used: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    writable: bool = True
    computed: Callable[[str, str], object] = lambda _thing, _attribute: None

    def uses(self, thing: str | None) -> tuple[UseLine, ...]:
        """Return the uses of an entry: the open scenario if it contains the entry."""
        role = self.used.get(thing or "")
        return () if role is None else (UseLine(self.scenario or tr("This scenario"), role),)

    @property
    def fact(self) -> str:
        """The basis of the explanation, for copies."""
        date = self.formatter.date(self.facts.data_date)
        return tr("Catalog of {date}, revision {revision}", date=date, revision=self.facts.revision[:8])

    def find_name(self, thing: str | None) -> str:
        """Return the short name of an entry, or its id if the catalog lacks it."""
        try:
            return shorten_name(self.facts.thing(thing or "").name)
        except InputError:
            return thing or ""


def add_age(explanation: Explanation, date: str | None, days: int, view: CatalogContext) -> Explanation:
    age = count_days_since(date, view.today)
    if not age:
        # A year that has not ended has no age yet.
        return explanation
    age_text = tr("{age} old", age=format_age(age))
    if age <= days:
        return replace(explanation, age=age_text)
    limit = trn("{n} day", "{n} days", days)
    return replace(explanation, age=tr("{age} old (your limit: {limit})", age=format_age(age), limit=limit), stale=True)


def build_statement_line(statement: DocumentStatement) -> StatementLine:
    value, unit = _format_statement_value(statement)
    attribute = lower_for_sentence(translate_data(statement.attribute))
    line_text = f"{statement.subject}, {attribute}: {join_unit(value, unit) if unit else value}"
    conditions = f" ({translate_data(statement.conditions)})" if statement.conditions else ""
    return StatementLine(
        id=statement.id,
        text=f"{line_text}{conditions}",
        origin=f"{statement.source.title} · {statement.id}",
        remark=to_sentence(statement.note) if statement.note else "",
        details=list_details(
            (tr("ID"), statement.id),
            (tr("Published by"), statement.stated_by),
            (tr("As of"), statement.as_of),
            (tr("Title"), statement.source.title),
            (tr("Note"), statement.source.trust),
        ),
    )


def _format_statement_value(statement: DocumentStatement) -> tuple[str, str | None]:
    """Return a printed value or range, and its unit; words, dates and answers have none."""
    if statement.unit == "boolean":
        return translate_data(statement.value), None
    value = statement.value
    if statement.value_high not in (None, value):
        value = f"{value} – {statement.value_high}"
    return value, None if statement.unit in ("text", "date", "year") else translate_data(statement.unit or "") or None


#: Maximum listed figures of one entry, and entries; the lists have them all.
_MOST: Final = 60
_MOST_GROUPS: Final = 60


def format_price(price: PriceRecord, formatter: Formatter) -> tuple[str, str | None]:
    """Return a price or its range, and its unit."""
    quantity = Quantity.USD if price.term == PURCHASE_TERM else Quantity.USD_PER_HOUR
    ends = (price.usd_low, price.usd_high) if price.usd is None else (price.usd,)
    texts = [formatter.catalog(end, quantity) for end in ends if end is not None]
    return " – ".join(dict.fromkeys(texts)) or MISSING_VALUE_TEXT, get_display_unit(quantity)


def group_statements(
    facts: ReportedCatalog, source: Source, formatter: Formatter
) -> tuple[int, tuple[StatementGroup, ...]]:
    """Return how many figures a source states, and these by entry, up to a readable number."""
    prices: dict[str, list[ExplanationDetail]] = {}
    for price in facts.prices():
        if price.source.id == source.id:
            label = ", ".join(part for part in (label_term_of_data(price.term), price.provider, price.region) if part)
            text, unit = format_price(price, formatter)
            prices.setdefault(price.accelerator or "", []).append(
                ExplanationDetail(label, join_unit(text, unit or "", " "))
            )
    details_by_group: dict[tuple[str, str], list[ExplanationDetail]] = {}
    for thing in facts.things():
        details = [*_list_claims_of_source(facts, thing.id, source, formatter), *prices.pop(thing.id, ())]
        if details:
            details_by_group[thing.id, thing.name] = details
    others = [detail for details in prices.values() for detail in details]
    if others:
        details_by_group["", tr("Other accelerators")] = others
    groups = [_build_stated_group(key, label, details) for (key, label), details in details_by_group.items()]
    return sum(map(len, details_by_group.values())), tuple(groups[:_MOST_GROUPS])


def _list_claims_of_source(
    facts: ReportedCatalog, thing: str, source: Source, formatter: Formatter
) -> Iterator[ExplanationDetail]:
    for attribute in facts.attributes(thing):
        for claim in attribute.claims:
            if claim.source.id == source.id:
                value_text = format_claim_value(attribute, claim.value, formatter)
                yield ExplanationDetail(
                    label_attribute_alone(attribute.name),
                    value_text if claim.preferred else tr("{value}, not used", value=value_text),
                )


def _build_stated_group(key: str, label: str, details: list[ExplanationDetail]) -> StatementGroup:
    remaining = len(details) - _MOST
    more = tr("and {n} more", n=remaining) if remaining > 0 else ""
    return StatementGroup(key, f"{label} ({len(details)})", tuple(details[:_MOST]), more)


def explain_catalog_entry(view: CatalogContext, thing: str) -> Explanation:
    """Explain an entry: its sources, and the statements and disputes about it."""
    entry = view.facts.thing(thing)
    attributes = view.facts.attributes(thing)
    disputed = sum(attribute.disputed for attribute in attributes)
    own = sum(attribute.overridden or any(claim.own for claim in attribute.claims) for attribute in attributes)
    count_text = trn("{n} attribute", "{n} attributes", len(attributes))
    parts = [count_text]
    if disputed:
        parts.append(tr("sources disagree on {n}", n=disputed))
    if own:
        parts.append(tr("yours: {n}", n=own))
    about = [each for each in view.facts.seed_claims(thing) if not each.attributes]
    return Explanation(
        what=entry.name,
        conditions=", ".join(part for part in (entry.kind.label, entry.maker) if part),
        figure=shorten_name(entry.name),
        band=" · ".join(parts),
        ground=ExplanationBasis.CLAIM,
        basis=tr("Yours") if entry.own else tr("Shipped catalog entry"),
        disputes=tuple(build_dispute_line(each) for each in view.facts.disputes(thing) if not each.attributes),
        statements=tuple(build_statement_line(each) for each in about),
        uses=view.uses(thing),
        facts=(view.fact,),
    )


def explain_price(view: CatalogContext, price_id: str) -> Explanation | None:
    """Explain a price; None for an unknown one."""
    price = next((each for each in view.facts.prices() if each.id == price_id), None)
    if price is None:
        return None
    bought = price.term == PURCHASE_TERM
    what = tr("Purchase price, {subject}", subject=view.find_name(price.accelerator))
    if not bought:
        what = tr("Rental price, {subject}", subject=view.find_name(price.accelerator) or tr("another accelerator"))
    figure, unit = format_price(price, view.formatter)
    kind = price.kind.label
    explanation = Explanation(
        what=what,
        conditions=", ".join(part for part in (label_term_of_data(price.term), price.provider, price.region) if part),
        figure=figure,
        unit=unit,
        band=tr("Per accelerator") + (f" · {translate_data(price.note)}" if price.note else ""),
        ground=ExplanationBasis.CLAIM,
        basis=tr("Your value: {source}", source=price.source.title)
        if price.own
        else f"{capitalize_first(kind)}, {label_date(price.date or price.source.date)}",
        details=(*_list_price_details(price), *list_source_details(price.source)),
        uses=view.uses(price.accelerator),
        offers=_list_price_actions(price, view),
        facts=(view.fact,),
    )
    return add_age(explanation, price.date or price.source.date, view.rule.prices, view)


def _list_price_details(price: PriceRecord) -> tuple[ExplanationDetail, ...]:
    count = price.accelerators_in_instance
    kind = None if price.provider_class is ProviderClass.UNKNOWN else label_price_word(price.provider_class)
    return list_details(
        (tr("Kind of provider"), kind),
        (tr("Instance"), price.instance),
        (tr("Accelerators"), None if count is None else str(count)),
        (tr("Basis"), price.basis),
        (tr("As of"), Formatter().date(price.date or "")),
    )


def _list_price_actions(price: PriceRecord, view: CatalogContext) -> tuple[CatalogAction, ...]:
    if not view.writable or price.accelerator is None:
        return ()
    if price.own:
        return (
            CatalogAction(
                CatalogActionKind.PRICE, tr("Edit your price…"), price.accelerator, price=price.id, key=EDIT_KEY
            ),
        )
    return (CatalogAction(CatalogActionKind.PRICE, tr("Enter your price…"), price.accelerator, key=EDIT_KEY),)


def list_source_details(source: Source) -> tuple[ExplanationDetail, ...]:
    return list_details(
        (tr("Title"), translate_title(source.title)),
        (tr("Publisher"), source.named_publisher),
        (tr("Kind"), source.kind.label),
        (tr("Date"), label_date(source.date)),
        (tr("Note"), translate_data(source.trust or "")),
        url=source.url,
    )


def explain_source(view: CatalogContext, source_id: str) -> Explanation:
    """Explain a source: where to find it, and all that it states."""
    source = view.facts.source(source_id)
    count, groups = group_statements(view.facts, source, view.formatter)
    offers = (CatalogAction(CatalogActionKind.SOURCE, tr("Edit source and date…"), source=source_id, key=EDIT_KEY),)
    kind = source.kind.label
    explanation = Explanation(
        what=translate_title(source.title),
        conditions=source.named_publisher,
        figure=view.formatter.count(count),
        unit=trn("figure", "figures", count),
        ground=ExplanationBasis.CLAIM,
        basis=f"{capitalize_first(kind)}, {label_date(source.date)}",
        details=list_source_details(source),
        statements=tuple(
            build_statement_line(each)
            for each in view.facts.seed_claims()
            if each.source.id == source_id and not each.attributes
        ),
        statement_groups=groups,
        offers=offers if source.own and view.writable else (),
        facts=(view.fact,),
    )
    return add_age(explanation, source.date, view.rule.facts, view)


def explain_dispute(view: CatalogContext, dispute_id: str) -> Explanation | None:
    """Explain a contradiction: both printed sides, the verdict and its reason; None for an unknown one."""
    dispute = next((each for each in view.facts.disputes() if each.id == dispute_id), None)
    if dispute is None:
        return None
    sides = {dispute.claim_a, dispute.claim_b}
    statements = [each for each in view.facts.seed_claims() if each.id in sides]
    line = build_dispute_line(dispute)
    return Explanation(
        what=tr("{attribute}, {subject}", attribute=label_dispute_topic(dispute), subject=dispute.subject),
        conditions=tr("Dispute {id}", id=dispute.id),
        figure=line.verdict,
        band=line.disagreement,
        ground=ExplanationBasis.CLAIM,
        basis=line.refused_by or tr("Two contradictory statements"),
        remarks=(line.reason,),
        statements=tuple(build_statement_line(each) for each in statements),
        facts=(view.fact,),
    )


def explain_statement(view: CatalogContext, statement_id: str) -> Explanation | None:
    statement = next((each for each in view.facts.seed_claims() if each.id == statement_id), None)
    if statement is None:
        return None
    line = build_statement_line(statement)
    judged = [each for each in view.facts.disputes() if statement_id in (each.claim_a, each.claim_b)]
    value, unit = _format_statement_value(statement)
    explanation = Explanation(
        what=tr("{attribute}, {subject}", attribute=translate_data(statement.attribute), subject=statement.subject),
        conditions=capitalize_first(translate_data(statement.conditions or "")) or tr("As published"),
        figure=value,
        unit=unit,
        band=line.remark,
        ground=ExplanationBasis.CLAIM,
        basis=line.origin,
        details=line.details,
        disputes=tuple(build_dispute_line(each) for each in judged),
        facts=(view.fact,),
    )
    return add_age(explanation, statement.source.date, view.rule.facts, view)
