from __future__ import annotations

import contextlib
import io
import os
import socket
import tarfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grader.errors import BoxUnavailable
from grader.sandbox.parent import (
    boot_identity,
    host_identity,
    is_alive,
    own_mark,
    platform_identity,
    seconds_since_boot,
)

START_HINT = (
    "Start the Docker engine (systemctl start docker), or use the box kind 'local' for your own code."
)
FORBIDDEN_HINT = "This user may not use the Docker engine: add it to the group docker, and sign in again."

CALL_SECONDS = 60.0

DEFAULT_SOCKET = "unix:///var/run/docker.sock"

LABEL_BOX = "grader.box"
LABEL_PARENT = "grader.parent"
LABEL_HOST = "grader.host"
LABEL_BOOT = "grader.boot"
LABEL_PLATFORM = "grader.platform"
# Nanoseconds since that boot. Old versions of ours read seconds since 1970, which is a day far away.
LABEL_DEADLINE = "grader.deadline"


@contextlib.contextmanager
def _engine_errors(doing: str) -> Iterator[None]:
    import docker.errors
    import requests

    try:
        yield
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        hint = FORBIDDEN_HINT if "Permission denied" in str(error) else START_HINT
        raise BoxUnavailable(f"Docker could not {doing}: {error}", hint) from error


def _knock(url: str) -> None:
    """Raise OSError if a unix socket does not answer; Docker's client would leak a descriptor."""
    kind, _, path = url.partition("://")
    if kind in ("unix", "http+unix"):
        with socket.socket(socket.AF_UNIX) as knocking:
            knocking.connect(path)


class Engine:
    def __init__(self) -> None:
        import docker

        with _engine_errors("be reached"):
            environment = docker.utils.kwargs_from_env()
            _knock(environment.get("base_url") or DEFAULT_SOCKET)

            class Client(docker.APIClient):  # type: ignore[misc] # docker has no types
                # Otherwise requests reads os.environ on every call and fails if another thread changes it.
                trust_env = property(lambda _: False, lambda *_: None)

            self.client: Any = Client(version="auto", timeout=CALL_SECONDS, **environment)
        self.pid = os.getpid()

    def version(self) -> str:
        with _engine_errors("report its version"):
            return str(self.client.version(api_version=False)["Version"])

    def facts(self) -> EngineFacts:
        with _engine_errors("describe itself"):
            return EngineFacts.of(self.client.info())

    def has_image(self, tag: str) -> bool:
        import docker.errors

        with _engine_errors("look for the image"):
            try:
                self.client.inspect_image(tag)
            except docker.errors.ImageNotFound:
                return False
        return True

    def image_config(self, name: str) -> tuple[str, dict[str, Any]]:
        """Raises BoxUnavailable if the image is missing."""
        with _engine_errors(f"find the image {name}"):
            found = self.client.inspect_image(name)
        return str(found["Id"]), dict(found["Config"] or {})

    def read_file(self, image: str, path: str) -> bytes:
        with _engine_errors(f"read {path} of the image {image}"):
            made = str(self.client.create_container(image, command=["true"], network_disabled=True)["Id"])
            try:
                chunks, _ = self.client.get_archive(made, path)
                with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as tar:
                    file = tar.extractfile(tar.getmembers()[0])
                    return file.read() if file else b""
            finally:
                self.client.remove_container(made, force=True)

    def import_image(self, tar: bytes, repository: str, tag: str) -> None:
        with _engine_errors("import the image"):
            self.client.import_image_from_data(tar, repository=repository, tag=tag)

    def create(self, **arguments: Any) -> str:
        with _engine_errors("create a box"):
            return str(self.client.create_container(**arguments)["Id"])

    def attach(self, container: str) -> Any:
        """The container's output, in Docker's frames."""
        with _engine_errors("attach to a box"):
            return self.client.attach_socket(
                container, params={"stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
            )

    def start(self, container: str) -> None:
        with _engine_errors("start a box"):
            self.client.start(container)

    def wait(self, container: str, seconds: float) -> bool:
        import docker.errors
        import requests

        try:
            self.client.wait(container, timeout=max(seconds, 0.001))
        except (requests.ReadTimeout, requests.ConnectionError):
            return False
        except docker.errors.NotFound:
            pass
        return True

    def state(self, container: str) -> dict[str, Any]:
        with _engine_errors("inspect a box"):
            return dict(self.client.inspect_container(container)["State"])

    def cpu_seconds(self, container: str) -> float:
        with _engine_errors("report a box's processor time"):
            stats = self.client.stats(container, stream=False, one_shot=True)
        return float(stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0)) * 1e-9

    def kill(self, container: str) -> bool:
        """Wait for its death. False if it was over already."""
        import docker.errors

        with _engine_errors("kill a box"):
            try:
                self.client.kill(container)
            except (docker.errors.NotFound, docker.errors.APIError) as error:
                if error.status_code in (404, 409):
                    return False
                # The engine gives up after ten seconds, too early on a busy host.
                if not self.wait(container, CALL_SECONDS):
                    raise
        return True

    def pause(self, container: str) -> None:
        with _engine_errors("pause a box"):
            self.client.pause(container)

    def unpause(self, container: str) -> None:
        with _engine_errors("resume a box"):
            self.client.unpause(container)

    def remove(self, container: str) -> None:
        """Kills it, too. Does nothing if it is gone."""
        import docker.errors

        with _engine_errors("remove a box"):
            try:
                self.client.remove_container(container, force=True, v=True)
            except docker.errors.APIError as error:
                if error.status_code not in (404, 409):
                    raise

    def boxes(self) -> list[tuple[str, dict[str, str], bool]]:
        """Every platform's on this engine: id, labels, whether it runs."""
        with _engine_errors("list the boxes"):
            found = self.client.containers(all=True, filters={"label": f"{LABEL_BOX}=1"})
        return [(entry["Id"], entry["Labels"], entry["State"] == "running") for entry in found]


_engine: Engine | None = None
_lock = threading.Lock()


def engine() -> Engine:
    """Raises BoxUnavailable if none answers."""
    global _engine
    with _lock:
        if _engine is None or _engine.pid != os.getpid():  # connections do not survive a fork
            _engine = Engine()
        return _engine


def labels(wall_seconds: float) -> dict[str, str]:
    return {
        LABEL_BOX: "1",
        LABEL_PARENT: own_mark(),
        LABEL_HOST: host_identity(),
        LABEL_BOOT: boot_identity(),
        LABEL_PLATFORM: platform_identity(),
        LABEL_DEADLINE: str(int((seconds_since_boot() + wall_seconds + 60) * 1e9)),
    }


def is_orphan(marks: dict[str, str], runs: bool = True) -> bool:
    """True if nobody can want the box any more.

    An owner in another PID namespace is invisible: its box is an orphan when older than allowed, by the clock
    since boot, and after a reboot unless it runs. Other platforms reap their own.
    """
    if marks.get(LABEL_HOST) == host_identity():
        return not is_alive(marks.get(LABEL_PARENT, ""))
    if marks.get(LABEL_PLATFORM) != platform_identity():
        return False
    if marks.get(LABEL_BOOT) != boot_identity():
        return not runs
    deadline = marks.get(LABEL_DEADLINE, "")
    return deadline.isdigit() and seconds_since_boot() * 1e9 > int(deadline)


# Stream, 0, 0, 0, length in 4 bytes.
HEADER_BYTES = 8


class Frames:
    """Strips the headers from a stream that comes in pieces of any size."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._left = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._held += data
        while self._held:
            if self._left == 0:
                if len(self._held) < HEADER_BYTES:
                    return
                self._left = int.from_bytes(self._held[4:HEADER_BYTES], "big")
                del self._held[:HEADER_BYTES]
            part = bytes(self._held[: self._left])
            del self._held[: self._left]
            self._left -= len(part)
            yield part


_LIMIT_NAMES = {
    "MemoryLimit": "memory",
    "SwapLimit": "swap",
    "PidsLimit": "processes",
    "CpuCfsQuota": "processor time",
}


@dataclass(frozen=True)
class EngineFacts:
    runtimes: tuple[str, ...]
    #: Version: 1 or 2.
    cgroup: int
    #: Security options, such as ``seccomp``, ``apparmor``, ``userns``.
    options: frozenset[str]
    version: str = ""
    #: Values of ``_LIMIT_NAMES`` that it cannot set.
    unbounded: tuple[str, ...] = ()
    cdi: bool = False
    #: The parent group of boxes; None: the engine's choice.
    group: str | None = None

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> EngineFacts:
        said = [str(text) for text in info.get("SecurityOptions") or []]
        # For example "name=seccomp,profile=default".
        pairs = [part.partition("=") for text in said for part in text.split(",")]
        return cls(
            runtimes=tuple(sorted(info.get("Runtimes") or {})),
            # Engines before 20.10 say nothing and know only version 1.
            cgroup=2 if str(info.get("CgroupVersion")) == "2" else 1,
            options=frozenset(value for key, _, value in pairs if key == "name"),
            version=str(info.get("ServerVersion") or ""),
            unbounded=tuple(what for key, what in _LIMIT_NAMES.items() if info.get(key) is False),
            cdi=bool(info.get("CDISpecDirs")),
            # With cgroupfs the default, /docker, would count as much as any process of the host.
            group="/" if info.get("CgroupDriver") == "cgroupfs" else None,
        )

    def sentence(self, runtime: str) -> str:
        """Without versions, so a report does not show which are outdated."""
        remapped = ", users remapped" if self.remaps_users else ""
        return f"docker: {runtime}, control groups {self.cgroup}{remapped}"

    @property
    def remaps_users(self) -> bool:
        return bool(self.options & {"userns", "rootless"})
