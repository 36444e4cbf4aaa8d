"""The notices next to a frozen program: all components in short, then every license text once."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from license_texts import TextFolder

from gpudesk.third_party import PROGRAM, ThirdPartyWork

_WIDTH: Final = 100
_RULE: Final = "=" * _WIDTH

_HEADING: Final = """\
THIRD-PARTY NOTICES

{program} {version} comes under the Apache License 2.0. It is distributed together with the works of
others that are listed here; each keeps its own terms, whose texts follow the list. GPU Desk shows the
same under Help > About GPU Desk.
"""


def notices_text(parts: Sequence[ThirdPartyWork], texts: TextFolder) -> str:
    """Return the notices of a program whose first component is itself."""
    program, *others = parts
    pieces = [_HEADING.format(program=PROGRAM, version=program.version), _RULE, ""]
    pieces += [line for part in others for line in _entry(part)]
    for name in dict.fromkeys(name for part in parts for name in part.texts):
        works = ", ".join(dict.fromkeys(part.name for part in parts if name in part.texts))
        pieces += [_RULE, *textwrap.wrap(f"Terms of: {works}", _WIDTH), _RULE, ""]
        pieces += [texts.content(Path(name).name)]
    return "\n".join(pieces).rstrip("\n") + "\n"


def _entry(part: ThirdPartyWork) -> Iterator[str]:
    """Yield the lines of one component in the list."""
    inside = f" (in {part.within})" if part.within else ""
    yield f"{part.work}{inside}"
    for name, value in (("License", part.license), ("Author", part.author), ("Home", part.home)):
        if value:
            yield from textwrap.wrap(f"{name}: {value}", _WIDTH, initial_indent="  ", subsequent_indent="    ")
    yield from (f"  {line}" for line in part.copyright)
    for paragraph in part.note.splitlines():
        yield from textwrap.wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)
    yield ""
