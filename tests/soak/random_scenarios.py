"""Random scenarios and random edits of them: all that controls and files may ask for, extremes included."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from gpudesk.desktop.session import scenario_edits
from gpudesk.domain.answer import MAX_ACCELERATORS, AcceleratorChoice, Scenario
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.estimation.request_fields import check_degrees
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError

_TOKENS = (1, 2, 17, 128, 1000, 2048, 8192, 32_000, 131_072, 1_000_000, 10**8)
_COUNTS = (1, 2, 3, 4, 6, 7, 8, 16, 32, 64, 72, 128, 1024, 100_000)
_REQUESTS = (1, 2, 3, 7, 64, 65, 256, 1000, 4096, 65_536, 10**6, 10**9)
_RATES = (1e-6, 0.001, 0.1, 1.0, 3.7, 40.0, 1000.0, 1e9)
_MILLISECONDS = (0.1, 1.0, 9.99, 20.0, 50.0, 200.0, 2000.0, 1e6, 1e12)
_DEGREES = (1, 1, 2, 3, 4, 8, 16, 72)


class RandomScenarios:
    """Makes scenarios, and edits them, with the parts, models and serving engines of a catalog."""

    def __init__(self, service: GpuDeskService) -> None:
        catalog = service.catalog
        self.parts = [part.id for part in catalog.accelerators()]
        self.models = [model.id for model in catalog.models()]
        self.engines = [engine.id for engine in catalog.serving_engines()]

    def scenario(self, random: Random) -> Scenario:
        random_scenario = Scenario(
            name=random.choice(("", "Chat", "A name of some length, with “quotes” & <marks>", "数" * 40)),
            model=random.choice(self.models),
            weights=random.choice(list(Precision)),
            kv=random.choice(list(KV_BYTES)),
            workload=Workload(random.choice(_TOKENS), random.choice(_TOKENS), load(random)),
            accelerators=(),
        )
        parts = tuple(self.choice(random) for _ in range(random.randint(1, MAX_ACCELERATORS)))
        return scenario_edits.fix_palette_indexes(replace(random_scenario, accelerators=parts))

    def choice(self, random: Random) -> AcceleratorChoice:
        fields: dict[str, Any] = {"count": random.choice((None, *_COUNTS))}
        if random.random() < 0.2:
            fields["attention_dp"] = random.choice((None, None, True, False))
            degrees = {name: random.choice((None, *_DEGREES)) for name in ("tp", "pp", "ep", "dp")}
            if _multiplies_up(degrees | fields):
                fields |= degrees
        fields["serving_engine"] = random.choice((None, None, None, None, *self.engines))
        return AcceleratorChoice(random.choice(self.parts), **fields)

    def edited(self, scenario: Scenario, random: Random) -> Scenario:
        return random.choice((self._of_model, self._of_load, self._of_parts, self._of_settings))(scenario, random)

    def _of_model(self, scenario: Scenario, random: Random) -> Scenario:
        changes: dict[str, Any] = random.choice(
            (
                {"model": random.choice(self.models)},
                {"weights": random.choice(list(Precision))},
                {"kv": random.choice(list(KV_BYTES))},
                {"serving_engine": random.choice((None, *self.engines))},
            )
        )
        return replace(scenario, **changes)

    def _of_load(self, scenario: Scenario, random: Random) -> Scenario:
        chance = random.random()
        if chance < 0.4:
            return scenario_edits.replace_workload(scenario, load=load(random))
        if chance < 0.6:
            return scenario_edits.replace_load_kind(scenario, random.choice(list(LoadKind)))
        name = random.choice(("input_tokens", "output_tokens"))
        return scenario_edits.replace_workload(scenario, **{name: random.choice(_TOKENS)})

    def _of_parts(self, scenario: Scenario, random: Random) -> Scenario:
        there = len(scenario.accelerators)
        if there == 0 or random.random() < 0.3:
            return scenario_edits.add_accelerator(scenario, random.choice(self.parts), random.choice((None, *_COUNTS)))
        position, target = random.randrange(there), random.randrange(there)
        plan = self.choice(random)
        return random.choice(
            (
                lambda: scenario_edits.remove_accelerator(scenario, position),
                lambda: scenario_edits.replace_accelerator(scenario, position, random.choice(self.parts)),
                lambda: scenario_edits.move_accelerator(scenario, position, target),
                lambda: scenario_edits.make_baseline(scenario, position),
                lambda: scenario_edits.replace_count(scenario, position, plan.count),
                lambda: scenario_edits.edit_accelerator(
                    scenario,
                    position,
                    **{
                        name: getattr(plan, name)
                        for name in ("count", "tp", "pp", "ep", "dp", "attention_dp", "serving_engine")
                    },
                ),
            )
        )()

    def _of_settings(self, scenario: Scenario, random: Random) -> Scenario:
        outside: dict[str, Any] = random.choice(
            (
                {"memory_fraction": random.choice((None, 1e-6, 0.3, 0.9, 1.0))},
                {"max_batch": random.choice((None, 1, 16, 10**8))},
                {"max_batched_tokens": random.choice((None, 1, 2048, 10**8))},
                {"date": random.choice((None, "2019-01", "2024-06", "2026-01", "2031-12"))},
                {},
            )
        )
        inside: dict[str, Any] = random.choice(
            (
                {"prefix_hit_rate": random.choice((0.0, 0.5, 1.0))},
                {"acceptance_length": random.choice((1.0, 2.5, 1000.0))},
                {"varied": random.random() < 0.5},
                {"server": random.choice((None, True, False))},
                {"eager": random.random() < 0.5},
            )
        )
        return scenario_edits.replace_workload(replace(scenario, **outside), **inside)


def _multiplies_up(degrees: dict[str, Any]) -> bool:
    try:
        check_degrees(degrees)
    except InputError:
        return False
    return True


def load(random: Random) -> Load:
    kind = random.choice(list(LoadKind))
    requests = random.choice(_REQUESTS)
    if kind is LoadKind.CONCURRENCY:
        return Load(kind, concurrency=requests, requests=random.choice((None, None, *_REQUESTS)))
    if kind is LoadKind.BATCH:
        return Load(kind, batch=requests)
    if kind is LoadKind.SATURATE:
        return Load(kind, requests=requests)
    if kind is LoadKind.REQUEST_RATE:
        return Load(kind, request_rate=random.choice(_RATES))
    return Load(
        kind,
        ttft_ms=random.choice(_MILLISECONDS),
        tpot_ms=random.choice(_MILLISECONDS),
        limit=random.choice(("p99", "mean")),
    )
