"""What stands beside a recommendation, as `decide --show` writes it: as text, or as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli.tables import hanging
from gpudesk.domain.formatting import Formatter

if TYPE_CHECKING:
    from gpudesk.domain.answers import Answer
    from gpudesk.domain.buying import BuyOrWait
    from gpudesk.domain.decisions import Decision
    from gpudesk.domain.references import Reference
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.sheets.beside_lines import Line
    from gpudesk.sheets.money import Money
    from gpudesk.workbench.deciding.beside import Beside
    from gpudesk.workbench.workbench import Workbench

#: What can be shown.
SHOWN: Final = (
    "waiting",
    "vendors",
    "export",
    "negotiation",
    "software",
    "references",
    "loading",
    "watch",
)
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision with what it was made from; `names` are those of columns by key, `today` is an ISO day."""

    answer: Answer
    decision: Decision
    names: Mapping[str, str]
    workbench: Workbench
    today: str

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return self.answer.scenario

    @property
    def beside(self) -> Beside:
        """What stands beside the decision."""
        return self.workbench.beside

    @property
    def money(self) -> Money:
        """Writes amounts."""
        from gpudesk.sheets.money import Money

        return Money(Formatter(), self.scenario.costs.currency)

    @property
    def part_names(self) -> dict[str, str]:
        """What accelerators are called, by their ids."""
        from gpudesk.sheets.names import short_name

        return {part.id: short_name(part.name) for part in self.workbench.catalog.accelerators()}

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms of what is compared, each once."""
        from gpudesk.sheets.support_words import platform_names

        found = (platform_names(column.accelerator.platform) for column in self.answer.columns)
        return tuple(dict.fromkeys(each for names in found for each in names))

    @property
    def references(self) -> tuple[Reference, ...]:
        """Deployments of what is compared."""
        from gpudesk.domain.references import references_of

        parts = (column.accelerator.id for column in self.answer.columns)
        return references_of(self.beside.references, *parts)

    def buy_or_wait(self) -> BuyOrWait:
        """Return whether to buy now or to wait; raises `InputError` for inputs that cannot be."""
        from gpudesk.workbench.deciding.plan_inputs import bought_position

        found = self.decision.recommended
        position = bought_position(self.scenario, None if found is None else found.key)
        return self.beside.buy_or_wait(self.scenario, position, self.today)


# As JSON values


def shown_fields(names: Sequence[str], asked: Asked) -> dict[str, Any]:
    """Return what is to be shown by its names; raises `InputError` for inputs of plans that cannot be."""
    return {name: _FIELDS[name](asked) for name in dict.fromkeys(names)}


def _waiting_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.plans_json import waiting_fields

    return waiting_fields(asked.buy_or_wait(), asked.scenario.decision.plans)


def _vendors_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.plans_json import routing_fields

    return routing_fields(asked.beside.routing(asked.scenario), asked.scenario.decision.plans)


def _export_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.beside_json import export_fields

    return export_fields(asked.beside.export_checks(asked.scenario), asked.beside.export_rules)


def _negotiation_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.beside_json import negotiation_fields

    return negotiation_fields(asked.beside.negotiation(asked.scenario, asked.decision, asked.today))


def _software_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.beside_json import support_fields

    return support_fields(asked.beside.support, asked.platforms)


def _reference_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.beside_json import reference_fields

    return reference_fields(asked.references)


def _loading_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.beside_json import loading_fields

    return loading_fields(asked.beside.loadings(asked.answer))


def _watch_fields(asked: Asked) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.sheets.plans_json import watch_fields

    return watch_fields(asked.beside.watch_list())


_FIELDS: Final[Mapping[str, Callable[[Asked], Any]]] = {
    "waiting": _waiting_fields,
    "vendors": _vendors_fields,
    "export": _export_fields,
    "negotiation": _negotiation_fields,
    "software": _software_fields,
    "references": _reference_fields,
    "loading": _loading_fields,
    "watch": _watch_fields,
}


# As text


def shown_lines(
    names: Sequence[str], asked: Asked, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield what is to be shown as text; raises `InputError` for inputs of plans that cannot be."""
    for name in dict.fromkeys(names):
        for line in _LINES[name](asked):
            if line.depth == 0:
                yield ""
                yield from map(strong, hanging("", line.text, width))
            else:
                yield from hanging(_INDENT * line.depth, line.text, width)


def _waiting_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.cli.plans_text import waiting_lines

    return waiting_lines(asked.buy_or_wait(), asked.part_names, asked.money, Formatter())


def _vendors_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.cli.plans_text import vendors_lines

    found, rules = asked.beside.routing(asked.scenario), asked.beside.rules_on_mixing()
    return vendors_lines(found, rules, asked.names, asked.money, Formatter())


def _export_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.sheets.beside_lines import export_lines

    return export_lines(asked.beside.export_checks(asked.scenario), asked.beside.export_rules, Formatter())


def _negotiation_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.sheets.beside_lines import negotiation_lines

    return negotiation_lines(
        asked.beside.negotiation(asked.scenario, asked.decision, asked.today), Formatter()
    )


def _software_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.sheets.beside_lines import support_lines

    return support_lines(asked.beside.support, asked.platforms)


def _reference_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.sheets.beside_lines import reference_lines

    return reference_lines(asked.references, Formatter())


def _loading_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.sheets.beside_lines import loading_lines

    return loading_lines(asked.beside.loadings(asked.answer), asked.names, Formatter())


def _watch_lines(asked: Asked) -> Iterator[Line]:
    from gpudesk.cli.plans_text import watch_lines

    source = asked.workbench.catalog.source
    shown = (
        (each, "" if each.known is None else source(each.known.source).title)
        for each in asked.beside.watch_list()
    )
    return watch_lines(shown, Formatter())


_LINES: Final[Mapping[str, Callable[[Asked], Iterator[Line]]]] = {
    "waiting": _waiting_lines,
    "vendors": _vendors_lines,
    "export": _export_lines,
    "negotiation": _negotiation_lines,
    "software": _software_lines,
    "references": _reference_lines,
    "loading": _loading_lines,
    "watch": _watch_lines,
}
