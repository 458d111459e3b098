"""A platform with something on every page, for tests of pages and for screenshots. No worker runs; tests act
as one, so pages do not change.
"""

from __future__ import annotations

import base64
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flask import Flask
from sqlalchemy import select

from grader.challenge import bundle
from grader.records.engine import writing
from grader.records.models import (
    PUBLIC_ID_CHARS,
    AssignmentRow,
    SimilarityRunRow,
    SimilarPairRow,
    SubmissionRow,
)
from grader.sandbox.emulator import is_built
from grader.schemas.account import Role
from grader.schemas.announcement import AnnouncementBody, QuestionAnswer, QuestionBody
from grader.schemas.assignment import AssignmentBody, ExtensionBody, PartBody
from grader.schemas.course import CourseBody, CourseChange, GroupBody, JoinCodeBody, RosterBody
from grader.schemas.course_catalogue import RepositoryBody
from grader.schemas.discussion import About, ErrorReportBody, HideBody, PostBody
from grader.schemas.feedback import (
    CommentBody,
    CommentChange,
    CriterionBody,
    FeedbackBody,
    RequestBody,
    ScoreBody,
    ScoresBody,
    Shown,
)
from grader.schemas.inbox import InboxDecision, Outcome
from grader.schemas.policy import Category, CurveBody, GradePolicy
from grader.schemas.regrade import RegradeBody
from grader.schemas.report import CaseReport, CaseVerdict, Report, Verdict
from grader.schemas.step import StepBundle
from grader.schemas.submission import State
from grader.schemas.upload import UploadBody
from grader.service.accounts import accounts, tokens
from grader.service.accounts.accounts import User
from grader.service.accounts.tokens import TokenKind, TokenRequest
from grader.service.challenges import course_catalogue, discussion, error_reports, uploads
from grader.service.competitions import finals
from grader.service.courses import (
    announcements,
    assignments,
    course_groups,
    courses,
    curves,
    extensions,
    feedback,
    joining,
    rosters,
)
from grader.service.courses.announcements import Kind, Place
from grader.service.platform import Platform, open_platform
from grader.service.review import comments, inbox, regrade, regrade_requests
from grader.web.app import create_app
from grader.web.auth.sessions import COOKIE, TOKEN_KEY
from tests import stepping, stepping_pair
from tests.service.competitions import builders as compete
from tests.service.courses.scenes import LONG_AGO, asked_since, take_part
from tests.service.examining import examine
from tests.web import builders

START_SECONDS = 240
_BEGAN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
# Long enough to overflow a phone, and an editor.
LONG = "x" * 300
# The third is as fast as the second, within the measurement.
TIMES_US = {"bob": 640.25, "grace": 655.0, "linus": 1290.5}
# The same in every session, so screenshots differ only if pages do.
_CSRF = "0" * 40


@dataclass(frozen=True)
class Site:
    url: str
    platform: Platform
    app: Flask
    people: dict[str, User]
    submissions: dict[str, str] = field(default_factory=dict)
    """id by what became of it"""

    @property
    def ada(self) -> User:
        return self.people["ada"]

    @property
    def code(self) -> str:
        return joining.list_codes(self.platform, self.people["boss"], "gpu").codes[0].code

    def session(self, name: str) -> tuple[str, str]:
        issued = tokens.issue(
            self.platform, self.people[name], TokenRequest("Chromium on Linux", kind=TokenKind.SESSION)
        )
        signer = self.app.session_interface.get_signing_serializer(self.app)  # type: ignore[attr-defined]
        return COOKIE, signer.dumps({TOKEN_KEY: issued.token, "_permanent": True, "csrf_token": _CSRF})


@contextmanager
def serving(folder: Path, **env: str) -> Iterator[Site]:
    """An empty platform with ada, three other students and an admin, on the real server with further settings
    ``env``.
    """
    settings = builders.make_settings(folder, sign_up="open")
    platform = open_platform(settings)
    environment = {
        **os.environ,
        "GRADER_DATA_DIR": str(settings.data_dir),
        "GRADER_REDIS_URL": settings.redis_url,
        "GRADER_BOX": "local",
        "GRADER_PORT": "0",
        "GRADER_SIGN_UP": "open",
        **env,
    }
    people = {
        name: accounts.create_user(platform, name, builders.PASSWORD, role)
        for name, role in [
            ("ada", Role.STUDENT),
            *((u, Role.STUDENT) for u in TIMES_US),
            ("boss", Role.ADMIN),
        ]
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "grader.web.server"], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Site(_address(server), platform, create_app(platform), people)
    finally:
        server.terminate()
        server.wait(START_SECONDS)
        if server.stdout:
            server.stdout.close()
        platform.close()


def _address(server: subprocess.Popen[str]) -> str:
    assert server.stdout
    with selectors.DefaultSelector() as selector:
        selector.register(server.stdout, selectors.EVENT_READ)
        assert selector.select(START_SECONDS), "the server said nothing"
    line = server.stdout.readline()
    assert line.startswith("Listening on http://127.0.0.1:"), line
    return line.split()[-1]


def furnish(site: Site) -> None:
    """Boards, and ada's submissions: one of each verdict, one failed by the platform, one cancelled, one
    running, one in the queue.
    """
    platform, ada, ids = site.platform, site.ada, site.submissions
    for name, time_us in TIMES_US.items():
        builders.judged(
            platform, site.people[name], builders.accepted(time_us=time_us, speedup=1066.0 / time_us)
        )
    ids["slower"] = builders.judged(platform, ada, builders.accepted(time_us=990.0, speedup=1.08)).id
    ids["accepted"] = builders.judged(platform, ada, builders.accepted()).id
    ids["on_gpu"] = builders.judged(platform, ada, builders.on_gpu()).id
    ids["profiled"] = builders.judged(platform, ada, builders.profiled()).id
    named = {"filename": f"{LONG[:100]}.py", "source": f"# {LONG}\n"}
    ids["wrong_answer"] = builders.judged(platform, ada, builders.wrong(), **named).id
    ids["compile_error"] = builders.judged(platform, ada, builders.not_compiled(f"error: {LONG}")).id
    for verdict in (Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT):
        ids[str(verdict)] = builders.judged(platform, ada, _ended(verdict)).id
    block = stepping_pair.bundle() if is_built() else StepBundle(why="The block waits for others.")
    stepped = stepping.report(builders.wrong(), block)
    ids["stepped"] = builders.judged(platform, ada, stepped, source=stepping_pair.SOURCE).id
    _settle(site)
    ids["failed"] = builders.hand_in(platform, ada).id
    builders.fail(platform, builders.take(platform), LONG)
    ids["testing"] = builders.hand_in(platform, ada).id
    builders.move(platform, builders.take(platform), State.TESTING, 4, 19, "nan")
    ids["queued"] = builders.hand_in(platform, ada).id
    _compete(site)
    _teach(site)
    _upload(site)


def _upload(site: Site) -> None:
    platform = site.platform
    made = bundle.of_challenge(platform.catalogue.load(builders.SLUG))
    body = UploadBody(archive=base64.b64encode(made.packed()), note="As it is in the folder")
    uploads.upload(platform, site.people["boss"], body)
    course_catalogue.set_source(
        platform, site.people["boss"], "gpu", RepositoryBody(url=f"https://git.uni.edu/{LONG[:80]}.git")
    )
    ours = {path.replace(f"/{builders.SLUG}/", "/ours/"): data for path, data in made.files.items()}
    own = UploadBody(archive=base64.b64encode(bundle.of_files(ours).packed()))
    uploads.upload_to_course(platform, site.people["boss"], "gpu", own)
    examine(platform)


def _compete(site: Site) -> None:
    platform, boss = site.platform, site.people["boss"]
    asked = {"challenges": [{"challenge": builders.SLUG, "hidden_workloads": [{"sizes": {"n": 123456789}}]}]}
    rules = "## Rules\n\nOne account each. What a library computes does not count."
    compete.make(platform, boss, **asked, rules=rules, code_shown=True, team_size=3)
    for name, time_us in (("grace", 655.0), ("linus", 1290.5)):
        compete.enter(platform, site.people[name], team=f"{name.capitalize()} & co")
        compete.judge(platform, builders.hand_in(platform, site.people[name]).id, time_us)
    compete.elapse(platform, days=2)
    finals.publish_results(platform, boss, "cup")
    compete.make(
        platform, boss, **asked, slug="league", title=f"The league {LONG[:80]}", team_size=3, cap_day=20
    )
    compete.enter(platform, site.ada, "league", team="Ada & co")


def _teach(site: Site) -> None:
    platform, boss = site.platform, site.people["boss"]
    courses.create_course(platform, boss, CourseBody(slug="gpu", name="GPU programming", term="Spring 2026"))
    names = "".join(f"{name},,{name.capitalize()}\n" for name in ("ada", *TIMES_US))
    text = f"account,email,name\n{names},emmy@uni.edu,Emmy\n"
    rosters.import_roster(platform, boss, "gpu", RosterBody(text=text, dry_run=False))
    joining.make_code(platform, boss, "gpu", JoinCodeBody(section="B"))
    body = AssignmentBody(
        title="Vectors",
        parts=[PartBody(challenge=builders.SLUG)],
        open_at="2026-03-01",
        due_at="2026-03-09 12:00",
        late_until="2026-03-12 12:00",
        late_percent=10,
    )
    assignments.put_assignment(platform, boss, "gpu", "week1", body)
    assignments.publish_assignment(platform, boss, "gpu", "week1")
    take_part(platform, *(site.people[name] for name in ("ada", *TIMES_US)))
    asked_since(platform, LONG_AGO)
    extension = ExtensionBody(student="ada", due_at="2026-03-12 12:00", reason="A conference")
    extensions.extend(platform, boss, "gpu", "week1", extension)
    _resemble(site)
    _comment(site)
    _discuss(site)
    what = RegradeBody(submission=site.submissions["slower"], reason="A card was slow.")
    regrade.start(platform, boss, what)
    _grade(site)
    _group(site)
    _announce(site)


def _group(site: Site) -> None:
    platform, boss = site.platform, site.people["boss"]
    body = AssignmentBody(
        title="Teams",
        parts=[PartBody(challenge="saxpy")],
        open_at="2026-03-01",
        due_at="2099-12-31",
        group_size=3,
        category="Project",
    )
    assignments.put_assignment(platform, boss, "gpu", "teams", body)
    assignments.publish_assignment(platform, boss, "gpu", "teams")
    course_groups.change_own(platform, site.ada, "gpu", GroupBody(make=f"Team {LONG}"[:64]))
    policy = GradePolicy(categories=[Category(name="Project", weight=40, drop=1)], scale=20)
    courses.change_course(platform, boss, "gpu", CourseChange(policy=policy))
    curve = CurveBody(assignment="week1", formula="min(most, p + 12.5)", apply=True)
    curves.curve(platform, boss, "gpu", curve)


def _announce(site: Site) -> None:
    platform, boss, gpu = site.platform, site.people["boss"], Place(Kind.COURSE, "gpu")
    told = AnnouncementBody(title="Another room", text=f"It is *room 2*. {LONG}", assignment="week1")
    announcements.announce(platform, boss, gpu, told)
    for place in (gpu, Place(Kind.COMPETITION, "league")):
        announcements.ask(platform, site.ada, place, QuestionBody(text="Which `n` is the largest?"))
        found = announcements.ask(platform, site.ada, place, QuestionBody(text="Are warps of 32 threads?"))
        answer = QuestionAnswer(answer="They are.", to_all=True)
        announcements.answer(platform, boss, place, found.questions[0].number, answer)


def _grade(site: Site) -> None:
    platform, boss, week = site.platform, site.people["boss"], ("gpu", "week1")
    criteria = [CriterionBody(title="Readability", about="Names and structure", points=5)]
    rubric = {builders.SLUG: [*criteria, CriterionBody(title="Report", points=3)]}
    made = feedback.put_feedback(platform, boss, *week, FeedbackBody(shown=Shown.ON_RELEASE, rubric=rubric))
    score = ScoreBody(criterion=made.rubric[builders.SLUG][0].id, points=4, reason="Clear names")
    feedback.put_scores(platform, boss, *week, ScoresBody(student="ada", scores=[score]))
    feedback.release(platform, boss, *week)
    asked = RequestBody(assignment="week1", challenge=builders.SLUG, text=f"It was *in time*. {LONG}")
    regrade_requests.ask(platform, site.ada, "gpu", asked)


def _comment(site: Site) -> None:
    submission, boss = site.submissions["accepted"], site.people["boss"]
    asked = CommentBody(text=f"Is this line *needed*? `{LONG}`", first_line=1, last_line=1)
    found = comments.add(site.platform, boss, submission, asked)
    answer = CommentBody(text="It is.", thread=found.threads[0].number)
    comments.add(site.platform, site.ada, submission, answer)
    whole = comments.add(site.platform, boss, submission, CommentBody(text="Well done."))
    comments.change(site.platform, boss, submission, whole.threads[0].number, CommentChange(resolved=True))


def _discuss(site: Site) -> None:
    platform, boss, about = site.platform, site.people["boss"], (About.CHALLENGE, builders.SLUG)
    asked = PostBody(text=f"Why *two* loops?\n\n```\nint {LONG};\n```\n{LONG}")
    thread = discussion.add(platform, site.ada, *about, asked).number
    discussion.add(platform, site.people["bob"], *about, PostBody(text="One.", spoiler=True, thread=thread))
    rude = discussion.add(platform, site.ada, *about, PostBody(text="Rude.", thread=thread)).number
    discussion.hide(platform, boss, *about, rude, HideBody(hidden=True, reason=f"It is rude. {LONG}"))
    for text in ("The spec says m.", f"The chapter has a typo. {LONG}"):
        error_reports.report(platform, site.ada, *about, ErrorReportBody(text=text))
    done = InboxDecision(keys=[f"error:{rude + 1}"], outcome=Outcome.FINE, reason="It says n now.")
    inbox.decide(platform, boss, done)


def _resemble(site: Site) -> None:
    ids = site.submissions
    with writing(site.platform.sessions) as session:
        row = session.scalars(select(AssignmentRow)).one()
        session.add(SimilarityRunRow(assignment_id=row.id, made_at=_BEGAN, sources=6, seconds=0.4))
        session.add(
            SimilarPairRow(
                assignment_id=row.id,
                challenge=builders.SLUG,
                submission=ids["accepted"],
                other=ids["slower"],
                share=0.97,
                other_share=0.81,
                bits=312.5,
            )
        )


def _settle(site: Site) -> None:
    """Makes ids and times of finished submissions the same in every run."""
    with writing(site.platform.sessions) as session:
        for row in session.scalars(select(SubmissionRow).order_by(SubmissionRow.id)):
            known = next((what for what, entry in site.submissions.items() if entry == row.public_id), "")
            row.public_id = f"sample{row.id:0{PUBLIC_ID_CHARS - 6}d}"
            row.created_at = _BEGAN + timedelta(hours=5 * row.id)
            row.claimed_at = row.started_at = row.created_at + timedelta(seconds=3)
            row.finished_at = row.created_at + timedelta(seconds=9)
            if known:
                site.submissions[known] = row.public_id


def _ended(verdict: Verdict) -> Report:
    cases = [
        CaseReport(name=name, category=name, verdict=of, seed=3, sizes={"n": 1024}, detail=why, seconds=0.01)
        for name, of, why in [
            ("basic", CaseVerdict.ACCEPTED, ""),
            ("huge", CaseVerdict(verdict.value), "It ended before its output was written."),
        ]
    ]
    return builders.wrong(verdict=verdict, cases=cases)
