"""Of boxes: Docker's and bubblewrap's."""

from __future__ import annotations

from grader.cli.doctor.finding import Finding, Mark
from grader.errors import GraderError


def docker() -> Finding:
    try:
        from grader.sandbox.choose import docker_status

        usable, why = docker_status()
    except ModuleNotFoundError as error:
        usable, why = False, f"the Python package '{error.name}' is not installed"
    if not usable:
        mend = (
            ""
            if "mend" in why
            else "Install and start Docker; until then bubblewrap boxes, or 'local' ones for your own code."
        )
        return Finding("docker", Mark.MISSING, why, mend, "judging other people's code")
    from grader.sandbox.docker_engine import engine
    from grader.sandbox.image import has_image, image_tag

    try:
        there = has_image(engine())
    except GraderError as error:
        return Finding("docker", Mark.MISSING, error.message, error.hint, "judging other people's code")
    if there:
        return Finding("docker", Mark.OK, f"answers; image {image_tag()}")
    return Finding(
        "docker", Mark.NOTE, "answers; the box image is not made yet", "grader sandbox build --from-host"
    )


def bubblewrap() -> Finding:
    """The boxes of hosts without Docker, and what they hold less well here."""
    name, for_what = "bubblewrap", "judging other people's code without Docker"
    try:
        from grader.sandbox.choose import bubblewrap_status, why_not_exposed

        usable, told = bubblewrap_status()
    except ModuleNotFoundError as error:
        return Finding(name, Mark.NOTE, f"the Python module '{error.name}' is not there", "", for_what)
    if not usable:
        return Finding(name, Mark.NOTE, told, "", for_what)
    if lacking := why_not_exposed("bubblewrap"):
        mend = "Start workers in a part of the control groups that is theirs: docs/boxes.md says how."
        return Finding(name, Mark.NOTE, f"{told} But {lacking}", mend, for_what)
    return Finding(name, Mark.OK, told)
