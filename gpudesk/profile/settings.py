"""The settings of profiles from the data file: tasks, jobs, modes, categories and thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.diffusion import DiffusionSettings
from gpudesk.domain.profile import OperatingMode, RankingFactor
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import parse_record

#: The category of accelerators that match no other.
OTHER_CATEGORY: Final = "other"


@frozen_dataclass
class ProfileTask:
    """A row of the capability matrix: models in order of preference.

    `settings` are those of an image or a video, None for language models.
    """

    id: str
    models: tuple[str, ...]
    settings: DiffusionSettings | None = None


@frozen_dataclass
class ProfileJob:
    """A kind of work, its minimum context in tokens, and the models made for it."""

    id: str
    context_tokens: int
    models: frozenset[str]


@frozen_dataclass
class AcceleratorCategory:
    """A category of accelerators, by prefixes of names or form factors."""

    id: str
    names: tuple[str, ...] = ()
    form_factors: tuple[str, ...] = ()

    def holds(self, accelerator: Accelerator) -> bool:
        in_form = bool(self.form_factors) and (accelerator.form_factor or "").startswith(self.form_factors)
        return in_form or (bool(self.names) and accelerator.name.startswith(self.names))


@frozen_dataclass
class RunsWellRule:
    """Minimum bits per weight, requests at once and single-request tokens/s of a model that runs well."""

    bits: int
    concurrency: int
    tokens_per_s: int


@frozen_dataclass
class EnoughRule:
    """Limits beyond which more does not improve a rank: free share of usable memory, tokens/s of a single request."""

    free_share: float
    tokens_per_s: float


@frozen_dataclass
class ProfileSettings:
    """The whole file; lists are in its order."""

    common_models: tuple[str, ...]
    counts: tuple[int, ...]
    generation_months: int
    strong_percentile: float
    weak_percentile: float
    high_price_usd: float
    out_of_reach: int
    upgrades: int
    upgrade_candidates: int
    recommendations: int
    rivals: int
    runs_well: RunsWellRule
    enough: EnoughRule
    modes: dict[OperatingMode, dict[RankingFactor, float]]
    categories: tuple[AcceleratorCategory, ...]
    tasks: tuple[ProfileTask, ...]
    jobs: tuple[ProfileJob, ...]

    def categorize(self, accelerator: Accelerator) -> str:
        return next((each.id for each in self.categories if each.holds(accelerator)), OTHER_CATEGORY)


def read_profile_settings(path: Path) -> ProfileSettings:
    """Return the content of the file; raises `InputError` that names file and place."""
    return parse_record(ProfileSettings, read_toml(path), f"{path}:")
