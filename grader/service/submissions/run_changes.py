from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased, defer

from grader.errors import NotFound
from grader.records.models import ReportRow, SubmissionRow
from grader.schemas.own_case import OutputChange, OutputRecord, OwnRun, RunChanges
from grader.schemas.report import Report
from grader.schemas.submission import JudgingReason, State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import submissions


def run_changes(platform: Platform, user: User, run: str) -> RunChanges:
    """Raises NotFound, also without an earlier run."""
    with platform.sessions() as session:
        row = submissions.find(session, user, run)
        earlier = _earlier(session, row) if row.own_case is not None else None
        if earlier is None:
            raise NotFound(
                f"There is no earlier run to compare {row.public_id} with.",
                "It needs the same case, sizes, inputs, language and device.",
            )
        now, then = (_report(session, each) for each in (row, earlier))
        if now is None or then is None or now.own is None or then.own is None:
            raise NotFound(
                f"The report of {row.public_id} or {earlier.public_id} is not kept.", "Run it again."
            )
        return changes(earlier.public_id, then, now, row.source_sha256 != earlier.source_sha256)


def _earlier(session: Session, row: SubmissionRow) -> SubmissionRow | None:
    """The last one before ``row`` that was judged."""
    other = aliased(SubmissionRow)
    return session.scalar(
        select(other)
        .options(defer(other.source))
        .where(other.user_id == row.user_id, other.id < row.id, other.kind == JudgingReason.RUN)
        .where(other.challenge == row.challenge, other.language == row.language, other.device == row.device)
        .where(other.state == State.DONE, other.own_case == row.own_case)
        .order_by(other.id.desc())
        .limit(1)
    )


def _report(session: Session, row: SubmissionRow) -> Report | None:
    body = session.scalar(
        select(ReportRow.body).where(ReportRow.submission_id == row.id, ReportRow.attempt == row.attempt)
    )
    return Report.model_validate_json(body) if body is not None else None


def changes(run: str, then: Report, now: Report, source_changed: bool) -> RunChanges:
    """``run``: the earlier one's id. Both reports have ``own``."""
    assert then.own is not None
    assert now.own is not None
    same_inputs = then.own.inputs_sha256 == now.own.inputs_sha256 != ""
    outputs = _outputs(then.own, now.own) if same_inputs else []
    return RunChanges(
        run=run,
        verdict_then=then.verdict.value,
        verdict_now=now.verdict.value,
        source_changed=source_changed,
        same_inputs=same_inputs,
        outputs=outputs,
        sentence=_sentence(then, now, outputs, same_inputs, source_changed),
    )


def _outputs(then: OwnRun, now: OwnRun) -> list[OutputChange]:
    old = {record.argument: record for record in then.outputs}
    return [_change(old[record.argument], record) for record in now.outputs if record.argument in old]


def _change(then: OutputRecord, now: OutputRecord) -> OutputChange:
    if then.sha256 == now.sha256:
        return OutputChange(argument=now.argument, same=True)
    kept = min(len(then.head), len(now.head))
    places = [place for place in range(kept) if then.head[place] != now.head[place]]
    if places:
        index = ", ".join(map(str, _index(places[0], now.shape)))
        return OutputChange(
            argument=now.argument,
            same=False,
            where=f"{now.argument}[{index}]",
            then=then.head[places[0]],
            now=now.head[places[0]],
            changed=len(places),
            of=kept,
        )
    part = next(
        (place for place, (a, b) in enumerate(zip(then.parts, now.parts, strict=False)) if a != b), None
    )
    where = ""
    if part is not None and then.part_elements == now.part_elements:
        first = part * now.part_elements
        where = f"elements {first:,} to {first + now.part_elements - 1:,}"
    return OutputChange(argument=now.argument, same=False, where=where, of=kept)


def _index(place: int, shape: list[int]) -> list[int]:
    index: list[int] = []
    for length in reversed(shape):
        place, within = divmod(place, length)
        index.insert(0, within)
    return index


def _sentence(
    then: Report, now: Report, outputs: list[OutputChange], same_inputs: bool, source_changed: bool
) -> str:
    verdicts = (
        f"The verdict is {now.verdict.row.title.lower()} again"
        if then.verdict is now.verdict
        else f"The verdict was {then.verdict.row.title.lower()} and is {now.verdict.row.title.lower()} now"
    )
    source = "" if source_changed else " The source is the same."
    if not same_inputs:
        both = (
            then.own is not None and now.own is not None and then.own.inputs_sha256 and now.own.inputs_sha256
        )
        why = "the challenge draws other inputs now" if both else "one of the two runs has none"
        return f"{verdicts}; results are not compared because {why}.{source}"
    changed = [change.argument for change in outputs if not change.same]
    if changed:
        return f"{verdicts}; {' and '.join(changed)} changed.{source}"
    return f"{verdicts}; no result changed.{source}" if outputs else f"{verdicts}.{source}"
