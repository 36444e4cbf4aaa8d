"""Translation by gettext: `tr` and `trn` look a sentence up in the current language."""

import gettext
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Self

from gpudesk import paths

PSEUDO = "pseudo"
#: Languages by code, each with its own name.
LANGUAGE_NAMES = {"en": "English", "de": "Deutsch"}
#: The language of the texts in the code and in the data.
SOURCE_LANGUAGE = "en"
_DOMAIN = "gpudesk"
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: Placeholders, also those of argparse, that the pseudo-language leaves unchanged.
_KEPT = re.compile(rf"{_PLACEHOLDER.pattern}|%\(\w+\)s|%[sr]")
#: Doubled vowels make texts about 40% longer, as in other languages.
_ACCENTED = str.maketrans(
    dict(zip("AEIOUYcny", "ÀÉÎÖÛÝçñý", strict=True)) | {"a": "åå", "e": "éé", "i": "îî", "o": "öö", "u": "ûû"}
)


class _CompiledTranslations(gettext.GNUTranslations):
    """Finds a text also if it is translated as the singular of a counted text, like Python from 3.13 on."""

    def gettext(self, message: str) -> str:
        text = super().gettext(message)
        return super().ngettext(message, message, 1) if text == message else text


class _PseudoTranslations(gettext.NullTranslations):
    """The pseudo-language: accented, longer English in brackets, with unchanged placeholders."""

    def gettext(self, message: str) -> str:
        return f"⟦{self._accent_text(message)}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(super().ngettext(msgid1, msgid2, n))

    @staticmethod
    def _accent_text(message: str) -> str:
        parts: list[str] = []
        end = 0
        for match in _KEPT.finditer(message):
            parts += [message[end : match.start()].translate(_ACCENTED), match.group()]
            end = match.end()
        parts.append(message[end:].translate(_ACCENTED))
        return "".join(parts)


#: The code of the active language, and its texts; None until the first text is needed.
_active: tuple[str, gettext.NullTranslations] | None = None
#: Replaces it in this thread during `use_language`.
_override: ContextVar[tuple[str, gettext.NullTranslations] | None] = ContextVar("language", default=None)


def tr(msgid: str, /, **params: object) -> str:
    """Return the message in the current language with its placeholders filled in.

    A placeholder without a parameter is a programming error and raises KeyError.
    """
    return _fill_placeholders(_get_current_translation()[1].gettext(msgid), msgid, params)


def trn(singular: str, plural: str, n: float, /, **params: object) -> str:
    """Return the plural form of the current language for `n`, which fills the placeholder `{n}`.

    A fractional number takes the plural.
    """
    count = int(n) if n == int(n) else 2
    source = singular if count == 1 else plural
    return _fill_placeholders(
        _get_current_translation()[1].ngettext(singular, plural, count), source, {"n": n, **params}
    )


class LabeledEnum(StrEnum):
    """Words with the labels that interfaces show: `FLAT = "flat", "Flat"`."""

    _value_: str
    #: The label in the source language.
    english_label: str

    def __new__(cls, value: str, label: str = "") -> Self:
        word = str.__new__(cls, value)
        word._value_, word.english_label = value, label
        return word

    @property
    def label(self) -> str:
        """The label in the current language."""
        return tr(self.english_label)


def translate_data(text: str) -> str:
    """Return a text of the data files in the current language; user input stays unchanged."""
    return _get_current_translation()[1].gettext(text) if text else text


def set_language(code: str | None) -> None:
    """Activate a language by its code (`en`, `pt_BR`, `pseudo`), or with None the environment's.

    A code without translations raises ValueError, which lists the available codes.
    """
    global _active
    _active = _choose_from_environment() if code is None else _load_known(code)


def get_language() -> str:
    """Return the code of the active language."""
    return _get_current_translation()[0]


@contextmanager
def use_language(code: str) -> Iterator[None]:
    """Activate a language in this thread until the block ends; raises ValueError as `set_language` does."""
    token = _override.set(_load_known(code))
    try:
        yield
    finally:
        _override.reset(token)


def list_available_languages() -> tuple[str, ...]:
    """Return the codes that `set_language` accepts: English, the translated languages, the pseudo-language."""
    translated = (file.parts[-3] for file in _get_folder().glob(f"*/LC_MESSAGES/{_DOMAIN}.mo"))
    return (SOURCE_LANGUAGE, *sorted(translated), PSEUDO)


def _get_current_translation() -> tuple[str, gettext.NullTranslations]:
    global _active
    override = _override.get()
    if override is not None:
        return override
    if _active is None:
        _active = _choose_from_environment()
    return _active


def _choose_from_environment() -> tuple[str, gettext.NullTranslations]:
    """Choose by GPUDESK_LANGUAGE, else by the locale variables; English without a translation."""
    language = os.environ.get("GPUDESK_LANGUAGE")
    if language:
        return _load(language if language in list_available_languages() else SOURCE_LANGUAGE)
    path = gettext.find(_DOMAIN, _get_folder())
    return _load(SOURCE_LANGUAGE if path is None else Path(path).parts[-3])


def _load_known(code: str) -> tuple[str, gettext.NullTranslations]:
    if code not in list_available_languages():
        raise ValueError(f"no translations for {code!r}; there are {', '.join(list_available_languages())}")
    return _load(code)


def _load(code: str) -> tuple[str, gettext.NullTranslations]:
    if code == SOURCE_LANGUAGE:
        return code, gettext.NullTranslations()
    if code == PSEUDO:
        return code, _PseudoTranslations()
    return code, gettext.translation(_DOMAIN, _get_folder(), languages=[code], class_=_CompiledTranslations)


@cache
def _get_folder() -> Path:
    return paths.get_translations_dir()


def _fill_placeholders(text: str, source: str, params: dict[str, object]) -> str:
    """Fill in a translation, or the source text if the translation has an unknown placeholder."""
    try:
        return _substitute(text, params)
    except KeyError:
        if text == source:
            raise
        return _substitute(source, params)


def _substitute(text: str, params: dict[str, object]) -> str:
    """Replace placeholders by name only: no attributes, no indexes; braces in values stay unchanged."""
    if "{" not in text and "}" not in text:
        return text

    def value_of(match: re.Match[str]) -> str:
        name = match.group(1)
        return str(params[name]) if name is not None else match.group()[0]

    return _PLACEHOLDER.sub(value_of, text)
