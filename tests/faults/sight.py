"""A look at the submissions from beside the platform: what state they are in, and in whose hands."""

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
    """All that have not ended; None where the database does not answer."""
    row = SubmissionRow
    try:
        with engine.connect() as connection:
            found = connection.execute(
                select(row.id, row.state, row.worker, row.device, row.attempt).where(
                    row.state.in_(UNFINISHED)
                )
            )
            return [Seen(it.id, State(it.state), it.worker, it.device, it.attempt) for it in found]
    except SQLAlchemyError:
        return None


def wait_for(
    engine: Engine, state: State, device: str | None, draw: random.Random, seconds: float
) -> Seen | None:
    """One in that state, of that board where one is named, or else of any; None where there was none in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = [it for it in look(engine) or [] if it.state is state]
        chosen = [it for it in found if it.device == device] or (found if device is None else [])
        if chosen:
            return draw.choice(chosen)
        time.sleep(_READING_SECONDS)
    return None
