"""Signatures of packs: Ed25519 by PyNaCl, with one key of the user's, made when it is first asked for."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpudesk import paths
from gpudesk.domain.messages import InputError, message

if TYPE_CHECKING:
    from nacl.signing import SigningKey

_KEY_FILE: Final = "signing-key"
_SEED_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class PackSigner:
    """The key of the user, and the name that is put under what it signs."""

    name: str
    _key: SigningKey

    @property
    def key(self) -> str:
        """The public key in hexadecimal digits."""
        return bytes(self._key.verify_key).hex()

    def sign(self, text: bytes) -> str:
        """Return the signature of a text in hexadecimal digits."""
        return self._key.sign(text).signature.hex()


def signer(name: str) -> PackSigner:
    """Return the user's signer; the key is made with the first call, readable to the user alone.

    Raises `InputError` where it cannot be read or written.
    """
    path = signing_key_path()
    try:
        if not path.exists():
            _make(path)
        seed = bytes.fromhex(path.read_text("ascii").strip())
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InputError(message("pack.key_file", reason=reason), str(path)) from error
    except ValueError as error:
        raise InputError(message("pack.no_key"), str(path)) from error
    if len(seed) != _SEED_BYTES:
        raise InputError(message("pack.no_key"), str(path))
    with _library():
        from nacl.signing import SigningKey

        return PackSigner(name, SigningKey(seed))


def signing_key_path() -> Path:
    """Return where the user's key lies; it need not exist yet."""
    return paths.user_dir() / _KEY_FILE


def _make(path: Path) -> None:
    """Write a new key, whole and at once; one that another program made meanwhile stays."""
    paths.ensure_user_dir()
    # Temporary files are readable to the user alone from the start.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(os.urandom(_SEED_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        if not path.exists():
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def verified(key: str, value: str, text: bytes) -> bool:
    """Whether a signature of a text holds under a public key, both in hexadecimal digits."""
    with _library():
        from nacl.exceptions import CryptoError
        from nacl.signing import VerifyKey

        try:
            VerifyKey(bytes.fromhex(key)).verify(text, bytes.fromhex(value))
        except (CryptoError, ValueError):
            return False
        return True


@contextlib.contextmanager
def _library() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise InputError(message("pack.no_library", reason=str(error))) from error


def fingerprint(key: str) -> str:
    """Return what two people compare to be sure of a public key: eight groups of four digits."""
    digits = hashlib.sha256(bytes.fromhex(key)).hexdigest()[:32]
    return " ".join(digits[place : place + 4] for place in range(0, len(digits), 4))
