"""The views of the Profile page: overview, models, upgrades, peers, all values; and their forms."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.pages.page import BackgroundQuery, PageView, QueryState
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_options import list_precision_options
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.charts.pictures import ArchitecturePanel
from gpudesk.desktop.ui.tables.data_table import DataTableSection
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, NumberField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    FlowRow,
    Hairline,
    ThemedLabel,
    clear_layout,
    make_column,
    make_row,
    release_items,
    scroll_into_view,
)
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.domain.answer import Scenario
from gpudesk.domain.diffusion import DiffusionSettings, DiffusionSoftware
from gpudesk.domain.precision import Precision
from gpudesk.domain.profile import AcceleratorProfile, OperatingMode, ProfileQuestion, RankingFactor
from gpudesk.estimation.diffusion import SIZE_LIMITS
from gpudesk.report.data_table import DataRow, DataTable
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.text.formatting import Formatter, NumberStyle
from gpudesk.text.translation import tr

MODE: Final = "profile.mode"
WEIGHTS: Final = "profile.weights"
BUDGET: Final = "profile.budget_usd"
TIERS: Final = "profile.tiers"
MEDIA: Final = "profile.media"
#: Cached profiles: switching between accelerators is instant.
_MOST_KEPT: Final = 12


class ProfilePreferences:
    """The user's preferences for all profiles: mode, weights, tiers, image and video settings, and the budget."""

    def __init__(self, settings: UserSettings) -> None:
        self._settings = settings

    @property
    def mode(self) -> OperatingMode:
        stored = self._settings.get(MODE, OperatingMode.BALANCED.value)
        return OperatingMode(stored) if stored in list(OperatingMode) else OperatingMode.BALANCED

    @mode.setter
    def mode(self, mode: OperatingMode) -> None:
        self._settings.put(MODE, mode.value)

    @property
    def weights(self) -> dict[RankingFactor, float] | None:
        """The user's weights of the current mode, None for the mode's own."""
        stored: dict[str, Any] = self._settings.get(WEIGHTS, {})
        weights = stored.get(self.mode.value)
        if not isinstance(weights, dict):
            return None
        numbers = (weights.get(factor.value, 1.0) for factor in RankingFactor)
        return {
            factor: max(float(number), 0.0) if isinstance(number, int | float) else 1.0
            for factor, number in zip(RankingFactor, numbers, strict=True)
        }

    @weights.setter
    def weights(self, weights: dict[RankingFactor, float] | None) -> None:
        stored: dict[str, Any] = dict(self._settings.get(WEIGHTS, {}))
        stored.pop(self.mode.value, None)
        if weights is not None:
            stored[self.mode.value] = {factor.value: weight for factor, weight in weights.items()}
        self._settings.put(WEIGHTS, stored)

    @property
    def tiers(self) -> dict[str, float] | None:
        """The user's tiers of models by id, None without any."""
        stored: dict[str, Any] = self._settings.get(TIERS, {})
        tiers = {model: float(tier) for model, tier in stored.items() if type(tier) in (int, float) and tier > 0}
        return tiers or None

    @tiers.setter
    def tiers(self, tiers: dict[str, float] | None) -> None:
        self._settings.put(TIERS, tiers or {})

    @property
    def media(self) -> dict[str, DiffusionSettings]:
        """The user's image and video settings, by row; invalid ones are left out."""
        stored: dict[str, Any] = self._settings.get(MEDIA, {})
        settings = {row: _read_media(entry) for row, entry in stored.items()}
        return {row: each for row, each in settings.items() if each is not None}

    def set_media(self, row: str, settings: DiffusionSettings | None) -> None:
        stored: dict[str, Any] = dict(self._settings.get(MEDIA, {}))
        stored.pop(row, None)
        if settings is not None:
            stored[row] = asdict(settings)
        self._settings.put(MEDIA, stored)

    @property
    def budget_usd(self) -> float | None:
        return self._settings.get(BUDGET, 0.0) or None

    @budget_usd.setter
    def budget_usd(self, budget: float | None) -> None:
        self._settings.put(BUDGET, budget or 0.0)

    def question(self, scenario: Scenario, accelerator: str) -> ProfileQuestion:
        """Return the question about an accelerator at the load of a scenario."""
        question = ProfileQuestion.from_scenario(scenario, accelerator)
        return replace(
            question,
            mode=self.mode,
            weights=self.weights,
            tiers=self.tiers,
            budget_usd=self.budget_usd,
            media=self.media or None,
        )


def _read_media(entry: object) -> DiffusionSettings | None:
    if not isinstance(entry, dict):
        return None
    try:
        sizes = {name: entry[name] for name in ("width", "height", "frames", "steps", "batch")}
        weights, software = entry["weights"], DiffusionSoftware(entry["software"])
        format_ = None if weights is None else Precision(weights)
    except (KeyError, ValueError):
        return None
    limits = ((*SIZE_LIMITS[name], size) for name, size in sizes.items())
    if not all(type(size) is int and least <= size <= most for least, most, size in limits):
        return None
    return DiffusionSettings(**sizes, weights=format_, software=software)


class ProfileQuery(BackgroundQuery[AcceleratorProfile]):
    """The last profile, and some before it."""

    def __init__(self, desk: Desk, parent: QObject) -> None:
        super().__init__(desk, parent)
        self._cached_profiles: OrderedDict[tuple[object, ...], AcceleratorProfile] = OrderedDict()

    def ask(self, question: ProfileQuestion) -> bool:
        """Request the profile for a question; a cached one is available at once.

        Return False if it was the last question; else the state changes.
        """
        key = (repr(question), self._desk.service.catalog)
        if key == self._key and self.state in (QueryState.READY, QueryState.WORKING):
            return False
        self._key = key
        self._jobs.cancel()
        profile = self._cached_profiles.get(key)
        if profile is not None:
            self._cached_profiles.move_to_end(key)
            super()._done(key, profile)
            return True
        self._start("profile", key, self._desk.service.build_profile_in_steps(question))
        return True

    def _done(self, key: tuple[object, ...], profile: AcceleratorProfile) -> None:
        self._cached_profiles[key] = profile
        while len(self._cached_profiles) > _MOST_KEPT:
            self._cached_profiles.popitem(last=False)
        super()._done(key, profile)


_GAP: Final = 12
_HIGHEST_TIER: Final = 1000.0


class DiffusionForm(QWidget):
    """The settings of the selected image or video below its result; hidden without one."""

    #: The key of the row and its `DiffusionSettings`, None for a reset.
    edited = Signal(str, object)

    def __init__(self, theme: Theme, style: NumberStyle) -> None:
        super().__init__()
        self._key = ""
        self._settings = DiffusionSettings()
        captions = {
            "width": tr("Width, px"),
            "height": tr("Height, px"),
            "frames": tr("Frames"),
            "steps": tr("Steps"),
            "batch": tr("Batch"),
        }
        self.result = ThemedLabel(theme, font="small", color="text2", wrap=True)
        self.result.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        fields = FlowRow(theme, _GAP, (0, 0, 0, 0))
        self.numbers: dict[str, NumberField] = {}
        for name, caption in captions.items():
            field = NumberField(theme, caption, NumberFormat(*SIZE_LIMITS[name], 0, style))
            field.edited.connect(partial(self._set_number, name))
            self.numbers[name] = field
            fields.flow.addWidget(field)
        self.weights = ChoiceField(theme, tr("Weights"))
        widest = ChoiceOption("", tr("Automatic"), notes=(tr("widest format that fits"),))
        self.weights.set_options([widest, *list_precision_options()])
        self.weights.chosen.connect(self._set_weights)
        self.software = ChoiceField(theme, tr("Software"))
        self.software.set_options([ChoiceOption(each.value, each.label) for each in DiffusionSoftware])
        self.software.chosen.connect(lambda value: self._edit(software=DiffusionSoftware(value)))
        self.reset = LinkButton(theme, tr("Reset settings"), lambda: self.edited.emit(self._key, None))
        for widget in (self.weights, self.software, self.reset):
            fields.flow.addWidget(widget)
        make_column(align_with_fields(theme, self.result), fields, gap=4, margins=(0, 4, 0, 0), on=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hide()

    def show_row(self, row: DataRow | None, settings: DiffusionSettings | None) -> None:
        """Show the settings of a row; `settings` are the user's, None without any."""
        estimate = None if row is None else row.diffusion
        self.setVisible(estimate is not None)
        if row is None or estimate is None:
            return
        request = estimate.request
        weights = None if settings is None else settings.weights
        self.result.setText(row.sentence)
        self._key = row.key
        self._settings = DiffusionSettings(
            request.width, request.height, request.frames, request.steps, request.batch, weights, request.software
        )
        for name, field in self.numbers.items():
            field.set_value(getattr(request, name))
        self.numbers["frames"].setVisible(estimate.clip_s is not None)
        self.weights.set_value("" if weights is None else weights.value)
        self.software.set_value(request.software.value)
        self.reset.setVisible(settings is not None)

    def focus_first(self) -> None:
        self.numbers["width"].setFocus(Qt.FocusReason.ShortcutFocusReason)
        scroll_into_view(self)

    def _set_number(self, name: str, value: object) -> None:
        self._edit(**{name: int(str(value))})

    def _set_weights(self, value: str) -> None:
        self._edit(weights=Precision(value) if value else None)

    def _edit(self, **fields: object) -> None:
        self.edited.emit(self._key, replace(self._settings, **fields))  # type: ignore[arg-type]


class TierForm(FlowRow):
    """A model and the user's tier for it; the model is that of the selected row, or any other."""

    #: The id of a model and its tier, 0 for none.
    edited = Signal(str, float)
    #: Remove all tiers.
    reset_wanted = Signal()

    def __init__(self, theme: Theme, style: NumberStyle) -> None:
        super().__init__(theme, _GAP, (0, 0, 0, 0))
        self._tiers: Mapping[str, float] = {}
        self._name_of: Callable[[str], str] = str
        self.model = ChoiceField(theme, tr("Model"))
        self.model.chosen.connect(self.show_model)
        self.tier = NumberField(theme, tr("Your quality tier (0: none)"), NumberFormat(0, _HIGHEST_TIER, 1, style))
        self.tier.edited.connect(lambda tier: self.edited.emit(self.model.value, float(tier)))
        self.reset = LinkButton(theme, tr("Reset tiers"), self.reset_wanted)
        for widget in (self.model, self.tier, self.reset):
            self.flow.addWidget(widget)

    def offer_models(self, provide: Callable[[], Sequence[ChoiceOption]]) -> None:
        self.model.set_provider(provide)

    def show_tiers(self, tiers: Mapping[str, float] | None, name_of: Callable[[str], str]) -> None:
        self._tiers, self._name_of = tiers or {}, name_of
        self.reset.setVisible(bool(tiers))
        self.show_model(self.model.value)

    def show_model(self, model: str) -> None:
        self.model.set_value(model, self._name_of(model) if model else "")
        self.tier.set_value(self._tiers.get(model, 0.0))
        self.tier.setEnabled(bool(model))


_MARGIN: Final = 16
#: With the padding of fields.
_BETWEEN: Final = 24
#: Width shares of the two columns of a view.
_LEFT, _RIGHT = 56, 44
#: Below this width the columns are placed below one another.
_LEAST_BESIDE: Final = 820.0


class TextBlock(QWidget):
    """A title with sentences below it, each with its number."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme = theme
        self.title = ThemedLabel(theme, title, font="section")
        self._lines = QVBoxLayout()
        self._lines.setSpacing(3)
        self.texts: tuple[str, ...] = ()
        make_column(self.title, self._lines, gap=6, on=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_texts(self, texts: Sequence[str], *, leads: bool = False) -> None:
        """Show sentences; with `leads` the first is the answer."""
        if tuple(texts) == self.texts:
            return
        self.texts = tuple(texts)
        clear_layout(self._lines)
        for number, text in enumerate(texts):
            font, color = ("body_strong", "text1") if leads and not number else ("small", "text2")
            label = ThemedLabel(self._theme, text, font=font, color=color, wrap=True, selectable=True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            self._lines.addWidget(label)


def _align(theme: Theme, widget: QWidget) -> QWidget | QBoxLayout:
    """Return a widget with the left padding of fields."""
    return widget if isinstance(widget, DataTableSection | TwoColumns) else align_with_fields(theme, widget)


class TwoColumns(QWidget):
    """Two columns of widgets, 56 to 44, or below one another in a narrow view, with the left padding of fields."""

    def __init__(
        self, theme: Theme, left: Sequence[QWidget], right: Sequence[QWidget], shares: tuple[int, int] = (_LEFT, _RIGHT)
    ) -> None:
        super().__init__()
        self._theme = theme
        self._box = make_row(gap=_BETWEEN, on=self)
        for widgets, share in zip((left, right), shares, strict=True):
            column = make_column(*(_align(theme, each) for each in widgets), STRETCH, gap=14)
            self._box.addLayout(column, share)
            release_items(column)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = event.size().width() >= self._theme.px(_LEAST_BESIDE)
        directions = QHBoxLayout.Direction
        self._box.setDirection(directions.LeftToRight if beside else directions.TopToBottom)
        self._box.setSpacing(_BETWEEN if beside else 14)


class ProfileView(PageView):
    """A view of the profile. Subclasses fill `sections` and implement `show_profile`."""

    #: A row was selected, for the panel.
    chosen = Signal(object)
    #: A row was opened: its deployment, or its accelerator.
    opened = Signal(object)
    #: A preference changed.
    changed = Signal()

    def __init__(self, theme: Theme, preferences: ProfilePreferences, formatter: Formatter) -> None:
        super().__init__()
        self.theme = theme
        self.formatter = formatter
        self.preferences = preferences
        self.sections: dict[str, DataTableSection] = {}
        #: The settings form of the selected image or video, if the view lists any.
        self.media_form: DiffusionForm | None = None
        margins = (_MARGIN - FIELD_SIDE, 10, _MARGIN, _MARGIN)
        self._whole = make_column(gap=14, margins=margins, scaled=theme, on=self)

    def show_profile(self, tables: ProfileTables) -> None:
        raise NotImplementedError

    def add_section(self, key: str, *controls: QWidget) -> DataTableSection:
        section = DataTableSection(self.theme, self.formatter, *controls)
        section.view.chosen.connect(partial(self._choose, key))
        section.view.opened.connect(self._open)
        self.sections[key] = section
        self.charts = (*self.charts, section)
        return section

    def add_media_form(self, key: str) -> None:
        """Add the settings form for the images and videos of a section."""
        section = self.sections[key]
        form = self.media_form = DiffusionForm(self.theme, self.formatter.style)
        form.edited.connect(self._set_media)
        section.put_below_table(form)
        self.follow_row()

    def follow_row(self) -> None:
        """Show the content for the selected row."""
        if self.media_form is not None:
            rows = [section.view.current_row for section in self.sections.values()]
            row = next((each for each in rows if each is not None and each.diffusion is not None), None)
            self.media_form.show_row(row, None if row is None else self.preferences.media.get(row.key))

    def show_table(self, key: str, tables: ProfileTables, build: Callable[[ProfileTables], DataTable]) -> None:
        self.sections[key].show_table(lambda formatter: build(tables.with_formatter(formatter)))

    def put(self, *widgets: QWidget) -> None:
        """Add blocks from the top, with dividers."""
        for widget in widgets:
            if self._whole.count():
                self._add(Hairline(self.theme))
            self._add(widget)

    def _add(self, widget: QWidget) -> None:
        item = _align(self.theme, widget)
        if isinstance(item, QWidget):
            self._whole.addWidget(item)
        else:
            self._whole.addLayout(item)
            release_items(item)

    def end(self) -> None:
        self._whole.addStretch(1)

    def minimumSizeHint(self) -> QSize:
        # The scroll area asks for the height at its width; the minimum height is that of texts in their narrowest
        # column.
        hint = super().minimumSizeHint()
        return QSize(hint.width(), 0) if self._whole.hasHeightForWidth() else hint

    def focus_first(self) -> None:
        next(iter(self.sections.values())).view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_pale(self, pale: bool) -> None:
        for section in self.sections.values():
            section.view.set_pale(pale)

    def _choose(self, key: str, row: DataRow) -> None:
        # Only one row of the view is current, across all tables.
        for other, section in self.sections.items():
            if other != key:
                section.view.clear_current()
        self.follow_row()
        self.chosen.emit(row)

    def _open(self, row: DataRow) -> None:
        if row.diffusion is not None and self.media_form is not None:
            self.media_form.focus_first()
        else:
            self.opened.emit(row)

    def _set_media(self, row: str, settings: DiffusionSettings | None) -> None:
        self.preferences.set_media(row, settings)
        self.changed.emit()


class OverviewView(ProfileView):
    """Description, capabilities, first limits; strengths, considerations, advice."""

    def __init__(self, theme: Theme, preferences: ProfilePreferences, formatter: Formatter) -> None:
        super().__init__(theme, preferences, formatter)
        self.open_link = LinkButton(theme, tr("Open as scenario"), self._open_current)
        self.drawing = ArchitecturePanel(theme)
        capabilities = self.add_section("capabilities", self.open_link)
        limits = self.add_section("limits")
        self.strengths = TextBlock(theme, tr("Strengths"))
        self.considerations = TextBlock(theme, tr("Considerations"))
        self.advice = TextBlock(theme, tr("Buying advice"))
        self.notes = TextBlock(theme, tr("Notes"))
        self.put(
            TwoColumns(theme, (capabilities,), (self.drawing, limits)),
            TwoColumns(theme, (self.strengths, self.advice), (self.considerations,)),
            self.notes,
        )
        self.add_media_form("capabilities")
        self.end()

    def show_profile(self, tables: ProfileTables) -> None:
        self.show_table("capabilities", tables, ProfileTables.capabilities)
        self.show_table("limits", tables, ProfileTables.limits)
        self.drawing.show_sketch(tables.architecture())
        self.strengths.show_texts(tables.strengths())
        self.considerations.show_texts(tables.considerations())
        self.advice.show_texts(tables.advice(), leads=True)
        self.notes.show_texts(tables.notes())
        self.follow_row()

    def follow_row(self) -> None:
        super().follow_row()
        row = self.sections["capabilities"].view.current_row
        self.open_link.setVisible(row is not None and row.request is not None)

    def _open_current(self) -> None:
        row = self.sections["capabilities"].view.current_row
        if row is not None:
            self.opened.emit(row)


class ModelsView(ProfileView):
    """The best models for each job by the operating mode, whose weights can be changed; image and video models."""

    def __init__(self, theme: Theme, preferences: ProfilePreferences, formatter: Formatter) -> None:
        super().__init__(theme, preferences, formatter)
        self.mode = SegmentedControl(theme, tr("Operating mode"), [(mode.value, mode.label) for mode in OperatingMode])
        self.mode.set_value(preferences.mode.value)
        self.mode.chosen.connect(self._choose_mode)
        self.weights: dict[RankingFactor, NumberField] = {}
        row = FlowRow(theme, 12, (0, 0, 0, 0), is_even=True)
        for factor in RankingFactor:
            field = NumberField(theme, factor.label, NumberFormat(0, 10, 1, formatter.style))
            field.edited.connect(partial(self._set_weight, factor))
            self.weights[factor] = field
            row.flow.addWidget(field)
        self.reset = LinkButton(theme, tr("Reset weights"), self._reset)
        row.flow.addWidget(self.reset)
        models = self.add_section("recommendations", self.mode)
        self.tiers = TierForm(theme, formatter.style)
        self.tiers.edited.connect(self._set_tier)
        self.tiers.reset_wanted.connect(self._reset_tiers)
        models.put_above_table(row, self.tiers)
        self.put(models, self.add_section("diffusion"))
        self.add_media_form("diffusion")
        self.end()

    def show_profile(self, tables: ProfileTables) -> None:
        self.show_table("recommendations", tables, ProfileTables.recommendations)
        self.show_table("diffusion", tables, ProfileTables.diffusion)
        for factor, field in self.weights.items():
            field.set_value(tables.profile.weights.get(factor, 1.0))
        self.mode.set_value(self.preferences.mode.value)
        self.reset.setVisible(self.preferences.weights is not None)
        self.tiers.show_tiers(tables.profile.question.tiers, tables.name_of)
        self.follow_row()

    def follow_row(self) -> None:
        super().follow_row()
        row = self.sections["recommendations"].view.current_row
        if row is not None and row.request is not None:
            self.tiers.show_model(row.request.model)

    def _choose_mode(self, mode: str) -> None:
        self.preferences.mode = OperatingMode(mode)
        self.changed.emit()

    def _set_weight(self, factor: RankingFactor, weight: object) -> None:
        weights = {each: field.value for each, field in self.weights.items()}
        weights[factor] = float(str(weight))
        self.preferences.weights = weights
        self.changed.emit()

    def _reset(self) -> None:
        self.preferences.weights = None
        self.changed.emit()

    def _set_tier(self, model: str, tier: float) -> None:
        tiers = {**(self.preferences.tiers or {}), model: tier}
        self.preferences.tiers = {each: value for each, value in tiers.items() if value > 0}
        self.changed.emit()

    def _reset_tiers(self) -> None:
        self.preferences.tiers = None
        self.changed.emit()


class UpgradesView(ProfileView):
    """More of it, the models just out of reach, and other accelerators: each with unlocked models and cost."""

    def __init__(self, theme: Theme, preferences: ProfilePreferences, formatter: Formatter) -> None:
        super().__init__(theme, preferences, formatter)
        self.budget = NumberField(theme, tr("Budget, USD (0: none)"), NumberFormat(0, 1e9, 0, formatter.style))
        self.budget.edited.connect(self._set_budget)
        columns = TwoColumns(theme, (self.add_section("scale"),), (self.add_section("out_of_reach"),), (52, 48))
        self.put(columns, self.add_section("upgrades", self.budget))
        self.end()

    def show_profile(self, tables: ProfileTables) -> None:
        self.show_table("scale", tables, ProfileTables.scale)
        self.show_table("out_of_reach", tables, ProfileTables.out_of_reach)
        self.show_table("upgrades", tables, ProfileTables.upgrades)
        self.budget.set_value(self.preferences.budget_usd or 0.0)

    def _set_budget(self, budget: object) -> None:
        value = float(str(budget))
        self.preferences.budget_usd = value if value > 0 else None
        self.changed.emit()


class PeersView(ProfileView):
    """The mean of its category and its nearest rivals, each one click from Compare."""

    #: The accelerator to compare with, by id.
    compared = Signal(str)

    def __init__(self, theme: Theme, preferences: ProfilePreferences, formatter: Formatter) -> None:
        super().__init__(theme, preferences, formatter)
        self.links = FlowRow(theme, 16, (0, 0, 0, 0))
        self.put(self.add_section("peers"), self.links)
        self.end()

    def show_profile(self, tables: ProfileTables) -> None:
        self.show_table("peers", tables, ProfileTables.peers)
        clear_layout(self.links.flow)
        for rival in tables.rivals():
            link = LinkButton(self.theme, tr("Compare with {name}", name=tables.name_of(rival)))
            link.clicked.connect(partial(self.compared.emit, rival))
            self.links.flow.addWidget(link)


class SpecificationsView(ProfileView):
    """All values with their sources, by group."""

    _LEFT_GROUPS = ("memory", "dense", "sparse")
    _RIGHT_GROUPS = ("power", "interconnect", "price", "software")

    def __init__(self, theme: Theme, preferences: ProfilePreferences, formatter: Formatter) -> None:
        super().__init__(theme, preferences, formatter)
        left, right = (
            [self.add_section(group) for group in groups] for groups in (self._LEFT_GROUPS, self._RIGHT_GROUPS)
        )
        self.put(TwoColumns(theme, left, right, (50, 50)))
        self.end()

    def show_profile(self, tables: ProfileTables) -> None:
        for group in self.sections:
            self.show_table(group, tables, partial(ProfileTables.make_specification_table, group=group))
