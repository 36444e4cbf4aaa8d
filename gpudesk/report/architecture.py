"""The drawing of an accelerator: its memory, dies, links and host, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.claim import AttributeClaims, is_figure
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import label_precision, shorten_name
from gpudesk.text.formatting import Formatter, Quantity
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, translate_data, trn
from gpudesk.text.units import GIB

#: Formats of the peak in the die, in order of relevance for serving.
_PEAKS = ("fp8", "bf16", "fp16", "int8")


@frozen_dataclass
class SketchedLink:
    """A link in bytes/s, None if unknown, its name, and its rate as text."""

    bandwidth: float | None
    name: str
    text: str


@frozen_dataclass
class ArchitectureSketch:
    """The content of a drawing. `memory_bytes` are shared evenly by the `stacks`, None if unknown.

    `scale_up` is None for an accelerator without such a link; its `domain` is the number that it joins. `unknown` names
    unpublished values, `sentence` describes the whole drawing.
    """

    die: tuple[str, ...]
    memory_bytes: int
    stacks: int | None
    memory: SketchedLink
    scale_up: SketchedLink | None
    domain: int | None
    host: SketchedLink
    unknown: tuple[str, ...]
    sentence: str


def sketch_architecture(
    accelerator: Accelerator, attributes: Mapping[str, AttributeClaims], formatter: Formatter
) -> ArchitectureSketch:
    """Return the drawing of an accelerator from its preferred values."""
    values = {name: claims.value for name, claims in attributes.items()}
    stacks = values.get("memory_stacks")
    stacks = stacks if isinstance(stacks, int) and stacks > 0 else None
    memory = SketchedLink(
        accelerator.memory_bandwidth,
        _name_memory(accelerator, stacks, formatter),
        formatter.catalog_with_unit(accelerator.memory_bandwidth, Quantity.MEMORY_BANDWIDTH),
    )
    scale_up = _sketch_scale_up(accelerator, formatter)
    generation = values.get("pcie_generation")
    name = tr("Host, PCIe {n}", n=f"{generation:g}") if is_figure(generation) else tr("Host")
    host = SketchedLink(accelerator.pcie_bandwidth, name, _format_link(accelerator.pcie_bandwidth, formatter))
    unknown = [tr("die size")]
    if stacks is None:
        unknown.append(tr("number of memory stacks"))
    if scale_up is not None and scale_up.bandwidth is None:
        unknown.append(tr("scale-up link"))
    if host.bandwidth is None:
        unknown.append(tr("host link"))
    die = _describe_die(accelerator, values, formatter)
    domain = accelerator.scale_up_domain if scale_up is not None else None
    links = tr("No scale-up link") if scale_up is None else f"{scale_up.name}: {scale_up.text}"
    sentence = tr(
        "{name}: {die}; {memory}, {bandwidth}. {links}. {host}: {speed}. Not known: {unknown}.",
        name=shorten_name(accelerator.name),
        die=", ".join(die),
        memory=memory.name,
        bandwidth=memory.text,
        links=links,
        host=host.name,
        speed=host.text,
        unknown=", ".join(unknown),
    )
    return ArchitectureSketch(
        die, accelerator.memory_bytes, stacks, memory, scale_up, domain, host, tuple(unknown), sentence
    )


def _name_memory(accelerator: Accelerator, stacks: int | None, formatter: Formatter) -> str:
    kind = accelerator.memory_type or tr("memory")
    total = _format_gib(accelerator.memory_bytes, formatter)
    if stacks is None or stacks == 1:
        return tr("{size} GiB {kind}", size=total, kind=kind)
    return tr(
        "{n} × {size} GiB {kind}",
        n=formatter.count(stacks),
        size=_format_gib(accelerator.memory_bytes / stacks, formatter),
        kind=kind,
    )


def _format_gib(size: float, formatter: Formatter) -> str:
    return formatter.exact(round(size / GIB, 1))


def _describe_die(accelerator: Accelerator, values: Mapping[str, object], formatter: Formatter) -> tuple[str, ...]:
    lines = [translate_data(str(values[name])) for name in ("architecture", "process_node") if values.get(name)]
    peak = next((name for name in _PEAKS if name in accelerator.peak_dense), None)
    if peak is not None:
        rate = formatter.number(accelerator.peak_dense[peak] / 1e12)
        unit = "TOPS" if peak.startswith("int") else "TFLOPS"
        lines.append(tr("{rate} {unit} {precision}", rate=rate, unit=unit, precision=label_precision(peak)))
    return tuple(lines) or (capitalize_first(tr("architecture not known")),)


def _sketch_scale_up(accelerator: Accelerator, formatter: Formatter) -> SketchedLink | None:
    domain, bandwidth = accelerator.scale_up_domain, accelerator.scale_up_bandwidth
    if accelerator.lacks_scale_up:
        return None
    name = tr("Scale-up link")
    if domain is not None:
        name = trn("Scale-up, {n} accelerator", "Scale-up, {n} accelerators", domain, n=formatter.count(domain))
    return SketchedLink(bandwidth, name, _format_link(bandwidth, formatter))


def _format_link(bandwidth: float | None, formatter: Formatter) -> str:
    return tr("not known") if bandwidth is None else formatter.catalog_with_unit(bandwidth, Quantity.LINK_BANDWIDTH)
