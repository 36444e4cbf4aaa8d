"""The profile of an accelerator: every part, on the shipped catalog and on entries with little in them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import pytest

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.cost import CostSettings, UncertainValue
from gpudesk.domain.diffusion import DiffusionSettings
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.profile import AcceleratorProfile, CapabilityStatus, OperatingMode, ProfileQuestion, RankingFactor
from gpudesk.domain.progress import run_to_end
from gpudesk.domain.registry import list_required_attributes
from gpudesk.domain.sizing import FitQuestion
from gpudesk.domain.user_facts import FactEdit, UserAccelerator, UserClaim, UserFact, UserPrice
from gpudesk.engine.engine_support import scale_bandwidth
from gpudesk.estimation.sizing.fit_matrix import FitFinder
from gpudesk.profile.advice import compute_score
from gpudesk.profile.builder import REQUIRED_TERMS
from gpudesk.profile.placements import count_months
from gpudesk.profile.settings import read_profile_settings
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import InputError, format_message, message

TOKENS = 5000
_NARROW = (Precision.FP8, Precision.INT8, Precision.FP4, Precision.INT4)
TEST = Source("own-test", "Our own test", "not stated", SourceKind.USER, None, "2026-04")
CATALOG = Catalog.open(paths.get_built_catalog_path())


@pytest.fixture(scope="module")
def profiles(service: GpuDeskService) -> Mapping[str, AcceleratorProfile]:
    """Return the profile of every accelerator of the catalog."""
    return {each.id: service.profile(ProfileQuestion(each.id)) for each in service.catalog.accelerators()}


@pytest.fixture(scope="module")
def profile(service: GpuDeskService) -> AcceleratorProfile:
    return service.profile(ProfileQuestion("mi325x"))


def add(service: GpuDeskService, *facts: UserFact) -> None:
    service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="X"), after=facts))


def state(accelerator: str, **values: float | str) -> list[UserFact]:
    return [
        UserClaim(accelerator, name, value, TEST.id, SourceKind.USER, "2026-11-20") for name, value in values.items()
    ]


def make_scenario() -> Scenario:
    """Return a scenario of the load of a profile."""
    load = Load(LoadKind.CONCURRENCY, concurrency=64)
    return Scenario("Test", "llama-3.1-8b", Precision.BF16, Workload(4000, 1000, load), ())


def replace_price(scenario: Scenario, accelerator: str, usd: float) -> Scenario:
    costs = scenario.costs.with_input("price_usd", UncertainValue.exactly(usd), accelerator)
    return dataclasses.replace(scenario, costs=costs)


# Operating mode


def test_balanced_is_the_order_without_weights(service: GpuDeskService) -> None:
    balanced = service.profile(ProfileQuestion("mi325x"))
    unweighted = service.profile(
        ProfileQuestion("mi325x", mode=OperatingMode.SPEED, weights=dict.fromkeys(RankingFactor, 3.0))
    )
    order = [(each.job, each.model) for each in balanced.recommendations]
    assert order == [(each.job, each.model) for each in unweighted.recommendations]
    for each in balanced.recommendations:
        assert each.score == pytest.approx(sum(each.factors.values()) / len(each.factors))


def test_a_mode_changes_the_order_and_shows_its_weights(service: GpuDeskService) -> None:
    modes = {mode: service.profile(ProfileQuestion("mi325x", mode=mode)) for mode in OperatingMode}
    assert len({tuple(each.model for each in profile.recommendations) for profile in modes.values()}) >= 4
    assert (
        modes[OperatingMode.SPEED].weights[RankingFactor.SPEED]
        > modes[OperatingMode.BALANCED].weights[RankingFactor.SPEED]
    )
    changed = service.profile(ProfileQuestion("mi325x", weights={RankingFactor.TIER: 7.0}))
    assert changed.weights[RankingFactor.TIER] == 7.0
    assert changed.weights[RankingFactor.SPEED] == 1.0


def test_a_factor_that_is_not_known_has_no_weight() -> None:
    weights = dict.fromkeys(RankingFactor, 1.0)
    assert compute_score({RankingFactor.FIT: 0.5, RankingFactor.SPEED: 1.0}, weights) == 0.75
    assert compute_score({}, weights) == 0.0


# Header


def test_the_header_has_tags_with_rules_and_claims_with_sources(profile: AcceleratorProfile) -> None:
    tags = {tag.id: format_message(tag.text) for tag in profile.tags}
    assert tags["vendor"] == "AMD"
    assert tags["architecture"] == "CDNA 3"
    assert tags["form_factor"] == "OAM"
    assert all(format_message(tag.rule) for tag in profile.tags)
    assert all(claims.preferred is None or claims.preferred.source.title for claims in profile.attributes.values())


# Capability matrix


def test_format_that_barely_fits_one_accelerator_is_not_recommended(profiles: Mapping[str, AcceleratorProfile]) -> None:
    row = next(each for each in profiles["h200-sxm"].capabilities if each.task == "large_70b")
    assert (row.status, row.weights, row.count) == (CapabilityStatus.QUANTIZED, Precision.FP8, 1)
    assert row.request is not None
    assert row.request.weights is Precision.FP8
    assert row.queues
    assert row.reason is not None
    assert row.reason.id == "profile.capability.queues"


def test_limits_and_counts_take_the_formats_of_the_question(service: GpuDeskService) -> None:
    wide, narrow = (
        service.profile(ProfileQuestion("mi325x", model="llama-3.1-70b", precision=precision, kv=kv))
        for precision, kv in ((Precision.BF16, Precision.FP16), (Precision.FP8, Precision.FP8))
    )
    rates = [each.scale[0].figure for each in (wide, narrow)]
    assert rates[0] is not None
    assert rates[1] is not None
    assert rates[1].value > 1.2 * rates[0].value
    memory = [next(row.headroom for row in each.limits if row.resource == "memory") for each in (wide, narrow)]
    assert (memory[1] or 0.0) > (memory[0] or 0.0)


def test_all_rates_take_the_cache_of_the_question_or_name_another(service: GpuDeskService) -> None:
    question = ProfileQuestion("h200-sxm", kv=Precision.FP8)
    profile = service.profile(question)
    row = next(each for each in profile.capabilities if each.task == "large_70b")
    assert row.request is not None
    assert (row.request.kv, row.queues) == (Precision.FP8, False)
    assert {each.request.kv for each in profile.recommendations} == {Precision.FP8}
    tables = ProfileTables(profile, Formatter(ENGLISH_NUMBERS), str)
    assert tables.capabilities().subtitle.endswith(" tokens, FP8 KV cache")
    # No serving engine stores an FP8 cache there.
    old = service.profile(dataclasses.replace(question, accelerator="mi210"))
    requests = [each.request for each in old.capabilities if each.request is not None]
    assert {each.kv for each in requests} == {Precision.FP16}
    details = [row.cells[2].detail for row in ProfileTables(old, Formatter(ENGLISH_NUMBERS), str).capabilities().rows]
    assert sum("FP16 KV cache" in detail for detail in details) == len(requests)


def test_small_models_do_not_lead_by_what_nobody_needs(profile: AcceleratorProfile) -> None:
    first = next(each for each in profile.recommendations if each.job == "agentic")
    assert first.model not in ("gpt-oss-20b", "glm-4.7-flash")


def test_capabilities_show_native_quantized_or_a_count(profile: AcceleratorProfile) -> None:
    rows = {each.task: each for each in profile.capabilities}
    assert rows["chat_7b"].status is CapabilityStatus.NATIVE
    assert rows["large_70b"].status is CapabilityStatus.NATIVE
    assert rows["huge_405b"].status is CapabilityStatus.QUANTIZED
    assert rows["moe_1t"].status is CapabilityStatus.NEEDS_MORE
    assert rows["moe_1t"].count == 4
    for each in rows.values():
        assert each.figure is not None
        assert each.figure.low < each.figure.value < each.figure.high
        if each.unit == "tok/s":
            assert each.request is not None
            assert each.single is not None


def test_a_cell_opens_a_scenario_with_the_same_rate(service: GpuDeskService, profile: AcceleratorProfile) -> None:
    for each in profile.capabilities:
        if each.diffusion is not None:
            assert service.estimate_diffusion(each.diffusion.request).item_s == each.figure
            continue
        assert each.request is not None
        estimate = service.estimate(each.request)
        assert estimate.output_tokens_per_s == each.figure
        assert estimate.count == each.count


def test_one_accelerator_cannot_do_everything(service: GpuDeskService) -> None:
    rows = {each.task: each for each in service.profile(ProfileQuestion("rtx-4090")).capabilities}
    assert rows["huge_405b"].status is CapabilityStatus.IMPOSSIBLE
    assert rows["huge_405b"].reason is not None
    assert "a host or scale-up domain has 8" in format_message(rows["huge_405b"].reason)


# Images and video


def test_images_and_videos_have_settings_and_seconds(profile: AcceleratorProfile) -> None:
    rows = {each.task: each for each in profile.capabilities if each.unit == "s"}
    assert set(rows) == {"image", "video_short", "video_long"}
    for each in rows.values():
        assert each.diffusion is not None
        assert each.figure is not None
        assert each.figure.low >= 0
    short, long = rows["video_short"].diffusion, rows["video_long"].diffusion
    assert short is not None
    assert long is not None
    assert (short.request.frames, long.request.frames) == (25, 100)
    image = rows["image"]
    assert image.diffusion is not None
    assert image.model == "flux1-dev"
    assert image.figure is not None
    assert image.diffusion.floor_s == pytest.approx(1.593, rel=0.05)
    assert image.figure.value > image.diffusion.floor_s > 1.2


def test_diffusion_models_fit_in_some_format_or_name_the_missing_memory(
    profiles: Mapping[str, AcceleratorProfile],
) -> None:
    for profile in profiles.values():
        assert profile.diffusion
        for each in (*profile.diffusion, *profile.capabilities):
            refused = each.status in (CapabilityStatus.IMPOSSIBLE, CapabilityStatus.UNKNOWN)
            untimed = each.reason is not None and each.reason.id == "estimate.no_peak"
            assert (each.figure is None) is (refused or untimed)
            if each.figure is None:
                assert each.reason is not None


# Strengths and considerations


def test_no_adjective_without_a_number(profiles: Mapping[str, AcceleratorProfile]) -> None:
    for accelerator, profile in profiles.items():
        for trait in profile.traits:
            assert re.search(r"\d", format_message(trait.text)), (accelerator, trait.id)


def test_a_link_is_either_ranked_or_missing(profiles: Mapping[str, AcceleratorProfile]) -> None:
    for profile in profiles.values():
        missing = any(each.id == "no_link" for each in profile.traits)
        assert missing is (profile.accelerator.scale_up_bandwidth is None)


def test_considerations_of_the_source_document(profile: AcceleratorProfile) -> None:
    texts = {each.id: format_message(each.text) for each in profile.traits if not each.is_strength}
    assert "$24,559" in texts["high_price"]
    assert "OAM" in texts["form_factor"]
    assert "MI300X" in texts["same_compute"]
    assert "CUDA" in texts["cuda_rival"]
    assert texts["needs_more.huge_405b"].endswith("needs 4 accelerators")


def test_removing_a_peer_changes_ranks_and_members(service: GpuDeskService, profile: AcceleratorProfile) -> None:
    from gpudesk.profile.builder import ProfileBuilder

    class Without:
        """The catalog without one accelerator."""

        def __init__(self, catalog: Catalog) -> None:
            self._catalog = catalog

        def __getattr__(self, name: str) -> object:
            return getattr(self._catalog, name)

        def accelerators(self) -> tuple[object, ...]:
            return tuple(each for each in self._catalog.accelerators() if each.id != "mi355x")

    class Source:
        catalog = Without(service.catalog)
        calibration, estimator, diffusion = service.calibration, service.estimator, service.diffusion
        costing, reference_data, fit = service.costing, service.reference_data, service.fit

    builder = ProfileBuilder(Source(), read_profile_settings(paths.get_data_path("profile.toml")))  # type: ignore[arg-type]
    smaller = run_to_end(builder.steps(ProfileQuestion("mi325x")))
    assert len(smaller.category_members) == len(profile.category_members) - 1
    before, after = ({each.attribute: each for each in one.peers} for one in (profile, smaller))
    assert after["memory"].members == before["memory"].members - 1
    assert after["memory"].mean != before["memory"].mean


# Models by job


def test_models_for_a_job_fit_and_hold_its_context(service: GpuDeskService, profile: AcceleratorProfile) -> None:
    settings = read_profile_settings(paths.get_data_path("profile.toml"))
    contexts = {job.id: job.context_tokens for job in settings.jobs}
    assert {each.job for each in profile.recommendations} == set(contexts)
    for each in profile.recommendations:
        assert each.context_tokens >= contexts[each.job]
        model = service.catalog.model(each.model)
        assert each.context_tokens <= (model.max_context or 131_072)
        assert each.single is not None
        assert each.figure is not None
        assert each.serving_engine
        assert each.why
        assert all(0.0 <= value <= 1.0 for value in each.factors.values())
    for job in contexts:
        scores = [each.score for each in profile.recommendations if each.job == job]
        assert scores == sorted(scores, reverse=True)


def test_user_tiers_replace_parameters(service: GpuDeskService) -> None:
    question = ProfileQuestion("mi325x", weights=dict.fromkeys(RankingFactor, 0.0) | {RankingFactor.TIER: 1.0})
    assert service.profile(question).recommendations[0].model != "qwen3-8b"
    mine = dataclasses.replace(question, tiers={"qwen3-8b": 100.0, "llama-3.1-8b": 1.0})
    assert service.profile(mine).recommendations[0].model == "qwen3-8b"


def test_settings_of_an_image_apply_to_their_row_alone(service: GpuDeskService) -> None:
    usual = service.profile(ProfileQuestion("rtx-4090"))
    media = {
        "image": DiffusionSettings(512, 512, steps=28, batch=4),
        "image:flux1-dev": DiffusionSettings(steps=4, weights=Precision.BF16),
    }
    mine = service.profile(ProfileQuestion("rtx-4090", media=media))
    changed = [two for one, two in zip(usual.capabilities, mine.capabilities, strict=True) if one != two]
    assert [each.task for each in changed] == ["image"]
    assert changed[0].diffusion is not None
    assert (changed[0].diffusion.request.width, changed[0].diffusion.request.batch) == (512, 4)
    changed = [two for one, two in zip(usual.diffusion, mine.diffusion, strict=True) if one != two]
    assert [each.model for each in changed] == ["flux1-dev"]
    assert changed[0].status is CapabilityStatus.IMPOSSIBLE
    assert changed[0].reason is not None
    assert format_message(changed[0].reason).endswith("more memory with these settings")


def test_job_models_are_in_the_catalog() -> None:
    settings = read_profile_settings(paths.get_data_path("profile.toml"))
    ids = {model.id for model in CATALOG.models()}
    for job in settings.jobs:
        assert job.models <= ids
    for task in settings.tasks:
        models = {each.id for each in CATALOG.diffusion_models()} if task.settings is not None else ids
        assert set(task.models) <= models
    assert set(settings.common_models) <= ids


# Just out of reach


def test_out_of_reach_models_do_not_fit_one_and_fit_the_count(
    service: GpuDeskService, profile: AcceleratorProfile
) -> None:
    assert profile.out_of_reach
    for each in profile.out_of_reach:
        assert each.missing_bytes > 0
        (cell,) = service.fit_matrix(FitQuestion(each.weights, context=TOKENS), ["mi325x"], [each.model]).rows[0]
        assert cell.count == each.count
        assert cell.count is not None
        assert cell.count > 1
        assert each.figure is not None
        assert each.usd_per_million_output is not None
    missing = [each.missing_bytes for each in profile.out_of_reach if each.smaller_format is None]
    assert missing == sorted(missing)


# Several accelerators


def test_the_table_of_counts(profile: AcceleratorProfile) -> None:
    assert [each.count for each in profile.scale] == [1, 2, 4, 8]
    memory = profile.accelerator.memory_bytes
    assert [each.memory_bytes for each in profile.scale] == [count * memory for count in (1, 2, 4, 8)]
    counts = [each.models_held for each in profile.scale]
    assert counts == sorted(counts)
    assert counts[0] == profile.advice.fits
    bandwidth = [each.bandwidth_rule for each in profile.scale]
    assert bandwidth == [scale_bandwidth(6.0e12, count) for count in (1, 2, 4, 8)]
    for each in profile.scale:
        assert each.figure is not None
        assert each.per_accelerator is not None
        assert each.per_accelerator.value * each.count == pytest.approx(each.figure.value)


# Upgrades


@pytest.mark.parametrize("accelerator", ["mi325x", "rtx-4090", "l4"])
def test_unlocked_models_do_not_fit_before_and_fit_after(service: GpuDeskService, accelerator: str) -> None:
    profile = service.profile(ProfileQuestion(accelerator))
    formats = {each.id: each.native_precision for each in service.catalog.models()}

    def count(part: str, model: str) -> int:
        """The fewest accelerators by `fit`, in any format from the published one to 4 bits."""
        counts = [
            cell.count
            for weights in {formats[model] or Precision.BF16, *_NARROW}
            for cell in service.fit_matrix(FitQuestion(weights, context=TOKENS), [part], [model]).rows[0]
            if cell.count is not None
        ]
        return min(counts, default=10_000)

    for upgrade in profile.upgrades:
        for model in upgrade.unlocked[:6]:
            assert count(accelerator, model) > 1
            assert count(upgrade.accelerator, model) <= upgrade.count


def test_an_upgrade_unlocks_models(profiles: Mapping[str, AcceleratorProfile]) -> None:
    assert any(profile.upgrades for profile in profiles.values())
    assert all(upgrade.unlocked for profile in profiles.values() for upgrade in profile.upgrades)


def test_no_upgrade_of_a_module_is_a_share_of_a_rack(service: GpuDeskService) -> None:
    upgrades = {each.accelerator for each in service.profile(ProfileQuestion("h200-sxm")).upgrades}
    assert "b300-hgx" in upgrades
    assert not upgrades & {"gb200-nvl72", "gb300-nvl72", "vera-rubin-nvl72"}


def test_upgrades_are_ordered_by_cost_for_each_model(service: GpuDeskService) -> None:
    profile = service.profile(ProfileQuestion("h100-sxm", budget_usd=40_000.0))
    costs = [each.usd_per_unlocked for each in profile.upgrades if each.usd_per_unlocked is not None]
    assert costs == sorted(costs)
    assert costs
    for each in profile.upgrades:
        if each.extra_usd is None:
            assert each.reason is not None
            assert each.within_budget is None
        else:
            assert each.within_budget is (each.extra_usd <= 40_000.0)
            if each.unlocked:
                assert each.usd_per_unlocked == max(each.extra_usd, 0.0) / len(each.unlocked)
    assert any(each.accelerator == "h100-sxm" and each.count == 2 for each in profile.upgrades)
    assert any(each.count == 1 for each in profile.upgrades)


# Peers


def test_peers_have_means_with_members_and_rivals(profile: AcceleratorProfile) -> None:
    rows = {each.attribute: each for each in profile.peers}
    values = [each.memory_bytes for each in CATALOG.accelerators() if each.id in profile.category_members]
    assert rows["memory"].mean == pytest.approx(sum(values) / len(values))
    assert rows["memory"].members == len(values)
    assert rows["price"].members < rows["memory"].members
    assert profile.rivals_by_price
    assert profile.rivals_by_memory
    for row in profile.peers:
        assert set(row.rivals) == {*profile.rivals_by_price, *profile.rivals_by_memory}
    assert profile.accelerator.id not in rows["memory"].rivals


# Advice


def test_advice_names_form_and_price_first_and_two_shares(profile: AcceleratorProfile) -> None:
    assert format_message(profile.advice.verdict) == "For servers that take OAM, at $24,559 each"
    assert profile.advice.runs_well is not None
    assert profile.advice.runs_well < profile.advice.fits < profile.advice.models
    ids = [each.id for each in profile.advice.checks]
    assert [each.split(".")[2] for each in ids] == [
        "form",
        "prices",
        "shipping",
        "power",
        "export_controlled",
        "support",
    ]
    assert "20 tok/s" in format_message(profile.advice.rule)


# What limits first


def test_profile_limits_are_sorted_with_unmodeled_power_last(service: GpuDeskService) -> None:
    for accelerator in ("mi325x", "l4", "tpu-v5p", "rtx-4090"):
        limits = service.profile(ProfileQuestion(accelerator)).limits
        assert {each.resource for each in limits} == {"memory", "bandwidth", "compute", "links", "host", "power"}
        headrooms = [each.headroom for each in limits if each.headroom is not None]
        assert headrooms == sorted(headrooms)
        assert all(0.0 <= each <= 1.0 for each in headrooms)
        assert limits[-1].resource == "power"
        assert limits[-1].headroom is None
        assert limits[-1].reason is not None


def test_an_accelerator_that_is_named_as_remedy_has_clearly_more(profiles: Mapping[str, AcceleratorProfile]) -> None:
    remedies = [each.remedy for profile in profiles.values() for each in profile.limits if each.remedy is not None]
    factors = [dict(remedy.parameters)["factor"] for remedy in remedies if "factor" in dict(remedy.parameters)]
    assert factors
    assert all(isinstance(factor, float) and factor >= 1.1 for factor in factors)


def test_export_advice_follows_the_rules_that_control(service: GpuDeskService) -> None:
    advice = {
        name: [each.id for each in service.profile(ProfileQuestion(name)).advice.checks]
        for name in ("b200-hgx", "rtx-4090", "l4")
    }
    assert "profile.check.export_controlled" in advice["b200-hgx"]
    assert "profile.check.export_controlled" in advice["rtx-4090"]
    # Performance density needs the die area, which the catalog does not have.
    assert "profile.check.export_open" in advice["l4"]


def test_a_queue_leaves_no_memory(service: GpuDeskService) -> None:
    limits = service.profile(ProfileQuestion("rtx-4090", concurrency=256)).limits
    assert limits[0].resource == "memory"
    assert limits[0].headroom == 0.0


# Uncertainty


def test_rates_are_intervals_with_their_basis(profile: AcceleratorProfile) -> None:
    bases = [*(each.basis for each in profile.capabilities), *(each.basis for each in profile.recommendations)]
    assert None not in bases
    for figure in (*(each.figure for each in profile.capabilities), *(each.figure for each in profile.recommendations)):
        assert figure is not None
        assert figure.low < figure.high
    notes = [format_message(note) for note in profile.notes]
    assert f"{len(profile.diffusion)} of {len(profile.diffusion)} image and video models fit on 1 accelerator" in notes
    assert any("363 of 374" in format_message(note) for note in profile.notes)


# All accelerators, entries of the user, jobs, speed


def test_every_accelerator_has_a_profile(profiles: Mapping[str, AcceleratorProfile]) -> None:
    for accelerator, profile in profiles.items():
        assert profile.capabilities
        assert (profile.advice.runs_well or 0) <= profile.advice.fits <= profile.advice.models
        assert accelerator in profile.category_members
        assert profile.traits


def test_an_engine_that_does_not_run_on_it_is_left_out(service: GpuDeskService) -> None:
    profile = service.profile(ProfileQuestion("mi325x", serving_engine="tensorrt-llm"))
    assert format_message(profile.notes[0]).startswith("TensorRT-LLM does not run on Instinct MI325X")
    assert profile.capabilities[0].figure is not None


def test_an_entry_with_half_of_its_values_has_a_profile() -> None:
    with GpuDeskService.open(with_user_facts=False) as own:
        add(
            own,
            TEST,
            UserAccelerator("half", "Half", "Us", "hopper"),
            *state("half", memory=float(64 * 2**30), memory_bandwidth=2e12, software_platform="CUDA"),
        )
        profile = own.profile(ProfileQuestion("half"))
        # What fits follows from memory; no time follows without a peak.
        text = [each.status for each in profile.capabilities[:2]]
        assert text == [CapabilityStatus.NATIVE, CapabilityStatus.QUANTIZED]
        assert {each.status for each in profile.capabilities if each.unit == "s"} == {CapabilityStatus.UNKNOWN}
        assert all(each.figure is None and each.reason is not None for each in profile.capabilities)
        assert all(each.figure is None and each.count == 2 for each in profile.out_of_reach[:3])
        headline = format_message(profile.headline)
        assert headline == f"Half fits {profile.advice.fits} of 83 models; their rates are unknown"
        assert profile.advice.fits > 30
        link = next(each for each in profile.traits if each.id == "no_link")
        assert format_message(link.text) == "Scale-up link unknown: estimates of 2 or more assume PCIe"
        assert all(each.headroom is None for each in profile.limits)
        assert profile.generation_members == ()
        assert format_message(profile.advice.verdict).startswith("Form factor unknown")
        texts = [format_message(each) for each in profile.advice.checks]
        assert "Power: board power unknown; ask the vendor" in texts


def test_incomplete_entry_names_missing_values() -> None:
    assert tuple(REQUIRED_TERMS) == list_required_attributes()
    with GpuDeskService.open(with_user_facts=False) as own:
        add(own, TEST, UserAccelerator("bare", "Bare", "Us", "hopper"), *state("bare", memory=float(2**36)))
        with pytest.raises(InputError) as caught:
            own.profile(ProfileQuestion("bare"))
        assert caught.value.problem.id == "profile.incomplete"
        assert "Bare has no memory bandwidth, software platform;" in format_message(caught.value.problem)
    with GpuDeskService.open(with_user_facts=False) as own, pytest.raises(InputError):
        own.profile(ProfileQuestion("nothing"))


def test_a_price_of_the_user_counts(service: GpuDeskService) -> None:
    with GpuDeskService.open(with_user_facts=False) as own:
        questions = (ProfileQuestion(each.id) for each in own.catalog.accelerators())
        question = next(each for each in questions if own.profile(each).advice.verdict.id == "profile.buy.no_price")
        price = UserPrice(
            "own-1", question.accelerator, "purchase", TEST.id, SourceKind.USER, 8000.0, date="2026-11-20"
        )
        add(own, TEST, price)
        profile = own.profile(question)
        assert profile.advice.verdict.id == "profile.buy.price"
        assert any(each.usd_per_unlocked is not None for each in profile.upgrades)


def test_a_model_and_a_load_of_ones_own(service: GpuDeskService) -> None:
    profile = service.profile(
        ProfileQuestion("h200-sxm", input_tokens=100, output_tokens=20, concurrency=2, model="phi-4")
    )
    assert profile.model == "phi-4"
    assert profile.capabilities[0].request is not None
    assert profile.capabilities[0].request.workload.input_tokens == 100
    with pytest.raises(InputError):
        service.profile(ProfileQuestion("h200-sxm", model="no-such-model"))


def test_a_request_beyond_the_context_of_a_model_is_not_answered(service: GpuDeskService) -> None:
    """200,000 tokens exceed the context of Llama 3.1 8B, with any memory."""
    profile = service.profile(ProfileQuestion("h200-sxm", input_tokens=200_000))
    chat = profile.capabilities[0]
    assert (chat.status, chat.model, chat.figure) == (CapabilityStatus.IMPOSSIBLE, "llama-3.1-8b", None)
    assert chat.reason is not None
    assert format_message(chat.reason) == "supports at most 131,072 tokens, input and output together"
    short = {each.id for each in service.catalog.models() if (each.max_context or 10**9) < 201_000}
    listed = {
        *(each.model for each in profile.recommendations),
        *(each.model for each in profile.out_of_reach),
        *(model for step in profile.upgrades for model in step.unlocked),
    }
    assert listed
    assert not listed & short
    assert profile.advice.fits <= profile.advice.models - len(short)
    assert f"{len(short)} models support fewer tokens than the request and count as not fitting" in [
        format_message(each) for each in profile.notes
    ]


def test_limits_show_why_the_chosen_model_has_no_limit(service: GpuDeskService) -> None:
    limits = service.profile(ProfileQuestion("l4", model="llama-3.1-405b")).limits
    assert [each.resource for each in limits][-1] == "power"
    reasons = {format_message(each.reason) for each in limits[:-1] if each.reason is not None}
    assert reasons == {"Needs 16; a host or scale-up domain has 8"}


def test_prices_and_costs_rest_on_the_settings_of_the_scenario(service: GpuDeskService) -> None:
    """MI325X costs 24,559 USD in a system and 22,000 USD if bought individually."""
    scenario = dataclasses.replace(make_scenario(), costs=CostSettings(single_accelerators=True))
    single = service.profile(ProfileQuestion.from_scenario(scenario, "mi325x"))
    with_price = replace_price(scenario, "mi325x", 30_000.0)
    own = service.profile(ProfileQuestion.from_scenario(with_price, "mi325x"))
    verdicts = [format_message(each.advice.verdict) for each in (single, own)]
    assert verdicts == [f"For servers that take OAM, at ${price} each" for price in ("22,000", "30,000")]
    assert not single.is_system_price
    assert "Price: $30,000, as entered in this scenario" in [format_message(each) for each in own.advice.checks]
    more = next(each for each in own.upgrades if each.accelerator == "mi325x" and each.count == 2)
    assert more.extra_usd == 30_000.0


def test_a_cost_out_of_reach_is_that_of_its_scenario(service: GpuDeskService) -> None:
    for accelerator in ("mi325x", "gh200-96gb", "rtx-pro-6000-blackwell"):
        row = service.profile(ProfileQuestion(accelerator)).out_of_reach[0]
        assert row.request is not None
        request = row.request
        scenario = dataclasses.replace(
            make_scenario(),
            model=row.model,
            weights=request.weights,
            accelerators=(AcceleratorChoice(accelerator, request.count),),
        )
        (column,) = service.costing.costs(service.answer(scenario)).columns
        assert row.usd_per_million_output == (
            column.rented_usd_per_million_output or column.owned_usd_per_million_output
        )


def test_a_consumer_card_is_for_workstations(profiles: Mapping[str, AcceleratorProfile]) -> None:
    assert format_message(profiles["rtx-5090"].advice.verdict).startswith("For workstations that take PCIe")


def test_refuted_time_appears_with_its_capability(profile: AcceleratorProfile) -> None:
    """28 steps of FLUX.1 dev in 1.2 s would exceed the peak of MI325X (W004-39, W004-40)."""
    refusal = "MI325X product page states 1.20 s: not possible, the arithmetic takes 1.59 s at full peak"
    image = next(each for each in profile.capabilities if each.task == "image")
    assert image.reason is not None
    assert format_message(image.reason) == refusal
    assert [format_message(each) for each in profile.notes].count(f"FLUX.1 dev: {refusal}") == 1


def test_the_job_reports_progress(service: GpuDeskService) -> None:
    progress = list(service.build_profile_in_steps(ProfileQuestion("mi300x")))
    assert [(each.done, each.total) for each in progress] == [(0, 4), (1, 4), (2, 4), (3, 4)]


def test_dates_count_from_their_middle() -> None:
    assert count_months("2024-10-10") == 2024 * 12 + 10
    assert count_months("2024-Q2") == 2024 * 12 + 5
    assert count_months("2026-H2") == 2026 * 12 + 10
    assert count_months("2026") == 2026 * 12 + 7
    assert count_months("soon") is None
    assert count_months(None) is None


def test_known_result_is_not_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    ladders = []
    make_ladder = FitFinder._make_ladder

    def count(finder: FitFinder, *pair: object) -> object:
        ladders.append(pair)
        return make_ladder(finder, *pair)  # type: ignore[arg-type]

    monkeypatch.setattr(FitFinder, "_make_ladder", count)
    with GpuDeskService.open(with_user_facts=False) as opened:
        opened.fit = FitFinder(opened.catalog, opened.calibration)
        # A length that no other test asks for: what several ask is shared.
        opened.profile(ProfileQuestion("mi325x", input_tokens=3999))
        first = len(ladders)
        assert 0 < first <= 450
        opened.profile(ProfileQuestion("mi325x", mode=OperatingMode.SPEED, input_tokens=2000))
        assert len(ladders) <= first + 20
