"""What speaks against a figure: that it cannot be, or that no known part has one like it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gpudesk.domain.messages import Message


class Grade(StrEnum):
    """Whether a figure cannot be, or only is like that of no known part."""

    REFUSED = "refused"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class Finding:
    """What speaks against a figure; `others` are the attributes that it does not go with."""

    attribute: str
    grade: Grade
    problem: Message
    others: tuple[str, ...] = ()

    def refuses(self, attribute: str) -> bool:
        """Whether it says that the figure of this attribute cannot be."""
        return self.grade is Grade.REFUSED and attribute == self.attribute

    def concerns(self, attribute: str) -> bool:
        """Whether the attribute is one of those that do not go together."""
        return attribute == self.attribute or attribute in self.others
