"""Plans that are worth timing: what a step of each has to do, and how fast its part and serving engine do it.

As in `setups`, nothing here depends on the lengths or the load.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import Message, message
from gpudesk.engine.constants import Calibration
from gpudesk.engine.hardware import Link
from gpudesk.engine.memory import MemoryBudget, MemorySettings
from gpudesk.engine.operating import step_row
from gpudesk.engine.rates import Rates, constant_keys, looked_up, rates
from gpudesk.engine.steps import StepRow
from gpudesk.engine.work import Offer, Situation, Work, is_dispatched, offer, work
from gpudesk.workbench.setups import Frame, Placement


@dataclass(frozen=True, slots=True)
class Candidate:
    """A placement that is worth timing: its step coefficients, and their position in the table of rows.

    `plan_note` names the plan where the program chose it; `notes` say what is particular to the plan.
    """

    plan: ParallelPlan
    budget: MemoryBudget
    situation: Situation
    offered: Offer
    work: Work
    rates: Rates
    row: StepRow
    position: int
    plan_note: Message
    notes: tuple[Message, ...]


def situation_of(request: EstimateRequest, frame_: Frame, placed: Placement) -> Situation:
    """Return what sets the speed of a placement."""
    return Situation(
        accelerator=frame_.accelerator,
        family=frame_.engine.family,
        weights=frame_.weights,
        arithmetic=frame_.kernel.arithmetic,
        kv=frame_.kv,
        plan=placed.plan,
        months_old=frame_.months_old,
        eager=request.workload.eager,
        server=request.workload.behind_server,
        acceptance_length=request.workload.acceptance_length,
        max_batched_tokens=placed.settings.max_batched_tokens,
        max_batch=placed.settings.max_batch,
        mixed_steps=frame_.mixed_steps,
        kv_on_demand=frame_.kv_on_demand,
        present_runtime=frame_.present_runtime,
    )


def candidate(
    request: EstimateRequest, frame_: Frame, placed: Placement, calibration: Calibration, position: int
) -> Candidate:
    """Work out the step coefficients of a placement, which will stand at `position` in the table."""
    plan, budget, settings = placed.plan, placed.budget, placed.settings
    situation = situation_of(request, frame_, placed)
    offered = offer(situation, frame_.model, calibration.value("node_bandwidth", {}))
    counted = work(situation, frame_.model, budget.shards, budget.cache, offered)
    constant = looked_up(calibration, constant_keys(situation, frame_.model, offered))
    reached = rates(constant, counted)
    row = step_row(counted, reached)
    notes = _link_notes(plan, offered)
    if settings is not frame_.settings:
        notes += _leaner_notes(settings, frame_.settings)
    return Candidate(
        plan, budget, situation, offered, counted, reached, row, position, _plan_note(plan), notes
    )


def _plan_note(plan: ParallelPlan) -> Message:
    name = "estimate.plan_chosen_attention_dp" if plan.attention_dp else "estimate.plan_chosen"
    return message(name, tp=plan.tp, pp=plan.pp, ep=plan.ep, dp=plan.dp)


def _leaner_notes(settings: MemorySettings, usual: MemorySettings) -> tuple[Message, ...]:
    notes: tuple[Message, ...] = ()
    if settings.max_batched_tokens < usual.max_batched_tokens:
        notes += (message("estimate.smaller_chunk", tokens=settings.max_batched_tokens),)
    if settings.max_batch < usual.max_batch:
        notes += (message("estimate.smaller_batch", sequences=settings.max_batch),)
    return notes


def _link_notes(plan: ParallelPlan, offered: Offer) -> tuple[Message, ...]:
    used = {offered.link.kind: offered.link} if plan.tp > 1 else {}
    if is_dispatched(plan):
        used[offered.dispatch_link.kind] = offered.dispatch_link
    if plan.pp > 1:
        used[offered.stage_link.kind] = offered.stage_link
    return tuple(_link_note(each) for kind, each in used.items() if kind != "scale-up")


def _link_note(used: Link) -> Message:
    name = "estimate.over_pcie" if used.kind == "pcie" else "estimate.between_hosts"
    return message(name, bandwidth=(used.bandwidth, "B/s"))
