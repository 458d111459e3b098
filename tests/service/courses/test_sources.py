"""Sources in bulk: which ones, under which names, and for whom."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import timedelta

import pytest

from grader.errors import NotAllowed
from grader.languages import Language
from grader.schemas.course import CourseView, MemberChange
from grader.schemas.report import Verdict
from grader.service.accounts.accounts import User
from grader.service.courses import courses, rosters
from grader.service.platform import Platform
from grader.service.review import sources
from grader.service.review.sources import Archive
from tests.service.courses.scenes import assign, enrol, judged, move

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _enrolled(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> None:
    enrol(platform, staff, student, other)
    assign(platform, staff)


def opened(found: Archive) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(found.chunks)))
    assert archive.testzip() is None
    return archive


def test_an_assignments_sources_are_exported_with_a_manifest(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    rosters.change_member(platform, staff, "gpu", "ada", MemberChange(full_name="=HYPERLINK(1)"))
    slow = judged(platform, student, -3 * HOUR, source="# slow\n", verdict=Verdict.WRONG_ANSWER)
    best = judged(
        platform, student, -2 * HOUR, source="// best\n", speedup=3.0, language=Language.named("cuda")
    )
    judged(platform, student, timedelta(days=-30), source="# before it opened\n")
    judged(platform, staff, -2 * HOUR, source="# of staff\n")
    gone = judged(platform, other, -1 * HOUR, source="", verdict=Verdict.WRONG_ANSWER)
    found = sources.of_assignment(platform, staff, "gpu", "week1")
    assert (found.name, found.files) == ("gpu-week1-sources.zip", 3)
    whole = b"".join(found.chunks)
    archive = zipfile.ZipFile(io.BytesIO(whole))
    names = archive.namelist()
    assert names[:2] == ["manifest.csv", "manifest.json"]
    assert [name.rpartition("-")[2] for name in names[2:]] == [f"{slow}.py", f"{best}.cu"]
    assert all(name.startswith("scale/ada/20") for name in names[2:])
    assert [archive.read(name) for name in names[2:]] == [b"# slow\n", b"// best\n"]
    rows = list(csv.DictReader(io.StringIO(archive.read("manifest.csv").decode())))
    assert [(row["submission"], row["path"], row["counts"]) for row in rows] == [
        (slow, names[2], "False"),
        (best, names[3], "True"),
        (gone, "", "True"),
    ]
    assert rows[0]["full_name"] == "'=HYPERLINK(1)"
    assert json.loads(archive.read("manifest.json"))[1]["speedup"] == 3.0
    # Byte for byte the same if made again.
    assert b"".join(sources.of_assignment(platform, staff, "gpu", "week1").chunks) == whole
    counted = opened(sources.of_assignment(platform, staff, "gpu", "week1", counted=True)).namelist()
    assert counted[2:] == [names[3]]
    assert courses.get_audit(platform, staff, "gpu").entries[0].after == {"submissions": 2}


def test_many_sources_are_streamed(platform: Platform, staff: User, student: User) -> None:
    ids = [judged(platform, student, -n * HOUR, source=f"# {n}\n") for n in range(120, 0, -1)]
    assert [
        name.rpartition("-")[2]
        for name in opened(sources.of_challenge(platform, staff, "scale")).namelist()[2:]
    ] == [f"{id_}.py" for id_ in ids]


def test_students_may_not_export_sources(platform: Platform, student: User) -> None:
    move(platform, judged(platform, student, -1 * HOUR), time_us=None)
    with pytest.raises(NotAllowed):
        sources.of_assignment(platform, student, "gpu", "week1")
    with pytest.raises(NotAllowed):
        sources.of_challenge(platform, student, "scale")
