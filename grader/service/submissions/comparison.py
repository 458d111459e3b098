"""Two kernels for the same challenge, version and device. ``opened`` decides who may see which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, defer

from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid, Conflict, NotFound, UnknownChallenge
from grader.formats import duration
from grader.languages import Language
from grader.records.models import ReportRow, SubmissionRow, UserRow
from grader.records.ranks import Board, Place
from grader.schemas.account import STAFF_ROLES
from grader.schemas.comparison import ComparedKernel, ComparedWorkload, KernelChoice, KernelComparison, Whose
from grader.schemas.report import Report, Verdict, WorkloadReport
from grader.schemas.side_by_side import comparable, side_by_side
from grader.schemas.submission import JudgingReason
from grader.service.accounts.accounts import User
from grader.service.boards import board_access
from grader.service.boards.pseudonyms import Names, names_for
from grader.service.boards.readers import may_read
from grader.service.platform import Platform
from grader.service.submissions import opened
from grader.service.submissions.submissions import find, readable

# Listed entries, and shared ones that are examined.
_MOST, _MOST_ASKED = 20, 200
# In addresses; a language follows.
_STAFF = "staff-"


@dataclass(frozen=True)
class _Kernel:
    """``workloads``: empty if never judged."""

    shown: ComparedKernel
    workloads: Sequence[WorkloadReport]


def compare(platform: Platform, user: User, submission: str, against: str = "") -> KernelComparison:
    """``against``: a choice's key, by default the first. Raises NotFound, Conflict (no solution)."""
    with platform.sessions() as session:
        row = _solution(session, user, submission)
        challenge = _challenge(platform, row.challenge)
        found = _Choices(platform, session, user, row, challenge)
        choices = found.all()
        chosen = against or next((choice.key for choice in choices), "")
        if chosen and chosen not in {choice.key for choice in choices}:
            raise NotFound(
                f"There is no kernel '{chosen[:40]}' to compare {row.public_id} with.",
                f"`grader compare {row.public_id}` and its page list what is open to you.",
            )
        mine = _kernel(session, row, "your kernel" if row.user_id == user.id else f"{row.user.name}'s kernel")
        other = found.kernel(chosen) if chosen else None
        commentary = challenge.commentary if challenge is not None and chosen.startswith(_STAFF) else None
        return KernelComparison(
            mine=mine.shown,
            other=other.shown if other is not None else None,
            choices=choices,
            workloads=_workloads_of_both(mine, other) if other is not None else [],
            commentary=commentary or "",
            closed=found.closed,
        )


def solution_is_open(platform: Platform, user: User, submission: str) -> bool:
    """True if this submission, which ``user`` may see, opens it."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        return _Choices(platform, session, user, row, _challenge(platform, row.challenge)).solution_open


def _solution(session: Session, user: User, submission: str) -> SubmissionRow:
    row = find(session, user, submission)
    if row.verdict is not Verdict.ACCEPTED or row.kind in (JudgingReason.RUN, JudgingReason.FINAL):
        raise Conflict(
            f"{row.public_id} is not an accepted submission.",
            "Other kernels open once you solved the challenge.",
        )
    if not row.source:
        raise NotFound(f"The source of {row.public_id} was deleted.")
    return row


def _challenge(platform: Platform, slug: str) -> Challenge | None:
    """None if its folder is broken."""
    try:
        challenge = platform.catalogue.load(slug)
        _ = challenge.solutions, challenge.commentary  # raises if a file is unreadable
        return challenge
    except (ChallengeInvalid, UnknownChallenge):
        return None


class _Choices:
    """What ``user`` may compare with ``row``."""

    def __init__(
        self,
        platform: Platform,
        session: Session,
        user: User,
        row: SubmissionRow,
        challenge: Challenge | None,
    ) -> None:
        self._platform, self._session, self._user = platform, session, user
        self._row, self._challenge = row, challenge
        # A teacher gets nothing by submissions of others.
        self._solved = row.user_id == user.id and opened.solves(session, row)
        self._names: Names | None = None

    def all(self) -> list[KernelChoice]:
        return [*self._of_staff(), *self._own(), *self._of_others()]

    @property
    def solution_open(self) -> bool:
        challenge = self._challenge
        if challenge is None or not challenge.solutions:
            return False
        if self._user.staff:
            return True
        return self._solved and opened.solution_opens(self._session, self._user, challenge)

    @property
    def closed(self) -> str:
        if self._user.staff or self._row.user_id != self._user.id:
            return ""
        if not self._solved:
            return opened.UNSOLVED
        return opened.CLOSED if opened.is_closed(self._session, self._user, self._row.challenge) else ""

    def kernel(self, key: str) -> _Kernel:
        if key.startswith(_STAFF):
            return self._staffs(Language.named(key.removeprefix(_STAFF)))
        row = self._session.scalars(select(SubmissionRow).where(SubmissionRow.public_id == key)).one()
        if row.user_id == self._user.id:
            return _kernel(self._session, row, f"your kernel {key}")
        if row.user_id == self._row.user_id:
            return _kernel(self._session, row, f"{row.user.name}'s kernel {key}")
        return _kernel(self._session, row, f"the kernel of {self._name(row.user_id)}")

    # ---- staff's ----

    def _of_staff(self) -> list[KernelChoice]:
        if self._challenge is None or not self.solution_open:
            return []
        mine = self._row.language
        languages = sorted(self._challenge.solutions, key=lambda language: language is not mine)
        return [
            KernelChoice(
                key=f"{_STAFF}{language.value}",
                whose=Whose.STAFF,
                label=f"Staff's solution in {language.display_name}",
            )
            for language in languages
        ]

    def _staffs(self, language: Language) -> _Kernel:
        """With times of staff's submission of the same source."""
        assert self._challenge is not None
        source = self._challenge.solutions[language]
        judged = [
            row
            for row in self._session.scalars(
                self._alike()
                .join(UserRow, UserRow.id == SubmissionRow.user_id)
                .where(UserRow.role.in_([role.value for role in STAFF_ROLES]))
                .where(SubmissionRow.language == language)
                .order_by(SubmissionRow.id.desc())
                .limit(_MOST)
            )
            if row.source.strip() == source.strip()
        ]
        shown = ComparedKernel(
            key=f"{_STAFF}{language.value}",
            name="staff's solution",
            language=language,
            filename=f"solution{language.suffix}",
            source=source,
        )
        return _Kernel(shown, _workloads(self._session, judged[0]) if judged else [])

    # ---- the author's own ----

    def _own(self) -> list[KernelChoice]:
        rows = self._session.scalars(
            self._alike()
            .where(SubmissionRow.user_id == self._row.user_id, SubmissionRow.id != self._row.id)
            .order_by(SubmissionRow.id.desc())
            .limit(_MOST)
            .options(defer(SubmissionRow.source))
        ).all()
        seen = readable(self._session, self._user, [row.public_id for row in rows])
        return [
            KernelChoice(
                key=row.public_id,
                whose=Whose.OWN,
                label=f"{row.created_at:%Y-%m-%d %H:%M} UTC{_time_text(row.time_us)}",
            )
            for row in rows
            if row.public_id in seen
        ]

    def _alike(self) -> Select[SubmissionRow]:
        """For the same challenge, version and device."""
        table, row = SubmissionRow, self._row
        return select(table).where(
            table.challenge == row.challenge,
            table.version == row.version,
            table.device == row.device,
            table.verdict == Verdict.ACCEPTED,
            table.kind.not_in([JudgingReason.RUN, JudgingReason.FINAL]),
            table.set_aside.is_(None),
            table.source != "",
        )

    # ---- others' ----

    def _of_others(self) -> list[KernelChoice]:
        """Shared entries that the viewer sees; for staff, the first of all."""
        ranks = {place.submission: place.rank for place in self._places()[:_MOST_ASKED]}
        wanted = self._alike().where(SubmissionRow.id.in_(ranks)).options(defer(SubmissionRow.source))
        found = {row.id: row for row in self._session.scalars(wanted)}
        rows: Iterable[SubmissionRow] = [found[key] for key in ranks if key in found]
        if not self._user.staff:
            rows = opened.open_kernels(self._platform, self._session, self._user, self._row.challenge, rows)
        return [
            KernelChoice(
                key=row.public_id,
                whose=Whose.OTHERS,
                label=f"Rank {ranks[row.id]}: {self._name(row.user_id)}{_time_text(row.time_us)}",
            )
            for row in islice(rows, _MOST)
        ]

    def _places(self) -> list[Place]:
        if not (self._solved or self._user.staff) or not may_read(self._platform, self._user):
            return []
        access = board_access.accesses(self._session, self._user).of(self._row.challenge)
        if not access.full:
            return []
        board = Board(self._row.challenge, self._row.version, self._row.device, None, access.until)
        ranking = self._platform.rankings.of(self._session, board)
        others = [place for place in ranking.places if place.user not in (self._row.user_id, self._user.id)]
        found = others if self._user.staff else opened.sharing(self._session, others)
        users = [place.user for place in found[:_MOST_ASKED]]
        self._names = names_for(
            self._platform, self._session, self._user, self._row.challenge, users, access.made_up
        )
        return found

    def _name(self, user: int) -> str:
        assert self._names is not None
        return self._names.of(user)[0]


def _kernel(session: Session, row: SubmissionRow, name: str) -> _Kernel:
    shown = ComparedKernel(
        key=row.public_id, name=name, language=row.language, filename=row.filename, source=row.source
    )
    return _Kernel(shown, _workloads(session, row))


def _workloads(session: Session, row: SubmissionRow) -> list[WorkloadReport]:
    """Only times and counters leave the report."""
    body = session.scalar(
        select(ReportRow.body).where(ReportRow.submission_id == row.id, ReportRow.attempt == row.attempt)
    )
    return list(Report.model_validate_json(body).workloads) if body is not None else []


def _workloads_of_both(mine: _Kernel, other: _Kernel) -> list[ComparedWorkload]:
    twins = {workload.name: workload for workload in other.workloads}
    return [
        _compared(workload, twins[workload.name], (mine.shown.name, other.shown.name))
        for workload in mine.workloads
        if workload.name in twins and twins[workload.name].sizes == workload.sizes
    ]


def _compared(one: WorkloadReport, other: WorkloadReport, names: tuple[str, str]) -> ComparedWorkload:
    why = comparable(one.profile, other.profile)
    found = None
    if one.profile is not None and other.profile is not None and not why:
        found = side_by_side((one.profile, other.profile), names)
    return ComparedWorkload(
        name=one.name,
        sizes=one.sizes,
        times_us=(one.time_us, other.time_us),
        ci_us=(one.ci_us, other.ci_us),
        counted=found,
        why=why,
    )


def _time_text(time_us: float | None) -> str:
    return "" if time_us is None else f", {duration(time_us)}"
