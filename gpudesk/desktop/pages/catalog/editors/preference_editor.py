"""The form in which one of several claims is chosen."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.catalog.user_store.edits import find_upper_end, prefer_claim, take_shipped
from gpudesk.catalog.user_store.entry import find_attribute
from gpudesk.desktop.pages.catalog.editors.fields import LONGEST_NOTE, TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.value_editor import SaveEffectPreview
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, PaintedButton, TextMeasure, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column
from gpudesk.domain.claim import AGREEMENT_PREFIX, PRICE_BOUND_ATTRIBUTES, Claim, ClaimStatus, DocumentStatement
from gpudesk.domain.user_facts import FactEdit
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.explanation.claims import build_claim_group
from gpudesk.report.explanation.parts import ClaimLine
from gpudesk.report.labels import get_today, label_attribute_alone
from gpudesk.text.messages import capitalize_first, input_error
from gpudesk.text.translation import tr

_SIDE, _TOP = 14.0, 10.0
_RADIO, _DOT = 16.0, 4.0
_GAP = 12.0
#: Width of the value column.
_FIGURE = 148.0
_GLYPHS = {ClaimStatus.DIFFERS: "disputed", ClaimStatus.REFUSED: "unfit"}
_ARROWS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1}


@frozen_dataclass
class ClaimText:
    """A claim in words. `figure_notes` are below the value, `remarks` below the source.

    `printed` is the text in the source documents.
    """

    claim: Claim
    line: ClaimLine
    figure_notes: tuple[str, ...]
    remarks: tuple[str, ...]
    printed: tuple[str, ...]
    stance: str

    @property
    def spoken(self) -> str:
        unit = f" {self.line.unit}" if self.line.unit else ""
        parts = (f"{self.line.value}{unit}", self.stance, self.line.title, self.line.origin)
        return ", ".join((*parts, *self.figure_notes, *self.remarks, *self.printed))


class ClaimOption(PaintedButton):
    """A box with a radio mark; the arrow keys move to the next one and choose it."""

    def __init__(self, theme: Theme, text: ClaimText, measure: TextMeasure) -> None:
        super().__init__(theme)
        self._measure = measure
        self.choice = text
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setProperty("ringRadius", 8.0)
        self.setAccessibleName(text.spoken)
        theme.changed.connect(self._settle)

    def sizeHint(self) -> QSize:
        width = self.width() or self._theme.px(520)
        return QSize(self._theme.px(420), self._compute_height(width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._settle()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _ARROWS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        parent = self.parentWidget()
        siblings = [] if parent is None else parent.findChildren(ClaimOption)
        options = sorted(siblings, key=lambda each: each.y())
        place = options.index(self) + step
        if 0 <= place < len(options):
            options[place].setFocus(Qt.FocusReason.TabFocusReason)
            options[place].click()

    def paint(self, pen: ThemePainter) -> None:
        self._draw_box(pen)
        left, middle, right = self._compute_columns(self.width())
        top = self._theme.px(_TOP)
        self._draw_figure(pen, left, top, middle - left - self._theme.px(_GAP))
        self._draw_stance(pen, right, top)
        height = self._theme.line("option")
        room = right - middle - self._measure_stance() - self._theme.px(_GAP)
        pen.text(QRectF(middle, top, room, height), self.choice.line.title, font="body_strong")
        area = QRectF(middle, top + height, right - middle, 0)
        area.setTop(self._draw_lines(pen, area, "small", "text2", (self.choice.line.origin,)))
        area.setTop(self._draw_lines(pen, area, "small", "text1", self.choice.remarks))
        self._draw_lines(pen, area, "caption", "text3", self.choice.printed)

    def _draw_box(self, pen: ThemePainter) -> None:
        theme, rect = self._theme, QRectF(self.rect())
        fill = "hover" if self.underMouse() and self.isEnabled() and not self.isChecked() else "page"
        if self.isChecked():
            pen.frame(rect, "text1", radius=8.0, fill=fill, width=2.0)
        else:
            pen.frame(rect, "strong", radius=8.0, fill=fill)
        side = theme.length(_RADIO)
        center = QPointF(theme.px(_SIDE) + side / 2, theme.px(_TOP) + theme.line("option") / 2)
        painter = pen.painter
        painter.setPen(QPen(theme.color("text1" if self.isChecked() else "control"), theme.length(1.5)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, side / 2 - 1, side / 2 - 1)
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("text1"))
            dot = theme.length(_DOT)
            painter.drawEllipse(center, dot, dot)

    def _draw_figure(self, pen: ThemePainter, left: float, top: float, room: float) -> None:
        theme, line = self._theme, self.choice.line
        first = QRectF(left, top, room, theme.line("option"))
        width = pen.text(first, line.value, font="option")
        if line.unit:
            unit = first.adjusted(width + theme.px(4), 0, 0, 0)
            pen.text(unit, line.unit, font="small", color="text2")
        below = QRectF(left, first.bottom(), room, 0)
        self._draw_lines(pen, below, "caption", "text3", self.choice.figure_notes)

    def _draw_lines(self, pen: ThemePainter, area: QRectF, font: str, color: str, texts: tuple[str, ...]) -> float:
        """Write texts from the top of an area in its width; return the y where they end."""
        height, y = self._theme.line(font), area.top()
        for line in self._wrap_texts(texts, font, area.width()):
            pen.text(QRectF(area.left(), y, area.width(), height), line, font=font, color=color)
            y += height
        return y

    def _draw_stance(self, pen: ThemePainter, right: float, top: float) -> None:
        theme, stance = self._theme, self.choice.line.stance
        height = theme.line("option")
        where = QRectF(right - self._measure_stance(), top, self._measure_stance(), height)
        pen.text(where, self.choice.stance, font="caption", color="text3", align=RIGHT)
        if stance in _GLYPHS:
            pen.glyph(_GLYPHS[stance], where.left() + theme.px(6), top + height / 2)
        elif stance is ClaimStatus.TAKEN:
            side = theme.px(13)
            pen.icon("check", where.left(), top + (height - side) / 2, side, "text1")

    def _measure_stance(self) -> float:
        mark = self._theme.px(18) if self.choice.line.stance is not ClaimStatus.AGREES else 0
        return self._measure.width(self.choice.stance, "caption") + mark + 1

    def _compute_columns(self, width: int) -> tuple[float, float, float]:
        px = self._theme.px
        left = px(_SIDE) + px(_RADIO) + px(_GAP)
        return left, left + px(_FIGURE), width - px(_SIDE)

    def _wrap_texts(self, texts: tuple[str, ...], font: str, width: float) -> list[str]:
        return [line for text in texts for line in self._measure.lines(text, font, width)]

    def _compute_height(self, width: int) -> int:
        theme = self._theme
        left, middle, right = self._compute_columns(width)
        notes = self._wrap_texts(self.choice.figure_notes, "caption", middle - left - theme.px(_GAP))
        remarks = self._wrap_texts(self.choice.remarks, "small", right - middle)
        printed = self._wrap_texts(self.choice.printed, "caption", right - middle)
        figure = len(notes) * theme.line("caption")
        words = theme.line("small") * (1 + len(remarks)) + theme.line("caption") * len(printed)
        return 2 * theme.px(_TOP) + theme.line("option") + max(figure, words)

    def _settle(self) -> None:
        height = self._compute_height(self.width())
        if height != self.height():
            self.setFixedHeight(height)
        self.update()


def describe_claim(claim: Claim, line: ClaimLine, stance: str, printed: tuple[str, ...]) -> ClaimText:
    """Return a claim in words; `printed` is the text in the source documents."""
    published = claim.published
    value_text = f"{line.value} {line.unit}" if line.unit else line.value
    notes = [tr("published as {text}", text=published)] if published and published != value_text else []
    verdict = (
        None
        if line.stance is ClaimStatus.AGREES and (claim.verdict or "").strip() == AGREEMENT_PREFIX
        else claim.verdict
    )
    remarks = [capitalize_first(text) for text in (verdict, claim.conditions, claim.note) if text]
    return ClaimText(claim, line, tuple(notes), tuple(remarks), printed, stance)


class PreferenceEditor(FormDialog):
    """Prefers one of the existing claims."""

    manual_topic = "catalog#claims-and-disputes"

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        thing: str,
        attribute: str,
        *,
        claim: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Start with the claim of the source `claim`, else with the current one.

        Raises `InputError` if there is no choice.
        """
        catalog = desk.service.catalog
        self.thing = catalog.thing(thing)
        first = PRICE_BOUND_ATTRIBUTES[0] if attribute in PRICE_BOUND_ATTRIBUTES else attribute
        self.attribute = find_attribute(catalog, thing, first)
        if not self.attribute.claims:
            raise input_error("own.no_claims", "no source has a value; enter your own", "claim")
        super().__init__(desk, theme, tr("Choose a claim"), save=tr("Use this claim"), parent=parent, wide=True)
        self._from_start: Claim | None = None
        self.add_head(label_attribute_alone(self.attribute.name), self.thing.name)
        self.options = self._make_options()
        self.reason = TextRow(
            theme, "reason", tr("Reason"), required=True, empty=tr("Shown with the value"), longest=LONGEST_NOTE
        )
        self._add_options()
        self.impact = SaveEffectPreview(desk, theme, self.trial)
        self.add_fixed(self.reason, self.impact)
        if self.attribute.preference is not None:
            self.reason.show_value(self.attribute.preference.reason)
        self._add_take_shipped()
        self._choose_first(claim)

    @property
    def chosen(self) -> Claim | None:
        return next((option.choice.claim for option in self.options if option.isChecked()), None)

    @property
    def entered(self) -> bool:
        return super().entered or self.chosen is not self._from_start

    def edit(self) -> FactEdit | None:
        claim = self.chosen
        return None if claim is None else self._make_fact_edit(claim, self.reason.text() or "")

    def trial(self) -> FactEdit | None:
        """Return the edit that prefers the marked claim, with or without a reason."""
        return None if self.chosen is None else self._make_fact_edit(self.chosen, tr("Your choice"))

    def _make_fact_edit(self, claim: Claim, reason: str) -> FactEdit:
        catalog = self.desk.service.catalog
        return prefer_claim(catalog, self.thing.id, self.attribute.name, claim, reason, today=get_today())

    def _make_options(self) -> list[ClaimOption]:
        """Return an option for each claim, the current one first."""
        attribute = self.attribute
        lines = build_claim_group(
            attribute, self.desk.formatter, find_upper_end(self.desk.service.catalog, attribute)
        ).claims
        claims = (*filter(None, (attribute.preferred,)), *attribute.rivals)
        seeds = {each.id: each for each in self.desk.service.catalog.seed_claims()}
        measure = TextMeasure(self.theme)
        options = []
        for claim, line in zip(claims, lines, strict=True):
            printed = tuple(_format_printed(seeds[each]) for each in claim.statements if each in seeds)
            text = describe_claim(claim, line, self._label_stance(claim, line.stance), printed)
            options.append(ClaimOption(self.theme, text, measure))
        return options

    def _label_stance(self, claim: Claim, stance: ClaimStatus) -> str:
        """Label a claim: chosen by you, used, shipped value, rejected, agrees or differs."""
        if claim.preferred:
            return tr("chosen by you") if self.attribute.overridden else tr("used")
        shipped = self.attribute.shipped
        if shipped is not None and shipped.source.id == claim.source.id and shipped.value == claim.value:
            return tr("shipped value")
        if stance is ClaimStatus.REFUSED:
            return tr("rejected")
        return tr("agrees") if stance is ClaimStatus.AGREES else tr("differs")

    def _add_options(self) -> None:
        px = self.theme.px
        box = QWidget()
        box.setAccessibleName(tr("Claims"))
        column = make_column(gap=px(8), margins=(0, px(4), 0, 0), on=box)
        for option in self.options:
            option.toggled.connect(self._marked)
            column.addWidget(option)
        self.column.addWidget(box)
        if self.attribute.reason:
            words = tr("Current choice: {reason}", reason=self.attribute.reason)
            self.column.addWidget(ThemedLabel(self.theme, words, font="small", color="text2", wrap=True))

    def _choose_first(self, source: str | None) -> None:
        wanted_option = next((each for each in self.options if each.choice.claim.source.id == source), None)
        first = wanted_option or (self.options[0] if self.options else None)
        if first is not None:
            first.setChecked(True)
            first.setFocus()
        self._from_start = self.chosen

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        marked = next((option for option in self.options if option.isChecked()), None)
        if marked is not None:
            QTimer.singleShot(0, marked, lambda: self.scroll_to_widget(marked))

    def _marked(self, on: bool) -> None:
        if on:
            self.show_top_message("")
            self.impact.ask_soon()

    def _add_take_shipped(self) -> None:
        if self.attribute.preference is None or self.thing.own:
            return
        self.shipped_button = self.add_left_button(tr("Use shipped value"), self._take_shipped)

    def _take_shipped(self) -> None:
        catalog = self.desk.service.catalog
        self.apply_immediately(lambda: take_shipped(catalog, self.thing.id, self.attribute.name))


def _format_printed(seed: DocumentStatement) -> str:
    value = seed.value if seed.value_high is None else f"{seed.value} – {seed.value_high}"
    figure = f"{value} {seed.unit}" if seed.unit else value
    quoted = f"“{figure}”"
    who = tr("according to {name}", name=seed.stated_by) if seed.stated_by else ""
    return ", ".join(part for part in (quoted, seed.conditions, who, seed.id) if part)
