"""The file of a value pack: JSON with digest and Ed25519 signature."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk import paths
from gpudesk.domain.field_checks import (
    HALF_CHARACTER,
    FieldCheck,
    accept_plain_text,
    is_nested_too_deep,
    make_type_error,
    make_unknown_field_error,
    parse_strict_json,
)
from gpudesk.files import describe_too_large
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, explain_system_error, input_error, message

if TYPE_CHECKING:
    from nacl.signing import SigningKey

_CHANGED_PACK: Final = message("pack.changed", "was changed after it was created; get the file from its author again")
_FOREIGN_PACK: Final = message("pack.foreign", "is not a value pack; choose a file that ends with .gpudeskpack")
_NO_KEY: Final = message("pack.no_key", "is not a signing key; move it away, and GPU Desk creates a new key")


PACK_SUFFIX: Final = ".gpudeskpack"
PACK_FORMAT: Final = 1
SIGNATURE_ALGORITHM: Final = "ed25519"
#: Even a pack with all facts that a person can collect is a fraction of this size.
LARGEST_PACK: Final = 32 << 20
#: Maximum lists, objects and items in a text: without limit they would take twenty times its size.
_MOST_NESTS: Final = 1_000_000
_MOST_ITEMS: Final = 8_000_000
_DEEPEST: Final = 20
_MARK: Final = "gpudesk_pack"
_HEX: Final = frozenset("0123456789abcdef")


@frozen_dataclass
class SignatureFields:
    """A signature as written in the file, not yet verified."""

    key: str
    name: str
    value: str


@frozen_dataclass
class PackFile:
    """A file whose digest matches its content."""

    content: Mapping[str, Any]
    digest: str
    signature: SignatureFields | None


def write_canonical_json(content: object) -> bytes:
    """Return JSON values as the text over which the digest is computed."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def compute_digest(content: object) -> str:
    return hashlib.sha256(write_canonical_json(content)).hexdigest()


def make_signed_text(digest: str, name: str) -> bytes:
    return f"gpudesk pack {PACK_FORMAT}\n{digest}\n{name}".encode()


def write_pack_bytes(content: Mapping[str, Any], digest: str, signature: SignatureFields | None) -> bytes:
    document: dict[str, Any] = {
        _MARK: PACK_FORMAT,
        "content": json.loads(write_canonical_json(content)),
        "sha256": digest,
    }
    if signature is not None:
        document["signature"] = {
            "algorithm": SIGNATURE_ALGORITHM,
            "key": signature.key,
            "name": signature.name,
            "value": signature.value,
        }
    # The first line identifies the file.
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def parse_pack_file(raw: bytes) -> PackFile:
    """Return the content of a pack file; raises `InputError` if it is not a complete pack."""
    document = _parse_document(raw)
    version = document.get(_MARK)
    if type(version) is not int or version < 1:
        raise InputError(_FOREIGN_PACK)
    if version != PACK_FORMAT:
        raise input_error(
            "pack.newer",
            "is a value pack of format {version}, but GPU Desk reads format {known}; update GPU Desk",
            version=version,
            known=PACK_FORMAT,
        )
    _check_fields("", document, (_MARK, "content", "sha256", "signature"))
    content = document.get("content")
    if type(content) is not dict:
        raise make_type_error("content", content, "object")
    if is_nested_too_deep(content, _DEEPEST):
        raise InputError(_FOREIGN_PACK)
    if document.get("sha256") != _compute_content_digest(content):
        raise InputError(_CHANGED_PACK)
    return PackFile(content, document["sha256"], _parse_signature(document.get("signature")))


def _parse_document(raw: bytes) -> dict[str, Any]:
    if len(raw) > LARGEST_PACK:
        raise InputError(describe_too_large(LARGEST_PACK))
    if raw.count(b"[") + raw.count(b"{") > _MOST_NESTS or raw.count(b",") > _MOST_ITEMS:
        raise InputError(_FOREIGN_PACK)
    if not raw.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").startswith(b"{"):
        raise InputError(_FOREIGN_PACK)
    return parse_strict_json(raw, None, _FOREIGN_PACK, _describe_fault)


def _describe_fault(error: ValueError) -> Message:
    # A pack without its last brace was truncated.
    if isinstance(error, json.JSONDecodeError) and f'"{_MARK}"' in error.doc and not error.doc.rstrip().endswith("}"):
        return message("pack.cut", "is an incomplete value pack; get the file again")
    return _FOREIGN_PACK


def _compute_content_digest(content: object) -> str:
    try:
        return compute_digest(content)
    except UnicodeEncodeError as error:
        raise InputError(HALF_CHARACTER, "content") from error
    except ValueError as error:
        # A number beyond the range of floats.
        raise InputError(_CHANGED_PACK) from error


def _check_fields(where: str, table: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in table:
        if name not in names:
            raise make_unknown_field_error(where, name, names)


def _parse_signature(fields: object) -> SignatureFields | None:
    if fields is None:
        return None
    if type(fields) is not dict:
        raise make_type_error("signature", fields, "object")
    _check_fields("signature", fields, ("algorithm", "key", "name", "value"))
    if fields.get("algorithm") != SIGNATURE_ALGORITHM:
        algorithm = str(fields.get("algorithm"))[:60]
        raise input_error(
            "pack.algorithm",
            "{given} is not a supported signature type; supported: {known}",
            "signature.algorithm",
            given=algorithm,
            known=SIGNATURE_ALGORITHM,
        )
    return SignatureFields(
        key=_make_hex_check(64)("signature.key", fields.get("key")),
        name=accept_plain_text(200)("signature.name", fields.get("name")),
        value=_make_hex_check(128)("signature.value", fields.get("value")),
    )


def _make_hex_check(length: int) -> FieldCheck:
    def check(where: str, value: object) -> str:
        if not isinstance(value, str) or len(value) != length or not _HEX.issuperset(value):
            raise input_error(
                "pack.no_signature", "is not a valid key or signature; get the file from its signer again", where
            )
        return value

    return check


_KEY_FILE: Final = "signing-key"
_SEED_BYTES: Final = 32


@frozen_dataclass
class PackSigner:
    """The user's key, and the name under its signatures."""

    name: str
    _key: SigningKey

    @property
    def key(self) -> str:
        return bytes(self._key.verify_key).hex()

    def sign(self, text: bytes) -> str:
        return self._key.sign(text).signature.hex()


def load_signer(name: str) -> PackSigner:
    """Return the user's signer; the first call creates the key, readable by the user alone.

    Raises `InputError` if it cannot be read or written.
    """
    path = find_signing_key_path()
    try:
        if not path.exists():
            _make_key_file(path)
        seed = bytes.fromhex(path.read_text("ascii").strip())
    except OSError as error:
        raise input_error(
            "pack.key_file", "your signing key cannot be used: {reason}", str(path), reason=explain_system_error(error)
        ) from error
    except ValueError as error:
        raise InputError(_NO_KEY, str(path)) from error
    if len(seed) != _SEED_BYTES:
        raise InputError(_NO_KEY, str(path))
    with _require_library():
        from nacl.signing import SigningKey

        return PackSigner(name, SigningKey(seed))


def find_signing_key_path() -> Path:
    """Return the path of the user's key; it need not exist yet."""
    return paths.get_user_dir() / _KEY_FILE


def _make_key_file(path: Path) -> None:
    """Write a new key atomically; a key that another program created meanwhile stays."""
    paths.ensure_user_dir()
    # Temporary files are readable by the user alone from the start.
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


def is_valid_signature(key: str, value: str, text: bytes) -> bool:
    """Whether a signature of a text is valid under a public key, both in hexadecimal digits."""
    with _require_library():
        from nacl.exceptions import CryptoError
        from nacl.signing import VerifyKey

        try:
            VerifyKey(bytes.fromhex(key)).verify(text, bytes.fromhex(value))
        except (CryptoError, ValueError):
            return False
        return True


@contextlib.contextmanager
def _require_library() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise input_error(
            "pack.no_library",
            "signatures need PyNaCl, which cannot be loaded ({reason}); reinstall GPU Desk",
            reason=str(error),
        ) from error


def format_fingerprint(key: str) -> str:
    """Return the fingerprint of a public key for people to compare: eight groups of four digits.

    An invalid key, as in a damaged file, has none: the text is empty.
    """
    try:
        digits = hashlib.sha256(bytes.fromhex(key)).hexdigest()[:32]
    except ValueError:
        return ""
    return " ".join(digits[place : place + 4] for place in range(0, len(digits), 4))
