"""A timed call that went wrong, as a case of the report."""

from __future__ import annotations

from grader.challenge.cases import Case, Category
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.judge import faults
from grader.judge.channel import ChannelError
from grader.judge.runner_client import RunnerClient
from grader.judge.timing import WrongInTiming
from grader.schemas.report import CaseReport


def failed_workload(
    challenge: Challenge, workload: Workload, client: RunnerClient, error: WrongInTiming | ChannelError
) -> CaseReport:
    """A timed call of ``workload`` that ``error`` ended, as a case that its seed replays."""
    case = Case(f"workload {workload.name}", Category.LARGE, dict(workload.sizes))
    doing = "solve was timed"
    seed, mismatch = None, None
    if isinstance(error, ChannelError):
        limit = challenge.manifest.limits.call_seconds(client.on_processor)
        finding = faults.of_broken_channel(client, error, doing, limit)
    elif error.mismatch is None or error.answer.failure is not None:
        assert error.answer.failure is not None
        seed, finding = error.seed, faults.of_exception(error.answer.failure, doing, client.memory_bytes)
    else:
        seed, mismatch = error.seed, error.mismatch
        finding = faults.of_mismatch(mismatch, case, error.answer.empty_launches)
    return CaseReport(
        name=case.name,
        category=case.category.value,
        verdict=finding.verdict,
        seed=seed,
        sizes=dict(workload.sizes),
        detail=finding.detail,
        hint=finding.hint,
        mismatch=mismatch,
    )
