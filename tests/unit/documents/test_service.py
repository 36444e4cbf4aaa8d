"""The service on the shipped facts: scenarios, answers, working, sources."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, list_templates, read_template
from gpudesk.domain.deployment_analysis import DerivationTerm
from gpudesk.estimation.request_fields import parse_request
from gpudesk.report.writers.json import write_sheet_json
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_input_error


def terms(term: DerivationTerm) -> Iterator[DerivationTerm]:
    yield term
    for part in term.inputs:
        yield from terms(part)


def test_every_template_is_answered(service: GpuDeskService) -> None:
    for template in list_templates():
        answer = service.answer(template.scenario)
        assert len(answer.columns) == len(template.scenario.accelerators)
        for column in answer.columns:
            assert column.problem is None
            assert column.estimate is not None
            assert column.estimate.fits


def test_answer_is_the_same_each_time(service: GpuDeskService) -> None:
    scenario = read_template(SAMPLE_TEMPLATE)
    with GpuDeskService.open() as other:
        assert other.answer(scenario).content_hash == service.answer(scenario).content_hash


def test_curves_do_not_change_the_answer(service: GpuDeskService) -> None:
    scenario = read_template(SAMPLE_TEMPLATE)
    plain, with_curves = service.answer(scenario), service.answer(scenario, with_curves=True)
    assert with_curves.content_hash == plain.content_hash
    assert [column.estimate for column in with_curves.columns] == [column.estimate for column in plain.columns]
    for column in with_curves.columns:
        assert column.curve is not None
        assert 64 in column.curve.concurrency


def test_curves_of_a_single_output_token_can_be_written(service: GpuDeskService) -> None:
    scenario = read_template(SAMPLE_TEMPLATE)
    short = replace(scenario, workload=replace(scenario.workload, output_tokens=1))
    document = json.loads(write_sheet_json(service.answer(short, with_curves=True)))
    for column in document["accelerators"]:
        assert set(column["curve"]["tpot_ms"]) == {None}
        assert column["curve"]["ttft_ms"][0]["value"] > 0


def test_every_accelerator_of_a_scenario_has_its_needs(service: GpuDeskService) -> None:
    for template in list_templates():
        needed = service.needed(template.scenario)
        assert [row[0].accelerator for row in needed] == [
            choice.accelerator for choice in template.scenario.accelerators
        ]
        assert all(count.one is not None for row in needed for count in row)


def test_saved_scenario_names_its_catalog(service: GpuDeskService, tmp_path: Path) -> None:
    path = tmp_path / "a.gpudesk"
    saved = service.save_scenario(read_template(SAMPLE_TEMPLATE), path)
    assert saved.catalog_revision == service.catalog.revision
    assert service.read_scenario(path) == saved


def test_scenario_with_an_unknown_model_is_refused(service: GpuDeskService, tmp_path: Path) -> None:
    path = tmp_path / "a.gpudesk"
    service.save_scenario(replace(read_template(SAMPLE_TEMPLATE), model="llama-3.1-71b"), path)
    with pytest.raises(InputError) as caught:
        service.read_scenario(path)
    text = format_input_error(caught.value)
    assert text.startswith(f"{path}: scenario.model: unknown model 'llama-3.1-71b'; did you mean llama-3.1-70b")


def test_every_source_of_a_derivation_has_a_text(service: GpuDeskService) -> None:
    for request in read_template(SAMPLE_TEMPLATE).requests():
        estimate = service.estimate(request)
        for figure in ("output_tokens_per_s", "ttft_ms", "tpot_ms", "memory", "max_concurrency"):
            for term in terms(service.explain(estimate, figure)):
                if term.source is not None:
                    text = service.source_text(term.source)
                    assert not text.startswith(("catalog:", "setting:", "link:"))
                    assert "/peak_dense" not in text


def test_nothing_is_explained_where_nothing_fits(service: GpuDeskService) -> None:
    request = {
        "accelerator": "h200-sxm",
        "model": "llama-3.1-405b",
        "weights": "fp16",
        "count": 1,
        "input_tokens": 100,
        "output_tokens": 100,
        "load": {"batch": 1},
    }
    estimate = service.estimate(parse_request(request))
    assert not estimate.fits
    with pytest.raises(InputError) as caught:
        service.explain(estimate, "tpot_ms")
    assert "do not fit" in format_input_error(caught.value)
    assert service.explain(estimate, "memory").inputs


def test_shipped_catalog_has_no_faults(service: GpuDeskService) -> None:
    assert service.verify() == ()
