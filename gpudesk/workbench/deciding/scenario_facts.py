"""What is known of a scenario as a whole, under the names that conditions of rules use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.cost_inputs import Origin
from gpudesk.domain.decisions import Fact, Facts
from gpudesk.domain.estimates import Estimate, Limiter
from gpudesk.domain.models import Attention, Model, MoeFfn
from gpudesk.domain.units import GB
from gpudesk.workbench.deciding.part_facts import PartView, likely_input, number_of

_BILLION: Final = 1e9


def scenario_facts(answer: Answer, views: Sequence[PartView], parts: Sequence[Facts]) -> dict[str, Fact]:
    """Return the facts of an answered scenario; `parts` are those of its columns."""
    return {
        **_model(answer),
        **_needs(views, parts),
        **_counts(parts),
        **_load(views, parts),
        **_costs(views),
    }


def _model(answer: Answer) -> dict[str, Fact]:
    model, work = answer.model, answer.scenario.workload
    parameters = answer.model_attributes.get("total_parameters")
    total = None if parameters is None else parameters.value
    context = model.max_context
    return {
        "has_model": True,
        "model_id": model.id,
        "model_moe": has_experts(model),
        "standard_model": not has_experts(model) and _plain_attention(model),
        "params_b": total / _BILLION if isinstance(total, (int, float)) else None,
        "context_tokens": float(work.input_tokens + work.output_tokens),
        "model_context": None if context is None else float(context),
    }


def has_experts(model: Model) -> bool:
    """Whether some layers are mixtures of experts."""
    return any(isinstance(group.ffn, MoeFfn) for group in model.layers)


def _plain_attention(model: Model) -> bool:
    """Whether every layer attends to all tokens in the common way."""
    return all(
        isinstance(group.mixer, Attention) and group.mixer.window is None
        for group in model.layers
        if group.mixer is not None
    )


def _needs(views: Sequence[PartView], parts: Sequence[Facts]) -> dict[str, Fact]:
    """Return what one request, and all in flight, take; vendors' own formats differ by little."""
    one = next((part for part in parts if part.get("needs_alone_gb") is not None), None)
    if one is None:
        return {}
    weights, kv_one = number_of(one, "alone_weights_gb"), number_of(one, "kv_one_gb")
    return {
        "weights_gb": weights,
        "needs_gb": None if weights is None or kv_one is None else weights + kv_one,
        "kv_some_short": _some_short(parts),
        "least_memory_gb": min(view.column.accelerator.memory_bytes for view in views) / GB,
    }


def _some_short(parts: Sequence[Facts]) -> bool | None:
    """Whether the requests in flight need more KV cache than a deployment has room for; None if not known."""
    pairs = [(number_of(part, "kv_needed_gb"), number_of(part, "kv_room_gb")) for part in parts]
    known = [needed > room for needed, room in pairs if needed is not None and room is not None]
    return any(known) if known else None


def _counts(parts: Sequence[Facts]) -> dict[str, Fact]:
    alone = [part.get("fits_alone") for part in parts]
    counts = [each for each in (number_of(part, "count") for part in parts) if each is not None]
    hosts = [each for each in (number_of(part, "hosts") for part in parts) if each is not None]
    held = [each for each in (number_of(part, "models_held") for part in parts) if each is not None]
    several = len(counts) > 1
    return {
        "all_fit_alone": None if None in alone else all(alone),
        "some_fit_alone": None if None in alone else any(alone),
        "fewest_count": min(counts) if several else None,
        "most_count": max(counts) if counts else None,
        "most_hosts": max(hosts) if hosts else None,
        "coverage_most": max(held) if len(held) > 1 else None,
        "coverage_least": min(held) if len(held) > 1 else None,
    }


def _load(views: Sequence[PartView], parts: Sequence[Facts]) -> dict[str, Fact]:
    shares = [each for each in (number_of(part, "decode_share") for part in parts) if each is not None]
    traffic = [each for each in (number_of(part, "host_traffic_gbs") for part in parts) if each is not None]
    return {
        "bound_by": _binding(view.estimate for view in views),
        "decode_share": sum(shares) / len(shares) if shares else None,
        "host_traffic_most_gbs": max(traffic) if traffic else None,
    }


def _binding(estimates: Iterable[Estimate | None]) -> str | None:
    """Return what binds most of the deployments; of as many, the one that comes first among limiters."""
    limiters = Counter(each.limiter for each in estimates if each is not None and each.limiter is not None)
    if not limiters:
        return None
    order = list(Limiter)
    return min(limiters, key=lambda limiter: (-limiters[limiter], order.index(limiter))).value


def _costs(views: Sequence[PartView]) -> dict[str, Fact]:
    if not views:
        return {}
    costs = views[0].costs
    fleet = costs.inputs.get("fleet")
    # How many share their software is assumed for costs; of an order nobody has said anything then.
    stated = fleet is not None and fleet.origin is Origin.YOURS
    return {
        "years": likely_input(costs, "years"),
        "fleet": likely_input(costs, "fleet") if stated else None,
    }


def with_platforms(
    current: Fact, part: Mapping[str, Fact], widest: int, engines_by_platform: Mapping[str, int]
) -> dict[str, Fact]:
    """Return what follows for a column from the platform that software runs on, and from how wide its is."""
    platform = part.get("platform")
    needs_port = _needs_port(current, platform)
    wide = max((engines_by_platform.get(name, 0) for name in str(platform).split(", ")), default=0)
    return {"needs_port": needs_port, "widest_software": wide >= widest}


def _needs_port(current: Fact, platform: Fact) -> bool | None:
    """Whether software has to be ported to a platform; from one without a name only to the common ones."""
    if not isinstance(current, str) or not isinstance(platform, str):
        return None
    names = platform.split(", ")
    if current == "other":
        return True if set(names) & {"CUDA", "ROCm"} else None
    return current != "none" and current not in names
