from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import __version__, certificate
from grader.device_kinds import resolution_of
from grader.errors import Conflict, NotFound
from grader.records import competition_draws, versions
from grader.records import competitions as record
from grader.records.models import FinalRow, ReportRow, SubmissionRow, TeamRow
from grader.schemas.certificate import SigningKey
from grader.schemas.competition import BoardKind
from grader.service.accounts.accounts import User
from grader.service.boards.pseudonyms import names_for
from grader.service.competitions import competition_boards
from grader.service.competitions.final_results import Runs, by_entry, why_failed
from grader.service.competitions.open_competition import OpenCompetition, reading
from grader.service.competitions.standings import Standing
from grader.service.competitions.teams import team_named
from grader.service.platform import Platform

# Made on first use, readable only by its owner.
_KEY = "signing_key"


def signing_key(platform: Platform) -> SigningKey:
    key = certificate.public_key(platform.settings.secret(_KEY))
    return SigningKey(
        algorithm="Ed25519",
        key=certificate.text_of(key),
        id=certificate.key_id(key),
        pem=certificate.pem(key),
    )


def get_certificate(platform: Platform, viewer: User | None, slug: str, team: str) -> dict[str, Any]:
    """The same each time. Raises NotFound, Conflict (no published final), and as ``open_competition.reading``."""
    with reading(platform, viewer, slug) as found:
        if found.row.results_at is None:
            raise Conflict("The results are not published yet.", "Certificates become available with them.")
        known = team_named(found.session, found.row, team)
        final = record.final(found.session, found.row.id)
        if final is None:
            raise Conflict(f"{found.row.title} had no final; certificates are only for results of a final.")
        ranked = competition_boards.of_kind(platform, found, final.device, BoardKind.FINAL)
        runs = record.final_runs(found.session, final.id)
        entries = {key: judgements for key, judgements in by_entry(runs).items() if key[0] == known.id}
        standing = next((standing for standing in ranked.standings if standing.team == known.id), None)
        if standing is None or not entries:
            raise NotFound(f"{known.name} was not a finalist of {found.row.title}.")
        said = _said(platform, found, known, final, standing, entries)
    return certificate.sign(said, platform.settings.secret(_KEY))


def _said(
    platform: Platform,
    found: OpenCompetition,
    team: TeamRow,
    final: FinalRow,
    standing: Standing,
    entries: Mapping[tuple[int, str], Runs],
) -> dict[str, Any]:
    row, session = found.row, found.session
    members = [member.user for member in record.members(session, [team.id])[team.id]]
    names = names_for(platform, session, found.user, f"competition:{row.slug}", members)
    finalists = {run.team_id for run, _ in record.final_runs(session, final.id)}
    return {
        "format": certificate.FORMAT,
        "platform": {"url": platform.settings.url or "", "grader": __version__},
        "competition": {
            "slug": row.slug,
            "title": row.title,
            "starts_at": _time(row.starts_at),
            "ends_at": _time(row.ends_at),
            "results_at": _time(row.results_at),
            "scoring": row.scoring.value,
        },
        "team": {"name": team.name, "members": [names.of(member)[0] for member in members]},
        "result": {
            "rank": standing.rank,
            "finalists": len(finalists),
            "score": standing.score,
            "resolution": resolution_of(final.device),
        },
        "final": {
            "device": final.device,
            "machine": final.machine,
            "repeats": final.repeats,
            "seed": row.hidden_seed,
            "started_at": _time(final.started_at),
        },
        "challenges": [
            _challenge(session, row.hidden_seed, standing, *pair) for pair in sorted(entries.items())
        ],
    }


def _challenge(
    session: Session, seed: str, standing: Standing, key: tuple[int, str], runs: Runs
) -> dict[str, Any]:
    first = runs[0][1]
    source = session.get_one(SubmissionRow, first.rejudge_of)
    # Sources of deleted accounts leave their hash.
    digest = hashlib.sha256(source.source.encode()).hexdigest() if source.source else source.source_sha256
    if digest is None:
        raise NotFound("The account's owner had everything deleted, so there is nothing to certify.")
    version = versions.find(session, first.challenge, first.version)
    best = standing.best.get(key[1])
    return {
        "challenge": first.challenge,
        "version": first.version,
        "fingerprint": version.fingerprint if version is not None else "",
        "language": first.language.value,
        "submission": source.public_id,
        "received_at": _time(source.created_at),
        "source_sha256": digest,
        "time_us": best.time_us if best is not None else None,
        "speedup": best.speedup if best is not None else None,
        "points": best.points if best is not None else None,
        "failed": why_failed(runs),
        "repeats": [
            _repeat(
                session,
                competition_draws.final_key(seed, first.challenge, run.repeat),
                run.repeat,
                run.place,
                row,
            )
            for run, row in runs
        ],
    }


def _repeat(session: Session, seed_key: str, repeat: int, place: int, row: SubmissionRow) -> dict[str, Any]:
    report = _report(session, row)
    return {
        "repeat": repeat,
        "place": place,
        "submission": row.public_id,
        "judged_at": _time(row.finished_at),
        "verdict": row.verdict.value if row.verdict is not None else "",
        "time_us": row.time_us,
        "ci_us": [row.ci_lo_us, row.ci_hi_us],
        "seed_key": seed_key,
        "environment": report.get("environment", {}),
        "workloads": [_workload(workload) for workload in report.get("workloads", [])],
    }


_OF_WORKLOAD = ("name", "sizes", "ranked", "time_us", "ci_us", "rounds", "baselines_us")


def _workload(workload: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: workload.get(name) for name in _OF_WORKLOAD}
    # Clocks, power and temperature; None on a host.
    return {**kept, "gpu": workload.get("gpu")}


def _report(session: Session, row: SubmissionRow) -> dict[str, Any]:
    body = session.scalar(
        select(ReportRow.body).where(ReportRow.submission_id == row.id, ReportRow.attempt == row.attempt)
    )
    found: dict[str, Any] = json.loads(body) if body else {}
    return found


def _time(at: Any) -> str:
    return at.isoformat(timespec="microseconds") if at is not None else ""


def file_name(slug: str, names: Sequence[str]) -> str:
    plain = "-".join("".join(char if char.isalnum() else "-" for char in name) for name in names)
    return f"{slug}-{plain}.certificate.json"
