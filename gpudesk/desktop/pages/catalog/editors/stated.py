"""What is stated now, as forms show it above the rows."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from gpudesk.desktop.pages.catalog.editors.rows import LABEL
from gpudesk.desktop.pages.catalog.editors.source_block import kind_text
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.claims import Attribute, Claim, ClaimValue
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity, quantity_of
from gpudesk.text import tr
from gpudesk.workbench.own_checks import NO_PUBLISHER


class StatedRow(QWidget):
    """A value with its unit, and below it who states it; not to be changed here."""

    def __init__(
        self,
        theme: Theme,
        label: str,
        attribute: Attribute,
        claim: Claim | None,
        formatter: Formatter,
        high: Attribute | None = None,
    ) -> None:
        """Show a claim about an attribute; `high` is the upper end of what is stated as a range."""
        super().__init__()
        px = theme.px
        value = UNKNOWN if claim is None else figure_text(attribute, claim.value, formatter)
        upper = None if claim is None or high is None else _upper(high, claim)
        if claim is not None and upper is not None and upper != claim.value:
            value = (
                f"{formatter.catalog(claim.value, Quantity.USD)} – {figure_text(attribute, upper, formatter)}"
            )
        said = tr("Nobody states a value") if claim is None else origin_text(claim)
        caption = Label(theme, label)
        caption.setFixedWidth(px(LABEL))
        figure = Label(theme, value, font="section", wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, px(4), 0, 0)
        grid.setHorizontalSpacing(px(10))
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(caption, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(figure, 0, 1)
        grid.addWidget(Label(theme, said, font="small", colour="text2", wrap=True), 1, 1)
        self.setAccessibleName(f"{label}: {value}, {said}")


def _upper(high: Attribute, claim: Claim) -> ClaimValue:
    """Return the upper end that the source of a claim states."""
    return next((each.value for each in high.claims if each.source.id == claim.source.id), None)


def figure_text(attribute: Attribute, value: ClaimValue, formatter: Formatter) -> str:
    """Return a value of an attribute with its unit."""
    quantity = quantity_of(attribute.name, attribute.unit)
    return formatter.catalog_with_unit(value, quantity, attribute.name)


def origin_text(claim: Claim) -> str:
    """Return who states a claim, of what kind that is, and of when."""
    source = claim.source
    named = source.publisher if source.publisher != NO_PUBLISHER else ""
    parts = (named, source.title, kind_text(claim.kind), source.date or tr("no date"))
    return ", ".join(part for part in parts if part)
