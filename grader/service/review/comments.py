"""Comments by staff of a submission's course, else the platform's, and replies. Drafts, and all comments until the
feedback's release, are for staff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, TooMany
from grader.records import groups, taught
from grader.records.engine import writing
from grader.records.models import (
    AssignmentRow,
    CommentEditRow,
    CommentRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.schemas.feedback import (
    CommentBody,
    CommentChange,
    CommentList,
    CommentView,
    EditView,
    ThreadView,
)
from grader.schemas.notice import NoticeKind
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.courses import released
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.submissions import submissions


@dataclass(frozen=True)
class _Discussion:
    session: Session
    row: SubmissionRow
    user: User
    reads_all: bool
    writes: bool
    held: bool
    # The author's or a partner's.
    own: bool

    def sees(self, comment: CommentRow) -> bool:
        if self.reads_all or comment.author_id == self.user.id:
            return True
        return not comment.draft and not (comment.staff and self.held)

    def comments(self) -> Sequence[CommentRow]:
        query = select(CommentRow).where(CommentRow.submission_id == self.row.id).order_by(CommentRow.id)
        return self.session.scalars(query).all()

    def find(self, number: int) -> CommentRow:
        """Raises NotFound."""
        found = self.session.get(CommentRow, number) if number < 2**31 else None
        if found is None or found.submission_id != self.row.id or not self.sees(found):
            raise NotFound(
                f"Submission {self.row.public_id} has no comment {number}.",
                "`grader comment ID` lists its comments.",
            )
        return found


def _open(session: Session, user: User, submission: str) -> _Discussion:
    """Raises NotFound."""
    row = submissions.find(session, user, submission)
    own = submissions.hands_in(session, user, row)
    reads_all = not own and (user.staff or submissions.teaches_author(session, user, row))
    writes = not own and _comments(session, user, row)
    held = released.feedback_held(session, row)
    return _Discussion(session, row, user, reads_all, writes, held, own)


def _comments(session: Session, user: User, row: SubmissionRow) -> bool:
    if user.admin or submissions.teaches_author(session, user, row, Action.COMMENT):
        return True
    return user.staff and not _is_taught(session, row)


def _is_taught(session: Session, row: SubmissionRow) -> bool:
    query = select(SubmissionRow.id).where(SubmissionRow.id == row.id, taught.belongs())
    return session.scalar(query) is not None


def list_comments(platform: Platform, user: User, submission: str) -> CommentList:
    """Those that ``user`` may read, by line. Raises NotFound."""
    with platform.sessions() as session:
        return _view(_open(session, user, submission))


def add(platform: Platform, user: User, submission: str, body: CommentBody) -> CommentList:
    """Raises NotFound, NotAllowed, BadRequest (lines), TooMany."""
    with writing(platform.sessions) as session:
        talk = _open(session, user, submission)
        _check_room(talk)
        thread = _thread(talk, body.thread) if body.thread is not None else None
        if not talk.writes and not (talk.own and thread is not None):
            raise NotAllowed(
                "Only the staff of the author's course can begin a comment.",
                "You can reply to their comments." if talk.own else "",
            )
        last = body.last_line or body.first_line
        if last is not None and last > _lines(talk.row):
            raise BadRequest(f"The source has only {_lines(talk.row)} lines.", "Comment on existing lines.")
        comment = CommentRow(
            submission_id=talk.row.id,
            thread_id=thread.id if thread is not None else None,
            author_id=user.id,
            staff=talk.writes,
            first_line=body.first_line,
            last_line=last,
            text=_text(body.text),
            draft=body.draft and talk.writes,
            created_at=utcnow(),
        )
        session.add(comment)
        session.flush()
        _note(talk, comment, {"draft": comment.draft})
        _tell(talk, comment)
        return _view(talk)


def _check_room(talk: _Discussion) -> None:
    query = select(func.count()).select_from(CommentRow).where(CommentRow.submission_id == talk.row.id)
    if (talk.session.scalar(query) or 0) >= limits.COMMENTS:
        raise TooMany(
            f"Submission {talk.row.public_id} already has {limits.COMMENTS} comments.", "Continue in person."
        )


def _thread(talk: _Discussion, number: int) -> CommentRow:
    found = talk.find(number)
    if found.thread_id is not None:
        raise BadRequest(
            f"Comment {number} is a reply, so nobody can reply to it.", f"Reply to thread {found.thread_id}."
        )
    return found


def _text(text: str) -> str:
    tidy = text.replace("\r\n", "\n").strip()
    if not tidy:
        raise BadRequest("The comment is empty.", "Write something.")
    return tidy


def _lines(row: SubmissionRow) -> int:
    return min(row.source.rstrip("\n").count("\n") + 1, limits.LISTED_LINES)


def change(platform: Platform, user: User, submission: str, number: int, body: CommentChange) -> CommentList:
    """Also sends a draft, resolves or reopens. Staff can read earlier texts. Raises NotFound, NotAllowed, BadRequest,
    Conflict (deleted)."""
    with writing(platform.sessions) as session:
        talk = _open(session, user, submission)
        comment = talk.find(number)
        if comment.deleted_at is not None:
            raise Conflict(f"Comment {number} is deleted.", "Write a new one.")
        if body.text is not None or body.send:
            _check_own(talk, comment)
        if body.text is not None and (text := _text(body.text)) != comment.text:
            if not comment.draft:
                _keep(talk, comment)
                comment.edited_at = utcnow()
            comment.text = text
            _note(talk, comment, {"edited": True})
        if body.send and comment.draft:
            comment.draft, comment.created_at = False, utcnow()
            _note(talk, comment, {"draft": False})
            _tell(talk, comment)
        if body.resolved is not None:
            _resolve(talk, comment, body.resolved)
        session.flush()
        return _view(talk)


def _check_own(talk: _Discussion, comment: CommentRow) -> None:
    if comment.author_id != talk.user.id:
        raise NotAllowed("Only its author can change a comment.", "Write a reply.")


def _resolve(talk: _Discussion, comment: CommentRow, resolved: bool) -> None:
    if comment.thread_id is not None:
        raise BadRequest("Only whole threads can be resolved.", f"Resolve thread {comment.thread_id}.")
    if not (talk.writes or talk.own):
        raise NotAllowed("Only its student or the course's staff can resolve a thread.")
    if resolved != (comment.resolved_at is not None):
        comment.resolved_at = utcnow() if resolved else None
        comment.resolved_by = talk.user.id if resolved else None


def remove(platform: Platform, user: User, submission: str, number: int) -> CommentList:
    """One's own, or any for staff, who can still read it; others see that it existed. A draft without replies
    disappears. Raises NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        talk = _open(session, user, submission)
        comment = talk.find(number)
        if not (comment.author_id == user.id or talk.writes):
            raise NotAllowed("Only its author or the course's staff can delete a comment.")
        replied = session.scalar(select(CommentRow.id).where(CommentRow.thread_id == comment.id).limit(1))
        if comment.draft and replied is None:
            session.delete(comment)
        elif comment.deleted_at is None:
            _keep(talk, comment)
            comment.text, comment.deleted_at = "", utcnow()
            _note(talk, comment, {"deleted": True})
        session.flush()
        return _view(talk)


def _keep(talk: _Discussion, comment: CommentRow) -> None:
    """Call it before the text changes."""
    talk.session.add(
        CommentEditRow(comment_id=comment.id, by_id=talk.user.id, text=comment.text, until=utcnow())
    )


def _note(talk: _Discussion, comment: CommentRow, after: dict[str, object]) -> None:
    """The log omits texts."""
    if not talk.writes:
        return
    course = submissions.course_of(talk.session, talk.user, talk.row)
    subject = f"/submissions/{talk.row.public_id}/comments/{comment.id}"
    audit.note(talk.session, talk.user, Action.COMMENT, subject, course=course, after=after)


def _tell(talk: _Discussion, comment: CommentRow) -> None:
    """Students about staff's, staff about students'."""
    if comment.draft or (comment.staff and talk.held):
        return
    row = talk.row
    if comment.staff:
        notices.notify(
            talk.session,
            {row.user_id, *groups.partners_of(talk.session, row.id)} - {talk.user.id},
            NoticeKind.COMMENT,
            f"{talk.user.name} commented on your submission for {row.challenge}",
            path_of(row.public_id),
        )
        return
    thread = comment.thread_id or comment.id
    in_it = select(CommentRow.author_id).where(
        (CommentRow.id == thread) | (CommentRow.thread_id == thread), CommentRow.staff
    )
    writers = {user_id for user_id in talk.session.scalars(in_it) if user_id is not None}
    notices.notify(
        talk.session,
        writers - {talk.user.id},
        NoticeKind.COMMENT,
        f"{talk.user.name} replied to a comment on a submission for {row.challenge}",
        path_of(row.public_id),
    )


def path_of(submission: str) -> str:
    return f"/submissions/{submission}#comments"


def notify_released(session: Session, row: AssignmentRow, students: Iterable[int]) -> None:
    """``students``: ids."""
    comment, submissions = CommentRow, SubmissionRow
    found = session.execute(
        select(submissions.user_id, submissions.public_id, submissions.challenge)
        .join(comment, comment.submission_id == submissions.id)
        .where(comment.staff, comment.draft.is_(False), comment.deleted_at.is_(None))
        .where(submissions.user_id.in_(list(students)), taught.belongs(AssignmentRow.id == row.id))
        .distinct()
    )
    for user, submission, challenge in found:
        text = f"There are comments on your submission for {challenge}"
        notices.notify(session, [user], NoticeKind.COMMENT, text, path_of(submission))


def _view(talk: _Discussion) -> CommentList:
    rows = talk.comments()
    seen = [row for row in rows if talk.sees(row)]
    edits = _edits(talk, seen) if talk.reads_all else {}
    people = {comment.author_id for comment in seen} | {comment.resolved_by for comment in seen}
    people |= {edit.by_id for found in edits.values() for edit in found}
    names = dict(
        talk.session.execute(
            select(UserRow.id, UserRow.name).where(
                UserRow.id.in_([person for person in people if person is not None])
            )
        ).all()
    )

    def view(comment: CommentRow) -> CommentView:
        return CommentView(
            number=comment.id,
            author=names.get(comment.author_id) if comment.author_id is not None else None,
            staff=comment.staff,
            text=comment.text,
            draft=comment.draft,
            created_at=comment.created_at,
            edited_at=comment.edited_at,
            deleted_at=comment.deleted_at,
            edits=[
                EditView(
                    text=edit.text,
                    until=edit.until,
                    by=names.get(edit.by_id) if edit.by_id is not None else None,
                )
                for edit in edits.get(comment.id, [])
            ],
        )

    threads = [
        ThreadView(
            number=first.id,
            first_line=first.first_line,
            last_line=first.last_line,
            resolved_at=first.resolved_at,
            resolved_by=names.get(first.resolved_by) if first.resolved_by is not None else None,
            comments=[
                view(comment) for comment in seen if comment.id == first.id or comment.thread_id == first.id
            ],
        )
        for first in seen
        if first.thread_id is None
    ]
    threads.sort(key=lambda comment: (comment.first_line or 0, comment.last_line or 0, comment.number))
    return CommentList(
        submission=talk.row.public_id,
        threads=threads,
        may_comment=talk.writes,
        may_reply=talk.writes or talk.own,
        held=talk.held and talk.reads_all,
    )


def _edits(talk: _Discussion, comments: Sequence[CommentRow]) -> dict[int, list[CommentEditRow]]:
    found: dict[int, list[CommentEditRow]] = {}
    query = (
        select(CommentEditRow)
        .where(CommentEditRow.comment_id.in_([comment.id for comment in comments]))
        .order_by(CommentEditRow.id)
    )
    for edit in talk.session.scalars(query):
        found.setdefault(edit.comment_id, []).append(edit)
    return found
