"""The sections of an accelerator's profile as tables and sentences, for the window, paper and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gpudesk.domain.accelerator import resolve_fp4
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, AttributeClaims, CatalogEntry, is_figure
from gpudesk.domain.profile import (
    AcceleratorProfile,
    Capability,
    CapabilityStatus,
    JobRecommendation,
    OutOfReach,
    PeerValue,
    ResourceHeadroom,
    ScaleStep,
    Upgrade,
)
from gpudesk.domain.registry import ATTRIBUTES, PEAK_DENSE, find_quantity, list_compared_attributes
from gpudesk.report.architecture import ArchitectureSketch, sketch_architecture
from gpudesk.report.comparison.attribute_rows import format_claim_value, is_user_chosen
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.data_table import DataCell, DataColumn, DataRow, DataTable
from gpudesk.report.diffusion import describe_grades
from gpudesk.report.labels import (
    label_attribute_alone,
    label_attribute_briefly,
    label_precision,
    label_serving_engine,
    shorten_name,
)
from gpudesk.report.profile_tables import (
    HeadlineSpecification,
    format_diffusion_settings,
    format_specification,
    format_status,
    label_job,
    label_resource,
    label_task,
    make_headline_specification,
)
from gpudesk.text.formatting import (
    MISSING_VALUE_TEXT,
    Formatter,
    IntervalEstimate,
    Quantity,
    convert_to_display_unit,
    find_readable_unit,
    get_display_unit,
    join_unit,
)
from gpudesk.text.messages import Message, capitalize_first, format_message
from gpudesk.text.translation import tr, translate_data, trn

_STATUS_ICONS: Final = {
    CapabilityStatus.NATIVE: "check",
    CapabilityStatus.QUANTIZED: "check",
    CapabilityStatus.NEEDS_MORE: "copy-plus",
    CapabilityStatus.IMPOSSIBLE: "circle-slash-2",
    CapabilityStatus.UNKNOWN: "circle-help",
}
#: Some requests wait for others, with any status.
_QUEUES_ICON: Final = "triangle-alert"
#: The accelerator attribute of a resource.
_RESOURCE_ATTRIBUTES: Final = {
    "memory": "memory",
    "bandwidth": "memory_bandwidth",
    "links": "scale_up_bandwidth",
    "host": "pcie_bandwidth",
    "power": "tdp",
}
#: Peaks for the compute specification, the first available one.
_PEAKS: Final = ("fp8", "bf16", "fp16", "int8")
#: Groups of specifications, in reading order.
SPECIFICATION_GROUPS: Final = ("memory", "dense", "sparse", "interconnect", "power", "price", "software")
#: Short reasons for a model.
_BRIEF_REASONS: Final = 2
#: Maximum models named in a cell.
_NAMED: Final = 3


class ProfileTables:
    """Builds the tables of one profile; `name_of` returns the name of a model or an accelerator by its id."""

    def __init__(self, profile: AcceleratorProfile, formatter: Formatter, name_of: Callable[[str], str]) -> None:
        self.profile = profile
        self.formatter = formatter
        self.name_of = name_of
        self._costs = MoneyFormatter(formatter)

    @classmethod
    def from_entries(
        cls, profile: AcceleratorProfile, formatter: Formatter, entries: Iterable[CatalogEntry]
    ) -> ProfileTables:
        """Return the tables of a profile; `entries` are those of the catalog, whose names they use."""
        names = {entry.id: shorten_name(entry.name) for entry in entries}
        return cls(profile, formatter, lambda entry_id: names.get(entry_id, entry_id))

    @property
    def name(self) -> str:
        return shorten_name(self.profile.accelerator.name)

    def say(self, text: Message | None) -> str:
        return "" if text is None else format_message(text, self.formatter)

    def with_formatter(self, formatter: Formatter) -> ProfileTables:
        return ProfileTables(self.profile, formatter, self.name_of)

    # In sentences

    def headline(self) -> str:
        return self.say(self.profile.headline)

    def tags(self) -> list[tuple[str, str]]:
        return [(self.say(tag.text), self.say(tag.rule)) for tag in self.profile.tags]

    def status(self) -> str:
        """Return whether it can be bought, and since when or from when on."""
        claims = self.profile.attributes.get("release_date")
        date = "" if claims is None or claims.value is None else self.formatter.date(str(claims.value))
        if self.profile.accelerator.discontinued:
            return tr("Discontinued, released {date}", date=date) if date else tr("Discontinued")
        if self.profile.accelerator.announced:
            return tr("Announced for {date}", date=date) if date else tr("Announced")
        if self.profile.accelerator.status is None:
            return tr("Availability not known")
        return tr("Shipping since {date}", date=date) if date else tr("Shipping")

    def architecture(self) -> ArchitectureSketch:
        return sketch_architecture(self.profile.accelerator, self.profile.attributes, self.formatter)

    def notes(self) -> list[str]:
        return [self.say(note) for note in self.profile.notes]

    def strengths(self) -> list[str]:
        return [self.say(trait.text) for trait in self.profile.traits if trait.is_strength]

    def considerations(self) -> list[str]:
        return [self.say(trait.text) for trait in self.profile.traits if not trait.is_strength]

    def advice(self) -> list[str]:
        """Return the verdict, the checks, and the meaning of the verdict's counts."""
        advice = self.profile.advice
        return [self.say(each) for each in (advice.verdict, *advice.checks, advice.rule)]

    def rivals(self) -> tuple[str, ...]:
        """Return the ids of the nearest rivals by price, then of those by memory, each once."""
        return tuple(dict.fromkeys((*self.profile.rivals_by_price, *self.profile.rivals_by_memory)))

    # The header

    def list_headline_specifications(self) -> tuple[HeadlineSpecification, ...]:
        peaks = (f"{PEAK_DENSE}{name}" for name in _PEAKS)
        known = {name for name, claims in self.profile.attributes.items() if claims.value is not None}
        peak = next((name for name in peaks if name in known), f"{PEAK_DENSE}{_PEAKS[0]}")
        names = ("memory", "memory_bandwidth", peak, "tdp", PRICE_BOUND_ATTRIBUTES[0])
        return tuple(make_headline_specification(name, self.profile, self.formatter) for name in names)

    # Capabilities

    def capabilities(self) -> DataTable:
        columns = (
            DataColumn(tr("Task"), stretch=3),
            DataColumn(tr("Status"), stretch=3),
            DataColumn(tr("Model"), stretch=5),
            DataColumn(tr("Rate or time"), is_figure=True),
        )
        rows = tuple(map(self._make_capability_row, self.profile.capabilities))
        question = self.profile.question
        subtitle = tr(
            "{n} in flight, {load} tokens, {kv} KV cache",
            n=self.formatter.count(question.concurrency),
            load=f"{self.formatter.count(question.input_tokens)} + {self.formatter.count(question.output_tokens)}",
            kv=label_precision(question.kv),
        )
        return DataTable("capabilities", tr("Capabilities"), subtitle, columns, rows)

    def _make_capability_row(self, each: Capability) -> DataRow:
        icon = _QUEUES_ICON if each.queues else _STATUS_ICONS[each.status]
        words = capitalize_first(format_status(each, self.formatter))
        model = MISSING_VALUE_TEXT if each.model is None else self.name_of(each.model)
        reason = self.say(each.reason)
        question_kv = resolve_fp4(self.profile.question.kv, self.profile.accelerator.vendor)
        details = [label_precision(each.weights)] if each.weights else []
        if each.request is not None and each.request.kv is not question_kv:
            details.append(tr("{kv} KV cache", kv=label_precision(each.request.kv)))
        if each.diffusion is not None:
            details.append(format_diffusion_settings(each.diffusion, self.formatter))
        if each.context_tokens:
            details.append(tr("{n} context", n=self.formatter.count(each.context_tokens)))
        if reason and each.count is None:
            details, reason = [capitalize_first(reason)], ""
        elif each.queues:
            details, reason = [*details, reason], ""
        figure = self._make_rate_cell(each)
        task = label_task(each.task)
        sentence = ". ".join(
            part
            for part in (
                f"{task}: {words}",
                ", ".join((model, *details)),
                f"{figure.text}, {tr('80% interval')} {figure.detail}" if each.figure else "",
                capitalize_first(reason),
            )
            if part
        )
        cells = (
            DataCell(task),
            DataCell(words, icon=icon),
            DataCell(model, ", ".join(details), mark=self._mark_settings(each.task), is_quiet=True),
            figure,
        )
        return DataRow(each.task, cells, sentence, each.request, diffusion=each.diffusion)

    def _mark_settings(self, row: str) -> str:
        """Return the mark of a row of images or videos with the user's settings."""
        return "own" if row in (self.profile.question.media or {}) else ""

    def _make_rate_cell(self, capability: Capability) -> DataCell:
        """Return the tokens per second of a task, or its time per image or video."""
        figure = capability.figure
        if figure is None:
            return DataCell(MISSING_VALUE_TEXT, is_quiet=True)
        factor, unit = find_readable_unit(figure.value, capability.unit)
        value, low, high = (each / factor for each in figure)
        text = f"{self.formatter.estimate(value)}\N{NO-BREAK SPACE}{unit}"
        mark = "" if capability.basis is None else capability.basis.value
        return DataCell(text, self.formatter.interval(low, high), mark=mark, is_strong=True)

    def _make_plain_rate_cell(self, figure: IntervalEstimate | None, mark: str = "") -> DataCell:
        """Return a rate whose unit is in the head."""
        if figure is None:
            return DataCell(MISSING_VALUE_TEXT, is_quiet=True)
        return DataCell(self.formatter.estimate(figure.value), self.formatter.band(figure), mark=mark, is_strong=True)

    def diffusion(self) -> DataTable:
        """Return every image and video model with the settings of its row."""
        columns = (
            DataColumn(tr("Model"), stretch=4),
            DataColumn(tr("Settings"), stretch=6),
            DataColumn(tr("Status"), stretch=3),
            DataColumn(tr("Grade"), stretch=2),
            DataColumn(tr("Seconds each"), is_figure=True),
        )
        rows = tuple(map(self._make_diffusion_row, self.profile.diffusion))
        estimates = [each.diffusion for each in self.profile.diffusion if each.diffusion is not None]
        note = describe_grades(estimates, self.formatter)
        return DataTable("diffusion", tr("Images and video"), "", columns, rows, note)

    def _make_diffusion_row(self, each: Capability) -> DataRow:
        name = MISSING_VALUE_TEXT if each.model is None else self.name_of(each.model)
        settings = "" if each.diffusion is None else format_diffusion_settings(each.diffusion, self.formatter)
        graded = None if each.diffusion is None else each.diffusion.grade
        grade = MISSING_VALUE_TEXT if graded is None else graded.label
        words = capitalize_first(format_status(each, self.formatter))
        reason = capitalize_first(self.say(each.reason))
        mark = "" if each.basis is None else each.basis.value
        key = f"{each.task}:{each.model}"
        cells = (
            DataCell(name, "" if each.weights is None else label_precision(each.weights)),
            DataCell(settings or reason, reason if settings else "", mark=self._mark_settings(key), is_quiet=True),
            DataCell(words, icon=_STATUS_ICONS[each.status]),
            DataCell(grade),
            self._make_plain_rate_cell(each.figure, mark),
        )
        time = "" if each.figure is None else f"{self.formatter.estimate_with_interval(each.figure)} s"
        sentence = ". ".join(part for part in (name, settings, f"{words}, {time}" if time else words, reason) if part)
        return DataRow(key, cells, sentence, diffusion=each.diffusion)

    # Limits

    def limits(self) -> DataTable:
        columns = (
            DataColumn(tr("Resource"), stretch=5),
            DataColumn(tr("Memory or time"), stretch=5, is_bar=True),
            DataColumn(tr("Share"), is_figure=True),
        )
        model = "" if self.profile.model is None else self.name_of(self.profile.model)
        first = self.profile.limits[0]
        known = first.headroom is not None
        rows = tuple(
            self._limit(each, each.reason if known or each.resource == "power" else None, is_first=not place)
            for place, each in enumerate(self.profile.limits)
        )
        note = capitalize_first(self.say(first.remedy if known else first.reason))
        return DataTable("limits", tr("Resource use"), model, columns, rows, note)

    def _limit(self, each: ResourceHeadroom, unknown: Message | None, *, is_first: bool) -> DataRow:
        """Return a row; `unknown` is why its use is not known, where its row tells that."""
        label = label_resource(each.resource)
        used, remedy = self.say(each.used), self.say(each.remedy)
        known = each.headroom is not None
        share = None if each.headroom is None else 1.0 - max(each.headroom, 0.0)
        shown_share = MISSING_VALUE_TEXT if share is None else self.formatter.per_cent(share)
        text = used if known else self.say(unknown) or used
        cells = (
            DataCell(label, is_strong=is_first),
            DataCell(text, share=share, is_strong=is_first, is_quiet=True),
            DataCell(shown_share, is_strong=is_first, is_quiet=not known),
        )
        is_time = known and each.resource != "memory"
        use = (f"{label}: {shown_share} {text}",) if is_time else (f"{label}: {shown_share}", capitalize_first(text))
        parts = (*use, remedy)
        sentence = ". ".join(part.rstrip(".") for part in parts if part)
        attribute = _RESOURCE_ATTRIBUTES.get(each.resource, "")
        if each.resource == "compute":
            attribute = self.list_headline_specifications()[2].attribute
        return DataRow(each.resource, cells, sentence, attribute=attribute)

    # Models

    def recommendations(self, *, best_only: bool = False) -> DataTable:
        """Return the models for each job by their scores, or only the best of each."""
        load = self.formatter.count(self.profile.question.concurrency)
        columns = (
            DataColumn(tr("Job"), stretch=2),
            DataColumn(tr("Model"), stretch=5),
            DataColumn(tr("Why"), stretch=7),
            DataColumn(tr("Context"), is_figure=True),
            DataColumn(tr("tok/s, one user"), is_figure=True),
            DataColumn(tr("tok/s, {n} users", n=load), is_figure=True),
            DataColumn(tr("Score"), is_figure=True),
        )
        rows, job = [], ""
        for each in self.profile.recommendations:
            is_first = each.job != job
            job = each.job
            if is_first or not best_only:
                most = _BRIEF_REASONS if best_only else len(each.why)
                rows.append(self._make_recommendation_row(each, each.why[:most], is_first=is_first))
        weights = self.format_weights()
        return DataTable("recommendations", tr("Models for each job"), weights, columns, tuple(rows))

    def format_weights(self) -> str:
        """Return the weights of the ranking, those of the mode or the user's."""
        weights = self.profile.weights
        if len(set(weights.values())) == 1:
            return tr("score out of 100, all factors weighted equally")
        weights_text = ", ".join(f"{factor.label} {self.formatter.exact(each)}" for factor, each in weights.items())
        return tr("score out of 100, weighted by {weights}", weights=weights_text)

    def _make_recommendation_row(self, each: JobRecommendation, why: Sequence[Message], *, is_first: bool) -> DataRow:
        name = self.name_of(each.model)
        first, *others = [self.say(reason) for reason in why] or [""]
        first, mark = capitalize_first(first), each.basis.value
        details = [label_precision(each.weights), label_serving_engine(each.serving_engine)]
        tier = (self.profile.question.tiers or {}).get(each.model)
        if tier is not None:
            details.append(tr("tier {n}", n=self.formatter.exact(tier)))
        cells = (
            DataCell(label_job(each.job) if is_first else "", is_strong=True),
            DataCell(name, ", ".join(details), is_strong=is_first),
            DataCell(first, "; ".join(others), is_quiet=True),
            DataCell(self.formatter.count(each.context_tokens)),
            self._make_plain_rate_cell(each.single, mark),
            self._make_plain_rate_cell(each.figure, mark),
            DataCell(self.formatter.number(each.score * 100), is_quiet=True),
        )
        sentence = f"{label_job(each.job)}: {name}, {label_precision(each.weights)}. {'; '.join((first, *others))}."
        return DataRow(f"{each.job}:{each.model}", cells, sentence, each.request)

    def out_of_reach(self) -> DataTable:
        columns = (
            DataColumn(tr("Model"), stretch=5),
            DataColumn(tr("Short, GiB"), is_figure=True),
            DataColumn(tr("Count"), is_figure=True),
            DataColumn(tr("tok/s"), is_figure=True),
            DataColumn(tr("USD/M output"), is_figure=True),
        )
        rows = tuple(map(self._reach, self.profile.out_of_reach))
        holds_all = any(each.count == 1 and each.models_held == each.models for each in self.profile.scale)
        note = tr("One accelerator holds every model of the catalog") if holds_all else tr("Not known")
        note = "" if rows else note
        return DataTable("out_of_reach", tr("Just out of reach"), "", columns, rows, note)

    def _reach(self, each: OutOfReach) -> DataRow:
        name, weights = self.name_of(each.model), label_precision(each.weights)
        missing = self.formatter.gib(each.missing_bytes)
        count = self.formatter.count(each.count)
        cost = each.usd_per_million_output
        format_text = weights
        if each.smaller_format is not None:
            format_text = tr(
                "{weights}, or one in {narrow}", weights=weights, narrow=label_precision(each.smaller_format)
            )
        cells = (
            DataCell(name, format_text),
            DataCell(missing),
            DataCell(count, is_strong=True),
            self._make_plain_rate_cell(each.figure),
            DataCell(
                self._costs.small(None if cost is None else cost.value), "" if cost is None else self._costs.band(cost)
            ),
        )
        sentence = tr(
            "{model}, {weights}: {missing} GiB short, needs {n}", model=name, weights=weights, missing=missing, n=count
        )
        reason = self.say(each.reason)
        return DataRow(each.model, cells, f"{sentence}. {reason}".rstrip(". "), each.request)

    # More accelerators, or another one

    def scale(self) -> DataTable:
        models = self.formatter.count(max((each.models for each in self.profile.scale), default=0))
        columns = (
            DataColumn(tr("Count"), stretch=1),
            DataColumn(tr("Memory, GiB"), is_figure=True),
            DataColumn(tr("Models of {n}", n=models), is_figure=True),
            DataColumn(tr("tok/s"), is_figure=True),
            DataColumn(tr("tok/s each"), is_figure=True),
        )
        model = "" if self.profile.model is None else self.name_of(self.profile.model)
        rows = tuple(map(self._make_step_row, self.profile.scale))
        note = tr("TB/s by rule: bandwidth × count × 0.88 (MI325X product page). Estimates do not use this rule.")
        return DataTable("scale", tr("Several accelerators"), model, columns, rows, note)

    def _make_step_row(self, each: ScaleStep) -> DataRow:
        count = self.formatter.count(each.count)
        memory = self.formatter.gib(each.memory_bytes)
        rule = each.bandwidth_rule if each.count > 1 else None
        flat_rule = ""
        if rule is not None:
            flat_rule = tr("{n} TB/s by rule", n=self.formatter.estimate(rule / 1e12))
        share = each.per_accelerator
        cells = (
            DataCell(count, is_strong=True),
            DataCell(memory, flat_rule),
            DataCell(self.formatter.count(each.models_held)),
            self._make_plain_rate_cell(each.figure),
            DataCell(MISSING_VALUE_TEXT if share is None else self.formatter.estimate(share.value), is_quiet=True),
        )
        sentence = tr(
            "{n} × {name}: {memory} GiB, {held} of {models} models",
            n=count,
            name=self.name,
            memory=memory,
            held=self.formatter.count(each.models_held),
            models=self.formatter.count(each.models),
        )
        reason = self.say(each.reason)
        return DataRow(count, cells, f"{sentence}. {reason}".rstrip(". "))

    def upgrades(self) -> DataTable:
        columns = (
            DataColumn(tr("Step"), stretch=4),
            DataColumn(tr("Unlocks"), stretch=8),
            DataColumn(tr("Relative speed"), is_figure=True),
            DataColumn(tr("Extra USD"), is_figure=True),
            DataColumn(tr("USD per model"), is_figure=True),
        )
        rows = tuple(map(self._upgrade, self.profile.upgrades))
        budget = self.profile.question.budget_usd
        subtitle = (
            tr("by cost per unlocked model")
            if budget is None
            else tr("by cost per unlocked model, budget {usd}", usd=self._format_money(budget))
        )
        note = self._describe_budget() if rows else tr("No step unlocks a model")
        return DataTable("upgrades", tr("Upgrades"), subtitle, columns, rows, note)

    def _describe_budget(self) -> str:
        """Return the step that unlocks most models within the budget, empty without a budget."""
        if self.profile.question.budget_usd is None:
            return ""
        within = [each for each in self.profile.upgrades if each.within_budget]
        if not within:
            return tr("No step is within the budget")
        best = max(within, key=lambda each: (len(each.unlocked), -(each.extra_usd or 0.0)))
        count = trn("{n} model", "{n} models", len(best.unlocked), n=self.formatter.count(len(best.unlocked)))
        return tr("Most models within budget: {step}, {models}", step=self._name_step(best), models=count)

    def _name_step(self, each: Upgrade) -> str:
        name = self.name_of(each.accelerator)
        return name if each.count == 1 else f"{self.formatter.count(each.count)} × {name}"

    def _upgrade(self, each: Upgrade) -> DataRow:
        step = self._name_step(each)
        details = [tr("announced")] if each.announced else []
        if each.within_budget is not None:
            details.append(tr("within budget") if each.within_budget else tr("over budget"))
        names = [self.name_of(model) for model in each.unlocked]
        unlocked = ", ".join(names[:_NAMED])
        if len(names) > _NAMED:
            unlocked = tr("{names} and {n} more", names=unlocked, n=self.formatter.count(len(names) - _NAMED))
        speed = MISSING_VALUE_TEXT if each.speedup is None else f"× {self.formatter.estimate(each.speedup)}"
        count = trn("{n} model", "{n} models", len(names), n=self.formatter.count(len(names)))
        reason = self.say(each.reason)
        is_cheaper = each.extra_usd is not None and each.extra_usd <= 0.0
        per_model = tr("no extra cost") if is_cheaper else self.formatter.estimate(each.usd_per_unlocked)
        cells = (
            DataCell(step, ", ".join(details), is_strong=True),
            DataCell(count, unlocked or reason),
            DataCell(speed),
            DataCell(self.formatter.estimate(each.extra_usd), is_quiet=each.extra_usd is None),
            DataCell(per_model, is_quiet=each.usd_per_unlocked is None),
        )
        whole = ", ".join(names)
        sentence = ". ".join(part for part in (f"{step}: {count}", whole, reason) if part)
        return DataRow(f"{each.accelerator}:{each.count}", cells, sentence, accelerator=each.accelerator)

    def _format_money(self, usd: float) -> str:
        return self.formatter.money(self.formatter.number(usd), "USD")

    # Peers

    def peers(self) -> DataTable:
        rivals = self.rivals()
        columns = (
            DataColumn(tr("Attribute"), stretch=5),
            *(DataColumn(name, is_figure=True, stretch=1) for name in (self.name, tr("Mean"))),
            *(DataColumn(self.name_of(each), is_figure=True, stretch=1) for each in rivals),
        )
        rows = tuple(self._make_peer_row(each, rivals) for each in self.profile.peers)
        members = len(self.profile.category_members)
        subtitle = tr(
            "mean of {n} in its category; nearest by price: {priced}; by memory: {large}",
            n=self.formatter.count(members),
            priced=self._list_names(self.profile.rivals_by_price),
            large=self._list_names(self.profile.rivals_by_memory),
        )
        return DataTable("peers", tr("Compared with its peers"), subtitle, columns, rows)

    def _list_names(self, ids: Sequence[str]) -> str:
        return ", ".join(map(self.name_of, ids)) or tr("none")

    def _make_peer_row(self, each: PeerValue, rivals: Sequence[str]) -> DataRow:
        name = PRICE_BOUND_ATTRIBUTES[0] if each.attribute == "price" else each.attribute
        quantity = find_quantity(name, ATTRIBUTES[name].unit)
        display_unit = get_display_unit(quantity)
        label = label_attribute_alone(name)
        head = f"{label}, {display_unit}" if display_unit else label
        values = [each.value, *(each.rivals.get(rival) for rival in rivals)]
        texts = [self._format_peer(value, quantity) for value in values]
        mean = each.mean
        # Memory has one decimal, however large.
        if mean and quantity is not Quantity.MEMORY:
            display_value = convert_to_display_unit(mean, quantity)
            mean *= self.formatter.round_estimate(display_value) / display_value
        texts.insert(1, self._format_peer(mean, quantity))
        cells = (
            DataCell(head),
            DataCell(texts[0], is_strong=True),
            DataCell(texts[1], is_quiet=True),
            *(DataCell(text, is_quiet=True) for text in texts[2:]),
        )
        names = (self.name, tr("mean"), *(self.name_of(rival) for rival in rivals))
        values_text = ", ".join(f"{name} {text}" for name, text in zip(names, texts, strict=True))
        return DataRow(name, cells, f"{head}: {values_text}", attribute=name)

    def _format_peer(self, value: float | None, quantity: Quantity) -> str:
        if value is None:
            return MISSING_VALUE_TEXT
        if quantity is Quantity.USD:
            return self.formatter.number(value)
        return format_specification(value, quantity, self.formatter)

    # All known values

    def make_specification_table(self, group: str) -> DataTable:
        """Return the attributes of a group of Compare, with the source of each value."""
        titles = {
            "memory": tr("Memory"),
            "dense": tr("Compute, dense"),
            "sparse": tr("Compute, sparse"),
            "interconnect": tr("Links"),
            "power": tr("Board and chip"),
            "price": tr("Price"),
            "software": tr("Software"),
        }
        columns = (
            DataColumn(tr("Attribute"), stretch=4),
            DataColumn(tr("Value"), stretch=5),
            DataColumn(tr("Source"), stretch=6),
        )
        known = [
            (label_attribute_briefly(attribute), claims)
            for attribute in list_compared_attributes(group)
            if (claims := self.profile.attributes.get(attribute.key)) is not None and claims.value is not None
        ]
        rows = tuple(self._make_specification_row(label, claims) for label, claims in known)
        return DataTable(f"specifications.{group}", titles[group], "", columns, rows, "" if rows else tr("Not known"))

    def _make_specification_row(self, label: str, claims: AttributeClaims) -> DataRow:
        claim = claims.preferred
        value = format_claim_value(claims, claims.value, self.formatter)
        if claims.name == PRICE_BOUND_ATTRIBUTES[0] and is_figure(claims.value):
            high = self.profile.attributes.get(PRICE_BOUND_ATTRIBUTES[1])
            upper = None if high is None or not is_figure(high.value) else high.value
            texts = dict.fromkeys(self.formatter.number(each) for each in (claims.value, upper) if each is not None)
            label, value = tr("Purchase price"), join_unit(" – ".join(texts), "USD", " ")
        source = ""
        if claim is not None:
            kind = claim.kind.label
            date = "" if claim.source.date is None else self.formatter.date(claim.source.date)
            parts = (translate_data(claim.source.named_publisher or claim.source.title), kind, date)
            source = ", ".join(part for part in parts if part)
        mark = "own" if is_user_chosen(claims) else "disputed" if claims.disputed else ""
        cells = (DataCell(label, is_quiet=True), DataCell(value, mark=mark), DataCell(source, is_quiet=True))
        disputed = tr("sources disagree") if claims.disputed else ""
        sentence = ", ".join(part for part in (f"{label}: {value}", source, disputed) if part)
        return DataRow(claims.name, cells, sentence, attribute=claims.name)
