"""The service: the open catalog and calibration, and every question that interfaces can ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.user_catalog import UserCatalog
from gpudesk.domain.answer import Scenario
from gpudesk.domain.estimate import NOTHING_TO_EXPLAIN, NOTHING_TO_START
from gpudesk.domain.user_facts import FactEdit, UserFacts
from gpudesk.text.messages import InputError, input_error, message

if TYPE_CHECKING:
    from gpudesk.catalog.verify import VerificationFinding
    from gpudesk.costing.scenario_costs import CostCalculator
    from gpudesk.decision.outcome.decision import Decider
    from gpudesk.decision.outcome.search import OptionDecisions
    from gpudesk.decision.purchasing.reference_data import ReferenceData
    from gpudesk.domain.answer import Answer, AnswerImpact, SheetExtras
    from gpudesk.domain.decision import AnswerValue, Decision, DecisionFlip, WayOut
    from gpudesk.domain.deployment_analysis import AcceleratorScaling, ComparableRun, DerivationTerm, WorkedFigure
    from gpudesk.domain.diffusion import DiffusionEstimate, DiffusionRequest
    from gpudesk.domain.estimate import CalibrationCoverage, Estimate, EstimateRequest, LaunchOptions, LaunchPlan
    from gpudesk.domain.fleet import FleetAnswer
    from gpudesk.domain.profile import AcceleratorProfile, ProfileQuestion
    from gpudesk.domain.progress import ProgressSteps
    from gpudesk.domain.sizing import (
        AcceleratorNeeds,
        Demand,
        FitMatrix,
        FitQuestion,
        SizingResult,
        SmallestDeployments,
    )
    from gpudesk.engine.calibration import Calibration
    from gpudesk.estimation.diffusion import DiffusionEstimator
    from gpudesk.estimation.estimator import Estimator
    from gpudesk.estimation.mlperf_comparison import MlperfComparison
    from gpudesk.estimation.published_runs import HeldOutFigure, PublishedRunTable
    from gpudesk.estimation.sizing.fit_matrix import FitFinder
    from gpudesk.estimation.sweep.grid import Sweep
    from gpudesk.estimation.sweep.output import SweepRun
    from gpudesk.evidence.measured_runs import MeasuredRun
    from gpudesk.fleet.planner import FleetPlanner
    from gpudesk.profile.builder import ProfileBuilder


#: Plans kept in memory for batch lines, which can ask for thousands of deployments in turn.
_PLANS_OF_LINES = 200_000
#: Combinations of a model and accelerators whose copies of the user's facts are kept.
_MOST_CARRIED = 16


class GpuDeskService:
    """Answers every question of the program from one catalog and one calibration.

    Data is loaded on demand: the catalog is open from the start, constants and engine are loaded with the first
    estimate.
    """

    def __init__(self, catalog: Catalog, calibration_file: Path | None = None, user_file: Path | None = None) -> None:
        """Work with an open catalog, which is closed with the service.

        The calibration is the shipped one unless another file is given. The user's facts are those of `user_file`;
        without a file they last as long as the service.
        """
        #: The shipped facts with the user's; a new object after each change.
        self.catalog = catalog
        #: Whether answers rank announced accelerators together with shipping ones.
        self.rank_announced = False
        self._calibration_file = calibration_file
        self._carried: dict[tuple[str, ...], tuple[Mapping[str, object], ...]] = {}
        self._ready: Catalog | None = None
        self.user_catalog = UserCatalog(user_file, self._apply_user_facts)

    @classmethod
    def open(cls, *, with_user_facts: bool = True) -> GpuDeskService:
        """Open the shipped catalog; the user's facts are applied to it if `with_user_facts`."""
        user_file = paths.get_user_catalog_path() if with_user_facts else None
        return cls(Catalog.open(paths.get_catalog_path()), user_file=user_file)

    def close(self) -> None:
        self.user_catalog.close()
        self.catalog.close()

    def _apply_user_facts(self, facts: UserFacts, edit: FactEdit | None) -> None:
        """Apply the user's facts to the catalog, and drop results that depend on the former ones."""
        ready, self._ready = self._ready, None
        self.catalog = ready if ready is not None and ready.user_facts is facts else self.catalog.with_user_facts(facts)
        self._carried = {}
        for name in ("costing", "fleets", "decider", "profiles"):
            self.__dict__.pop(name, None)
        if edit is None or edit.moves_estimates:
            for name in ("estimator", "records", "fit", "mlperf", "diffusion"):
                self.__dict__.pop(name, None)

    def prepare(self, facts: UserFacts) -> None:
        """Precompute, in any thread, what is slow once these facts are in effect.

        The revision is a digest of all facts, of which there can be thousands.
        """
        ready = self.catalog.with_user_facts(facts)
        _ = ready.revision
        self._ready = ready

    def __enter__(self) -> GpuDeskService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def calibration(self) -> Calibration:
        """The fitted constants; raises `InputError` or `MissingFileError` if the file is unusable."""
        from gpudesk.evidence.calibration_file import read_calibration

        return read_calibration(self._calibration_file or paths.get_data_path("calibration.json"))

    @cached_property
    def estimator(self) -> Estimator:
        from gpudesk.estimation.estimator import Estimator

        return Estimator(self.catalog, self.calibration)

    @cached_property
    def measured_runs(self) -> tuple[tuple[MeasuredRun, ...], tuple[HeldOutFigure, ...]]:
        """The published runs with their held-out predictions; raises `InputError`."""
        from gpudesk.estimation.published_runs import read_published_runs

        try:
            folder = paths.get_data_path("measurements")
        except paths.MissingFileError as error:
            raise input_error(
                "records.missing", "published measurements are not available: {reason}", reason=str(error)
            ) from error
        return read_published_runs(folder, paths.find_held_out_path())

    @cached_property
    def records(self) -> PublishedRunTable:
        """The published runs in the terms of the catalog; raises `InputError`."""
        from gpudesk.estimation.published_runs import PublishedRunTable

        return PublishedRunTable(self.catalog, *self.measured_runs)

    @property
    def has_records(self) -> bool:
        """Whether the published runs have been read, which takes a quarter of a second."""
        return "records" in vars(self)

    @cached_property
    def mlperf(self) -> MlperfComparison:
        """The submitted results of MLPerf Inference; raises `InputError` or `MissingFileError`."""
        from gpudesk.estimation.mlperf_comparison import MlperfComparison, read_mlperf

        return MlperfComparison(read_mlperf(paths.get_data_path("measurements")), self.catalog)

    # Printed figures of documents

    @cached_property
    def worked_examples(self) -> tuple[WorkedFigure, ...]:
        """Printed figures, computed again; raises `InputError` or `MissingFileError`."""
        from gpudesk.costing.worked_examples import compute_worked_figure, read_calculations, read_worked_examples

        calculations = read_calculations(paths.get_data_path("calculations.toml"))
        examples = read_worked_examples(paths.get_data_path("worked_examples.csv"))
        computed = (compute_worked_figure(example, calculations) for example in examples)
        return tuple(figure for figure in computed if figure is not None)

    # Scenarios

    def read_scenario(self, path: Path) -> Scenario:
        """Read a scenario file whose ids the catalog has; raises `InputError` naming file and place."""
        from gpudesk.documents.scenario_file import read_scenario
        from gpudesk.domain.answer import check_scenario_ids
        from gpudesk.domain.user_facts import CarriedFactsError

        scenario = read_scenario(path)
        try:
            if scenario.user_records:
                # Loading it takes 20 ms before the first paint of every file, and few files carry facts.
                from gpudesk.documents.packs import check_carried_facts

                check_carried_facts(scenario, self.catalog)
            check_scenario_ids(scenario, self.catalog)
        except CarriedFactsError as error:
            error.where = str(path)
            raise
        except InputError as error:
            raise InputError(error.problem, f"{path}: {error.where}") from error
        return scenario

    def save_scenario(self, scenario: Scenario, path: Path) -> Scenario:
        """Write a scenario with the catalog's revision and the user's facts that it uses; return it."""
        from gpudesk.documents.scenario_file import write_scenario

        saved = replace(self._attach_user_facts(scenario), catalog_revision=self.catalog.revision)
        write_scenario(saved, path)
        return saved

    def _attach_user_facts(self, scenario: Scenario) -> Scenario:
        """Return a scenario with copies of the user's facts that it uses.

        The result is cached while the facts stay the same.
        """
        if not self.user_catalog.facts.facts:
            return replace(scenario, user_records=()) if scenario.user_records else scenario
        from gpudesk.documents.user_fact_json import write_scenario_records

        used = (scenario.model, *(choice.accelerator for choice in scenario.accelerators))
        # Not cleared when full but replaced: jobs on other threads may be about to read it.
        carried = self._carried
        if used not in carried:
            if len(carried) >= _MOST_CARRIED:
                carried = self._carried = {}
            carried[used] = write_scenario_records(scenario, self.user_catalog.facts)
        return replace(scenario, user_records=carried[used])

    def answer(self, scenario: Scenario, *, with_curves: bool = False, with_counts: bool = True) -> Answer:
        """Return the answer to a scenario, which carries the user's facts that it rests on; see `answer_scenario`."""
        from gpudesk.estimation.estimator import answer_scenario

        calibration = f"{self.calibration.newest_month}, {self.calibration.revision[:8]}"
        answer = answer_scenario(
            self._attach_user_facts(scenario),
            self.catalog,
            self.estimator,
            calibration,
            rank_announced=self.rank_announced,
            with_counts=with_counts,
        )
        return self.add_curves(answer) if with_curves else answer

    def add_curves(self, answer: Answer) -> Answer:
        from gpudesk.estimation.estimator import add_curves

        return add_curves(answer, self.estimator)

    def compute_impact(self, scenario: Scenario, edit: FactEdit) -> AnswerImpact:
        """Return the effect of an edit on a scenario; nothing is written.

        Raises `InputError` if the scenario cannot be answered, before or after.
        """
        from gpudesk.domain.answer import compare_answers
        from gpudesk.estimation.estimator import Estimator, answer_scenario

        before = self.answer(scenario)
        catalog = self.catalog.with_user_facts(self.user_catalog.facts.after(edit))
        estimator = Estimator(catalog, self.calibration) if edit.moves_estimates else self.estimator
        after = answer_scenario(scenario, catalog, estimator, before.calibration, rank_announced=self.rank_announced)
        return compare_answers(before, after)

    # Estimates

    def estimate(self, request: EstimateRequest) -> Estimate:
        """Answer one question; raises `InputError` if it cannot be answered."""
        return self.estimator.estimate(request)

    def estimate_lines(self, source: IO[bytes], target: IO[bytes]) -> int:
        """Answer JSON lines; return how many of them failed."""
        from gpudesk.estimation.batch import answer_stream

        self.estimator.remember(_PLANS_OF_LINES)
        return answer_stream(self.estimator, source, target)

    def sweep(self, sweep: Sweep, target: Path) -> SweepRun:
        """Return the run that writes a grid of estimates to a file; raises `InputError` for its suffix."""
        from gpudesk.estimation.sweep.output import SweepRun

        return SweepRun(sweep, self.catalog, self.calibration, target)

    def explain(self, estimate: Estimate, figure: str) -> DerivationTerm:
        """Return the derivation of a figure; raises `InputError` if it has none."""
        if not estimate.fits and figure not in ("memory", "max_concurrency"):
            raise InputError(estimate.reason or NOTHING_TO_EXPLAIN, figure)
        return self.estimator.explain(estimate, figure)

    def count_calibration_rows(self, estimate: Estimate) -> CalibrationCoverage:
        from gpudesk.estimation.derivation.figures import count_published_rows

        return count_published_rows(estimate, self.catalog, self.calibration)

    def record(self, estimate: Estimate, figure: str) -> tuple[ComparableRun, ...]:
        """Return the published figures nearest to a figure of an estimate; empty if it is based on none.

        Raises `InputError` if the published runs cannot be read.
        """
        from gpudesk.domain.deployment_analysis import find_published_figure

        if find_published_figure(estimate, figure) is None:
            return ()
        return self.records.nearest(estimate, figure, self.calibration.newest_month, self.estimator.estimate_many)

    def list_throughput_biases(self, answer: Answer) -> tuple[tuple[float, float] | None, ...]:
        """Return, for each column, how much the throughput of similar runs was estimated too high or too low.

        See `find_bias`. Empty if the published runs cannot be read.
        """
        from gpudesk.domain.deployment_analysis import find_bias

        figure, newest = "output_tokens_per_s", self.calibration.newest_month
        with suppress(InputError):
            return tuple(
                None
                if each.estimate is None
                else find_bias(self.records.nearest(each.estimate, figure, newest, None), each.accelerator.id)
                for each in answer.columns
            )
        return ()

    def source_text(self, source: str) -> str:
        from gpudesk.estimation.derivation.figures import describe_term_source

        return describe_term_source(source, self.catalog, self.calibration)

    # Images and video

    @cached_property
    def diffusion(self) -> DiffusionEstimator:
        """The estimator of diffusion models; raises `InputError` or `MissingFileError` without its constants."""
        from gpudesk.estimation.diffusion import DiffusionEstimator, read_diffusion_constants

        return DiffusionEstimator(
            self.catalog, read_diffusion_constants(paths.get_data_path("diffusion_constants.toml"))
        )

    def estimate_diffusion(self, request: DiffusionRequest) -> DiffusionEstimate:
        """Return the time and memory of a diffusion model; raises `InputError` if they cannot be estimated."""
        return self.diffusion.estimate(request)

    # Needs

    def needed(self, scenario: Scenario) -> tuple[tuple[SmallestDeployments, ...], ...]:
        """Return for each accelerator the smallest deployments by weight format, from wide to narrow.

        Counts and plans of the scenario are ignored; an unknown id raises `InputError`.
        """
        return self.estimator.needed(scenario.requests())

    @cached_property
    def fit(self) -> FitFinder:
        """The finder of the smallest deployments for all pairs of accelerator and model."""
        from gpudesk.estimation.sizing.fit_matrix import FitFinder

        return FitFinder(self.catalog, self.calibration)

    def fit_matrix(
        self, question: FitQuestion, accelerators: Sequence[str] | None = None, models: Sequence[str] | None = None
    ) -> FitMatrix:
        """Return how many of each accelerator hold each model; the whole catalog unless ids are given.

        Raises `InputError` for an unknown id, and for a context or concurrency below 1.
        """
        catalog = self.catalog
        parts = catalog.accelerators() if accelerators is None else map(catalog.accelerator, accelerators)
        models_to_fit = catalog.models() if models is None else map(catalog.model, models)
        return self.fit.matrix(question, tuple(parts), tuple(models_to_fit))

    def drop_old_fits(self) -> None:
        """Free the cached deployments of most pairs; they are found again when needed."""
        if "fit" in self.__dict__:
            self.fit.drop_old_pairs()

    def count_models_held(self, question: FitQuestion, accelerator: str) -> int:
        """Return how many models of the catalog one accelerator holds; raises `InputError` for an unknown id."""
        return self.fit.count_held_by_one(question, self.catalog.accelerator(accelerator), tuple(self.catalog.models()))

    def how_many(self, scenario: Scenario) -> AcceleratorNeeds:
        from gpudesk.domain.sizing import AcceleratorNeeds

        sizing = None if scenario.demand is None else self.size(scenario)
        return AcceleratorNeeds(self.needed(scenario), sizing)

    def size(self, scenario: Scenario) -> SizingResult:
        """Return how many of each accelerator the scenario's demand needs, within the budget if buying is answered.

        If latency matters most, replicas have the size of the shortest request time, else of the fewest accelerators.
        Counts of the scenario are ignored; degrees of a plan are those of one replica. Raises `InputError` without a
        demand, for an invalid one, and for an unknown id.
        """
        from gpudesk.fleet.supply import add_systems, note_budget

        demand, budget_usd = _require_demand(scenario), scenario.decision.purchase_budget_usd
        requests, quickest = scenario.requests(), scenario.decision.seeks_latency
        if budget_usd is None:
            sizing = self.estimator.size(requests, demand, quickest=quickest)
            return add_systems(sizing, self.catalog, scenario.fleet)

        def find_spend(replica: Estimate, count: int) -> float:
            return self.costing.compute_sized_upfront_usd(replica, count, scenario) or 0.0

        def find_excess(replica: Estimate, count: int) -> float:
            return max(0.0, find_spend(replica, count) - budget_usd)

        sizing = self.estimator.size(requests, demand, find_excess, quickest=quickest)
        return add_systems(note_budget(sizing, find_spend, budget_usd), self.catalog, scenario.fleet)

    # Costs

    @cached_property
    def costing(self) -> CostCalculator:
        """The cost calculator; raises `InputError` or `MissingFileError` without its assumptions."""
        from gpudesk.costing.inputs import read_cost_assumptions
        from gpudesk.costing.scenario_costs import CostCalculator

        return CostCalculator(self.catalog, read_cost_assumptions(paths.get_data_path("cost_assumptions.toml")))

    def make_sheet_extras(
        self, answer: Answer, flips: Sequence[DecisionFlip] = (), *, with_rules: bool = False
    ) -> SheetExtras:
        """Return what a sheet adds to an answer: counts, their costs, the recommendation, and the fleets.

        The recommendation is there if the user answered questions; `flips` are the changes that would alter it, if
        computed.
        """
        from gpudesk.domain.answer import SheetExtras

        leading = self.decide(answer)
        decision = leading if answer.scenario.decision.answers else None
        needs, costs = self.how_many(answer.scenario), self.costing.costs(answer)
        fleet = None if answer.scenario.demand is None else self.fleet(answer.scenario)
        judged = None if decision is None else self.decider.get_decision_costs(answer)
        biases = self.list_throughput_biases(answer)
        return SheetExtras(needs, costs, decision, tuple(flips), with_rules, leading, fleet, judged, biases)

    # Fleets

    @cached_property
    def fleets(self) -> FleetPlanner:
        """The fleet planner; raises `InputError` or `MissingFileError` without the cost assumptions."""
        from gpudesk.fleet.planner import FleetPlanner

        return FleetPlanner(self.catalog, self.estimator, self.costing)

    def fleet(self, scenario: Scenario) -> FleetAnswer:
        """Return the fleets for a scenario's demand.

        Raises `InputError` as `size`, and for an invalid fleet setting.
        """
        return self.fleets.plan(scenario, _require_demand(scenario))

    # Decisions

    def load_steps(self) -> ProgressSteps[None]:
        """Load, as a job, everything behind answers, decisions, selected figures and the catalog page.

        Errors surface on use.
        """
        from gpudesk.domain.progress import JobProgress

        loads: tuple[Callable[[], object], ...] = (
            lambda: self.estimator,
            lambda: self.costing,
            lambda: self.decider,
            lambda: self.reference_data.references,
            lambda: self.reference_data.export_rules,
            lambda: self.reference_data.steps,
            lambda: self.reference_data.support,
            lambda: self.reference_data.signals,
            lambda: self.user_catalog.writable,
            self.catalog.seed_claims,
            lambda: [self.catalog.attributes(part.id) for part in self.catalog.accelerators()],
            # A quarter of a second that the first selected figure would wait for.
            lambda: self.records,
        )
        for number, load in enumerate(loads):
            yield JobProgress(message("service.loading", "Reading rules and data"), number, len(loads))
            with suppress(InputError, paths.MissingFileError):
                load()

    @cached_property
    def decider(self) -> Decider:
        """The decider with the rules of documents; raises `InputError` or `MissingFileError` without them."""
        from gpudesk.decision.facts.decision_facts import DecisionFactsBuilder
        from gpudesk.decision.outcome.decision import Decider
        from gpudesk.decision.rules.data_files import read_rules

        return Decider(read_rules(paths.get_data_path("rules")), DecisionFactsBuilder(self), self.calibration)

    @cached_property
    def reference_data(self) -> ReferenceData:
        """Reference data for a recommendation: records and plans."""
        from gpudesk.decision.purchasing.reference_data import ReferenceData

        return ReferenceData(self)

    def decide(self, answer: Answer, user_answers: Mapping[str, AnswerValue] | None = None) -> Decision:
        """Return the decision on an answered scenario, with `user_answers` instead of its own answers if given.

        If nothing meets every limit, it has the ways out, whose search takes 100 ms and more.
        """
        from gpudesk.domain.progress import run_to_end

        decision = self.decider.decide(answer, user_answers)
        return replace(decision, ways_out=run_to_end(self.decider.search_ways_out(answer, decision)))

    def way_out_steps(self, answer: Answer, decision: Decision) -> ProgressSteps[tuple[WayOut, ...]]:
        """Search, as a job, for the smallest changes after which something meets every limit; return them."""
        return self.decider.fork(answer).search_ways_out(answer, decision)

    def find_flips_in_steps(self, answer: Answer) -> ProgressSteps[tuple[DecisionFlip, ...]]:
        """Search, as a job, for changes that would alter the decision on an answered scenario; return them."""
        from gpudesk.decision.outcome.flips import search_flips

        return search_flips(self.decider.fork(answer), answer)

    def flips(self, answer: Answer) -> tuple[DecisionFlip, ...]:
        """Return the changes that would alter the decision on an answered scenario, the smallest first."""
        from gpudesk.domain.progress import run_to_end

        return run_to_end(self.find_flips_in_steps(answer))

    def shortlist_in_steps(self, scenario: Scenario) -> ProgressSteps[Scenario]:
        """Search the catalog, as a job; return the scenario with the best accelerators for it as columns.

        At most six, each with the count that carries the load; if none meets every limit, the closest.
        """
        from gpudesk.decision.outcome.search import search_shortlist

        return search_shortlist(self, self.decider.fork(), scenario)

    def shortlist(self, scenario: Scenario) -> Scenario:
        from gpudesk.domain.progress import run_to_end

        return run_to_end(self.shortlist_in_steps(scenario))

    def find_questions_in_steps(self, answer: Answer) -> ProgressSteps[Mapping[str, OptionDecisions]]:
        """Search, as a job, for the questions whose answer can still change the recommendation, in order.

        Return for each the decision under each of its options.
        """
        from gpudesk.decision.outcome.search import search_questions

        return search_questions(self.decider.fork(answer), answer)

    # Profiles

    @cached_property
    def profiles(self) -> ProfileBuilder:
        """The profile builder; raises `InputError` or `MissingFileError` without its settings."""
        from gpudesk.profile.builder import ProfileBuilder
        from gpudesk.profile.settings import read_profile_settings

        return ProfileBuilder(self, read_profile_settings(paths.get_data_path("profile.toml")))

    def build_profile_in_steps(self, question: ProfileQuestion) -> ProgressSteps[AcceleratorProfile]:
        """Build, as a job, the profile of an accelerator; raises `InputError` for an unknown id."""
        return self.profiles.steps(question)

    def profile(self, question: ProfileQuestion) -> AcceleratorProfile:
        from gpudesk.domain.progress import run_to_end

        return run_to_end(self.build_profile_in_steps(question))

    # Launching

    @cached_property
    def launch_facts(self) -> Mapping[str, tuple[LaunchOptions, ...]]:
        """The options of serving engines by engine, newest version first; raises `InputError` or `MissingFileError`."""
        from gpudesk.estimation.launch import read_launch_facts

        return read_launch_facts(paths.get_data_path("launch.toml"))

    def launch(
        self,
        estimate: Estimate,
        serving_engine: str | None = None,
        version: str | None = None,
        *,
        reproduce: bool = False,
    ) -> LaunchPlan:
        """Return the commands that start a deployment and benchmark it, on its serving engine or another.

        Options are those of the newest version unless one is named; to `reproduce` the estimate, prefix caching is
        switched off if the estimate does not count it. Raises `InputError` if the deployment does not fit, has pools,
        or cannot be started by the engine, and for an unknown engine or version.
        """
        from gpudesk.estimation.launch import choose_launch_facts, make_launch_plan

        if estimate.pools is not None:
            raise input_error(
                "launch.pools",
                "Prefill and decode pools are separate systems; launch commands are not available for them",
            )
        engine = serving_engine or estimate.serving_engine
        if engine not in self.launch_facts:
            raise input_error(
                "launch.unknown",
                "No launch commands for {engine}; choose another serving engine",
                "serving_engine",
                engine=engine,
            )
        facts = choose_launch_facts(self.launch_facts[engine], version)
        if engine != estimate.serving_engine:
            estimate = self.estimate(replace(estimate.request, serving_engine=engine))
        if not estimate.fits:
            raise InputError(estimate.reason or NOTHING_TO_START)
        settings = self.estimator.launch_settings(
            estimate, self.catalog.list_systems_with(estimate.request.accelerator)
        )
        return make_launch_plan(estimate, facts, settings, reproduce=reproduce)

    # Costs of sharding

    def scaling(self, scenario: Scenario, *, brief: bool = False) -> tuple[AcceleratorScaling | InputError, ...]:
        """Return for each accelerator how it scales with the count; raises `InputError` if that cannot be computed."""
        return self.estimator.scalings(scenario.requests(), brief=brief)

    # The catalog

    def verify(self) -> tuple[VerificationFinding, ...]:
        from gpudesk.catalog.verify import verify_catalog

        return verify_catalog(self.catalog)


def _require_demand(scenario: Scenario) -> Demand:
    """Return the demand; without a TPOT limit, with the reading speed of those who wait."""
    from gpudesk.decision.facts.answers import get_reading_tpot_ms, resolve_answers

    if scenario.demand is None:
        raise input_error(
            "sizing.no_demand", "needs the demand of your users: users, requests per second or tokens per day", "demand"
        )
    if scenario.demand.tpot_ms is not None:
        return scenario.demand
    return replace(scenario.demand, tpot_ms=get_reading_tpot_ms(resolve_answers(scenario)))
