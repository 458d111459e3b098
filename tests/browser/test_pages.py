"""Every page: no grave finding of axe in light and dark, nothing wider than the screen on a desktop and on a
phone, and no console error, policy violation or failed request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from grader.service.submissions.cancel import cancel
from tests import rotation
from tests.browser import axe, samples
from tests.browser.conftest import Visit
from tests.browser.furnished import Site, furnish
from tests.browser.samples import Sample
from tests.browser.visitors import Visitor

# No fading while the page is checked.
_STILL: dict[str, Any] = {"reduced_motion": "reduce"}


@pytest.fixture(scope="module")
def shown(site: Site) -> Iterator[list[Sample]]:
    furnish(site)
    yield samples.samples(site)
    # Other tests' submissions are the next in the queue.
    cancel(site.platform, site.ada, site.submissions["queued"])


def look_at(visit: Visit, shown: list[Sample], **options: Any) -> list[tuple[Sample, Visitor]]:
    people = {who: visit(who, **options) for who in {sample.who for sample in shown}}
    return [(sample, people[sample.who]) for sample in shown]


def go(sample: Sample, visitor: Visitor) -> None:
    allowed = samples.REFUSED.get(sample.endpoint, set())
    visitor.noise.allowed.clear()
    visitor.noise.allowed.update(allowed)
    visitor.go(sample.path)


def test_every_page_is_in_the_list(site: Site, shown: list[Sample]) -> None:
    assert {rule.endpoint for rule in samples.pages(site)} - {sample.endpoint for sample in shown} == set()


@pytest.mark.matrix
def test_axe_finds_no_serious_fault_in_light_or_dark(visit: Visit, shown: list[Sample]) -> None:
    """Protects readers with poor sight or a screen reader. All rules in light; in dark those about colours.
    Half of the pages at each commit.
    """
    found: dict[str, list[str]] = {}
    drawn = [sample for index, sample in enumerate(shown) if rotation.is_drawn(index, 2)]
    for sample, visitor in look_at(visit, drawn, **_STILL):
        go(sample, visitor)
        found[f"{sample.name}, width"] = too_wide(visitor.page)
        found[f"{sample.name}, light"] = axe.violations(visitor.page)
        darken(visitor.page)
        found[f"{sample.name}, dark"] = axe.violations(visitor.page, axe.COLOURS)
        visitor.page.emulate_media(color_scheme="light", **_STILL)
    wrong = [f"{name}: {violation}" for name, each in found.items() for violation in each]
    assert not wrong, "\n".join(wrong)


def darken(page: Page) -> None:
    """Switch the system to dark, and wait for the next frame."""
    page.emulate_media(color_scheme="dark", **_STILL)
    page.wait_for_function("() => matchMedia('(prefers-color-scheme: dark)').matches")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def too_wide(page: Page) -> list[str]:
    width, room = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert page.viewport_size
    return [] if width <= room == page.viewport_size["width"] else [f"{width} of {room} px"]


def test_every_page_fits_a_phone(visit: Visit, shown: list[Sample]) -> None:
    found = {}
    for sample, visitor in look_at(visit, shown, phone=True):
        go(sample, visitor)
        if wrong := too_wide(visitor.page):
            found[sample.name] = wrong
    assert found == {}
