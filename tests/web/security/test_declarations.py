"""A declaration is enforced: each kind of visitor at a route for each ``Who``, in a separate application.

The tests of the real routes (test_access.py) take their expectations from the declarations; here they are
written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Blueprint, Flask, g, request

from grader.errors import GraderError, NotAllowed, NotFound
from grader.schemas.account import Role
from grader.schemas.token import ALL_SCOPES, Scope
from grader.service.accounts.accounts import User
from grader.service.competitions import open_competition
from grader.service.courses import courses
from grader.service.courses.permissions import Action
from grader.web import access
from grader.web.access import Who, access_of, in_competition, in_course, open_to

NO_STAFF = frozenset(ALL_SCOPES) - {Scope.STAFF}
VISITORS = {
    "nobody": None,
    "student": User(1, "student", Role.STUDENT),
    "staff": User(2, "staff", Role.STAFF),
    "staff, by a token without that scope": User(3, "weak-staff", Role.STAFF, NO_STAFF),
    "admin": User(4, "admin", Role.ADMIN),
    "admin, by a token without the scope of staff": User(5, "weak-admin", Role.ADMIN, NO_STAFF),
}
# The answers to the visitors, in their order. The use case refuses further visitors of the routes in between.
ENTERS, SIGNED_IN = [200] * 6, [401, *[200] * 5]
ANSWERS = {
    Who.ANYONE: ENTERS,
    Who.READERS: ENTERS,
    Who.SIGNED_IN: SIGNED_IN,
    Who.OWNER: SIGNED_IN,
    Who.AUTHOR: SIGNED_IN,
    Who.PERSON: SIGNED_IN,
    Who.PARTY: SIGNED_IN,
    Who.TEACHERS_OF_AUTHOR: SIGNED_IN,
    Who.TEACHERS: SIGNED_IN,
    Who.STAFF: [401, 403, 200, 403, 200, 403],
    Who.ADMINS: [401, 403, 403, 403, 200, 403],
    Who.WORKER: [401] * 6,
}
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


@dataclass
class House:
    """An application to add routes to. ``entered``: the views that ran."""

    app: Flask
    entered: list[str] = field(default_factory=list)

    def route(self, rule: str, *declarations: Callable[[Any], Any]) -> None:
        def view(**_: object) -> str:
            self.entered.append(rule)
            return "in"

        declared = view
        for declare in declarations:
            declared = declare(declared)
        self.app.add_url_rule(rule, rule, declared, methods=METHODS, provide_automatic_options=False)

    def ask(self, rule: str, visitor: str, method: str = "GET") -> int:
        return self.app.test_client().open(rule, method=method, headers={"Visitor": visitor}).status_code


@pytest.fixture
def house() -> Iterator[House]:
    app = Flask(__name__)

    @app.before_request
    def identify() -> None:
        g.user = VISITORS[request.headers["Visitor"]]

    app.register_error_handler(GraderError, lambda error: ("", error.status))
    access.init_app(app)
    return House(app)


@pytest.mark.parametrize("who", Who)
@pytest.mark.parametrize("method", METHODS)
def test_each_visitor_gets_what_the_declaration_says(house: House, who: Who, method: str) -> None:
    house.route("/here", open_to(who))
    assert [house.ask("/here", visitor, method) for visitor in VISITORS] == ANSWERS[who]
    assert len(house.entered) == ANSWERS[who].count(200)


def test_a_route_without_a_declaration_is_open_to_nobody(house: House) -> None:
    house.route("/here")
    assert {house.ask("/here", visitor) for visitor in VISITORS} == {403}
    assert house.entered == []


def test_what_is_nowhere_is_not_found_by_anybody(house: House) -> None:
    assert {house.ask("/nowhere", visitor) for visitor in VISITORS} == {404}


def test_a_stylesheet_is_open_to_anyone(house: House) -> None:
    assert house.ask("/static/nothing.css", "nobody") == 404


@pytest.mark.parametrize("method", METHODS)
def test_a_check_decides_with_the_caller_and_the_address(house: House, method: str) -> None:
    asked = []

    def check(user: User, at: dict[str, Any]) -> None:
        asked.append((user.name, at))
        if at["name"] != user.name:
            raise NotFound("Nothing is here.")

    house.route("/of/<name>", open_to(Who.OWNER, check))
    assert house.ask("/of/student", "nobody", method) == 401
    assert house.ask("/of/student", "student", method) == 200
    assert house.ask("/of/student", "admin", method) == 404
    assert asked == [("student", {"name": "student"}), ("admin", {"name": "student"})]
    assert house.entered == ["/of/<name>"]


def test_a_check_stands_in_for_that_of_the_role(house: House) -> None:
    def refuse(user: User, _: dict[str, Any]) -> None:
        raise NotAllowed("Not today.")

    house.route("/open", open_to(Who.STAFF, lambda user, at: None))
    house.route("/shut", open_to(Who.STAFF, refuse))
    assert [house.ask("/open", visitor) for visitor in VISITORS] == SIGNED_IN
    assert [house.ask("/shut", visitor) for visitor in VISITORS] == [401, *[403] * 5]


def test_a_view_that_guards_itself_is_entered_by_everyone(house: House) -> None:
    house.route("/here", open_to(Who.STAFF, guard=False))
    assert [house.ask("/here", visitor) for visitor in VISITORS] == ENTERS


@pytest.fixture
def rights(house: House, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The rights asked of courses and competitions. Only staff may do anything there."""
    asked = []

    def check(platform: object, user: User, where: str, action: Action) -> None:
        asked.append((platform, user.name, where, action))
        if user.name != "staff":
            raise NotAllowed("Not in this course.")

    house.app.extensions["grader"] = "the platform"
    monkeypatch.setattr(courses, "check", check)
    monkeypatch.setattr(open_competition, "check", check)
    return asked


@pytest.mark.parametrize("method", METHODS)
def test_an_action_is_checked_where_something_changes(
    house: House, rights: list[tuple[Any, ...]], method: str
) -> None:
    house.route("/courses/<course>", open_to(Who.PARTY, action=Action.COURSE_EDIT))
    answers = [house.ask("/courses/gpu", visitor, method) for visitor in ("nobody", "student", "staff")]
    if method in ("GET", "HEAD", "OPTIONS"):
        assert (answers, rights) == ([401, 200, 200], [])
    else:
        assert answers == [401, 403, 200]
        assert rights == [("the platform", name, "gpu", Action.COURSE_EDIT) for name in ("student", "staff")]


@pytest.mark.parametrize(
    ("rule", "check"),
    [("/courses/<course>", in_course), ("/competitions/<slug>", in_competition)],
)
def test_a_check_of_a_course_or_competition_asks_it(
    house: House, rights: list[tuple[Any, ...]], rule: str, check: Callable[[Action], access.Check]
) -> None:
    house.route(rule, open_to(Who.PARTY, check(Action.COURSE_EDIT), action=Action.GRADES_READ))
    path = rule.partition("<")[0] + "gpu"
    assert [house.ask(path, visitor, "POST") for visitor in ("nobody", "student", "staff")] == [401, 403, 200]
    assert [house.ask(path, "student")] == [403]
    assert {ask[2:] for ask in rights} == {("gpu", Action.COURSE_EDIT)}


def test_a_declaration_can_be_read_and_does_not_change() -> None:
    view = open_to(Who.PARTY, action=Action.COURSE_EDIT)(lambda: "in")
    found = access_of(view)
    assert found
    assert (found.who, found.check, found.action, found.guard) == (
        Who.PARTY, None, Action.COURSE_EDIT, True,
    )  # fmt: skip
    with pytest.raises(AttributeError):
        found.who = Who.ANYONE  # type: ignore[misc]
    assert access_of(lambda: "in") is None
    with pytest.raises(TypeError):
        open_to(Who.PARTY, None, Action.COURSE_EDIT)  # type: ignore[misc]


@pytest.mark.parametrize(("who", "signed_in"), [(who, answers != ENTERS) for who, answers in ANSWERS.items()])
def test_the_document_learns_whether_a_route_needs_a_token(who: Who, signed_in: bool) -> None:
    found = access_of(open_to(who)(lambda: "in"))
    assert found
    assert found.signed_in == signed_in


def test_a_declaration_below_a_blueprints_route_counts(house: House) -> None:
    pages = Blueprint("pages", __name__)

    @pages.get("/page")
    @open_to(Who.ADMINS)
    def page() -> str:
        return "in"

    house.app.register_blueprint(pages)
    assert [house.ask("/page", visitor) for visitor in VISITORS] == ANSWERS[Who.ADMINS]
