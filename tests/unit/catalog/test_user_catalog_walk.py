"""Random edits of the user's facts over a real file, which says what memory says; all can be undone."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store import edits
from gpudesk.catalog.user_store.connection import query_file, read_contents
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.user_facts import FactEdit, UserFacts, UserPrice
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, message
from tests.unit.domain.user_samples import ACCELERATOR, LAB, MODEL, OFFER, TODAY

FIGURES = (
    ("mi325x", "memory_bandwidth", "TB/s"),
    ("mi325x", "price_low", "USD"),
    ("h200-sxm", "tdp", "W"),
    ("ours-x1", "memory_bandwidth", "TB/s"),
)
figures = st.sampled_from(FIGURES)
titles = st.sampled_from(["Our lab", "An offer", "=1+1"])


def catalog_of_data() -> Path:
    return paths.get_catalog_path()


class Walk(RuleBasedStateMachine):
    """One user, one file, and now and then a second program that writes to it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="walk-"))
        self.path = self.folder / "catalog.sqlite"
        self.bench = self.opened()
        self.begin: UserFacts = self.bench.user_catalog.facts
        self.done = 0

    def opened(self) -> GpuDeskService:
        return GpuDeskService(Catalog.open(catalog_of_data()), user_file=self.path)

    def teardown(self) -> None:
        while self.bench.user_catalog.undo() is not None:
            self.done -= 1
        assert self.done == 0
        assert dict(self.bench.user_catalog.facts.facts) == dict(self.begin.facts)
        fresh = self.bench.catalog.with_user_facts(self.begin)
        assert self.bench.catalog.revision == fresh.revision
        self.bench.close()
        shutil.rmtree(self.folder)

    def try_edit(self, make: Callable[..., FactEdit], *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        before = dict(self.bench.user_catalog.facts.facts)
        try:
            self.bench.user_catalog.do(make(self.bench.catalog, *arguments, **named))
        except InputError:
            assert dict(self.bench.user_catalog.facts.facts) == before
        else:
            self.done += 1

    @rule(figure=figures, value=st.floats(0.5, 900), title=titles)
    def state(self, figure: tuple[str, str, str], value: float, title: str) -> None:
        thing, name, unit = figure
        self.try_edit(edits.state_value, thing, name, value, unit, make_user_source(title), today=TODAY)

    @rule(figure=figures, place=st.integers(0, 5))
    def choose(self, figure: tuple[str, str, str], place: int) -> None:
        thing, name, _ = figure
        if thing not in {each.id for each in self.bench.catalog.things()}:
            return
        attributes = [each for each in self.bench.catalog.attributes(thing) if each.name == name]
        claims = attributes[0].claims if attributes else ()
        if claims:
            claim = claims[place % len(claims)]
            self.try_edit(edits.prefer_claim, thing, name, claim, "because", today=TODAY)

    @rule(figure=figures)
    def take_shipped_value(self, figure: tuple[str, str, str]) -> None:
        self.try_edit(edits.take_shipped, figure[0], figure[1])

    @rule(figure=figures)
    def revert(self, figure: tuple[str, str, str]) -> None:
        self.try_edit(edits.revert_attribute, figure[0], figure[1])

    @rule()
    def add_part(self) -> None:
        self.try_edit(edits.add_facts, [LAB, *ACCELERATOR], "part")

    @rule()
    def add_model(self) -> None:
        self.try_edit(edits.add_facts, MODEL, "model")

    @rule(thing=st.sampled_from(["ours-x1", "ours-8b", "h200-sxm"]))
    def remove(self, thing: str) -> None:
        self.try_edit(edits.remove_entry, thing)

    @rule(part=st.sampled_from(["ours-x1", "h200-sxm"]), usd=st.floats(0.1, 9), number=st.integers(1, 3))
    def price(self, part: str, usd: float, number: int) -> None:
        price = UserPrice(f"offer-{number}", part, "on_demand", OFFER.id, SourceKind.USER, usd)
        there = self.bench.user_catalog.facts.get("price", price.id)
        self.try_edit(edits.state_price, price, OFFER, None if there is None else price.id)

    @rule(number=st.integers(1, 3))
    def no_price(self, number: int) -> None:
        self.try_edit(edits.remove_price, f"offer-{number}")

    @precondition(lambda self: self.done > 0)
    @rule()
    def undo(self) -> None:
        assert self.bench.user_catalog.undo() is not None
        self.done -= 1

    @rule()
    def redo(self) -> None:
        if self.bench.user_catalog.redo() is not None:
            self.done += 1

    @rule()
    def begin_again(self) -> None:
        self.bench.close()
        self.bench = self.opened()
        assert self.bench.user_catalog.problem is None
        self.begin, self.done = self.bench.user_catalog.facts, 0

    @rule(value=st.floats(1, 9))
    def another_program(self, value: float) -> None:
        """Let a second program write, and take that up."""
        with self.opened() as other:
            edit = edits.state_value(
                other.catalog, "mi355x", "memory_bandwidth", value, "TB/s", make_user_source("Theirs"), today=TODAY
            )
            other.user_catalog.do(edit)
        assert self.bench.user_catalog.read_changes()
        self.begin, self.done = self.bench.user_catalog.facts, 0

    @rule()
    def a_step_in_vain(self) -> None:
        """Try a step that takes away what is not there: what was done before can be undone as it could."""
        gone = FactEdit(message("own.step.add", "Add {name}", name="x"), before=(OFFER,), after=())
        if self.bench.user_catalog.facts.get("source", OFFER.id) is None:
            before = self.bench.user_catalog.undo_text
            self.try_edit(lambda _: gone)
            assert self.bench.user_catalog.undo_text == before

    @invariant()
    def file_and_memory_say_the_same(self) -> None:
        if self.path.exists():
            contents = query_file(self.path, read_contents)
            assert dict(contents.facts.facts) == dict(self.bench.user_catalog.facts.facts)
        assert dict(self.bench.catalog.user_facts.facts) == dict(self.bench.user_catalog.facts.facts)

    @invariant()
    def nothing_dangles(self) -> None:
        own = self.bench.user_catalog.facts
        sources = {source.id for source in self.bench.catalog.sources()}
        assert {getattr(fact, "source", LAB.id) for fact in own} - {LAB.id} <= sources


TestWalk = Walk.TestCase
TestWalk.settings = settings(
    max_examples=12, stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow], deadline=None
)
