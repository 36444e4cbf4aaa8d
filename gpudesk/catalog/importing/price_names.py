"""Accelerator names in price lists and the catalog entries they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gpudesk.frozen_dataclass import frozen_dataclass

#: Tolerance of a stated memory size against the label.
_TOLERANCE: Final = 0.07


class NameMismatch(StrEnum):
    """Why a name matches no accelerator of the catalog."""

    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"
    OTHER_PART = "other part"


@frozen_dataclass
class _NameVariant:
    """One accelerator that a name can mean; `part` is None for one outside the catalog."""

    part: str | None
    form: str | None = None
    memory_gb: float | None = None


def _make_single(part: str) -> tuple[_NameVariant, ...]:
    return (_NameVariant(part),)


#: Name without maker, separators, size and form -> its possible meanings.
_FAMILIES: Final[Mapping[str, tuple[_NameVariant, ...]]] = {
    "A100": (
        _NameVariant("a100-80gb-sxm", "sxm", 80),
        _NameVariant("a100-80gb-pcie", "pcie", 80),
        _NameVariant("a100-40gb-sxm", "sxm", 40),
        _NameVariant("a100-40gb-pcie", "pcie", 40),
    ),
    "H100": (
        _NameVariant("h100-sxm", "sxm", 80),
        _NameVariant("h100-pcie", "pcie", 80),
        _NameVariant("h100-nvl-94gb", "nvl", 94),
    ),
    "H200": (_NameVariant("h200-sxm", "sxm", 141), _NameVariant("h200-nvl", "nvl", 141)),
    "GH200": (_NameVariant("gh200-96gb", memory_gb=96), _NameVariant("gh200-144gb", memory_gb=144)),
    "B200": _make_single("b200-hgx"),
    "B300": _make_single("b300-hgx"),
    "GB200": _make_single("gb200-nvl72"),
    "GB300": _make_single("gb300-nvl72"),
    "VR200": _make_single("vera-rubin-nvl72"),
    "H20": (_NameVariant("h20-96gb", memory_gb=96), _NameVariant("h20-141gb", memory_gb=141)),
    "V100": (
        _NameVariant("v100-32gb-sxm2", "sxm", 32),
        _NameVariant(None, "sxm", 16),
        _NameVariant(None, "pcie", 32),
        _NameVariant(None, "pcie", 16),
    ),
    "T4": _make_single("t4"),
    "A10": _make_single("a10"),
    "A30": _make_single("a30"),
    "A40": _make_single("a40"),
    "L4": _make_single("l4"),
    "L40": _make_single("l40"),
    "L40S": _make_single("l40s"),
    "GB10": _make_single("gb10"),
    "DGXSPARK": _make_single("gb10"),
    "RTX6000ADA": _make_single("rtx-6000-ada"),
    "RTX6000ADAGENERATION": _make_single("rtx-6000-ada"),
    "RTX4090": _make_single("rtx-4090"),
    "RTX5090": _make_single("rtx-5090"),
    **dict.fromkeys(
        (
            "RTXPRO6000",
            "RTXPRO6000S",
            "RTXPRO6000SE",
            "RTXPRO6000WS",
            "RTXPRO6000WK",
            "RTXPRO6000SERVER",
            "RTXPRO6000BLACKWELL",
            "RTXPRO6000BLACKWELLSERVEREDITION",
            "RTXPRO6000BLACKWELLWORKSTATIONEDITION",
        ),
        _make_single("rtx-pro-6000-blackwell"),
    ),
    "MI210": _make_single("mi210"),
    "MI250X": _make_single("mi250x"),
    "MI300A": _make_single("mi300a"),
    "MI300X": _make_single("mi300x"),
    "MI308X": _make_single("mi308x"),
    "MI325X": _make_single("mi325x"),
    "MI350X": _make_single("mi350x"),
    "MI355X": _make_single("mi355x"),
    "MI455X": _make_single("mi455x"),
    "GAUDI2": _make_single("gaudi2"),
    "HL225": _make_single("gaudi2"),
    "GAUDIHL225": _make_single("gaudi2"),
    "GAUDI3": _make_single("gaudi3"),
    "INFERENTIA2": _make_single("inferentia2"),
    "TRAINIUM": _make_single("trainium1"),
    "TRAINIUM1": _make_single("trainium1"),
    "TRAINIUM2": _make_single("trainium2"),
    "TRAINIUM3": _make_single("trainium3"),
}
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
    variants = (variant.part for family in _FAMILIES.values() for variant in family)
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
    families = [each for each in _FAMILIES if bare.startswith(each) and _is_size_or_form(bare[len(each) :])]
    if not families:
        return NameMismatch.UNKNOWN
    family = max(families, key=len)
    variants = _FAMILIES[family]
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


def _is_size_or_form(rest: str) -> bool:
    return _SIZE_AND_FORM.fullmatch(rest) is not None


def _is_similar_memory(memory: float, label: float | None) -> bool:
    return label is None or abs(memory - label) <= _TOLERANCE * label


def _find_form(text: str) -> str | None:
    return next((form for form, pattern in _FORMS if pattern.search(text)), None)


def _find_instance_form(instance: str) -> str | None:
    return next((form for form, pattern in _INSTANCES if pattern.match(instance)), None)
