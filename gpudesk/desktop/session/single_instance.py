"""One running program for one user folder: a second start hands its files over and ends."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from gpudesk import paths

_WAIT_MS = 800
_MOST_BYTES = 1 << 16


def server_name(folder: Path | None = None) -> str:
    """Return a name that is the same for every start with this user folder, and for no other."""
    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    key = f"{owner}:{(folder or paths.user_dir()).absolute()}"
    return f"gpudesk-{hashlib.sha256(key.encode()).hexdigest()[:20]}"


def hand_over(files: Sequence[str], name: str | None = None) -> bool:
    """Ask the running program, if there is one, to open these files; return whether it took them."""
    socket = QLocalSocket()
    socket.connectToServer(name or server_name())
    if not socket.waitForConnected(_WAIT_MS):
        return False
    absolute = [str(Path(file).absolute()) for file in files]
    socket.write(json.dumps(absolute).encode() + b"\n")
    taken = socket.waitForReadyRead(_WAIT_MS) and bytes(socket.readAll().data()) == b"ok\n"
    socket.disconnectFromServer()
    return taken


class Instance(QObject):
    """Listens for later starts. Only the same user can reach it; nothing leaves the machine."""

    #: The files, as a list of paths, that a later start was given.
    asked = Signal(list)

    def __init__(self, parent: QObject | None = None, name: str | None = None) -> None:
        """Begin to listen; a socket that a crash left is removed."""
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        name = name or server_name()
        if not self._server.listen(name):
            QLocalServer.removeServer(name)
            self._server.listen(name)

    @property
    def listening(self) -> bool:
        """Whether later starts are heard; where not, each start is a program of its own."""
        return self._server.isListening()

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _connected(self) -> None:
        while self._server.hasPendingConnections():
            socket = self._server.nextPendingConnection()
            socket.readyRead.connect(lambda socket=socket: self._read(socket))
            socket.disconnected.connect(socket.deleteLater)

    def _read(self, socket: QLocalSocket) -> None:
        if socket.bytesAvailable() > _MOST_BYTES:
            socket.abort()
            return
        if not socket.canReadLine():
            return
        try:
            files = json.loads(bytes(socket.readLine().data()))
        except ValueError:
            socket.abort()
            return
        if isinstance(files, list) and all(isinstance(file, str) for file in files):
            socket.write(b"ok\n")
            socket.flush()
            self.asked.emit([Path(file) for file in files])
