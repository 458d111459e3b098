"""The big screen resolves the freeze from the last rank upwards, by keyboard."""

from __future__ import annotations

from grader.service.accounts import accounts
from grader.service.competitions import finals
from grader.service.competitions.competitions import create_competition, publish_competition
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.service.competitions.builders import competition_body, elapse, enter, judge
from tests.web import builders


def _rows(visitor: object) -> list[tuple[str, ...]]:
    cells = visitor.page.locator("#resolve tbody tr").all()  # type: ignore[attr-defined]
    return [tuple(cell.inner_text() for cell in row.locator("td").all()) for row in cells]


def test_the_freeze_is_resolved_from_below(site: Site, visit: Visit) -> None:
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
    press("ArrowRight")  # the second rises to the top, and the first is the lowest now
    assert [it[1] for it in _rows(screen)] == ["second", "first", "third"]
    press("ArrowLeft")
    assert [it[1] for it in _rows(screen)] == ["first", "second", "third"]
    press("a")
    assert _rows(screen) == [
        ("1", "second", "50.0 µs", ""),
        ("2", "first", "100 µs", ""),
        ("3", "third", "400 µs", ""),
    ]
    press("r")
    assert [it[3] for it in _rows(screen)] == ["", "1", ""]
    finals.publish_results(platform, boss, "night")
    screen.go("/competitions/night/board")
    assert "Results" in screen.page.inner_text("h1")
