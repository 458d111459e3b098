"""A competition's draws: its data and the order of its final."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.challenge.model import Workload
from grader.device_kinds import kind_of
from grader.records.claims import Claim
from grader.records.models import CompetitionChallengeRow, CompetitionRow, FinalRunRow
from grader.schemas.competition import HiddenWorkload
from grader.schemas.report import Sizes


def derived(seed: str, what: str) -> bytes:
    """HMAC-SHA-256 of ``what`` under ``seed`` (hex), which anyone can recompute once the seed is public."""
    return hmac.digest(bytes.fromhex(seed), what.encode(), hashlib.sha256)


def provisional_key(seed: str, challenge: str) -> str:
    """Hex: of all submissions' data for ``challenge`` while the competition runs."""
    return derived(seed, f"provisional:{challenge}").hex()


def final_key(seed: str, challenge: str, repeat: int) -> str:
    """Hex: all finalists get the same data within a repeat."""
    return derived(seed, f"final:{challenge}:{repeat}").hex()


def final_order(
    seed: str, entries: Sequence[tuple[str, str]], repeats: int
) -> list[tuple[int, tuple[str, str]]]:
    """Repeats count from 1. A randomised complete block design, so a drifting machine slows all alike."""
    return [
        (repeat, entry)
        for repeat in range(1, repeats + 1)
        for entry in sorted(
            entries, key=lambda entry: (derived(seed, f"order:{repeat}:{entry[0]}:{entry[1]}"), entry)
        )
    ]


@dataclass(frozen=True)
class JudgedBy:
    seed_key: str
    workloads: list[Workload]


def judged_by(session: Session, held: Claim) -> JudgedBy | None:
    if held.competition is None:
        return None
    row = session.get_one(CompetitionRow, held.competition)
    if not held.final:
        return JudgedBy(provisional_key(row.public_seed, held.challenge), [])
    repeat = session.scalar(select(FinalRunRow.repeat).where(FinalRunRow.submission_id == held.id))
    chosen = session.get(CompetitionChallengeRow, (row.id, held.challenge))
    key = final_key(row.hidden_seed, held.challenge, repeat or 0)
    return JudgedBy(key, workloads(chosen, held.device) if chosen else [])


def workloads(row: CompetitionChallengeRow, device: str) -> list[Workload]:
    found = [HiddenWorkload.model_validate(workload) for workload in row.hidden_workloads]
    return [
        Workload(name=workload_name(workload.sizes), sizes=workload.sizes, on=kind_of(device).workloads)
        for workload in found
    ]


_NAME_CHARS = 40


def workload_name(sizes: Sizes) -> str:
    """From the sizes, so a frozen baseline always belongs to them."""
    name = HiddenWorkload(sizes=sizes).name
    return name if len(name) <= _NAME_CHARS else f"sizes {hashlib.sha256(name.encode()).hexdigest()[:16]}"
