"""The pages Inbox and Regrades for staff."""

from __future__ import annotations

import re

import pytest

from grader.schemas.course import CourseBody, CourseRole, RosterBody
from grader.schemas.regrade import RegradeBody
from grader.schemas.report import Flag
from grader.service.accounts.accounts import User
from grader.service.courses import courses, rosters
from grader.service.platform import Platform
from grader.service.review import regrade
from grader.service.submissions import submissions
from tests.web import builders
from tests.web.conftest import Visit, csrf


def test_a_flag_is_decided_on_the_page(platform: Platform, visit: Visit, ada: User, teacher: User) -> None:
    id_ = builders.judged(platform, ada, builders.on_gpu()).id
    staff = visit(teacher)
    page = staff.get("/inbox").text
    for mark in (Flag.LIBRARY_KERNEL, Flag.WORK_OUTSIDE_GATE):
        assert f'value="{id_}:{mark.value}"' in page
    assert 'class="count">2<' in page
    form = {"csrf_token": csrf(staff, "/inbox"), "key": [f"{id_}:library_kernel"], "action": "void"}
    refused = staff.post("/inbox", data=form)
    assert (refused.status_code, "Give a reason" in refused.text) == (400, True)
    assert staff.post("/inbox", data=form | {"reason": "It calls cuBLAS."}).status_code == 303
    page = staff.get("/inbox").text
    assert f"{id_}:library_kernel" not in page
    assert f"{id_}:work_outside_gate" in page
    assert "It calls cuBLAS." in staff.get("/inbox?outcome=any").text
    told = visit(ada).get(f"/submissions/{id_}").text
    assert "Staff voided this result" in told
    assert "It calls cuBLAS." in told
    assert "Let it count again" not in told
    data = {"csrf_token": form["csrf_token"], "action": "restore"}
    assert staff.post(f"/submissions/{id_}/void", data=data).status_code == 303
    assert submissions.get_submission(platform, ada, id_).voided is None


@pytest.mark.both_databases
def test_filters_work_and_unknown_names_are_reported(
    platform: Platform, visit: Visit, ada: User, bob: User, teacher: User
) -> None:
    courses.create_course(platform, teacher, CourseBody(slug="gpu", name="GPU"))
    text = "account,full_name\nada,Ada <Lovelace>\n"
    rosters.import_roster(platform, teacher, "gpu", RosterBody(text=text, dry_run=False))
    courses.set_staff(platform, teacher, "gpu", "bob", CourseRole.INSTRUCTOR)
    for client, known in ((visit(teacher), ["ada", "bob", "teacher"]), (visit(bob), ["ada"])):
        for path in ("/inbox?", "/submissions?everyone=1&assignment=gpu&"):
            page = client.get(path).text
            listed = re.search(r'<datalist id="students">(.*?)</datalist>', page)
            assert listed
            assert re.findall(r'value="(\w+)"', listed[1]) == known
            assert '<option value="ada">Ada &lt;Lovelace&gt;</option>' in page
            assert "<option>vector_add</option>" in page
            wrong = client.get(f"{path}user=adda&challenge=vector_add")
            assert wrong.status_code == 404
            assert "There is no student &#39;adda&#39;" in wrong.text
            assert "Did you mean ada?" in wrong.text
            assert "<option selected>vector_add</option>" in wrong.text, "the other filters stay"
            assert "There is no challenge &#39;adda&#39;" in client.get(f"{path}challenge=adda").text
    page = client.get("/inbox?within=gpu&reviewer=nobody&user=Ada").text
    assert "<option selected>gpu</option>" in page
    assert "<option selected>nobody</option>" in page
    assert "<option>bob</option><option>teacher</option></select>" in page
    # The filter reveals no other accounts to teachers.
    assert "in your courses" in client.get("/inbox?user=teacher").text
    assert "There is no assignment" in client.get("/inbox?course=gpu&assignment=week9").text


def test_a_regrade_is_ordered_compared_and_published(
    platform: Platform, visit: Visit, ada: User, teacher: User
) -> None:
    id_ = builders.judged(platform, ada, builders.accepted()).id
    staff = visit(teacher)
    form = {"csrf_token": csrf(staff, "/regrades/new"), "submission": id_}
    assert staff.post("/regrades", data=form).status_code == 400
    ordered = staff.post("/regrades", data=form | {"reason": "A card was slow."})
    assert (ordered.status_code, ordered.location) == (303, "/regrades/1")
    page = staff.get("/regrades/1").text
    assert "You can publish once everything is judged" in page
    assert 'http-equiv="refresh"' in page
    early = staff.post("/regrades/1", data=form | {"action": "publish"})
    assert (early.status_code, "not judged yet" in early.text) == (409, True)
    builders.finish(platform, builders.take(platform), builders.accepted(time_us=400.0, speedup=2.66))
    page = staff.get("/regrades/1").text
    assert "Ready to publish" in page
    assert '<span class="badge good">up</span>' in page
    assert "Regraded" not in visit(ada).get(f"/submissions/{id_}").text
    assert staff.post("/regrades/1", data=form | {"action": "publish"}).status_code == 303
    assert "Published" in staff.get("/regrades/1").text
    told = visit(ada).get(f"/submissions/{id_}").text
    assert "Regraded" in told
    assert "A card was slow." in told
    again = regrade.start(platform, teacher, RegradeBody(submission=id_, reason="Once more."))
    assert staff.post(f"/regrades/{again.number}", data=form | {"action": "discard"}).status_code == 303
    assert staff.get("/regrades").text.count("A card was slow.") == 1
