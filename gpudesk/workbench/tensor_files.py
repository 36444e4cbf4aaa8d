"""The headers of the files of tensors beside a configuration: what is stored there, without reading it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk.domain.messages import message
from gpudesk.domain.progress import Progress, Steps
from gpudesk.workbench.import_files import read_regular

#: Files in a folder, and bytes of all their headers, beyond which none are used.
_MOST_FILES: Final = 400
_MOST_BYTES: Final = 64 << 20
#: What says how long a header is, and what is read at first, which is longer than most.
_LENGTH: Final = 8
_FIRST: Final = 1 << 17


def tensor_headers(folder: Path) -> Steps[dict[str, bytes]]:
    """Return the headers by the names of their files; none where they are too many or too long.

    A file that is broken off comes as far as it goes. Raises `InputError` for one that cannot be read.
    """
    files = sorted(folder.glob("*.safetensors"))
    if len(files) > _MOST_FILES:
        return {}
    found: dict[str, bytes] = {}
    left = _MOST_BYTES
    for number, file in enumerate(files):
        yield Progress(message("import.reading", file=file.name), number, len(files))
        begin = read_regular(file, _FIRST, whole=False)
        size = _LENGTH + int.from_bytes(begin[:_LENGTH], "little")
        left -= size
        if left < 0:
            return {}
        found[file.name] = begin[:size] if size <= len(begin) else read_regular(file, size, whole=False)
    return found
