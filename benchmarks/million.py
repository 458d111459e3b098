"""A database as a few large courses leave it: made from a seed, for ``records.py`` and ``load.py`` to measure with.

Two thousand users of very different diligence, two hundred challenges of very different popularity in up to three
versions, three devices, two languages, every verdict, some cancelled, some failed, some judged again, three hundred
waiting for ``cpu``. What happened spreads over ten months, more of it lately, as before a deadline.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, islice
from typing import Any

from sqlalchemy import Connection, Engine, Index, insert, text

from grader.records.models import (
    PUBLIC_ID_CHARS,
    Base,
    ReportRow,
    TokenRow,
    UserRow,
    VersionRow,
    WorkerRow,
    utcnow,
)

USERS = 2_000
CHALLENGES = 200
WAITING = 300
SEED = 20_240_907
DEVICES = ("cpu", "h200", "t4")
_DEVICE_SHARES = (25, 50, 25)
_VERDICTS = ("accepted", "wrong_answer", "compile_error", "runtime_error", "time_limit", "memory_limit")
_VERDICT_SHARES = (45, 25, 16, 8, 5, 1)
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_DAYS = 300
# One submission in this number was cancelled, failed by our fault, or judges an earlier one again.
_CANCELLED, _FAILED, _AGAIN = 50, 400, 60
# Reports are only ever read one at a time, by their key: some are enough.
_WITH_REPORT = 100
_BATCH = 20_000


@dataclass(frozen=True)
class Crowd:
    """Names and tokens of users (the most diligent first), challenges (the most popular first)."""

    users: list[str]
    tokens: list[str]
    challenges: list[str]
    served: list[str]
    """those that the catalogue has"""
    waiting: list[str]


def crowd_of(slugs: Sequence[str], submissions: int) -> Crowd:
    """``slugs``: challenges of the catalogue, which are the most popular ones."""
    return Crowd(
        users=[f"student{number}" for number in range(USERS)],
        tokens=[token(number) for number in range(USERS)],
        challenges=[*slugs, *(f"former_{n}" for n in range(CHALLENGES - len(slugs)))],
        served=list(slugs),
        waiting=[_public_id(submissions - WAITING + number) for number in range(WAITING)],
    )


def token(number: int) -> str:
    """The API token of user ``number``."""
    return f"grd_benchmark-{number}"


def fill(engine: Engine, submissions: int, crowd: Crowd) -> None:
    """Fill an empty database."""
    now = utcnow()
    # Made at the end, at once: a fifth of the time.
    indexes = [index for index in Base.metadata.tables["submissions"].indexes if not index.unique]
    rows = _submissions(submissions, crowd.challenges, now)
    with engine.begin() as connection:
        _people(connection, crowd, now)
        _versions(connection, crowd.challenges, now)
        _workers(connection, now)
        for index in indexes:
            index.drop(connection)
        while batch := list(islice(rows, _BATCH)):
            _store(connection, batch)
        _finish(connection, indexes)


def _people(connection: Connection, crowd: Crowd, now: datetime) -> None:
    ends = now + timedelta(days=30)
    people = [
        {"id": n + 1, "name": user, "name_key": user, "password_hash": "-", "role": "student"}
        for n, user in enumerate(crowd.users)
    ]
    people[-1]["role"] = "staff"
    connection.execute(insert(UserRow), people)
    digests = [hashlib.sha256(token(n).encode()).hexdigest() for n in range(USERS)]
    connection.execute(
        insert(TokenRow),
        [
            {"user_id": n + 1, "sha256": digest, "label": "cli", "expires_at": ends, "last_used_at": now}
            for n, digest in enumerate(digests)
        ],
    )


def _versions(connection: Connection, challenges: Sequence[str], now: datetime) -> None:
    """Those of the catalogue are noted by the platform itself, when it serves them."""
    rows = [
        {
            "challenge": slug,
            "version": version,
            "fingerprint": "-",
            "content": "{}",
            "published_at": now - timedelta(days=_DAYS - 90 * version),
        }
        for place, slug in enumerate(challenges)
        if slug.startswith("former_")
        for version in range(1, 2 + place % 3)
    ]
    if rows:
        connection.execute(insert(VersionRow), rows)


def _workers(connection: Connection, now: datetime) -> None:
    ever = now + timedelta(days=30)
    connection.execute(
        insert(WorkerRow),
        [
            {
                "name": f"{device}-{n}",
                "device": device,
                "languages": "triton",
                "host": "-",
                "pid": 1,
                "heartbeat": ever,
            }
            for device in DEVICES
            for n in range(2)
        ],
    )


def _submissions(count: int, challenges: Sequence[str], now: datetime) -> Iterator[dict[str, Any]]:
    chance = random.Random(SEED)
    sources = [_source(chance) for _ in range(500)]
    by_diligence = list(accumulate(1 / (n + 30) for n in range(USERS)))
    by_popularity = list(accumulate(1 / (n + 4) for n in range(len(challenges))))
    users, slugs = range(1, USERS + 1), range(len(challenges))
    for number in range(count):
        age = timedelta(days=_DAYS) * (1 - number / count) ** 1.5 + timedelta(minutes=1)
        place = chance.choices(slugs, cum_weights=by_popularity)[0]
        user = chance.choices(users, cum_weights=by_diligence)[0]
        device = chance.choices(DEVICES, _DEVICE_SHARES)[0]
        row = _row(number, user, now - age, device, chance)
        # Those of the catalogue have the version that their folder says, so that their boards are the fullest.
        row["version"] = 1 + chance.randrange(1 + place % 3) if challenges[place].startswith("former_") else 1
        row["challenge"] = challenges[place]
        row["source"] = chance.choice(sources)
        if number >= count - WAITING:
            row |= _WAITS
        elif number % _CANCELLED == 0:
            row |= {**_UNJUDGED, "state": "cancelled", "verdict": None}
        elif number % _FAILED == 1:
            row |= {**_UNJUDGED, "state": "failed", "verdict": "internal_error"}
        elif number % _AGAIN == 2 and number > _AGAIN:
            row["rejudge_of"] = number - 1
        yield row


_UNJUDGED: dict[str, Any] = dict.fromkeys(("time_us", "ci_lo_us", "ci_hi_us", "speedup", "passed", "total"))


_WAITS: dict[str, Any] = {
    **_UNJUDGED,
    **dict.fromkeys(("claimed_at", "started_at", "finished_at", "verdict")),
    **{"state": "queued", "device": "cpu", "attempt": 0, "language": "triton"},
}


def _row(number: int, user: int, created: datetime, device: str, chance: random.Random) -> dict[str, Any]:
    verdict = chance.choices(_VERDICTS, _VERDICT_SHARES)[0]
    accepted = verdict == "accepted"
    time_us = round(chance.lognormvariate(6.0, 0.6), 3) if accepted else None
    width = (time_us or 0.0) * chance.uniform(0.001, 0.02)
    language = "triton" if device == "cpu" or chance.random() < 0.5 else "cuda"
    claimed = created + timedelta(seconds=chance.uniform(0.1, 40.0))
    return {
        "id": number + 1,
        "public_id": _public_id(number),
        "user_id": user,
        "language": language,
        "device": device,
        "filename": "a.py" if language == "triton" else "a.cu",
        "priority": 0,
        "rejudge_of": None,
        "state": "done",
        "attempt": 1,
        "failures": 0,
        "progress": "{}",
        "cancel_requested": False,
        "created_at": created,
        "claimed_at": claimed,
        "started_at": claimed,
        "finished_at": claimed + timedelta(seconds=chance.uniform(1.0, 6.0)),
        "verdict": verdict,
        "error": "",
        "time_us": time_us,
        "ci_lo_us": time_us - width if time_us is not None else None,
        "ci_hi_us": time_us + width if time_us is not None else None,
        "speedup": round(400.0 / time_us, 4) if time_us is not None else None,
        "passed": 24 if accepted else 11,
        "total": 24,
    }


def _source(chance: random.Random) -> str:
    """As long as students' sources are: half a page to two pages, and hardly compressible."""
    lines = chance.randrange(10, 60)
    return "\n".join(f"    x{n} = tl.load(p + {chance.getrandbits(40):x})" for n in range(lines))


def _public_id(number: int) -> str:
    value = int.from_bytes(hashlib.sha256(number.to_bytes(8, "big")).digest()[:8], "big")
    return "".join(_LETTERS[value >> 5 * n & 31] for n in range(PUBLIC_ID_CHARS))


def _store(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    columns = list(rows[0])
    cursor = connection.connection.cursor()
    if connection.dialect.name == "postgresql":
        with cursor.copy(f"COPY submissions ({', '.join(columns)}) FROM STDIN") as copy:  # type: ignore[attr-defined]
            for row in rows:
                copy.write_row([row[name] for name in columns])
    else:
        marks = ", ".join("?" * len(columns))
        values = [[_plain(row[name]) for name in columns] for row in rows]
        cursor.executemany(f"INSERT INTO submissions ({', '.join(columns)}) VALUES ({marks})", values)
    reports = [
        {"submission_id": row["id"], "attempt": 1, "body": "{}"}
        for row in rows
        if row["state"] == "done" and row["id"] % _WITH_REPORT == 0
    ]
    if reports:
        connection.execute(insert(ReportRow), reports)


def _plain(value: Any) -> Any:
    """As SQLAlchemy stores it in SQLite."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "microseconds")
    return value


def _finish(connection: Connection, indexes: Sequence[Index]) -> None:
    for index in indexes:
        index.create(connection)
    if connection.dialect.name == "postgresql":
        most = connection.execute(text("SELECT max(id) FROM submissions")).scalar_one()
        connection.execute(
            text("SELECT setval(pg_get_serial_sequence('submissions', 'id'), :most)"), {"most": most}
        )
