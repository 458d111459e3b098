"""A note on a submission is its author's alone."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.records import rejudges
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.submission import JudgingReason, NoteBody, SubmissionFilter
from grader.service.accounts import personal_data
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.notes import keep_note
from grader.service.submissions.submissions import get_submission, list_submissions
from tests.records.rows import add_submission

TEXT = "Tiles of 32, **padded**.\n- 你好"


def test_the_author_alone_reads_it(platform: Platform, student: User, other: User, staff: User) -> None:
    row = add_submission(platform.sessions, student.id, challenge="scale")
    with writing(platform.sessions) as session:
        first = session.get_one(SubmissionRow, row)
        later = rejudges.again(first, 2)
        session.add(later)
        session.flush()
        name, again = first.public_id, later.public_id
    assert keep_note(platform, student, again, NoteBody(text=f" {TEXT} ")).note == TEXT
    assert get_submission(platform, student, name).note == TEXT
    assert [view.note for view in list_submissions(platform, student).submissions] == [TEXT]
    assert get_submission(platform, staff, name).note == ""
    everyone = list_submissions(platform, staff, everyone=True, wanted=SubmissionFilter(user=student.name))
    assert [view.note for view in everyone.submissions] == [""]

    def exported(user: User) -> str:
        with personal_data.export(platform, user, student.name) as file:
            archive = zipfile.ZipFile(io.BytesIO(file.read()))
        return "".join(archive.read(each).decode() for each in archive.namelist())

    assert json.dumps(TEXT, ensure_ascii=False) in exported(student)
    assert "padded" not in exported(staff)
    with pytest.raises(NotAllowed, match="Only its author"):
        keep_note(platform, staff, name, NoteBody(text="x"))
    with pytest.raises(NotFound):
        keep_note(platform, other, name, NoteBody(text="x"))
    for bad, message in (("x" * 4_001, "4,001 characters"), ("a\0", "NUL")):
        with pytest.raises(BadRequest, match=message):
            keep_note(platform, student, name, NoteBody.model_construct(text=bad))
    # Browsers send two characters for the end of a line.
    assert keep_note(platform, student, name, NoteBody.model_construct(text="x\r\n" * 2_000)).note
    assert keep_note(platform, student, name, NoteBody(text=" \n")).note == ""
    assert "padded" not in exported(student)


def test_a_run_takes_no_note(platform: Platform, student: User) -> None:
    row = add_submission(platform.sessions, student.id, challenge="scale", kind=JudgingReason.RUN)
    with platform.sessions() as session:
        name = session.get_one(SubmissionRow, row).public_id
    with pytest.raises(Conflict, match="is a run"):
        keep_note(platform, student, name, NoteBody(text="x"))
