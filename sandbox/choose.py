"""Which kind of box this machine can make."""

from __future__ import annotations

import shutil
from typing import Literal

from grader.errors import BadRequest, BoxUnavailable
from grader.sandbox import docker_engine, image
from grader.sandbox.box import BoxMaker

Kind = Literal["auto", "docker", "local"]


def make_boxes(kind: str) -> BoxMaker:
    """The maker of boxes of this kind; ``auto`` is Docker where an engine answers, else plain processes.

    The image is made when the engine lacks it. Raises BoxUnavailable when Docker is asked for and does not answer,
    BadRequest for an unknown kind.
    """
    if kind == "local":
        return _local()
    if kind == "docker":
        return _docker()
    if kind == "auto":
        return _docker() if docker_status()[0] else _local()
    raise BadRequest(f"unknown kind of box {kind!r}", "Use auto, docker or local.")


def docker_status() -> tuple[bool, str]:
    """Whether Docker boxes can be made here, and one sentence: the engine's version, or why not and how to mend it."""
    try:
        version = docker_engine.engine().version()
    except ImportError:
        return False, "The Python package docker is missing: pip install 'kernel-grader[worker]'."
    except BoxUnavailable as error:
        installed = shutil.which("dockerd") or shutil.which("docker")
        mend = error.hint if installed else "Install it (Debian, Ubuntu: apt-get install docker.io)."
        return False, f"No Docker engine answers ({error.message}). {mend}"
    return True, f"Docker {version} answers."


def _local() -> BoxMaker:
    from grader.sandbox.local_box import LocalBoxes

    return LocalBoxes()


def _docker() -> BoxMaker:
    from grader.sandbox.docker_box import DockerBoxes

    if not image.has_image(docker_engine.engine()):
        image.build_from_host()
    return DockerBoxes()
