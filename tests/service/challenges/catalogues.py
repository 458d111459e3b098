"""Courses with their own challenges, from archives and from real git repositories."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from grader.challenge import bundle
from grader.challenge.bundle import Bundle
from grader.schemas.course import CourseBody, CourseRole
from grader.schemas.upload import UploadBody
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.challenges import uploads
from grader.service.courses import courses
from grader.service.platform import Platform
from tests.service.examining import examine

REFERENCE = "def reference(a, i, alpha, n):\n    return a * alpha\n"


def reload(platform: Platform, user: User) -> User:
    """With the rights that roles in courses gave in the meantime."""
    found = accounts.user_by_id(platform, user.id)
    assert found is not None
    return found


def make_course(platform: Platform, staff: User, slug: str, instructor: User) -> User:
    """A course with only that instructor, who is returned with the new rights."""
    courses.create_course(platform, staff, CourseBody(slug=slug, name=slug))
    courses.set_staff(platform, staff, slug, instructor.name, CourseRole.OWNER)
    courses.set_staff(platform, staff, slug, staff.name, None)
    return reload(platform, instructor)


def scale(platform: Platform, slug: str = "scale", title: str = "") -> Bundle:
    """The catalogue's ``scale`` with a reference, under that name and title."""
    folder = platform.catalogue.root / "reference" / "scale"
    (folder / "reference.py").write_text(REFERENCE)
    made = bundle.of_challenge(platform.catalogue.load("scale"))
    files = {path.replace("/scale/", f"/{slug}/"): content for path, content in made.files.items()}
    manifest = f"challenges/{slug}/challenge.toml"
    files[manifest] = files[manifest].replace(b'title = "Scale"', f'title = "{title or slug}"'.encode())
    return bundle.of_files(files)


def body(*made: Bundle) -> UploadBody:
    files = {path: data for each in made for path, data in each.files.items()}
    packed = Bundle(made[0].slug, made[0].manifest, files).packed()
    return UploadBody(archive=base64.b64encode(packed))


def put_in_use(platform: Platform, user: User, course: str, *made: Bundle) -> None:
    uploads.upload_to_course(platform, user, course, body(*made))
    examine(platform)


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *arguments: str, text: str = "") -> str:
        names = {f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        ran = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **names},
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout.strip()

    def commit(self, files: Mapping[str, bytes] = {}) -> str:
        """Includes staged changes. Returns the commit."""
        for path, data in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(data)
        if files:
            self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        return self.git("rev-parse", "HEAD")
