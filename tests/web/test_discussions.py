"""The pages of discussions: a thread from post to moderation, and a report of an error from form to answer."""

from __future__ import annotations

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from grader.schemas.course import CourseBody, CourseChange, RosterBody
from grader.service.accounts.accounts import User
from grader.service.courses import courses, rosters
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit, csrf

CHALLENGE, CHAPTER = f"/challenges/{builders.SLUG}", "/learn/threads_and_blocks"


def send(client: FlaskClient, path: str, **form: str) -> TestResponse:
    return client.post(path, data=form | {"csrf_token": csrf(client, "/notices")})


def test_a_thread_on_the_page(platform: Platform, visit: Visit, ada: User, bob: User, teacher: User) -> None:
    owner, reader, staff = visit(ada), visit(bob), visit(teacher)
    at = f"{CHALLENGE}/discussion"
    assert visit(None).get(at).status_code == 302
    assert "Nobody has written yet" in owner.get(at).text
    sent = send(owner, at, text="Use **tiles**:\n\n```\nint i;\n```\n<b>x</b>", spoiler="1")
    assert (sent.status_code, sent.location) == (303, f"{at}#post-1")
    replied = send(reader, at, text="Why?", thread="1")
    assert replied.location == f"{at}?thread=1#post-2"
    page = owner.get(at).text
    assert "<strong>tiles</strong>" in page
    assert '<pre tabindex="0"><code>int i;' in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    hidden = reader.get(f"{at}?thread=1").text
    assert "Hidden until you solve it." in hidden
    assert "tiles" not in hidden
    assert "Discussion (2)" in reader.get(CHALLENGE).text
    builders.judged(platform, bob, builders.accepted())
    assert "<strong>tiles</strong>" in reader.get(at).text

    assert send(owner, f"{at}/1", action="save", text="Use warps.").status_code == 303
    assert "Use warps." in reader.get(at).text
    assert send(reader, f"{at}/1", action="hide", reason="x").status_code == 403
    assert send(staff, f"{at}/1", action="hide", reason="Gives it <i>away</i>.").status_code == 303
    assert "Hidden by staff.</p>" in reader.get(at).text
    assert "Hidden by staff: Gives it &lt;i&gt;away&lt;/i&gt;." in owner.get(at).text
    assert "Hidden by teacher: " in staff.get(at).text
    assert send(staff, f"{at}/1", action="restore").status_code == 303
    assert send(owner, f"{at}/1", action="delete").status_code == 303
    assert "Deleted.</p>" in reader.get(at).text
    assert send(owner, f"{at}/1", action="nothing").status_code == 400


def test_a_chapter_and_a_course_that_has_discussions_off(
    platform: Platform, visit: Visit, ada: User, teacher: User
) -> None:
    student = visit(ada)
    at = f"{CHAPTER}/discussion"
    assert send(student, at, text="Why 33?").status_code == 303
    assert "Discussion (1)" in student.get(CHAPTER).text
    courses.create_course(platform, teacher, CourseBody(slug="gpu", name="GPU"))
    rosters.import_roster(platform, teacher, "gpu", RosterBody(text="account\nada\n", dry_run=False))
    student.get("/courses/gpu")
    staff = visit(teacher)
    form = {"name": "GPU", "time_zone": "UTC"}
    assert send(staff, "/courses/gpu", **form, discussion="1").status_code == 303
    assert student.get(at).status_code == 200
    assert send(staff, "/courses/gpu", **form).status_code == 303
    refused = student.get(at)
    assert refused.status_code == 403
    assert "Your course has discussions off" in refused.text
    assert "Discussions are off in your course." in student.get(CHAPTER).text
    assert "Why 33?" in staff.get(at).text
    address = "/api/v1/discussions/chapter/threads_and_blocks"
    assert student.get(address).status_code == 403
    (thread,) = staff.get(address).get_json()["threads"]
    assert [post["text"] for post in thread["posts"]] == ["Why 33?"]
    courses.change_course(platform, teacher, "gpu", CourseChange(discussion=True))
    assert student.get(at).status_code == 200


def test_an_error_is_reported_and_answered(
    platform: Platform, visit: Visit, ada: User, teacher: User
) -> None:
    student, staff = visit(ada), visit(teacher)
    for page in (CHALLENGE, CHAPTER):
        assert "Report an error on this page" in student.get(page).text
        assert "Report an error on this page" not in visit(None).get(page).text
        sent = send(student, f"{page}/discussion/report", text=f"A typo on {page}. {'It is long. ' * 20}")
        assert (sent.status_code, sent.location) == (303, f"{page}#error-report")
        assert "Staff have your report." in student.get(page).text
        assert f"A typo on {page}" not in staff.get(page).text
    inbox = staff.get("/inbox?mark=error_report").text
    for page in (CHALLENGE, CHAPTER):
        assert f'<a href="{page}" title="Evidence">Error report</a>' in inbox
        assert f"A typo on {page}. {'It is long. ' * 19}It is long.</p>" in inbox
    assert "/inbox" in staff.get("/").text
    assert send(staff, "/inbox", key="error:1", action="fine", reason="It says n now.").status_code == 303
    assert "error:1" not in staff.get("/inbox").text
    assert "It says n now." in staff.get("/inbox?outcome=fine").text
    assert "<strong>Resolved by staff.</strong> It says n now." in student.get(CHALLENGE).text
    assert "Staff resolved your report of an error" in student.get("/notices").text
