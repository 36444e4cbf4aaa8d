"""Broken data files: every problem is told with its file, its field and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from catalog_build.files import DataError
from catalog_build.writer import build_catalog, read_data_tables

Edit = Callable[[str, str, str], None]

MI325X = "accelerators/mi325x.toml"
BANDWIDTH = "[attributes.memory_bandwidth]\n"


def problems_of(data_dir: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_data_tables(data_dir)
    return [str(problem) for problem in caught.value.problems]


def test_real_data_has_no_problem(data_dir: Path) -> None:
    tables = read_data_tables(data_dir)
    assert len(tables["accelerator"]) == 52
    assert len(tables["model"]) == 83


def test_broken_toml_names_file_line_and_column(data_dir: Path, edit: Edit) -> None:
    edit(MI325X, 'vendor = "AMD"', "vendor = AMD")
    assert problems_of(data_dir) == [f"{MI325X}: is broken: Invalid value (at line 3, column 10)"]


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        pytest.param(
            MI325X,
            "announced = false",
            'announced = "no"',
            f"{MI325X}: announced: should be a valid boolean, given 'no'",
            id="wrong type",
        ),
        pytest.param(
            MI325X,
            "announced = false",
            "announced = false\nanounced = true",
            f"{MI325X}: anounced: is no key of this file",
            id="unknown key",
        ),
        pytest.param(MI325X, 'vendor = "AMD"\n', "", f"{MI325X}: vendor: is missing", id="missing key"),
        pytest.param(
            MI325X,
            'id = "mi325x"',
            'id = "mi325"',
            f"{MI325X}: id: 'mi325' is not the name of the file",
            id="id against file name",
        ),
        pytest.param(
            MI325X,
            BANDWIDTH,
            "[attributes.memory_bandwith]\n"
            'unit = "GB/s"\n[[attributes.memory_bandwith.claims]]\n'
            f'value = 1\npreferred = true\nsource = "seed-000"\n\n{BANDWIDTH}',
            f"{MI325X}: attributes.memory_bandwith: is no attribute that such a thing can have",
            id="unknown attribute",
        ),
        pytest.param(
            MI325X,
            f'{BANDWIDTH}unit = "GB/s"',
            f'{BANDWIDTH}unit = "GB"',
            f"{MI325X}: attributes.memory_bandwidth.claims.1.unit: 'GB' is a unit of B, not of B/s",
            id="unit of something else",
        ),
        pytest.param(
            MI325X,
            f'{BANDWIDTH}unit = "GB/s"',
            f'{BANDWIDTH}unit = "Gb/s"',
            f"{MI325X}: attributes.memory_bandwidth.claims.1.unit: 'Gb/s' is no unit that the program knows",
            id="unknown unit",
        ),
        pytest.param(
            MI325X,
            "value = 6000",
            'value = "6000"',
            f"{MI325X}: attributes.memory_bandwidth.claims.1.value: '6000' is no figure, "
            "and the attribute is one in B/s",
            id="text for a figure",
        ),
        pytest.param(
            MI325X,
            "value = 6000",
            "value = 0",
            f"{MI325X}: attributes.memory_bandwidth.claims.1.value: 0 is not above zero",
            id="zero",
        ),
        pytest.param(
            MI325X,
            "value = 6000",
            "value = nan",
            f"{MI325X}: attributes.memory_bandwidth.claims.1.value: a value is a number, a word, "
            "true or false, or a list of words, given nan",
            id="not a number",
        ),
        pytest.param(
            MI325X,
            'source = "amd-geak-sku"',
            'source = "amd-geek-sku"',
            f"{MI325X}: attributes.architecture.claims.1.source: there is no source 'amd-geek-sku' in sources/",
            id="unknown source",
        ),
        pytest.param(
            MI325X,
            "value = 5300\n",
            "value = 5300\npreferred = true\n",
            f"{MI325X}: attributes.memory_bandwidth: 2 claims are preferred; one can be",
            id="two preferred",
        ),
        pytest.param(
            MI325X,
            "value = 6000\npreferred = true\n",
            "value = 6000\n",
            f"{MI325X}: attributes.memory_bandwidth: no claim is preferred; prefer one, "
            "or set none_preferred with a reason",
            id="none preferred",
        ),
        pytest.param(
            "accelerators/a100-80gb-sxm.toml",
            "none_preferred = true\nreason = ",
            "none_preferred = true\nresaon = ",
            "accelerators/a100-80gb-sxm.toml: attributes.peak_dense_fp8.resaon: is no key of this file",
            id="misspelt reason",
        ),
        pytest.param(
            "models/jamba-v0.1.toml",
            "state_size = 16",
            "state_size = 0",
            "models/jamba-v0.1.toml: mixers.mamba.state_size: should be greater than or equal to 1, given 0",
            id="dimension out of range",
        ),
        pytest.param(
            "models/jamba-v0.1.toml",
            "state_size = 16",
            "states = 16",
            "models/jamba-v0.1.toml: mixers.mamba.states: is no key of this file",
            id="unknown dimension",
        ),
        pytest.param(
            "models/llama-3.1-70b.toml",
            "kv_heads = 8",
            "kv_heads = 7",
            "models/llama-3.1-70b.toml: layers.1: heads 64 is not a multiple of kv_heads 7",
            id="heads",
        ),
        pytest.param(
            "models/llama-3.1-70b.toml",
            'ffn = "mlp"',
            'ffn = "moe"',
            "models/llama-3.1-70b.toml: layers.1.ffn: there is no [ffns.moe]",
            id="layer of no kind",
        ),
        pytest.param(
            "models/step-3.7-flash.toml",
            "value = 96",
            "value = 80",
            "models/step-3.7-flash.toml: claims.NUMBER.value: 80 is preferred, but the file has 96",
            id="claim against dimension",
        ),
        pytest.param(
            "models/devstral-2-123b.toml",
            "verdict = ",
            "note = ",
            "models/devstral-2-123b.toml: claims.7.verdict: is missing: say why the claim is not taken",
            id="rival without verdict",
        ),
        pytest.param(
            "models/devstral-2-123b.toml",
            "value = 6144\n",
            "value = 6144\npreferred = true\n",
            "models/devstral-2-123b.toml: claims.7.value: is preferred, but the file has no hidden_size",
            id="claim about a dimension that is not there",
        ),
        pytest.param(
            "models/devstral-2-123b.toml",
            'attribute = "licence"',
            'attribute = "license"',
            "models/devstral-2-123b.toml: claims.2.attribute: 'license' is neither ",
            id="unknown attribute of a model",
        ),
        pytest.param(
            "models/llama-3.1-70b.toml",
            "dimensions_source = ",
            'native_note = "no source follows" #',
            "models/llama-3.1-70b.toml: hidden_size: has no source: name a dimensions_source or claim it",
            id="dimensions without source",
        ),
        pytest.param(
            "models/llama-3.1-70b.toml",
            "vocab_size = 128256\n",
            "",
            "models/llama-3.1-70b.toml: vocab_size: is missing: the layers are known, so this must be too",
            id="layers without vocabulary",
        ),
        pytest.param(
            "models/llama-3.1-70b.toml",
            "[ffns.mlp]",
            '[ffns.spare]\nkind = "dense"\nintermediate_size = 8\n\n[ffns.mlp]',
            "models/llama-3.1-70b.toml: ffns.spare: is used by no layer",
            id="kind of no layer",
        ),
        pytest.param(
            "models/mixtral-8x7b.toml",
            "experts = 8",
            'experts = "8"',
            "models/mixtral-8x7b.toml: ffns.moe.experts: should be a valid integer, given '8'",
            id="kind of the same name as the table",
        ),
        pytest.param(
            "models/mixtral-8x7b.toml",
            'kind = "moe"',
            'kind = "mow"',
            "models/mixtral-8x7b.toml: ffns.moe: tag 'mow' found using 'kind' does not match",
            id="unknown kind",
        ),
        pytest.param(
            "prices/cloud.csv", ",mi300x,", ",mi300,", "there is no accelerator 'mi300'", id="price of no accelerator"
        ),
        pytest.param(
            "prices/cloud.csv",
            "Crusoe,a100-80gb-sxm,spot,",
            "Crusoe,a100-80gb-sxm,on_demand,",
            "prices/cloud.csv: line 3: is a second price of one provider, accelerator, term, instance, region and "
            "date, after prices/cloud.csv line 2",
            id="two prices of one offer",
        ),
        pytest.param(
            "prices/cloud.csv",
            "Crusoe,a100-80gb-sxm,spot,",
            "Krusoe,a100-80gb-sxm,spot,",
            "prices/cloud.csv: line 3 provider: prices/providers.csv has no class of 'Krusoe'",
            id="provider without a class",
        ),
        pytest.param(
            "prices/api.csv",
            "deepseek-r1,",
            "deepseek-r0,",
            "prices/api.csv: line 2 model: there is no model 'deepseek-r0'",
            id="API price of no model",
        ),
        pytest.param(
            "claims/seeds.csv",
            ",mi325x,memory_bandwidth",
            ",mi325x,bandwidth",
            "thing_attribute: mi325x has no attribute 'bandwidth'",
            id="statement about no attribute",
        ),
        pytest.param(
            "disputes/seeds.csv",
            "D-001,C000-014,",
            "D-001,C000-999,",
            "disputes/seeds.csv: line 2 claim_a: there is no claim 'C000-999'",
            id="dangling claim",
        ),
        pytest.param(
            "disputes/seeds.csv",
            "D-002,",
            "D-001,",
            "disputes/seeds.csv: line 3: is the same as disputes/seeds.csv line 2",
            id="repeated id",
        ),
        pytest.param(
            "prices/purchase.csv",
            "h100-sxm,25000,",
            "h100-sxm,cheap,",
            "prices/purchase.csv: line 2 usd_low: should be a valid number, "
            "unable to parse string as a number, "
            "given 'cheap'",
            id="text for an amount",
        ),
        pytest.param(
            "prices/purchase.csv",
            "accelerator,usd_low",
            "accelerator,usd_least",
            "prices/purchase.csv: line 1: the columns must be ",
            id="columns",
        ),
        pytest.param(
            "sources/seeds.toml",
            'date = "2026-05-15"',
            'date = "15.05.2026"',
            "sources/seeds.toml: sources.seed-003.date: write the date as YYYY, YYYY-MM or YYYY-MM-DD, "
            "given '15.05.2026'",
            id="date",
        ),
    ],
)
def test_problem_names_file_field_and_fault(
    data_dir: Path, edit: Edit, file: str, old: str, new: str, expected: str
) -> None:
    edit(file, old, new)
    problems = problems_of(data_dir)
    parts = expected.split("NUMBER")
    assert any(all(part in line for part in parts) for line in problems), "\n".join(problems)


def test_missing_reason_is_reported(data_dir: Path) -> None:
    path = data_dir / MI325X
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("[attributes.memory_bandwidth]")
    reason = next(n for n in range(start, len(lines)) if lines[n].startswith("reason"))
    path.write_text("\n".join(lines[:reason] + lines[reason + 1 :]), encoding="utf-8")
    expected = "is missing: the claims differ, so say why the preferred one is"
    assert problems_of(data_dir) == [f"{MI325X}: attributes.memory_bandwidth.reason: {expected}"]


def test_all_problems_are_reported_once(data_dir: Path, edit: Edit) -> None:
    edit(MI325X, "announced = false", 'announced = "no"')
    edit("models/phi-4.toml", "hidden_size = 5120", "hidden_size = 5120.5")
    edit("claims/seeds.csv", "C000-002,", ",")
    files = [line.split(":")[0] for line in problems_of(data_dir)]
    # mi325x is named by prices, claims and disputes; that it could not be read is said once.
    assert files == [MI325X, "claims/seeds.csv", "models/phi-4.toml"]


def test_missing_folder_and_table_are_reported(data_dir: Path) -> None:
    for file in (data_dir / "diffusion").iterdir():
        file.unlink()
    (data_dir / "prices/cloud.csv").unlink()
    problems = problems_of(data_dir)
    assert "diffusion: the folder holds no TOML file" in problems
    assert "prices/cloud.csv: cannot be read: No such file or directory" in problems


def test_text_that_is_not_utf8_is_reported(data_dir: Path) -> None:
    (data_dir / "prices/cloud.csv").write_bytes(b"provider\xff")
    assert any(line.startswith("prices/cloud.csv: is not UTF-8 text") for line in problems_of(data_dir))


def test_bad_data_leave_the_old_catalog(data_dir: Path, edit: Edit, tmp_path: Path) -> None:
    target = tmp_path / "built" / "catalog.sqlite"
    build_catalog(data_dir, target)
    before = target.read_bytes()
    edit(MI325X, 'vendor = "AMD"', "vendor = AMD")
    with pytest.raises(DataError, match="mi325x"):
        build_catalog(data_dir, target)
    assert target.read_bytes() == before
    assert list(target.parent.iterdir()) == [target]
