"""Opens pages in a browser that the user can see."""

from __future__ import annotations

import os
import sys

from grader.cli import config


def has_browser() -> bool:
    if not sys.stderr.isatty() or os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def allowed() -> bool:
    return bool(config.value("browser"))


def open_page(address: str) -> bool:
    """False if no browser could."""
    import webbrowser

    try:
        return webbrowser.open(address)
    except (OSError, webbrowser.Error):
        return False
