"""A platform with a queue, played step by step."""

from __future__ import annotations

from grader.languages import Language
from grader.records import claims, leases, workers
from grader.records.claims import Claim
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict
from grader.schemas.submission import State, WaitReason
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission

BOARD = "h200"
CUDA = {"filename": "a.cu", "source": "// nothing\n", "device": BOARD}


def register(platform: Platform, name: str, device: str = "cpu", compiles: bool = False) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, name, device, list(Language), utcnow(), compiles=compiles)


def take(platform: Platform, device: str = "cpu", worker: str = "w") -> Claim:
    with writing(platform.sessions) as session:
        held = claims.claim(session, claims.ClaimRequest(device, list(Language), worker, utcnow(), 30.0)).held
    assert held is not None
    return held


def report(verdict: Verdict = Verdict.ACCEPTED) -> Report:
    kind = CaseVerdict.ACCEPTED if verdict is Verdict.ACCEPTED else CaseVerdict.WRONG_ANSWER
    accepted = verdict is Verdict.ACCEPTED
    return Report(
        verdict=verdict,
        challenge="scale",
        version=1,
        language=Language.TRITON,
        device="cpu",
        cases=[
            CaseReport(name="one", category="basic", verdict=kind, detail="" if accepted else "0 is not 1")
        ],
        score=Score(
            time_us=10.0 if accepted else None,
            ci=(9.0, 11.0) if accepted else None,
            passed=int(accepted),
            total=1,
        ),
    )


def judge(platform: Platform, verdict: Verdict = Verdict.ACCEPTED) -> None:
    held = take(platform)
    with writing(platform.sessions) as session:
        assert leases.finish(session, held, report(verdict), utcnow())


def fail(platform: Platform) -> None:
    held = take(platform)
    with writing(platform.sessions) as session:
        cap = platform.settings.attempts
        session.get_one(SubmissionRow, held.id).failures = cap
        session.flush()
        assert leases.give_back(session, held.id, held.attempt, utcnow(), error="oh", cap=cap) is State.FAILED


def reason(platform: Platform, user: User, sent: str) -> WaitReason | None:
    waits_for = get_submission(platform, user, sent).waits_for
    return waits_for.reason if waits_for else None
