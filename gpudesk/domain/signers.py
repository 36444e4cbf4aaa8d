"""Signers: whose signature under a pack of facts the user trusts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signer:
    """A public key in hexadecimal digits, the name that the user knows it by, and the day of the trust."""

    key: str
    name: str
    trusted_on: str
