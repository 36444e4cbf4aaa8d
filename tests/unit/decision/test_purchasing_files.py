"""Software, references, steps and signals as their files define them: complete, and each with its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.decision.rules.data_files import read_export_rules, read_references, read_signals, read_steps, read_support
from gpudesk.domain.reference_data import SupportEntry, SupportLevel, find_references
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError

SUPPORT = read_support(paths.get_data_path("software_support"))
REFERENCES = read_references(paths.get_data_path("references.toml"))
STEPS = read_steps(paths.get_data_path("rules/steps.toml"))
SIGNALS = read_signals(paths.get_data_path("rules/signals.toml"))


@pytest.fixture(scope="module")
def bench() -> Iterator[GpuDeskService]:
    with GpuDeskService.open(with_user_facts=False) as bench:
        yield bench


# What they refer to


def list_names() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """Yield sources, statements and disputes that the files name, with where."""
    for entry in SUPPORT.entries:
        yield f"support of {entry.software}", (entry.source,), entry.statements, entry.disputes
    for reference in REFERENCES:
        yield reference.id, (reference.source,), reference.statements, reference.disputes
    for step in STEPS:
        yield step.id, (step.source,), step.statements, step.disputes
        for figure in step.figures:
            yield f"{step.id}: {figure.label}", (), figure.statements, figure.disputes
    for signal in SIGNALS:
        yield signal.id, (signal.source,), signal.statements, signal.disputes
        for known_value in signal.known:
            yield f"{signal.id}, known", (known_value.source,), known_value.statements, known_value.disputes
    for claim in read_export_rules(paths.get_data_path("export_rules.toml")).refused:
        yield claim.rule, (), (claim.statement,), (claim.dispute,)


def test_every_source_statement_and_dispute_is_one_of_the_catalog(bench: GpuDeskService) -> None:
    sources = {source.id for source in bench.catalog.sources()}
    statements = {claim.id: claim for claim in bench.catalog.seed_claims()}
    disputes = {dispute.id for dispute in bench.catalog.disputes()}
    for where, named, named_statements, weighed in list_names():
        assert set(named) <= sources, where
        assert set(named_statements) <= statements.keys(), where
        assert set(weighed) <= disputes, where


def test_statements_are_those_of_the_source_that_is_named(bench: GpuDeskService) -> None:
    statements = {claim.id: claim.source.id for claim in bench.catalog.seed_claims()}
    for entry in SUPPORT.entries:
        assert {statements[each] for each in entry.statements} <= {entry.source}, entry


def test_verdicts_on_what_an_entry_says_are_named_with_it(bench: GpuDeskService) -> None:
    """Support that a verdict corrects never stands there as if no one had contradicted it."""
    for entry in SUPPORT.entries:
        for dispute in bench.catalog.disputes():
            if dispute.claim_a in entry.statements and dispute.attribute.startswith(("support", "first_")):
                assert dispute.id in entry.disputes, (entry, dispute.id)


def test_figures_are_those_of_the_statements(bench: GpuDeskService) -> None:
    statements = {claim.id: claim for claim in bench.catalog.seed_claims()}
    for step in STEPS:
        for figure in step.figures:
            if len(figure.statements) != 1:
                continue
            claim = statements[figure.statements[0]]
            assert float(claim.value) == figure.value, figure.label
            assert (None if claim.value_high is None else float(claim.value_high)) == figure.high
            assert figure.anecdotal == (claim.stated_by == "anonymous")


def test_accelerators_and_worked_figures_are_there(bench: GpuDeskService) -> None:
    parts = {each.id for each in bench.catalog.accelerators()}
    worked = {figure.example.id: figure for figure in bench.worked_examples}
    for reference in REFERENCES:
        assert set(reference.accelerators) <= parts
    for step in STEPS:
        for figure in step.figures:
            assert set(figure.accelerators) <= parts
            assert set(figure.worked) <= worked.keys()


# Software


def test_support_is_newest_first_with_older_words_kept_and_undated_ones_last() -> None:
    entries = SUPPORT.support("ROCm", "vllm")
    assert [(entry.date, entry.level.value) for entry in entries] == [
        ("2026-05-15", "works"),
        ("2026-03", "lags"),
        ("2026-03", "works"),
        ("2026-02-27", "first-class"),
        ("2024-01", "works"),
        (None, "validated"),
    ]
    assert {entry.source for entry in entries} == {f"seed-00{number}" for number in range(5)}


def test_support_of_a_platform_has_all_its_software_and_no_other_platform() -> None:
    cuda = SUPPORT.support("CUDA")
    assert {entry.platform for entry in cuda} == {"CUDA"}
    assert {"vllm", "tensorrt-llm", "pytorch", "transformer-engine"} <= {entry.software for entry in cuda}
    dates = [entry.date or "" for entry in SUPPORT.support("ROCm")]
    assert dates == sorted(dates, reverse=True)
    both = (*cuda, *SUPPORT.support("ROCm"))
    assert sorted(both, key=repr) == sorted(SUPPORT.entries, key=repr), "every entry is shown once"


def test_software_without_a_record_has_no_support_level() -> None:
    assert SUPPORT.support("Neuron SDK") == ()
    assert SUPPORT.support("ROCm", "transformer-engine") == ()


def test_single_platform_software_is_marked() -> None:
    entry = SUPPORT.support("ROCm", "tensorrt-llm")[0]
    assert entry.level is SupportLevel.NONE


def test_every_level_has_a_word() -> None:
    entry = SUPPORT.support("ROCm", "tensorrt-llm")[0]
    labels = [replace(entry, level=level).level.label for level in SupportLevel]
    assert len(set(labels)) == len(SupportLevel)


ENTRY = """
software = "one"
name = "One"
[[entries]]
platform = "CUDA"
level = "full"
scope = "All of it"
source = "seed-000"
"""


@pytest.mark.parametrize(
    ("changed", "with_", "problem"),
    [
        ('platform = "CUDA"', 'platform = "cuda"', "field.word"),
        ('level = "full"', 'level = "great"', "field.word"),
        ('scope = "All of it"', 'scope = ""', "field.empty"),
        ('source = "seed-000"', "", "field.missing"),
        ('source = "seed-000"', 'source = "seed-000"\ndate = "Q2 2026"', "field.month"),
        ('source = "seed-000"', 'source = "seed-000"\nstatement = "C000-001"', "field.unknown_near"),
        ('source = "seed-000"', 'source = "seed-000"\nstatements = "C000-001"', "field.type"),
        ('name = "One"', 'name = "One"\nvendor = "x"', "field.unknown"),
    ],
)
def test_broken_support_is_reported_with_file_and_place(tmp_path: Path, changed: str, with_: str, problem: str) -> None:
    path = tmp_path / "one.toml"
    path.write_text(ENTRY.replace(changed, with_, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_support(tmp_path)
    assert refused.value.problem.id == problem
    assert str(path) in (refused.value.where or "")


def test_software_in_two_files_and_a_folder_without_any_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as nothing:
        read_support(tmp_path)
    assert nothing.value.problem.id == "beside.no_files"
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(ENTRY, encoding="utf-8")
    with pytest.raises(InputError) as twice:
        read_support(tmp_path)
    assert twice.value.problem.id == "beside.twice"


def test_entries_of_one_date_keep_the_order_of_their_file() -> None:
    same = [
        SupportEntry("one", "One", "CUDA", SupportLevel.WORKS, scope, "seed-000", "2026-03")
        for scope in ("first", "second", "third")
    ]
    from gpudesk.domain.reference_data import SoftwareSupport

    assert [entry.scope for entry in SoftwareSupport(tuple(same)).support("CUDA")] == ["first", "second", "third"]


# References


def test_references_are_newest_first_and_mark_unnamed_companies() -> None:
    dates = [each.date or "" for each in REFERENCES]
    assert dates == sorted(dates, reverse=True)
    assert not next(each for each in REFERENCES if each.id == "sovereign-cloud").named
    azure = next(each for each in REFERENCES if each.id == "azure-production")
    assert (azure.who, azure.named, azure.count) == ("Microsoft Azure", True, 4800)


def test_references_of_an_accelerator() -> None:
    assert {each.id for each in find_references(REFERENCES, "b200-hgx")} == {"b200-laboratories"}
    assert len(find_references(REFERENCES, "mi300x", "b200-hgx")) > len(find_references(REFERENCES, "mi300x"))
    assert find_references(REFERENCES, "mi355x") == ()


def test_scale_is_only_given_where_a_number_is_printed(bench: GpuDeskService) -> None:
    printed = {claim.id: claim.value for claim in bench.catalog.seed_claims()}
    for reference in REFERENCES:
        if reference.count is not None:
            assert str(reference.count) in {printed[each] for each in reference.statements}


@pytest.mark.parametrize(
    ("read", "text", "problem"),
    [
        (read_references, '[[references]]\nid = "a"\nwho = "b"\n', "field.missing"),
        (read_references, '[[references]]\nid = "a"\nwho = "b"\nnamed = "no"\n', "field.type"),
        (
            read_references,
            'references = [{id="a", who="b", named=true, what="c", basis="d", source="e", count=0}]',
            "field.range",
        ),
        (read_references, "references = 3\n", "field.type"),
        (read_references, "references = [3]\n", "field.type"),
        (read_signals, 'dated = "2024-02"\n', "field.missing"),
        (read_signals, 'source = "seed-002"\ndated = "2024-13"\n', "field.month"),
        (read_steps, 'source = "seed-002"\ndated = "2024-02"\nrules = []\n', "field.unknown"),
    ],
)
def test_broken_file_is_reported_with_its_name(
    tmp_path: Path, read: Callable[[Path], object], text: str, problem: str
) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read(path)
    assert refused.value.problem.id == problem
    assert str(path) in (refused.value.where or "")


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_references(tmp_path / "nothing.toml")
    assert refused.value.problem.id == "file.unreadable"
