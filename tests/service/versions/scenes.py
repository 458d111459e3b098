"""A catalogue of one challenge, raised to its next version, and judged, on every database."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from grader.languages import Language
from grader.records import leases
from grader.records.claims import ClaimRequest, claim
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.service.world import body

SLUG = "scale"
T = TypeVar("T")


def edit(platform: Platform, old: str, new: str, name: str = "challenge.toml") -> None:
    path = platform.catalogue.root / "challenges" / SLUG / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def raise_version(platform: Platform) -> None:
    edit(platform, "version = 1", "version = 2")
    edit(platform, "value = 2.0", "value = 4.0")


def judge(platform: Platform, time_us: float | None = 10.0) -> None:
    """Judge the next one in the queue; None: it is wrong."""
    with writing(platform.sessions) as session:
        held = claim(session, ClaimRequest("cpu", [Language.TRITON], "test", utcnow(), 60.0)).held
        assert held is not None
        case = CaseReport(
            name="seven",
            category="prime",
            verdict=CaseVerdict.ACCEPTED if time_us else CaseVerdict.WRONG_ANSWER,
            detail="" if time_us else "0 is not 1",
        )
        report = Report(
            verdict=Verdict.ACCEPTED if time_us else Verdict.WRONG_ANSWER,
            challenge=SLUG,
            version=platform.catalogue.load(SLUG).manifest.version,
            language=Language.TRITON,
            device="cpu",
            cases=[case],
            score=Score(time_us=time_us, ci=(time_us, time_us) if time_us else None, passed=1, total=1),
        )
        assert leases.finish(session, held, report, utcnow())


def judged(platform: Platform, user: User, time_us: float | None = 10.0) -> SubmissionView:
    view = submit(platform, user, body())
    judge(platform, time_us)
    return get_submission(platform, user, view.id)


def shown(platform: Platform) -> tuple[int, dict[str, int]]:
    board = leaderboard(platform, SLUG)
    return board.version, {entry.user: entry.rank for entry in board.entries}


def at_once(work: Callable[[], T], times: int = 4) -> list[T]:
    with ThreadPoolExecutor(times) as pool:
        return [future.result() for future in [pool.submit(work) for _ in range(times)]]
