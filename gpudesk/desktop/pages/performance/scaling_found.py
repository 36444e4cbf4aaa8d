"""How the accelerators of the desk's answer scale, found once for chart, table and comparison."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.desktop.charts.columns import Part, parts
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.answers import Answer
from gpudesk.domain.fit_matrix import FitQuestion
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.topology import Scaling, Topology


@dataclass(frozen=True, slots=True)
class Scaled:
    """A column with how its part scales; None where nothing can be said of it."""

    part: Part
    scaling: Scaling | None

    @property
    def own_count(self) -> int | None:
        """How many the scenario has of it, chosen by the program where the user left it open."""
        estimate = self.part.column.estimate
        return None if estimate is None else estimate.count


class ScalingFound:
    """Asks the workbench anew for each answer; while something is dragged, for what moves on the chart."""

    def __init__(self, desk: Desk) -> None:
        """Ask nothing yet."""
        self._desk = desk
        self._answer: Answer | None = None
        self._whole = False
        self._found: tuple[Scaled, ...] = ()
        self._compared: tuple[tuple[Answer, str, str], Topology | Message] | None = None

    def columns(self) -> tuple[Scaled, ...]:
        """Return the columns of the answer; those of one part on one serving engine scale alike."""
        answer, whole = self._desk.answer, not self._desk.in_gesture
        if self._answer is not answer or whole > self._whole:
            self._answer, self._whole = answer, whole
            self._found = () if answer is None else self._ask(answer, whole)
        return self._found

    def _ask(self, answer: Answer, whole: bool) -> tuple[Scaled, ...]:
        found = self._desk.workbench.scaling(answer.scenario, brief=not whole)
        return tuple(
            Scaled(part, None if isinstance(scaling, InputError) or scaling.start is None else scaling)
            for part, scaling in zip(parts(answer), found, strict=True)
        )

    def lines(self) -> tuple[Scaled, ...]:
        """Return the columns that have a curve of their own: the first of each part and serving engine."""
        met: set[tuple[str, str | None]] = set()
        kept = []
        for each in self.columns():
            choice = each.part.column.choice
            key = (choice.accelerator, choice.serving_engine)
            if key not in met and each.scaling is not None:
                kept.append(each)
            met.add(key)
        return tuple(kept)

    def chosen(self) -> Scaled | None:
        """Return the column that is selected on the desk, else the baseline."""
        columns = self.columns()
        selection = self._desk.selection
        key = "" if selection is None else selection.column
        first = columns[0] if columns else None
        return next((each for each in columns if each.part.key == key), first)

    def models(self, scaled: Scaled) -> dict[int, int]:
        """Return by count how many models of the catalog a part holds, one request of this length each."""
        estimate = scaled.part.column.estimate
        if estimate is None or scaled.scaling is None:
            return {}
        request = estimate.request
        context = request.workload.input_tokens + request.workload.output_tokens
        question = FitQuestion(request.weights, request.kv, context, memory_fraction=request.memory_fraction)
        matrix = self._desk.workbench.fit_matrix(question, [request.accelerator])
        counts = [cell.count for (cell,) in matrix.rows if cell.count is not None]
        return {row.count: sum(each <= row.count for each in counts) for row in scaled.scaling.rows}

    def pair(self) -> tuple[Scaled, Scaled] | None:
        """Return the baseline and what it is compared with: the selected column, else the next one."""
        columns, chosen = self.columns(), self.chosen()
        if len(columns) < 2 or chosen is None:
            return None
        return columns[0], columns[1] if chosen is columns[0] else chosen

    def topology(self) -> Topology | Message | None:
        """Return the comparison of the pair, or why there is none; None without a second column."""
        answer, pair = self._desk.answer, self.pair()
        if pair is None or answer is None:
            return None
        key = (answer, pair[0].part.key, pair[1].part.key)
        if self._compared is None or (self._compared[0][0] is not answer) or self._compared[0][1:] != key[1:]:
            self._compared = (key, self._compare(*pair))
        return self._compared[1]

    def _compare(self, one: Scaled, other: Scaled) -> Topology | Message:
        for each in (one, other):
            column = each.part.column
            if column.estimate is None:
                return column.problem or message("explain.does_not_fit")
        baseline, against = one.part.column.estimate, other.part.column.estimate
        if baseline is None or against is None:
            return message("explain.does_not_fit")
        try:
            return self._desk.workbench.topology(baseline, against)
        except InputError as error:
            return error.problem
