"""Every rule of the documents fires where it should, is silent elsewhere, and does what it says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pytest

from gpudesk import paths
from gpudesk.decision.rules.conditions import parse_condition
from gpudesk.decision.rules.data_files import read_rules
from gpudesk.decision.rules.scoring import (
    TESTED_FIGURES,
    find_shown_figure,
    list_tested_figures,
    resolve_rule_weight,
    trace_rules,
)
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.claim import Dispute, Source
from gpudesk.domain.decision import QUESTIONS, FactValue, RuleEffect, RuleStrength
from gpudesk.service import GpuDeskService

RULES = {rule.id: rule for rule in read_rules(paths.get_data_path("rules"))}
Named = Mapping[str, FactValue]
NOTHING: Named = MappingProxyType({})


class Try(NamedTuple):
    """Facts of a scenario under which a rule fires, and under which it does not; two parts with effects."""

    fires: Named
    silent: Named
    one: Named = NOTHING
    other: Named = NOTHING
    effects: tuple[RuleEffect, RuleEffect] = (RuleEffect.NONE, RuleEffect.NONE)


FAVORS = (RuleEffect.FAVORS, RuleEffect.NONE)
REMOVES = (RuleEffect.PASSES, RuleEffect.REMOVES)
CHECKS = (RuleEffect.PASSES, RuleEffect.NONE)
CUDA, ROCM = {"platform": "CUDA"}, {"platform": "ROCm"}
STAYS, MOVES = {"needs_port": False}, {"needs_port": True}
WIDE, NARROW = {"widest_software": True}, {"widest_software": False}
FITS, NOT = {"fits": True}, {"fits": False}


def leads(name: str) -> tuple[Named, Named]:
    return {f"leads_{name}": True}, {f"leads_{name}": False}


#: One accelerator that stays on one host, and one on two with a slower link than others.
LINKED = ({"hosts": 1.0, "leads_link": False}, {"hosts": 2.0, "leads_link": False})

TRIES: dict[str, Try] = {
    "D000-01": Try(
        {"needs_gb": 405.0, "shape": "one"},
        {"needs_gb": 140.0, "shape": "one"},
        {"fits_alone": True},
        {"fits_alone": False},
        REMOVES,
    ),
    "D000-02": Try({"priority": "cost"}, {"priority": "speed"}, *leads("cost"), FAVORS),
    "D000-03": Try({"team": "rocm"}, {"team": None}, ROCM, CUDA, FAVORS),
    "D000-04": Try({"long_context": "yes"}, {"long_context": "no"}, *leads("kv_room"), FAVORS),
    "D000-05": Try({"months_to_launch": 15.0}, {"months_to_launch": None}, ROCM, CUDA, FAVORS),
    "D000-06": Try(
        {"serving_engine": "tensorrt-llm"},
        {"serving_engine": "vllm"},
        {"runs_engine": True},
        {"runs_engine": False},
        REMOVES,
    ),
    "D000-07": Try({"tuning": "full"}, {"tuning": "tuned"}, WIDE, NARROW, REMOVES),
    "D000-08": Try({"all_fit_alone": True}, {"all_fit_alone": False, "some_fit_alone": False}, STAYS, MOVES, FAVORS),
    "D000-09": Try({"priority": "certainty"}, {"priority": "cost"}, WIDE, NARROW, FAVORS),
    "D000-10": Try({"porting": "no"}, {"porting": "yes"}, STAYS, MOVES, REMOVES),
    "D000-11": Try({"fleet": 64.0}, {"fleet": 8.0}),
    "D000-12": Try({"tuned_for": "cuda"}, {"tuned_for": "nothing"}, CUDA, ROCM, FAVORS),
    "D000-13": Try({"tuning": "own_code"}, {"tuning": "tuned"}, *leads("bandwidth"), FAVORS),
    "D000-14": Try({"current_platform": "CUDA"}, {"current_platform": "none"}, STAYS, MOVES, FAVORS),
    "D000-15": Try(
        {"monthly_hours": 800.0, "acquisition": "rent"},
        {"monthly_hours": 800.0, "acquisition": "own"},
        {"pays_back": True},
        {"pays_back": False},
        FAVORS,
    ),
    "D000-16": Try(
        {"monthly_hours": 10_000.0, "acquisition": "rent"},
        {"monthly_hours": 9_999.0, "acquisition": "rent"},
        {"pays_back": True},
        {"pays_back": False},
        FAVORS,
    ),
    "D000-17": Try(
        {"monthly_hours": 1e6, "acquisition": "rent"},
        {"monthly_hours": 1e5, "acquisition": "rent"},
        {"pays_back": True},
        {"pays_back": False},
        FAVORS,
    ),
    "D000-18": Try(
        {"adoption_months": 9.0, "some_need_port": True},
        {"adoption_months": 9.0, "some_need_port": False},
        MOVES,
        STAYS,
        FAVORS,
    ),
    "D000-19": Try({"bound_by": "memory bandwidth"}, {"bound_by": "overhead"}, *leads("bandwidth"), FAVORS),
    "D000-20": Try({"work": "training"}, {"work": "serving"}, CUDA, ROCM, FAVORS),
    "D000-21": Try({"vendor_policy": "shared_pool"}, {"vendor_policy": "two_pools"}),
    "D000-22": Try(
        {"shape": "several"},
        {"shape": "one", "all_fit_alone": True},
        {"leads_memory": False},
        {"leads_memory": True},
        FAVORS,
    ),
    "D000-23": Try(
        {"work": "multimodal", "precision": "unquantised"},
        {"work": "multimodal", "precision": "any"},
        *leads("memory"),
        FAVORS,
    ),
    "D000-24": Try({"priority": "speed"}, {"priority": "balanced"}, *leads("tpot"), FAVORS),
    "D000-25": Try({"all_fit_alone": True}, {"all_fit_alone": None}, STAYS, MOVES, FAVORS),
    "D000-26": Try({"months_to_launch": 3.0}, {"months_to_launch": None}),
    "D000-27": Try(
        {"host_traffic_most_gbs": 0.1},
        {"host_traffic_most_gbs": None},
        {"host_traffic_gbs": 0.1, "host_link_gbs": 64.0},
        {"host_traffic_gbs": 100.0, "host_link_gbs": 64.0},
        CHECKS,
    ),
    "D000-28": Try({"site": "oam"}, {"site": "open"}, FITS, NOT, CHECKS),
    "D001-01": Try(
        {"fewest_count": 2.0, "most_count": 6.0}, {"fewest_count": 3.0, "most_count": 6.0}, *leads("count"), FAVORS
    ),
    "D001-02": Try(
        {"kv_some_short": True},
        {"kv_some_short": None},
        {"kv_room_gb": 300.0, "kv_needed_gb": 90.0, "leads_kv_room": False},
        {"kv_room_gb": 70.0, "kv_needed_gb": 90.0, "leads_kv_room": False},
        FAVORS,
    ),
    "D001-03": Try(
        {"acquisition": "rent"}, {"acquisition": "undecided"}, {"rent_providers": 6.0}, {"rent_providers": 1.0}, FAVORS
    ),
    "D001-04": Try({"all_fit_alone": True}, {"all_fit_alone": False, "some_fit_alone": False}, STAYS, MOVES, FAVORS),
    "D001-05": Try({"tuning": "untuned"}, {"tuning": "own_code"}, WIDE, NARROW, FAVORS),
    "D001-06": Try({"kv_some_short": True, "all_fit_alone": True}, {"kv_some_short": None, "all_fit_alone": True}),
    "D001-07": Try({"params_b": 405.0}, {"params_b": 70.0}, *leads("throughput_each"), FAVORS),
    "D001-08": Try({"decode_share": 0.2}, {"decode_share": None}, *leads("compute"), FAVORS),
    "D001-09": Try({"api_checked": "no"}, {"api_checked": None}),
    "D001-10": Try(
        {"serving_engine": "vllm"}, {"serving_engine": "any"}, {"runs_engine": True}, {"runs_engine": False}, CHECKS
    ),
    "D002-01": Try({"bound_by": "capacity"}, {"bound_by": "memory bandwidth"}, *leads("kv_room"), FAVORS),
    "D002-02": Try({"priority": "speed"}, {"priority": "users"}, *leads("throughput_each"), FAVORS),
    "D002-03": Try(
        {"budget_usd": 1e5, "long_context": "yes", "acquisition": "own"},
        {"budget_usd": 1e5, "long_context": "yes", "acquisition": "rent"},
        {"spend_usd": 80_000.0},
        {"spend_usd": 120_000.0},
        FAVORS,
    ),
    "D002-04": Try({"precision": "fp4"}, {"precision": "any"}, {"native_fp4": True}, {"native_fp4": False}, REMOVES),
    "D002-05": Try({"standard_model": False}, {"standard_model": None}, *leads("model_engines"), FAVORS),
    "D002-06": Try(
        {"serving_engine": "tgi"}, {"serving_engine": "sglang"}, {"runs_engine": True}, {"runs_engine": False}, FAVORS
    ),
    "D002-07": Try(
        {"vendor_policy": "one", "team": "small"}, {"vendor_policy": "one", "team": "rocm"}, STAYS, MOVES, FAVORS
    ),
    "D002-08": Try({"priority": "users"}, {"priority": "cost"}, *leads("concurrency"), FAVORS),
    "D002-09": Try(
        {"some_need_port": True, "acquisition": "own"},
        {"some_need_port": False, "acquisition": "own"},
        *leads("owned_cost"),
        FAVORS,
    ),
    "D002-10": Try({"fleet": 4000.0}, {"fleet": 1000.0}, *leads("power"), FAVORS),
    "D002-11": Try({"site": "rack"}, {"site": "open"}, *leads("density"), FAVORS),
    "D002-12": Try({"site": "amd"}, {"site": "hgx"}, {"vendor": "AMD"}, {"vendor": "NVIDIA"}, FAVORS),
    "D002-13": Try({"standing": "reference"}, {"standing": "none"}, {"references": 2.0}, {"references": 0.0}, FAVORS),
    "D002-14": Try({"standing": "frontier"}, {"standing": "none", "priority": "speed"}, WIDE, NARROW, FAVORS),
    "D002-15": Try(
        {"destination": "controlled"},
        {"destination": "free"},
        {"export_free": True},
        {"export_free": None},
        (RuleEffect.PASSES, RuleEffect.UNDECIDED),
    ),
    "D002-16": Try(
        {"months_to_launch": 2.0}, {"months_to_launch": None}, {"announced": False}, {"announced": True}, FAVORS
    ),
    "D002-17": Try(
        {"years": 3.0, "waiting": "no", "acquisition": "own"},
        {"years": 2.0, "waiting": "no", "acquisition": "own"},
        *leads("owned_cost"),
        FAVORS,
    ),
    "D002-18": Try(
        {"tuned_for": "cdna4"}, {"tuned_for": "cuda"}, {"generation": "cdna4"}, {"generation": "hopper"}, FAVORS
    ),
    "D002-19": Try({"waiting": "unpriced"}, {"waiting": "no"}, {"announced": False}, {"announced": True}, FAVORS),
    "D002-20": Try({"vendor_policy": "two_pools"}, {"vendor_policy": "one"}),
    "D003-01": Try({"current_platform": "CUDA"}, {"current_platform": "ROCm"}, STAYS, MOVES, FAVORS),
    "D003-02": Try({"params_b": 405.0, "most_hosts": 2.0}, {"params_b": 405.0, "most_hosts": 1.0}, *LINKED, FAVORS),
    "D003-03": Try({"work": "media"}, {"work": "serving"}, CUDA, ROCM, FAVORS),
    "D003-04": Try({"team": "small"}, {"team": "cuda"}, WIDE, NARROW, FAVORS),
    "D003-05": Try(
        {"params_b": 70.0, "most_count": 2.0, "fewest_count": 1.0},
        {"params_b": 8.0, "most_count": 2.0, "fewest_count": 1.0},
        *leads("count"),
        FAVORS,
    ),
    "D003-06": Try(
        {"model_moe": True, "all_fit_alone": False},
        {"model_moe": False, "all_fit_alone": False},
        *leads("memory"),
        FAVORS,
    ),
    "D003-07": Try(
        {"priority": "cost", "acquisition": "own"}, {"priority": "cost", "acquisition": "rent"}, *leads("spend"), FAVORS
    ),
    "D003-08": Try({"team": "rocm"}, {"team": "can_learn"}, ROCM, CUDA, FAVORS),
    "D003-09": Try({"shape": "one"}, {"shape": "free"}, {"fits_alone": True}, {"fits_alone": False}, REMOVES),
    "D003-10": Try({"service": "interactive"}, {"service": None}, *leads("tpot"), FAVORS),
    "D003-11": Try({"work": "fine_tuning"}, {"work": "serving"}, FITS, NOT, CHECKS),
    "D003-12": Try(
        {"model_id": "deepseek-r1", "most_hosts": 2.0},
        {"model_id": "deepseek-v3", "most_hosts": 2.0},
        {"runs_on_record": 12.0},
        {"runs_on_record": 0.0},
        FAVORS,
    ),
    "D003-13": Try(
        {"precision": "automatic"},
        {"precision": "fp4"},
        {"native_fp4": True, "platform": "CUDA"},
        {"native_fp4": True, "platform": "ROCm"},
        FAVORS,
    ),
    "D003-14": Try({"priority": "certainty"}, {"priority": "balanced"}, WIDE, NARROW, FAVORS),
    "D003-15": Try({"tuning": "full"}, {"tuning": "tuned"}, WIDE, NARROW, FAVORS),
    "D003-16": Try(
        {"weights_gb": 405.0, "least_memory_gb": 193.0},
        {"weights_gb": 70.0, "least_memory_gb": 193.0},
        *leads("count"),
        FAVORS,
    ),
    "D003-17": Try({"most_hosts": 2.0}, {"most_hosts": 1.0}, *LINKED, FAVORS),
    "D003-18": Try(
        {"priority": "cost", "all_fit_alone": False},
        {"priority": "cost", "all_fit_alone": True},
        *leads("cost"),
        FAVORS,
    ),
    "D003-19": Try({"work": "fine_tuning"}, {"work": "training"}, FITS, NOT, CHECKS),
    "D003-20": Try(
        {"model_moe": True, "all_fit_alone": True},
        {"model_moe": False, "all_fit_alone": True},
        {"fits_alone": True},
        {"fits_alone": False},
        CHECKS,
    ),
    "D003-21": Try({"team": "small"}, {"team": "rocm"}, WIDE, NARROW, FAVORS),
    "D003-22": Try({"vendor_policy": "two_pools"}, {"vendor_policy": "any"}, ROCM, CUDA, FAVORS),
    "D003-23": Try({"engine_everywhere": False}, {"engine_everywhere": None}, STAYS, MOVES, FAVORS),
    "D003-24": Try({"unsure": True}, {}),
    "D003-25": Try(
        {"months_to_launch": 0.0}, {"months_to_launch": 6.0}, {"announced": False}, {"announced": True}, FAVORS
    ),
    "D004-01": Try({"service": "interactive"}, {"service": "server", "shape": "free"}, *leads("ttft"), FAVORS),
    "D004-02": Try({"work": "serving"}, {"work": "media"}, FITS, NOT, CHECKS),
    "D004-03": Try({"has_model": True}, {}, FITS, NOT, REMOVES),
    "D004-04": Try(
        {"context_tokens": 5000.0, "model_context": 131_072.0},
        {"context_tokens": 5000.0, "model_context": None},
        FITS,
        NOT,
        CHECKS,
    ),
    "D004-05": Try({"most_count": 4.0}, {"most_count": 1.0}, FITS, NOT, REMOVES),
    "D004-06": Try({"site": "oam"}, {"site": "rack"}, {"form": "oam"}, {"form": "sxm"}, REMOVES),
    "D004-07": Try(
        {"budget_usd": 1e5, "acquisition": "own"},
        {"budget_usd": float("inf"), "acquisition": "own"},
        {"spend_usd": 80_000.0},
        {"spend_usd": 120_000.0},
        REMOVES,
    ),
    "D004-08": Try({"bound_by": "compute"}, {"bound_by": "overhead"}, *leads("compute"), FAVORS),
    "D004-09": Try(
        {"priority": "balanced", "all_fit_alone": False},
        {"priority": "balanced", "all_fit_alone": True},
        *leads("memory"),
        FAVORS,
    ),
    "D004-10": Try(
        {"coverage_most": 58.0, "coverage_least": 50.0, "shape": "several"},
        {"coverage_most": 50.0, "coverage_least": 50.0, "shape": "several"},
        *leads("coverage"),
        FAVORS,
    ),
    "D004-11": Try({"bound_by": "compute"}, {"bound_by": None}),
    "D004-12": Try(
        {"coverage_most": 58.0, "coverage_least": 50.0},
        {"coverage_most": None, "coverage_least": None},
        *leads("coverage"),
        CHECKS,
    ),
    "D004-13": Try(
        {"most_count": 4.0, "fewest_count": 2.0}, {"most_count": 2.0, "fewest_count": 2.0}, *leads("cost"), FAVORS
    ),
    "D004-14": Try({"work": "media"}, {"work": "serving"}, FITS, NOT, CHECKS),
    "L-01": Try(
        {"ttft_limit_ms": 2000.0}, {"ttft_limit_ms": float("inf")}, {"ttft_ms": 900.0}, {"ttft_ms": 2500.0}, REMOVES
    ),
    "L-02": Try(
        {"tpot_limit_ms": 50.0}, {"tpot_limit_ms": float("inf")}, {"tpot_ms": 30.0}, {"tpot_ms": 60.0}, REMOVES
    ),
    "L-03": Try(
        {"serving_engine": "vllm"}, {"serving_engine": "any"}, {"runs_engine": True}, {"runs_engine": False}, REMOVES
    ),
    "L-04": Try(
        {"some_announced": True, "waiting": "no"},
        {"some_announced": True, "waiting": "priced", "months_to_launch": 9.0},
        {"announced": False},
        {"announced": True},
        REMOVES,
    ),
    "L-05": Try({"has_model": True}, {}, {"holds_load": True}, {"holds_load": False}, REMOVES),
    "L-06": Try(
        {"air_only": True, "acquisition": "own"},
        {"air_only": True, "acquisition": "rent"},
        {"air_cooled": True},
        {"air_cooled": False},
        REMOVES,
    ),
    "L-07": Try(
        {"kw_per_rack": 40.0, "acquisition": "undecided"},
        {"kw_per_rack": None, "acquisition": "undecided"},
        {"system_kw": 14.3},
        {"system_kw": 120.0},
        REMOVES,
    ),
    "L-10": Try(
        {"has_model": True, "destination": None}, {}, {"sales_region": "everywhere"}, {"sales_region": "China"}, REMOVES
    ),
    "L-11": Try(
        {"site": "open", "acquisition": "own"},
        {"site": "office", "acquisition": "own"},
        {"license_limit": False},
        {"license_limit": True},
        REMOVES,
    ),
    "L-12": Try(
        {"reading_tpot_ms": 100.0},
        {"reading_tpot_ms": None},
        {"likely_tpot_ms": 99.0},
        {"likely_tpot_ms": 101.0},
        REMOVES,
    ),
    "L-09": Try({"acquisition": "own"}, {"acquisition": "undecided"}, {"sold": True}, {"sold": False}, REMOVES),
    "L-08": Try(
        {"months_to_launch": 6.0, "acquisition": "own"},
        {"months_to_launch": 6.0, "acquisition": "undecided"},
        {},
        {"delivery_months": 6.9},
        (RuleEffect.UNDECIDED, RuleEffect.REMOVES),
    ),
}


def test_fired_rule_has_its_declared_effect(subtests: pytest.Subtests) -> None:
    for name, attempts in TRIES.items():
        with subtests.test(name=name):
            rule = RULES[name]
            (line,) = trace_rules([rule], attempts.fires, [attempts.one, attempts.other], {}, {})
            assert tuple(cell.effect for cell in line.cells) == attempts.effects
            assert line.rule is rule
            assert line.tested


def test_a_rule_is_silent_elsewhere(subtests: pytest.Subtests) -> None:
    for name, attempts in TRIES.items():
        with subtests.test(name=name):
            assert trace_rules([RULES[name]], attempts.silent, [attempts.one, attempts.other], {}, {}) == ()


def test_every_rule_is_tried_and_all_97_of_the_documents_are_there() -> None:
    assert set(TRIES) == set(RULES)
    assert sum(rule.source is not None for rule in RULES.values()) == 97


def test_rules_have_the_strengths_of_their_documents() -> None:
    hard = {"D000-01", "D000-06", "D000-07", "D000-10", "D002-04", "D002-15", "D003-09"}
    # A budget that was stated is a limit, though its document only calls the price a drawback.
    hard |= {"D004-03", "D004-05", "D004-06", "D004-07"}
    hard_rules = {rule.id for rule in RULES.values() if rule.source and rule.strength is RuleStrength.HARD}
    assert hard_rules == hard


def test_only_what_must_hold_removes(subtests: pytest.Subtests) -> None:
    for rule in RULES.values():
        with subtests.test(rule=rule):
            removing = [case for case in rule.cases if case.requires is not None]
            assert bool(removing) == (rule.strength is RuleStrength.HARD)


def test_questions_that_conditions_name_are_those_that_the_rule_asks(subtests: pytest.Subtests) -> None:
    for rule in RULES.values():
        with subtests.test(rule=rule):
            named = {name for case in rule.cases for name in parse_condition(case.when).names}
            named |= {
                name
                for case in rule.cases
                if case.question_condition
                for name in parse_condition(case.question_condition).names
            }
            assert named & set(QUESTIONS) <= set(rule.asks)


def test_unfounded_rule_has_no_weight_unless_the_user_sets_one() -> None:
    unfounded = {rule.id for rule in RULES.values() if rule.unfounded is not None}
    assert unfounded == {"D000-05", "D000-26", "D002-10", "D003-22"}
    for name in unfounded:
        assert resolve_rule_weight(RULES[name], {}) == 0.0
        assert resolve_rule_weight(RULES[name], {name: 2.0}) == 2.0


def test_rules_name_accelerators_disputes_and_sources_of_the_catalog() -> None:
    with GpuDeskService.open(with_user_facts=False) as service:
        catalog = service.catalog
        things = catalog.accelerators(), catalog.disputes(), catalog.sources()
    _check_names(*things)


def _check_names(
    accelerators: tuple[Accelerator, ...], judged: tuple[Dispute, ...], published: tuple[Source, ...]
) -> None:
    parts = {part.id for part in accelerators}
    disputes = {dispute.id for dispute in judged}
    sources = {source.id: source for source in published}
    for rule in RULES.values():
        assert set(rule.pair) <= parts, rule.id
        assert set(rule.disputes) <= disputes, rule.id
        assert set(rule.against) <= set(RULES), rule.id
        if rule.source is not None:
            assert rule.dated == (sources[rule.source].date or ""), rule.id


def test_two_rules_that_disagree_name_each_other() -> None:
    for rule in RULES.values():
        for other in rule.against:
            assert rule.id in RULES[other].against, (rule.id, other)


def test_no_two_rules_have_one_title() -> None:
    titles = [rule.title for rule in RULES.values()]
    assert len(set(titles)) == len(titles)


def test_a_rule_shows_a_figure_that_its_case_compares() -> None:
    for rule in RULES.values():
        for case in rule.cases:
            compared = list_tested_figures(case)
            figures = {find_shown_figure(rule, case)}
            assert not compared or figures & set(compared), (rule.id, case.title)
            assert not figures & TESTED_FIGURES.keys(), "a figure, not whether one leads in it"


def test_an_argument_on_bandwidth_shows_bandwidth() -> None:
    parts: list[dict[str, FactValue]] = [
        {"leads_bandwidth": True, "bandwidth_tbs": 8.0, "peak_pflops": 2.25},
        {"leads_bandwidth": False, "bandwidth_tbs": 6.0, "peak_pflops": 1.3},
    ]
    (line,) = trace_rules((RULES["D004-08"],), {"bound_by": "memory bandwidth"}, parts, {}, {})
    assert (line.shows, [cell.value for cell in line.cells]) == ("bandwidth_tbs", [8.0, 6.0])
