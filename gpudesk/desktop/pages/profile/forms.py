"""Forms of the page: how an image or a clip is made, and the user's own tiers of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.session.scenario_options import list_precision_options
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import ChoiceField, NumberField
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import FlowRow, make_column, scroll_into_view
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.domain.diffusion import DiffusionSettings, DiffusionSoftware
from gpudesk.domain.precision import Precision
from gpudesk.estimation.diffusion import SIZE_LIMITS
from gpudesk.report.diffusion import label_software
from gpudesk.report.profile_tables import ProfileRow
from gpudesk.text.formatting import NumberStyle
from gpudesk.text.translation import tr

_GAP: Final = 12
_HIGHEST_TIER: Final = 1000.0


class DiffusionForm(QWidget):
    """The settings of the selected image or video below its result; hidden where none is selected."""

    #: The key of the row and its `DiffusionSettings`, None where they are reset.
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
        self.result = ThemedLabel(theme, font="small", colour="text2", wrap=True)
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
        self.software.set_options([ChoiceOption(each.value, label_software(each)) for each in DiffusionSoftware])
        self.software.chosen.connect(lambda value: self._edit(software=DiffusionSoftware(value)))
        self.reset = LinkButton(theme, tr("Reset settings"))
        self.reset.clicked.connect(lambda: self.edited.emit(self._key, None))
        for widget in (self.weights, self.software, self.reset):
            fields.flow.addWidget(widget)
        make_column(self.result, fields, gap=4, margins=(0, 4, 0, 0), on=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hide()

    def show_row(self, row: ProfileRow | None, settings: DiffusionSettings | None) -> None:
        """Show how the item of a row is made; `settings` are the user's, None where there are none."""
        estimate = None if row is None else row.diffusion
        self.setVisible(estimate is not None)
        if row is None or estimate is None:
            return
        made = estimate.request
        weights = None if settings is None else settings.weights
        self.result.setText(row.sentence)
        self._key = row.key
        self._settings = DiffusionSettings(
            made.width, made.height, made.frames, made.steps, made.batch, weights, made.software
        )
        for name, field in self.numbers.items():
            field.set_value(getattr(made, name))
        self.numbers["frames"].setVisible(estimate.clip_s is not None)
        self.weights.set_value("" if weights is None else weights.value)
        self.software.set_value(made.software.value)
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
    """A model and the tier that the user gives it; the model is that of the selected row, or any other."""

    #: The id of a model and its tier, 0 for none.
    edited = Signal(str, float)
    #: All tiers are to go.
    reset_wanted = Signal()

    def __init__(self, theme: Theme, style: NumberStyle) -> None:
        super().__init__(theme, _GAP, (0, 0, 0, 0))
        self._tiers: Mapping[str, float] = {}
        self._name_of: Callable[[str], str] = str
        self.model = ChoiceField(theme, tr("Model"))
        self.model.chosen.connect(self.show_model)
        self.tier = NumberField(theme, tr("Your tier (0: none)"), NumberFormat(0, _HIGHEST_TIER, 1, style))
        self.tier.edited.connect(lambda tier: self.edited.emit(self.model.value, float(tier)))
        self.reset = LinkButton(theme, tr("Reset tiers"))
        self.reset.clicked.connect(self.reset_wanted)
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
