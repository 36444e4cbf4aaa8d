"""Messages: what the computing packages say, as an id with parameters; the sentence is made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

#: What a parameter of a message can be; quantities travel with their unit as (value, unit).
Parameter = str | int | float | tuple[float, str] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A statement to the user: `id` names a sentence of `gpudesk.text`, `parameters` fill it."""

    id: str
    parameters: Mapping[str, Parameter] = field(default_factory=lambda: MappingProxyType({}))


def message(message_id: str, /, **parameters: Parameter) -> Message:
    """Make a `Message`; keyword arguments are its parameters."""
    return Message(message_id, MappingProxyType(parameters))


class InputError(Exception):
    """Input that cannot be used: what is wrong, where it was given, and what to do.

    `where` names the place as the user wrote it (a field, an option, a file with its line).
    """

    def __init__(self, problem: Message, where: str | None = None) -> None:
        """Keep the message; the sentence is made where it is shown."""
        super().__init__(problem.id)
        self.problem = problem
        self.where = where
