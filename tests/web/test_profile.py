"""Profiles: contents and readers; their counts match the boards."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

import pytest

from grader.errors import NotFound
from grader.languages import Language
from grader.records import activity, ranks
from grader.records.activity import SubmissionEvent
from grader.records.engine import writing
from grader.records.models import ReportRow, SubmissionRow, utcnow
from grader.schemas.preferences import PreferencesBody
from grader.schemas.profile import BadgeKind, Profile
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from grader.service.accounts import preferences
from grader.service.accounts.accounts import User, create_user
from grader.service.boards import calendar
from grader.service.boards.badges import beats_compile
from grader.service.boards.profile import profile
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit

H200 = "h200"


def judged(platform: Platform, user: User, time_us: float | None = 100.0, **values: object) -> int:
    """A row as a worker leaves it: accepted in ``time_us`` ± 5 %, or wrong if that is None."""
    given: dict[str, object] = {
        "user_id": user.id,
        "challenge": "vector_add",
        "version": 1,
        "language": Language.TRITON,
        "device": H200,
        "source": "x",
        "filename": "x.py",
        "state": State.DONE,
        "verdict": Verdict.WRONG_ANSWER if time_us is None else Verdict.ACCEPTED,
    }
    if time_us is not None:
        low, high = time_us * 0.95, time_us * 1.05
        given |= {"time_us": time_us, "ci_lo_us": low, "ci_hi_us": high, "speedup": 200 / time_us}
    with writing(platform.sessions) as session:
        row = SubmissionRow(**(given | values))
        session.add(row)
        session.flush()
        return row.id


def badges(found: Profile) -> dict[BadgeKind, str]:
    return {badge.kind: badge.about for badge in found.badges}


class TestVisibility:
    def test_members_see_an_ordinary_profile(self, visit: Visit, ada: User, bob: User, teacher: User) -> None:
        for user in (ada, bob, teacher):
            assert "<h1>ada</h1>" in visit(user).get("/users/ADA").text

    def test_only_the_person_and_staff_see_an_anonymous_profile(
        self, visit: Visit, platform: Platform, ada: User, bob: User, teacher: User
    ) -> None:
        preferences.change(platform, ada, PreferencesBody(anonymous=True))
        for user, status in ((None, 302), (bob, 404), (ada, 200), (teacher, 200)):
            assert visit(user).get("/users/ada").status_code == status
        assert "You are anonymous" in visit(ada).get("/users/ada").text

    def test_an_anonymous_profile_is_refused_like_a_missing_one(
        self, platform: Platform, ada: User, bob: User
    ) -> None:
        preferences.change(platform, ada, PreferencesBody(anonymous=True))
        told = []
        for name in ("ada", "nobody"):
            with pytest.raises(NotFound) as refused:
                profile(platform, name, bob)
            told.append((refused.value.message, refused.value.hint))
        assert told[0] == told[1]

    def test_private_links_are_for_the_person_and_staff_only(
        self, visit: Visit, ada: User, bob: User, teacher: User
    ) -> None:
        assert 'href="/account">Settings' in visit(ada).get("/users/ada").text
        assert 'href="/progress?user=ada"' in visit(teacher).get("/users/ada").text
        assert "?user=ada" not in visit(bob).get("/users/ada").text

    def test_names_are_escaped(self, visit: Visit, ada: User) -> None:
        assert "<script>" not in visit(ada).get("/users/%3Cscript%3E").text


class TestRanks:
    def test_profile_ranks_match_the_boards(self, platform: Platform) -> None:
        """Intervals of any width, several for each user."""
        rng = random.Random(7)
        people = [create_user(platform, f"user{number}", builders.PASSWORD) for number in range(8)]
        for user in people:
            for _ in range(rng.randint(1, 4)):
                time_us = rng.uniform(90, 130)
                low, high = time_us - rng.uniform(0, 15), time_us + rng.uniform(0, 15)
                judged(platform, user, time_us, ci_lo_us=low, ci_hi_us=high)
        with platform.sessions() as session:
            board = {item.user: item.rank for item in ranks.ranked(session, "vector_add", 1, H200)}
            mine = {user.name: activity.entries(session, user.id) for user in people}
            counted = activity.ranks(session, [each[0] for each in mine.values()])
            assert {name: counted[entry[0].id] for name, entry in mine.items()} == board
        assert len(set(board.values())) > 2

    def test_the_best_rank_on_every_board_is_shown(
        self, platform: Platform, ada: User, bob: User, teacher: User
    ) -> None:
        judged(platform, ada, 100.0)
        judged(platform, ada, 80.0, language=Language.CUDA)
        judged(platform, ada, 90.0, challenge="relu")
        judged(platform, ada, 900.0, device="cpu")
        judged(platform, bob, 50.0)
        judged(platform, teacher, 10.0)
        assert profile(platform, "teacher", ada).ranks == []
        found = profile(platform, "ada", ada).ranks
        assert [(each.challenge, each.device, each.rank) for each in found] == [
            ("relu", H200, 1),
            ("vector_add", H200, 2),
            ("vector_add", "cpu", 1),
        ]
        assert (found[1].language, found[1].time_us) == (Language.CUDA, 80.0)
        assert not found[2].representative


class TestBadges:
    def test_the_first_solver_gets_a_badge(
        self, platform: Platform, ada: User, bob: User, teacher: User
    ) -> None:
        now = utcnow()
        judged(platform, teacher, created_at=now - timedelta(days=4))
        judged(platform, bob, None, created_at=now - timedelta(days=3))
        judged(platform, ada, created_at=now - timedelta(days=2))
        judged(platform, bob, created_at=now - timedelta(days=1))
        assert badges(profile(platform, "ada", ada))[BadgeKind.FIRST] == "Vector addition"
        for name in ("bob", "teacher"):
            assert BadgeKind.FIRST not in badges(profile(platform, name, ada))

    def test_a_complete_track_and_a_round_number_get_badges(self, platform: Platform, ada: User) -> None:
        for slug in ("vector_add", "saxpy"):
            judged(platform, ada, challenge=slug)
        assert BadgeKind.TRACK not in badges(profile(platform, "ada", ada))
        judged(platform, ada, challenge="relu")
        assert badges(profile(platform, "ada", ada))[BadgeKind.TRACK] == "fundamentals"
        others = [each for each in platform.catalogue.slugs() if each not in ("vector_add", "saxpy", "relu")]
        for slug in others[:6]:
            judged(platform, ada, challenge=slug)
        assert BadgeKind.SOLVED not in badges(profile(platform, "ada", ada))
        judged(platform, ada, challenge=others[6])
        titles = [
            badge.title for badge in profile(platform, "ada", ada).badges if badge.kind is BadgeKind.SOLVED
        ]
        assert titles == ["10 solved"]

    def test_solving_in_both_languages_gets_a_badge(self, platform: Platform, ada: User) -> None:
        judged(platform, ada)
        judged(platform, ada, None, language=Language.CUDA)
        assert BadgeKind.BOTH not in badges(profile(platform, "ada", ada))
        judged(platform, ada, language=Language.CUDA)
        assert badges(profile(platform, "ada", ada))[BadgeKind.BOTH] == "Vector addition"

    @pytest.mark.parametrize(("compiled_us", "given"), [(150.0, True), (99.0, False)])
    def test_being_faster_than_compile_gets_a_badge(
        self, platform: Platform, ada: User, compiled_us: float, given: bool
    ) -> None:
        row = judged(platform, ada, 100.0)
        report = builders.accepted()
        ranked = report.workloads[0].model_copy(
            update={"time_us": 100.0, "ci_us": (95.0, 105.0), "baselines_us": {"compile": compiled_us}}
        )
        with writing(platform.sessions) as session:
            body = report.model_copy(update={"workloads": [ranked]}).model_dump_json()
            session.add(ReportRow(submission_id=row, attempt=1, body=body))
        assert (BadgeKind.COMPILE in badges(profile(platform, "ada", ada))) is given

    def test_compile_is_compared_by_ranked_workloads_only(self) -> None:
        fast = {"ranked": True, "time_us": 50.0, "baselines_us": {"compile": 100.0}}
        slow = {"ranked": True, "time_us": 100.0, "baselines_us": {"compile": 40.0}}
        assert beats_compile([fast])
        assert not beats_compile([fast, slow])
        assert beats_compile([fast, slow | {"ranked": False}])
        assert not beats_compile([])

    def test_no_leader_badge_on_the_interpreter(self, platform: Platform, ada: User) -> None:
        judged(platform, ada, device="cpu")
        assert BadgeKind.LEAD not in badges(profile(platform, "ada", ada))
        judged(platform, ada)
        assert badges(profile(platform, "ada", ada))[BadgeKind.LEAD] == "Vector addition"


class TestActivity:
    def test_activity_counts_submissions_only(self, platform: Platform, ada: User, bob: User) -> None:
        judged(platform, ada)
        row = judged(platform, ada, None, challenge="relu", language=Language.CUDA)
        judged(platform, ada, rejudge_of=row, version=2)
        judged(platform, ada, None, kind=JudgingReason.RUN)
        judged(platform, ada, created_at=utcnow() - timedelta(days=400))
        judged(platform, bob)
        found = profile(platform, "ada", ada)
        assert (found.activity.submitted, found.activity.accepted) == (2, 1)
        languages = [(language.language, language.submitted, language.solved) for language in found.languages]
        assert languages == [(Language.TRITON, 2, 1), (Language.CUDA, 1, 0)]

    def test_days_and_streaks_are_counted(self) -> None:
        def event(day: int, verdict: Verdict = Verdict.ACCEPTED) -> SubmissionEvent:
            return SubmissionEvent("x", Language.TRITON, verdict, datetime(2026, 3, day, 23, 59, tzinfo=UTC))

        wrong = event(2, Verdict.WRONG_ANSWER)
        found = calendar.activity([event(9), event(4), event(3), wrong, wrong, event(2)], date(2026, 3, 10))
        assert found.longest_streak == 3
        assert [(each.day.day, each.submitted, each.accepted) for each in found.days] == [
            (2, 3, 1),
            (3, 1, 1),
            (4, 1, 1),
            (9, 1, 1),
        ]
        assert found.begin.weekday() == 0
        assert (found.end - found.begin).days // 7 + 1 == calendar.WEEKS

    def test_the_calendar_describes_every_day_in_words(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        judged(platform, ada)
        page = visit(ada).get("/users/ada").text
        assert "1 submitted, 1 accepted, on 1 day since" in page
        found = profile(platform, "ada", ada).activity
        assert page.count('width="10" height="10" rx="2"') == (found.end - found.begin).days + 1 + 3
        assert f"<title>{found.end}: 1 submitted, 1 accepted</title>" in page

    def test_a_newcomer_has_an_empty_profile(self, visit: Visit, ada: User) -> None:
        page = visit(ada).get("/users/ada").text
        assert "Nothing was submitted since" in page
        assert "Best ranks" not in page
