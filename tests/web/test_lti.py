"""Launches from a learning platform, against one that runs on this machine."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from werkzeug.test import TestResponse

from grader import limits
from grader.records.models import LtiLinkRow, MemberRow, UserRow
from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody
from grader.schemas.lti import LtiPlatformBody, LtiPlatformChange, LtiPlatformView
from grader.service.accounts import accounts, oidc
from grader.service.courses import assignments, courses
from grader.service.lti import platforms as lti_platforms
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import csrf
from tests.web.lti_platform import (
    AGS,
    ASSISTANT,
    CLAIM,
    CLIENT,
    DEEP,
    DEPLOYMENT,
    INSTRUCTOR,
    LEARNER,
    Emulator,
)

URL = "http://127.0.0.1:8000"
ADA = {"name": "Ada Lovelace", "email": "ada@uni.example", f"{CLAIM}roles": [LEARNER]}
TEACHER = {"name": "Grace Hopper", f"{CLAIM}roles": [INSTRUCTOR]}
FRAME = {"Sec-Fetch-Dest": "iframe"}


class School:
    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.app = create_app(platform)
        self.app.config["TESTING"] = False
        self.site = Emulator(lambda: self.app.test_client().get("/lti/keys.json").json or {})
        self.site.people = {"ada": dict(ADA), "grace": dict(TEACHER)}
        self.boss = accounts.create_user(platform, "boss", builders.PASSWORD, Role.ADMIN)
        courses.create_course(platform, self.boss, CourseBody(slug="gpu", name="GPU"))
        for slug in ("week1", "week2"):
            body = AssignmentBody(
                title=slug, parts=[PartBody(challenge="scale")], open_at="2026-01-01", due_at="2036-12-31"
            )
            assignments.put_assignment(platform, self.boss, "gpu", slug, body)
            assignments.publish_assignment(platform, self.boss, "gpu", slug)
        self.registered: LtiPlatformView

    @contextmanager
    def served(self) -> Iterator[School]:
        oidc.forget()
        with self.site.served():
            body = LtiPlatformBody(
                name="Moodle",
                client_id=CLIENT,
                deployments=[DEPLOYMENT],
                issuer=self.site.base,
                auth_url=f"{self.site.base}/auth",
                token_url=f"{self.site.base}/token",
                jwks_url=f"{self.site.base}/keys",
            )
            self.registered = lti_platforms.add_platform(self.platform, self.boss, body)
            yield self
        oidc.forget()

    def change(self, **values: Any) -> None:
        lti_platforms.change_platform(
            self.platform, self.boss, self.registered.id, LtiPlatformChange(**values)
        )

    def login(self, browser: FlaskClient, who: str, headers: Any = None, **launch: Any) -> TestResponse:
        hint = f"hint-{len(self.site.launches)}"
        self.site.launches[hint] = launch
        path = "/lti/select" if launch.get("selects") else "/lti/launch"
        given = {
            "iss": self.site.base,
            "client_id": CLIENT,
            "login_hint": who,
            "lti_message_hint": hint,
            "target_link_uri": f"{URL}{path}",
        }
        return browser.post("/lti/login", data=given, headers=headers)

    def launch(self, browser: FlaskClient, who: str, **launch: Any) -> TestResponse:
        begun = self.login(browser, who, **launch)
        assert begun.status_code == 302, begun.text
        return browser.post("/lti/launch", data=self.site.answer(begun.headers["Location"]))

    def link(self, teachers: str = "instructor") -> None:
        browser = self.app.test_client()
        self.site.people["boss"] = {f"{CLAIM}roles": [INSTRUCTOR]}
        answer = self.launch(browser, "boss")
        assert answer.headers["Location"] == "/lti/continue"
        assert "Sign in" in browser.get("/lti/continue").text
        data = {"name": "boss", "password": builders.PASSWORD, "csrf_token": csrf(browser)}
        waiting = "/lti/continue"
        assert browser.post("/sign-in", data=data | {"next": waiting}).status_code == 303
        form = browser.get(waiting)
        assert "Connect boss" in form.text
        token = {"csrf_token": csrf(browser, waiting)}
        answer = browser.post("/lti/connect", data=token)
        assert "is not linked" in answer.text
        answer = browser.post("/lti/link", data=token | {"course": "gpu", "teachers": teachers})
        assert (answer.status_code, answer.headers.get("Location")) == (303, "/courses/gpu"), answer.text


@pytest.fixture
def school(tmp_path: Path, database: str) -> Iterator[School]:
    settings = builders.make_settings(tmp_path, url=URL, challenges=make_catalogue(tmp_path / "catalogue"))
    platform = open_platform(settings)
    with School(platform).served() as opened:
        yield opened
    platform.close()


def name_of(browser: FlaskClient) -> str | None:
    answer = browser.get("/api/v1/me")
    return answer.json["name"] if answer.status_code == 200 and answer.json else None


def member(school: School, name: str) -> MemberRow | None:
    with school.platform.sessions() as session:
        return (
            session.query(MemberRow)
            .join(UserRow, UserRow.id == MemberRow.user_id)
            .filter(UserRow.name == name)
            .one_or_none()
        )


@pytest.mark.both_databases
def test_an_owner_links_the_course_and_a_student_launches(school: School) -> None:
    browser = school.app.test_client()
    assert school.launch(browser, "ada").headers["Location"] == "/lti/continue"
    assert name_of(browser) is None, "no course yet, so no account"
    school.link()
    answer = school.launch(browser, "ada", resource="r1", assignment="gpu/week1", line_item="1")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/courses/gpu/assignments/week1")
    assert name_of(browser) == "Ada.Lovelace"
    found = member(school, "Ada.Lovelace")
    assert found is not None
    assert (found.role, found.full_name, found.came_by) == ("student", "Ada Lovelace", "Moodle, learner")
    with school.platform.sessions() as session:
        link = session.query(LtiLinkRow).one()
        assert link.line_item == f"{school.site.base}/line_items/1"
        assert session.query(UserRow).filter_by(name="Ada.Lovelace").one().email is None, "nobody verified it"
    # Again: the same account, nothing twice.
    other = school.app.test_client()
    assert school.launch(other, "ada").headers["Location"] == "/courses/gpu"
    assert name_of(other) == "Ada.Lovelace"


@pytest.mark.parametrize(
    ("teachers", "roles", "role"),
    [
        ("instructor", [INSTRUCTOR], "instructor"),
        ("instructor", [INSTRUCTOR, ASSISTANT], "assistant"),
        ("assistant", [INSTRUCTOR], "assistant"),
        ("nothing", [INSTRUCTOR], None),
        ("instructor", ["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator"], None),
    ],
)
def test_platform_teachers_get_the_configured_role(
    school: School, teachers: str, roles: list[str], role: str | None
) -> None:
    school.link(teachers)
    school.site.people["grace"] = TEACHER | {f"{CLAIM}roles": roles}
    answer = school.launch(school.app.test_client(), "grace")
    found = member(school, "Grace.Hopper")
    assert (found.role if found else None) == role
    assert answer.status_code == (303 if role else 403)


def test_only_roster_members_launch_if_so_configured(school: School) -> None:
    school.link()
    school.change(accounts="roster")
    assert school.launch(school.app.test_client(), "ada").headers["Location"] == "/lti/continue"
    from grader.schemas.course import RosterBody
    from grader.service.courses import rosters

    rosters.import_roster(
        school.platform, school.boss, "gpu", RosterBody(text="email\nada@uni.example\n", dry_run=False)
    )
    assert school.launch(school.app.test_client(), "ada").headers["Location"] == "/lti/continue", (
        "not verified"
    )
    school.change(trust_email=True)
    assert school.launch(school.app.test_client(), "ada").headers["Location"] == "/courses/gpu"


@pytest.mark.parametrize("teaches", [False, True])
def test_a_removed_member_stays_out(school: School, teaches: bool) -> None:
    from grader.schemas.course import MemberChange
    from grader.service.courses import rosters

    school.link("instructor")
    key, name = ("grace", "Grace.Hopper") if teaches else ("ada", "Ada.Lovelace")
    if teaches:
        school.site.people[key] = TEACHER
    school.launch(school.app.test_client(), key)
    if teaches:
        courses.set_staff(school.platform, school.boss, "gpu", name, None)
    else:
        rosters.change_member(school.platform, school.boss, "gpu", name, MemberChange(on_roster=False))
    browser = school.app.test_client()
    answer = school.launch(browser, key)
    assert (answer.status_code, name_of(browser)) == (403, None)
    assert "removed you from this course" in answer.text
    rosters.change_member(school.platform, school.boss, "gpu", name, MemberChange(on_roster=True))
    assert school.launch(browser, key).headers["Location"] == "/courses/gpu"
    found = member(school, name)
    assert found is not None
    assert (found.role, found.left_at) == ("student", None)


def test_an_equal_address_does_not_take_over_an_account(school: School) -> None:
    school.link()
    accounts.create_user(school.platform, "countess", builders.PASSWORD, email="ada@uni.example")
    browser = school.app.test_client()
    assert school.launch(browser, "ada").status_code == 303
    assert name_of(browser) == "Ada.Lovelace"


def test_an_existing_account_is_connected_by_its_owner(
    school: School, monkeypatch: pytest.MonkeyPatch
) -> None:
    school.link()
    school.change(accounts="none")
    accounts.create_user(school.platform, "ada", builders.PASSWORD)
    browser = school.app.test_client()
    data = {"name": "ada", "password": builders.PASSWORD, "csrf_token": csrf(browser)}
    browser.post("/sign-in", data=data)
    school.launch(browser, "ada")
    monkeypatch.setattr("grader.web.auth.sessions._RECENT_SECONDS", -1)
    token = {"csrf_token": csrf(browser, "/lti/continue")}
    assert browser.post("/lti/connect", data=token | {"present": "guess"}).status_code == 403
    answer = browser.post("/lti/connect", data=token | {"present": builders.PASSWORD})
    assert "not on the roster" in answer.text


class TestRefusals:
    @pytest.mark.parametrize(
        ("spoilt", "said"),
        [
            ({"nonce": "of another launch"}, "nonce"),
            ({"aud": "another tool"}, "aud"),
            ({"iss": "https://moodle.evil.example"}, "iss"),
            ({"exp": int(time.time()) - limits.CLOCK_SKEW_SECONDS - 5}, "expired"),
            ({f"{CLAIM}deployment_id": "2:other"}, "deployment"),
            ({f"{CLAIM}version": "1.1"}, "LTI 1.3"),
            ({f"{CLAIM}message_type": "LtiSubmissionReviewRequest"}, "does not support launches of type"),
            ({"sub": ""}, "did not send a user id"),
            ({"sub": "x" * 300}, "did not send a user id"),
            ({f"{CLAIM}resource_link": {}}, "the id of the link"),
        ],
    )
    def test_a_spoilt_launch_token_is_refused(
        self, school: School, spoilt: dict[str, Any], said: str
    ) -> None:
        school.link()
        school.site.spoilt = spoilt
        browser = school.app.test_client()
        answer = school.launch(browser, "ada")
        assert answer.status_code == 403
        assert said in answer.text
        assert name_of(browser) is None

    def test_a_foreign_signing_key_is_refused(self, school: School, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "KEYS_AGAIN_SECONDS", 0.0)
        school.site.signs_with = RSAKey.generate_key(2048)
        answer = school.launch(school.app.test_client(), "ada")
        assert answer.status_code == 403
        assert "not signed by any of its keys" in answer.text

    def test_a_launch_token_works_once_and_in_its_browser(self, school: School) -> None:
        school.link()
        browser = school.app.test_client()
        form = school.site.answer(school.login(browser, "ada").headers["Location"])
        assert school.app.test_client().post("/lti/launch", data=form).status_code == 403
        assert browser.post("/lti/launch", data=form).status_code == 403, "it was shown already"
        assert school.launch(browser, "ada").status_code == 303
        form = school.site.answer(school.login(browser, "ada").headers["Location"])
        assert browser.post("/lti/launch", data=form | {"state": "made up"}).status_code == 403

    def test_an_unregistered_platform_is_refused(self, school: School) -> None:
        answer = school.app.test_client().get("/lti/login?iss=https://evil.example&login_hint=x")
        assert answer.status_code == 403
        assert "not registered" in answer.text

    def test_a_grade_column_on_another_host_is_refused(self, school: School) -> None:
        school.link()
        school.site.spoilt = {
            f"{AGS}claim/endpoint": {"scope": [f"{AGS}scope/score"], "lineitem": "https://evil.example/1"}
        }
        school.launch(school.app.test_client(), "ada", resource="r1", assignment="gpu/week1")
        with school.platform.sessions() as session:
            link = session.query(LtiLinkRow).one()
            assert link.line_item == ""
            assert "evil.example" in link.why_not

    def test_an_assignment_of_another_course_is_ignored(self, school: School) -> None:
        school.link()
        answer = school.launch(school.app.test_client(), "ada", resource="r1", assignment="other/week1")
        assert answer.headers["Location"] == "/courses/gpu"


def test_a_launch_in_a_frame_opens_a_new_tab(school: School) -> None:
    school.link()
    browser = school.app.test_client()
    shown = school.login(browser, "ada", headers=FRAME)
    assert "Open in a new tab" in shown.text
    assert "X-Frame-Options" not in shown.headers
    assert f"frame-ancestors {school.site.base};" in shown.headers["Content-Security-Policy"] + ";"
    assert browser.get_cookie("grader_lti", path="/lti") is None
    (again,) = re.findall(r'href="(/lti/login\?[^"]+)"', shown.text)
    begun = browser.get(again.replace("&amp;", "&"), headers={"Sec-Fetch-Dest": "document"})
    answer = browser.post("/lti/launch", data=school.site.answer(begun.headers["Location"]))
    assert answer.headers["Location"] == "/courses/gpu"
    assert "frame-ancestors 'none'" in browser.get("/courses/gpu").headers["Content-Security-Policy"]
    over_tls = school.app.test_client().get(
        again.replace("&amp;", "&"), base_url="https://grader.example", headers={"Sec-Fetch-Dest": "document"}
    )
    cookie = next(
        value for value in over_tls.headers.getlist("Set-Cookie") if value.startswith("grader_lti=")
    )
    assert "SameSite=None" in cookie
    assert "Secure" in cookie
    assert "HttpOnly" in cookie


@pytest.mark.both_databases
def test_an_assignment_is_chosen_in_the_frame_without_a_cookie(school: School) -> None:
    school.link()
    school.launch(school.app.test_client(), "grace")
    begun = school.login(school.app.test_client(), "grace", headers=FRAME, selects=True)
    form = school.site.answer(begun.headers["Location"])
    frame = school.app.test_client()
    shown = frame.post("/lti/launch", data=form, headers=FRAME)
    assert "week2" in shown.text
    (ticket,) = re.findall(r'name="ticket" value="([^"]+)"', shown.text)
    answer = frame.post("/lti/select", data={"ticket": ticket, "assignment": "week2"}, headers=FRAME)
    assert f"form-action 'self' {school.site.base}" in answer.headers["Content-Security-Policy"]
    assert f'action="{school.site.base}/chosen"' in answer.text
    (token,) = re.findall(r'name="JWT" value="([^"]+)"', answer.text)
    keys = KeySet.import_key_set(school.app.test_client().get("/lti/keys.json").json)  # type: ignore[arg-type]
    said = jwt.decode(token, keys, ["RS256"]).claims
    assert (said["iss"], said["aud"]) == (CLIENT, school.site.base)
    assert said[f"{DEEP}data"] == "keep this"
    (item,) = said[f"{DEEP}content_items"]
    assert item["custom"] == {"assignment": "gpu/week2"}
    assert item["lineItem"]["scoreMaximum"] > 0
    assert frame.post("/lti/select", data={"ticket": ticket, "assignment": "week2"}).status_code == 403
    assert name_of(frame) is None, "no session comes of it"
    # A student chooses nothing.
    school.launch(school.app.test_client(), "ada")
    begun = school.login(school.app.test_client(), "ada", headers=FRAME, selects=True)
    shown = frame.post("/lti/launch", data=school.site.answer(begun.headers["Location"]), headers=FRAME)
    assert shown.status_code == 403


def test_canvas_and_moodle_get_their_configuration(school: School) -> None:
    found = school.app.test_client().get("/lti/canvas.json").json
    assert found is not None
    assert found["oidc_initiation_url"] == f"{URL}/lti/login"
    assert found["public_jwk_url"] == f"{URL}/lti/keys.json"
    placements = {each["placement"]: each for each in found["extensions"][0]["settings"]["placements"]}
    assert placements["assignment_selection"]["target_link_uri"] == f"{URL}/lti/select"
    (key,) = school.app.test_client().get("/lti/keys.json").json["keys"]  # type: ignore[index]
    assert not {"d", "p", "q"} & key.keys()
    rotated = lti_platforms.rotate_key(school.platform, school.boss)
    kids = [entry["kid"] for entry in school.app.test_client().get("/lti/keys.json").json["keys"]]  # type: ignore[index]
    assert kids == [rotated, key["kid"]]
    canvas = LtiPlatformBody(name="Canvas", kind="canvas", site="https://uni.instructure.com", client_id="7")
    made = lti_platforms.add_platform(school.platform, school.boss, canvas)
    assert made.auth_url == "https://sso.canvaslms.com/api/lti/authorize_redirect"
    assert made.token_url == "https://uni.instructure.com/login/oauth2/token"
    moodle = LtiPlatformBody(name="Moodle", kind="moodle", site="https://moodle.uni.edu/", client_id="x")
    made = lti_platforms.add_platform(school.platform, school.boss, moodle)
    assert (made.issuer, made.jwks_url) == (
        "https://moodle.uni.edu",
        "https://moodle.uni.edu/mod/lti/certs.php",
    )


def test_admins_register_a_platform_on_the_page(school: School) -> None:
    browser = school.app.test_client()
    data = {"name": "boss", "password": builders.PASSWORD, "csrf_token": csrf(browser)}
    browser.post("/sign-in", data=data)
    assert f"{URL}/lti/keys.json" in browser.get("/lti/platforms").text
    token = {"csrf_token": csrf(browser, "/lti/platforms")}
    form = {
        "name": "Moodle 2",
        "kind": "moodle",
        "client_id": "AbC",
        "deployments": "1, 2",
        "accounts": "roster",
    }
    assert (
        "The address of the moodle site is missing" in browser.post("/lti/platforms", data=token | form).text
    )
    form["site"] = "http://moodle.uni.edu"
    assert "must begin with https" in browser.post("/lti/platforms", data=token | form).text
    form["site"] = "https://moodle.uni.edu"
    assert browser.post("/lti/platforms", data=token | form).status_code == 303
    found = lti_platforms.list_platforms(school.platform, school.boss).platforms[-1]
    assert (found.deployments, found.accounts, found.trust_email) == (["1", "2"], "roster", False)
    change = {"deployments": "3", "accounts": "none", "trust_email": "on"}
    assert browser.post(f"/lti/platforms/{found.id}", data=token | change).status_code == 303
    found = lti_platforms.list_platforms(school.platform, school.boss).platforms[-1]
    assert (found.deployments, found.accounts, found.trust_email) == (["3"], "none", True)
    assert browser.post(f"/lti/platforms/{found.id}/remove", data=token).status_code == 303
    assert len(lti_platforms.list_platforms(school.platform, school.boss).platforms) == 1
