"""The terms of one step: bytes and operations of every operator class, with the constants behind them.

Quantities that coefficients hold as seconds are converted back to bytes and operations, so that each formula can be
followed with its numbers.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from gpudesk.domain.deployment_analysis import DerivationTerm, derive_term, format_placeholder
from gpudesk.engine.memory import ResolvedDeployment
from gpudesk.engine.rates import AGE_POWER, StepModel
from gpudesk.engine.step_work import ArithmeticPeak
from gpudesk.engine.steps import (
    CoefficientColumns,
    StepCoefficients,
    compute_decode_attention,
    compute_expert_coverage,
    compute_prefill_attention,
    compute_stretch,
)
from gpudesk.frozen_dataclass import frozen_dataclass

#: Names of the share and the peak of each format, if dense matrices have two.
_DENSE_PARTS = (
    ("share of feed-forward blocks", "peak of feed-forward blocks"),
    ("share of the rest", "peak of the rest"),
)
_JOIN = "({reading}² + {arithmetic}²)^½"


def make_step_terms(
    deployment: ResolvedDeployment, steps: StepModel, running: float, context: float
) -> tuple[DerivationTerm, ...]:
    """Return the terms of one decode step with `running` sequences in the replica."""
    coefficients = steps.coefficients
    sequences = max(running / coefficients.stages, 1.0)
    resident = max(sequences, coefficients.attention_ranks)
    busiest = resident * coefficients.verified_tokens
    step = _StepTermBuilder(deployment, steps)
    operators = (
        *step.common(sequences * coefficients.verified_tokens, busiest),
        step.head(busiest / coefficients.attention_ranks),
        step.cache(resident, context),
    )
    return (
        *operators,
        step.overhead(resident / coefficients.attention_ranks, operators),
        *make_stretch_terms(coefficients, running),
    )


def make_chunk_terms(
    deployment: ResolvedDeployment, steps: StepModel, chunk: float, prompt: float, cached: float, waiting: float
) -> tuple[DerivationTerm, ...]:
    """Return the terms of one prefill chunk of `chunk` tokens with `waiting` queued prompts.

    `prompt` tokens of each are computed, after `cached` ones.
    """
    coefficients = steps.coefficients
    busiest = chunk * coefficients.attention_ranks / min(max(waiting, 1.0), coefficients.attention_ranks)
    sampled = busiest / (max(prompt, 1.0) * coefficients.attention_ranks)
    step = _StepTermBuilder(deployment, steps)
    operators = (
        *step.common(chunk, busiest),
        step.prompt_attention(busiest, cached + 0.5 * prompt),
        *step.make_state_terms(busiest),
        step.prompt_head(sampled),
    )
    overhead = step.overhead(0.0, operators)
    return (*operators, overhead, *step.make_host_wait_terms((*operators, overhead)))


def make_stretch_terms(coefficients: StepCoefficients, sequences: float) -> tuple[DerivationTerm, ...]:
    """Return the slowdown by stages that wait for each other in steps of this many sequences; none for one stage."""
    if coefficients.stages == 1:
        return ()
    rows = CoefficientColumns(CoefficientColumns.table([coefficients]))
    stretch = np.asarray(compute_stretch(rows, np.array([sequences])))
    return (DerivationTerm("stretch by pipeline stages", stretch.item(), None, source="calibration:stage_bubble"),)


def _make_constant_term(name: str, value: float, unit: str | None = None) -> DerivationTerm:
    return DerivationTerm(name, value, unit, source=f"calibration:{name.replace(' ', '_')}")


def _is_sum(formula: str) -> bool:
    """Whether there is a plus outside of brackets, which are not nested."""
    return " + " in re.sub(r"\([^()]*\)", "", formula)


def _join_operator(name: str, reading: DerivationTerm, arithmetic: DerivationTerm) -> DerivationTerm:
    """Return an operator class: the smooth maximum of its reading and its arithmetic."""
    read_time, computed = reading.number, arithmetic.number
    return derive_term(name, math.hypot(read_time, computed), "s", _JOIN, reading, arithmetic)


@frozen_dataclass
class _StepTermBuilder:
    """Makes the terms of one deployment."""

    deployment: ResolvedDeployment
    steps: StepModel

    def _timed(self, name: str, seconds: float, formula: str, *inputs: DerivationTerm) -> DerivationTerm:
        """Return a time with its slowdown: older software, and the pair of accelerator and serving engine."""
        pairing = replace(_make_constant_term("pairing", self.steps.rates.pairing), name="residual factor")
        stretches = [each for each in (self._make_age_term(), pairing) if each.value != 1.0]
        if stretches:
            bracketed = f"({formula})" if _is_sum(formula) else formula
            formula = " × ".join((bracketed, *(format_placeholder(each.name) for each in stretches)))
        return derive_term(name, seconds, "s", formula, *inputs, *stretches)

    def _make_age_term(self) -> DerivationTerm:
        factor, years = self.steps.rates.age_factor, self.deployment.configuration.months_old / 12.0
        slowdown = math.log(factor) / years**AGE_POWER if years else 0.0
        return derive_term(
            "slowdown by age",
            factor,
            None,
            f"e^({{age_slowdown}} × {{years_back}}^{AGE_POWER:g})",
            _make_constant_term("age slowdown", slowdown),
            DerivationTerm("years back", years, None, source="scenario"),
        )

    def _remove_stretch(self, seconds: float) -> float:
        return seconds / self.steps.rates.stretch

    @property
    def _rows(self) -> CoefficientColumns:
        return CoefficientColumns(CoefficientColumns.table([self.steps.coefficients]))

    @property
    def _model(self) -> str:
        return f"catalog:{self.deployment.configuration.model.id}"

    @property
    def _bandwidth(self) -> DerivationTerm:
        part = self.deployment.configuration.accelerator
        source = f"catalog:{part.id}/memory_bandwidth"
        return DerivationTerm("memory bandwidth", part.memory_bandwidth, "B/s", source=source)

    def _make_peak_term(self, peak: ArithmeticPeak) -> DerivationTerm:
        source = f"catalog:{self.deployment.configuration.accelerator.id}/peak_dense_{peak.precision}"
        return DerivationTerm("peak", peak.flops, "FLOP/s", source=source)

    def _make_rank_terms(self) -> tuple[DerivationTerm, ...]:
        tp = self.deployment.plan.tp
        return () if tp == 1 else (DerivationTerm("ranks", tp, None),)

    def _format_rate(self, *factors: str) -> str:
        """Return the divisor of a formula: the effective rate of all ranks that share the work."""
        names = (*(term.name for term in self._make_rank_terms()), *factors)
        return f"({' × '.join(map(format_placeholder, names))})"

    def _make_reading_term(
        self, seconds: float, size: DerivationTerm, efficiency: DerivationTerm, *shares: DerivationTerm
    ) -> DerivationTerm:
        amount = " × ".join(format_placeholder(term.name) for term in (size, *shares))
        formula = f"{amount} ÷ ({{memory_bandwidth}} × {format_placeholder(efficiency.name)})"
        return self._timed("reading", seconds, formula, size, *shares, self._bandwidth, efficiency)

    def common(self, tokens: float, busiest: float) -> tuple[DerivationTerm, ...]:
        """Return the terms that decode and prefill share.

        `busiest` is the tokens of the most loaded attention rank.
        """
        terms = [self._make_dense_term(busiest)]
        if self.deployment.budget.shards.expert_count:
            touched = self._make_expert_share_term(tokens)
            terms += (self._make_expert_term(tokens, touched), self._make_expert_call_term(touched))
        terms.append(self._make_activation_term(busiest))
        if self.deployment.plan.count > self.deployment.plan.dp:
            terms.append(self._make_collectives_term(tokens))
        return tuple(terms)

    def _make_dense_term(self, tokens: float) -> DerivationTerm:
        coefficients, rates, shards = self.steps.coefficients, self.steps.rates, self.deployment.budget.shards
        size = DerivationTerm("bytes", shards.dense.stored_bytes, "B", source=self._model)
        reading = self._make_reading_term(
            coefficients.dense_read, size, _make_constant_term("weight read efficiency", rates.dense_read_efficiency)
        )
        arithmetic = self._timed(
            "arithmetic",
            coefficients.dense_flop * tokens,
            f"2 × {{parameters}} × {{tokens}} ÷ {self._format_rate('peak', 'gemm efficiency')}",
            DerivationTerm("parameters", shards.dense_elements_undivided, None, source=self._model),
            DerivationTerm("tokens", tokens, "tokens"),
            *self._make_rank_terms(),
            self._make_dense_peak_term(),
            _make_constant_term("gemm efficiency", rates.dense_efficiency),
        )
        return _join_operator("dense matrices", reading, arithmetic)

    def _make_dense_peak_term(self) -> DerivationTerm:
        """Return the peak of the dense matrices, combined if they have two formats."""
        ceilings = self.steps.ceilings[0]
        if not ceilings.dense_parts:
            return self._make_peak_term(ceilings.dense_peak)
        inputs = []
        for (share_name, peak_name), (share, peak) in zip(_DENSE_PARTS, ceilings.dense_parts, strict=True):
            inputs.append(DerivationTerm(share_name, share, None, source=self._model))
            inputs.append(replace(self._make_peak_term(peak), name=peak_name))
        summed = " + ".join(
            f"{format_placeholder(share.name)} ÷ {format_placeholder(peak.name)}"
            for share, peak in zip(inputs[::2], inputs[1::2], strict=True)
        )
        return derive_term("peak", ceilings.dense_peak.flops, "FLOP/s", f"1 ÷ ({summed})", *inputs)

    def _make_expert_share_term(self, tokens: float) -> DerivationTerm:
        """Return the share of its experts that the most loaded rank reads in a step; see `compute_expert_coverage`."""
        coefficients, shards = self.steps.coefficients, self.deployment.budget.shards
        rows = CoefficientColumns(CoefficientColumns.table([coefficients, replace(coefficients, expert_skew=0.0)]))
        touched, average = compute_expert_coverage(rows, np.array([tokens, tokens])).tolist()
        others = max(0.0, tokens * coefficients.expert_spread - 1.0)
        share = derive_term(
            "share of experts touched",
            average,
            None,
            "1 − (1 − {experts_per_token} ÷ {experts})"
            " × (1 + {other_tokens} × {choices_per_token} ÷ {expert_evenness})^(−{expert_evenness})",
            DerivationTerm("experts per token", shards.experts_per_token, None, source=self._model),
            DerivationTerm("experts", shards.expert_count, None, source=self._model),
            DerivationTerm("other tokens", others, "tokens", "all tokens of the step but the first"),
            DerivationTerm(
                "choices per token",
                -coefficients.expert_log_miss,
                None,
                "average choices of an expert that give the right chance to miss one",
            ),
            _make_constant_term("expert evenness", self.steps.rates.expert_evenness),
        )
        if touched <= average:
            return share
        formula = (
            "{average} + {excess_of_the_most_loaded_rank} × ({average} × (1 − {average}))^½" if touched < 1.0 else "1"
        )
        return derive_term(
            "share of experts touched", touched, None, formula, replace(share, name="average"), self._rank_excess()
        )

    def _rank_excess(self) -> DerivationTerm:
        """Return how far the most loaded rank is above the mean; see `compute_expert_skew`."""
        return derive_term(
            "excess of the most loaded rank",
            self.steps.coefficients.expert_skew,
            None,
            "((2 × ln({ranks_that_share_experts}))^½ − 0.6) × (({ranks_that_share_experts} − 1) ÷ {experts})^½",
            DerivationTerm("ranks that share experts", self.deployment.plan.ep, None),
            DerivationTerm("experts", self.deployment.budget.shards.expert_count, None, source=self._model),
        )

    def _make_expert_call_term(self, touched: DerivationTerm) -> DerivationTerm:
        """Return what the calls of the touched experts take on top of their products."""
        shards = self.deployment.budget.shards
        return self._timed(
            "expert calls",
            self.steps.coefficients.expert_call_fixed * touched.number,
            "{expert_layers} × {experts_per_rank} × {share_of_experts_touched} × {expert_call_time}",
            DerivationTerm("expert layers", shards.moe_layers, None, source=self._model),
            DerivationTerm("experts per rank", shards.expert_count / self.deployment.plan.ep, None, source=self._model),
            touched,
            _make_constant_term("expert call time", self.steps.rates.expert_call_s, "s"),
        )

    def _make_expert_term(self, tokens: float, touched: DerivationTerm) -> DerivationTerm:
        coefficients, rates, ceilings, shards = (
            self.steps.coefficients,
            self.steps.rates,
            self.steps.ceilings[0],
            self.deployment.budget.shards,
        )
        share = touched.number
        size = DerivationTerm("bytes", shards.experts.stored_bytes, "B", source=self._model)
        efficiency = _make_constant_term("expert read efficiency", rates.expert_read_efficiency)
        busiest = 1.0 + rates.expert_skew * self.steps.work.expert_skew
        skew = (
            derive_term(
                "load of the most loaded rank",
                busiest,
                None,
                "1 + {expert_skew} × {excess_of_the_most_loaded_rank}",
                _make_constant_term("expert skew", rates.expert_skew),
                self._rank_excess(),
            ),
        )
        arithmetic = self._timed(
            "arithmetic",
            coefficients.expert_flop * (tokens + coefficients.expert_offset * share),
            "2 × {active_parameters} × ({tokens} + {tokens_lost_to_small_groups})"
            + (" × {load_of_the_most_loaded_rank}" if busiest > 1.0 else "")
            + f" ÷ {self._format_rate('peak', 'expert gemm efficiency')}",
            DerivationTerm("active parameters", shards.active_expert_elements, None, source=self._model),
            DerivationTerm("tokens", tokens, "tokens"),
            DerivationTerm(
                "tokens lost to small groups",
                coefficients.expert_offset * share,
                "tokens",
                source="calibration:expert_half_tokens",
            ),
            *(skew if busiest > 1.0 else ()),
            *self._make_rank_terms(),
            self._make_peak_term(ceilings.expert_peak),
            _make_constant_term("expert gemm efficiency", rates.expert_efficiency),
        )
        return _join_operator(
            "routed experts",
            self._make_reading_term(coefficients.expert_read * share, size, efficiency, touched),
            arithmetic,
        )

    def _make_activation_term(self, tokens: float) -> DerivationTerm:
        rates, ceilings = self.steps.rates, self.steps.ceilings[0]
        seconds = self.steps.coefficients.activation_token * tokens
        moved = self._remove_stretch(self.steps.coefficients.activation_token) * (
            ceilings.bandwidth * rates.dense_read_efficiency
        )
        inputs = [_make_constant_term("activation traffic", rates.activation_traffic)]
        if self.deployment.budget.shards.expert_count:
            inputs.append(_make_constant_term("routing traffic", rates.routing_traffic))
        return self._timed(
            "activation traffic",
            seconds,
            "{tokens} × {bytes_per_token} ÷ ({memory_bandwidth} × {weight_read_efficiency})",
            DerivationTerm("tokens", tokens, "tokens"),
            derive_term("bytes per token", moved, "B", "hidden vector × memory passes, over all layers", *inputs),
            self._bandwidth,
            _make_constant_term("weight read efficiency", rates.dense_read_efficiency),
        )

    def make_state_terms(self, tokens: float) -> tuple[DerivationTerm, ...]:
        """Return the passes of a prefill chunk over recurrent states; none without such states."""
        rates, each = self.steps.rates, self.steps.coefficients.pstate_token
        if not each:
            return ()
        moved = self._remove_stretch(each) * self.steps.ceilings[0].bandwidth * rates.kv_read_efficiency
        passes = _make_constant_term("state traffic", rates.state_traffic)
        return (
            self._timed(
                "recurrent states",
                each * tokens,
                "{tokens} × {bytes_per_token} ÷ ({memory_bandwidth} × {kv_read_efficiency})",
                DerivationTerm("tokens", tokens, "tokens"),
                derive_term(
                    "bytes per token", moved, "B", "recurrent states × memory passes, once per 64 tokens", passes
                ),
                self._bandwidth,
                _make_constant_term("kv read efficiency", rates.kv_read_efficiency),
            ),
        )

    def head(self, tokens: float) -> DerivationTerm:
        """Return the LM head of a decode step of `tokens` on one attention rank."""
        return _join_operator("LM head", *self._make_head_terms(tokens))

    def _make_head_terms(self, tokens: float) -> tuple[DerivationTerm, DerivationTerm]:
        """Return the reading and the arithmetic of the LM head."""
        rates, ceilings, share = (self.steps.rates, self.steps.ceilings[0], self.deployment.budget.shards.head)
        reading = self._make_reading_term(
            self.steps.coefficients.head_read,
            DerivationTerm("bytes", share.stored_bytes, "B", source=self._model),
            _make_constant_term("weight read efficiency", rates.dense_read_efficiency),
        )
        return reading, self._timed(
            "arithmetic",
            self.steps.coefficients.head_flop * tokens,
            "2 × {parameters} × {tokens} ÷ ({peak} × {gemm_efficiency})",
            DerivationTerm("parameters", share.elements, None, source=self._model),
            DerivationTerm("tokens", tokens, "tokens"),
            self._make_peak_term(ceilings.attention_peak),
            _make_constant_term("gemm efficiency", rates.dense_efficiency),
        )

    def prompt_head(self, sampled: float) -> DerivationTerm:
        """Return the LM head of a prefill chunk, which reads it once and samples once per prompt."""
        reading, arithmetic = self._make_head_terms(sampled)
        total = reading.number + arithmetic.number
        return derive_term("LM head", total, "s", "{reading} + {arithmetic}", reading, arithmetic)

    def cache(self, resident: float, context: float) -> DerivationTerm:
        """Return the attention of a decode step with `resident` sequences of `context` tokens each."""
        coefficients, rates, ceilings = self.steps.coefficients, self.steps.rates, self.steps.ceilings[0]
        cache_read, attend = (float(part[0]) for part in compute_decode_attention(self._rows, np.array([context])))
        rate = ceilings.bandwidth * rates.kv_read_efficiency
        tokens = DerivationTerm("mean context", context, "tokens", "input tokens + half of the output tokens")
        reading = self._timed(
            "reading",
            resident * cache_read,
            "{sequences} × {cache_of_one_sequence} ÷ ({memory_bandwidth} × {kv_read_efficiency})",
            DerivationTerm("sequences", resident, None),
            DerivationTerm(
                "cache of one sequence",
                self._remove_stretch(cache_read) * rate,
                "B",
                "KV cache that all layers read for the mean context",
                source=self._model,
                inputs=(tokens,),
            ),
            self._bandwidth,
            _make_constant_term("kv read efficiency", rates.kv_read_efficiency),
        )
        share = _make_constant_term("decode attention efficiency", rates.decode_attention_efficiency)
        arithmetic = self._attention(resident * coefficients.verified_tokens, attend, share, ())
        return _join_operator("attention over the cache", reading, arithmetic)

    def _attention(
        self,
        tokens: float,
        seconds: float,
        efficiency: DerivationTerm,
        inputs: tuple[DerivationTerm, ...],
        name: str = "",
    ) -> DerivationTerm:
        """Return the arithmetic of attention, which takes `seconds` for each of `tokens`."""
        ceilings = self.steps.ceilings[0]
        rate = ceilings.attention_peak.flops * efficiency.number
        return self._timed(
            name or "arithmetic",
            tokens * seconds,
            f"{{tokens}} × {{operations_per_token}} ÷ ({{peak}} × {format_placeholder(efficiency.name)})",
            DerivationTerm("tokens", tokens, "tokens"),
            DerivationTerm(
                "operations per token",
                self._remove_stretch(seconds) * rate,
                "FLOP",
                "attention operations of all heads over the attended tokens",
                source=self._model,
                inputs=inputs,
            ),
            self._make_peak_term(ceilings.attention_peak),
            efficiency,
        )

    def prompt_attention(self, tokens: float, attended: float) -> DerivationTerm:
        """Return the attention of a prefill chunk whose tokens attend to `attended` others on average."""
        rates = self.steps.rates
        seconds = float(compute_prefill_attention(self._rows, np.array([attended]))[0])
        inputs = (
            DerivationTerm("attended tokens", attended, "tokens", "cached tokens + half of the prompt"),
            _make_constant_term("attention offset", rates.attention_offset, "tokens"),
        )
        share = _make_constant_term("attention efficiency", rates.attention_efficiency)
        return self._attention(tokens, seconds, share, inputs, "attention within the prompt")

    def _make_collectives_term(self, tokens: float) -> DerivationTerm:
        coefficients, rates = self.steps.coefficients, self.steps.rates
        direct = coefficients.comm_fixed + coefficients.comm_token * tokens
        ring = coefficients.ring_fixed + coefficients.ring_token * tokens
        if ring < direct:
            share = _make_constant_term("link efficiency", rates.link_efficiency)
            return self._make_algorithm_term(
                tokens, coefficients.ring_fixed, "ring_latency", coefficients.ring_token, share
            )
        share = _make_constant_term("direct efficiency", rates.direct_efficiency)
        return self._make_algorithm_term(
            tokens, coefficients.comm_fixed, "allreduce_latency", coefficients.comm_token, share
        )

    def _make_algorithm_term(
        self, tokens: float, fixed: float, latency: str, each: float, share: DerivationTerm
    ) -> DerivationTerm:
        ceilings = self.steps.ceilings[0]
        moved = self._remove_stretch(each) * ceilings.link.bandwidth * share.number
        way = "around a ring" if latency == "ring_latency" else "all ranks to all others at once"
        return derive_term(
            "collectives",
            fixed + each * tokens,
            "s",
            "{fixed_time} + {tokens} × {time_per_token}",
            DerivationTerm("fixed time", fixed, "s", way, source=f"calibration:{latency}"),
            DerivationTerm("tokens", tokens, "tokens"),
            self._timed(
                "time per token",
                each,
                f"{{bytes_per_token}} ÷ ({{link}} × {format_placeholder(share.name)})",
                DerivationTerm("bytes per token", moved, "B", source=self._model),
                DerivationTerm("link", ceilings.link.bandwidth, "B/s", source=f"link:{ceilings.link.kind}"),
                share,
            ),
        )

    def overhead(self, sequences: float, others: tuple[DerivationTerm, ...]) -> DerivationTerm:
        """Return the overhead of a step besides its operators: per layer, step and sequence.

        `others` are the terms of the operators, which hide part of the host time.
        """
        launches, host = self._make_launch_term(), self._make_host_term(sequences)
        busy = sum(term.number for term in (*others, launches))
        hidden = self.steps.coefficients.host_overlap * min(host.number, busy)
        return derive_term(
            "overhead",
            launches.number + host.number - hidden,
            "s",
            "{launches} + {scheduling} − {hidden_behind_the_operators}",
            launches,
            host,
            derive_term(
                "hidden behind the operators",
                hidden,
                "s",
                "{host_overlap} × {shorter_of_scheduling_and_other_time}",
                _make_constant_term("host overlap", self.steps.coefficients.host_overlap),
                DerivationTerm("shorter of scheduling and other time", min(host.number, busy), "s"),
            ),
        )

    def make_host_wait_terms(self, others: tuple[DerivationTerm, ...]) -> tuple[DerivationTerm, ...]:
        """Return the wait of a prefill chunk for the host to launch its kernels, if that takes longer than `others`."""
        coefficients, rates, shards = self.steps.coefficients, self.steps.rates, self.deployment.budget.shards
        busy = sum(term.number for term in others)
        if coefficients.prefill_fixed <= busy:
            return ()
        inputs = [
            DerivationTerm("layers", shards.layers, None),
            _make_constant_term("prefill layer time", rates.prefill_layer_s, "s"),
        ]
        formula = "{layers} × {prefill_layer_time}"
        if shards.moe_layers:
            inputs += [
                DerivationTerm("layers with experts", shards.moe_layers, None),
                _make_constant_term("prefill moe time", rates.prefill_moe_s, "s"),
            ]
            formula += " + {layers_with_experts} × {prefill_moe_time}"
        if self.steps.work.state_layers:
            inputs += [
                DerivationTerm("layers with states", self.steps.work.state_layers, None),
                _make_constant_term("prefill state time", rates.prefill_state_s, "s"),
            ]
            formula += " + {layers_with_states} × {prefill_state_time}"
        launches = self._timed("launches by the host", coefficients.prefill_fixed, formula, *inputs)
        return (
            derive_term(
                "wait for launches",
                coefficients.prefill_fixed - busy,
                "s",
                "{launches_by_the_host} − {all_other_time}",
                launches,
                DerivationTerm("all other time", busy, "s"),
            ),
        )

    def _make_launch_term(self) -> DerivationTerm:
        coefficients, rates, shards = self.steps.coefficients, self.steps.rates, self.deployment.budget.shards
        inputs = [DerivationTerm("layers", shards.layers, None), _make_constant_term("layer time", rates.layer_s, "s")]
        formula = "{layers} × {layer_time}"
        if rates.quantize_s:
            inputs.append(replace(_make_constant_term("quantise time", rates.quantize_s, "s"), name="quantize time"))
            formula = "{layers} × ({layer_time} + {quantize_time})"
        if shards.moe_layers:
            inputs += [
                DerivationTerm("layers with experts", shards.moe_layers, None),
                _make_constant_term("moe layer time", rates.moe_layer_s, "s"),
            ]
            formula += " + {layers_with_experts} × {moe_layer_time}"
        return self._timed("launches", coefficients.overhead_fixed, formula, *inputs)

    def _make_host_term(self, sequences: float) -> DerivationTerm:
        coefficients, rates = self.steps.coefficients, self.steps.rates
        inputs, formula = [_make_constant_term("step time", rates.step_s, "s")], "{step_time}"
        if sequences:
            inputs += [
                DerivationTerm("sequences", sequences, None),
                _make_constant_term("sequence time", rates.sequence_s, "s"),
            ]
            formula += " + {sequences} × {sequence_time}"
        if sequences and rates.stream_s:
            inputs.append(_make_constant_term("stream time", rates.stream_s, "s"))
            formula = "{step_time} + {sequences} × ({sequence_time} + {stream_time})"
        if coefficients.stages > 1:
            inputs.append(DerivationTerm("stages", coefficients.stages, None))
            formula = f"{{stages}} × ({formula})" if sequences else f"{{stages}} × {formula}"
        seconds = coefficients.stages * (coefficients.host_fixed + coefficients.host_sequence * sequences)
        return self._timed("scheduling", seconds, formula, *inputs)
