"""Whether there is a printing service to ask for printers, found out without asking one.

Where none listens in a file of this machine and nobody has named one, the library that Qt prints with tries a
port of the network. So it is asked only where it need not, or where that was wished for.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Final

_SOCKETS: Final = (Path("/run/cups/cups.sock"), Path("/var/run/cups/cups.sock"))
_SETTINGS: Final = (Path("/etc/cups/client.conf"), Path("~/.cups/client.conf"))
_SERVER: Final = re.compile(rb"^[ \t]*ServerName[ \t]+\S", re.MULTILINE | re.IGNORECASE)
_MOST_BYTES: Final = 1 << 16


def service_is_there() -> bool:
    """Whether printers can be asked for; on other systems than Linux they always can."""
    if not sys.platform.startswith("linux"):
        return True
    if os.environ.get("CUPS_SERVER"):
        return True
    return any(path.is_socket() for path in _SOCKETS) or any(map(_names_a_server, _SETTINGS))


def _names_a_server(path: Path) -> bool:
    try:
        with path.expanduser().open("rb") as file:
            return _SERVER.search(file.read(_MOST_BYTES)) is not None
    except (OSError, RuntimeError):
        # No such file, or no home that it could lie in.
        return False
