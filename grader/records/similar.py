"""Which submissions resemble another one, as far as anybody looked."""

from __future__ import annotations

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from grader.records.models import SimilarPairRow
from grader.schemas.similarity import Decision


def is_marked(session: Session, submission: str, staff: bool) -> bool:
    """Whether a submission's report bears the flag: for staff (``staff``) unless the pair was dismissed, for its author
    once it was confirmed."""
    pair = SimilarPairRow
    wanted = pair.decision != Decision.DISMISSED if staff else pair.decision == Decision.CONFIRMED
    query = select(pair.id).where(or_(pair.submission == submission, pair.other == submission), wanted)
    return session.scalar(query.limit(1)) is not None
