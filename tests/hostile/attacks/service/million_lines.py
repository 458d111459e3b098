"""A million lines, and the most that are accepted.

Mechanism: a source of nothing but line ends: few bytes, and a line of the page for each.
Surface: the page that numbers and colours the lines of a source.
Gain: a page that takes the server minutes, or that no browser opens.
"""

from __future__ import annotations

import time

from grader import limits
from tests.hostile.service import Service

MOST_SECONDS = 20.0


def attempt(service: Service) -> list[str]:
    gained = []
    if (status := service.by_api("\n" * 1_000_000 + "x = 1").status_code) != 400:
        gained.append(f"a million lines: {status}")
    taken = service.by_api("\n" * (limits.SOURCE_BYTES - 8) + "x = 1")
    if taken.status_code != 201:
        return [*gained, f"as many as are taken: {taken.status_code}"]
    began = time.monotonic()
    page = service.browser.get(f"/submissions/{taken.json['id']}")
    seconds = time.monotonic() - began
    if page.status_code != 200 or seconds > MOST_SECONDS:
        gained.append(f"the page: {page.status_code} after {seconds:.1f} s")
    return gained
