"""The Docker engine: who may command it, and what it can do for a box."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.cli.security.check import Check, Level, numbers
from grader.errors import GraderError
from grader.sandbox.docker_engine import EngineFacts

AREA = "engine"
# Before it the engine could not answer clone3 with "not there", and every thread of a newer C library failed.
OLDEST = (20, 10, 10)
DEFAULT_HOST = "unix:///var/run/docker.sock"
# Where an engine listens for the network: without and with TLS.
PLAIN_PORT, TLS_PORT = 2375, 2376
LISTENING = "0A"
NET = Path("/proc/net")


def engine_checks() -> list[Check]:
    """Every check of the engine; one that says so where none answers."""
    host = os.environ.get("DOCKER_HOST") or DEFAULT_HOST
    found = [reach(host), network(NET)]
    try:
        from grader.sandbox.docker_engine import engine
        from grader.settings import Settings

        facts = engine().facts()
    except (GraderError, ModuleNotFoundError) as error:
        told = (
            error.message if isinstance(error, GraderError) else f"the Python package {error.name} is missing"
        )
        mend = "Start a Docker engine: without one there are bubblewrap boxes, or 'local' ones for your own code."
        return [*found, Check(AREA, "answers", Level.WARN, told, mend)]
    return [*found, *judge(facts, Settings().runtime)]


def reach(host: str) -> Check:
    """Whoever reaches the engine is root on its host."""
    kind, _, path = host.partition("://")
    if kind not in ("unix", "http+unix"):
        return Check(
            AREA,
            "socket",
            Level.BAD,
            f"DOCKER_HOST is {kind}://...: an engine on a network port is root for whoever reaches it",
            "Let the engine listen on its unix socket alone (no -H tcp:// in dockerd's options).",
        )
    return socket_mode(Path(path))


def socket_mode(path: Path) -> Check:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return Check(AREA, "socket", Level.WARN, f"{path}: {error.strerror}", "Is the engine running?")
    if stat.S_IMODE(mode) & 0o006:
        return Check(
            AREA,
            "socket",
            Level.BAD,
            f"{path} is open to every user of this host, each of whom is root with it",
            f"chmod o-rw {path}",
        )
    return Check(AREA, "socket", Level.OK, f"{path} is closed to other users")


def network(net: Path) -> Check:
    """Whether something on this host listens where engines do, whichever way we reach ours."""
    ports = {port for table in ("tcp", "tcp6") for port in _listening(net / table)}
    if PLAIN_PORT in ports:
        text = f"port {PLAIN_PORT} is open: an engine without TLS is root for whoever reaches it"
        return Check(AREA, "network", Level.BAD, text, "Take -H tcp:// out of dockerd's options.")
    if TLS_PORT in ports:
        text = f"port {TLS_PORT} is open: an engine for the network"
        mend = "See that it asks for certificates (--tlsverify), or take -H tcp:// out of dockerd's options."
        return Check(AREA, "network", Level.WARN, text, mend)
    return Check(AREA, "network", Level.OK, "no engine listens for the network")


def _listening(table: Path) -> list[int]:
    """Ports in state LISTEN, of a table such as ``/proc/net/tcp``."""
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING]


def judge(facts: EngineFacts, runtime: str) -> list[Check]:
    """What ``facts`` mean for boxes that ``runtime`` runs."""
    return [
        _version(facts),
        _seccomp(facts),
        _apparmor(facts),
        _users(facts),
        _groups(facts),
        _runtime(facts, runtime),
    ]


def _version(facts: EngineFacts) -> Check:
    if numbers(facts.version) >= OLDEST:
        return Check(AREA, "version", Level.OK, facts.version)
    oldest = ".".join(map(str, OLDEST))
    mend = f"Upgrade to {oldest} or newer: threads fail under our filter of system calls."
    return Check(AREA, "version", Level.BAD, facts.version or "not told", mend)


def _seccomp(facts: EngineFacts) -> Check:
    if "seccomp" in facts.options:
        return Check(AREA, "seccomp", Level.OK, "filters system calls; boxes bring a list of their own")
    mend = "Use a kernel and an engine with seccomp: no box starts without."
    return Check(AREA, "seccomp", Level.BAD, "not available", mend)


def _apparmor(facts: EngineFacts) -> Check:
    for name in ("apparmor", "selinux"):
        if name in facts.options:
            return Check(AREA, "confinement", Level.OK, name)
    mend = "Enable AppArmor or SELinux: a second wall should the first break."
    return Check(AREA, "confinement", Level.WARN, "neither AppArmor nor SELinux", mend)


def _users(facts: EngineFacts) -> Check:
    if facts.remaps_users:
        return Check(AREA, "users", Level.OK, "a box's users are ordinary users of the host")
    mend = 'Add "userns-remap": "default" to /etc/docker/daemon.json and restart the engine.'
    return Check(AREA, "users", Level.WARN, "user 0 of a container is root of the host", mend)


def _groups(facts: EngineFacts) -> Check:
    if not facts.unbounded:
        return Check(
            AREA, "control groups", Level.OK, f"version {facts.cgroup}, and every limit of a box holds"
        )
    text = (
        f"version {facts.cgroup}; this host sets no limit on {', '.join(facts.unbounded)}: a box may take all"
    )
    if facts.unbounded == ("swap",):
        mend = "Boot with swapaccount=1, or run without swap."
        return Check(AREA, "control groups", Level.WARN, text, mend)
    mend = "Enable the controllers memory, pids and cpu for the engine (rootless: delegate them to its user)."
    return Check(AREA, "control groups", Level.BAD, text, mend)


def _runtime(facts: EngineFacts, runtime: str) -> Check:
    if runtime in facts.runtimes:
        return Check(AREA, "runtime", Level.OK, runtime)
    mend = f"Set GRADER_RUNTIME to one of: {', '.join(facts.runtimes)}"
    return Check(AREA, "runtime", Level.BAD, f"the engine has no {runtime}", mend)
