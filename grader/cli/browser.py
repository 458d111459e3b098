"""Opens pages for the person who sits here, where there is a browser that they would see."""

from __future__ import annotations

import os
import sys

from grader.cli import config


def has_browser() -> bool:
    """Whether a page that is opened here is seen by who sits here."""
    if not sys.stderr.isatty() or os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def allowed(flag: bool | None) -> bool:
    """Whether a browser may be opened at all: as the flag says, else as the settings do."""
    return bool(config.value("browser")) if flag is None else flag


def open_page(address: str) -> bool:
    """Open it; False where no browser took it."""
    import webbrowser

    try:
        return webbrowser.open(address)
    except (OSError, webbrowser.Error):
        return False
