"""The documents that were used last, the newest first."""

from __future__ import annotations

from pathlib import Path

from gpudesk.desktop.session.settings import Settings

_NAME = "recent_files"
_MOST = 10


def recent_files(settings: Settings) -> list[Path]:
    """Return the recent documents that are still there."""
    kept: list[object] = settings.get(_NAME, [])
    paths = [Path(text) for text in kept if isinstance(text, str)]
    return [path for path in paths if path.is_file()]


def note_recent(settings: Settings, path: Path) -> None:
    """Put a document first."""
    path = path.absolute()
    others = [each for each in recent_files(settings) if each != path]
    settings.put(_NAME, [str(each) for each in [path, *others][:_MOST]])


def clear_recent(settings: Settings) -> None:
    """Forget them all; the files stay."""
    settings.put(_NAME, [])
