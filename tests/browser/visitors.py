"""Visitors with a real Chromium: each has a browser context, and every complaint of the browser is recorded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    sync_playwright,
)

# Chromium is slow on a busy machine; nothing waits longer than it must.
PATIENCE_MS = 60_000
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
_FLAGS = ["--disable-quic", "--disable-dev-shm-usage", "--disable-background-networking"]
# The error for a request that the browser dropped because the page was left.
_DROPPED = "net::ERR_ABORTED"


def chromium() -> str | None:
    """Debian's browser, or another on the PATH; none is downloaded."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def browsing() -> Iterator[Browser]:
    """As root it runs without its sandbox, because the kernel gives root none."""
    flags = [*_FLAGS, "--no-sandbox"] if os.getuid() == 0 else _FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Noise:
    """Complaints from the console, scripts and requests. The console reports violations of the policy."""

    heard: list[str] = field(default_factory=list)
    allowed: set[int] = field(default_factory=set)
    """statuses that a test asks for on purpose"""

    def listen(self, context: BrowserContext) -> None:
        context.on("console", self._console)
        context.on("weberror", lambda error: self.heard.append(f"script: {error.error}"))
        context.on("requestfailed", self._failed)
        context.on("response", self._answered)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        if any(f"status of {status} " in message.text for status in self.allowed):
            return
        self.heard.append(f"console: {message.text} ({message.location.get('url')})")

    def _failed(self, request: Request) -> None:
        if request.failure != _DROPPED:
            self.heard.append(f"request: {request.url}: {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.allowed:
            self.heard.append(f"answer: {response.status} {response.url}")


@dataclass(frozen=True)
class Visitor:
    """``page`` is on their screen, ``url`` is the site."""

    page: Page
    url: str
    noise: Noise

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page


@contextmanager
def visiting(
    browser: Browser, url: str, *, phone: bool = False, cookie: tuple[str, str] | None = None, **options: Any
) -> Iterator[Visitor]:
    """A new context, on a desktop or a phone; ``cookie`` is an existing session. Fails with the browser's
    complaints.
    """
    look = {"viewport": PHONE, "is_mobile": True, "has_touch": True} if phone else {"viewport": DESK}
    context = browser.new_context(**(look | options))
    context.set_default_timeout(PATIENCE_MS)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
    if cookie is not None:
        context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": url}])
    noise = Noise()
    noise.listen(context)
    try:
        yield Visitor(context.new_page(), url, noise)
        assert not noise.heard, "\n".join(noise.heard)
    finally:
        context.close()
