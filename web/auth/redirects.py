from __future__ import annotations


def safe_path(wanted: str | None, default: str = "/") -> str:
    r"""``default`` unless it is a path on this host. Browsers read a backslash as a slash and skip control
    characters: ``/\evil`` and ``/<TAB>/evil`` name another host."""
    if not wanted or not wanted.startswith("/") or wanted.startswith("//"):
        return default
    if "\\" in wanted or any(ord(letter) < 0x21 or ord(letter) == 0x7F for letter in wanted):
        return default
    return wanted
