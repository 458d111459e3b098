"""Opens pages in a browser, if this machine has one that the user sees."""

from __future__ import annotations

import os
import sys

from grader.cli import config


def has_browser() -> bool:
    """Whether the user would see a page that is opened here."""
    if not sys.stderr.isatty() or os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def allowed(flag: bool | None) -> bool:
    """Whether a browser may be opened: as the flag says, else the settings."""
    return bool(config.value("browser")) if flag is None else flag


def open_page(address: str) -> bool:
    """Open the page; False where no browser could."""
    import webbrowser

    try:
        return webbrowser.open(address)
    except (OSError, webbrowser.Error):
        return False
