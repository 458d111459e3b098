"""A student takes two courses that assign the same challenge. Staff of one course get nothing of his
submissions for the other, by any action in the table of permissions.

Each row must fail for the other course's submission and succeed for its own, so a row that reaches nothing
fails, too.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

import pytest
from flask.testing import FlaskClient

from grader.records import leases
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody, CourseRole, JoinCodeBody
from grader.schemas.report import Flag
from grader.schemas.submission import State
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, joining
from grader.service.courses.permissions import TABLE, Action, Standing
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from grader.web.throttle import limiter
from tests.service.world import make_catalogue
from tests.web import builders
from tests.web.security.rows import API

MINE, THEIRS = f"{API}/courses/mine", "theirs"
_VOID = "/submissions/<id>/void"


@dataclass(frozen=True)
class Scene:
    """Clients ``owner`` and ``student``; of the submissions, ``foreign`` is the other course's."""

    owner: FlaskClient
    student: FlaskClient
    foreign: str
    own: str

    def said(self, path: str, **query: str) -> str:
        answer = self.owner.get(path, query_string=query)
        assert answer.status_code == 200, answer.text
        return answer.text

    def done(self, method: str, path: str, **body: object) -> bool:
        sent = None if method == "GET" else body
        answer = self.owner.open(f"{API}{path}", method=method, json=sent)
        assert answer.status_code not in (400, 401, 405, 500), answer.text
        return answer.status_code < 400


class Else(Enum):
    """The reason why a row has nothing to reach."""

    NO_SUBMISSION = "it shows and changes nobody's submission"
    GRADEBOOK = "it acts on points of the gradebook, which grades.read walks"
    PLATFORM = "no role of a course has it"
    OWN = "a student's own"


Reach = Callable[[Scene, str], bool]


def _names(path: str, **query: str) -> Reach:
    return lambda scene, submission: submission in scene.said(path, **query)


def _acts(method: str, path: str, **body: object) -> Reach:
    def reach(scene: Scene, submission: str) -> bool:
        given = json.loads(json.dumps(body).replace("<id>", submission))
        return scene.done(method, path.replace("<id>", submission), **given)

    return reach


def _voids(**body: str) -> Reach:
    """Also restores it: a void result leaves the gradebook, which other rows read."""

    def reach(scene: Scene, submission: str) -> bool:
        done = scene.done("PUT", _VOID.replace("<id>", submission), reason="a copy", **body)
        return done and scene.done("DELETE", _VOID.replace("<id>", submission))

    return reach


def _archive(scene: Scene, submission: str) -> bool:
    answer = scene.owner.get(f"{MINE}/assignments/week/sources.zip")
    with zipfile.ZipFile(io.BytesIO(answer.data)) as found:
        names = {load["submission"] for load in json.loads(found.read("manifest.json"))}
        inside = any(submission in name for name in found.namelist())
    assert inside == (submission in names)
    return inside


def _compared(scene: Scene, submission: str) -> bool:
    """The number of compared sources; the starter's code resembles nothing."""
    answer = scene.owner.post(f"{MINE}/assignments/week/similarity").json
    assert submission not in json.dumps(answer) or submission == scene.own
    return submission == scene.own and answer["sources"] == 1


def _asks(scene: Scene, submission: str) -> bool:
    """The student names it in a regrade request, which staff read."""
    body = {"assignment": "week", "challenge": "scale", "submission": submission, "text": "Why?"}
    return scene.student.post(f"{MINE}/regrade-requests", json=body).status_code == 201


ROWS: Mapping[Action, Mapping[str, Reach] | Else] = {
    Action.SUBMISSIONS_READ: {
        "view": _acts("GET", "/submissions/<id>"),
        "source": _acts("GET", "/submissions/<id>/source"),
        "report": _acts("GET", "/submissions/<id>/report"),
        "diagnostics": _acts("GET", "/submissions/<id>/diagnostics"),
        "list": _names(f"{API}/submissions", everyone="true", assignment="mine/week"),
        "list of the course": _names(f"{API}/submissions", everyone="true", assignment="mine"),
    },
    Action.COMMENT: {
        "read": _acts("GET", "/submissions/<id>/comments"),
        "write": _acts("POST", "/submissions/<id>/comments", text="Why?"),
    },
    Action.GRADES_READ: {
        "gradebook": _names(f"{MINE}/gradebook"),
        "export": _names(f"{MINE}/gradebook/export"),
        "of one": _names(f"{MINE}/grades/bob"),
    },
    Action.SOURCES: {"archive": _archive},
    Action.SIMILARITY: {"compare": _compared},
    Action.REVIEW: {
        "inbox": _names(f"{API}/inbox", course="mine", outcome="any"),
        "inbox of all": _names(f"{API}/inbox", outcome="any"),
        "decide": _acts("POST", "/inbox/decide", keys=["<id>:library_kernel"], outcome="fine"),
        "assign": _acts("POST", "/inbox/assign", keys=["<id>:library_kernel"], reviewer="amy"),
    },
    Action.REGRADE: {"order": _acts("POST", "/regrades", submission="<id>", reason="a broken card")},
    Action.VOID: {"void and restore": _voids(), "void in it": _voids(course="mine")},
    Action.REGRADE_ASK: {"ask": _asks},
    Action.ENTRY_WITHDRAW: Else.PLATFORM,
    Action.SUBMISSION_CANCEL: Else.PLATFORM,
    Action.GRADES_READ_OWN: Else.OWN,
    Action.QUESTION_ASK: Else.OWN,
    Action.GROUP_CHOOSE: Else.OWN,
    Action.GRADES_OVERRIDE: Else.GRADEBOOK,
    Action.GRADES_SCORE: Else.GRADEBOOK,
    Action.GRADES_CURVE: Else.GRADEBOOK,
    Action.LTI_SEND: Else.GRADEBOOK,
    Action.REGRADE_READ: Else.NO_SUBMISSION,
    Action.REGRADE_ANSWER: Else.NO_SUBMISSION,
    # Comparing finds a pair.
    Action.SIMILARITY_DECIDE: Else.NO_SUBMISSION,
    **dict.fromkeys(
        (
            *(Action.COURSE_LISTED, Action.COURSE_READ, Action.COURSE_EDIT, Action.COURSE_STAFF),
            *(Action.ROSTER_READ, Action.ROSTER_EDIT, Action.ASSIGNMENT_READ, Action.ASSIGNMENT_READ_DRAFT),
            *(Action.ASSIGNMENT_EDIT, Action.EXTENSION_GRANT, Action.LTI_READ, Action.LTI_LINK),
            *(Action.LTI_SELECT, Action.ANNOUNCE, Action.FEEDBACK_EDIT, Action.QUESTION_READ),
            *(Action.QUESTION_ANSWER, Action.AUDIT_READ, Action.CHALLENGE_READ_DRAFT),
            *(Action.CATALOGUE_READ, Action.CATALOGUE_EDIT, Action.DISCUSSION_HIDE),
            *(Action.COMPETITION_READ, Action.COMPETITION_ENTER),
        ),
        Else.NO_SUBMISSION,
    ),
    **dict.fromkeys(
        (
            *(
                Action.COURSE_CREATE,
                Action.REGRADE_ANY,
                Action.VOID_ANY,
                Action.SOURCES_ANY,
                Action.REVIEW_ANY,
            ),
            *(Action.LTI_PLATFORM, Action.ACCOUNT_EXPORT, Action.ACCOUNT_DELETE, Action.CHALLENGE_PUBLISH),
            *(Action.PERSON_ROLE, Action.PERSON_RESET, Action.INVITATION_MAKE, Action.INVITATION_REVOKE),
            *(Action.VERSION_PUBLISH, Action.CHALLENGE_KIND, Action.OPERATIONS_READ, Action.QUEUE_PAUSE),
            *(Action.BUDGETS_READ, Action.BUDGET_SET),
            *(
                Action.QUEUE_RESUME,
                Action.WORKER_DRAIN,
                Action.WORKER_TOKEN,
                Action.WORKER_RESUME,
                Action.SUBMISSION_REQUEUE,
            ),
            *(Action.PLATFORM_AUDIT, Action.CHALLENGE_UPLOADS, Action.CHALLENGE_UPLOAD),
            *(
                Action.CHALLENGE_EDIT_SPEC,
                Action.CHALLENGE_CHECK,
                Action.CHALLENGE_USE,
                Action.CHALLENGE_BOARD,
            ),
            *(Action.COMPETITION_READ_DRAFT, Action.COMPETITION_EDIT, Action.COMPETITION_DISQUALIFY),
            *(Action.COMPETITION_FINAL, Action.COMPETITION_RESULTS),
        ),
        Else.PLATFORM,
    ),
}
_OF_COURSES = {Standing.STUDENT, Standing.ASSISTANT, Standing.INSTRUCTOR, Standing.OWNER}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("courses")
    platform = open_platform(builders.make_settings(folder, challenges=make_catalogue(folder / "catalogue")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limiter, "enabled", False)
        yield _made(platform)
    platform.close()


def _made(platform: Platform) -> Scene:
    admin = accounts.create_user(platform, "root", builders.PASSWORD, Role.ADMIN)
    bob = accounts.create_user(platform, "bob", builders.PASSWORD)
    for slug, name in (("mine", "amy"), (THEIRS, "carol")):
        courses.create_course(platform, admin, CourseBody(slug=slug, name=slug))
        accounts.create_user(platform, name, builders.PASSWORD)
        courses.set_staff(platform, admin, slug, name, CourseRole.OWNER)
        courses.set_staff(platform, admin, slug, "root", None)
        joining.join(platform, bob, joining.make_code(platform, admin, slug, JoinCodeBody()).code)
    _assign(platform, admin, THEIRS)
    foreign = _judged(platform, bob)
    # It opens before he submitted that, by its times.
    _assign(platform, admin, "mine")
    own = _judged(platform, bob)
    app = create_app(platform)
    app.config["TESTING"] = False

    def client(name: str) -> FlaskClient:
        with platform.sessions() as session:
            user = accounts.of_row(accounts.find_row(session, name))
        made = app.test_client()
        made.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {tokens.issue_token(platform, user, 'test').token}"
        return made

    return Scene(client("amy"), client("bob"), foreign, own)


def _assign(platform: Platform, admin: User, slug: str) -> None:
    body = AssignmentBody(
        title="Week", parts=[PartBody(challenge="scale")], open_at="2020-01-01", due_at="2999-01-01"
    )
    assignments.put_assignment(platform, admin, slug, "week", body)
    assignments.publish_assignment(platform, admin, slug, "week")


def _judged(platform: Platform, user: User) -> str:
    report = builders.accepted(challenge="scale", version=1)
    view = builders.judged(platform, user, report, challenge="scale")
    with writing(platform.sessions) as session:
        row = session.query(SubmissionRow).filter_by(public_id=view.id).one()
        assert row.state is State.DONE
        leases.put_flags(session, row.id, [Flag.LIBRARY_KERNEL])
    return view.id


def test_every_action_of_the_table_is_tested() -> None:
    assert set(ROWS) == set(Action)
    for action, row in ROWS.items():
        assert row is not Else.PLATFORM or not TABLE[action] & _OF_COURSES, action
        assert row is not Else.OWN or TABLE[action] == {Standing.STUDENT}, action


@pytest.mark.parametrize(
    ("action", "way"),
    [(action, way) for action, row in ROWS.items() if not isinstance(row, Else) for way in row],
)
def test_submissions_for_another_course_are_out_of_reach(scene: Scene, action: Action, way: str) -> None:
    row = ROWS[action]
    assert not isinstance(row, Else)
    assert not row[way](scene, scene.foreign)
    assert row[way](scene, scene.own)
