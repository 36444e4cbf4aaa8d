"""The Profile page: one accelerator, its header, capabilities, limits, and next steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec, QueryState
from gpudesk.desktop.pages.profile.views import (
    ModelsView,
    OverviewView,
    PeersView,
    ProfilePreferences,
    ProfileQuery,
    ProfileView,
    SpecificationsView,
    UpgradesView,
)
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import add_accelerator, replace_model_and_baseline
from gpudesk.desktop.session.scenario_options import list_accelerator_options, list_model_options
from gpudesk.desktop.session.selection import Selection, select_catalog_attribute, select_deployment
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import SWATCH_WIDTH, PaintedButton, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption, ChoicePopup
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.page_frame import PageHeader
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole, format_key, make_delay
from gpudesk.domain.answer import get_accelerator_id
from gpudesk.report.data_table import DataRow
from gpudesk.report.labels import shorten_name
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.report.profile_tables import HeadlineSpecification
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

#: Design lengths.
_MARGIN: Final = 16
_STRIP: Final = 58.0
_TAG: Final = 18.0
_GAP: Final = 6.0
_MARK: Final = 14.0


class SpecificationButton(PaintedButton):
    """One figure; pressing it selects its attribute."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.specification: HeadlineSpecification | None = None
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_specification(self, specification: HeadlineSpecification) -> None:
        self.specification = specification
        self.setAccessibleName(specification.sentence)
        self.setToolTip(specification.sentence)
        self.update()

    def needed(self) -> float:
        each = self.specification
        if each is None:
            return 0.0
        small, large = (QFontMetricsF(self._theme.font(name)) for name in ("small", "headline"))
        mark = self._theme.length(_MARK + 4) if each.is_disputed or each.is_user_value else 0.0
        second = large.horizontalAdvance(each.text) + self._theme.length(_GAP) + small.horizontalAdvance(each.unit)
        return max(small.horizontalAdvance(each.label) + mark, second)

    def paint(self, pen: ThemePainter) -> None:
        if self.specification is not None:
            each = self.specification
            theme, line = self._theme, self._theme.line("small")
            upper = QRectF(0, theme.length(2), self.width(), line)
            x = pen.text(upper, each.label, font="small", color="link" if self.underMouse() else "text2")
            if each.is_user_value or each.is_disputed:
                pen.glyph("own" if each.is_user_value else "disputed", x + theme.length(_MARK), upper.center().y())
            baseline = upper.bottom() + theme.line("headline") / 2 + pen.metrics("headline").capHeight() / 2
            x = pen.text(QPointF(0, baseline), each.text, font="headline") + theme.length(_GAP)
            rest = QRectF(x, baseline - line, self.width() - x, line)
            unit = pen.metrics("small").elidedText(each.unit, Qt.TextElideMode.ElideRight, rest.width())
            pen.text(QPointF(x, baseline), unit, font="small", color="text3")


class SpecificationStrip(PaintedWidget):
    """The figures side by side, with dividers."""

    #: The attribute that was pressed.
    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.buttons: list[SpecificationButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Specifications"))
        theme.follow(self._measure)

    def show_specifications(self, specifications: Sequence[HeadlineSpecification]) -> None:
        while len(self.buttons) < len(specifications):
            button = SpecificationButton(self._theme, self)
            button.clicked.connect(lambda _=False, button=button: self._press(button))
            button.show()
            self.buttons.append(button)
        for button, each in zip(self.buttons, specifications, strict=True):
            button.show_specification(each)
        self._place()

    def _press(self, button: SpecificationButton) -> None:
        if button.specification is not None:
            self.chosen.emit(button.specification.attribute)

    def _measure(self) -> None:
        self.setFixedHeight(self._theme.px(_STRIP))
        self._place()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Give each figure its width, and all an equal share of the rest."""
        if not self.buttons:
            return
        gap = self._theme.px(_MARGIN)
        needs = [button.needed() for button in self.buttons]
        room = self.width() - 2 * gap * (len(needs) - 1)
        spare = (room - sum(needs)) / len(needs)
        x = 0.0
        for button, need in zip(self.buttons, needs, strict=True):
            width = max(need + spare, 1.0)
            button.setGeometry(QRect(round(x), 0, round(width), self._theme.px(_STRIP) - 6))
            x += width + 2 * gap
        self.update()

    def paint(self, pen: ThemePainter) -> None:
        for button in self.buttons[1:]:
            x = button.x() - self._theme.px(_MARGIN)
            pen.hairline(x, self._theme.px(4), x, self._theme.px(_STRIP) - self._theme.px(8))


class RuleTags(PaintedWidget):
    """Tags in a line; each has a tooltip with its rule. Tags that do not fit are left out at the end."""

    accessible_role = AccessibleRole.StaticText

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._tags: tuple[tuple[str, str], ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_tags(self, tags: Sequence[tuple[str, str]]) -> None:
        """Show tags, given as (text, rule)."""
        self._tags = tuple(tags)
        self.setAccessibleName(tr("Tags: {tags}", tags=", ".join(text for text, _ in tags)))
        rules = "\n".join(f"{text}: {rule}" if rule else text for text, rule in tags)
        self.setAccessibleDescription(rules)
        self.setToolTip(rules)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self._theme.font("caption_strong"))
        gap, pad = self._theme.length(_GAP), 2 * self._theme.length(6)
        width = sum(metrics.horizontalAdvance(text) + pad + gap for text, _ in self._tags)
        return QSize(round(width) + 2, self._theme.px(_TAG + 4))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._theme.px(_TAG + 4))

    def paint(self, pen: ThemePainter) -> None:
        x = 0.5
        for text, _ in self._tags:
            if x + pen.tag_width(text) > self.width():
                return
            x += pen.tag(x, self.height() / 2, text) + self._theme.length(_GAP)


class AcceleratorName(PaintedWidget):
    """The name in the color of its palette index in the scenario, with its swatch; others have none."""

    accessible_role = AccessibleRole.StaticText

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._name, self._index, self._is_variant = "", 0, False
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_name(self, name: str, palette_index: int, *, is_variant: bool) -> None:
        self._name, self._index, self._is_variant = name, palette_index, is_variant
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.updateGeometry()
        self.update()

    def _measure_swatch(self) -> int:
        return self._theme.px(SWATCH_WIDTH + 10) if self._index else 0

    def sizeHint(self) -> QSize:
        width = QFontMetricsF(self._theme.font("verdict")).horizontalAdvance(self._name)
        return QSize(round(width) + self._measure_swatch() + 4, self._theme.line("verdict"))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(90), self._theme.line("verdict"))

    def paint(self, pen: ThemePainter) -> None:
        if self._index:
            pen.swatch(0, self.height() / 2, self._index, is_variant=self._is_variant)
        pen.text(QRectF(self.rect()).adjusted(self._measure_swatch(), 0, 0, 0), self._name, font="verdict")


class ProfileHeader(QWidget):
    """Name, tags, status and date; below them the headline, and the five figures."""

    #: The attribute of a figure that was pressed.
    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.name = AcceleratorName(theme)
        self.tags = RuleTags(theme)
        self.headline = ThemedLabel(theme, font="small", color="text2", wrap=True)
        self.other = Button(theme, tr("Other accelerator"), key=format_key("Ctrl+J"))
        self.strip = SpecificationStrip(theme)
        self.strip.chosen.connect(self.chosen)
        # The content below stays in place while a profile is computed.
        policy = self.strip.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.strip.setSizePolicy(policy)
        self._row = make_row(self.name, (self.tags, 1), self.other, gap=12)
        margins = (_MARGIN, 4, _MARGIN, 4)
        inner = make_column(self._row, self.headline, 8, self.strip, gap=2, margins=margins, scaled=theme)
        make_column(inner, Hairline(theme), gap=0, on=self)
        # A fixed height would be that of a one-line headline.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)

    def show_profile(self, tables: ProfileTables, palette_index: int, *, is_variant: bool) -> None:
        self.name.show_name(tables.profile.accelerator.name, palette_index, is_variant=is_variant)
        self.tags.show_tags(tables.tags())
        self.headline.setText(f"{tables.status()}. {tables.headline()}")
        self.strip.show_specifications(tables.list_headline_specifications())
        self.strip.show()

    def show_name_alone(self, name: str) -> None:
        """Show an accelerator without a profile."""
        self.name.show_name(name, 0, is_variant=False)
        self.tags.show_tags(())
        self.headline.setText("")
        self.strip.hide()


OVERVIEW, MODELS, UPGRADES, PEERS, SPECIFICATIONS = "overview", "models", "upgrades", "peers", "specifications"
#: Delay of the profile during a drag, in milliseconds.
_REST_MS = 150


class ProfilePage(MultiViewPage[ProfileView]):
    """Shows an accelerator of the scenario, or any other of the catalog."""

    page_id = "profile"
    menu_section = 55

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings) -> None:
        self.preferences = ProfilePreferences(settings)
        #: An accelerator outside the scenario to show, empty for none.
        self._other = ""
        self._accelerator = ""
        super().__init__(desk, theme, settings)
        self.query = ProfileQuery(desk, self)
        self.query.changed.connect(self._show)
        self.query.working.connect(self._show_progress)
        self.subject = ProfileHeader(theme)
        self.subject.chosen.connect(self._choose_attribute)
        self.subject.other.clicked.connect(self.choose_other)
        layout = self.layout()
        if isinstance(layout, QBoxLayout):
            layout.insertWidget(1, self.subject)
        self.progress = ThemedLabel(theme, font="small", color="text2")
        self.resume = LinkButton(theme, "", self._stop_or_resume)
        self._progress_line = QWidget()
        make_row(
            self.progress, self.resume, STRETCH, gap=10, margins=(16, 6, 16, 0), scaled=theme, on=self._progress_line
        )
        self._progress_line.hide()
        if isinstance(layout, QBoxLayout):
            layout.insertWidget(2, self._progress_line)
        self._popup: ChoicePopup | None = None
        self._rest = make_delay(self, _REST_MS, self._ask)
        desk.selection_changed.connect(self._follow_selection)

    # Interface of a page

    def title(self) -> str:
        return tr("Profile")

    def view_specs(self) -> Sequence[PageViewSpec[ProfileView]]:
        views: tuple[tuple[str, str, type[ProfileView]], ...] = (
            (OVERVIEW, tr("Overview"), OverviewView),
            (MODELS, tr("Models"), ModelsView),
            (UPGRADES, tr("Upgrades"), UpgradesView),
            (PEERS, tr("Peers"), PeersView),
            (SPECIFICATIONS, tr("Specifications"), SpecificationsView),
        )
        return [PageViewSpec(key, text, partial(self._construct, view)) for key, text, view in views]

    def _construct(self, view: type[ProfileView], desk: Desk, theme: Theme) -> ProfileView:
        return view(theme, self.preferences, desk.formatter)

    def make_head(self, views: Sequence[tuple[str, str]]) -> PageHeader:
        self.print_button = Button(self.theme, tr("Print profile"), self.print_profile, icon="printer")
        return PageHeader(self.theme, self.title(), views, (self.print_button,))

    def make_view(self, key: str, theme: Theme) -> ProfileView:
        view = super().make_view(key, theme)
        view.chosen.connect(self._choose_row)
        view.opened.connect(self.open_row)
        view.changed.connect(self._ask)
        if isinstance(view, ModelsView):
            view.tiers.offer_models(partial(list_model_options, self.desk.service))
        if isinstance(view, PeersView):
            view.compared.connect(self.compare_with)
        return view

    def find_missing_input(self) -> str | None:
        return None if self._other or self.desk.scenario.accelerators else "accelerators"

    def needs_answer(self) -> bool:
        return False

    # Accelerator

    @property
    def accelerator(self) -> str:
        """The id of the visible accelerator, empty without one."""
        ids = [choice.accelerator for choice in self.desk.scenario.accelerators]
        if self._other:
            return self._other
        if self._accelerator not in ids:
            self._accelerator = ids[0] if ids else ""
        return self._accelerator

    def show_accelerator(self, accelerator: str) -> None:
        """Show an accelerator of the catalog; the scenario stays unchanged."""
        ids = [choice.accelerator for choice in self.desk.scenario.accelerators]
        chosen, former = self.desk.selection, self.accelerator
        if accelerator in ids:
            self._other, self._accelerator = "", accelerator
        else:
            self._other = accelerator
        if chosen is not None and accelerator != former:
            if chosen.thing == former:
                self._choose_attribute(chosen.name)
            elif chosen.request is not None:
                # The deployment belongs to one accelerator.
                self.desk.select(None)
        self.refresh()

    def focus_column(self, key: str) -> None:
        self.show_accelerator(get_accelerator_id(key))

    def _follow_selection(self) -> None:
        chosen = self.desk.selection
        if chosen is not None and chosen.column and not self.isVisible():
            self._other, self._accelerator = "", get_accelerator_id(chosen.column)
            self._stale = True

    def choose_other(self) -> None:
        """Offer all accelerators, those of the scenario first."""
        button = self.subject.other
        if self._popup is None:
            self._popup = ChoicePopup(self.theme, tr("Other accelerator"), button)
            self._popup.chosen.connect(self.show_accelerator)
        place = QRect(button.mapToGlobal(QPoint(0, 0)), button.size())
        options = self._list_options()
        self._popup.open_below(place, options, self.accelerator)

    def _list_options(self) -> list[ChoiceOption]:
        scenario, none_chosen = self.desk.scenario, replace(self.desk.scenario, accelerators=())
        options = list_accelerator_options(self.desk.service, none_chosen, self.desk.formatter)
        by_id = {option.key: option for option in options}
        chosen = dict.fromkeys(choice.accelerator for choice in scenario.accelerators)
        first = [replace(by_id[each], group=tr("In the scenario")) for each in chosen if each in by_id]
        return [*first, *(option for option in options if option.key not in chosen)]

    # Display

    def show_view(self) -> None:
        if self.desk.in_gesture:
            self._rest.start()
        else:
            self._ask()

    def _ask(self) -> None:
        self._rest.stop()
        asks = self.accelerator and self.query.ask(self.preferences.question(self.desk.scenario, self.accelerator))
        self.print_button.setEnabled(self._can_print())
        if self.query.state is QueryState.WORKING and not self._is_shown():
            self.subject.show_name_alone(self._get_name(self.accelerator))
            self.body.show_state("", None, answered=False)
        elif not asks:
            self._show()

    def _is_shown(self) -> bool:
        profile = self.query.result
        return profile is not None and profile.accelerator.id == self.accelerator

    def _show(self) -> None:
        tables, state = self.tables, self.query.state
        self.print_button.setEnabled(self._can_print())
        if state is QueryState.STOPPED:
            self._tell(tr("Stopped before the profile was complete"), tr("Continue"))
        elif state is not QueryState.WORKING:
            self._tell("")
        if state is QueryState.FAILED:
            self.subject.show_name_alone(self._get_name(self.accelerator))
            self.body.show_state(self.query.problem, None, answered=False)
        elif tables is not None and self.isVisible() and state is QueryState.READY:
            columns = (each for each in self.desk.columns if each.column.accelerator.id == self.accelerator)
            column = next(columns, None)
            index, is_variant = (0, False) if column is None else (column.palette_index, column.is_variant)
            self.subject.show_profile(tables, index, is_variant=is_variant)
            self.view.show_profile(tables)
            self.view.set_pale(False)
            self.body.show_state(self.problem_text, None, answered=True)
            # Otherwise Qt lays out one level per turn, and paints squeezed lines in between.
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
            self._renew_selection()
            self._proposal.start()

    def _renew_selection(self) -> None:
        """Let the panel explain the selected row under the current load."""
        chosen = self.desk.selection
        if chosen is None or chosen.request is None:
            return
        for section in self.view.sections.values():
            row = section.view.current_row
            if row is not None and row.request is not None and row.request.model == chosen.request.model:
                self.desk.select(select_deployment(row.request))

    @property
    def tables(self) -> ProfileTables | None:
        profile = self.query.result
        return None if profile is None else ProfileTables(profile, self.desk.formatter, self._get_name)

    def _get_name(self, thing: str) -> str:
        catalog = self.desk.service.catalog
        try:
            return shorten_name(catalog.thing(thing).name)
        except InputError:
            return thing

    def _show_progress(self, text: str, can_cancel: bool) -> None:
        """Dim the former profile after a moment, and show the progress."""
        if text and self.query.state is QueryState.WORKING:
            self.view.set_pale(True)
            self._tell(text, tr("Cancel") if can_cancel else "")

    def _tell(self, text: str, action: str = "") -> None:
        self.progress.setText(text)
        self.resume.setText(action)
        self.resume.setVisible(bool(action))
        self._progress_line.setVisible(bool(text))

    def _stop_or_resume(self) -> None:
        if self.query.state is QueryState.WORKING:
            self.query.stop()
        else:
            self._ask()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.query.rest()

    # User actions

    def propose_selection(self) -> Selection | None:
        return select_catalog_attribute(self.accelerator, "memory_bandwidth") if self.accelerator else None

    def _choose_attribute(self, name: str) -> None:
        self.desk.select(select_catalog_attribute(self.accelerator, name))

    def _choose_row(self, row: DataRow) -> None:
        if row.request is not None:
            self.desk.select(select_deployment(row.request))
        elif row.attribute:
            self._choose_attribute(row.attribute)

    def open_row(self, row: DataRow) -> None:
        """Put the deployment of a row into the scenario as one step, or show its accelerator."""
        request = row.request
        if request is not None:
            model, part = self._get_name(request.model), self._get_name(request.accelerator)
            count = self.desk.formatter.count(request.count or 1)
            text = tr("Open {model} on {n} × {accelerator}", model=model, n=count, accelerator=part)
            scenario = replace_model_and_baseline(
                self.desk.scenario, request.model, request.weights, request.kv, request.accelerator, request.count
            )
            self.desk.apply(scenario, text)
            self._other, self._accelerator = "", request.accelerator
        elif row.accelerator and row.accelerator != self.accelerator:
            self.show_accelerator(row.accelerator)

    def compare_with(self, rival: str) -> None:
        """Add the accelerator and a rival to the scenario as one step, and show Compare."""
        scenario = self.desk.scenario
        for each in (self.accelerator, rival):
            if each not in {choice.accelerator for choice in scenario.accelerators}:
                scenario = add_accelerator(scenario, each, 1)
        self.desk.apply(scenario, tr("Compare with {name}", name=self._get_name(rival)))
        self.page_requested.emit("compare", "")

    def print_profile(self) -> None:
        """Show the print preview of the profile, once available."""
        if self.tables is not None and self._can_print():
            self.profile_preview_requested.emit(self.tables)

    def _can_print(self) -> bool:
        return self.tables is not None and self.query.state is QueryState.READY

    def name_chart_commands(self) -> tuple[str, str]:
        return tr("Show profile table"), tr("Copy profile")

    def list_page_actions(self) -> list[ActionSpec]:
        view = partial(ActionSpec, menu=MenuId.VIEW, section=self.menu_section + 1)
        file = partial(ActionSpec, menu=MenuId.FILE, section=30)
        return [
            *super().list_page_actions(),
            view("profile.other", tr("Show other accelerator"), self.choose_other, "cpu", ("Ctrl+J",)),
            file("profile.print", tr("Print profile"), self.print_profile, "printer", enabled=self._can_print),
        ]
