"""Which kind of box this machine can make."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Literal

from grader.errors import BadRequest, BoxUnavailable
from grader.sandbox import docker_engine, image
from grader.sandbox.box import BoxMaker
from grader.sandbox.options import DEFAULTS, SandboxOptions

if TYPE_CHECKING:
    from grader.sandbox.bubblewrap_box import BubblewrapBoxes

Kind = Literal["auto", "docker", "bubblewrap", "local"]


def make_boxes(kind: str, options: SandboxOptions = DEFAULTS) -> BoxMaker:
    """The maker of boxes of this kind; ``auto`` is what ``best_kind`` says. A worker passes its settings as
    ``options``.

    The image is made when the engine lacks it. Raises BoxUnavailable when a kind is asked for that cannot be made here,
    BadRequest for an unknown one.
    """
    if kind == "auto":
        kind, _ = best_kind()
    if kind == "local":
        return _local()
    if kind == "bubblewrap":
        return _bubblewrap()
    if kind == "docker":
        return _docker(options)
    raise BadRequest(f"unknown kind of box {kind!r}", "Use auto, docker, bubblewrap or local.")


def best_kind() -> tuple[str, str]:
    """What ``auto`` is here, and why not something better: Docker where an engine answers, else bubblewrap where it
    makes boxes, else plain processes."""
    usable, why = docker_status()
    if usable:
        return "docker", ""
    wrapped, why_not = bubblewrap_status()
    return ("bubblewrap", why) if wrapped else ("local", f"{why} {why_not}")


def why_not_exposed(kind: str) -> str:
    """Why boxes of this kind are not for the code of people on other machines; empty where they are.

    What a stranger could otherwise do in a bubblewrap box without control groups is to use up the host's memory, in
    files that belong to no process: no limit of processes counts them.
    """
    if kind == "auto":
        kind, _ = best_kind()
    if kind == "local":
        return "submissions would run as plain processes here"
    if kind != "bubblewrap":
        return ""
    try:
        maker = _bubblewrap()
    except BoxUnavailable:
        return ""  # nothing runs; the first box that is started raises the reason
    maker.close()
    return "" if maker.bounded else "no control group would bound the memory of submissions here"


def bubblewrap_status() -> tuple[bool, str]:
    """Whether bubblewrap boxes can be made here (one is made to find out), and one sentence: how they are bounded, or
    why there are none and how to fix it."""
    try:
        maker = _bubblewrap()
    except BoxUnavailable as error:
        return False, f"No bubblewrap boxes ({error.message}). {error.hint}"
    maker.close()
    return True, f"{maker.about}."


def docker_status() -> tuple[bool, str]:
    """Whether Docker boxes can be made here, and one sentence: the engine's version, or why not and how to fix it."""
    try:
        version = docker_engine.engine().version()
    except ImportError:
        return False, "The Python package docker is missing: pip install 'kernel-grader[worker]'."
    except BoxUnavailable as error:
        installed = shutil.which("dockerd") or shutil.which("docker")
        fix = error.hint if installed else "Install it (Debian, Ubuntu: apt-get install docker.io)."
        return False, f"No Docker engine answers ({error.message}). {fix}"
    return True, f"Docker {version} answers."


def _local() -> BoxMaker:
    from grader.sandbox.local_box import LocalBoxes

    return LocalBoxes()


def _bubblewrap() -> BubblewrapBoxes:
    from grader.sandbox.bubblewrap_box import BubblewrapBoxes

    return BubblewrapBoxes()


def _docker(options: SandboxOptions) -> BoxMaker:
    from grader.sandbox.docker_box import DockerBoxes

    if not options.image and not image.has_image(docker_engine.engine()):
        image.build_from_host()
    return DockerBoxes(options)
