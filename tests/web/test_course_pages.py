"""The pages of courses, as teachers and students go through them."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from grader import limits
from grader.schemas.course import JoinCodeBody, MemberChange, RosterBody
from grader.schemas.submission import SubmitBody
from grader.service.accounts.accounts import User
from grader.service.courses import courses, gradebook, joining, rosters
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submit import submit
from tests.service.courses.scenes import NOW, assign, enrol, grading, judged
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.conftest import Visit, csrf


@pytest.fixture
def platform(tmp_path: Path, database: str) -> Iterator[Platform]:
    catalogue = make_catalogue(tmp_path / "catalogue")
    opened = open_platform(builders.make_settings(tmp_path, challenges=catalogue, sign_up="invite"))
    yield opened
    opened.close()


def post(client: FlaskClient, path: str, **form: object) -> str:
    token = csrf(client, "/courses")
    answer = client.post(path, data={**form, "csrf_token": token}, follow_redirects=True)
    assert answer.status_code == 200, answer.text[-500:]
    return answer.text


@pytest.fixture
def owner(visit: Visit, teacher: User) -> FlaskClient:
    """The teacher's browser, with a new course ``gpu``."""
    client = visit(teacher)
    page = post(
        client, "/courses", slug="gpu", name="GPU <programming>", time_zone="Europe/Berlin", grace_days="2"
    )
    assert "<h1>GPU &lt;programming&gt;</h1>" in page
    return client


def test_a_roster_is_previewed_imported_and_invites_students(
    app: Flask, owner: FlaskClient, platform: Platform, teacher: User
) -> None:
    table = "Name;E-Mail;Section\nJürgen Groß;jg@uni.edu;A\nNobody;;B\n".encode("cp1252")
    page = post(owner, "/courses/gpu/roster", file=(io.BytesIO(table), "roster.csv"))
    assert "What would change" in page
    assert "Line 3: the row has no e-mail address" in page
    assert "The file was read as Windows-1252." in page
    assert "<td>Jürgen Groß</td>" in page  # so that wrong names are seen
    text = re.search(r'name="text" hidden aria-hidden="true">\n?(.*?)</textarea>', page, re.DOTALL)
    assert text
    page = post(owner, "/courses/gpu/roster", text=text[1], action="import", skip_bad="1")
    assert "Imported" in page
    sheet = post(owner, "/courses/gpu/invitations", days="30")
    (link,) = re.findall(r"<code>http://localhost(/join\?key=crs_[^<]+)</code>", sheet)
    guest = app.test_client()
    page = guest.get(link).text
    assert "This link is for Jürgen Groß alone." in page
    at = re.search(r'href="(/sign-up\?key=[^"]+)"', page)
    assert at
    form = {"name": "jg", "password": builders.PASSWORD, "key": link.partition("key=")[2]}
    assert guest.post("/sign-up", data={**form, "csrf_token": csrf(guest, at[1])}).status_code == 303
    assert "GPU &lt;programming&gt;" in guest.get("/courses").text
    assert "invitation 1: jg@uni.edu" in owner.get("/courses/gpu/roster").text


def test_the_roster_page_changes_members_and_withdraws_invitations(
    owner: FlaskClient, platform: Platform, teacher: User, ada: User
) -> None:
    enrol(platform, teacher, ada)
    text = "email,full_name,section\nwaits@uni.edu,Wanda,A\n"
    rosters.import_roster(platform, teacher, "gpu", RosterBody(text=text, dry_run=False))
    page = owner.get("/courses/gpu/roster?member=ada").text
    assert "<h2>Change ada</h2>" in page
    assert '<option value="A"></option>' in page
    rosters.change_member(platform, teacher, "gpu", "ada", MemberChange(group="3"))  # while the form is open
    was = {"was-section": "", "was-group": "", "was-full_name": "", "was-student_number": ""}
    form = was | {"section": "B", "group": "", "full_name": "Ada Lovelace", "student_number": ""}
    page = post(owner, "/courses/gpu/roster/ada", **form)
    (row,) = re.findall(r"<tr>\s*<td><a href=\"/courses/gpu/grades/ada\">.*?</tr>", page, re.DOTALL)
    assert [each for each in ("Ada Lovelace", "<td>B</td>", "<td>3</td>") if each not in row] == []
    (at,) = re.findall(r'action="(/courses/gpu/invitations/\d+/withdraw)"', page)
    assert "Wanda" not in post(owner, at)


def test_a_student_joins_by_a_code(owner: FlaskClient, visit: Visit, ada: User) -> None:
    page = post(owner, "/courses/gpu/join-codes", section="B", days="30")
    (code,) = re.findall(r"<code>([A-Z]{4}-[A-Z]{4})</code>", page)
    client = visit(ada)
    assert "section B" in client.get(f"/join?key={code}").text
    assert "Assignments" in post(client, "/join", key=code)
    assert "Let back in" in post(owner, "/courses/gpu/roster/ada", drop="1")
    refused = client.post("/join", data={"key": code, "csrf_token": csrf(client, "/courses")})
    assert refused.status_code == 403
    assert "removed you from this course" in refused.text
    assert "Let back in" not in post(owner, "/courses/gpu/roster/ada", enrol="1")
    assert client.get("/courses/gpu").status_code == 200


def test_a_class_behind_one_router_creates_its_accounts_at_once(
    app: Flask, platform: Platform, owner: FlaskClient, teacher: User
) -> None:
    code = joining.make_code(platform, teacher, "gpu", JoinCodeBody()).code

    def sign_up(name: str, key: str) -> int:
        client = app.test_client()
        form = {"name": name, "password": builders.PASSWORD, "key": key}
        return client.post("/sign-up", data=form | {"csrf_token": csrf(client, "/sign-in")}).status_code

    assert {sign_up(f"student{n}", code) for n in range(limits.LINK_TRIES_PER_MINUTE + 5)} == {303}
    # A link creates one account: many tries with it are an attack.
    assert [sign_up("x", "crs_nobodys") for _ in range(limits.LINK_TRIES_PER_MINUTE + 1)][-2:] == [400, 429]
    assert owner.get("/courses/gpu/roster").text.count("join code 1") == limits.LINK_TRIES_PER_MINUTE + 5


def test_saving_an_assignment_does_not_move_its_deadline(
    owner: FlaskClient, platform: Platform, teacher: User
) -> None:
    form = {"slug": "week1", "title": "Week 1", "parts": "scale", "open_at": "2020-01-01T10:00"}
    form |= {"due_at": "2026-10-25T02:30+02:00"}  # the first of two half past two
    page = post(owner, "/courses/gpu/new-assignment", **form)
    assert 'value="2026-10-25T02:30:00"' in page
    page = post(owner, "/courses/gpu/assignments/week1", **form | {"due_at": "2026-10-25T02:30"})
    assert 'datetime="2026-10-25T00:30:00+00:00"' in page
    page = post(owner, "/courses/gpu/assignments/week1", **form | {"due_at": "2026-10-25T02:31"})
    assert 'datetime="2026-10-25T01:31:00+00:00"' in page, "typed, it is the later one"
    wrong = form | {"due_at": "2019-01-01T10:00", "title": "Typed", "csrf_token": csrf(owner, "/courses")}
    refused = owner.post("/courses/gpu/assignments/week1", data=wrong | {"revision": "1"})
    assert (refused.status_code, 'name="title" maxlength="120" value="Typed"' in refused.text) == (400, True)
    assert 'name="revision" value="1"' in refused.text, (
        "what others saved meanwhile is not undone by the next try"
    )


def test_an_assignment_goes_from_draft_to_extension(
    owner: FlaskClient, platform: Platform, teacher: User, visit: Visit, ada: User
) -> None:
    enrol(platform, teacher, ada)
    form = {"slug": "week1", "title": "Week 1", "parts": "scale 2\nonly_cuda", "open_at": "2020-01-01T10:00"}
    form |= {"due_at": "2090-07-31T18:00", "total": "5", "late_percent": "10", "languages": "cuda"}
    page = post(owner, "/courses/gpu/new-assignment", **form)
    assert 'value="2090-07-31T18:00:00"' in page  # of the course's zone, in the form
    assert 'datetime="2090-07-31T16:00' in page
    assert "scale 2\nonly_cuda</textarea>" in page
    student = visit(ada)
    assert "Week 1" not in student.get("/courses/gpu").text
    post(owner, "/courses/gpu/assignments/week1/publish")
    seen = student.get("/courses/gpu/assignments/week1").text
    assert "Languages: CUDA C++." in seen
    assert re.search(r"not started</span></td>\s*<td[^>]*>.*0 of [^<]*</a></td>\s*<td[^>]*>5 of 5</td>", seen)
    assert "5 left in all" in student.get("/challenges/scale").text
    post(
        owner,
        "/courses/gpu/assignments/week1/extensions",
        student="ada",
        due_at="2091-01-01T00:00",
        reason="ill",
    )
    assert "extended for you" in student.get("/courses/gpu/assignments/week1").text
    refused = owner.post(
        "/courses/gpu/assignments/week1",
        data={**form, "revision": "99", "csrf_token": csrf(owner, "/courses")},
    )
    assert (refused.status_code, "Somebody else has just changed this" in refused.text) == (409, True)


def test_grades_are_explained_and_overridden(
    owner: FlaskClient, platform: Platform, teacher: User, visit: Visit, call: Visit, ada: User, bob: User
) -> None:
    enrol(platform, teacher, ada, bob)
    rosters.change_member(platform, teacher, "gpu", "ada", MemberChange(group="red"))
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 0.5, points = 40 }]")
    assign(platform, teacher)
    judged(platform, ada, timedelta(hours=-1), speedup=0.8)
    page = owner.get("/courses/gpu/gradebook").text
    assert "Speedups: Week 1, Scale" in page
    assert 'aria-label="1 from 0.68x to 0.83x"' in page
    assert '<a href="/courses/gpu/grades/ada">ada</a>' in page
    own = visit(ada).get("/courses/gpu/grades").text
    assert "Speedup 0.5: reached with 0.8" in own
    assert re.search(r"received <time[^>]*>[^<]*</time>, on cpu", own)
    assert "Set other points" not in own
    values = {"assignment": "week1", "challenge": "scale", "reason": "=1+1"}
    page = post(owner, "/courses/gpu/grades/ada/override", points="70", **values)
    assert "Set by staff: =1+1" in page
    answer = owner.get("/courses/gpu/gradebook/grades.csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="gpu-grades.csv"'
    assert ",A,red,70.0,100.0,done,1,accepted,0.8,cpu," in answer.text
    marked = owner.get("/courses/gpu/gradebook/grades.csv?bom=1")
    assert marked.data == codecs.BOM_UTF8 + answer.data
    assert "<td>red</td>" in owner.get("/courses/gpu/gradebook").text
    assert ",True,'=1+1" in answer.text
    # The form has the field that the refusal of more points asks for.
    (form,) = re.findall(r'action="/courses/gpu/grades/ada/override".*?</form>', page, re.DOTALL)
    assert 'name="extra"' in form
    assert page.count('name="extra"') == 1
    post(owner, "/courses/gpu/grades/ada/override", points="120", extra="1", **values)
    assert gradebook.get_grades(platform, teacher, "gpu", "ada").points == 120
    post(owner, "/courses/gpu/grades/ada/override", points="", **values)
    assert gradebook.get_grades(platform, teacher, "gpu", "ada").points == 100
    assert "grades.override" in owner.get("/courses/gpu/log").text
    assert courses.get_audit(platform, teacher, "gpu").entries[0].at > NOW


def test_pages_change_announcements_and_remove_drafts(
    owner: FlaskClient, platform: Platform, teacher: User
) -> None:
    assign(platform, teacher, published=False)
    assert "Week 1" not in post(owner, "/courses/gpu/assignments/week1/remove")
    assign(platform, teacher)
    refused = owner.post(
        "/courses/gpu/assignments/week1/remove", data={"csrf_token": csrf(owner, "/courses")}
    )
    assert (refused.status_code, "week1 is published" in refused.text) == (409, True)
    page = post(owner, "/courses/gpu/announcements", title="Room 2", text="Upstairs", assignment="week1")
    (number,) = re.findall(r'id="announcement-(\d+)"', page)
    page = post(
        owner, f"/courses/gpu/announcements/{number}", title="Room 3", text="Down", assignment="week1"
    )
    assert "<h2>Room 3</h2>" in page
    assert "Room 2" not in page
    assert "· edited " in page
    data = {"title": "Room 4", "text": "Typed", "seen": "", "csrf_token": csrf(owner, "/courses")}
    refused = owner.post(f"/courses/gpu/announcements/{number}", data=data)
    assert (refused.status_code, "Somebody else has just changed this announcement" in refused.text) == (
        409,
        True,
    )
    data = {"title": "", "text": "Typed", "csrf_token": csrf(owner, "/courses")}
    refused = owner.post(f"/courses/gpu/announcements/{number}", data=data)
    assert (refused.status_code, refused.text.count("Typed</textarea>")) == (400, 1), (
        "in the form that was sent"
    )


def test_grading_by_rubric_keeps_points_given_in_the_meantime(
    owner: FlaskClient, platform: Platform, teacher: User, ada: User
) -> None:
    enrol(platform, teacher, ada)
    assign(platform, teacher)
    page = post(
        owner, "/courses/gpu/assignments/week1/feedback", **{"rubric-scale": "5 Readability\n3 Report"}
    )
    assert "5 Readability\n3 Report</textarea>" in page
    page = owner.get("/courses/gpu/grades/ada").text
    clear, report = re.findall(r'name="criterion" value="(\d+)"', page)
    rows = {"criterion": [clear, report], "seen": ["", ""], "seen_reason": ["", ""]}
    form = rows | {"assignment": "week1"}
    post(owner, "/courses/gpu/grades/ada/scores", **form, points=["0", ""], reason=["Unreadable", ""])
    page = post(owner, "/courses/gpu/grades/ada/scores", **form, points=["", "3"], reason=["", ""])
    assert re.findall(r'name="seen" value="([^"]*)"', page)[:2] == ["0.0", "3.0"], "each kept the other's"
    token = csrf(owner, "/courses")
    typed = {**form, "points": ["2", ""], "reason": ["Better", ""], "csrf_token": token}
    refused = owner.post("/courses/gpu/grades/ada/scores", data=typed)
    assert refused.status_code == 409
    assert "Somebody else has just graded" in refused.text


def test_a_comment_on_lines_is_answered_on_the_page(
    owner: FlaskClient, visit: Visit, platform: Platform, teacher: User, ada: User
) -> None:
    enrol(platform, teacher, ada)
    assign(platform, teacher)
    source = "one = 1\ntwo = 2\n"
    at = f"/submissions/{judged(platform, ada, timedelta(hours=-1), source=source)}"
    text = "Is *this* needed? <script>alert(1)</script> [x](javascript:alert(1))"
    page = post(owner, f"{at}/comments", text=text, first_line="2", last_line="2", draft="1")
    assert "<em>this</em>" in page
    assert "<script>alert" not in page
    assert 'href="javascript:' not in page
    assert 'data-count="1" aria-label="Line 2: 1 comment"' in page
    student = visit(ada)
    assert "needed?" not in student.get(at).text
    post(owner, f"{at}/comments/1", action="send")
    assert "needed?" in student.get(at).text
    assert "It is." in post(student, f"{at}/comments", text="It is.", thread="1")
    assert "resolved" in post(student, f"{at}/comments/1", action="resolve")
    assert "commented on your submission" in student.get("/notices").text
    (notice,) = student.get("/api/v1/notices?limit=1").json["notices"]
    assert student.get(f"/notices/{notice['id']}").headers["Location"] == f"{at}#comments"
    assert student.get("/api/v1/notices?limit=0").json == {"notices": [], "unread": 0}


def test_students_choose_a_group_and_partners_open_its_submissions(
    owner: FlaskClient, platform: Platform, teacher: User, ada: User, bob: User, visit: Visit
) -> None:
    enrol(platform, teacher, ada, bob)
    assign(platform, teacher, group_size=2)
    page = post(visit(ada), "/courses/gpu/group", make="Red <1>")
    assert "<strong>Red &lt;1&gt;</strong>: ada" in page
    code = re.search(r"<code>([A-Z]{4}-[A-Z]{4})</code>", page)
    assert code
    assert "No group of this course has this code." in post_refused(
        visit(bob), "/courses/gpu/group", join="BCDF-GHJK"
    )
    assert "ada, bob" in post(visit(bob), "/courses/gpu/group", join=code[1])
    made = submit(platform, ada, SubmitBody(challenge="scale", filename="a.py", source="x = 1\n"))
    page = visit(bob).get(f"/submissions/{made.id}").text
    assert "by ada" in page
    assert "My note" not in page
    assert "by ada, of your group" in visit(bob).get("/submissions").text
    assert "You hand in as <strong>ada, bob</strong>" in visit(bob).get("/courses/gpu/assignments/week1").text
    assert "so you stay in it" in visit(bob).get("/courses/gpu").text
    assert code[1] in owner.get("/courses/gpu/roster").text


def test_staff_set_a_policy_and_a_curve(
    owner: FlaskClient, platform: Platform, teacher: User, ada: User, bob: User, visit: Visit
) -> None:
    enrol(platform, teacher, ada, bob)
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 2.0, points = 40 }]")
    assign(platform, teacher, category="Home work")
    judged(platform, ada, timedelta(hours=-1), speedup=1.0)
    page = post(
        owner, "/courses/gpu", policy="1", categories="Home work 60 1\nProject 40", drop="0", scale="20"
    )
    assert "Home work 60 1\nProject 40" in page
    assert "&#39;Exam&#39; has no weight." in post_refused(
        owner, "/courses/gpu", policy="1", categories="Exam"
    )
    page = owner.get("/courses/gpu/curve?assignment=week1&formula=min(most,+p+*+1.5)").text
    assert "Points before and after" in page
    assert "Apply the curve" in page
    order = {"assignment": "week1", "formula": "min(most, p * 1.5)", "action": "apply"}
    assert "Take the curve back" in post(owner, "/courses/gpu/curve", **order)
    page = owner.get("/courses/gpu/gradebook").text
    assert "90<span" in page
    assert "raw 60" in page
    page = visit(ada).get("/courses/gpu/grades").text
    assert "Counts as <strong>90</strong> of 100 in Home work." in page
    assert "<strong>18</strong> of 20 (60 of 100 points in all)" in page
    refused = post_refused(owner, "/courses/gpu/curve", assignment="week1", formula="p +", action="apply")
    assert "The formula cannot be read" in refused
    assert "90 before" not in post(owner, "/courses/gpu/curve", assignment="week1", action="take_back")


def post_refused(client: FlaskClient, path: str, **form: object) -> str:
    answer = client.post(path, data={**form, "csrf_token": csrf(client, "/courses")})
    assert 400 <= answer.status_code < 500, answer.text[-500:]
    return answer.text
