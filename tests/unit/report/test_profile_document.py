"""The profile as files, its drawing, and its two pages."""

import csv
import io

import pytest

from gpudesk.domain.profile import ProfileQuestion
from gpudesk.report.labels import shorten_name
from gpudesk.report.profile_document import list_profile_lines, write_profile_file
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.report.writers.text import align_table
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError

DATE = "2026-11-26"


def make_tables(service: GpuDeskService, accelerator: str) -> ProfileTables:
    names = {thing.id: shorten_name(thing.name) for thing in service.catalog.things()}
    profile = service.profile(ProfileQuestion(accelerator))
    return ProfileTables(profile, Formatter(), lambda thing: names.get(thing, thing))


@pytest.fixture(scope="module")
def tables(service: GpuDeskService) -> ProfileTables:
    return make_tables(service, "mi325x")


@pytest.mark.parametrize("suffix", [".md", ".html"])
def test_a_document_has_all_sections(tables: ProfileTables, suffix: str) -> None:
    text = write_profile_file(tables, suffix, DATE).decode()
    for section in (
        "Instinct MI325X",
        "Strengths",
        "Considerations",
        "Buying advice",
        "Capabilities",
        "Resource use",
        "Models for each job",
        "Images and video",
        "Several accelerators",
        "Just out of reach",
        "Upgrades",
        "Compared with its peers",
        "Memory",
        DATE,
    ):
        assert section in text


def test_csv_has_a_line_for_each_cell(tables: ProfileTables) -> None:
    lines = list(csv.DictReader(io.StringIO(write_profile_file(tables, ".csv", DATE).decode())))
    task = next(line for line in lines if line["section"] == "capabilities" and line["row"] == "chat_7b")
    assert (task["column"], task["value"]) == ("Task", "Chat, 8B")
    memory = next(line for line in lines if line["row"] == "memory" and line["column"] == "MI325X")
    assert float(memory["value"]) == 256.0


def test_unknown_profile_format_is_rejected(tables: ProfileTables) -> None:
    with pytest.raises(InputError):
        write_profile_file(tables, ".doc", DATE)


def test_the_drawing_names_what_is_not_known(service: GpuDeskService) -> None:
    complete, cloud, card = (make_tables(service, each).architecture() for each in ("mi325x", "tpu-v6e", "rtx-4090"))
    assert (complete.stacks, complete.domain, complete.unknown) == (8, 8, ("die size",))
    assert "8 × 32 GiB HBM3e, 6.0 TB/s" in complete.sentence
    assert cloud.unknown == ("die size", "number of memory stacks", "host link")
    assert card.scale_up is None
    assert "No scale-up link" in card.sentence


def test_rows_lead_to_their_deployment_or_attribute(tables: ProfileTables) -> None:
    opened = [row.request is not None for row in tables.capabilities().rows]
    assert opened[:5] == [True] * 5
    assert all(row.attribute for row in tables.peers().rows)
    assert {row.attribute for row in tables.limits().rows} >= {"memory", "memory_bandwidth", "tdp"}
    assert all(row.sentence for row in tables.upgrades().rows)


def test_long_texts_are_placed_below_their_row(tables: ProfileTables) -> None:
    lines = list(list_profile_lines(tables, 100, str))
    start = lines.index("Models for each job: score out of 100, all factors weighted equally")
    head, _, row, reason = lines[start + 1 : start + 5]
    assert head.split()[-1] == "Score"
    assert row.startswith("Chat ")
    assert "of memory free; faster than" in reason
    assert all(len(line) <= 100 for line in lines[start + 1 : start + 40])


def test_header_and_peers_show_the_same_digits(tables: ProfileTables) -> None:
    own = {row.key: row.cells[1].text for row in tables.peers().rows}
    for specification in tables.list_headline_specifications():
        assert own[specification.attribute] == specification.text


def test_price_has_its_origin(service: GpuDeskService) -> None:
    tables = make_tables(service, "h200-sxm")
    assert tables.list_headline_specifications()[-1].unit == "USD in a system"
    assert any("in whole systems, used here;" in line and "if bought individually" in line for line in tables.advice())


def test_a_row_of_waiting_requests_keeps_its_format_and_context(tables: ProfileTables) -> None:
    row = next(row for row in tables.capabilities().rows if row.key == "huge_405b")
    assert row.cells[2].detail.startswith("INT4, ")
    assert " context, " in row.cells[2].detail
    assert row.cells[2].detail.endswith(" of 64 run at once")


def test_grades_state_their_thresholds(tables: ProfileTables) -> None:
    assert tables.diffusion().note == (
        "Fast: an image in 2 s, a clip in 10 times its length. Usable: 10 s or 60 times."
    )


@pytest.mark.parametrize(
    ("budget", "note"),
    [
        (None, ""),
        (1_000.0, "No step is within the budget"),
        (50_000.0, "Most models within budget: 2 × MI325X, 9 models"),
        (100_000.0, "Most models within budget: 4 × MI325X, 12 models"),
    ],
)
def test_the_step_for_a_budget_is_named(service: GpuDeskService, budget: float | None, note: str) -> None:
    profile = service.profile(ProfileQuestion("mi325x", budget_usd=budget))
    assert ProfileTables.from_entries(profile, Formatter(), service.catalog.things()).upgrades().note == note


def test_memory_has_one_format(service: GpuDeskService) -> None:
    tables = make_tables(service, "h200-sxm")
    headline = tables.list_headline_specifications()[0]
    peers = next(row for row in tables.peers().rows if row.key == "memory")
    assert not peers.cells[2].text.endswith(".0"), "a mean of memory keeps its decimal"
    assert headline.text == peers.cells[1].text == tables.scale().rows[0].cells[1].text == "141.0"
    assert [row.cells[1].detail for row in tables.scale().rows][1:] == [
        f"{each} TB/s by rule" for each in ("8.45", "16.9", "33.8")
    ]


def test_several_accelerators_for_one_model_are_called_a_split(tables: ProfileTables) -> None:
    status = {row.cells[1].text for row in tables.capabilities().rows}
    assert any(text.startswith("Split over ") for text in status)


def test_intervals_of_costs_have_cents(tables: ProfileTables) -> None:
    cells = [row.cells[-1] for row in tables.out_of_reach().rows]
    ends = [end.strip() for cell in cells for end in cell.detail.split("–") if end]
    assert ends
    assert all(len(end.partition(".")[2]) == 2 for end in ends)


def test_a_cheaper_step_has_no_extra_cost(service: GpuDeskService) -> None:
    """From H100 SXM, MI325X costs less and holds more: no amount per model would be honest."""
    rows = {row.key: row.cells for row in make_tables(service, "h100-sxm").upgrades().rows}
    extra, per_model = rows["mi325x:1"][-2:]
    assert extra.text.startswith("−")
    assert per_model.text == "no extra cost"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_table_keeps_its_heads_at_any_width(tables: ProfileTables, width: int) -> None:
    lines = align_table(("Way", "A head of several words"), [("Buy", "1"), ("Rent", "2")], 10, right=(1,))
    assert [line.split() for line in lines[:4]] == [["Way", "A", "head"], ["of"], ["several"], ["words"]]
    for name in ("Models for each job", "Upgrades"):
        text = "\n".join(list_profile_lines(tables, width, str))
        assert name in text


def test_times_above_two_minutes_are_in_minutes(tables: ProfileTables) -> None:
    clip = next(row for row in tables.capabilities().rows if row.key == "video_long")
    assert clip.cells[-1].text.endswith("\N{NO-BREAK SPACE}min")
