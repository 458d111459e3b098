from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest
from grader.records import taught
from grader.records.models import CourseInvitationRow, MemberRow, UserRow, utcnow
from grader.roster_file import ACCOUNT, EMAIL, FULL_NAME, GROUP, NUMBER, SECTION, RosterFile, RosterLine
from grader.schemas.course import (
    CourseRole,
    RosterChange,
    RosterKind,
    RosterProblem,
    RosterResult,
)
from grader.service.accounts import addresses
from grader.service.courses import courses
from grader.service.courses.courses import OpenCourse

# Columns -> attributes of members and invitations.
ATTRIBUTES = {FULL_NAME: "full_name", NUMBER: "student_number", SECTION: "section", GROUP: "group_name"}


@dataclass
class _Known:
    members: dict[int, MemberRow]
    names: dict[int, str]
    invitations: dict[str, CourseInvitationRow]
    by_email: dict[str, int]
    by_account: dict[str, int]

    @classmethod
    def read(cls, session: Session, course: int, lines: Sequence[RosterLine]) -> _Known:
        members = session.execute(
            select(MemberRow, UserRow.name)
            .join(UserRow, UserRow.id == MemberRow.user_id)
            .where(MemberRow.course_id == course)
        ).all()
        invitations = session.scalars(
            select(CourseInvitationRow).where(CourseInvitationRow.course_id == course)
        ).all()
        emails = {line[EMAIL].lower() for line in lines} - {""}
        accounts = {line[ACCOUNT].lower() for line in lines} - {""}
        came = {row.user_id for row in invitations if row.user_id is not None}
        users = session.execute(
            select(UserRow.id, UserRow.name, UserRow.name_key, UserRow.email_key).where(
                UserRow.email_key.in_(emails) | UserRow.name_key.in_(accounts) | UserRow.id.in_(came),
                UserRow.deleted_at.is_(None),
            )
        ).all()
        return cls(
            members={row.user_id: row for row, _ in members},
            names={row.user_id: name for row, name in members} | {user.id: user.name for user in users},
            invitations={row.person: row for row in invitations},
            by_email={user.email_key: user.id for user in users if user.email_key},
            by_account={user.name_key: user.id for user in users},
        )


@dataclass
class RosterPlan:
    course: OpenCourse
    file: RosterFile
    drop_missing: bool
    let_back_in: bool
    changes: list[RosterChange] = field(default_factory=list)
    problems: list[RosterProblem] = field(default_factory=list)
    unchanged: int = 0
    # By name: let back in (True) or removed.
    moved: dict[str, bool] = field(default_factory=dict)
    _new: list[MemberRow | CourseInvitationRow] = field(default_factory=list)
    _gone: list[CourseInvitationRow] = field(default_factory=list)
    _values: list[tuple[MemberRow | CourseInvitationRow, dict[str, object]]] = field(default_factory=list)
    _added: list[int] = field(default_factory=list)

    def make(self) -> None:
        """Changes nothing in the database."""
        self.problems = [
            RosterProblem(line=problem.line, column=problem.column, text=problem.text)
            for problem in self.file.problems
        ]
        lines = [line for line in (self._tidied(line) for line in self.file.lines) if line is not None]
        self.known = _Known.read(self.course.session, self.course.row.id, lines)
        self._find_by_number(lines)
        self.seen: dict[object, int] = {}
        self.invited: set[str] = set()
        for line in lines:
            self._consider(line)
        # An unreadable row may be anyone's, so nobody is removed.
        if self.drop_missing and not self.problems:
            self._consider_missing()
        self.problems.sort(key=lambda item: item.line)

    def _find_by_number(self, lines: Sequence[RosterLine]) -> None:
        """For people not named otherwise. Numbers get corrected: one person may have another's old number."""
        users: set[int | None] = set()
        invited: set[int | None] = set()
        for line in lines:
            user, row = self._identified(line)
            users.add(user)
            invited.add(row.id if row is not None else None)
        self.by_number: dict[str, int] = {}
        self.invited_by_number: dict[str, CourseInvitationRow] = {}
        for number, member in sorted(self.known.members.items()):
            if member.student_number and number not in users:
                self.by_number.setdefault(member.student_number, number)
        for row in sorted(self.known.invitations.values(), key=lambda item: item.id):
            if row.user_id is None:
                if row.student_number and row.id not in invited:
                    self.invited_by_number.setdefault(row.student_number, row)
            elif row.person.startswith("#") and row.user_id not in users:
                present = self.known.members.get(row.user_id)
                if present is None or not present.student_number:
                    self.by_number.setdefault(row.person[1:], row.user_id)

    def _identified(self, line: RosterLine) -> tuple[int | None, CourseInvitationRow | None]:
        """Named by account or address."""
        invited = self.known.invitations.get(line[EMAIL].lower()) if line[EMAIL] else None
        if line[ACCOUNT]:
            return self.known.by_account.get(line[ACCOUNT].lower()), invited
        user = self.known.by_email.get(line[EMAIL].lower()) if line[EMAIL] else None
        if user is None and invited is not None:
            user = invited.user_id
        return user, invited

    def _wrong(self, line: RosterLine, column: str, text: str) -> None:
        self.problems.append(RosterProblem(line=line.number, column=column, text=text))

    def _tidied(self, line: RosterLine) -> RosterLine | None:
        if not line[EMAIL]:
            return line
        try:
            return RosterLine(line.number, {**line.values, EMAIL: addresses.tidy(line[EMAIL])})
        except BadRequest as error:
            self._wrong(line, EMAIL, f"'{line[EMAIL]}': {error.message.lower().rstrip('.')}")
            return None

    def _consider(self, line: RosterLine) -> None:
        user = self._user(line)
        if isinstance(user, str):
            return
        keys = self._keys(line, user)
        for key in keys:
            if key in self.seen:
                column = NUMBER if isinstance(key, tuple) else EMAIL if isinstance(key, str) else ""
                self._wrong(line, column, f"line {self.seen[key]} names the same person")
                return
        self.seen |= dict.fromkeys(keys, line.number)
        if user is not None:
            self._member(line, user)
        else:
            self._invitation(line)

    def _keys(self, line: RosterLine, user: int | None) -> list[object]:
        """No two lines may share one of these."""
        keys: list[object] = [line[EMAIL].lower()] if line[EMAIL] else []
        keys += [("#", line[NUMBER])] if line[NUMBER] else []
        return keys + ([user] if user is not None else [])

    def _user(self, line: RosterLine) -> int | str | None:
        """None or an account; a text if there is a problem, which is noted."""
        user, invited = self._identified(line)
        if line[ACCOUNT]:
            if user is None:
                self._wrong(line, ACCOUNT, f"there is no account '{line[ACCOUNT]}'")
                return "wrong"
            by_email = self.known.by_email.get(line[EMAIL].lower()) if line[EMAIL] else None
            if by_email not in (None, user):
                self._wrong(
                    line, EMAIL, f"this address belongs to the account '{self.known.names[by_email]}'"
                )
                return "wrong"
        if user is None and invited is None and line[NUMBER]:
            return self.by_number.get(line[NUMBER])
        return user

    def _member(self, line: RosterLine, user: int) -> None:
        row, name = self.known.members.get(user), self.known.names[user]
        values = self._said(line)
        if row is None:
            new = MemberRow(course_id=self.course.row.id, user_id=user, role=CourseRole.STUDENT.value)
            for attribute, value in values.items():
                setattr(new, attribute, value)
            new.came_by = f"roster, by {self.course.user.name}"[: limits.TITLE_CHARS]
            self._new.append(new)
            self._added.append(user)
            self._note(line, name, "add", [])
        elif row.role != CourseRole.STUDENT and row.left_at is None:
            self._wrong(line, "", f"'{name}' teaches this course")
            return
        else:
            what = _differences(row, values)
            back = row.left_at is not None
            if back and not self.let_back_in:
                self._note(line, name, "removed", [])
                return
            if what or back:
                self._values.append((row, {**values, "left_at": None, "role": CourseRole.STUDENT.value}))
                self._added += [user] if back else []
                self.moved |= {name: True} if back else {}
                self._note(line, name, "return" if back else "change", what)
            else:
                self.unchanged += 1
        waiting = self.known.invitations.get(_person(line))
        if waiting is not None and waiting.accepted_at is None:
            self._values.append((waiting, {"accepted_at": utcnow(), "user_id": user, "sha256": None}))

    def _invitation(self, line: RosterLine) -> None:
        person = _person(line)
        row = self.known.invitations.get(person)
        if row is None and line[NUMBER]:
            row = self.invited_by_number.get(line[NUMBER])
            # Without an address, the invited person's stays.
            person = row.person if row is not None and not line[EMAIL] else person
        values = self._said(line)
        if row is None:
            new = CourseInvitationRow(
                course_id=self.course.row.id,
                person=person,
                email=line[EMAIL],
                role=CourseRole.STUDENT.value,
                made_by=self.course.user.id,
            )
            for attribute, value in values.items():
                setattr(new, attribute, value)
            self._new.append(new)
            self._note(line, line[EMAIL] or f"number {line[NUMBER]}", "invite", [])
            return
        self.invited.add(row.person)
        if line[EMAIL]:
            values["email"] = line[EMAIL]
        what = _differences(row, values)
        if person != row.person:
            if row.sha256 is not None:
                what.append("their link stops working")
            values |= {"sha256": None, "issued_at": None, "expires_at": None}
        if what or row.accepted_at is not None:
            # The account is gone, so the invitation is open again.
            self._values.append((row, {**values, "person": person, "accepted_at": None, "user_id": None}))
            self._note(
                line, line[EMAIL] or row.person, "change" if row.accepted_at is None else "return", what
            )
        else:
            self.unchanged += 1

    def _consider_missing(self) -> None:
        for user, row in self.known.members.items():
            if row.role == CourseRole.STUDENT and row.left_at is None and user not in self.seen:
                self._values.append((row, {"left_at": utcnow()}))
                self._note(None, self.known.names[user], "drop", [])
                self.moved[self.known.names[user]] = False
        for person, waiting in self.known.invitations.items():
            if waiting.accepted_at is None and person not in self.seen and person not in self.invited:
                self._gone.append(waiting)
                self._note(None, waiting.email or person, "withdraw", [])

    def _said(self, line: RosterLine) -> dict[str, object]:
        return {ATTRIBUTES[column]: line[column] for column in ATTRIBUTES if column in self.file.columns}

    def _note(self, line: RosterLine | None, person: str, kind: RosterKind, what: list[str]) -> None:
        number, name = (line.number, line[FULL_NAME]) if line is not None else (None, "")
        self.changes.append(RosterChange(line=number, person=person, full_name=name, kind=kind, what=what))

    def apply(self) -> None:
        session = self.course.session
        for row, values in self._values:
            if isinstance(row, MemberRow) and row.left_at is not None:
                taught.let_back_in(session, row)
            for attribute, value in values.items():
                setattr(row, attribute, value)
        for gone in self._gone:
            session.delete(gone)
        session.flush()
        session.add_all(self._new)
        session.flush()
        courses.notify_added(self.course, self._added)

    def counts(self) -> Counter[RosterKind]:
        return Counter(change.kind for change in self.changes)

    def result(self, dry_run: bool, applied: bool) -> RosterResult:
        return RosterResult(
            dry_run=dry_run,
            applied=applied,
            rows=len(self.file.lines) + len({problem.line for problem in self.file.problems}),
            unchanged=self.unchanged,
            counts=dict(self.counts()),
            changes=self.changes,
            problems=self.problems,
            unused=list(self.file.unused),
        )


def _person(line: RosterLine) -> str:
    """Identifies the person in invitations."""
    return line[EMAIL].lower() or f"#{line[NUMBER]}"


def _differences(row: MemberRow | CourseInvitationRow, values: dict[str, object]) -> list[str]:
    words = {"group_name": "group", "full_name": "name", "student_number": "number"}
    return [
        f"{words.get(name, name)}: {getattr(row, name) or '-'} -> {value or '-'}"
        for name, value in values.items()
        if getattr(row, name) != value
    ]
