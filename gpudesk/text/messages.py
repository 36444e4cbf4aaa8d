"""Messages from computing packages to the user, shown in the reader's language and number style."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final, Self, TypeAlias

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import SOURCE_LANGUAGE, get_language, tr, translate_data, trn


class Term(str):
    """A word in messages: a key that code can compare, and its English `text`, which is translated."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, key: str, text: str) -> Term:
        term = super().__new__(cls, key)
        term.text = text
        return term


class FormatName(str):
    """The key of a number format, shown in messages as people write it: FP8."""

    __slots__ = ()


class Share(float):
    """A share of 1, shown in messages as a percentage."""

    __slots__ = ()


class Exact(float):
    """A limit or an input, shown in messages with all its decimals."""

    __slots__ = ()


#: Possible parameters of a message. `Term`, `FormatName`, `Share`, `Exact` and other messages (as reasons) are among
#: them; quantities are (value, unit), or (value, `Quantity`) for the digits and the unit of the catalog.
MessageParameter: TypeAlias = "str | int | float | tuple[float, str] | tuple[str, ...] | Message"


@frozen_dataclass
class Message:
    """A statement to the user: an English sentence that is translated, and the parameters for its placeholders.

    `id` names the statement independent of its wording, so that code can tell messages apart. A sentence with a count
    has a singular form too, and the name of the parameter that counts. The wording is private, so that encoders leave
    it out: content hashes do not change with it.
    """

    id: str
    _sentence: str
    parameters: Mapping[str, MessageParameter] = field(default_factory=lambda: MappingProxyType({}))
    _singular: str | None = None
    _count_name: str | None = None

    def translate(self, texts: Mapping[str, str]) -> str:
        """Return the sentence in the current language, with the texts of its parameters."""
        if self._singular is None or self._count_name is None:
            return tr(self._sentence, **texts)
        number = self.parameters[self._count_name]
        if not isinstance(number, int | float):
            raise TypeError(f"{self.id} counts {number!r}, which is not a number")
        return trn(self._singular, self._sentence, number, **texts)


def message(message_id: str, sentence: str, /, **parameters: MessageParameter) -> Message:
    """Make a `Message`; keyword arguments are its parameters."""
    return Message(message_id, sentence, MappingProxyType(parameters))


def message_n(
    message_id: str, singular: str, plural: str, count_name: str, /, **parameters: MessageParameter
) -> Message:
    """Make a `Message` with a count: `count_name` is the parameter that selects singular or plural."""
    return Message(message_id, plural, MappingProxyType(parameters), singular, count_name)


class InputError(Exception):
    """Unusable input: what is wrong, where it was given, and how to fix it.

    `where` names the place in the user's terms (a field, an option, a file with its line).
    """

    def __init__(self, problem: Message, where: str | None = None) -> None:
        super().__init__(problem.id)
        self.problem = problem
        self.where = where

    def detach(self) -> Self:
        """Drop the frames in which it was raised, and return it, to be kept.

        They hold the variables of all callers: a kept error would keep windows that were closed long ago.
        """
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self


def input_error(
    message_id: str, sentence: str, where: str | None = None, /, **parameters: MessageParameter
) -> InputError:
    """Make an `InputError` with its only message."""
    return InputError(message(message_id, sentence, **parameters), where)


def format_message(message: Message, formatter: Formatter | None = None) -> str:
    """Return the sentence of a message in the current language."""
    formatter = formatter or Formatter()
    return message.translate(
        {name: _format_parameter(name, value, formatter) for name, value in message.parameters.items()}
    )


def join_messages(reasons: Iterable[Message], formatter: Formatter | None = None) -> str:
    return "; ".join(format_message(reason, formatter) for reason in reasons)


def format_input_error(error: InputError, formatter: Formatter | None = None) -> str:
    """Return the place, the fault and the remedy of an input error in one line."""
    text = format_message(error.problem, formatter)
    return f"{error.where}: {text}" if error.where else text


#: System errors that users meet, by number; others keep the system's text.
_SYSTEM_ERRORS: Final = {
    errno.EACCES: "permission denied",
    errno.EEXIST: "file exists",
    errno.EINVAL: "invalid argument",
    errno.EIO: "input/output error",
    errno.EISDIR: "is a directory",
    errno.ELOOP: "too many levels of symbolic links",
    errno.ENAMETOOLONG: "file name too long",
    errno.ENOENT: "no such file or directory",
    errno.ENOSPC: "no space left on device",
    errno.ENOTDIR: "not a directory",
    errno.EPERM: "operation not permitted",
    errno.EROFS: "read-only file system",
}


def explain_system_error(error: Exception) -> str:
    """Return why a file or folder could not be used, as part of a sentence in the current language."""
    number = getattr(error, "errno", None)
    if number in _SYSTEM_ERRORS:
        return tr(_SYSTEM_ERRORS[number])
    return lower_for_sentence(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def join_degrees(degrees: tuple[str, ...]) -> str:
    """Return the degrees of a parallel plan as one text, its terms in the current language."""
    return " + ".join(tr(each.text) if isinstance(each, Term) else each for each in degrees)


def _format_parameter(name: str, value: MessageParameter, formatter: Formatter) -> str:
    if isinstance(value, Message):
        return format_message(value, formatter)
    if isinstance(value, str):
        return _format_word(value) or formatter.date(value)
    if isinstance(value, int):
        return formatter.number(value)
    if isinstance(value, Share):
        return formatter.per_cent(value)
    if isinstance(value, float):
        return formatter.exact(value) if isinstance(value, Exact) else formatter.estimate(value)
    if len(value) == 2 and not isinstance(value[0], str):
        return formatter.quantity(value[0], value[1])
    if name == "plan":
        return join_degrees(tuple(value))
    return ", ".join(_format_word(each) or str(each) for each in value)


def _format_word(value: str) -> str | None:
    """Return the text of a term or number format; None for other texts."""
    if isinstance(value, Term):
        return tr(value.text)
    return value.upper() if isinstance(value, FormatName) else None


# Words and labels inside sentences


def capitalize_first(text: str) -> str:
    """Return a text with a capital first letter; the rest stays unchanged."""
    return text[:1].upper() + text[1:]


def lower_for_sentence(text: str) -> str:
    """Return a label, or a sentence without its full stop, for use inside an English sentence.

    A beginning that looks like a name or an abbreviation stays, and so does every text of another language: German
    capitalizes nouns everywhere.
    """
    first = text.split(" ", 1)[0]
    if get_language() != SOURCE_LANGUAGE or first == "I" or any(each.isupper() or each.isdigit() for each in first[1:]):
        return text
    return text[:1].lower() + text[1:]


def quote_input(text: str) -> str:
    """Return user input in quotation marks, with invisible characters as escapes."""
    return tr("'{text}'", text=repr(text)[1:-1])


def to_sentence(text: str) -> str:
    """Return a text of the data files, in the current language, as a sentence: with a capital and a full stop."""
    text = translate_data(text)
    return capitalize_first(text if text.endswith((".", "!", "?")) else f"{text}.")
