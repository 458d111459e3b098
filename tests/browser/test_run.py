"""Run from the editor, and a page's messages while the server is away. The test acts as the worker."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from grader.schemas.own_case import OwnRun
from grader.schemas.report import Report, ThreadPrints
from grader.schemas.submission import State
from grader.service.submissions import submissions
from tests.browser import axe
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.browser.steps import editor
from tests.browser.test_following import follow, says
from tests.web import builders

PAGE = f"/challenges/{builders.SLUG}"


def public(report: Report) -> Report:
    shown = [case for case in report.cases if not case.hidden]
    return report.model_copy(update={"cases": shown, "workloads": []})


def press_run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def take_run(page: Page, site: Site) -> builders.Claim:
    says(page, "Next in the queue")
    held = builders.take(site.platform)
    assert held.run
    return held


def test_the_result_appears_below_the_code(visit: Visit, site: Site) -> None:
    """Protects students against runs whose result never reaches the page."""
    page = visit("ada").go(PAGE)
    title = page.title()
    page.evaluate("window.stayed = true")
    press_run(page)
    held = take_run(page, site)
    builders.move(site.platform, held, State.TESTING, 1, 2, "Testing 2 of 2 public cases: basic")
    says(page, "Testing 2 of 2 public cases: basic")
    builders.finish(site.platform, held, public(builders.wrong()))
    says(page, "Wrong answer")
    expect(page.locator("#run #only-a-run")).to_be_visible()
    expect(page.locator("#run-announce")).to_have_text("Wrong answer")
    expect(page).to_have_title(f"Run: Wrong answer · {title}")
    press_run(page)
    builders.finish(site.platform, take_run(page, site), public(builders.accepted()))
    says(page, "Accepted")
    assert page.evaluate("window.stayed") is True
    page.get_by_role("link", name="This run on a page of its own").click()
    expect(page.locator("#live .panel .headline")).to_have_text("Accepted")


def test_code_and_report_are_in_sight_together(visit: Visit, site: Site) -> None:
    """Protects students from scrolling between the code and its result."""
    page = visit("ada", viewport={"width": 1440, "height": 900}).go(PAGE)
    buttons = [page.get_by_role("button", name=name, exact=True) for name in ("Run", "Submit")]
    for each in (*buttons, editor(page)):
        expect(each).to_be_in_viewport(ratio=0.5)
    press_run(page)
    builders.finish(site.platform, take_run(page, site), public(builders.wrong()))
    says(page, "Wrong answer")
    for each in (*buttons, page.locator("#run .headline"), page.locator("#run #advice")):
        expect(each).to_be_in_viewport()
    expect(editor(page)).to_be_in_viewport(ratio=0.5)
    assert axe.violations(page) == []
    page.get_by_role("button", name="Description").click()
    expect(page.locator("#about")).to_be_in_viewport()
    expect(page.locator("#run")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") == 900


def test_the_panel_is_accessible(visit: Visit, site: Site) -> None:
    page = visit("ada", color_scheme="dark").go(PAGE)
    press_run(page)
    held = take_run(page, site)
    grave = axe.violations(page)
    builders.finish(site.platform, held, public(builders.wrong()))
    says(page, "Wrong answer")
    assert grave + axe.violations(page) == []


def test_the_panel_fits_a_phone(visit: Visit, site: Site) -> None:
    page = visit("ada", phone=True).go(PAGE)
    press_run(page)
    held = take_run(page, site)
    builders.finish(site.platform, held, public(builders.wrong()))
    says(page, "Wrong answer")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("window.innerWidth")


def test_a_run_is_cancelled_without_leaving_the_page(visit: Visit, site: Site) -> None:
    page = visit("ada").go(PAGE)
    press_run(page)
    says(page, "Next in the queue")
    page.get_by_role("button", name="Cancel").click()
    says(page, "Cancelled")
    assert page.url.endswith(PAGE)


def test_a_refused_run_shows_the_reason(visit: Visit) -> None:
    visitor = visit("ada")
    visitor.noise.allowed.add(400)
    page = visitor.go(PAGE)
    editor(page).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    press_run(page)
    expect(page.locator("#run")).to_contain_text("empty")
    expect(page.locator("#run-announce")).to_contain_text("empty")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    assert page.url.endswith(PAGE)


def test_the_page_reports_that_the_server_is_away(visit: Visit, site: Site) -> None:
    visitor = visit("ada")
    visitor.noise.allowed.add(503)
    page = visitor.go(f"/submissions/{builders.hand_in(site.platform, site.ada).id}")
    says(page, "Next in the queue")

    def away(route: Route) -> None:
        route.fulfill(status=503, body="")

    page.route("**/panel", away)
    line = page.locator("[data-connection]")
    expect(line).to_contain_text("Offline, trying again in")
    expect(page.locator("#announce")).to_have_text("Offline")
    page.unroute("**/panel", away)
    expect(line).to_have_text("")
    page.get_by_role("button", name="Cancel").click()
    says(page, "Cancelled")


def test_the_elapsed_time_counts_up(visit: Visit, site: Site) -> None:
    page = follow(visit, site)
    clock = page.locator("[data-elapsed]")
    # A busy machine skips seconds.
    expect(clock).to_have_text(re.compile(r"^([3-9]|\d\d) s$"))
    page.get_by_role("button", name="Cancel").click()
    says(page, "Cancelled")


def test_a_requested_notification_is_shown(visit: Visit, site: Site) -> None:
    page = follow(visit, site)
    page.evaluate(
        """() => {
            window.told = [];
            window.Notification = class extends EventTarget {
                static permission = "default";
                static async requestPermission() { window.asked = true; return (this.permission = "granted"); }
                constructor(title, options) { super(); window.told.push(`${title}: ${options.body}`); }
            };
        }"""
    )
    held = builders.take(site.platform)
    says(page, "Compiling")
    assert page.evaluate("window.asked") is None
    page.get_by_role("button", name="Notify me when it is done").click()
    expect(page.get_by_role("button", name="You will be notified")).to_be_visible()
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
    builders.finish(site.platform, held, builders.accepted())
    expect(page).to_have_title(re.compile("Accepted"))
    (told,) = page.evaluate("window.told")
    assert told.endswith(": Accepted")


def test_one_case_by_keyboard_on_a_phone(visit: Visit, site: Site) -> None:
    """The form for one case: filled and sent by keyboard, within a phone's width, and its prints filtered."""
    visitor = visit("bob", phone=True)
    visitor.noise.allowed.add(400)
    page = visitor.go(PAGE)
    page.locator("#own-case > summary").focus()
    page.keyboard.press("Enter")
    page.locator("#own-case select").select_option("basic")
    size = page.locator("#own-case input[name=size-n]")
    expect(size).to_have_attribute("placeholder", "1000")
    size.fill("-4")
    size.press("Enter")
    expect(page.locator("#run")).to_contain_text("Size n is negative: -4. Choose 0 or more.")
    size.fill("20")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("window.innerWidth")
    size.press("Enter")
    held = take_run(page, site)
    assert held.own_case == '{"name": "basic", "sizes": {"n": "20"}}'
    builders.finish(site.platform, held, printing(20))
    says(page, "Accepted")
    expect(page.locator("#run .own-run")).to_contain_text("with your own n")
    page.locator("#run [data-filter=thread]").fill("3")
    expect(page.locator("#run tr[data-thread]:visible")).to_have_count(5)
    page.locator("#run [data-filter=block]").fill("2")
    expect(page.locator("#run tr[data-thread]:visible")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("window.innerWidth")
    page.set_viewport_size({"width": 1440, "height": 900})  # at this width the spec's tables do not scroll
    page.locator("#own-case > summary").press("Enter")
    page.locator("#own-case > summary").press("Enter")
    assert axe.violations(page) == []


def printing(threads: int) -> Report:
    """A run in which each thread printed, four to a block."""
    prints = [
        ThreadPrints(block=(i // 4, 0, 0), thread=(i % 4, 0, 0), text=f"i = {i}\n") for i in range(threads)
    ]
    report = public(builders.accepted())
    case = report.cases[0].model_copy(update={"prints": prints})
    own = OwnRun(case="basic", sizes={"n": threads}, inputs={"a": "normal"}, own=["n"], seed=1)
    return report.model_copy(update={"cases": [case], "own": own})


def test_the_compilers_messages_come_while_one_types(visit: Visit, site: Site) -> None:
    """A run ends when it has compiled, or with the next key."""
    page = visit("ada").go(PAGE)
    line, mark = page.locator("#compiled"), page.locator(".cm-lintRange-error")

    def taken(text: str) -> builders.Claim:
        page.keyboard.type(text)
        with page.expect_response(lambda it: it.url.endswith("/api/v1/runs")):
            expect(line).to_have_text("Compiling")
        return builders.take(site.platform)

    def state(held: builders.Claim) -> State:
        return submissions.get_submission(site.platform, site.ada, held.public_id).state

    page.get_by_label("Compile as I type").check()
    editor(page).click()
    page.keyboard.press("ControlOrMeta+a")
    held = taken("foo bar")
    builders.finish(
        site.platform,
        held,
        builders.not_compiled("").model_copy(update={"detail": "SyntaxError in line 1: no"}),
    )
    expect(line).to_have_text("1 error.")
    expect(mark).to_have_text("foo bar")

    held = taken("x")
    with page.expect_response(lambda it: it.url.endswith("/cancel")):
        page.keyboard.type("y")
    earlier, held = held, taken(" ")
    assert state(earlier) is State.CANCELLED, "the new one took its place"
    with page.expect_response(lambda it: it.url.endswith("/cancel")):
        builders.move(site.platform, held, State.TESTING)
    expect(line).to_have_text("It compiles.")
    expect(mark).to_have_count(0)
    assert axe.violations(page) == []
    page.get_by_label("Compile as I type").uncheck()
