"""A challenge as of a git commit."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.challenge.catalogue import MANIFEST, Catalogue
from grader.challenge.loader import Challenge
from grader.errors import BadRequest, NotFound

_GIT_SECONDS = 30.0


@contextmanager
def at_reference(catalogue: Catalogue, slug: str, reference: str) -> Iterator[Challenge]:
    """``reference``: a commit, branch or tag. Uses a temporary folder, ignores tracks.

    Raises BadRequest if git does not know the reference, NotFound if it does not have the challenge,
    ChallengeInvalid.
    """
    commit = _git(
        catalogue.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}"
    )
    if commit is None:
        raise BadRequest(
            f"git does not know the commit '{reference}' in {catalogue.root}.",
            "Name a commit, a branch or a tag, or a version number of the platform.",
        )
    wanted = [f"challenges/{slug}", f"reference/{slug}"]
    name = commit.decode().strip()
    found = (_git(catalogue.root, "ls-tree", "--name-only", name, "--", *wanted) or b"").decode().split()
    if wanted[0] not in found:
        raise NotFound(f"'{reference}' has no challenge '{slug}'.", "It is new: there is nothing to compare.")
    archive = _git(catalogue.root, "archive", "--format=tar", name, "--", *found)
    if archive is None:
        raise BadRequest(f"git could not read {slug} of '{reference}'.")
    with tempfile.TemporaryDirectory(prefix="grader-earlier-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Catalogue(Path(folder)).load(slug)


def numbered_in(catalogue: Catalogue, slug: str) -> str | None:
    """The commit that introduced the latest committed version number."""
    manifest = f"challenges/{slug}/{MANIFEST}"
    found = _git(catalogue.root, "log", "-1", "--format=%H", "-G", r"^version[[:space:]]*=", "--", manifest)
    return (found or b"").decode().strip() or None


def _git(root: Path, *words: str) -> bytes | None:
    """None if git fails or is missing."""
    try:
        ran = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, timeout=_GIT_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout if ran.returncode == 0 else None
