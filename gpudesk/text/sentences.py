"""Words and labels put into sentences."""

from __future__ import annotations

from gpudesk.text.translation import translate_data


def capitalize_first(text: str) -> str:
    """Return a text with a capital at its beginning; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def to_sentence(text: str) -> str:
    """Return a text of the data files, in the active language, as a sentence: with a capital and a full stop."""
    text = translate_data(text)
    return capitalize_first(text if text.endswith((".", "!", "?")) else f"{text}.")
