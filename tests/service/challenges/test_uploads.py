"""Uploading, checking, using and going back without a box: the test stores a worker's results."""

from __future__ import annotations

import base64
import shutil
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from grader.challenge import bundle
from grader.challenge.bundle import Bundle
from grader.errors import ChallengeChanged, Conflict, NotAllowed, NotFound, UnknownChallenge
from grader.records import uploads as records
from grader.records import versions
from grader.records.engine import clock, writing
from grader.records.models import AuditRow, ChallengeStateRow, UploadRow, utcnow
from grader.schemas.publication import PublicationState
from grader.schemas.upload import CheckState, SpecBody, UploadBody, UseBody
from grader.service.accounts.accounts import User
from grader.service.challenges import publication, uploads
from grader.service.platform import Platform, open_platform
from tests.service.examining import examine
from tests.web import builders

UNPROVEN = UseBody(unproven=True)


def body(made: Bundle, base: int | None = None) -> UploadBody:
    return UploadBody(archive=base64.b64encode(made.packed()), base=base)


@pytest.fixture
def scale(platform: Platform) -> Bundle:
    folder = platform.catalogue.root / "reference" / "scale"
    (folder / "reference.py").write_text("def reference(a, i, alpha, n):\n    return a * alpha\n")
    return bundle.of_challenge(platform.catalogue.load("scale"))


def renamed(made: Bundle, slug: str) -> Bundle:
    """The same under another name."""
    return bundle.of_files(
        {path.replace("/scale/", f"/{slug}/"): content for path, content in made.files.items()}
    )


def version(made: Bundle, number: int, cases: str = "") -> Bundle:
    path = f"challenges/{made.slug}/challenge.toml"
    text = made.text(path)
    present = f"version = {made.manifest.version}"
    changed = made.with_file(path, text.replace(present, f"version = {number}"))
    return changed.with_file(f"challenges/{made.slug}/cases.py", cases) if cases else changed


CASES = """
from grader.challenge.cases import case

def cases():
    return [case("five", "prime", n=5), case("eleven", "prime", n=11)]
"""


def test_a_new_upload_is_served_after_its_check(
    platform: Platform, staff: User, student: User, scale: Bundle
) -> None:
    with pytest.raises(NotAllowed):
        uploads.upload(platform, student, body(scale))
    made = renamed(scale, "mine")
    first = uploads.upload(platform, staff, body(made))
    assert (first.number, first.check, first.in_use) == (1, CheckState.WAITING, False)
    assert uploads.upload(platform, staff, body(made)) == first, "the same again is no other upload"
    with pytest.raises(UnknownChallenge):
        platform.catalogue.load("mine")
    with pytest.raises(Conflict, match="examined"):
        uploads.preview(platform, staff, "mine", 1)
    examine(platform)
    assert platform.catalogue.load("mine").manifest.title == "Scale"
    assert "mine" in platform.catalogue.slugs()
    shown = uploads.preview(platform, staff, "mine", 1)
    assert [case.name for case in shown.cases] == ["seven", "ones"]
    assert uploads.get_upload(platform, staff, "mine", 1).upload.in_use
    with platform.sessions() as session:
        noted = session.scalars(select(AuditRow).where(AuditRow.action == "challenge.upload")).all()
    assert [(entry.actor, entry.subject) for entry in noted] == [(staff.name, "/uploads/mine/1")]


def test_another_host_loads_an_upload_from_the_database(
    platform: Platform, staff: User, scale: Bundle, tmp_path: Path
) -> None:
    uploads.upload(platform, staff, body(renamed(scale, "mine")))
    examine(platform)
    settings = platform.settings.model_copy(update={"data_dir": tmp_path / "another-host"})
    other = open_platform(settings)
    try:
        assert other.catalogue.load("mine").cases == platform.catalogue.load("mine").cases
        assert other.catalogue.root_of("mine").is_relative_to(tmp_path / "another-host")
    finally:
        other.close()


def test_a_new_version_waits_for_staff_and_can_be_reverted(
    platform: Platform, staff: User, student: User, scale: Bundle
) -> None:
    builders.judged(platform, student, builders.accepted(challenge="scale", version=1), challenge="scale")
    same_number = version(scale, 1, CASES)
    second = version(scale, 2, CASES)
    uploads.upload(platform, staff, body(scale))
    uploads.upload(platform, staff, body(same_number))
    uploads.upload(platform, staff, body(second))
    examine(platform)
    assert not platform.catalogue.is_uploaded("scale"), "the course's folder stays until staff say otherwise"

    refused = uploads.get_upload(platform, staff, "scale", 2)
    assert not refused.usable
    assert "Set version = 2" in refused.means[0]
    with pytest.raises(ChallengeChanged):
        uploads.use(platform, staff, "scale", 2, UNPROVEN)

    offered = uploads.get_upload(platform, staff, "scale", 3)
    assert offered.usable
    assert offered.against == "the course's folder, version 1"
    assert {(change.part, change.name, change.kind) for change in offered.changes} >= {
        ("cases", "seven", "removed"),
        ("cases", "eleven", "added"),
    }
    assert "board of version 1 and its ranks are shown" in " ".join(offered.means)
    assert uploads.use(platform, staff, "scale", 3, UNPROVEN).upload.in_use
    assert platform.catalogue.load("scale").manifest.version == 2
    assert shown(platform) == 1
    with writing(platform.sessions) as session:
        versions.publish(session, "scale", 2, clock(session))

    assert "goes back to version 1" in uploads.get_upload(platform, staff, "scale", 1).means[0]
    uploads.use(platform, staff, "scale", 1, UNPROVEN)
    assert (platform.catalogue.load("scale").manifest.version, shown(platform)) == (1, 1)
    assert uploads.withdraw(platform, staff, "scale").uploads[-1].in_use is False
    assert not platform.catalogue.is_uploaded("scale")
    with pytest.raises(NotFound):
        uploads.withdraw(platform, staff, "scale")


def shown(platform: Platform) -> int | None:
    with platform.sessions() as session:
        return versions.shown(session, "scale")


def test_simultaneous_spec_edits_lose_nothing(
    platform: Platform, staff: User, other: User, scale: Bundle
) -> None:
    text, base = uploads.get_spec(platform, staff, "scale")
    assert (text, base) == ("# What to do\n", 0)
    one = uploads.edit_spec(platform, staff, "scale", SpecBody(text="# One\r\n", base=base))
    with pytest.raises(Conflict, match="has uploaded number 1 of"):
        uploads.edit_spec(platform, staff, "scale", SpecBody(text="# Two\n", base=base))
    examine(platform)
    two = uploads.edit_spec(platform, staff, "scale", SpecBody(text="# Two\n", base=one.number))
    assert two.examined, "its Python is the same, so it need not run again to be shown"
    assert uploads.get_spec(platform, staff, "scale") == ("# Two\n", 2)
    found = uploads.get_upload(platform, staff, "scale", 2)
    assert found.means == ["Judging stays the same: verdicts, times and ranks stay."]
    assert found.spec[-2:] == ["-# What to do", "+# Two"]


def test_simultaneous_uploads_are_all_kept(platform: Platform, staff: User, scale: Bundle) -> None:
    texts = [scale.with_file(scale.spec_path, f"# {n}\n") for n in range(4)]
    errors: list[Exception] = []

    def send(made: Bundle) -> None:
        try:
            uploads.upload(platform, staff, body(made))
        except Conflict as error:
            errors.append(error)
            send(made)

    threads = [threading.Thread(target=send, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = uploads.list_uploads(platform, staff, "scale").uploads
    assert sorted(upload.number for upload in found) == [1, 2, 3, 4]
    assert {upload.digest for upload in found} == {text.digest for text in texts}


def test_a_check_of_a_dead_worker_is_taken_over(platform: Platform, staff: User, scale: Bundle) -> None:
    uploads.upload(platform, staff, body(scale))
    with writing(platform.sessions) as session:
        first = records.claim(session, "one", clock(session), 0.0)
    with writing(platform.sessions) as session:
        second = records.claim(session, "two", clock(session), 60.0)
        assert records.claim(session, "three", clock(session), 60.0) is None
    assert first is not None
    assert second is not None
    with writing(platform.sessions) as session:
        assert not records.finish(session, first, CheckState.PROVEN, clock(session))
        assert records.finish(session, second, CheckState.WEAK, clock(session))
    assert uploads.check_again(platform, staff, "scale", 1).check is CheckState.WAITING
    assert uploads.stop_check(platform, staff, "scale", 1).check is CheckState.FAILED
    with pytest.raises(Conflict):
        uploads.stop_check(platform, staff, "scale", 1)


def test_an_uploaded_challenge_takes_submissions(platform: Platform, staff: User, scale: Bundle) -> None:
    uploads.upload(platform, staff, body(renamed(scale, "mine")))
    examine(platform)
    view = builders.hand_in(platform, staff, challenge="mine")
    assert (view.challenge, view.version) == ("mine", 1)
    with platform.sessions() as session:
        assert session.scalar(select(UploadRow.in_use).where(UploadRow.challenge == "mine"))


def test_an_upload_is_published_or_scheduled_as_a_folder_is(
    platform: Platform, staff: User, student: User, scale: Bundle
) -> None:
    made = renamed(scale, "mine")
    uploads.upload(platform, staff, body(made))
    examine(platform)
    assert publication.get_state(platform, staff, "mine").state is PublicationState.DRAFT
    with pytest.raises(UnknownChallenge):
        publication.load(platform, student, "mine")
    with pytest.raises(UnknownChallenge):
        builders.hand_in(platform, student, challenge="mine")
    publication.schedule(platform, staff, "mine", utcnow() + timedelta(hours=1))
    assert "mine" not in publication.visible(platform, student)
    # A new text in the meantime comes out at the same time.
    uploads.edit_spec(platform, staff, "mine", SpecBody(text="# Better\n", base=1))
    uploads.use(platform, staff, "mine", 2, UNPROVEN)
    with writing(platform.sessions) as session:
        session.get_one(ChallengeStateRow, "mine").publish_at = utcnow() - timedelta(seconds=1)
    assert publication.load(platform, student, "mine").spec == "# Better\n"
    assert builders.hand_in(platform, student, challenge="mine").version == 1


def test_a_withdrawn_upload_leaves_no_publication_plan(
    platform: Platform, staff: User, student: User, scale: Bundle
) -> None:
    made = renamed(scale, "mine")
    uploads.upload(platform, staff, body(made))
    examine(platform)
    publication.publish(platform, staff, "mine")
    uploads.withdraw(platform, staff, "mine")
    uploads.upload(platform, staff, body(made.with_file(made.spec_path, "# Another\n")))
    examine(platform)
    assert publication.get_state(platform, staff, "mine").state is PublicationState.DRAFT
    assert "mine" not in publication.visible(platform, student)


def test_an_upload_replacing_a_removed_folder_waits_for_staff(
    platform: Platform, staff: User, student: User, scale: Bundle
) -> None:
    publication.publish(platform, staff, "scale")
    for part in ("challenges", "reference"):
        shutil.rmtree(platform.catalogue.root / part / "scale")
    uploads.upload(platform, staff, body(scale))
    examine(platform)
    with pytest.raises(UnknownChallenge):
        publication.load(platform, student, "scale")
    uploads.use(platform, staff, "scale", 1, UNPROVEN)
    assert publication.load(platform, student, "scale").slug == "scale"
