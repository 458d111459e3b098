from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.deadlines import Window, parse_moment
from grader.errors import BadRequest
from grader.records.models import AssignmentRow, CourseRow, ExtensionRow, MemberRow


def late_until_of(text: str | None, due_at: datetime, zone: ZoneInfo) -> datetime | None:
    if text is None:
        return None
    late_until = parse_moment(text, zone, end=True)
    if late_until < due_at:
        raise BadRequest(
            "The late period would end before the assignment is due.", "Set `late_until` after `due_at`."
        )
    return late_until


def window_of(session: Session, course: CourseRow, row: AssignmentRow, user: int) -> tuple[Window, bool]:
    """And whether they are extended."""
    windows = Windows.read(session, course, [row])
    return windows.of(row, user, section_of(session, course.id, user))


def section_of(session: Session, course: int, user: int) -> str:
    member = MemberRow
    return (
        session.scalar(select(member.section).where(member.course_id == course, member.user_id == user)) or ""
    )


@dataclass(frozen=True)
class Windows:
    zone: ZoneInfo
    of_users: Mapping[tuple[int, int], ExtensionRow]
    of_sections: Mapping[tuple[int, str], ExtensionRow]

    @classmethod
    def read(cls, session: Session, course: CourseRow, rows: Sequence[AssignmentRow]) -> Windows:
        given = ExtensionRow
        found = session.scalars(select(given).where(given.assignment_id.in_([row.id for row in rows]))).all()
        return cls(
            ZoneInfo(course.time_zone),
            {
                (extension.assignment_id, extension.user_id): extension
                for extension in found
                if extension.user_id is not None
            },
            {
                (extension.assignment_id, extension.section): extension
                for extension in found
                if extension.section is not None
            },
        )

    def of(self, row: AssignmentRow, user: int, section: str) -> tuple[Window, bool]:
        """The latest of everyone's, the section's and the student's: extensions never shorten."""
        everyone = self.of_everyone(row)
        found = self.of_users.get((row.id, user)), self.of_sections.get((row.id, section))
        given = [extension for extension in found if extension is not None]
        due_at = max([everyone.due_at, *(extension.due_at for extension in given)])
        closes_at = max(
            [everyone.closes_at, *(extension.late_until or extension.due_at for extension in given)]
        )
        if (due_at, closes_at) == (everyone.due_at, everyone.closes_at):
            return everyone, False
        return Window(row.open_at, due_at, closes_at if closes_at > due_at else None, self.zone), True

    def of_everyone(self, row: AssignmentRow) -> Window:
        return Window(row.open_at, row.due_at, row.late_until, self.zone)

    def is_extended(self, row: AssignmentRow, user: int, section: str) -> bool:
        return (row.id, user) in self.of_users or (row.id, section) in self.of_sections

    def last_end(self, row: AssignmentRow) -> datetime:
        given = [
            extension
            for key, extension in [*self.of_users.items(), *self.of_sections.items()]
            if key[0] == row.id
        ]
        return max(
            [row.late_until or row.due_at, *(extension.late_until or extension.due_at for extension in given)]
        )
