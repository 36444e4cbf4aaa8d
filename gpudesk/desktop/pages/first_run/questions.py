"""The questions to begin from: each is a ready-made scenario, asked as its user would ask."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.text import tr

#: The scenario that the page's main button opens.
SAMPLE = "70b-chat-on-four"


@dataclass(frozen=True, slots=True)
class Question:
    """A template with the question that it answers and a line on what it holds."""

    template: str
    title: str
    detail: str
    icon: str


def questions() -> tuple[Question, ...]:
    """Return the questions; the place in this list, from 1, is the key that opens one."""
    return (
        Question(
            "mi325x-or-h200-70b",
            tr("MI325X or H200 for 70B?"),
            tr("Llama 3.1 70B in FP8 on one of each, 64 in flight"),
            "scale",
        ),
        Question(
            "mi300x-or-h100-70b",
            tr("MI300X or H100?"),
            tr("Llama 3.1 70B as published, in BF16, on four of each, 32 in flight"),
            "cpu",
        ),
        Question(
            "b200-or-mi355x",
            tr("B200 or MI355X?"),
            tr("gpt-oss-120b in its own four bits on one of each, 128 in flight"),
            "gauge",
        ),
        Question(
            "405b-one-node",
            tr("405B on one node?"),
            tr("Llama 3.1 405B in FP8 on eight of each of six kinds, 64 in flight"),
            "memory-stick",
        ),
    )
