"""The documents that were used last, the newest first."""

from __future__ import annotations

from pathlib import Path

from gpudesk import paths
from gpudesk.desktop.session.settings import Settings

_NAME = "recent_files"
_MOST = 10


def recent_files(settings: Settings) -> list[Path]:
    """Return the recent documents that are still there."""
    kept: list[object] = settings.get(_NAME, [])
    # An absolute path stays what it is.
    found = [_base() / text for text in kept if isinstance(text, str)]
    return [path for path in found if path.is_file()]


def note_recent(settings: Settings, path: Path) -> None:
    """Put a document first."""
    path = path.absolute()
    others = [each for each in recent_files(settings) if each != path]
    settings.put(_NAME, [_stored(each) for each in [path, *others][:_MOST]])


def clear_recent(settings: Settings) -> None:
    """Forget them all; the files stay."""
    settings.put(_NAME, [])


def _base() -> Path:
    """Return where the program and the user's files lie, which is elsewhere on the stick's next machine."""
    return paths.user_dir().parent


def _stored(path: Path) -> str:
    """Return a path as it is kept: of what lies on the same stick as the program, from there."""
    if paths.is_portable() and path.is_relative_to(_base()):
        return path.relative_to(_base()).as_posix()
    return str(path)
