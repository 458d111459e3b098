"""A Slurm of two nodes on this machine: munged, slurmctld and two slurmd of its own, and nothing of the system's."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from grader.sandbox.processes import descendants
from tests.records.postgres import free_port

NODES = ("n1", "n2")
# Pilots that run at a time on each.
CORES = 2
_READY_SECONDS = 60.0
# As Slurm names this machine.
_HOST = socket.gethostname().partition(".")[0]
_CONF = """\
ClusterName=grader-tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmctldParameters=preempt_send_user_signal
SlurmdParameters=config_overrides
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MinJobAge=2
{nodes}
PartitionName=teach Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=30
PartitionName=research Nodes=ALL PriorityTier=10 PreemptMode=OFF
"""


def missing() -> str | None:
    if os.getuid() != 0:
        return "a Slurm of one's own takes root"
    wanted = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
    lacking = [name for name in wanted if _program(name) is None]
    return f"no {', '.join(lacking)} here (Debian's slurm-wlm and munge)" if lacking else None


class Slurm:
    """``SLURM_CONF`` of its commands is ``conf``."""

    def __init__(self, folder: Path) -> None:
        self.conf = folder / "slurm.conf"
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        folder = self._folder
        (folder / "state").mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={_HOST} NodeAddr=127.0.0.1 Port={free_port()} "
            f"Sockets=1 CoresPerSocket={CORES} ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN"
            for name in NODES
        )
        self.conf.write_text(_CONF.format(host=_HOST, port=free_port(), folder=folder, nodes=nodes))
        self._run(
            "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.sock",
            f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed",
        )  # fmt: skip
        self._wait(lambda: (folder / "munge.sock").exists(), "munged")
        self._run("slurmctld", "-D", "-f", str(self.conf))
        for name in NODES:
            self.start_node(name)
        self._wait(lambda: self.states() == dict.fromkeys(NODES, "idle"), "two idle nodes")

    def start_node(self, name: str) -> None:
        self._run("slurmd", "-D", "-f", str(self.conf), "-N", name, known_as=name)

    def kill_node(self, name: str) -> None:
        """With all that runs there, as a power cut."""
        server = self._running.pop(name)
        for pid in [server.pid, *_steps(self._folder / f"spool-{name}")]:
            _kill_tree(pid)
        server.wait()

    def states(self) -> dict[str, str]:
        said = self.command("sinfo", "--noheader", "--Node", "--partition=teach", "--format=%N %T")
        return dict(line.split() for line in said.splitlines() if line.strip())

    def command(self, *argv: str, given: str | None = None) -> str:
        done = subprocess.run(
            argv,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
            env={**os.environ, "SLURM_CONF": str(self.conf)},
        )
        return done.stdout if done.returncode == 0 else ""

    def close(self) -> None:
        self.command("scancel", "--me")
        for name in [*NODES, "slurmctld", "munged"]:
            if (server := self._running.pop(name, None)) is not None:
                for pid in _steps(self._folder / f"spool-{name}") if name in NODES else []:
                    _kill_tree(pid)
                server.terminate()
                try:
                    server.wait(10)
                except subprocess.TimeoutExpired:
                    _kill_tree(server.pid)
                    server.wait()

    def _run(self, program: str, *options: str, known_as: str = "") -> None:
        found = _program(program)
        assert found is not None
        with (self._folder / f"{known_as or program}.out").open("wb") as output:
            self._running[known_as or program] = subprocess.Popen(
                [found, *options],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _wait(self, ready: object, what: str) -> None:
        assert callable(ready)
        end = time.monotonic() + _READY_SECONDS
        while not ready():
            if time.monotonic() > end:
                logs = "\n".join(path.read_text()[-2000:] for path in sorted(self._folder.glob("*.log")))
                raise AssertionError(f"no {what} within {_READY_SECONDS:g} s\n{logs}")
            time.sleep(0.1)


@contextlib.contextmanager
def two_nodes(folder: Path) -> Iterator[Slurm]:
    cluster = Slurm(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _steps(spool: Path) -> list[int]:
    """What jobs run on a node, and their slurmstepd, which init adopts and which wipes its environment."""
    wanted = (f"SLURMD_NODENAME={spool.name.removeprefix('spool-')}".encode(), str(spool.parent).encode())
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        environment = _read(path)
        if all(words in environment for words in wanted):
            found.append(int(path.parent.name))
            parent = _read(path.parent / "stat").rpartition(b")")[2].split()
            if parent and _read(Path("/proc", parent[1].decode(), "cmdline")).startswith(b"slurmstepd"):
                found.append(int(parent[1]))
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _kill_tree(pid: int) -> None:
    for each in reversed(descendants(pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
