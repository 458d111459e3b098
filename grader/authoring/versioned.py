"""Whether judging changed under the same version number, by git."""

from __future__ import annotations

from contextlib import suppress

from grader.authoring.findings import check
from grader.challenge.catalogue import Catalogue
from grader.challenge.earlier import at_reference, numbered_in
from grader.challenge.fingerprint import ContentChange, changes, content
from grader.challenge.loader import Challenge
from grader.errors import BadRequest, ChallengeInvalid, NotFound
from grader.schemas.proof import Check

_NAMED = 4
_SHORT = 10


def version_check(catalogue: Catalogue, challenge: Challenge) -> Check:
    """Only a remark: a number that was not served may still change. Raises ChallengeInvalid."""
    version = challenge.manifest.version
    found = changed_since_numbered(catalogue, challenge)
    if not found:
        return check("version", [], f"{version}")
    commit, changed = found
    parts = list(
        dict.fromkeys(f"{change.part.replace('_', ' ')} {change.name}".strip() for change in changed)
    )
    named = ", ".join(parts[:_NAMED]) + (f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else "")
    remark = (
        f"{named} changed since version {version} was committed: a platform that served it refuses this folder "
        f"until it says `version = {version + 1}` (grader challenge diff {challenge.slug} --against "
        f"{commit[:_SHORT]})"
    )
    return check("version", [], f"{version}", remarks=[remark])


def changed_since_numbered(
    catalogue: Catalogue, challenge: Challenge
) -> tuple[str, list[ContentChange]] | None:
    """The number's commit, and changes to judging since. None if there are none, the number is not committed,
    or git cannot tell. Raises ChallengeInvalid.
    """
    now = content(challenge)
    commit = numbered_in(catalogue, challenge.slug)
    if commit is None:
        return None
    # A folder that today's grader cannot load was served by an older one.
    with (
        suppress(BadRequest, NotFound, ChallengeInvalid),
        at_reference(catalogue, challenge.slug, commit) as then,
    ):
        if then.manifest.version == challenge.manifest.version:
            found = changes(content(then), now)
            return (commit, found) if found else None
    return None
