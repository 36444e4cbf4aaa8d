"""What a sheet says of an answer: marks, bands, differences, notes, sources."""

from dataclasses import replace

import pytest

from gpudesk.domain.answer import Answer
from gpudesk.domain.claim import NO_PUBLISHER, Dispute, Source, SourceKind
from gpudesk.report.comparison.attribute_rows import SourceNumbering
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import CellMarking, ComparisonCell, ComparisonRow, ComparisonSheet
from gpudesk.report.labels import label_attribute_alone, label_dispute_topic, shorten_name
from gpudesk.text import translation
from gpudesk.text.formatting import GERMAN_NUMBERS, Formatter
from tests.unit.report.conftest import MakeAnswer


def find_row(sheet: ComparisonSheet, key: str) -> ComparisonRow:
    return next(row for row in sheet.table.rows if row.key == key)


def texts(cells: tuple[ComparisonCell, ...]) -> list[str]:
    return [cell.text for cell in cells]


def test_figures_have_their_bands_and_the_best_is_marked(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x", "b200-hgx"))
    row = find_row(sheet, "output_tokens_per_s")
    assert row.unit == "tok/s"
    assert texts(row.cells) == ["1,000", "1,250", "2,000"]
    assert [cell.band for cell in row.cells] == ["900 – 1,100", "1,120 – 1,380", "1,800 – 2,200"]
    assert [cell.mark for cell in row.cells] == [None, None, CellMarking.BEST]


def test_differences_against_the_first_come_first(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x", "mi355x"))
    assert sheet.table.groups[0].title == "Change from H200-SXM, with odds of being better"
    row = find_row(sheet, "difference.output_tokens_per_s")
    assert texts(row.cells) == ["baseline", "+25", "+4"]
    assert row.cells[1].band == "0 – +56"
    assert [cell.mark for cell in row.cells] == [None, None, None]
    slower = find_row(sheet, "difference.ttft_ms")
    assert texts(slower.cells) == ["baseline", "−20", "−4"]


def test_headlines_of_a_tie_show_both_figures_and_their_odds(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi355x"))
    assert [headline.text for headline in sheet.headlines] == ["1,040 or 1,000", "962 or 1,000", "60.0 or 62.4", "120"]
    assert [headline.detail for headline in sheet.headlines[::3]] == [
        "too close to call: MI355X 60%, H200-SXM 40% odds, 4% apart",
        "equal on H200-SXM and MI355X",
    ]
    row = find_row(sheet, "output_tokens_per_s")
    assert {cell.mark for cell in row.cells} == {CellMarking.OPEN}


def test_tied_leaders_are_distinguished_from_the_rest(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi355x", "mi325x"))
    assert sheet.headlines[0].text == "MI325X"
    assert (
        sheet.headlines[0].detail
        == "1,250 (1,120 – 1,380); leans toward MI325X: 79% odds of being best; 20% higher than MI355X"
    )
    assert [leader.slot for leader in sheet.headlines[0].leaders] == [3]


def test_oversized_model_is_reported_with_the_remedy(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x", input_tokens=120_000))
    fits = find_row(sheet, "fits")
    assert fits.cells[0].text == "does not fit on 1"
    assert fits.cells[0].detail == "needs 4"
    assert fits.cells[0].mark is CellMarking.FAILS
    (headline,) = sheet.headlines
    assert (headline.text, headline.mark) == ("No accelerator fits", CellMarking.FAILS)
    assert headline.detail == "H200-SXM: needs 4; MI325X: needs 4"
    assert sheet.table.groups[0].title == "At this workload"
    assert any(remark.text.startswith("One request of this length") for remark in sheet.remarks)


def test_bar_without_fit_shows_the_memory_needed(make_answer: MakeAnswer) -> None:
    fits, short = (
        build_sheet(make_answer("h200-sxm", "mi325x", input_tokens=tokens)).memory[0] for tokens in (2000, 120_000)
    )
    assert fits.needed is None
    assert short.needed is not None


def test_parts_keep_their_place_in_the_palette_and_repeats_are_hollow(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x", "h200-sxm")
    sheet = build_sheet(answer)
    assert [(head.slot, head.is_variant) for head in sheet.heads] == [(1, False), (2, False), (1, True)]
    assert [bar.slot for bar in sheet.memory] == [1, 2, 1]


def test_disputed_value_has_a_note_that_names_both_sides(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x"))
    bandwidth = find_row(sheet, "memory_bandwidth")
    assert texts(bandwidth.cells) == ["4.8", "6.0"]
    assert [cell.notes for cell in bandwidth.cells] == [(), (1,)]
    (note,) = sheet.notes
    sources = {source.number: source.title for source in sheet.sources}
    assert note.text == "MI325X, Bandwidth: 6.0 TB/s [1]. Not used: 5.3 TB/s [2]. The maker's own figure."
    assert (sources[1], sources[2]) == ("Data sheet", "Which card?")


def test_judged_dispute_without_a_note_is_listed(make_answer: MakeAnswer) -> None:
    assert build_sheet(make_answer("h200-sxm", "mi325x")).disputes == ()


def test_disputes_are_headed_by_labels_and_sources_without_a_publisher_name_none() -> None:
    dispute = Dispute("D-009", None, None, "H200", "KV cache space", "", "", "", ("h200-sxm",), ("memory",))
    assert label_dispute_topic(dispute) == label_attribute_alone("memory")
    assert label_dispute_topic(replace(dispute, attributes=())) == "KV cache space"
    source = Source("seed-000", "MI325X vs H200", NO_PUBLISHER, SourceKind.PRESS)
    numbered = SourceNumbering(Formatter())
    assert (numbered.source(source), numbered.sources[0].publisher) == (1, "")


def test_each_value_has_the_number_of_its_source(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x"))
    (group,) = sheet.whose.groups
    assert {cell.text for row in group.rows for cell in row.cells} == {"[1]"}
    assert [source.number for source in sheet.sources] == [1, 2]
    assert sheet.sources[0].date == "2025-03-01"


def test_memory_is_in_gib(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x"))
    capacity = find_row(sheet, "memory")
    assert texts(capacity.cells) == ["141.0", "256.0"]
    assert [cell.detail for cell in capacity.cells] == [None, None]
    assert texts(find_row(sheet, "memory.weights").cells) == ["70.0", "70.0"]


def test_assumptions_and_foot_name_the_basis_of_figures(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x")
    sheet = build_sheet(answer, date="2026-11-20")
    assumptions = {fact.label: fact.value for fact in sheet.assumptions}
    assert assumptions["Model"] == "Llama 3.1 70B"
    assert assumptions["Input"] == "2,000 tokens"
    one = replace(answer.scenario.workload, output_tokens=1)
    single = build_sheet(replace(answer, scenario=replace(answer.scenario, workload=one)))
    assert {fact.label: fact.value for fact in single.assumptions}["Output"] == "1 token"
    assert assumptions["Concurrent requests"] == "64"
    assert assumptions["Accelerators"] == "1 each"
    assert {fact.label: fact.value for fact in sheet.foot} == {
        "Catalog": "2026-11-20",
        "Calibration": "2026-08",
        "Sheet ID": answer.content_hash[:16],
    }
    assert sheet.date == "2026-11-20"


def test_remark_that_holds_for_all_is_reported_once(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x"))
    remarks = [(remark.subject, remark.text) for remark in sheet.remarks]
    assert remarks.count(("", "Serving engine chosen: vLLM")) == 1
    assert len(remarks) == 2


def test_german_figures(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x"), Formatter(GERMAN_NUMBERS))
    row = find_row(sheet, "output_tokens_per_s")
    assert texts(row.cells) == ["1.000", "1.250"]
    assert texts(find_row(sheet, "memory_bandwidth").cells) == ["4,8", "6,0"]


def test_one_accelerator_makes_a_sheet_without_headlines(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm"))
    assert sheet.headlines == ()
    assert sheet.table.groups[0].title == "At this workload"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Instinct MI325X", "MI325X"),
        ("H200 SXM 141GB", "H200 SXM"),
        ("B200 SXM (HGX, 180GB)", "B200 SXM"),
        ("A100 80GB SXM", "A100 SXM"),
        ("GeForce RTX 5090", "RTX 5090"),
        ("80GB", "80GB"),
    ],
)
def test_short_names(name: str, short: str) -> None:
    assert shorten_name(name) == short


def list_untranslated(sheet: ComparisonSheet, answer: Answer) -> list[str]:
    """Return labels of a sheet that did not come through the translations."""
    labels = [fact.label for fact in (*sheet.assumptions, *sheet.foot)]
    labels += [group.title for group in sheet.table.groups]
    labels += [row.label for group in sheet.table.groups for row in group.rows]
    labels += [headline.label for headline in sheet.headlines]
    labels += [remark.text for remark in sheet.remarks]
    labels += [note.text for note in sheet.notes]
    labels += [source.kind for source in sheet.sources]
    labels += [sheet.table.title, sheet.whose.title, *sheet.key]
    precisions = {"BF16", "FP8", "FP4"}
    return [label for label in labels if "⟦" not in label and label not in precisions]


def test_every_label_is_translated(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x")
    translation.set_language("pseudo")
    assert list_untranslated(build_sheet(answer), answer) == []
