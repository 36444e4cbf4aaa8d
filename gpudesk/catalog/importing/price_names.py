"""Accelerator names in price lists and the catalog entries they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final

from gpudesk import paths
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import parse_record

#: Tolerance of a stated memory size against the label.
_TOLERANCE: Final = 0.07


class NameMismatch(StrEnum):
    """Why a name matches no accelerator of the catalog."""

    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"
    OTHER_PART = "other part"


@frozen_dataclass
class NameVariant:
    """One accelerator that a name can mean; `part` is None for one outside the catalog."""

    part: str | None = None
    form: str | None = None
    memory_gb: float | None = None


@frozen_dataclass
class PriceListNames:
    """The content of data/price_names.toml, where its parts are described."""

    accelerators: dict[str, tuple[NameVariant, ...]]
    providers: dict[str, str]


@cache
def read_price_names() -> PriceListNames:
    path = paths.get_data_path("price_names.toml")
    return parse_record(PriceListNames, read_toml(path), f"{path}:")


#: Name of a TPU -> its accelerator, and how many counted units make one chip.
_TPUS: Final[Mapping[str, tuple[str, int]]] = {
    "v5e": ("tpu-v5e", 1),
    "v5litepod": ("tpu-v5e", 1),
    "v5p": ("tpu-v5p", 2),
    "v6e": ("tpu-v6e", 1),
}
_TPU_NAME: Final = re.compile(r"(?:tpu-?)?(v[0-9][a-z]*)(?:-([0-9]{1,5}))?", re.IGNORECASE)
#: Without a stated form: the form usually rented by that name.
_USUAL_FORM: Final = {"H200": "sxm"}

_MAKERS: Final = re.compile(r"\b(?:nvidia|amd|intel|aws|instinct|geforce|tesla|radeon|habana)\b", re.IGNORECASE)
_SIZE_AND_FORM: Final = re.compile(
    r"(?:HGX|OAM|SXM[2-9]?|PCIE|NVLINK|NVL(?:72|2)?|MEGA|HBM3E?|[0-9]{2,3}GI?B?)*", re.IGNORECASE
)
_SIZE: Final = re.compile(r"(?<![0-9])([0-9]{2,3}) ?Gi?B?(?![a-z0-9])", re.IGNORECASE)
_FORMS: Final = (
    ("sxm", re.compile(r"sxm|mega|hgx", re.IGNORECASE)),
    ("pcie", re.compile(r"pcie", re.IGNORECASE)),
    ("nvl", re.compile(r"nvl(?!ink|72)", re.IGNORECASE)),
)
#: Instances whose name omits the form, but whose provider documents it.
_INSTANCES: Final = (
    ("sxm", re.compile(r"p4d\.|p4de\.|p5\.|p5e\.|p5en\.|a2-\w+gpu|a3-|standard_nd|bm\.gpu", re.IGNORECASE)),
    ("nvl", re.compile(r"standard_nc\w*h100", re.IGNORECASE)),
    ("pcie", re.compile(r"standard_nc\w*a100", re.IGNORECASE)),
)


@frozen_dataclass
class NamedAccelerator:
    """The accelerator of a name, and how many of it the name alone counts (chips of a slice)."""

    part: str
    chips: float | None = None


class AcceleratorNames:
    """Finds accelerators by their names in lists. `parts` are the ids and names of the catalog, shipped and own."""

    def __init__(self, parts: Mapping[str, str] | None = None) -> None:
        """Take the existing accelerators; without any, all known in lists."""
        known_parts = dict.fromkeys(list_known_accelerators(), "") if parts is None else parts
        self._parts = frozenset(known_parts)
        self._own = {_simplify_name(each): part for part, name in known_parts.items() for each in (part, name) if each}
        self._matches: dict[tuple[str, float | None, str], NamedAccelerator | NameMismatch] = {}

    def find(self, name: str, memory_gb: float | None = None, instance: str = "") -> NamedAccelerator | NameMismatch:
        key = (name, memory_gb, instance)
        if key not in self._matches:
            self._matches[key] = self._look_up(*key)
        return self._matches[key]

    def _look_up(self, name: str, memory_gb: float | None, instance: str) -> NamedAccelerator | NameMismatch:
        if (own := self._own.get(_simplify_name(name))) is not None:
            return NamedAccelerator(own)
        match = _match_tpu(name) or _match_family(name, memory_gb, instance)
        if isinstance(match, NamedAccelerator) and match.part not in self._parts:
            return NameMismatch.UNKNOWN
        return match


def list_known_accelerators() -> frozenset[str]:
    variants = (variant.part for family in read_price_names().accelerators.values() for variant in family)
    return frozenset(part for part in variants if part) | {part for part, _ in _TPUS.values()}


def _simplify_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _match_tpu(name: str) -> NamedAccelerator | None:
    """Return the accelerator of a TPU; a slice is named by its chips or cores, `v6e-8`."""
    match = _TPU_NAME.fullmatch(name.strip())
    if match is None or match[1].lower() not in _TPUS:
        return None
    part, each = _TPUS[match[1].lower()]
    return NamedAccelerator(part, None if match[2] is None else max(int(match[2]), 1) / each)


def _match_family(name: str, memory_gb: float | None, instance: str) -> NamedAccelerator | NameMismatch:
    bare = re.sub(r"[^A-Za-z0-9]+", "", _MAKERS.sub("", name)).upper()
    known = read_price_names().accelerators
    families = [each for each in known if bare.startswith(each) and _SIZE_AND_FORM.fullmatch(bare[len(each) :])]
    if not families:
        return NameMismatch.UNKNOWN
    family = max(families, key=len)
    variants = known[family]
    size = _SIZE.search(name)
    memory = float(size[1]) if size else memory_gb
    form = _find_form(name) or _find_form(instance) or _find_instance_form(instance)
    if memory is not None:
        variants = tuple(each for each in variants if _is_similar_memory(memory, each.memory_gb))
    fitting = tuple(each for each in variants if form is None or each.form in (None, form))
    if len(fitting) > 1 and form is None:
        fitting = tuple(each for each in fitting if each.form == _USUAL_FORM.get(family)) or fitting
    parts = {each.part for each in fitting}
    if len(parts) > 1:
        return NameMismatch.AMBIGUOUS
    part = next(iter(parts), None)
    return NameMismatch.OTHER_PART if part is None else NamedAccelerator(part)


def _is_similar_memory(memory: float, label: float | None) -> bool:
    return label is None or abs(memory - label) <= _TOLERANCE * label


def _find_form(text: str) -> str | None:
    return next((form for form, pattern in _FORMS if pattern.search(text)), None)


def _find_instance_form(instance: str) -> str | None:
    return next((form for form, pattern in _INSTANCES if pattern.match(instance)), None)
