"""Reads the submissions from outside the platform: their states and workers."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from grader.records.models import SubmissionRow
from grader.records.states import UNFINISHED
from grader.schemas.submission import State

_READING_SECONDS = 0.02


@dataclass(frozen=True)
class Seen:
    id: int
    state: State
    worker: str | None
    device: str
    attempt: int


def look(engine: Engine) -> list[Seen] | None:
    """All unfinished submissions; None if the database does not answer."""
    row = SubmissionRow
    try:
        with engine.connect() as connection:
            found = connection.execute(
                select(row.id, row.state, row.worker, row.device, row.attempt).where(
                    row.state.in_(UNFINISHED)
                )
            )
            return [Seen(one.id, State(one.state), one.worker, one.device, one.attempt) for one in found]
    except SQLAlchemyError:
        return None


def wait_for(
    engine: Engine, state: State, device: str | None, draw: random.Random, seconds: float
) -> Seen | None:
    """A submission in that state, on that board if one is named; None if there was none in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = [seen for seen in look(engine) or [] if seen.state is state]
        chosen = [seen for seen in found if seen.device == device] or (found if device is None else [])
        if chosen:
            return draw.choice(chosen)
        time.sleep(_READING_SECONDS)
    return None
