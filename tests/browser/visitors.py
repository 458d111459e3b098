"""People at a real Chromium: each has a context of its own, and all that the browser complains of is noted."""

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

# Chromium on a busy machine takes its time; nothing waits longer than it must.
PATIENCE_MS = 60_000
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
_FLAGS = ["--disable-quic", "--disable-dev-shm-usage", "--disable-background-networking"]
# What a browser says of a request that it dropped itself, because the page was left meanwhile.
_DROPPED = "net::ERR_ABORTED"


def chromium() -> str | None:
    """Debian's browser, or what else is on the PATH: none is downloaded."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without a window. As root it has no sandbox of its own: the kernel gives root none."""
    flags = [*_FLAGS, "--no-sandbox"] if os.getuid() == 0 else _FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Noise:
    """Complaints: of the console, of scripts, of requests. A policy that was broken is told on the console."""

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
    """A person: ``page`` is what they look at, ``url`` where the site is."""

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
    """A new context, at a desk or with a phone; ``cookie`` is a session that began elsewhere. Fails with what the
    browser complained of.
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
