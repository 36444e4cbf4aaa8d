"""The names of a profile's tasks, jobs, resources and factors, and its headline specifications."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, is_figure
from gpudesk.domain.diffusion import DiffusionEstimate, DiffusionSoftware
from gpudesk.domain.profile import AcceleratorProfile, Capability, CapabilityStatus
from gpudesk.domain.registry import ATTRIBUTES, find_quantity
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.attribute_rows import is_user_chosen
from gpudesk.report.diffusion import describe_diffusion_item
from gpudesk.report.labels import label_attribute_alone
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, Quantity, convert_to_display_unit, get_display_unit
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr

_TASKS: Final = {
    "chat_7b": "Chat, 8B",
    "coding_30b": "Coding, 30B",
    "large_70b": "Large, 70B",
    "huge_405b": "Dense, 405B",
    "moe_1t": "MoE, 1T",
    "image": "Image",
    "video": "Video",
    "video_short": "Short video",
    "video_long": "Long video",
}
_JOBS: Final = {
    "chat": "Chat",
    "coding": "Coding",
    "agentic": "Agents",
    "reasoning": "Reasoning",
    "rag": "RAG",
    "vision": "Vision",
}
_RESOURCES: Final = {
    "memory": "Memory",
    "bandwidth": "Memory bandwidth",
    "compute": "Compute",
    "links": "Links",
    "host": "Host",
    "power": "Power",
}


def label_task(task: str) -> str:
    return tr(_TASKS[task]) if task in _TASKS else capitalize_first(task.replace("_", " "))


def label_job(job: str) -> str:
    return tr(_JOBS[job]) if job in _JOBS else capitalize_first(job)


def label_resource(resource: str) -> str:
    return tr(_RESOURCES[resource]) if resource in _RESOURCES else capitalize_first(resource)


def format_status(capability: Capability, formatter: Formatter) -> str:
    """Return how a task is done, with the count if several are needed."""
    count = capability.count or 1
    texts = {
        CapabilityStatus.NATIVE: tr("as published"),
        CapabilityStatus.QUANTIZED: tr("quantized"),
        CapabilityStatus.NEEDS_MORE: tr("split over {count}", count=formatter.count(count)),
        CapabilityStatus.IMPOSSIBLE: tr("not possible"),
        CapabilityStatus.UNKNOWN: tr("unknown"),
    }
    return texts[capability.status]


def format_diffusion_settings(estimate: DiffusionEstimate, formatter: Formatter) -> str:
    """Return how an image or a video is made; the software if unusual."""
    request = estimate.request
    item = describe_diffusion_item(request, None, formatter)
    return item if request.software is DiffusionSoftware.COMPILED else f"{item}, {request.software.label}"


@frozen_dataclass
class HeadlineSpecification:
    """A headline figure: attribute, label, text, unit, and whether sources disagree."""

    attribute: str
    label: str
    text: str
    unit: str
    is_disputed: bool
    is_user_value: bool

    @property
    def sentence(self) -> str:
        value = f"{self.text} {self.unit}".rstrip()
        disputed = tr("sources disagree") if self.is_disputed else ""
        return ", ".join(part for part in (self.label, value, disputed) if part)


def make_headline_specification(name: str, profile: AcceleratorProfile, formatter: Formatter) -> HeadlineSpecification:
    claims = profile.attributes.get(name)
    quantity = find_quantity(name, ATTRIBUTES[name].unit)
    label = label_attribute_alone(name)
    price = next((each.value for each in profile.peers if each.attribute == "price"), None)
    if name == PRICE_BOUND_ATTRIBUTES[0] and price is not None:
        # The price of the advice, the peers and the upgrades, from all prices on record.
        disputed, own = claims is not None and claims.disputed, claims is not None and is_user_chosen(claims)
        unit = tr("USD in a system") if profile.is_system_price else tr("USD")
        return HeadlineSpecification(name, label, formatter.number(price), unit, disputed, own)
    if claims is None or not is_figure(claims.value):
        return HeadlineSpecification(name, label, MISSING_VALUE_TEXT, tr("not known"), False, False)
    unit = get_display_unit(quantity) or ""
    if name == "memory":
        unit = f"{unit} {profile.accelerator.memory_type or ''}".rstrip()
    text = format_specification(claims.value, quantity, formatter)
    return HeadlineSpecification(name, label, text, unit, claims.disputed, is_user_chosen(claims))


def format_specification(value: float, quantity: Quantity, formatter: Formatter) -> str:
    """Return a catalog figure without its unit, equal in the header and among the peers."""
    displayed_value = convert_to_display_unit(value, quantity)
    is_whole = displayed_value >= 100 and quantity is not Quantity.MEMORY
    return formatter.number(displayed_value) if is_whole else formatter.catalog(value, quantity)
