"""Signing in by a code that is typed into a page (RFC 8628). Standard library only, on every system."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from grader.cli.answers import understood
from grader.cli.browser import has_browser, open_page
from grader.cli.client import Client
from grader.cli.terminal import say
from grader.cli.waiting import duration
from grader.errors import (
    AuthorizationPending,
    ExpiredToken,
    NotFound,
    SlowDown,
    TooMany,
    Unreachable,
)
from grader.schemas.token import DeviceCode, DeviceCodeBody, TokenView

# What slow_down adds to the interval, by the RFC (section 3.5).
SLOWER_SECONDS = 5
# No server has a reason to ask for less, nor to keep us longer between two polls.
_LEAST_SECONDS, _MOST_SECONDS = 1, 60


def sign_in(client: Client, body: DeviceCodeBody, browser: bool) -> TokenView:
    """Show the code and wait until it is approved. Raises NotFound (the server has no such way), AccessDenied,
    ExpiredToken.
    """
    code = understood(
        DeviceCode, client.post("/device-codes", body.model_dump(exclude_none=True, mode="json"))
    )
    page = _page(client, code.verification_uri)
    say(f"Open {page} and type this code in:")
    say(f"    {code.user_code}", "bold")
    say("Never type in a code that somebody else gave you.", "dim")
    say(f"It is good for {duration(code.expires_in)}. Waiting until you approve it; Ctrl-C gives up.", "dim")
    if browser and has_browser() and not open_page(_page(client, code.verification_uri_complete)):
        say("No browser could be opened; the address above works in any.", "dim")
    return _wait(client, code)


def _wait(client: Client, code: DeviceCode) -> TokenView:
    interval = min(max(code.interval, _LEAST_SECONDS), _MOST_SECONDS)
    deadline = time.monotonic() + code.expires_in
    while time.monotonic() + interval < deadline:
        time.sleep(interval)
        try:
            return understood(
                TokenView, client.post("/device-codes/token", {"device_code": code.device_code})
            )
        except AuthorizationPending:
            continue
        except (SlowDown, TooMany, Unreachable):  # also where the server is away for a moment
            interval = min(interval + SLOWER_SECONDS, _MOST_SECONDS)
        except NotFound as error:
            raise Unreachable("The server forgot how it signs in.", "Try again.") from error
    raise ExpiredToken("Nobody approved the code in time.", "`grader login` shows a new one.")


def _page(client: Client, told: str) -> str:
    """The page's address, if it is a web page at all: what a server says is opened by a program."""
    parts = urlsplit(told)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Unreachable(f"{client.server} names no page to open.", "Sign in with --password.")
    return told
