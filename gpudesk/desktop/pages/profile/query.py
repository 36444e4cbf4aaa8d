"""The page's question about a scenario, and the background job that answers it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict, replace
from typing import Any, Final

from PySide6.QtCore import QObject

from gpudesk.desktop.pages.page import BackgroundQuery, QueryState
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.domain.answer import Scenario
from gpudesk.domain.diffusion import DiffusionSettings, DiffusionSoftware
from gpudesk.domain.precision import Precision
from gpudesk.domain.profile import AcceleratorProfile, OperatingMode, ProfileQuestion, RankingFactor
from gpudesk.estimation.diffusion import SIZE_LIMITS

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
