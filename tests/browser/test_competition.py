"""The big screen reveals the frozen ranks from the last upwards, by keyboard."""

from __future__ import annotations

from grader.service.accounts import accounts
from grader.service.competitions import finals
from grader.service.competitions.competitions import (
    create_competition,
    delete_competition,
    publish_competition,
)
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.service.competitions.builders import competition_body, elapse, enter, judge
from tests.web import builders


def _rows(visitor: object) -> list[tuple[str, ...]]:
    cells = visitor.page.locator("#resolve tbody tr").all()  # type: ignore[attr-defined]
    return [tuple(cell.inner_text() for cell in row.locator("td").all()) for row in cells]


def test_the_big_screen_reveals_ranks_from_the_last_upwards(site: Site, visit: Visit) -> None:
    platform, boss = site.platform, site.people["boss"]
    create_competition(
        platform, boss, competition_body(slug="night", challenges=[{"challenge": builders.SLUG}])
    )
    publish_competition(platform, boss, "night")
    times = {"first": (100.0, None), "second": (200.0, 50.0), "third": (400.0, None)}
    users = {name: accounts.create_user(platform, name, builders.PASSWORD) for name in times}
    for name, user in users.items():
        enter(platform, user, "night")
        judge(platform, builders.hand_in(platform, user).id, times[name][0])
    elapse(platform, "night", minutes=45)
    judge(platform, builders.hand_in(platform, users["second"]).id, 50.0)
    elapse(platform, "night", hours=2)
    screen = visit("boss")
    screen.go("/competitions/night/screen")
    assert _rows(screen) == [
        ("1", "first", "100 µs", ""),
        ("2", "second", "200 µs", "1"),
        ("3", "third", "400 µs", ""),
    ]
    screen.page.locator("main").focus()
    press = screen.page.keyboard.press
    press("Space")  # the last one stays
    press("ArrowRight")  # the second rises to the top, and the first is now the lowest
    assert [row[1] for row in _rows(screen)] == ["second", "first", "third"]
    press("ArrowLeft")
    assert [each[1] for each in _rows(screen)] == ["first", "second", "third"]
    press("a")
    assert _rows(screen) == [
        ("1", "second", "50.0 µs", ""),
        ("2", "first", "100 µs", ""),
        ("3", "third", "400 µs", ""),
    ]
    press("r")
    assert [entry[3] for entry in _rows(screen)] == ["", "1", ""]
    finals.publish_results(platform, boss, "night")
    screen.go("/competitions/night/board")
    assert "Results" in screen.page.inner_text("h1")


def test_times_are_entered_in_a_zone_and_shown_in_the_readers(site: Site, visit: Visit) -> None:
    boss = visit("boss", timezone_id="Europe/Berlin")
    boss.go("/competitions/new")
    page = boss.page
    assert page.input_value("[name=time_zone]") == "Europe/Berlin", "the browser's own"
    page.fill("[name=slug]", "zoned")
    page.fill("[name=title]", "Zoned")
    page.fill("[name=starts_at]", "2090-03-01T09:00")
    page.fill("[name=ends_at]", "2090-03-01T15:00")
    page.fill("[name=challenges]", builders.SLUG)
    page.get_by_role("button", name="Create the draft").click()
    page.wait_for_url("**/competitions/zoned/manage")
    assert page.locator("main .lead [data-zone]").first.inner_text() == "Mar 1, 2090, 9:00 AM GMT+1"
    assert page.inner_text("[data-zone-of]") == "Times are in the competition's time zone, Europe/Berlin."
    publish_competition(site.platform, site.people["boss"], "zoned")
    ada = visit("ada", timezone_id="America/New_York")
    ada.go("/competitions/zoned")
    assert ada.page.locator("main .lead [data-zone]").first.inner_text() == "Mar 1, 2090, 3:00 AM EST"
    told = "Times are in your time zone, America/New_York; the competition's is Europe/Berlin."
    assert ada.page.inner_text("[data-zone-of]") == told
    # Other tests use its challenge.
    delete_competition(site.platform, site.people["boss"], "zoned")
