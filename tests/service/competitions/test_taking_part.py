"""Participants of a competition, and their submissions that count."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound, TooMany
from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import AuditRow, CompetitionRow, SubmissionRow, utcnow
from grader.schemas.competition import CompetitionView, DisqualifyBody, Mode, Phase
from grader.schemas.submission import JudgingReason, State
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.competitions import competitions, teams
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.service.competitions.builders import (
    competition_body,
    elapse,
    enter,
    hand_in,
    make,
    people,
)
from tests.service.world import body

pytestmark = pytest.mark.both_databases


def _team(view: CompetitionView, mode: Mode = Mode.OFFICIAL) -> str:
    return next(team.name for team in view.own if team.mode is mode)


def test_a_draft_is_visible_to_staff_until_published(platform: Platform, staff: User, student: User) -> None:
    made = competitions.create_competition(
        platform, staff, competition_body(starts_at=utcnow() + timedelta(minutes=1))
    )
    assert made.phase is Phase.DRAFT
    assert competitions.list_competitions(platform, student).competitions == []
    with pytest.raises(NotFound):
        competitions.get_competition(platform, student, "cup")
    with pytest.raises(NotAllowed, match=r"competition\.edit"):
        competitions.create_competition(platform, student, competition_body(slug="own"))
    competitions.publish_competition(platform, staff, "cup")
    seen = competitions.get_competition(platform, student, "cup")
    # Its challenges and staff's fields are secret before the start.
    assert (seen.phase, seen.challenges, seen.invite_code, seen.hidden_seed) == (
        Phase.UPCOMING,
        [],
        None,
        None,
    )
    with platform.sessions() as session:
        assert {entry.action for entry in session.query(AuditRow)} == {"competition.edit"}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"challenges": [{"challenge": "nothing"}]}, "nothing"),
        ({"devices": ["h200"]}, "no device 'h200'"),
        ({"time_zone": "Mars/Phobos"}, "no time zone 'Mars/Phobos'"),
        (
            {"time_zone": "America/New_York", "starts_at": "0001-01-01T00:00:00Z"},
            "starts_at: 0001-01-01T00:00:00.00:00 is too far from today",
        ),
        ({"languages": ["cuda"]}, "None of the chosen devices"),
        ({"challenges": [{"challenge": "scale", "hidden_workloads": [{"sizes": {"m": 4}}]}]}, "sizes are"),
        (
            {"challenges": [{"challenge": "scale", "hidden_workloads": [{"sizes": {"n": 4}}] * 2}]},
            "appear twice",
        ),
    ],
)
def test_an_impossible_competition_is_refused(
    platform: Platform, staff: User, values: dict[str, object], error: str
) -> None:
    with pytest.raises(GraderError, match=error):
        competitions.create_competition(platform, staff, competition_body(**values))


def test_a_stale_edit_is_refused(platform: Platform, staff: User) -> None:
    make(platform, staff)
    body_ = competitions.body_of(platform, staff, "cup")
    changed = competitions.edit_competition(
        platform, staff, "cup", body_.model_copy(update={"title": "Another"})
    )
    assert (changed.title, changed.revision) == ("Another", 2)
    with pytest.raises(Conflict, match="Somebody changed"):
        competitions.edit_competition(platform, staff, "cup", body_)


def test_a_used_language_cannot_be_removed(platform: Platform, staff: User) -> None:
    """A submission that counts stays in a language that the competition takes."""
    make(platform, staff)
    (ada,) = people(platform, 1)
    enter(platform, ada, team="Warps")
    hand_in(platform, ada, 3.0)
    body_ = competitions.body_of(platform, staff, "cup")
    # The challenge's only device here runs one language.
    with writing(platform.sessions) as session:
        session.query(SubmissionRow).one().language = Language.CUDA
    with pytest.raises(Conflict, match="submitted in cuda"):
        competitions.edit_competition(platform, staff, "cup", body_)


def test_a_join_code_adds_a_team_member(platform: Platform, staff: User) -> None:
    make(platform, staff, team_size=2, starts_at=utcnow() + timedelta(minutes=1))
    ada, bob, cay = people(platform, 3)
    made = enter(platform, ada, team="  The   Warps ")
    assert _team(made) == "The Warps"
    code = made.own[0].join_code
    joined = enter(platform, bob, join_code=code.upper())
    assert [member.name for member in joined.own[0].members] == ["user0", "user1"]
    assert joined.own[0].join_code == "", "it is full"
    with pytest.raises(Conflict, match="2 of 2 members"):
        enter(platform, cay, join_code=code)
    with pytest.raises(Conflict, match="team name 'the warps'"):
        enter(platform, cay, team="the warps")
    for nobodys in ("nonsense", ""):
        with pytest.raises(NotFound):
            enter(platform, cay, join_code=nobodys)
    # Repeating it is not an error, another team is.
    assert enter(platform, bob, join_code=code).own == joined.own
    with pytest.raises(Conflict, match="You are already in the team The Warps"):
        enter(platform, bob, team="Own")
    # Before the start people may change teams.
    teams.leave(platform, bob, "cup")
    assert _team(enter(platform, bob, team="Own")) == "Own"
    with pytest.raises(Conflict, match="Staff know"):
        enter(platform, staff)


def test_an_invitation_is_needed_if_the_competition_says_so(
    platform: Platform, staff: User, student: User
) -> None:
    code = make(platform, staff, registration="invite").invite_code
    assert code is not None
    with pytest.raises(NotAllowed, match="need an invitation"):
        enter(platform, student)
    renewed = competitions.renew_invite_code(platform, staff, "cup").invite_code
    with pytest.raises(NotAllowed):
        enter(platform, student, invite_code=code)
    assert _team(enter(platform, student, invite_code=renewed)) == "ada"


def test_a_competition_submission_counts_only_there(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    make(platform, staff)
    enter(platform, student)
    sent = hand_in(platform, student, 10.0)
    view = get_submission(platform, student, sent)
    assert (view.competition, view.kind) == ("cup", JudgingReason.COMPETITION)
    assert leaderboard(platform, "scale").entries == []
    assert get_quotas(platform, student, "scale").submissions.used == 0
    outside = submit(platform, student, body(competition=""))
    assert outside.competition is None
    assert submit(platform, other, body()).competition is None
    with pytest.raises(Conflict, match="You do not take part"):
        submit(platform, other, body(competition="cup"))
    with pytest.raises(BadRequest, match="does not include the challenge"):
        submit(platform, student, body(challenge="only_cuda", filename="a.cu", competition="cup"))


def test_the_time_of_receipt_decides(platform: Platform, staff: User, student: User) -> None:
    make(platform, staff, ends_at=utcnow() + timedelta(hours=2))
    enter(platform, student)
    sent = submit(platform, student, body()).id
    elapse(platform, hours=3)
    with platform.sessions() as session:
        row = session.query(SubmissionRow).filter_by(public_id=sent).one()
        assert row.state is State.QUEUED
        assert row.competition_id is not None
    with pytest.raises(Conflict, match="has ended"):
        submit(platform, student, body(competition="cup"))
    assert submit(platform, student, body()).competition is None


def test_submission_caps_apply_to_the_team(platform: Platform, staff: User) -> None:
    make(platform, staff, team_size=2, cap_day=3, cap_total=4)
    ada, bob = people(platform, 2)
    code = enter(platform, ada).own[0].join_code
    enter(platform, bob, join_code=code)
    assert submit(platform, ada, body()).remaining == 2
    taken_back = submit(platform, bob, body()).id
    cancel(platform, bob, taken_back)
    for user in (ada, bob):
        submit(platform, user, body())
    with pytest.raises(TooMany, match=r"3 of 3 submissions for scale today"):
        submit(platform, bob, body())
    with writing(platform.sessions) as session:
        for row in session.query(SubmissionRow):
            row.created_at -= timedelta(days=1)
    assert submit(platform, bob, body()).remaining == 0
    with pytest.raises(TooMany, match="in all"):
        submit(platform, bob, body())
    (cap,) = competitions.get_competition(platform, bob, "cup").own[0].caps
    assert (cap.day_used, cap.day_most, cap.total_used, cap.total_most) == (1, 3, 4, 4)


def test_a_departing_members_work_stays_with_the_team(platform: Platform, staff: User) -> None:
    make(platform, staff, team_size=2)
    ada, bob = people(platform, 2)
    code = enter(platform, ada, team="Warps").own[0].join_code
    enter(platform, bob, join_code=code)
    sent = hand_in(platform, bob, 10.0)
    assert teams.leave(platform, bob, "cup").own == []
    with platform.sessions() as session:
        row = session.query(SubmissionRow).filter_by(public_id=sent).one()
        team = teams.team_named(session, session.query(CompetitionRow).one(), "warps")
        assert row.team_id == team.id
    members = competitions.get_competition(platform, ada, "cup").own[0].members
    assert [(member.name, member.left_at is None) for member in members] == [
        ("user0", True),
        ("user1", False),
    ]
    with pytest.raises(Conflict, match="cannot join another"):
        enter(platform, bob, team="Other")
    assert submit(platform, bob, body()).competition is None


def test_a_submission_must_name_one_of_two_competitions(
    platform: Platform, staff: User, student: User
) -> None:
    make(platform, staff)
    make(platform, staff, slug="league", title="The league")
    enter(platform, student)
    assert submit(platform, student, body()).competition == "cup"
    enter(platform, student, "league")
    with pytest.raises(Conflict, match=r"cup, league"):
        submit(platform, student, body())
    assert submit(platform, student, body(competition="league")).competition == "league"


def test_ended_competitions_allow_virtual_and_practice_only(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    make(platform, staff)
    enter(platform, student)
    hand_in(platform, student, 10.0)
    with pytest.raises(Conflict, match="not ended yet"):
        enter(platform, other, mode=Mode.VIRTUAL)
    elapse(platform, hours=3)
    with pytest.raises(Conflict, match="has ended"):
        enter(platform, other)
    with pytest.raises(Conflict, match="You took part"):
        enter(platform, student, mode=Mode.VIRTUAL)
    virtual = enter(platform, other, mode=Mode.VIRTUAL).own[0]
    assert virtual.ends_at is not None
    assert virtual.ends_at - virtual.starts_at == timedelta(hours=2)
    assert submit(platform, other, body()).competition == "cup", "it is tied as in the real one"
    enter(platform, student, mode=Mode.PRACTICE)
    assert submit(platform, student, body()).competition is None, "practice is asked for"
    practised = submit(platform, student, body(competition="cup"))
    assert (practised.competition, practised.remaining) == ("cup", None)


def test_a_disqualified_team_sees_the_reason(platform: Platform, staff: User, student: User) -> None:
    make(platform, staff)
    enter(platform, student)
    teams.disqualify(platform, staff, "cup", DisqualifyBody(team="ada", reason="two accounts"))
    assert competitions.get_competition(platform, student, "cup").own[0].disqualified == "two accounts"
    with pytest.raises(NotAllowed):
        teams.disqualify(platform, student, "cup", DisqualifyBody(team="ada"))
