"""Translation by gettext: `tr` and `trn` look a sentence up in the language in force."""

import gettext
import os
import re
from pathlib import Path

from gpudesk import paths

PSEUDO = "pseudo"
_SOURCE_LANGUAGE = "en"
_DOMAIN = "gpudesk"
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ACCENTED = str.maketrans("AEIOUYaceinouy", "ÀÉÎÖÛÝåçéîñöûý")


class _PseudoTranslations(gettext.NullTranslations):
    """A made-up language: accented English between brackets, with the placeholders left as they are."""

    def gettext(self, message: str) -> str:
        return f"⟦{self._accented(message)}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(super().ngettext(msgid1, msgid2, n))

    @staticmethod
    def _accented(message: str) -> str:
        parts: list[str] = []
        end = 0
        for match in _PLACEHOLDER.finditer(message):
            parts += [message[end : match.start()].translate(_ACCENTED), match.group()]
            end = match.end()
        parts.append(message[end:].translate(_ACCENTED))
        return "".join(parts)


_translations: gettext.NullTranslations | None = None


def tr(msgid: str, /, **params: object) -> str:
    """Return the message in the language in force with its placeholders filled in.

    A placeholder without a parameter is a mistake of the caller and raises KeyError.
    """
    return _filled(_current().gettext(msgid), msgid, params)


def trn(singular: str, plural: str, n: int, /, **params: object) -> str:
    """Return the form that the language in force uses for `n`, which fills the placeholder `{n}`."""
    source = singular if n == 1 else plural
    return _filled(_current().ngettext(singular, plural, n), source, {"n": n, **params})


def set_language(code: str | None) -> None:
    """Put a language in force by its code (`en`, `pt_BR`, `pseudo`), or with None the environment's.

    A code without translations raises ValueError, which names those there are.
    """
    global _translations
    if code is not None and code not in available_languages():
        raise ValueError(f"no translations for {code!r}; there are {', '.join(available_languages())}")
    _translations = _from_environment() if code is None else _load(code)


def available_languages() -> tuple[str, ...]:
    """Return the codes that `set_language` accepts: English, then those translated, then the made-up one."""
    translated = (file.parts[-3] for file in _folder().glob(f"*/LC_MESSAGES/{_DOMAIN}.mo"))
    return (_SOURCE_LANGUAGE, *sorted(translated), PSEUDO)


def _current() -> gettext.NullTranslations:
    global _translations
    if _translations is None:
        _translations = _from_environment()
    return _translations


def _from_environment() -> gettext.NullTranslations:
    """Choose by GPUDESK_LANGUAGE, else by the locale variables; English where there is no translation."""
    wanted = os.environ.get("GPUDESK_LANGUAGE")
    if wanted:
        return _load(wanted if wanted in available_languages() else _SOURCE_LANGUAGE)
    return gettext.translation(_DOMAIN, _folder(), fallback=True)


def _load(code: str) -> gettext.NullTranslations:
    if code == _SOURCE_LANGUAGE:
        return gettext.NullTranslations()
    if code == PSEUDO:
        return _PseudoTranslations()
    return gettext.translation(_DOMAIN, _folder(), languages=[code])


def _folder() -> Path:
    return paths.resources_dir() / "translations"


def _filled(text: str, source: str, params: dict[str, object]) -> str:
    """Fill in a translation, or the source where the translation asks for what was not given."""
    try:
        return _substituted(text, params)
    except KeyError:
        if text == source:
            raise
        return _substituted(source, params)


def _substituted(text: str, params: dict[str, object]) -> str:
    """Replace placeholders by name only: no attributes, no indexes; braces in a value stay as they are."""
    if "{" not in text and "}" not in text:
        return text

    def value_of(match: re.Match[str]) -> str:
        name = match.group(1)
        return str(params[name]) if name is not None else match.group()[0]

    return _PLACEHOLDER.sub(value_of, text)
