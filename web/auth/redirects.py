"""Where to go after signing in: a path of ours, never another site."""

from __future__ import annotations


def safe_path(wanted: str | None, default: str = "/") -> str:
    """``wanted`` when it is a path on this host, else ``default``.

    Browsers read a backslash as a slash and skip control characters, so ``/\\evil`` and ``/<TAB>/evil`` name another
    host as surely as ``//evil`` does.
    """
    if not wanted or not wanted.startswith("/") or wanted.startswith("//"):
        return default
    if "\\" in wanted or any(ord(letter) < 0x21 or ord(letter) == 0x7F for letter in wanted):
        return default
    return wanted
