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
    """Makes the image, too, if the engine lacks it. Raises BoxUnavailable or, for an unknown kind,
    BadRequest.
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
    """The kind for ``auto``, and why it is not a better one: Docker, then bubblewrap, then plain processes."""
    usable, why = docker_status()
    if usable:
        return "docker", ""
    wrapped, why_not = bubblewrap_status()
    return ("bubblewrap", why) if wrapped else ("local", f"{why} {why_not}")


def why_not_exposed(kind: str) -> str:
    """Why this kind must not run strangers' code; empty if it may.

    Without control groups a stranger can fill the host's memory with files that belong to no process.
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
        return ""  # the first box raises the reason
    maker.close()
    return "" if maker.bounded else "no control group would bound the memory of submissions here"


def bubblewrap_status() -> tuple[bool, str]:
    """Makes one. Returns success and a sentence: how boxes are bounded, or how to get them."""
    try:
        maker = _bubblewrap()
    except BoxUnavailable as error:
        return False, f"No bubblewrap boxes ({error.message}). {error.hint}"
    maker.close()
    return True, f"{maker.about}."


def docker_status() -> tuple[bool, str]:
    """Returns success and a sentence: the engine's version, or how to get one."""
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
