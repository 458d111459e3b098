"""Secrets that are shown once and stored as hashes."""

from __future__ import annotations

import hashlib
import secrets

# 256 random bits: a plain hash is enough.
_KEY_BYTES = 32
# Form no words and do not look like digits; 8 of them hold 34 random bits.
_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_CODE_HALF = 4


def new_key(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(_KEY_BYTES)


def new_code() -> str:
    """Such as ``WDJB-MJHT``."""
    letters = "".join(secrets.choice(_CODE_LETTERS) for _ in range(2 * _CODE_HALF))
    return f"{letters[:_CODE_HALF]}-{letters[_CODE_HALF:]}"


def tidy_code(typed: str) -> str:
    """Ignores case, dashes and spaces."""
    letters = "".join(letter for letter in typed.upper() if letter in _CODE_LETTERS)[: 2 * _CODE_HALF]
    return f"{letters[:_CODE_HALF]}-{letters[_CODE_HALF:]}"


def digest(key: str) -> str:
    """Timing of look-ups by this hash reveals nothing of the secret."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
