"""Words and labels put into sentences."""

from __future__ import annotations

from gpudesk.text.translation import SOURCE_LANGUAGE, get_language, tr, translate_data


def capitalize_first(text: str) -> str:
    """Return a text with a capital at its beginning; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def lower_for_sentence(text: str) -> str:
    """Return a label, or a sentence without its full stop, as it stands inside an English sentence.

    A beginning like that of a name or an abbreviation stays, and so does every text of another language: German
    writes nouns with a capital everywhere.
    """
    first = text.split(" ", 1)[0]
    if get_language() != SOURCE_LANGUAGE or first == "I" or any(each.isupper() or each.isdigit() for each in first[1:]):
        return text
    return text[:1].lower() + text[1:]


def quote_input(text: str) -> str:
    """Return what the user entered in quotation marks, characters that cannot be seen as escapes."""
    return tr("'{text}'", text=repr(text)[1:-1])


def to_sentence(text: str) -> str:
    """Return a text of the data files, in the active language, as a sentence: with a capital and a full stop."""
    text = translate_data(text)
    return capitalize_first(text if text.endswith((".", "!", "?")) else f"{text}.")
