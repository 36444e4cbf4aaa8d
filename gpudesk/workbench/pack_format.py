"""The file of a catalog pack: plain JSON text, so that there is nothing to unpack and nothing that swells.

    {
      "gpudesk_pack": 1,
      "content": {"name": "…", "made": "2026-11-01", "about": "…", "facts": [{"fact": "source", …}, …]},
      "sha256": "digest of the content in its canonical form",
      "signature": {"algorithm": "ed25519", "key": "…", "name": "…", "value": "…"}
    }

The canonical form has sorted keys and no blanks. `about` is the revision of the shipped catalog
beside which the facts stood. The signature, which may be absent, covers the digest and the signer's name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpudesk.domain.messages import InputError, message
from gpudesk.workbench.fields import Check, plain_text, unknown_field, wrong_type
from gpudesk.workbench.strict_json import DuplicateKeyError, no_constant, unique

PACK_SUFFIX: Final = ".gpudeskpack"
FORMAT: Final = 1
ALGORITHM: Final = "ed25519"
#: A pack of everything that a person can collect has a fraction of that.
MOST_BYTES: Final = 32 << 20
#: Lists and objects, and items, that a text may hold: unbounded they would take twenty times its size.
_MOST_NESTS: Final = 1_000_000
_MOST_ITEMS: Final = 8_000_000
_DEEPEST: Final = 20
_MARK: Final = "gpudesk_pack"
_HEX: Final = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class SignatureFields:
    """A signature as it stands in the file, not yet verified."""

    key: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class PackFile:
    """A file whose digest is that of its content."""

    content: Mapping[str, Any]
    digest: str
    signature: SignatureFields | None


def canonical(content: object) -> bytes:
    """Return JSON values as the text that the digest is made of."""
    return json.dumps(
        content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()


def digest_of(content: object) -> str:
    """Return the digest of a content."""
    return hashlib.sha256(canonical(content)).hexdigest()


def signed_text(digest: str, name: str) -> bytes:
    """Return what a signature is made of."""
    return f"gpudesk pack {FORMAT}\n{digest}\n{name}".encode()


def pack_bytes(content: Mapping[str, Any], digest: str, signature: SignatureFields | None) -> bytes:
    """Return the file's contents."""
    document: dict[str, Any] = {_MARK: FORMAT, "content": json.loads(canonical(content)), "sha256": digest}
    if signature is not None:
        document["signature"] = {
            "algorithm": ALGORITHM,
            "key": signature.key,
            "name": signature.name,
            "value": signature.value,
        }
    # What the file is stands in its first line.
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def parse_file(raw: bytes) -> PackFile:
    """Return what the contents of a file hold; raises `InputError` where they are no whole pack."""
    document = _document(raw)
    version = document.get(_MARK)
    if type(version) is not int or version < 1:
        raise InputError(message("pack.foreign"))
    if version != FORMAT:
        raise InputError(message("pack.newer", version=version, known=FORMAT))
    _fields("", document, (_MARK, "content", "sha256", "signature"))
    content = document.get("content")
    if type(content) is not dict:
        raise wrong_type("content", content, "object")
    _refuse_deep(content)
    if document.get("sha256") != _digest(content):
        raise InputError(message("pack.changed"))
    return PackFile(content, document["sha256"], _signature(document.get("signature")))


def _document(raw: bytes) -> dict[str, Any]:
    if len(raw) > MOST_BYTES:
        raise InputError(message("file.too_big", most=(float(MOST_BYTES), "B")))
    if raw.count(b"[") + raw.count(b"{") > _MOST_NESTS or raw.count(b",") > _MOST_ITEMS:
        raise InputError(message("pack.foreign"))
    if not raw.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").startswith(b"{"):
        raise InputError(message("pack.foreign"))
    try:
        document = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=unique, parse_constant=no_constant)
    except DuplicateKeyError as error:
        raise InputError(message("scenario.twice", field=error.key[:60])) from error
    except json.JSONDecodeError as error:
        # What begins as a pack and ends without its last brace was cut off on its way.
        cut = f'"{_MARK}"' in error.doc and not error.doc.rstrip().endswith("}")
        raise InputError(message("pack.cut") if cut else message("pack.foreign")) from error
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise InputError(message("pack.foreign")) from error
    if type(document) is not dict:
        raise InputError(message("pack.foreign"))
    return document


def _refuse_deep(value: object) -> None:
    """Refuse what is nested deeper than any fact is."""
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [item for each in level for item in _items(each)]
        if not level:
            return
    raise InputError(message("pack.foreign"))


def _items(value: object) -> list[object]:
    """Return the lists and objects in a list or object."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, dict | list)]


def _digest(content: object) -> str:
    try:
        return digest_of(content)
    except UnicodeEncodeError as error:
        raise InputError(message("field.half_character"), "content") from error
    except ValueError as error:
        # A number beyond what numbers can be.
        raise InputError(message("pack.changed")) from error


def _fields(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in table:
        if name not in known:
            raise unknown_field(where, name, known)


def _signature(fields: object) -> SignatureFields | None:
    if fields is None:
        return None
    if type(fields) is not dict:
        raise wrong_type("signature", fields, "object")
    _fields("signature", fields, ("algorithm", "key", "name", "value"))
    if fields.get("algorithm") != ALGORITHM:
        given = str(fields.get("algorithm"))[:60]
        raise InputError(message("pack.algorithm", given=given, known=ALGORITHM), "signature.algorithm")
    return SignatureFields(
        key=_hex(64)("signature.key", fields.get("key")),
        name=plain_text(200)("signature.name", fields.get("name")),
        value=_hex(128)("signature.value", fields.get("value")),
    )


def _hex(length: int) -> Check:
    def check(where: str, value: object) -> str:
        if not isinstance(value, str) or len(value) != length or not _HEX.issuperset(value):
            raise InputError(message("pack.no_signature"), where)
        return value

    return check
